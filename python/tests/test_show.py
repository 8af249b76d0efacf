"""sonde.show and sonde.summary, and what a notebook shows of tensors and series."""
import contextlib
import io
import re
import sys
import types
import unittest
import xml.etree.ElementTree as ElementTree

import ml_dtypes
import numpy
from testing import InFolder

import sonde


def printed(*arguments, **options) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        sonde.show(*arguments, **options)
    return out.getvalue()


class FakeKernel:
    """A notebook as far as the package can tell: what is displayed is collected."""

    def __init__(self):
        self.shown = []

    def __enter__(self):
        ipython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
        ipython.display, display.display = display, self.shown.append
        sys.modules |= {"IPython": ipython, "IPython.display": display}
        return self.shown

    def __exit__(self, *_):
        del sys.modules["IPython"], sys.modules["IPython.display"]


def svg_of(html: str) -> ElementTree.Element:
    (text,) = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    return ElementTree.fromstring(text)


def shapes(svg: ElementTree.Element, name: str) -> list[dict]:
    return [element.attrib for element in svg.iter("{http://www.w3.org/2000/svg}" + name)]


class Show(InFolder):
    def test_prints_the_line_that_a_recorder_prints(self):
        values = numpy.random.default_rng(1).normal(size=(32, 128)).astype(numpy.float32)
        done = self.run_python("""
import numpy, sonde, sys
values = numpy.random.default_rng(1).normal(size=(32, 128)).astype(numpy.float32)
with sonde.Recorder(sys.argv[1]) as rec:
    rec.print("dense_1/out", values, 7)
""", self.log)
        self.assertEqual("step 7  " + printed(values, "dense_1/out"), done.stdout)
        self.assertRegex(printed(values), r"^f32\[32,128\] -\d.* \|.{10}\| .* mean .* std ")

    def test_prints_values_as_numpy_does(self):
        values = numpy.arange(6.0).reshape(2, 3)
        self.assertEqual(printed(values, full=True).split("\n", 1)[1], f"{values}\n")
        self.assertEqual(printed(values.ravel(), summarize=1).split("\n", 1)[1], "[0. ... 5.]\n")

    def test_takes_all_that_a_recorder_takes(self):
        self.assertIn("bf16[2]", printed(numpy.array([1, 2], ml_dtypes.bfloat16)))
        self.assertIn("f64[2,3]", printed(numpy.arange(12.0).reshape(4, 3)[::2]))
        self.assertIn("i64[]", printed(numpy.int64(3)))
        self.assertIn("f64[2] ", printed([1.0, 2.0]))
        with self.assertRaisesRegex(TypeError, "tensor"):
            sonde.show(object())
        with self.assertRaisesRegex(NotImplementedError, "complex"):
            sonde.show(numpy.array([1j]))

    def test_a_notebook_gets_a_picture_of_the_distribution(self):
        values = numpy.concatenate([numpy.full(50, -1.0), numpy.full(100, 3.0)])
        svg = svg_of(sonde.summary(values, "x<y")._repr_html_())
        bars = shapes(svg, "rect")
        self.assertEqual(len(bars), 2)
        self.assertAlmostEqual(float(bars[0]["height"]) / float(bars[1]["height"]), 0.5, places=2)
        self.assertEqual([bar["x"] for bar in bars], ["0.00", "255.00"])
        self.assertEqual([element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")], ["-1", "3", "0"])
        self.assertIn("x&lt;y", sonde.summary(values, "x<y")._repr_html_())

    def test_a_notebook_displays_it_and_prints_nothing(self):
        with FakeKernel() as shown:
            self.assertEqual(printed([1.0, 2.0], "x"), "")
        self.assertIn("<svg", shown[0]._repr_html_())
        self.assertEqual(repr(shown[0]), sonde.summary([1.0, 2.0], "x").line)

    def test_what_has_no_finite_value_has_no_picture(self):
        html = sonde.summary([float("nan")], "x")._repr_html_()
        self.assertNotIn("<svg", html)
        self.assertIn("NaN 1", html)


class Series(InFolder):
    def series(self, values) -> sonde.Scalars:
        with sonde.Recorder(self.log, precision="f64") as rec:
            for n, value in enumerate(values):
                rec.scalar("loss", value, n)
        return sonde.load(self.log, cache=False)["."].scalars("loss")

    def test_a_series_is_drawn_with_every_peak(self):
        values = numpy.zeros(10_000)
        values[5_001] = 7  # one point in a pixel of forty
        (_, line) = shapes(svg_of(self.series(values)._repr_html_()), "path")
        heights = [float(point.split()[1]) for point in line["d"][1:].split("L")]
        self.assertEqual((min(heights), max(heights)), (2, 50))
        self.assertLess(len(line["d"]), 10_000)

    def test_values_that_are_not_finite_are_marked(self):
        paths = shapes(svg_of(self.series([1, 2, float("nan"), 3])._repr_html_()), "path")
        self.assertEqual(len([path for path in paths if path["stroke"] == "#ff3d9a"]), 1)
        self.assertEqual(len(shapes(svg_of(self.series([float("inf")])._repr_html_()), "path")), 2)  # no line

    def test_one_point_and_none_are_shown_too(self):
        self.assertEqual(len(shapes(svg_of(self.series([1])._repr_html_()), "circle")), 1)
        self.assertIn("no points", self.series([1])[:0]._repr_html_())

    def test_the_text_says_what_it_is(self):
        self.assertEqual(repr(self.series([1, 0.5])), "<sonde.Scalars loss: 2 points, last 0.5 at step 1>")
        runs = sonde.load(self.log, cache=False)
        self.assertIn("loss: 2 points", runs.scalars()._repr_html_())


if __name__ == "__main__":
    unittest.main()
