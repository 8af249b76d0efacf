"""sonde.load: runs, tags and values of a log directory, as NumPy arrays and pandas tables."""
import os
import time
from dataclasses import dataclass
from typing import Any, Iterator

from . import _core
from ._arguments import flag, path as checked_path, seconds, step as checked_step
from ._errors import ByName, by_name, not_found
from ._kept import Checkpoint, TensorFile, TensorSteps, checkpoints, typed, whole_tensors
from ._series import STATISTICS, Scalars, ScalarTable, StatisticsTable, selector


def load(logdir: str | os.PathLike[str], *, follow: bool = False, cache: bool = True) -> "Log":
    """Read a log directory: those of Sonde, and all that TensorBoard can open.

    With `follow` the log is live: new points appear by themselves, and iterating it yields them as they come.

    >>> runs = sonde.load(log)
    >>> list(runs)
    ['train']
    >>> runs["train"].scalars("loss").values
    array([1. , 0.5])
    """
    return (LiveLog if follow else Log)(_core.Log(checked_path("logdir", logdir), flag("follow", follow), flag("cache", cache)))


@dataclass(frozen=True)
class Tag:
    """One series of a run: its name, its kind ("scalars", "histograms", "statistics", ...) and how much there is."""

    name: str
    kind: str
    points: int
    first_step: int
    last_step: int
    description: str
    last_time: float    # seconds since 1970
    written_again: int  # points that are left out because a restart wrote their steps again


@dataclass(frozen=True)
class Value:
    """A value that is no scalar, at its step. What it is depends on its kind.

    >>> [value.data for value in sonde.load(log)["train"].values("note", "text")]
    [['halved']]
    """

    step: int
    wall_time: float
    data: Any


class Run:
    """One run of a log.

    >>> run = sonde.load(log)["train"]
    >>> [(tag.name, tag.kind) for tag in run.tags if tag.kind == "scalars"]
    [('loss', 'scalars')]
    """

    def __init__(self, run: Any) -> None:
        self._run = run

    @property
    def name(self) -> str:
        """Its path below the log directory; "." for the directory itself."""
        return self._run.name

    @property
    def directory(self) -> str:
        """Where its files are."""
        return self._run.directory

    @property
    def tags(self) -> list[Tag]:
        """All series, by name."""
        return [Tag(**tag) for tag in self._run.tags()]

    @property
    def probes(self) -> list[dict[str, Any]]:
        """The tensors that the program probes, in the order of execution: name, kind, tag, dtype, shape and inputs."""
        return self._run.probes()

    def scalars(self, tag: str, *, first_step: int | None = None, last_step: int | None = None,
                all: bool = False) -> Scalars:  # noqa: A002
        """A series of numbers by ascending step; with `all` also the points that a restart has written again.

        >>> sonde.load(log)["train"].scalars("loss", first_step=2).steps.tolist()
        [2]
        """
        return Scalars(tag, *by_name(self._run.scalars, tag, *_range(first_step, last_step), flag("all", all)))

    def statistics(self, tag: str, *, first_step: int | None = None, last_step: int | None = None, all: bool = False,  # noqa: A002
                   columns: tuple[str, ...] = STATISTICS) -> StatisticsTable:
        """The statistics of a tensor; `tag` is kind/name, as `probes` has it.

        >>> sonde.load(log)["train"].statistics("activation/dense/out", columns=("mean", "l2"))["l2"].round(3)
        array([5.477])
        """
        names = (columns,) if isinstance(columns, str) else tuple(columns)
        if not names:
            raise ValueError(f"columns must name statistics, of {', '.join(STATISTICS)}")
        span = _range(first_step, last_step)
        found = {name: by_name(self._run.statistic, tag, name, *span, flag("all", all)) for name in names}
        steps, times, _ = next(iter(found.values()))
        rows = min(len(values) for _, _, values in found.values())  # a live log may grow between two columns
        return StatisticsTable(tag, steps[:rows], times[:rows], {name: values[:rows] for name, (_, _, values) in found.items()})

    def values(self, tag: str, kind: str) -> Iterator[Value]:
        """The values of a tag that are no scalars: "histograms" as [(left, right, count), ...], "images" and "audio" as files
        in bytes, "text" as str, "graphs" as a serialised GraphDef, "statistics" as a dict, all others as arrays. Each is
        read when it is reached.

        >>> next(sonde.load(log)["train"].values("note", "text")).step
        1
        """
        read = {"histograms": self._run.histogram, "images": self._run.images, "audio": self._run.audio,
                "text": self._run.text, "graphs": self._run.graph,
                "statistics": self._run.statistics}.get(kind, lambda value: typed(*self._run.tensor(value)))
        places = by_name(self._run.values, tag, kind)
        return (Value(place.step, place.wall_time, read(place)) for place in places)

    @property
    def tensors(self) -> dict[str, TensorSteps]:
        """Tensors that the policy kept whole ("whole", "npy" or "npz"), by tag, at each step that was kept.

        >>> {tag: kept.steps for tag, kept in sonde.load(log)["train"].tensors.items()}
        {'activation/kept': [1]}
        """
        return ByName(f"the run {self.name!r} kept no tensor", whole_tensors(self.directory))

    @property
    def tables(self) -> list[str]:
        """Paths of the tables, which are CSV: one for each name and process that wrote it."""
        return _core.list_tables(self.directory)

    @property
    def checkpoints(self) -> list[Checkpoint]:
        """What the program saved with Recorder.checkpoint, by name and step."""
        return checkpoints(self.directory)

    @property
    def captures(self) -> list["Capture"]:
        """What triggers have saved, in the order in which they fired."""
        return [capture for path in _core.list_captures(self.directory) if (capture := _readable(path)) is not None]

    def __repr__(self) -> str:
        return f"<sonde.Run {self.name!r}: {len(self.tags)} tags>"


