"""sonde.show and sonde.summary: a tensor in one line, with its values, and as a small picture in a notebook."""
from typing import Any

from . import _core, _notebook, _svg

_BARS = 52


class Summary:
    """A tensor in one line, as a recorder prints it; with a picture in a notebook. `sonde.summary` makes one.

    >>> print(sonde.summary([[1.0, 2.0], [3.0, 4.0]], "kernel"))
    kernel f64[2,2] 1 |#  #  *: #| 4  mean 2.5 std 1.12
    """

    def __init__(self, line: str, buckets: list[tuple[float, float, float]], values: str | None) -> None:
        self.line = line
        self.buckets = buckets  # (left, right, count), from the smallest to the largest finite value
        self.values = values    # as NumPy prints them; None where they were not asked for

    def __str__(self) -> str:
        return self.line if self.values is None else f"{self.line}\n{self.values}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        values = "" if self.values is None else f"<pre>{_svg.escape(self.values)}</pre>"
        return _svg.figure(self.line, _svg.bars(self.buckets, self.line) + values)


def summary(x: Any, name: str = "", *, full: bool = False, summarize: int | None = None) -> Summary:
    """What `sonde.show` shows, as an object.

    >>> sonde.summary([1.0, float("nan")]).line
    'f64[2] all finite 1  NaN 1'
    """
    line, buckets = _core.show(x, name, _BARS)
    values = _core.values_text(x, summarize) if full or summarize is not None else None
    return Summary(line, buckets, values)


def show(x: Any, name: str = "", *, full: bool = False, summarize: int | None = None) -> None:
    """Print a tensor of any framework in one line; in a notebook, with a small picture of its distribution.

    With `full` also its values, as NumPy prints them: of more than 1,000 elements the first and last three of each axis. With
    `summarize=N` the first and last N of each axis, or all for -1.

    >>> sonde.show([[1.0, 2.0], [3.0, 4.0]], "kernel", full=True)
    kernel f64[2,2] 1 |#  #  *: #| 4  mean 2.5 std 1.12
    [[1. 2.]
     [3. 4.]]
    """
    shown = summary(x, name, full=full, summarize=summarize)
    if _notebook.in_notebook():
        _notebook.display(shown._repr_html_(), str(shown))
    else:
        print(shown, flush=True)
