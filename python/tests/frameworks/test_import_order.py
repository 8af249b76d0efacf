"""torch, TensorFlow, JAX and sonde in one process, imported in different orders. Six of them: any three of the four come in
every order that three can have. SONDE_EVERY_ORDER=1 tests all 24, which takes some minutes."""
import concurrent.futures
import importlib.util
import itertools
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import test_symbols  # noqa: E402
from testing import InFolder  # noqa: E402

MODULES = ("torch", "tensorflow", "jax", "sonde")
ORDERS = [order.split() for order in ("torch tensorflow jax sonde", "torch sonde jax tensorflow", "tensorflow sonde torch jax",
                                      "jax tensorflow torch sonde", "jax sonde torch tensorflow", "sonde tensorflow jax torch")]
PROGRAM = """
import importlib, sys
for name in sys.argv[2:]: importlib.import_module(name)
import numpy, sonde
with sonde.Recorder(sys.argv[1], policy={"watch": [{"tensors": "dense/.*"}]}) as rec:
    with rec.step(1) as step:
        assert rec.probe("dense/out").wanted(step) and not rec.probe("conv").wanted(step)
        rec.probe("dense/out").record(step, numpy.ones(3))
    rec.scalar("loss", 0.25, 1)
    rec.histogram("weights", numpy.arange(10.0), 1)
run = sonde.load(sys.argv[1], cache=False)["."]
assert run.statistics("activation/dense/out")["mean"].tolist() == [1]
assert (run.scalars("loss").steps.tolist(), run.scalars("loss").values.tolist()) == ([1], [0.25])
(histogram,) = run.values("weights", "histograms")
assert sum(count for _, _, count in histogram.data) == 10 and histogram.data[-1][1] == 9
"""


class ImportOrder(InFolder):
    def test_any_three_come_in_every_order(self):
        found = {three for order in ORDERS for three in itertools.combinations(order, 3)}
        self.assertEqual(found, set(itertools.permutations(MODULES, 3)))

    def test_every_order_records_and_reads(self):
        orders = list(itertools.permutations(MODULES)) if os.environ.get("SONDE_EVERY_ORDER") else ORDERS
        with concurrent.futures.ThreadPoolExecutor(2) as pool:  # each needs a gigabyte
            runs = [pool.submit(self.run_python, PROGRAM, self.folder / str(number), *order, timeout=1800)
                    for number, order in enumerate(orders)]
        for order, run in zip(orders, runs):
            with self.subTest(order=order):
                run.result()


class Names(unittest.TestCase):
    def test_no_framework_defines_a_name_that_the_library_takes_from_elsewhere(self):
        wanted = {name for name in test_symbols.names(test_symbols.LIBRARY, "--undefined-only") if name.startswith("_Z")}
        wanted -= test_symbols.names(test_symbols.standard_library(), "--defined-only")
        for framework in ("torch", "tensorflow", "jaxlib"):
            folder = pathlib.Path(importlib.util.find_spec(framework).origin).parent
            libraries = [path for path in folder.rglob("*.so*") if path.is_file()]
            self.assertTrue(libraries, folder)
            for path in libraries:
                self.assertFalse(wanted & test_symbols.names(path, "--defined-only"), path)


if __name__ == "__main__":
    unittest.main()