class Log:
    """A log directory, as a mapping from names of runs to runs.

    >>> runs = sonde.load(log)
    >>> "train" in runs, len(runs)
    (True, 1)
    """

    def __init__(self, log: Any) -> None:
        self._log = log

    @property
    def directory(self) -> str:
        """The directory that is read."""
        return self._log.directory

    @property
    def runs(self) -> list[Run]:
        """All runs, by name."""
        return [Run(run) for run in self._log.runs()]

    def scalars(self, tags: str = ".*", runs: str = ".*", *, all: bool = False) -> ScalarTable:  # noqa: A002
        """The series of all runs whose names are selected: each an exact name or a regular expression over the whole name.

        >>> sonde.load(log).scalars("loss").to_pandas()["value"].tolist()
        [1.0, 0.5]
        """
        wanted_tag, wanted_run = selector("tags", tags), selector("runs", runs)
        return ScalarTable({(run.name, tag.name): run.scalars(tag.name, all=all)
                            for run in self.runs if wanted_run(run.name)
                            for tag in run.tags if tag.kind == "scalars" and wanted_tag(tag.name)})

    @property
    def problems(self) -> list[str]:
        """What could not be looked into, one sentence each."""
        return self._log.problems()

    def __getitem__(self, name: str) -> Run:
        return Run(by_name(self._log.run, name))

    def __contains__(self, name: str) -> bool:
        return any(run.name == name for run in self._log.runs())

    def __len__(self) -> int:
        return len(self._log.runs())

    def __iter__(self) -> Iterator[Any]:
        return iter([run.name for run in self._log.runs()])

    def refresh(self) -> None:
        """Look for new runs and new data, and return when all of it has been read.

        >>> sonde.load(log).refresh()
        """
        self._log.refresh()

    def __repr__(self) -> str:
        return f"<sonde.Log {self.directory!r}: {len(self)} runs>"


def _range(first_step: Any, last_step: Any) -> tuple[int | None, int | None]:
    return checked_step("first_step", first_step), checked_step("last_step", last_step)


