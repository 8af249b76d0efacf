"""The example scripts of examples/python: each learns its task, and recorded what it says."""
import csv
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from testing import InFolder, tensorboard_events  # noqa: E402

import sonde  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples/python"


class Examples(InFolder):
    def run_example(self, name):
        done = subprocess.run([sys.executable, EXAMPLES / name, self.log], capture_output=True, text=True, check=False, timeout=300,
                              env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", "PYTHONWARNINGS": "error::UserWarning:sonde"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return float(done.stdout.split()[-1]), sonde.load(self.log, cache=False)["."]

    def assert_steps(self, run, steps, *tags):
        for tag in tags:
            self.assertEqual(run.statistics(tag).steps.tolist(), list(steps), tag)

    def test_tensorflow_loop(self):
        accuracy, run = self.run_example("tensorflow_loop.py")
        self.assertGreater(accuracy, 0.9)
        self.assertEqual(run.scalars("loss").steps.tolist(), list(range(400)))
        self.assertAlmostEqual(run.scalars("test/accuracy").values[0], accuracy, 2)
        self.assert_steps(run, range(0, 400, 20), "activation/hidden_0", "activation/hidden_1", "gradient/hidden_0", "gradient/hidden_1")
        found = tensorboard_events(self.log)
        self.assertEqual([step for step, _, _ in found["histograms", "weights/0"]], list(range(0, 400, 50)))
        self.assertTrue({("images", "points"), ("text", "task")} <= set(found))

    def test_jax_loop(self):
        error, run = self.run_example("jax_loop.py")
        self.assertLess(error, 0.2)
        self.assertEqual(run.scalars("loss").steps.tolist(), list(range(600)))
        self.assert_steps(run, range(0, 600, 100), "activation/hidden_0", "activation/hidden_1", "gradient/hidden_0", "gradient/hidden_1")
        self.assertEqual(set(run.statistics("activation/hidden_0")["count"].tolist()), {512 * 64}, "the batch is one tensor")

    def test_keras_fit(self):
        accuracy, run = self.run_example("keras_fit.py")
        self.assertGreater(accuracy, 0.9)
        self.assertEqual(run.scalars("loss").steps.tolist(), list(range(128)))
        self.assertEqual(run.scalars("epoch/val_accuracy").steps.tolist(), [31, 63, 95, 127])
        self.assert_steps(run, range(0, 128, 16), "activation/sample/conv_1", "activation/sample/dense_2", "weight/conv_1/kernel",
                          "gradient/dense_1/kernel")
        self.assertEqual(len(tensorboard_events(self.log)["images", "activation/sample/conv_1/image"]), 4)
        [table] = pathlib.Path(run.directory, "tables").glob("*.csv")
        self.assertEqual(len(list(csv.DictReader(table.read_text().splitlines()))), 4 * 8)

    def test_torch_mnist_like(self):
        accuracy, run = self.run_example("torch_mnist_like.py")
        self.assertGreater(accuracy, 0.8)
        self.assertEqual(run.scalars("loss").steps.tolist(), list(range(200)))
        self.assert_steps(run, range(0, 200, 10), "activation/features.0", "gradient/features.0.weight", "gradient/features.0",
                          "update/classify.1.weight", "weight/classify.3.bias")
        self.assertEqual(set(run.statistics("eval/activation/features.0")["count"].tolist()), {500 * 16 * 16 * 16})

    def test_the_programs_in_the_document_run(self):
        document = (EXAMPLES.parents[1] / "docs/python.md").read_text()
        programs = re.findall(r"^```python\n(.*?)^```", document, re.MULTILINE | re.DOTALL)
        self.assertGreater(len(programs), 2)
        for program in programs:
            done = subprocess.run([sys.executable, "-c", program], cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, f"{program}\n{done.stderr}")
        runs = sonde.load(self.folder / "logs", cache=False)
        self.assertEqual(runs["tap"].statistics("gradient/hidden").steps.tolist(), [0, 5])
        self.assertEqual(runs["tf"].scalars("loss").steps.tolist(), list(range(20)))
        self.assertEqual(runs["keras"].statistics("activation/sample/dense_1").steps.tolist(), [0, 4])
        self.assertEqual(runs["watched"].statistics("update/2.weight").steps.tolist(), list(range(100)))


if __name__ == "__main__":
    unittest.main()
