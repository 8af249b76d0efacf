"""Series of a log in Matplotlib and pandas, as a user has them in a notebook."""
import pathlib
import sys
import unittest

import matplotlib.pyplot
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from testing import InFolder  # noqa: E402

import sonde  # noqa: E402

matplotlib.use("Agg")


class Plots(InFolder):
    def setUp(self):
        super().setUp()
        for run, scale in (("train", 1), ("test", 2)):
            with sonde.Recorder(self.log / run) as rec:
                for n in range(50):
                    rec.scalar("loss", scale / (n + 1), n)
                    with rec.step(n) as step:
                        rec.probe("dense/out").record(step, numpy.arange(4.0) * scale + n)
        self.runs = sonde.load(self.log, cache=False)
        self.addCleanup(matplotlib.pyplot.close, "all")

    def test_a_series_is_a_line_with_its_name(self):
        axes = self.runs["train"].scalars("loss").plot(color="red")
        (line,) = axes.get_lines()
        numpy.testing.assert_allclose(line.get_ydata(), 1 / numpy.arange(1, 51), rtol=1e-6)
        self.assertEqual((line.get_color(), line.get_label(), axes.get_title(), axes.get_xlabel()), ("red", "loss", "loss", "step"))
        self.runs["test"].scalars("loss").plot(axes, label="test")  # into the same axes
        self.assertEqual([each.get_label() for each in axes.get_lines()], ["loss", "test"])

    def test_statistics_are_the_mean_within_the_range(self):
        table = self.runs["train"].statistics("activation/dense/out")
        axes = table.plot()
        numpy.testing.assert_allclose(axes.get_lines()[0].get_ydata(), numpy.arange(50) + 1.5)
        (band,) = axes.collections
        low, high = band.get_paths()[0].vertices[:, 1].min(), band.get_paths()[0].vertices[:, 1].max()
        self.assertEqual((low, high), (0, 52))
        numpy.testing.assert_allclose(table.plot(column="max").get_lines()[0].get_ydata(), numpy.arange(50) + 3)

    def test_several_runs_share_the_chart_of_a_tag(self):
        figure = self.runs.scalars("loss").plot()
        (axes,) = figure.get_axes()
        self.assertEqual([text.get_text() for text in axes.get_legend().get_texts()], ["test", "train"])
        figure.savefig(self.folder / "chart.png")
        self.assertGreater((self.folder / "chart.png").stat().st_size, 5_000)

    def test_a_table_of_all_runs_pivots(self):
        table = self.runs.scalars("loss").to_pandas().pivot(index="step", columns="run", values="value")
        numpy.testing.assert_allclose(table["test"], 2 * table["train"], rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
