"""sonde.load: what was recorded, as NumPy arrays and pandas tables, at once and while it is written."""
import pathlib
import subprocess
import sys
import threading
import unittest

import ml_dtypes
import numpy
from testing import InFolder, heed_ctrl_c

import sonde


class LoadLog(InFolder):
    def setUp(self):
        super().setUp()
        with sonde.Recorder(self.log / "train") as rec:
            for n in range(100):
                rec.scalar("loss", 1 / (n + 1), n)
            for n in range(3):
                with rec.step(n) as step:
                    rec.probe("dense/out").record(step, numpy.full((2, 3), n, numpy.float32))
            rec.histogram("weights", [1.0, 2.0], 5)
            rec.text("note", "héllo", 5)
            rec.image("picture", numpy.zeros((4, 4), numpy.uint8), 5, "HW")
        self.runs = sonde.load(self.log, cache=False)

    def test_runs_are_a_mapping(self):
        self.assertEqual((list(self.runs), len(self.runs), "train" in self.runs, "test" in self.runs), (["train"], 1, True, False))
        with self.assertRaisesRegex(KeyError, "has no run 'trian'; did you mean 'train'\\?$"):
            self.runs["trian"]

    def test_a_directory_that_is_not_there_is_an_error(self):
        for call in (lambda: sonde.load(3), lambda: sonde.load(None), lambda: sonde.load(b"log")):
            self.assertRaisesRegex(TypeError, "logdir must be a str or a path, not ", call)
        self.assertRaisesRegex(TypeError, "follow must be True or False, not 1", lambda: sonde.load(self.log, follow=1))
        self.assertRaisesRegex(TypeError, "path must be a str or a path", lambda: sonde.load_capture(3))
        self.assertRaisesRegex(TypeError, "path must be a str or a path", lambda: sonde.open_tensors(None))
        with self.assertRaisesRegex(FileNotFoundError, "none"):
            sonde.load(self.folder / "none")

    def test_scalars_are_columns_that_are_not_copied(self):
        loss = self.runs["train"].scalars("loss")
        self.assertEqual((loss.steps.dtype, loss.values.dtype, len(loss)), (numpy.int64, numpy.float64, 100))
        numpy.testing.assert_allclose(loss.values, 1 / numpy.arange(1, 101), rtol=1e-7)
        for column in (loss.steps, loss.wall_times, loss.values):
            self.assertFalse(column.flags.owndata or column.flags.writeable)
        values = loss.values
        del loss, self.runs  # the columns keep what they need
        self.assertEqual(values[0], 1)

    def test_a_range_of_steps(self):
        self.assertEqual(self.runs["train"].scalars("loss", first_step=10, last_step=12).steps.tolist(), [10, 11, 12])

    def test_a_tag_that_is_not_there_is_an_error_with_the_nearest(self):
        run = self.runs["train"]
        for missing in (lambda: run.scalars("lss"), lambda: run.statistics("activation/dense/ut"), lambda: run.values("nte", "text")):
            with self.assertRaisesRegex(KeyError, "^the run 'train' has no tag '.*' of kind .*; did you mean '.*'\\?$") as caught:
                missing()
            self.assertIsInstance(caught.exception, sonde.NotFoundError)
        with self.assertRaisesRegex(KeyError, "the run 'train' kept no tensor 'activation/x'; it has none"):
            run.tensors["activation/x"]

    def test_wrong_arguments_of_questions_are_named(self):
        run, live = self.runs["train"], sonde.load(self.log, follow=True, cache=False)
        for call, sentence in (
                (lambda: run.scalars(3), "tag must be a str"),
                (lambda: run.scalars("loss", first_step=1.5), "first_step must be the number of a step"),
                (lambda: run.scalars("loss", last_step="9"), "last_step must be the number of a step"),
                (lambda: run.scalars("loss", all=1), "all must be True or False"),
                (lambda: run.statistics("activation/dense/out", first_step=True), "first_step must be"),
                (lambda: live.updates(timeout="1"), "timeout must be a number of seconds"),
                (lambda: self.runs.scalars(3), "tags must be a str"),
                (lambda: self.runs.scalars("loss", runs=None), "runs must be a str"),
                (lambda: self.runs[3], "run must be a str")):
            self.assertRaisesRegex(TypeError, sentence, call)
        for call, sentence in (
                (lambda: run.statistics("activation/dense/out", columns=("median",)), "median"),
                (lambda: run.statistics("activation/dense/out", columns=()), "columns must name statistics"),
                (lambda: live.updates(timeout=-1), "timeout must be a number of seconds, at least 0")):
            self.assertRaisesRegex(ValueError, sentence, call)

    def test_tables_of_pandas(self):
        table = self.runs["train"].scalars("loss").to_pandas()
        self.assertEqual((list(table.columns), len(table), table["step"].sum()), (["step", "wall_time", "value"], 100, 4950))

    def test_series_of_several_runs_side_by_side(self):
        with sonde.Recorder(self.log / "test") as rec:
            rec.scalar("loss", 7, 3)
            rec.scalar("accuracy", 0.5, 3)
        runs = sonde.load(self.log, cache=False)
        self.assertEqual(list(runs.scalars()), [("test", "accuracy"), ("test", "loss"), ("train", "loss")])
        self.assertEqual(list(runs.scalars("loss", runs="te.*")), [("test", "loss")])
        table = runs.scalars("loss").to_pandas()
        self.assertEqual((list(table.columns), len(table)), (["run", "tag", "step", "wall_time", "value"], 101))
        self.assertEqual(table[table["run"] == "test"][["tag", "step", "value"]].values.tolist(), [["loss", 3, 7]])
        self.assertEqual(len(runs.scalars("no such tag").to_pandas()), 0)
        with self.assertRaisesRegex(ValueError, r"\(\["):
            runs.scalars("([")

    def test_a_slice_of_a_series_is_a_series(self):
        loss = self.runs["train"].scalars("loss")
        self.assertEqual((loss[-2:].steps.tolist(), loss[:1].values.tolist()), ([98, 99], [1]))
        with self.assertRaisesRegex(TypeError, "slice"):
            loss[3]

    def test_statistics_are_columns(self):
        found = self.runs["train"].statistics("activation/dense/out")
        self.assertEqual((found.steps.tolist(), found["mean"].tolist(), found["count"].tolist()), ([0, 1, 2], [0, 1, 2], [6, 6, 6]))
        self.assertEqual(found.to_pandas()["max"].tolist(), [0, 1, 2])

    def test_tags_and_probes_are_listed(self):
        tags = {(tag.name, tag.kind): tag for tag in self.runs["train"].tags}
        self.assertEqual((tags["loss", "scalars"].points, tags["loss", "scalars"].last_step), (100, 99))
        self.assertIn(("activation/dense/out", "statistics"), tags)
        self.assertEqual(self.runs["train"].probes[0]["shape"], (2, 3))

    def test_other_values_are_read_when_they_are_asked_for(self):
        run = self.runs["train"]
        self.assertEqual([value.data for value in run.values("note", "text")], [["héllo"]])
        (histogram,) = run.values("weights", "histograms")
        self.assertEqual((histogram.step, sum(count for _, _, count in histogram.data)), (5, 2))
        (picture,) = run.values("picture", "images")
        self.assertEqual(picture.data[0][:4], b"\x89PNG")
        last = list(run.values("activation/dense/out", "statistics"))[-1].data
        self.assertEqual((last["shape"], last["mean"], sum(count for _, _, count in last["histogram"])), ((2, 3), 2, 6))
        with self.assertRaisesRegex(ValueError, "kind must be one of"):
            run.values("note", "texts")

    def test_a_live_log_yields_points_as_they_come(self):
        live = sonde.load(self.log, follow=True, cache=False)
        updates = iter(live)
        first = next(updates)
        self.assertEqual((first.run.name, first.scalars.name, len(first.scalars)), ("train", "loss", 100))
        with sonde.Recorder(self.log / "test") as rec:
            threading.Thread(target=lambda: rec.scalar("accuracy", 0.5, 7)).start()
            later = next(updates)
        self.assertEqual((later.run.name, later.scalars.steps.tolist()), ("test", [7]))

    def test_a_live_log_yields_only_what_is_new(self):
        rec = self.enterContext(sonde.Recorder(self.log / "live"))
        updates = sonde.load(self.log, follow=True, cache=False).updates(tags="value")
        seen = []
        for points in ([(1, 10)], [(2, 20), (2, 21)], [(2, 22), (3, 30)]):
            for step, value in points:
                rec.scalar("value", value, step)
            rec.flush()
            found = []
            while len(found) < len(points):  # the reader may see a part of a flush first
                update = next(updates)
                self.assertFalse(update.replaces)
                found += zip(update.scalars.steps.tolist(), update.scalars.values.tolist())
            seen.append(found)
        self.assertEqual(seen, [[(1, 10)], [(2, 20), (2, 21)], [(2, 22), (3, 30)]])

    def test_a_live_log_says_when_earlier_points_are_new(self):
        rec = self.enterContext(sonde.Recorder(self.log / "live"))
        updates = sonde.load(self.log, follow=True, cache=False).updates(tags="value")
        for step in (1, 5):
            rec.scalar("value", step, step)
        rec.flush()
        while (update := next(updates)).scalars.steps[-1] != 5:
            pass
        rec.scalar("value", 3, 3)
        rec.flush()
        update = next(updates)
        self.assertEqual((update.replaces, update.scalars.steps.tolist()), (True, [1, 3, 5]))

    def test_a_live_log_says_when_a_restart_wrote_steps_again(self):
        with sonde.Recorder(self.log / "again") as rec:
            for step in range(4):
                rec.scalar("value", step, step)
        updates = sonde.load(self.log, follow=True, cache=False).updates(tags="value")
        self.assertEqual(len(next(updates).scalars), 4)
        with sonde.Recorder(self.log / "again", purge_step=2) as rec:
            rec.scalar("value", 20, 2)
        steps, replaced, last = [0, 1, 2, 3], False, 3
        while last != 20:  # the reader may see the start of the session before the point
            update = next(updates)
            replaced |= update.replaces
            steps = ([] if update.replaces else steps) + update.scalars.steps.tolist()
            last = update.scalars.values[-1]
        self.assertEqual((replaced, steps), (True, [0, 1, 2]))

    def test_a_live_log_has_statistics_too(self):
        (update,) = sonde.load(self.log, follow=True, cache=False).updates(timeout=0.2, kinds=("statistics",))
        self.assertIsNone(update.scalars)
        self.assertEqual((update.tag.name, update.statistics["mean"].tolist()), ("activation/dense/out", [0, 1, 2]))
        with self.assertRaisesRegex(ValueError, "images"):
            sonde.load(self.log, follow=True, cache=False).updates(kinds=("images",))

    def test_a_live_log_yields_captures_as_they_are_written(self):
        rec = self.enterContext(sonde.Recorder(self.log / "captured", policy={"trigger": [{"name": "bad", "when": "nonfinite('.*')", "rearm": "always"}]}))
        updates = sonde.load(self.log, follow=True, cache=False).updates(kinds=("captures", "scalars"), tags="value")
        for number in (3, 7):
            with rec.step(number) as step:
                rec.probe("x").record(step, [float("nan")])
            update = next(updates)
            self.assertEqual((update.run.name, update.tag, update.scalars, update.statistics), ("captured", None, None, None))
            self.assertEqual((update.capture.reason, update.capture.step), ("bad", number))
            rec.scalar("value", number, number)
            self.assertEqual(next(updates).scalars.steps.tolist(), [number])

    def test_a_damaged_capture_is_named_and_does_not_end_a_live_log(self):
        for name, text in (("1-bad", "{"), ("2-worse", "[]")):
            folder = self.log / "train/captures" / name
            folder.mkdir(parents=True)
            (folder / "capture.json").write_text(text, encoding="utf-8")
        with self.assertWarnsRegex(UserWarning, "1-bad"):
            self.assertEqual(list(sonde.load(self.log, follow=True, cache=False).updates(timeout=0, kinds="captures")), [])
        with self.assertWarnsRegex(UserWarning, "2-worse"):
            self.assertEqual(self.runs["train"].captures, [])

    def test_a_live_log_ends_when_nothing_comes(self):
        self.assertEqual(len(list(sonde.load(self.log, follow=True, cache=False).updates(timeout=0.2))), 1)

    def test_tensor_files_are_read_in_place(self):
        arrays = {"a": numpy.arange(6.0).reshape(2, 3), "b": numpy.array([1, 2], ml_dtypes.bfloat16)}
        with sonde.Recorder(self.folder / "files") as rec:
            rec.checkpoint("model", 1, arrays)
        file = sonde.open_tensors(self.folder / "files/checkpoints/model-1.safetensors")
        self.assertEqual(sorted(file), ["a", "b"])
        numpy.testing.assert_array_equal(file["a"], arrays["a"])
        self.assertEqual((file["b"].dtype, file["b"].tolist()), (ml_dtypes.bfloat16, [1, 2]))
        self.assertFalse(file["a"].flags.owndata)
        with self.assertRaisesRegex(KeyError, "^the file has no tensor 'c'; it has 'a', 'b'$"):
            file["c"]

    def test_whole_tensors_are_read_by_tag_and_step(self):
        for keep in ("whole", "npy", "npz"):
            with sonde.Recorder(self.folder / keep) as rec:
                out = rec.probe("dense/out", keep=keep, every=2)
                for n in range(4):
                    with rec.step(n) as step:
                        out.record(step, numpy.full((2, 3), n, numpy.float32))
            tensors = sonde.load(self.folder / keep, cache=False)["."].tensors
            self.assertEqual({tag: kept.steps for tag, kept in tensors.items()}, {"activation/dense/out": [0, 2]})
            kept = tensors["activation/dense/out"]
            numpy.testing.assert_array_equal(kept[2], numpy.full((2, 3), 2, numpy.float32))
            self.assertFalse(kept[2].flags.owndata)
            with self.assertRaisesRegex(KeyError, "step 1; it was at"):
                kept[1]

    def test_a_file_that_cannot_be_read_is_named(self):
        with sonde.Recorder(self.folder / "damaged") as rec, rec.step(1) as step:
            rec.probe("x", keep="whole").record(step, [1.0])
        (path,) = (self.folder / "damaged/tensors").iterdir()
        path.write_bytes(b"x")
        with self.assertWarnsRegex(UserWarning, path.name):
            self.assertEqual(sonde.load(self.folder / "damaged", cache=False)["."].tensors, {})

    def test_tables_and_checkpoints_are_listed(self):
        with sonde.Recorder(self.folder / "kept") as rec:
            rec.table("validation", {"label": [1, 2], "output": [0.5, 0.25]}, 3)
            rec.checkpoint("model", 3, {"kernel": [1.0]}, metric=0.5)
        run = sonde.load(self.folder / "kept", cache=False)["."]
        (table,) = run.tables
        self.assertEqual(len(pathlib.Path(table).read_text(encoding="utf-8").splitlines()), 3)
        (saved,) = run.checkpoints
        self.assertEqual((saved.name, saved.step, saved.metric, saved.tensors()["kernel"].tolist()), ("model", 3, 0.5, [1]))

    def test_a_run_that_kept_nothing_has_nothing(self):
        run = self.runs["train"]
        self.assertEqual((run.tensors, run.tables, run.checkpoints, run.captures), ({}, [], [], []))

    def test_compressed_files_are_read_too(self):
        path = self.folder / "x.npz"
        numpy.savez_compressed(path, a=numpy.arange(5), b=numpy.arange(4.0, dtype=">f4"))
        numpy.testing.assert_array_equal(sonde.open_tensors(path)["b"], numpy.arange(4.0))

    def test_captures_are_read_with_their_tensors(self):
        with sonde.Recorder(self.folder / "captured", policy={"trigger": [{"when": "nonfinite('.*')", "before": 1}]}) as rec:
            for n, value in enumerate((1.0, float("nan"))):
                with rec.step(n) as step:
                    rec.probe("x").record(step, [value])
                    rec.scalar("loss", n, n)
        (capture,) = sonde.load(self.folder / "captured", cache=False)["."].captures
        self.assertEqual((capture.step, capture.steps, capture.scalars(1)), (1, [0, 1], {"loss": 1.0}))
        self.assertTrue(numpy.isnan(capture.tensors(1)["activation/x"][0]))
        self.assertIn("activation/x", capture.origin)
        with self.assertRaisesRegex(KeyError, "^the capture has no step 5; it has 0, 1$"):
            capture.scalars(5)

    def test_ctrl_c_ends_a_live_log(self):
        program = """
import os, signal, sonde, sys, threading
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
for update in sonde.load(sys.argv[1], follow=True, cache=False): pass
"""
        done = subprocess.run([sys.executable, "-B", "-c", program, self.log], capture_output=True, text=True, timeout=60, check=False,
                              preexec_fn=heed_ctrl_c)
        self.assertIn("KeyboardInterrupt", done.stderr)


if __name__ == "__main__":
    unittest.main()
