"""sonde diff between models: the operation that causes a difference is named, in one runtime and across two."""

import concurrent.futures
import json
import pathlib
import subprocess
import sys
import unittest

import numpy as np
import onnx
from onnx import helper, numpy_helper

from command import SONDE, Case

WIDTH = 48
MUTATIONS = 50
PLUGIN = pathlib.Path(SONDE).resolve().parent.parent / "lib" / "sonde" / "libsonde_openvino.so"


class Network:
    """10 convolutions with batch normalisation, then 20 dense layers with layer normalisation and residual sums."""

    def __init__(self, seed=0):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def weight(self, name, array):
        self.weights.append(numpy_helper.from_array(np.asarray(array, np.float32), name))
        return name

    def op(self, kind, name, inputs, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def convolution(self, i, x, channels_in, channels):
        shape = (channels, channels_in, 3, 3)
        x = self.op("Conv", f"conv_{i}", [x, self.weight(f"conv_{i}.weight", self.random.normal(size=shape) * np.sqrt(2 / (channels_in * 9)))],
                    pads=[1, 1, 1, 1])
        statistics = [self.weight(f"batch_norm_{i}.weight", self.random.uniform(0.5, 1.5, channels)),
                      self.weight(f"batch_norm_{i}.bias", self.random.normal(size=channels) * 0.1),
                      self.weight(f"batch_norm_{i}.mean", self.random.normal(size=channels) * 0.1),
                      self.weight(f"batch_norm_{i}.var", self.random.uniform(0.5, 1.5, channels))]
        return self.op("Relu", f"relu_{i}", [self.op("BatchNormalization", f"batch_norm_{i}", [x, *statistics])])

    def dense(self, i, x):
        y = self.op("LayerNormalization", f"norm_{i}", [x, self.weight(f"norm_{i}.weight", self.random.uniform(0.5, 1.5, WIDTH)),
                                                        self.weight(f"norm_{i}.bias", self.random.normal(size=WIDTH) * 0.1)])
        y = self.op("MatMul", f"dense_{i}", [y, self.weight(f"dense_{i}.weight", self.random.normal(size=(WIDTH, WIDTH)) / np.sqrt(WIDTH))])
        y = self.op("Add", f"biased_{i}", [y, self.weight(f"dense_{i}.bias", self.random.normal(size=WIDTH) * 0.1)])
        return self.op("Add", f"sum_{i}", [x, self.op("Relu", f"act_{i}", [y])])

    def model(self):
        x = "x"
        for i in range(10):
            x = self.convolution(i, x, 3 if i == 0 else WIDTH, WIDTH)
        x = self.op("Flatten", "flat", [self.op("GlobalAveragePool", "pool", [x])])
        for i in range(20):
            x = self.dense(i, x)
        value = helper.make_tensor_value_info
        graph = helper.make_graph(self.nodes, "net", [value("x", onnx.TensorProto.FLOAT, [2, 3, 8, 8])],
                                  [value(x, onnx.TensorProto.FLOAT, [2, WIDTH])], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def scaled(model, weight, factor):
    """A copy of the model with one weight multiplied."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    tensor = next(tensor for tensor in changed.graph.initializer if tensor.name == weight)
    tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor) * np.float32(factor), weight))
    return changed


@unittest.skipUnless(PLUGIN.exists(), "this build has no OpenVINO")
class Models(Case):
    def setUp(self):
        super().setUp()
        self.model = Network().model()
        onnx.save(self.model, self.path("model.onnx"))
        self.save("x.npy", np.random.default_rng(1).normal(size=(2, 3, 8, 8)).astype(np.float32))
        self.environment["SONDE_PYTHON"] = sys.executable

    def diff(self, a, b, code):
        done = subprocess.run([SONDE, "diff", a, b, "--input", "x.npy", "--json"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=self.folder, env=self.environment, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (code, ""), (a, b))
        return json.loads(done.stdout)

    def mutants(self, seed):
        """Random operations with weights, each in a model of its own in which they are 0.1 % larger."""
        names = [tensor.name for tensor in self.model.graph.initializer if tensor.name.endswith(".weight")]
        for i, name in enumerate(np.random.default_rng(seed).choice(names, MUTATIONS)):
            onnx.save(scaled(self.model, name, 1 + 1e-3), self.path(f"mutant_{i}.onnx"))
            yield f"mutant_{i}.onnx", name.removesuffix(".weight")

    def check_mutants(self, seed, runtime):
        # Most of the time of a case is spent starting the runtimes.
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            cases = [(pool.submit(self.diff, "model.onnx", path + runtime, 1), name) for path, name in self.mutants(seed)]
            wrong = [(name, answer["culprit"], answer.get("no_culprit")) for case, name in cases
                     if ((answer := case.result())["culprit"] or {}).get("tensor") != name]
        self.assertEqual(wrong, [])

    def test_the_untouched_model_passes(self):
        answer = self.diff("model.onnx", "model.onnx", 0)
        self.assertEqual({row["status"] for row in answer["tensors"]}, {"same"})
        answer = self.diff("model.onnx", "model.onnx@onnxruntime", 0)
        self.assertEqual(answer["culprit"], None)
        self.assertLess(max(row["norm_relative"] for row in answer["tensors"]), 2e-6)

    def test_a_model_is_compared_with_a_dump_of_its_layers(self):
        self.output("inspect", "model.onnx", "--input", "x.npy", "--save", "dump")
        self.assertEqual(self.diff("dump", "model.onnx", 0)["order"], "execution")
        onnx.save(scaled(self.model, "dense_3.weight", 1 + 1e-3), self.path("changed.onnx"))
        answer = self.diff("dump", "changed.onnx", 1)
        self.assertEqual((answer["first"]["tensor"], answer["culprit"]), ("dense_3", None))
        self.assertIn("nothing could be run again", answer["no_culprit"])

    def test_a_model_with_other_names_is_matched_by_its_graph(self):
        renamed = onnx.ModelProto()
        renamed.CopyFrom(scaled(self.model, "dense_7.weight", 1 + 1e-3))
        for node in renamed.graph.node:
            node.name = ""
            node.input[:] = [name if name == "x" or "." in name else "value " + name for name in node.input]
            node.output[:] = ["value " + name for name in node.output]
        renamed.graph.output[0].name = renamed.graph.node[-1].output[0]
        onnx.save(renamed, self.path("renamed.onnx"))
        answer = self.diff("model.onnx", "renamed.onnx", 1)
        self.assertEqual({row["matched_by"] for row in answer["tensors"]}, {"topology"})
        self.assertTrue(all(row["tensor_b"] == "value " + row["tensor"] for row in answer["tensors"]))
        self.assertEqual(answer["culprit"]["tensor"], "dense_7")

    def test_errors_are_one_sentence(self):
        self.assertIn("a model needs an input", self.error("diff", "model.onnx", "model.onnx"))
        self.assertIn("neither A nor B is one", self.error("diff", "x.npy", "x.npy", "--random", "1"))
        self.assertIn("must be an integer", self.error("diff", "model.onnx", "model.onnx", "--random", "a"))
        self.assertIn("nowhere.npy", self.error("diff", "model.onnx", "model.onnx", "--input", "nowhere.npy"))
        pathlib.Path(self.path("text.onnx")).write_text("not a model", encoding="utf-8")
        self.assertIn("text.onnx", self.error("diff", "model.onnx", "text.onnx", "--input", "x.npy"))

    def test_the_changed_operation_is_named_in_one_runtime(self):
        self.check_mutants(2, "")

    def test_the_changed_operation_is_named_across_runtimes(self):
        self.check_mutants(3, "@onnxruntime")


if __name__ == "__main__":
    unittest.main()
