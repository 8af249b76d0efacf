"""sonde show LOGDIR RUN TAG: what a run recorded, against what other readers find in the same files."""

import collections
import csv
import glob
import io
import os
import pathlib
import subprocess
import unittest

import numpy as np
import safetensors.numpy
from PIL import Image
from tensorboard.util import tensor_util

import logs
from command import Case

RECORDER = os.environ["SONDE_LIVE_RECORDER"]
OUT = "activation/dense_1/out"
WATCHED = '[[watch]]\ntensors = ".*"\nrecord = ["stats", "histogram"]\n'
KEPT = '[[watch]]\ntensors = "dense_1/o.*"\nevery = 10\nrecord = ["whole"]\n'


class Recorded(Case):
    def record(self, policy, steps=32):
        pathlib.Path(self.path("p.toml")).write_text(policy, encoding="utf-8")
        subprocess.run([RECORDER, "logs/train", "p.toml", str(steps)], cwd=self.folder, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, check=True, timeout=60)

    def whole(self, step):
        (path,) = glob.glob(self.path(f"logs/train/tensors/{step:012d}.*.safetensors"))
        return safetensors.numpy.load_file(path)[OUT]

    def value(self, *arguments):
        (value,) = self.json("show", *arguments)["values"]
        return value


class Tensors(Recorded):
    def test_that_were_kept_whole_are_printed_as_from_their_file(self):
        self.record(WATCHED + KEPT)
        text = self.output("show", "logs", "train", OUT, "--step", "10")
        (path,) = glob.glob(self.path("logs/train/tensors/000000000010.*.safetensors"))
        self.assertTrue(text.endswith("\n\n" + self.output("show", path, "--tensor", OUT)), text)
        full = self.output("show", "logs", "train", OUT, "--step", "10", "--full")
        self.assertTrue(full.endswith(f"\n{self.whole(10)}\n"), full)

    def test_have_the_statistics_of_their_values(self):
        self.record(WATCHED + KEPT)
        statistics, whole = self.json("show", "logs", "train", OUT, "--step", "20")["values"]
        self.assertEqual((statistics["kind"], whole["kind"]), ("statistics", "whole"))
        values = self.whole(20)
        self.assertEqual((statistics["dtype"], statistics["shape"], statistics["count"]), ("f32", [8, 8], 64))
        for known in (statistics["stats"], whole["stats"]):
            self.assertEqual((known["min"], known["max"]), (values.min(), values.max()))
            self.assertAlmostEqual(known["mean"], values.mean(), places=6)
            self.assertAlmostEqual(known["std"], values.std(), places=6)
            self.assertEqual((known["nan"], known["inf"], known["zero"]), (0, 0, (values == 0).sum()))
        self.assertEqual(statistics["negative"], (values < 0).sum())
        self.assertEqual(sum(count for _, _, count in statistics["histogram"]), 64)
        for percent, value in statistics["percentiles"].items():
            true = np.quantile(values, int(percent) / 100, method="inverted_cdf")
            self.assertLessEqual(abs(value - true), abs(true) / 16, percent)

    def test_have_them_in_exports(self):
        self.record(WATCHED + KEPT)
        exported = {(row["tag"], int(row["step"])): row for row in
                    csv.DictReader(io.StringIO(self.output("export", "logs", "--kind", "statistics")))}
        self.assertEqual(set(exported), {(tag, step) for tag in (OUT, "gradient/dense_1/kernel") for step in range(32)})
        for step in (0, 10, 20, 30):
            row, values = exported[OUT, step], self.whole(step)
            self.assertEqual((float(row["min"]), float(row["max"])), (values.min(), values.max()))
            self.assertAlmostEqual(float(row["mean"]), values.mean(), places=6)
        counts = collections.Counter()
        for row in csv.DictReader(io.StringIO(self.output("export", "logs", "--kind", "histograms", "--tags", OUT))):
            counts[int(row["step"])] += float(row["count"])
        self.assertEqual({step: round(count, 9) for step, count in counts.items()}, {step: 64 for step in range(32)})

    def test_are_drawn(self):
        self.record(WATCHED + KEPT)
        said = self.output("show", "logs", "train", OUT, "--png", "x.png")
        self.assertTrue(said.endswith("\nx.png: 8 x 8 pixels, f32[8,8] read as HW\n"), said)
        with Image.open(self.path("x.png")) as picture:
            self.assertEqual(picture.size, (8, 8))
        self.assertIn("cannot be drawn", self.error("show", "logs", "train", OUT, "--step", "11", "--png", "y.png"))
        self.assertIn("cannot be drawn", self.error("show", "logs", "train", "loss", "--png", "y.png"))
        self.assertFalse(os.path.exists(self.path("y.png")))

    def test_say_at_which_step_there_is_more(self):
        self.record(WATCHED + KEPT + 'steps = "0..20"\n')
        text = self.output("show", "logs", "train", OUT)
        self.assertTrue(text.startswith(f"train  {OUT}  step 31, 20"), text)
        self.assertTrue(text.endswith("  kept whole at step 20: --step 20\n"), text)

    def test_that_only_were_kept_whole_are_found(self):
        for form in ("whole", "npz", "npy"):
            with self.subTest(form):
                self.folder = os.path.join(self.folder, form)
                os.makedirs(self.folder)
                self.record(KEPT.replace('"whole"', f'"{form}"').replace('every = 10', 'steps = "5..5"'))
                value = self.value("logs", "train", OUT, "--step", "5")
                self.assertEqual((value["kind"], value["step"], value["shape"]), ("whole", 5, [8, 8]))
                self.assertEqual(value["stats"]["max"], (63 - 5) / 16)

    def test_are_described_for_people(self):
        self.record(WATCHED)
        text = self.output("show", "logs", "train", OUT, "--step", "3")
        self.assertRegex(text, r"\Atrain  activation/dense_1/out  step 3, 20\d\d-[-0-9T:]+Z\n"
                               r"  type       f32\[8,8\], 64 values\n  nonfinite  none\n  zero       1 \(1\.56 %\)\n"
                               r"  negative   3 \(4\.69 %\)\n  range      -0\.188 \.\. 3\.75\n"
                               r"  mean       1\.78, std 1\.15\n  quantiles  1 % -0\.188, ")
        bars = text.split("\n\n")[1].splitlines()
        self.assertEqual(len(bars), 16)
        for line in bars:
            self.assertRegex(line, r"\A +-?[0-9.]+ \|#+ *\| ~?[0-9]+\Z")
        shown = self.on_terminal("show", "logs", "train", OUT, LANG="C.UTF-8")
        self.assertIn("\x1b[36m█", shown)

    def test_without_a_histogram_say_so(self):
        self.record('[[watch]]\nrecord = "stats"\n')
        self.assertIn("  no histogram was recorded\n", self.output("show", "logs", "train", OUT))
        self.assertNotIn("histogram", self.value("logs", "train", OUT))


