"""torch, TensorFlow, JAX and sonde in one process, imported in every order."""
import itertools
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from testing import InFolder  # noqa: E402

PROGRAM = """
import importlib, sys
for name in sys.argv[2:]: importlib.import_module(name)
import numpy, sonde
with sonde.Recorder(sys.argv[1], policy={"watch": [{"tensors": "dense/.*"}]}) as rec, rec.step(1) as step:
    assert rec.probe("dense/out").wanted(step) and not rec.probe("conv").wanted(step)
    rec.probe("dense/out").record(step, numpy.ones(3))
assert sonde.load(sys.argv[1], cache=False)["."].statistics("activation/dense/out")["mean"].tolist() == [1]
"""


class ImportOrder(InFolder):
    def test_every_order_records(self):
        for number, order in enumerate(itertools.permutations(("torch", "tensorflow", "jax", "sonde"))):
            with self.subTest(order=order):
                self.run_python(PROGRAM, self.folder / str(number), *order, timeout=300)


if __name__ == "__main__":
    unittest.main()
