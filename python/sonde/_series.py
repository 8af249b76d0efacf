"""Series of a log as columns: numbers, statistics of tensors, and several series side by side."""
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, Iterator

from . import _svg

STATISTICS = ("count", "nan", "positive_infinity", "negative_infinity", "zeros", "negatives", "min", "max", "mean", "std",
              "sum_abs")


def selector(argument: str, pattern: str) -> Callable[[str], bool]:
    """Whether a name is selected: the exact name, or a regular expression over the whole of it."""
    if not isinstance(pattern, str):
        raise TypeError(f"{argument} must be a str, a name or a regular expression, not {type(pattern).__name__}")
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{argument}: {pattern!r} is neither a name nor a regular expression: {error}") from None
    return lambda name: name == pattern or compiled.fullmatch(name) is not None


def new_axes() -> Any:
    import matplotlib.pyplot
    axes = matplotlib.pyplot.figure().add_subplot()
    axes.set_xlabel("step")
    return axes


@dataclass(frozen=True, eq=False, repr=False)
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

    def __getitem__(self, rows: slice) -> "Scalars":
        """Some of the points: `loss[-100:]`."""
        if not isinstance(rows, slice):
            raise TypeError(f"a series is indexed by a slice, such as [-100:], not by {type(rows).__name__}; "
                            "its columns are .steps, .wall_times and .values")
        return Scalars(self.name, self.steps[rows], self.wall_times[rows], self.values[rows])

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
            axes = new_axes()
            axes.set_title(self.name)
        axes.plot(self.steps, self.values, **{"label": self.name} | options)
        return axes

    def __repr__(self) -> str:
        return f"<sonde.Scalars {self._title()}>"

    def _title(self) -> str:
        if len(self) == 0:
            return f"{self.name}: no points"
        return f"{self.name}: {len(self):,} points, last {self.values[-1]:.4g} at step {self.steps[-1]:,}"

    def _repr_html_(self) -> str:
        return _svg.figure(self._title(), _svg.line(self.steps, self.values, self._title()))


@dataclass(frozen=True, eq=False, repr=False)
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

    def plot(self, axes: Any = None, column: str | None = None, **options: Any) -> Any:
        """Draw one statistic; without a name the mean, with the range from the smallest to the largest value shaded.
        Returns the axes.

        >>> sonde.load(log)["train"].statistics("activation/dense/out").plot(column="std")      # doctest: +SKIP
        """
        if axes is None:
            axes = new_axes()
            axes.set_title(self.name)
        (line,) = axes.plot(self.steps, self.columns[column or "mean"], **{"label": column or self.name} | options)
        if column is None and "min" in self.columns and "max" in self.columns:
            axes.fill_between(self.steps, self.columns["min"], self.columns["max"], alpha=0.2, color=line.get_color(),
                              linewidth=0)
        return axes

    def __repr__(self) -> str:
        return f"<sonde.StatisticsTable {self.name}: {len(self):,} steps, {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        shown = "mean" if "mean" in self.columns else next(iter(self.columns))
        title = f"{self.name}: {shown} of {len(self):,} steps"
        return _svg.figure(title, _svg.line(self.steps, self.columns[shown], title))


class ScalarTable(Mapping):
    """Series of several runs: a mapping from (run, tag) to Scalars, in the order of both names.

    >>> table = sonde.load(log).scalars("loss")
    >>> list(table), table["train", "loss"].values
    ([('train', 'loss')], array([1. , 0.5]))
    """

    def __init__(self, series: dict[tuple[str, str], Scalars]) -> None:
        self._series = series

    def __getitem__(self, key: tuple[str, str]) -> Scalars:
        return self._series[key]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._series)

    def __len__(self) -> int:
        return len(self._series)

    def to_pandas(self) -> Any:
        """One long table with the columns run, tag, step, wall_time and value, as `sonde export --format csv` writes it.

        >>> sonde.load(log).scalars("loss").to_pandas()["run"].tolist()
        ['train', 'train']
        """
        import numpy
        import pandas
        lengths = [len(series) for series in self._series.values()]

        def names(part: int) -> Any:  # one code a point, not one text
            distinct = sorted({key[part] for key in self._series})
            codes = [distinct.index(key[part]) for key in self._series]
            return pandas.Categorical.from_codes(numpy.repeat(numpy.array(codes, numpy.int32), lengths), distinct)

        def column(name: str, dtype: Any) -> Any:
            return numpy.concatenate([numpy.empty(0, dtype), *(getattr(series, name) for series in self._series.values())])
        return pandas.DataFrame({"run": names(0), "tag": names(1), "step": column("steps", numpy.int64),
                                 "wall_time": column("wall_times", float), "value": column("values", float)}, copy=False)

    def plot(self, **options: Any) -> Any:
        """Draw a chart for each tag, with a line for each run. Returns the figure.

        >>> sonde.load(log).scalars("loss").plot()                          # doctest: +SKIP
        """
        import matplotlib.pyplot
        tags = sorted({tag for _, tag in self._series})
        figure = matplotlib.pyplot.figure(figsize=(6.4, 3.2 * max(len(tags), 1)), layout="constrained")
        for number, tag in enumerate(tags):
            axes = figure.add_subplot(len(tags), 1, number + 1)
            axes.set_title(tag)
            for (run, name), series in self._series.items():
                if name == tag:
                    series.plot(axes, **{"label": run} | options)
            axes.legend()
        if tags:
            axes.set_xlabel("step")
        return figure

    def __repr__(self) -> str:
        return f"<sonde.ScalarTable of {len(self)} series>"

    def _repr_html_(self) -> str:
        shown = list(self._series.items())[:20]
        parts = [f"<div>{_svg.escape(run)}{series._repr_html_()}</div>" for (run, _), series in shown]
        if len(shown) < len(self):
            parts.append(f"<div>and {len(self) - len(shown)} more</div>")
        return "".join(parts) or "<div>no series</div>"
