"""sonde.load: runs, tags and values of a log directory, as NumPy arrays and pandas tables."""
import os
import time
from dataclasses import dataclass
from typing import Any, Iterator

from . import _core

STATISTICS = ("count", "nan", "positive_infinity", "negative_infinity", "zeros", "negatives", "min", "max", "mean", "std",
              "sum_abs")


def load(logdir: str | os.PathLike[str], *, follow: bool = False, cache: bool = True) -> "Log":
    """Read a log directory: those of Sonde, and all that TensorBoard can open.

    With `follow` the log is live: new points appear by themselves, and iterating it yields them as they come.

    >>> runs = sonde.load(log)
    >>> list(runs)
    ['train']
    >>> runs["train"].scalars("loss").values
    array([1. , 0.5])
    """
    return (LiveLog if follow else Log)(_core.Log(os.fspath(logdir), follow, cache))


@dataclass(frozen=True)
class Tag:
    """One series of a run: its name, its kind ("scalars", "histograms", "statistics", ...) and how much there is."""

    name: str
    kind: str
    points: int
    first_step: int
    last_step: int
    description: str


@dataclass(frozen=True, eq=False)
class Scalars:
    """A series as columns, which are not copied from the reader's memory.

    >>> loss = sonde.load(log)["train"].scalars("loss")
    >>> loss.steps.tolist(), len(loss)
    ([1, 2], 2)
    """

    name: str
    steps: Any
    wall_times: Any  # seconds since 1970
    values: Any

    def __len__(self) -> int:
        return len(self.steps)

    def to_pandas(self) -> Any:
        """A table with the columns step, wall_time and value.

        >>> list(sonde.load(log)["train"].scalars("loss").to_pandas()["value"])
        [1.0, 0.5]
        """
        import pandas
        return pandas.DataFrame({"step": self.steps, "wall_time": self.wall_times, "value": self.values}, copy=False)

    def plot(self, axes: Any = None, **options: Any) -> Any:
        """Draw the series with Matplotlib, into `axes` or new ones. Returns the axes.

        >>> sonde.load(log)["train"].scalars("loss").plot()                 # doctest: +SKIP
        """
        if axes is None:
            import matplotlib.pyplot
            axes = matplotlib.pyplot.figure().add_subplot()
            axes.set_xlabel("step")
        axes.plot(self.steps, self.values, **{"label": self.name} | options)
        return axes


@dataclass(frozen=True, eq=False)
class StatisticsTable:
    """Statistics of a tensor, a column each, a row for every step.

    >>> table = sonde.load(log)["train"].statistics("activation/dense/out")
    >>> table.columns["max"]
    array([4.])
    """

    name: str
    steps: Any
    wall_times: Any
    columns: dict[str, Any]

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def to_pandas(self) -> Any:
        """A table with the columns step, wall_time and one for each statistic.

        >>> sonde.load(log)["train"].statistics("activation/dense/out").to_pandas()["mean"][0]
        np.float64(2.5)
        """
        import pandas
        return pandas.DataFrame({"step": self.steps, "wall_time": self.wall_times} | self.columns, copy=False)


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
        return Scalars(tag, *self._run.scalars(tag, first_step, last_step, all))

    def statistics(self, tag: str, *, first_step: int | None = None, last_step: int | None = None, all: bool = False,  # noqa: A002
                   columns: tuple[str, ...] = STATISTICS) -> StatisticsTable:
        """The statistics of a tensor; `tag` is kind/name, as `probes` has it.

        >>> sonde.load(log)["train"].statistics("activation/dense/out", columns=("mean", "l2"))["l2"].round(3)
        array([5.477])
        """
        found = {name: self._run.statistic(tag, name, first_step, last_step, all) for name in columns}
        steps, times, _ = next(iter(found.values()))
        return StatisticsTable(tag, steps, times, {name: values for name, (_, _, values) in found.items()})

    def values(self, tag: str, kind: str) -> Iterator[Value]:
        """The values of a tag that are no scalars: "histograms" as [(left, right, count), ...], "images" and "audio" as files
        in bytes, "text" as str, "tensors" as arrays. Each is read when it is reached.

        >>> next(sonde.load(log)["train"].values("note", "text")).step
        1
        """
        read = {"histograms": self._run.histogram, "images": self._run.images, "audio": self._run.audio,
                "text": self._run.text}.get(kind, lambda value: _typed(*self._run.tensor(value)))
        for value in self._run.values(tag, kind):
            yield Value(value.step, value.wall_time, read(value))

    @property
    def captures(self) -> list["Capture"]:
        """What triggers have saved, in the order in which they fired."""
        return [load_capture(path) for path in _core.list_captures(self.directory)]

    def __repr__(self) -> str:
        return f"<sonde.Run {self.name!r}>"


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

    @property
    def problems(self) -> list[str]:
        """What could not be looked into, one sentence each."""
        return self._log.problems()

    def __getitem__(self, name: str) -> Run:
        try:
            return Run(self._log.run(name))
        except FileNotFoundError as error:
            raise KeyError(error.strerror) from None

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


