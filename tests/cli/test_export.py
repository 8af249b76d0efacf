"""sonde export: every value that TensorBoard's reader finds, read back with Python's own csv, json and sqlite3."""

import csv
import io
import itertools
import json
import math
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import unittest

import numpy as np
from google.protobuf import text_format
from tensorboard.backend.event_processing import event_file_loader
from tensorboard.compat.proto import graph_pb2
from tensorboard.util import tensor_util

import logs
from command import SONDE, Case

sys.path.insert(0, os.path.join(os.environ["SONDE_SOURCE_DIR"], "tests", "conformance"))
from recording import ColorMap, Keep, Kind, Layout, Script  # noqa: E402

STATISTICS = ["run", "tag", "step", "wall_time", "dtype", "shape", "count", "nan", "pos_inf", "neg_inf", "zeros",
              "negatives", "min", "max", "mean", "std", "sum_abs"]


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


class Export(Case):
    def rows(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.output("export", *arguments), newline="")))

    def lines(self, *arguments):
        return [json.loads(line) for line in self.output("export", *arguments, "--format", "jsonl").splitlines()]

    def query(self, path, sql):
        connection = sqlite3.connect(path)
        self.addCleanup(connection.close)
        self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        return connection.execute(sql).fetchall()


class Scalars(Export):
    def expected(self, writer, without=("restarted",)):
        """[(run, tag, step, wall_time, value)] in the order of runs, tags and steps."""
        series = logs.of_plugin(logs.read(logs.GOLDEN / writer), "scalars")
        return [(run, tag, point.step, point.wall_time, logs.number(point.tensor))
                for (run, tag), points in sorted(series.items()) if run not in without for point in points]

    def compare(self, rows, expected):
        self.assertEqual([row[:4] for row in rows], [row[:4] for row in expected])
        for (*_, value), (*place, wanted) in zip(rows, expected):
            # What was a float reads back as the same float, what was a double as the same double.
            single = same(float(np.float32(wanted)), wanted)
            self.assertTrue(same(float(np.float32(value)) if single else value, wanted), (place, value, wanted))

    def test_csv_holds_what_tensorboard_reads_in_the_logs_of_every_writer(self):
        for writer in logs.WRITERS:
            with self.subTest(writer):
                rows = [row for row in self.rows(str(logs.GOLDEN / writer)) if row["run"] != "restarted"]
                self.compare([(row["run"], row["tag"], int(row["step"]), float(row["wall_time"]), float(row["value"]))
                              for row in rows], self.expected(writer))

    def test_jsonl_holds_the_same(self):
        rows = [row for row in self.lines(str(logs.GOLDEN / "torch")) if row["run"] != "restarted"]
        self.compare([(row["run"], row["tag"], row["step"], row["wall_time"], float(row["value"])) for row in rows],
                     self.expected("torch"))

    def test_sqlite_holds_the_same(self):
        self.output("export", str(logs.GOLDEN / "torch"), "--format", "sqlite", "-o", "out.db")
        rows = self.query(self.path("out.db"), "SELECT run, tag, step, wall_time, value FROM scalars "
                                               "WHERE run != 'restarted' ORDER BY rowid")
        nan = [(*row[:4], math.nan if row[4] is None else row[4]) for row in rows]
        self.compare(nan, self.expected("torch"))
        self.assertEqual(len(self.query(self.path("out.db"), "PRAGMA index_list(scalars)")), 1)
        self.assertEqual(os.listdir(self.folder), ["out.db"])

    def test_header_and_digits(self):
        with logs.Writer(self.path("logs")) as writer:
            writer.scalar("x", 0.1, 1, 1_700_000_000.25)
            writer.scalar("x", 1e-45, 2, 1_700_000_000)
            writer.scalar("x", 16777216, 3, 0)
        self.assertEqual(self.output("export", "logs"),
                         "run,tag,step,wall_time,value\n"
                         ".,x,1,1700000000.25,0.1\n.,x,2,1700000000,1e-45\n.,x,3,0,16777216\n")

    def test_different_doubles_have_different_texts(self):
        values = [0.10000000149011612, 0.1, math.nan, 1e300, 0.5]
        with logs.Writer(self.path("logs")) as writer:
            for step, value in enumerate(values):
                writer.double("doubles", value, step)
                writer.double("floats", 0.10000000149011612, step)
        for rows in (self.rows("logs"), self.lines("logs")):
            doubles = [float(row["value"]) for row in rows if row["tag"] == "doubles"]
            self.assertTrue(all(map(same, doubles, values)), doubles)
            self.assertEqual({str(row["value"]) for row in rows if row["tag"] == "floats"}, {"0.1"})

    def test_sqlite_has_the_double_next_to_the_text_that_csv_has(self):
        with logs.Writer(self.path("logs")) as writer:
            for step, value in enumerate((0.1, 1 / 3, -1e-45, 3.4028235e38, 2.5, math.inf)):
                writer.scalar("x", value, step)
        texts = [row["value"] for row in self.rows("logs")]
        self.output("export", "logs", "--format", "sqlite", "-o", "out.db")
        stored = [value for value, in self.query(self.path("out.db"), "SELECT value FROM scalars ORDER BY rowid")]
        self.assertEqual(stored, [float(text) for text in texts])
        self.assertEqual(stored[0], 0.1)
        self.assertEqual([row["value"] for row in self.lines("logs")][:5], stored[:5])

    def test_an_existing_file_is_replaced_only_if_requested(self):
        with logs.Writer(self.path("logs")) as writer:
            writer.scalar("x", 1, 1)
        for file_format in ("csv", "jsonl", "sqlite"):
            pathlib.Path(self.path("mine")).write_bytes(b"precious")
            self.assertEqual(self.error("export", "logs", "--format", file_format, "-o", "mine"),
                             "sonde: 'mine' already exists: name another file, or replace it with --force\n")
            self.assertEqual(pathlib.Path(self.path("mine")).read_bytes(), b"precious")
            self.output("export", "logs", "--format", file_format, "-o", "mine", "--force")
            self.assertNotEqual(pathlib.Path(self.path("mine")).read_bytes(), b"precious")
        self.assertEqual(sorted(os.listdir(self.folder)), ["logs", "mine"])

    def test_damage_is_mentioned_and_the_rest_is_exported(self):
        with logs.Writer(self.path("logs/a")) as writer:
            for step in range(5):
                writer.scalar("x", step, step)
        logs.damage(writer.path, 3)
        result = self.run_sonde("export", "logs")
        self.assertEqual((result.returncode, result.stderr),
                         (0, "sonde: 1 damaged place left out: 'sonde check logs/a' shows where\n"))
        self.assertEqual(len(result.stdout.splitlines()), 5)

    def test_an_interrupted_one_leaves_nothing_behind(self):
        with logs.Writer(self.path("logs")) as writer:
            for step in range(60_000):
                writer.scalar("x", step, step)
        for file_format, number in itertools.product(("csv", "sqlite"), (signal.SIGINT, signal.SIGTERM)):
            code = self.interrupt(number, "export", "logs", "--format", file_format, "-o", "out")
            self.assertIn(code, (0, -number))  # a fast machine may be done before
            self.assertEqual([name for name in os.listdir(self.folder) if "part" in name], [])
            self.assertEqual(os.path.exists(self.path("out")), code == 0)
            if code == 0:
                os.remove(self.path("out"))

    def test_many_points_keep_their_order_on_one_processor_or_all(self):
        with logs.Writer(self.path("logs")) as writer:
            for step in range(40_000):
                for tag in ("a", "b"):
                    writer.scalar(tag, step % 1024, step, step / 4)
        expected = "run,tag,step,wall_time,value\n" + "".join(
            f".,{tag},{step},{step / 4:g},{step % 1024}\n" if step % 4 == 0 else
            f".,{tag},{step},{step / 4!r},{step % 1024}\n" for tag in ("a", "b") for step in range(40_000))
        self.assertEqual(self.output("export", "logs"), expected)
        alone = subprocess.run(["taskset", "-c", str(min(os.sched_getaffinity(0))), SONDE, "export", "logs"],
                               cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True, timeout=60,
                               check=True)
        self.assertEqual(alone.stdout, expected)

    def test_not_finite_values_are_spelled_out(self):
        with logs.Writer(self.path("logs")) as writer:
            for step, value in enumerate((math.nan, math.inf, -math.inf)):
                writer.scalar("x", value, step)
        self.assertEqual([row["value"] for row in self.rows("logs")], ["NaN", "Infinity", "-Infinity"])
        self.assertEqual([row["value"] for row in self.lines("logs")], ["NaN", "Infinity", "-Infinity"])

    def test_names_that_need_quotes(self):
        names = ['a,b', 'say "x"', "two\nlines", " blank ", "\u00fcber/\U0001f642", "'", ""]
        with logs.Writer(self.path("logs/run, one")) as writer:
            for name in names:
                writer.scalar(name, 1, 0)
        self.assertEqual({row["tag"] for row in self.rows("logs")}, set(names))
        self.assertEqual({row["run"] for row in self.rows("logs")}, {"run, one"})
        self.assertEqual({row["tag"] for row in self.lines("logs")}, set(names))
        self.output("export", "logs", "--format", "sqlite", "-o", "out.db")
        self.assertEqual({tag for tag, in self.query(self.path("out.db"), "SELECT tag FROM scalars")}, set(names))

    def test_a_restarted_run_has_its_newest_history_or_all(self):
        folder = str(logs.GOLDEN / "torch")
        newest = [(int(row["step"]), float(row["value"])) for row in self.rows(folder, "--runs", "restarted")]
        self.assertEqual(newest, [(step, step + (100 if step >= 4 else 0)) for step in range(10)])
        everything = [(int(row["step"]), float(row["value"]))
                      for row in self.rows(folder, "--runs", "restarted", "--history", "all")]
        self.assertEqual(everything, [(row[2], row[4]) for row in self.expected("torch", without=())
                                      if row[0] == "restarted"])

    def test_chooses_runs_and_tags(self):
        rows = self.rows(str(logs.GOLDEN / "torch"), "--runs", "train|nested.*", "--tags", "loss/train")
        self.assertEqual({(row["run"], row["tag"]) for row in rows},
                         {("train", "loss/train"), ("nested/deep/run", "loss/train")})

    def test_leaves_nothing_beside_its_file(self):
        self.assertEqual(self.output("export", str(logs.GOLDEN / "keras"), "-o", "out.csv"), "")
        with open(self.path("out.csv"), encoding="utf-8") as file:
            self.assertEqual(file.read(), self.output("export", str(logs.GOLDEN / "keras")))
        self.assertEqual(os.listdir(self.folder), ["out.csv"])

    def test_a_reader_that_has_seen_enough_is_no_error(self):
        with logs.Writer(self.path("logs")) as writer:
            for step in range(20_000):
                writer.scalar("a name to fill the pipe with", 1, step)
        for trap in ("", "trap '' PIPE; "):  # with and without the signal
            command = f"{trap}exec {SONDE} export logs"
            with subprocess.Popen(["bash", "-c", command], cwd=self.folder, env=self.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                self.assertEqual(process.stdout.readline(), b"run,tag,step,wall_time,value\n")
                process.stdout.close()
                self.assertEqual(process.stderr.read(), b"")

    def test_errors_are_one_sentence(self):
        folder = str(logs.GOLDEN / "keras")
        os.mkdir(self.path("empty"))
        self.assertIn("there are no runs in 'empty'", self.error("export", "empty"))
        self.assertIn("No such file", self.error("export", "nowhere"))
        self.assertIn("did you mean 'train'", self.error("export", folder, "--runs", "trian"))
        self.assertIn("name its file with -o", self.error("export", folder, "--format", "sqlite"))
        self.assertIn("'nowhere/x.csv'", self.error("export", folder, "-o", "nowhere/x.csv"))
        self.assertIn("'nowhere/x.db'", self.error("export", folder, "--format", "sqlite", "-o", "nowhere/x.db"))
        self.assertIn("is a directory", self.error("export", folder, "-o", "empty"))
        self.assertIn("is not a regular file", self.error("export", folder, "-o", "/dev/null"))
        self.assertIn("csv, jsonl, sqlite, json, pb or pbtxt", self.error("export", folder, "--format", "html"))
        self.assertIn("there is no audio in", self.error("export", folder, "--kind", "audio", "-o", "out"))
        self.assertIn("--output needs a value", self.error("export", folder, "-o", ""))
        self.assertEqual(os.listdir(self.folder), ["empty"])

    def test_runs_without_scalars_are_named(self):
        with logs.Writer(self.path("logs/pictures")) as writer:
            writer.image("x", b"\x89PNG", 0)
        with logs.Writer(self.path("logs/train")) as writer:
            writer.scalar("x", 1, 0)
        self.assertIn("there are no scalars in run 'pictures' of 'logs', but 'images'",
                      self.error("export", "logs", "--runs", "pictures"))

    def test_a_full_disk_leaves_no_part_of_a_file(self):
        with logs.Writer(self.path("logs")) as writer:
            for step in range(2000):
                writer.scalar("a name that makes long lines", 1, step)
        for file_format in ("csv", "sqlite"):
            result = subprocess.run(["bash", "-c", f"ulimit -f 8; trap '' XFSZ; exec {SONDE} export logs "
                                     f"--format {file_format} -o out"], cwd=self.folder, env=self.environment,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertRegex(result.stderr, r"\Asonde: [^\n]+\n\Z")
            self.assertEqual(os.listdir(self.folder), ["logs"])


class Histograms(Export):
    def test_a_row_for_each_bucket_as_written(self):
        folder = logs.GOLDEN / "tensorflow"
        expected = [[run, tag, point.step, point.wall_time, *bucket]
                    for (run, tag), points in sorted(logs.of_plugin(logs.read(folder), "histograms").items())
                    for point in points for bucket in tensor_util.make_ndarray(point.tensor).tolist()]
        rows = self.rows(str(folder), "--kind", "histograms")
        self.assertEqual(list(rows[0]), ["run", "tag", "step", "wall_time", "left", "right", "count"])
        got = [[row["run"], row["tag"], int(row["step"])] + [float(row[key]) for key in list(rows[0])[3:]]
               for row in rows]
        self.assertGreater(len(got), 10)
        self.assertEqual(got, expected)

    def test_old_histograms_keep_their_counts(self):
        folder = logs.GOLDEN / "torch"
        for (run, tag), points in logs.of_plugin(logs.read(folder), "histograms").items():
            rows = self.lines(str(folder), "--kind", "histograms", "--runs", run, "--tags", tag)
            for point in points:
                of_step = [row for row in rows if row["step"] == point.step]
                self.assertEqual(sum(row["count"] for row in of_step),
                                 tensor_util.make_ndarray(point.tensor)[:, 2].sum())
                self.assertTrue(all(row["left"] <= row["right"] for row in of_step))


class Statistics(Export):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(5)
        special = np.array([[0, -1, np.nan], [np.inf, -np.inf, 2.5]], np.float32)
        self.arrays = {("dense/out", 0): rng.standard_normal((4, 8)).astype(np.float32), ("dense/out", 1): special,
                       ("ids", 1): np.arange(-3, 9, dtype=np.int32)}
        with Script() as script:
            script.open("r", self.path("logs/train"))
            for name in ("dense/out", "ids"):
                script("define_probe", "r", name, name, Kind.activation, [], Keep.stats | Keep.histogram, Layout.NHWC,
                       ColorMap.automatic, 64, 0, 0)
            for step in range(2):
                script("begin_step", "r", step)
                for (name, of_step), array in self.arrays.items():
                    if of_step == step:
                        script("probe", "r", name, array)
                script("end_step", "r")
            script.close("r")

    def expected(self, array):
        finite = array[np.isfinite(array)].astype(np.float64)
        return {"count": array.size, "nan": np.isnan(array).sum(), "pos_inf": (array == np.inf).sum(),
                "neg_inf": (array == -np.inf).sum(), "zeros": (array == 0).sum(),
                "negatives": ((array < 0) & np.isfinite(array)).sum(), "min": finite.min(), "max": finite.max(),
                "mean": finite.mean(), "std": finite.std(), "sum_abs": np.abs(finite).sum()}

    def test_are_those_that_numpy_computes(self):
        rows = self.rows("logs", "--kind", "statistics")
        self.assertEqual(list(rows[0]), STATISTICS)
        self.assertEqual([(row["run"], row["tag"], row["step"]) for row in rows],
                         [("train", "activation/dense/out", "0"), ("train", "activation/dense/out", "1"),
                          ("train", "activation/ids", "1")])
        for row in rows:
            array = self.arrays[(row["tag"].removeprefix("activation/"), int(row["step"]))]
            self.assertEqual((row["dtype"], json.loads(row["shape"])),
                             ({"float32": "f32", "int32": "i32"}[str(array.dtype)], list(array.shape)))
            for key, value in self.expected(array).items():
                self.assertTrue(math.isclose(float(row[key]), value, rel_tol=1e-12, abs_tol=1e-12), (key, row, value))

    def test_one_that_cannot_be_decoded_costs_itself_only(self):
        path = next(pathlib.Path(self.path("logs")).rglob("stats.*.tfrecord"))
        content = path.read_bytes()
        sound = self.output("export", "logs", "--kind", "statistics").splitlines()
        record = logs.records(content)[-1]
        payload = content[record[0] + 12:record[0] + record[1] - 4]
        path.write_bytes(logs.with_payload(content, record, payload[:-1] + b"\0"))  # a bin that holds nothing
        self.assertIn("a histogram cannot be decoded", self.run_sonde("check", "logs").stdout)
        result = self.run_sonde("export", "logs", "--kind", "statistics")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"(?m)^sonde: left out 1 value that cannot be read, first 'activation/")
        left = result.stdout.splitlines()
        self.assertEqual(len(left), len(sound) - 1)
        self.assertLess(set(left), set(sound))

    def test_are_the_same_in_every_format(self):
        rows = self.rows("logs", "--kind", "statistics")
        lines = self.lines("logs", "--kind", "statistics")
        self.output("export", "logs", "--kind", "statistics", "--format", "sqlite", "-o", "out.db")
        table = self.query(self.path("out.db"), f"SELECT {', '.join(STATISTICS)} FROM statistics ORDER BY rowid")
        self.assertEqual([list(line) for line in lines], [STATISTICS] * 3)
        for row, line, stored in zip(rows, lines, table):
            for key, value in zip(STATISTICS, stored):
                plain = json.loads(row[key]) if key not in ("run", "tag", "dtype") else row[key]
                self.assertEqual(plain, line[key])
                self.assertEqual(plain, json.loads(value) if key == "shape" else value)


class Files(Export):
    EXTENSIONS = {"images": "png", "audio": "wav", "text": "md"}

    def manifest(self, folder):
        with open(os.path.join(self.path(folder), "manifest.csv"), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def files(self, folder):
        root = pathlib.Path(self.path(folder))
        return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}

    def contents(self, kind, tensor):
        strings = tensor_util.make_ndarray(tensor)
        if kind == "images":
            return [bytes(png) for png in strings[2:]]
        if kind == "audio":
            return [bytes(clip) for clip in (strings[:, 0] if strings.ndim == 2 else strings)]
        return [bytes(text) for text in strings.ravel()]

    def test_hold_what_tensorboard_reads_in_the_logs_of_every_writer(self):
        compared = 0
        for writer, kind in itertools.product(logs.WRITERS, self.EXTENSIONS):
            series = logs.of_plugin(logs.read(logs.GOLDEN / writer), kind)
            if not series:
                continue
            out = f"{writer}-{kind}"
            self.output("export", str(logs.GOLDEN / writer), "--kind", kind, "-o", out)
            manifest = self.manifest(out)
            self.assertEqual(self.files(out), {row["file"] for row in manifest} | {"manifest.csv"})
            for (run, tag), points in series.items():
                for point in points:
                    rows = [row for row in manifest if (row["run"], row["tag"], row["step"], float(row["wall_time"]))
                            == (run, tag, str(point.step), point.wall_time)]
                    got = [pathlib.Path(self.path(out), row["file"]).read_bytes() for row in rows]
                    self.assertEqual(got, self.contents(kind, point.tensor), (writer, kind, run, tag))
                    compared += len(got)
        self.assertGreater(compared, 20)

    def test_are_named_by_run_tag_and_step(self):
        self.output("export", str(logs.GOLDEN / "torch"), "--kind", "images", "--tags", "picture", "-o", "out")
        self.assertEqual(self.files("out"), {"manifest.csv", *(f"train/picture/{step}.png" for step in range(3))})

    def test_are_never_outside_the_folder(self):
        names = ["../../x", "..", ".", "/etc/x", "a/../../b", "", "a//b", "c:\\d", "new\nline", "n" * 300, "%2E", "a/b/c"]
        with logs.Writer(self.path("logs/run")) as writer:
            for name in names:
                writer.image(name, b"\x89PNG" + name.encode(), 7)
        before = set(os.listdir(self.folder))
        self.output("export", "logs", "--kind", "images", "-o", "out")
        self.assertEqual(set(os.listdir(self.folder)) - before, {"out"})
        manifest = {row["tag"]: row["file"] for row in self.manifest("out")}
        self.assertEqual(set(manifest), set(names))
        self.assertEqual(len(set(manifest.values())), len(names))
        for name, file in manifest.items():
            path = pathlib.Path(self.path("out"), file)
            self.assertNotIn("..", path.parts)
            self.assertTrue(path.resolve().is_relative_to(pathlib.Path(self.path("out")).resolve()))
            self.assertEqual(path.read_bytes(), b"\x89PNG" + name.encode())
        self.assertEqual(manifest["../../x"], "run/%2E%2E/%2E%2E/x/7.png")
        self.assertEqual(manifest["a/b/c"], "run/a/b/c/7.png")

    def test_of_different_runs_and_tags_with_one_path_are_all_kept(self):
        for run, tag in (("a", "b/c"), ("a/b", "c")):
            with logs.Writer(self.path(f"logs/{run}")) as writer:
                writer.image(tag, b"\x89PNG" + run.encode(), 0)
        self.output("export", "logs", "--kind", "images", "-o", "out")
        self.assertEqual(self.files("out"), {"a/b/c/0.png", "a/b/c/0~2.png", "manifest.csv"})

    def test_named_like_the_folders_of_others_are_all_kept(self):
        deep = "d/" * 3000
        tags = ["img", "img/1.png", "img/1.png/1.png", "manifest.csv", "1.png", deep, deep + "x", "\u00fc" * 300]
        with logs.Writer(self.path("logs")) as writer:
            for tag in tags:
                writer.image(tag, b"\x89PNG" + tag.encode(), 1)
        self.output("export", "logs", "--kind", "images", "-o", "out")
        manifest = {row["tag"]: row["file"] for row in self.manifest("out")}
        self.assertEqual(set(manifest), set(tags))
        for tag, file in manifest.items():
            self.assertEqual(pathlib.Path(self.path("out"), file).read_bytes(), b"\x89PNG" + tag.encode())
        self.assertEqual((manifest["img"], manifest["img/1.png"]), ("img/1.png", "img/1%2Epng/1.png"))

    def test_need_a_new_folder(self):
        folder = str(logs.GOLDEN / "torch")
        os.mkdir(self.path("full"))
        self.save("full/x.npy", np.zeros(3))
        self.assertIn("'full' already exists", self.error("export", folder, "--kind", "text", "-o", "full"))
        self.assertIn("with -o", self.error("export", folder, "--kind", "text"))
        self.assertIn("--kind text cannot be written as jsonl", self.error("export", folder, "--kind", "text", "--format", "jsonl", "-o", "x"))
        self.assertEqual(os.listdir(self.folder), ["full"])


class OtherKinds(Export):
    """Tensors, PR curves, hyper-parameters and graphs, against TensorBoard's own reader."""

    def test_a_row_for_each_element_of_a_tensor(self):
        series = logs.read(logs.GOLDEN / "tensorflow")
        points = series["train", "matrix"][1]
        rows = self.rows(str(logs.GOLDEN / "tensorflow"), "--kind", "tensors")
        expected = [(point.step, "f32", "[2,3]", i, value) for point in points
                    for i, value in enumerate(tensor_util.make_ndarray(point.tensor).flatten().tolist())]
        self.assertEqual([(int(row["step"]), row["dtype"], row["shape"], int(row["element"]), float(row["value"]))
                          for row in rows], expected)
        self.output("export", str(logs.GOLDEN / "tensorflow"), "--kind", "tensors", "--format", "sqlite", "-o", "out.db")
        self.assertEqual(self.query(self.path("out.db"), "SELECT step, dtype, shape, element, value FROM tensors "
                                                         "ORDER BY rowid"), expected)

    def test_in_json_lines_a_tensor_is_one_row(self):
        points = logs.read(logs.GOLDEN / "tensorflow")["train", "matrix"][1]
        rows = self.lines(str(logs.GOLDEN / "tensorflow"), "--kind", "tensors")
        self.assertEqual([(row["step"], row["values"]) for row in rows],
                         [(point.step, tensor_util.make_ndarray(point.tensor).tolist()) for point in points])

    def test_a_row_for_each_threshold_of_a_pr_curve(self):
        names = ("true_positives", "false_positives", "true_negatives", "false_negatives", "precision", "recall")
        for writer, tag in (("torch", "curve"), ("tensorflow", "curve/pr_curves")):
            points = logs.read(logs.GOLDEN / writer)["train", tag][1]
            for rows in (self.rows(str(logs.GOLDEN / writer), "--kind", "pr_curves"),
                         self.lines(str(logs.GOLDEN / writer), "--kind", "pr_curves")):
                for point in points:
                    wanted = tensor_util.make_ndarray(point.tensor)
                    of_step = [row for row in rows if int(row["step"]) == point.step]
                    found = np.array([[float(row[name]) for row in of_step] for name in names], np.float32)
                    np.testing.assert_array_equal(found, wanted)
                    np.testing.assert_allclose([float(row["threshold"]) for row in of_step],
                                               np.linspace(0, 1, wanted.shape[1]), rtol=1e-15)

    def test_a_row_for_each_hyper_parameter_of_a_run(self):
        rows = self.lines(str(logs.GOLDEN / "torch"), "--kind", "hparams")
        self.assertEqual({row["hparam"]: row["value"] for row in rows},
                         {"bias": 1, "layers": 3, "optimizer": "adam", "rate": 0.125})
        self.assertEqual({(row["run"], row["status"]) for row in rows}, {("train/trial", "success")})
        rows = self.rows(str(logs.GOLDEN / "tensorflow"), "--kind", "hparams")
        self.assertEqual({row["run"] for row in rows}, {"trials/0", "trials/1"})
        self.output("export", str(logs.GOLDEN / "tensorflow"), "--kind", "hparams", "--format", "sqlite", "-o", "h.db")
        stored = self.query(self.path("h.db"), "SELECT run, hparam, value FROM hparams ORDER BY rowid")
        self.assertEqual([(row["run"], row["hparam"], row["value"]) for row in rows],
                         [(run, name, value if isinstance(value, str) else repr(value).removesuffix(".0"))
                          for run, name, value in stored])
        self.assertIn("no tags", self.error("export", str(logs.GOLDEN / "torch"), "--kind", "hparams", "--tags", "x"))

    def graph(self, writer, run):
        for path in logs.event_files(logs.GOLDEN / writer)[run]:
            for event in event_file_loader.LegacyEventFileLoader(str(path)).Load():
                if event.HasField("graph_def"):
                    return event.graph_def
        raise AssertionError("no graph")

    def test_graphs_as_rows_as_json_and_as_the_graph_def_itself(self):
        bytes_written = self.graph("torch", "graph")
        graph = graph_pb2.GraphDef.FromString(bytes_written)
        nodes = [(node.name, node.op, list(node.input)) for node in graph.node]
        result = self.run_sonde("export", str(logs.GOLDEN / "torch"), "--kind", "graphs", "--format", "jsonl")
        self.assertEqual((result.returncode, result.stderr), (0, "sonde: only graphs of operations are exported, not run "
                                                                 "metadata and Keras models: 'step1'\n"))
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([(row["node"], row["op"], row["inputs"]) for row in rows], nodes)
        for file_format in ("pb", "json", "pbtxt"):
            folder = "out_" + file_format
            self.run_sonde("export", str(logs.GOLDEN / "torch"), "--kind", "graphs", "--format", file_format, "-o", folder)
            self.assertTrue(os.path.exists(self.path(folder + "/manifest.csv")))
        self.assertEqual(pathlib.Path(self.path("out_pb/graph/__run_graph__/0.pb")).read_bytes(), bytes_written)
        text = pathlib.Path(self.path("out_pbtxt/graph/__run_graph__/0.pbtxt")).read_text(encoding="ascii")
        self.assertEqual(text_format.Parse(text, graph_pb2.GraphDef()), graph)
        text = pathlib.Path(self.path("out_json/graph/__run_graph__/0.json")).read_text(encoding="utf-8")
        self.assertEqual([(node["name"], node["op"], node["inputs"]) for node in json.loads(text)["nodes"]], nodes)

    def test_invalid_input_is_rejected(self):
        folder = str(logs.GOLDEN / "torch")
        self.assertIn("--kind scalars cannot be written as pb: --format is one of csv, jsonl and sqlite",
                      self.error("export", folder, "--format", "pb", "-o", "x"))
        self.assertIn("cannot be written as json: it writes files",
                      self.error("export", folder, "--kind", "images", "--format", "json", "-o", "x"))
        self.assertIn("--kind graphs --format pb writes files: name the folder",
                      self.error("export", folder, "--kind", "graphs", "--format", "pb"))
        self.assertIn("--force is for a file", self.error("export", folder, "--kind", "images", "-o", "x", "--force"))
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