class Others(Recorded):
    """Against TensorBoard's own reader, on the logs of other writers."""

    def each(self, plugin):
        found = [(str(logs.GOLDEN / writer), run, tag, points) for writer in logs.WRITERS
                 for (run, tag), points in logs.of_plugin(logs.read(logs.GOLDEN / writer), plugin).items()
                 if run not in ("restarted", "resumed")]
        self.assertGreater(len(found), 0)
        return found

    @staticmethod
    def printed(values, value):
        """A value of a series: with the digits of a float where all of them are floats, otherwise as a double."""
        with np.errstate(over="ignore"):
            single = all(not np.isfinite(one) or float(np.float32(one)) == one for one in values)
            return float(str(np.float32(value))) if single else value

    def test_scalars(self):
        for folder, run, tag, points in self.each("scalars"):
            shown = self.value(folder, run, tag)
            values = [logs.number(point.tensor) for point in points]
            steps = [point.step for point in points]
            self.assertEqual((shown["kind"], shown["points"]), ("scalars", len(values)))
            self.assertEqual((shown["first_step"], shown["last_step"]), (min(steps), max(steps)))
            finite = [value for value in values if np.isfinite(value)]
            self.assertEqual(shown["nonfinite"], len(values) - len(finite))
            if finite:
                self.assertEqual((shown["min"], shown["max"]),
                                 (self.printed(values, min(finite)), self.printed(values, max(finite))))
            if np.isfinite(values[0]):
                self.assertEqual(self.value(folder, run, tag, "--step", str(steps[0]))["value"],
                                 self.printed(values, values[0]))

    def test_scalars_for_people(self):
        with logs.Writer(self.path("logs")) as writer:
            for step, value in ((0, 4), (10, 0.5), (20, float("nan")), (30, 2)):
                writer.scalar("loss", value, step)
        self.assertEqual(self.output("show", "logs", ".", "loss"),
                         ".  loss\n  points     4, steps 0 .. 30\n  first      4\n  last       2\n"
                         "  min        0.5 at step 10\n  max        4 at step 0\n  nonfinite  1 (25 %)\n\n  ^_!-\n")
        self.assertEqual(self.output("show", "logs", ".", "loss", "--step", "10"),
                         ".  loss  step 10, 2023-11-14T22:13:30Z\n  value      0.5\n")

    def test_histograms(self):
        for folder, run, tag, points in self.each("histograms"):
            shown = self.value(folder, run, tag)
            self.assertEqual((shown["kind"], shown["step"]), ("histograms", points[-1].step))
            # TensorBoard's reader makes floats of the old form.
            np.testing.assert_allclose(np.reshape(shown["histogram"], (-1, 3)),
                                       np.reshape(tensor_util.make_ndarray(points[-1].tensor), (-1, 3)), rtol=1e-6)
            self.output("show", folder, run, tag)

    def test_images(self):
        for folder, run, tag, points in self.each("images"):
            width, height, *files = tensor_util.make_ndarray(points[-1].tensor).tolist()
            shown = self.value(folder, run, tag, "--png", "x.png")
            self.assertEqual((shown["width"], shown["height"]), (int(width), int(height)))
            self.assertEqual([one["bytes"] for one in shown["images"]], [len(file) for file in files])
            for number, file in enumerate(files):
                path = self.path(f"x-{number}.png" if number else "x.png")
                self.assertEqual(pathlib.Path(path).read_bytes(), file)
            if Image.open(io.BytesIO(files[0])).format == "PNG":
                self.assertIn(f"  image      {int(width)} x {int(height)} pixels, ", self.output("show", folder, run, tag))

    def test_audio(self):
        for folder, run, tag, _ in self.each("audio"):
            self.assertGreater(self.value(folder, run, tag)["clips"][0]["rate"], 0)
            self.assertRegex(self.output("show", folder, run, tag), r"\n  audio      \d+ Hz, \d+ channels?, [0-9.]+ s, ")

    def test_text(self):
        for folder, run, tag, points in self.each("text"):
            texts = [text.decode() for text in tensor_util.make_ndarray(points[-1].tensor).flatten().tolist()]
            self.assertEqual(self.value(folder, run, tag)["texts"], texts)
            self.assertIn(texts[0].splitlines()[0], self.output("show", folder, run, tag))