def _readable(path: str) -> "Capture | None":
    """A capture, or None after a warning: one that is damaged must not hide the others."""
    try:
        return Capture(path)
    except (OSError, ValueError) as error:
        import warnings
        warnings.warn(str(getattr(error, "strerror", None) or error), stacklevel=3)
        return None


@dataclass(frozen=True, eq=False)
class Update:
    """What is new in a run: points of a series in `scalars`, or in `statistics` for a tag of that kind, or a `capture`, which
    belongs to no tag. The others are None.

    `replaces` says that the points are the whole series as it is now: a restart has written some of its steps again, or
    points came with smaller steps than earlier ones.
    """

    run: Run
    tag: Tag | None
    scalars: Scalars | None = None
    statistics: StatisticsTable | None = None
    replaces: bool = False
    capture: "Capture | None" = None


class _Follower:
    """What has been seen of one series."""

    def __init__(self) -> None:
        self.points = 0
        self.written_again = 0
        self.last_step: int | None = None
        self.at_last_step = 0  # points

    def read(self, run: Run, tag: Tag) -> Update | None:
        """What is new since the last call; None: nothing."""
        if (tag.points, tag.written_again) == (self.points, self.written_again):
            return None
        if tag.written_again == self.written_again and self.last_step is not None:
            columns = self._columns(run, tag, self.last_step)
            new = slice(self.at_last_step, None)
            if len(columns[0]) - self.at_last_step >= tag.points - self.points:  # all that is new is at the end
                return self._take(run, tag, [column[new] for column in columns], self.points, replaces=False)
        return self._take(run, tag, self._columns(run, tag, None), 0, replaces=self.points > 0)

    @staticmethod
    def _columns(run: Run, tag: Tag, first_step: int | None) -> list[Any]:
        if tag.kind == "scalars":
            found = run.scalars(tag.name, first_step=first_step)
            return [found.steps, found.wall_times, found.values]
        table = run.statistics(tag.name, first_step=first_step)
        return [table.steps, table.wall_times, *table.columns.values()]

    def _take(self, run: Run, tag: Tag, columns: list[Any], before: int, *, replaces: bool) -> Update | None:
        steps, times, *rest = columns
        self.written_again = tag.written_again
        if len(steps) == 0:
            return None
        same = int((steps == steps[-1]).sum())
        self.at_last_step = same + (self.at_last_step if not replaces and steps[-1] == self.last_step else 0)
        self.points, self.last_step = before + len(steps), int(steps[-1])
        if tag.kind == "scalars":
            return Update(run, tag, scalars=Scalars(tag.name, steps, times, rest[0]), replaces=replaces)
        table = StatisticsTable(tag.name, steps, times, dict(zip(STATISTICS, rest)))
        return Update(run, tag, statistics=table, replaces=replaces)


