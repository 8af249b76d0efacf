"""sonde.inspect and sonde.diff of files, with NumPy and the onnx package only."""
import os
import tempfile
import unittest

import numpy
import onnx
import sonde
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


def save_model(path, scale=1.0):
    random = numpy.random.default_rng(0)
    weights = {"w1": random.normal(size=(4, 6)), "w2": random.normal(size=(6, 3)) * scale}
    nodes = [helper.make_node("MatMul", ["x", "w1"], ["dense_1"]), helper.make_node("Relu", ["dense_1"], ["relu_1"]),
             helper.make_node("MatMul", ["relu_1", "w2"], ["dense_2"]), helper.make_node("Add", ["dense_2", "bias"], ["y"])]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
              for name, shape in (("x", ["n", 4]), ("bias", [3]), ("y", ["n", 3]))]
    graph = helper.make_graph(nodes, "graph", values[:2], values[2:],
                              [numpy_helper.from_array(value.astype(numpy.float32), name) for name, value in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)


class InspectFileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "model.onnx")
        self.other = os.path.join(folder.name, "other.onnx")
        save_model(self.path)
        save_model(self.other, 1.001)
        random = numpy.random.default_rng(1)
        self.x = {"x": random.normal(size=(5, 4)).astype(numpy.float32), "bias": numpy.ones(3, numpy.float32)}

    def reference(self):
        model = onnx.load(self.path)
        names = ["dense_1", "relu_1", "dense_2", "y"]
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names[:3])
        return dict(zip(["y", *names[:3]], ReferenceEvaluator(model).run(None, self.x)))

    def test_gives_every_layer_in_the_order_of_execution(self):
        for runtime in (None, "onnxruntime"):
            outputs = sonde.inspect(self.path, self.x, runtime=runtime)
            self.assertEqual(list(outputs), ["dense_1", "relu_1", "dense_2", "y"])
            for name, expected in self.reference().items():
                numpy.testing.assert_allclose(outputs[name], expected, rtol=1e-4, atol=1e-5, err_msg=name)
        self.assertTrue(outputs.runtime.startswith("onnxruntime "))

    def test_layers_are_chosen_by_name_pattern_and_index(self):
        for layers, expected in (("relu_1", ["relu_1"]), ("dense_.*", ["dense_1", "dense_2"]), ([0, "y"], ["dense_1", "y"]),
                                 (-1, ["y"]), ("[dry].*_1", ["dense_1", "relu_1"])):
            self.assertEqual(list(sonde.inspect(self.path, self.x, layers=layers)), expected)

    def test_inputs_may_be_in_the_order_of_the_model(self):
        outputs = sonde.inspect(self.path, [self.x["x"], self.x["bias"]])
        numpy.testing.assert_array_equal(outputs["y"], sonde.inspect(self.path, self.x)["y"])

    def test_errors_are_the_sentences_of_the_command(self):
        for call, words in ((lambda: sonde.inspect("no/such.onnx", self.x), "no/such.onnx"),
                            (lambda: sonde.inspect(self.path, self.x, layers="dense_9"), "dense_1"),
                            (lambda: sonde.inspect(self.path, {"x": self.x["x"]}), "bias"),
                            (lambda: sonde.inspect(self.path, [self.x["x"]] * 3), "has 2 inputs, but 3 were given"),
                            (lambda: sonde.inspect(self.path, self.x, runtime="caffe"), "caffe"),
                            (lambda: sonde.inspect(self.path), "x must be given")):
            with self.assertRaisesRegex(ValueError, words):
                call()
        with self.assertRaises(TypeError):
            sonde.inspect(self.path, self.x, layers=1.5)
        with self.assertRaises(TypeError):
            sonde.inspect(self.path, self.x, layers=lambda name: True)

    def test_two_runtimes_compute_the_same(self):
        found = sonde.diff(self.path, f"{self.path}@onnxruntime", self.x)
        self.assertFalse(found, str(found))
        self.assertEqual(found.verdict, "same")
        self.assertEqual([each["tensor"] for each in found.tensors], ["dense_1", "relu_1", "dense_2", "y"])

    def test_the_first_layer_that_differs_is_named(self):
        found = sonde.diff(self.path, self.other, self.x)
        self.assertTrue(found)
        self.assertEqual(found.first["tensor"], "dense_2")
        self.assertIn("dense_2", str(found))
        self.assertFalse(sonde.diff(self.path, self.other, self.x, rtol=0.01, atol=0.01))

    def test_arrays_are_compared_by_name_or_as_names_say(self):
        a = {"first": numpy.ones(4, numpy.float32), "second": numpy.zeros((2, 2), numpy.float32)}
        self.assertFalse(sonde.diff(a, a))
        found = sonde.diff(a, {"eins": a["first"], "zwei": a["second"] + 1}, names={"first": "eins", "second": "zwei"})
        self.assertEqual(found["first"]["status"], "same")
        self.assertEqual(found.first["tensor"], "second")
        inspected = sonde.inspect(self.path, self.x)
        self.assertFalse(sonde.diff(inspected, self.path, self.x))
        with self.assertRaises(TypeError):
            sonde.diff(a, 3)


if __name__ == "__main__":
    unittest.main()