class Wrong(Recorded):
    def setUp(self):
        super().setUp()
        with logs.Writer(self.path("logs/train")) as writer:
            writer.scalar("loss", 1, 10)
            writer.scalar("loss", 1, 20)
            writer.scalar("red\x1b[31m", 1, 0)

    def test_runs_tags_and_steps_are_named_with_what_is_near(self):
        self.assertIn("did you mean 'train'?", self.error("show", "logs", "trian", "loss"))
        self.assertIn("there is no tag 'lss' in run 'train'; did you mean 'loss'?",
                      self.error("show", "logs", "train", "lss"))
        self.assertIn("at step 12; the nearest steps are 10 and 20",
                      self.error("show", "logs", "train", "loss", "--step", "12"))
        self.assertIn("at step 99; the nearest step is 20", self.error("show", "logs", "train", "loss", "--step", "99"))

    def test_arguments_that_do_not_fit_are_named(self):
        self.assertIn("'sonde show LOGDIR RUN TAG'", self.error("show", "logs", "train"))
        self.assertIn("--tensor is for files", self.error("show", "logs", "train", "loss", "--tensor", "x"))
        file = self.save("x.npy", np.zeros(3))
        self.assertIn("'train' is an unexpected argument", self.error("show", file, "train", "loss"))
        self.assertIn("--step is for log directories", self.error("show", file, "--step", "3"))

    def test_what_only_a_browser_shows_is_named(self):
        self.assertIn("graphs, which this command cannot show",
                      self.error("show", str(logs.GOLDEN / "keras"), "train", "keras"))

    def test_names_cannot_write_to_the_terminal(self):
        self.assertNotIn("\x1b", self.output("show", "logs", "train", "red\x1b[31m"))


