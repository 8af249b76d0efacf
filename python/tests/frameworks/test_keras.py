"""sonde.keras on each back end of Keras, each in a process of its own: the cases are in keras_cases.py."""
import os
import pathlib
import subprocess
import sys
import unittest


class BackEnds(unittest.TestCase):
    def run_cases(self, backend):
        done = subprocess.run([sys.executable, "-B", str(pathlib.Path(__file__).with_name("keras_cases.py"))],
                              env={**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "2"}, capture_output=True, text=True,
                              check=False, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stderr, r"Ran [1-9]\d+ tests")

    def test_tensorflow(self):
        self.run_cases("tensorflow")

    def test_jax(self):
        self.run_cases("jax")

    def test_torch(self):
        self.run_cases("torch")


if __name__ == "__main__":
    unittest.main()
