"""A runtime for the tests of the worker: a model that doubles, and that waits for ever for a negative input."""
import os
import time

import numpy
from sonde._tensor_bytes import Bits
from sonde._worker_common import WorkerError


class Model:
    info = {"name": "fake", "version": "1", "precision": "f32", "settings": ""}
    description = {"format": "fake", "inputs": [{"name": "x", "type": "f32", "shape": [-1]}],
                   "outputs": [{"name": "sum", "type": "f32", "shape": []}],
                   "layers": [{"name": name, "type": "f32", "shape": None, "op": "Fake"} for name in ("double", "text", "bits")]}
    layers: list = []

    def select(self, layers):
        self.layers = layers

    def run(self, inputs):
        print("printed in Python")
        os.write(1, b"printed in C\n")
        x = inputs["x"]
        while x.size and x.min() < 0:
            time.sleep(0.01)
        values = {"double": 2 * x, "text": numpy.array(["text"]), "bits": Bits("BF16", numpy.array([16256], numpy.uint16))}
        return [values[name] for name in self.layers], [("sum", x.sum())]

    def times(self):
        return [{"layer": "double", "name": "double", "nanoseconds": 1}]


def open_model(request):
    if request["path"] == "broken":
        raise WorkerError("corrupt", "the file is broken")
    return Model()