class Plugins(Recorded):
    def test_a_pr_curve_is_a_table_of_thresholds(self):
        text = self.output("show", str(logs.GOLDEN / "torch"), "train", "curve", "--step", "0")
        self.assertRegex(text, r"\n  thresholds +15\n  average precision +0\.\d+\n  best F1 +0\.\d+ at threshold")
        rows = [line.split() for line in text.splitlines()[-11:]]
        self.assertEqual(rows[0], ["0", "0.517", "1", "31", "29", "0", "0"])
        point = logs.read(logs.GOLDEN / "torch")["train", "curve"][1][0]
        wanted = tensor_util.make_ndarray(point.tensor)
        value = self.value(str(logs.GOLDEN / "torch"), "train", "curve", "--step", "0")
        np.testing.assert_array_equal(np.array([one["recall"] for one in value["points"]], np.float32), wanted[5])
        area = sum((wanted[5, i] - (wanted[5, i + 1] if i + 1 < 15 else 0)) * wanted[4, i] for i in range(15))
        self.assertAlmostEqual(value["average_precision"], area, places=6)

    def test_hyper_parameters_are_a_list(self):
        folder = str(logs.GOLDEN / "torch")
        text = self.output("show", folder, "train/trial", "_hparams_/session_start_info")
        self.assertEqual(text.splitlines()[1:], ["  bias       1", "  layers     3", "  optimizer  adam", "  rate       0.125"])
        self.assertEqual(self.value(folder, "train/trial", "_hparams_/session_start_info")["hparams"],
                         {"bias": 1, "layers": 3, "optimizer": "adam", "rate": 0.125})
        self.assertIn("  metrics           hparam/loss\n", self.output("show", folder, "train/trial", "_hparams_/experiment"))
        self.assertIn("  status  success\n", self.output("show", folder, "train/trial", "_hparams_/session_end_info"))

    def test_scalars_have_all_their_digits(self):
        with logs.Writer(self.path("logs")) as writer:
            writer.scalar("x", 1 / 3, 0)
            writer.scalar("x", 0.1, 1)
        self.assertIn("  value      0.33333334\n", self.output("show", "logs", ".", "x", "--step", "0"))
        self.assertEqual(self.value("logs", ".", "x", "--step", "1")["value"], 0.1)
        self.assertIn("  last       0.1\n  min        0.1 at step 1\n", self.output("show", "logs", ".", "x"))
        self.assertEqual(self.value("logs", ".", "x")["first"], 0.33333334)

    def test_a_tensor_in_full_for_programs(self):
        value = self.value(str(logs.GOLDEN / "tensorflow"), "train", "matrix", "--step", "1", "--full")
        self.assertEqual(value["values"], [[1, 2, 3], [4, 5, 6]])
        self.assertNotIn("values", self.value(str(logs.GOLDEN / "tensorflow"), "train", "matrix", "--step", "1"))


if __name__ == "__main__":
    unittest.main()