class LiveLog(Log):
    """A log that is read on while it is written."""

    def updates(self, timeout: float | None = None, *, tags: str = ".*",
                kinds: tuple[str, ...] = ("scalars",)) -> Iterator[Update]:
        """What is in the log, at first what is there and then what comes. Ends when nothing has come for `timeout` seconds;
        never, without one. `kinds` is of "scalars", "statistics" and "captures"; `tags` selects series.

        >>> for update in sonde.load(log, follow=True).updates(timeout=0):
        ...     print(update.run.name, update.tag.name, update.scalars.values)
        train loss [1.  0.5]
        """
        names = {kinds} if isinstance(kinds, str) else set(kinds)
        unknown = names - {"scalars", "statistics", "captures"}
        if unknown:
            raise ValueError(f"kinds may be 'scalars', 'statistics' and 'captures', not {sorted(map(str, unknown))[0]!r}")
        return self._updates(None if timeout is None else seconds("timeout", timeout), selector("tags", tags), names)

    def _updates(self, timeout: float | None, wanted: Any, kinds: set[str]) -> Iterator[Update]:
        seen: dict[tuple[str, str, str], _Follower] = {}
        captures: set[str] = set()  # the paths of those that were seen
        self._log.wait()
        last = time.monotonic()
        while True:
            version = self._log.version
            for run in self.runs:
                for update in self._news(run, wanted, kinds, seen, captures):
                    yield update
                    last = time.monotonic()
            if timeout is not None and time.monotonic() - last >= timeout:
                return
            self._log.wait_for_change(version, 0.1)  # short, so that Ctrl-C is noticed

    @staticmethod
    def _news(run: Run, wanted: Any, kinds: set[str], seen: dict[tuple[str, str, str], _Follower],
              captures: set[str]) -> Iterator[Update]:
        """What is new in one run."""
        for tag in run.tags if kinds != {"captures"} else ():
            if tag.kind in kinds and wanted(tag.name):
                update = seen.setdefault((run.name, tag.name, tag.kind), _Follower()).read(run, tag)
                if update is not None:
                    yield update
        for path in _core.list_captures(run.directory) if "captures" in kinds else ():
            if path not in captures:
                captures.add(path)
                capture = _readable(path)
                if capture is not None:
                    yield Update(run, None, capture=capture)

    def __iter__(self) -> Iterator[Any]:
        return self.updates()


class Capture:
    """What a trigger saved, or the flight ring after a crash: `load_capture`, or `Run.captures`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._info = _core.capture(path)

    @property
    def reason(self) -> str:
        """The trigger's name, "manual" or "crash"."""
        return self._info["reason"]

    @property
    def step(self) -> int:
        """The step at whose end it was taken."""
        return self._info["step"]

    @property
    def steps(self) -> list[int]:
        """The steps that it holds, oldest first."""
        return [step["step"] for step in self._info["steps"]]

    @property
    def origin(self) -> str:
        """Where the first values that are not finite came from, in a few lines for a person."""
        return self._info["origin"]

    def scalars(self, step: int) -> dict[str, float]:
        """The numbers recorded in one of its steps."""
        return self._find(step)["scalars"]

    def tensors(self, step: int, framework: str = "numpy") -> TensorFile | dict[str, Any]:
        """The tensors of one of its steps, by name: NumPy arrays, or torch tensors with "torch"."""
        name = self._find(step)["file"]
        found = TensorFile(os.path.join(self.path, name)) if name else {}
        if framework == "numpy":
            return found
        if framework != "torch":
            raise ValueError(f"framework must be 'numpy' or 'torch', not {framework!r}")
        from ._torch_replay import to_torch
        return {key: to_torch(found[key]) for key in found}

    def replay(self, module: Any, step: int | None = None, *, rtol: float = 1e-5, atol: float = 1e-8, weights: bool = True) -> Any:
        """Run a torch module on the input of one of its steps, by default the last one that it holds, and compare what it
        computes with what was captured. The weights are those of the capture where it has them; the module does not change.

        >>> print(sonde.load_capture("logs/train/captures/1-nonfinite").replay(model))      # doctest: +SKIP
        step 123: all 24 tensors are the same
        """
        from ._torch_replay import replay
        number = self.steps[-1] if step is None and self.steps else step
        if number is None:
            raise ValueError("the capture holds no step")
        tensors = self.tensors(number, "torch")
        order = [key for key in self._find(number)["keys"] if key in tensors]
        return replay({key: tensors[key] for key in order}, number, module, rtol, atol, weights)

    def _find(self, step: int) -> dict[str, Any]:
        for each in self._info["steps"]:
            if each["step"] == step and not each["evaluation"]:
                return each
        not_found("the capture has no step", step, self.steps)

    def __repr__(self) -> str:
        return f"<sonde.Capture {self.reason!r} at step {self.step}>"


def load_capture(path: str | os.PathLike[str]) -> Capture:
    """A capture by the path of its directory, RUN/captures/<n>-<reason>.

    >>> sonde.load_capture("logs/train/captures/1-nonfinite").origin        # doctest: +SKIP
    """
    return Capture(checked_path("path", path))
