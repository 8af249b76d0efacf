"""Small pictures for notebooks, written as SVG. Text and axes have the colour of the page around them, light or dark."""
import math
from typing import Any, Sequence

BLUE, PINK = "#3b7dd8", "#ff3d9a"  # values, and where they are not finite
WIDTH, HEIGHT = 260, 52


def figure(title: str, picture: str) -> str:
    """A picture below its title."""
    return f'<div><code style="white-space:pre-wrap">{escape(title)}</code>{picture}</div>'


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _number(value: float) -> str:
    return f"{value:.3g}"


def _svg(body: str, label: str) -> str:
    width, height = WIDTH + 50, HEIGHT + 15  # room for the numbers beside and below
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{escape(label)}" style="display:block;margin:4px 0;font:10px sans-serif">{body}</svg>')


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="currentColor">{escape(text)}</text>'


def _baseline() -> str:
    return f'<path d="M0 {HEIGHT}.5H{WIDTH}" stroke="currentColor" stroke-opacity="0.35"/>'


def bars(buckets: Sequence[tuple[float, float, float]], label: str) -> str:
    """A histogram: (left, right, count) of equal widths, by ascending value. Any count above zero is visible."""
    highest = max((count for _, _, count in buckets), default=0)
    if highest <= 0:
        return ""
    width = WIDTH / len(buckets)
    low, high = buckets[0][0], buckets[-1][1]
    body = [_baseline()]
    for i, (_, _, count) in enumerate(buckets):
        if count > 0:
            tall = max(HEIGHT * count / highest, 1)
            body.append(f'<rect x="{i * width:.2f}" y="{HEIGHT - tall:.2f}" width="{max(width - 1, 0.5):.2f}" height="{tall:.2f}" fill="{BLUE}"/>')
    body += [_text(0, HEIGHT + 12, _number(low), "start"), _text(WIDTH, HEIGHT + 12, _number(high), "end")]
    if low < 0 < high:
        zero = WIDTH * -low / (high - low)
        body.append(f'<path d="M{zero:.2f} 0V{HEIGHT + 3}" stroke="currentColor" stroke-opacity="0.6" stroke-dasharray="2 2"/>')
        if 30 < zero < WIDTH - 30:  # clear of the numbers at the ends
            body.append(_text(zero, HEIGHT + 12, "0", "middle"))
    return _svg("".join(body), label)


def line(steps: Any, values: Any, label: str) -> str:
    """A series: the smallest and largest value of each pixel, so that no peak is lost, and marks where values are not finite."""
    import numpy
    if len(steps) == 0:
        return ""
    first, last = int(steps[0]), int(steps[-1])
    columns = (numpy.zeros(len(steps), int) if first == last else
               ((steps - first) / (last - first) * (WIDTH - 1)).astype(int))
    finite = numpy.isfinite(values)
    marks = "".join(f'<path d="M{x + 0.5:g} 0v4" stroke="{PINK}" stroke-width="2"/>' for x in numpy.unique(columns[~finite]))
    body = [_baseline(), marks, _text(0, HEIGHT + 12, f"{first:,}", "start"), _text(WIDTH, HEIGHT + 12, f"{last:,}", "end")]
    if finite.any():
        low, high = float(values[finite].min()), float(values[finite].max())
        body.append(_text(WIDTH + 4, 9, _number(high), "start"))
        if high > low:
            body.append(_text(WIDTH + 4, HEIGHT, _number(low), "start"))
        span = high - low if high > low and math.isfinite(high - low) else 1.0
        starts = numpy.flatnonzero(numpy.diff(columns[finite], prepend=-1))
        at, shown = columns[finite][starts], values[finite]
        points = []
        for x, least, most in zip(at, numpy.minimum.reduceat(shown, starts), numpy.maximum.reduceat(shown, starts)):
            for value in (least, most) if most > least else (least,):
                points.append(f"{x + 0.5:g} {HEIGHT - 2 - (HEIGHT - 4) * (value - low) / span:.1f}")
        if len(points) == 1:
            x, y = points[0].split()
            body.append(f'<circle cx="{x}" cy="{y}" r="2" fill="{BLUE}"/>')
        else:
            body.append(f'<path d="M{"L".join(points)}" fill="none" stroke="{BLUE}" stroke-width="1.3" stroke-linejoin="round"/>')
    return _svg("".join(body), label)
