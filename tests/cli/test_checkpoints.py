"""sonde checkpoints, on files that the safetensors package reads and writes."""

import os
import time
import unittest

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

from command import Case

KERNEL = np.arange(6, dtype=np.float32).reshape(2, 3)


class Checkpoints(Case):
    def save(self, name, step, /, run="run", **metadata):
        folder = self.path(f"{run}/checkpoints")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"{name}-{step}.safetensors")
        save_file({"kernel": KERNEL * step, "bias": KERNEL[0]}, path,
                  {"sonde." + key: str(value) for key, value in metadata.items()})
        return path

    def marks(self, *arguments):
        """Name and step of each line of the table, and how it is marked."""
        lines = self.output("checkpoints", "run", *arguments).splitlines()[2:]
        return {tuple(line.split()[:2]): line.rpartition("  ")[2] for line in lines if line.endswith(("best", "latest"))}

    def test_lists_them_for_programs(self):
        path = self.save("model", 10, name="model", step=10, time=1763267295.5, metric="0.25", best="lowest")
        self.save("model", 9)
        foreign, own = self.json("checkpoints", "run")["checkpoints"]
        self.assertEqual(own, {"run": ".", "name": "model", "step": 10, "path": "run/checkpoints/model-10.safetensors",
                               "bytes": os.path.getsize(path), "tensors": 2, "wall_time": 1763267295.5, "metric": 0.25})
        self.assertEqual((foreign["step"], foreign["metric"]), (9, None))
        self.assertLess(abs(foreign["wall_time"] - time.time()), 3600)

    def test_lists_them_for_people(self):
        self.save("model", 9, name="model", time=1763267295.5, metric="0.25")
        self.save("model", 100, name="model", time=1763270895.5, metric="inf")
        self.assertEqual(self.output("checkpoints", "run").splitlines(), [
            "run  2 checkpoints, 504 bytes",
            "  name   step  saved                 tensors       size  metric",
            "  model     9  2025-11-16T04:28:15Z        2  252 bytes    0.25  best",
            "  model   100  2025-11-16T05:28:15Z        2  252 bytes     Inf  latest"])

    def test_without_metrics_there_is_no_column_for_them(self):
        self.save("model", 1, name="model", time=1763267295.5)
        heading, row = self.output("checkpoints", "run").splitlines()[1:]
        self.assertTrue(heading.endswith("size"), heading)
        self.assertTrue(row.endswith("bytes  latest"), row)

    def test_marks_the_best_and_the_latest_of_each_name(self):
        for step, metric in enumerate((3, 1, 2, 1)):
            self.save("low", step, name="low", time=1e9 + step, metric=metric, best="lowest")
            self.save("high", step, name="high", time=1e9 - step, metric=metric, best="highest")
        self.assertEqual(self.marks(), {("low", "1"): "best", ("low", "3"): "latest", ("high", "0"): "best, latest"})
        self.assertEqual(self.marks("--name", "low"), {("low", "1"): "best", ("low", "3"): "latest"})

    def test_marks_none_as_the_best_by_a_metric_that_is_not_finite(self):
        for step, metric in enumerate(("inf", "0.5", "-inf", "nan")):
            self.save("low", step, name="low", time=1e9 + step, metric=metric, best="lowest")
            self.save("high", step, name="high", time=1e9 + step, metric=metric, best="highest")
        self.save("alone", 0, name="alone", metric="inf", best="highest")
        self.assertEqual(self.marks(), {("low", "1"): "best", ("low", "3"): "latest", ("high", "1"): "best",
                                        ("high", "3"): "latest", ("alone", "0"): "latest"})

    def test_copies_one_byte_for_byte(self):
        path = self.save("model", 5)
        self.save("model", 6)
        self.assertEqual(self.output("checkpoints", "run", "--load", "5", "-o", "copy.safetensors"),
                         f"wrote copy.safetensors: 2 tensors, {os.path.getsize(path)} bytes\n")
        with open(path, "rb") as original, open(self.path("copy.safetensors"), "rb") as copy:
            self.assertEqual(copy.read(), original.read())
        with safe_open(self.path("copy.safetensors"), "numpy") as file:
            np.testing.assert_array_equal(file.get_tensor("kernel"), KERNEL * 5)
        answer = self.json("checkpoints", "run", "--load=6", "-o", "copy.safetensors")  # replaces it
        self.assertEqual([one["step"] for one in answer["checkpoints"]], [6])
        with safe_open(self.path("copy.safetensors"), "numpy") as file:
            np.testing.assert_array_equal(file.get_tensor("kernel"), KERNEL * 6)
        self.assertEqual(sorted(os.listdir(self.folder)), ["copy.safetensors", "run"])

    def test_negative_steps(self):
        self.save("model", -1)
        self.output("checkpoints", "run", "--load=-1", "-o", "copy.safetensors")
        self.assertEqual(self.json("checkpoints", "run")["checkpoints"][0]["step"], -1)

    def test_a_step_of_two_names_needs_the_name(self):
        self.save("a", 5)
        self.save("b", 5)
        self.assertIn("'a' and 'b': choose one with --name", self.error("checkpoints", "run", "--load", "5", "-o", "c"))
        self.output("checkpoints", "run", "--load", "5", "--name", "b", "-o", "c")

    def test_says_what_is_missing(self):
        self.save("model", 5)
        self.assertIn("no checkpoint of step 7 in 'run'; there is '5'",
                      self.error("checkpoints", "run", "--load", "7", "-o", "c"))
        self.save("model", 6)
        self.assertIn("no checkpoint of step 7 in 'run'; there are '5' and '6'",
                      self.error("checkpoints", "run", "--load", "7", "-o", "c"))
        self.assertIn("did you mean 'model'?", self.error("checkpoints", "run", "--name", "modle"))
        self.assertIn("there is 'model'", self.error("checkpoints", "run", "--name", "other"))
        self.assertIn("--load needs -o", self.error("checkpoints", "run", "--load", "5"))
        self.assertIn("-o needs --load", self.error("checkpoints", "run", "-o", "c"))
        self.assertIn("No such file", self.error("checkpoints", "nowhere"))
        self.assertIn("is a directory", self.error("checkpoints", "run", "--load", "5", "-o", "run"))
        self.assertEqual(os.listdir(self.folder), ["run"])

    def test_lists_those_of_all_runs_below_a_directory(self):
        self.save("model", 1, run="logs/a", name="model", time=1763267295.5)
        self.save("model", 2, run="logs/b/c", name="model", time=1763267295.5)
        self.save("best", 3, run="logs/b/c", name="best", time=1763267295.5)
        lines = self.output("checkpoints", "logs").splitlines()
        self.assertEqual([line.partition(",")[0] for line in lines if not line.startswith("  ")],
                         ["logs/a  1 checkpoint", "", "logs/b/c  2 checkpoints"])
        self.assertEqual([(one["run"], one["name"], one["step"]) for one in self.json("checkpoints", "logs")["checkpoints"]],
                         [("a", "model", 1), ("b/c", "best", 3), ("b/c", "model", 2)])
        self.output("checkpoints", "logs", "--load", "3", "-o", "copy.safetensors")
        self.save("model", 1, run="logs/b/c")
        self.assertIn("several checkpoints of step 1 in 'logs': name one of the runs, 'logs/a' and 'logs/b/c'",
                      self.error("checkpoints", "logs", "--load", "1", "-o", "other.safetensors"))

    def test_a_run_without_any(self):
        os.mkdir(self.path("run"))
        self.assertEqual(self.output("checkpoints", "run"), "There are no checkpoints in 'run'.\n")
        self.assertEqual(self.json("checkpoints", "run"), {"checkpoints": []})

    def test_names_what_cannot_be_read_and_lists_the_rest(self):
        self.save("model", 5)
        with open(self.path("run/checkpoints/model-6.safetensors"), "wb") as file:
            file.write(b"damaged")
        result = self.run_sonde("checkpoints", "run")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"\Asonde: 'run/checkpoints/model-6.safetensors' [^\n]+\n\Z")
        self.assertIn("1 checkpoint,", result.stdout)

    def test_a_name_that_a_terminal_would_obey_is_spelled_out(self):
        self.save("a\x1b[31m", 1)
        self.assertNotIn("\x1b[31m", self.output("checkpoints", "run"))


if __name__ == "__main__":
    unittest.main()