@dataclass(frozen=True, eq=False)
class Update:
    """New points of a series."""

    run: Run
    scalars: Scalars


class LiveLog(Log):
    """A log that is read on while it is written."""

    def updates(self, timeout: float | None = None) -> Iterator[Update]:
        """The points of all series, at first those that are there and then new ones as they come. Ends when nothing has come for
        `timeout` seconds; never, without one.

        >>> for update in sonde.load(log, follow=True).updates(timeout=0):
        ...     print(update.run.name, update.scalars.name, update.scalars.values)
        train loss [1.  0.5]
        """
        seen: dict[tuple[str, str], int] = {}
        self._log.wait()
        last = time.monotonic()
        while True:
            version = self._log.version
            for run in self.runs:
                for tag in run.tags:
                    before = seen.get((run.name, tag.name), 0)
                    if tag.kind != "scalars" or tag.points == before:
                        continue
                    found = run.scalars(tag.name)
                    seen[run.name, tag.name] = len(found)
                    start = before if len(found) > before else 0  # fewer: a restart wrote them again
                    last = time.monotonic()
                    yield Update(run, Scalars(tag.name, found.steps[start:], found.wall_times[start:], found.values[start:]))
            if timeout is not None and time.monotonic() - last >= timeout:
                return
            self._log.wait_for_change(version, 0.1)  # short, so that Ctrl-C is noticed

    def __iter__(self) -> Iterator[Any]:
        return self.updates()


class TensorFile:
    """The tensors of a npy, npz or safetensors file, by name. Nothing is read before it is asked for.

    >>> file = sonde.open_tensors(checkpoint)
    >>> list(file), file["kernel"]
    (['kernel'], array([[1., 2.]]))
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = _core.TensorFile(os.fspath(path))

    @property
    def metadata(self) -> dict[str, str]:
        """Text that a safetensors file carries besides its tensors."""
        return self._file.metadata()

    def __iter__(self) -> Iterator[str]:
        return iter(self._file.names())

    def __len__(self) -> int:
        return len(self._file.names())

    def __getitem__(self, name: str) -> Any:
        if name not in self._file.names():
            raise KeyError(name)
        try:
            return _typed(*self._file.view(name))
        except NotImplementedError:  # compressed, or of another byte order
            return _typed(*self._file.load(name))


def open_tensors(path: str | os.PathLike[str]) -> TensorFile:
    """Open a npy, npz or safetensors file; what it is, its content says.

    >>> sonde.open_tensors(checkpoint)["kernel"].shape
    (1, 2)
    """
    return TensorFile(path)


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

    def tensors(self, step: int) -> TensorFile | dict[str, Any]:
        """The tensors of one of its steps, by name."""
        name = self._find(step)["file"]
        return TensorFile(os.path.join(self.path, name)) if name else {}

    def _find(self, step: int) -> dict[str, Any]:
        for each in self._info["steps"]:
            if each["step"] == step and not each["evaluation"]:
                return each
        raise KeyError(f"the capture has no step {step}; it has {self.steps}")

    def __repr__(self) -> str:
        return f"<sonde.Capture {self.reason!r} at step {self.step}>"


def load_capture(path: str | os.PathLike[str]) -> Capture:
    """A capture by the path of its directory, RUN/captures/<n>-<reason>.

    >>> sonde.load_capture("logs/train/captures/1-nonfinite").origin        # doctest: +SKIP
    """
    return Capture(os.fspath(path))


_SMALL_FLOATS = {"bf16": "bfloat16", "f8_e4m3": "float8_e4m3fn", "f8_e5m2": "float8_e5m2"}


def _typed(array: Any, dtype: str) -> Any:
    """bf16 and fp8 with their types where ml_dtypes is installed; otherwise their bits."""
    if dtype not in _SMALL_FLOATS:
        return array
    try:
        import ml_dtypes
    except ImportError:
        return array
    return array.view(getattr(ml_dtypes, _SMALL_FLOATS[dtype]))
