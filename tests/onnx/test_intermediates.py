"""Every intermediate of ten models, computed by `inspect`, against the reference evaluator of the onnx package."""
import os
import tempfile
import unittest

import numpy
import onnx
from models import Models
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


class Builder:
    """A model, one node after the other. Weights are random, and the same every time."""

    def __init__(self, seed, inputs):
        self.random = numpy.random.default_rng(seed)
        self.inputs, self.nodes, self.weights = inputs, [], []

    def weight(self, *shape, scale=0.3, dtype=numpy.float32):
        return self.constant((scale * self.random.normal(size=shape)).astype(dtype))

    def constant(self, array):
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def add(self, op, *inputs, outputs=1, **attributes):
        names = [f"{op.lower()}_{len(self.nodes)}" + (f"_{number}" if outputs > 1 else "") for number in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=f"node_{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def model(self, *outputs, opset=18):
        inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), [None] * value.ndim)
                  for name, value in self.inputs.items()]
        graph = helper.make_graph(self.nodes, "graph", inputs, [onnx.ValueInfoProto(name=name) for name in outputs], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
        return onnx.shape_inference.infer_shapes(model)


def inputs(seed, **shapes):
    random = numpy.random.default_rng(seed)
    return {name: random.normal(size=shape).astype(numpy.float32) for name, shape in shapes.items()}


def convolutions():
    b = Builder(1, inputs(1, x=(2, 3, 12, 12)))
    x = "x"
    for channels in ((3, 8), (8, 8), (8, 16)):
        x = b.add("Conv", x, b.weight(channels[1], channels[0], 3, 3), b.weight(channels[1]), pads=[1, 1, 1, 1])
        x = b.add("BatchNormalization", x, b.weight(channels[1]), b.weight(channels[1]), b.weight(channels[1]),
                  b.constant(numpy.full(channels[1], 0.7, numpy.float32)))
        x = b.add("Relu", x)
        x = b.add("MaxPool", x, kernel_shape=[2, 2], strides=[1, 1])
    x = b.add("GlobalAveragePool", x)
    x = b.add("Gemm", b.add("Flatten", x), b.weight(10, 16), b.weight(10), transB=1)
    return b, b.model(b.add("Softmax", x, axis=1))


def residual():
    b = Builder(2, inputs(2, x=(1, 4, 8, 8)))
    x = "x"
    for _ in range(3):
        y = b.add("Relu", b.add("Conv", x, b.weight(4, 4, 3, 3), pads=[1, 1, 1, 1]))
        x = b.add("Add", b.add("Conv", y, b.weight(4, 4, 1, 1), b.weight(4)), x)
    return b, b.model(b.add("ReduceMean", x, b.constant(numpy.array([2, 3])), keepdims=0))


def attention():
    b = Builder(3, inputs(3, x=(2, 5, 8)))
    q, k, v = (b.add("Transpose", b.add("Reshape", b.add("MatMul", "x", b.weight(8, 8)), b.constant(numpy.array([2, 5, 2, 4]))),
                     perm=[0, 2, 1, 3]) for _ in range(3))
    scores = b.add("Div", b.add("MatMul", q, b.add("Transpose", k, perm=[0, 1, 3, 2])), b.constant(numpy.float32(2)))
    x = b.add("Transpose", b.add("MatMul", b.add("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    x = b.add("Add", b.add("MatMul", b.add("Reshape", x, b.constant(numpy.array([2, 5, 8]))), b.weight(8, 8)), "x")
    return b, b.model(b.add("LayerNormalization", x, b.weight(8), b.weight(8), axis=-1))


def perceptron():
    b = Builder(4, inputs(4, x=(7, 20)))
    x = "x"
    for width, activation in ((20, "Tanh"), (32, "Sigmoid"), (32, "Elu"), (32, "LeakyRelu"), (32, "Softplus")):
        x = b.add(activation, b.add("Gemm", x, b.weight(width, 32), b.weight(32)))
    return b, b.model(b.add("LogSoftmax", x, axis=-1))


def two_inputs_two_outputs():
    b = Builder(5, inputs(5, left=(3, 6), right=(3, 6)))
    total, product = b.add("Add", "left", "right"), b.add("Mul", "left", "right")
    joined = b.add("Concat", total, product, b.add("Max", "left", "right"), axis=1)
    first, second = b.add("Split", joined, b.constant(numpy.array([8, 10])), outputs=2, axis=1)
    return b, b.model(b.add("ReduceSum", first, b.constant(numpy.array([1]))), b.add("Exp", second))


def depthwise():
    b = Builder(6, inputs(6, x=(1, 6, 10, 10)))
    x = b.add("Conv", "x", b.weight(6, 1, 3, 3), group=6, strides=[2, 2], pads=[1, 1, 1, 1])
    x = b.add("Clip", x, b.constant(numpy.float32(0)), b.constant(numpy.float32(6)))
    x = b.add("Conv", x, b.weight(12, 6, 1, 1), b.weight(12))
    x = b.add("HardSigmoid", x, alpha=0.2, beta=0.5)
    x = b.add("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    return b, b.model(b.add("ConvTranspose", x, b.weight(12, 4, 2, 2), strides=[2, 2]))


def recurrent():
    b = Builder(7, inputs(7, x=(6, 2, 5)))
    y, hidden, cell = b.add("LSTM", "x", b.weight(1, 16, 5), b.weight(1, 16, 4), b.weight(1, 32), outputs=3, hidden_size=4)
    x = b.add("Squeeze", y, b.constant(numpy.array([1])))
    return b, b.model(b.add("MatMul", x, b.weight(4, 3)), hidden, cell)


def embedding():
    b = Builder(8, {"ids": numpy.array([[1, 4, 2, 0], [7, 7, 3, 5]])})
    x = b.add("Gather", b.weight(10, 6), "ids")
    mask = b.add("Cast", b.add("Greater", "ids", b.constant(numpy.int64(1))), to=TensorProto.FLOAT)
    x = b.add("Mul", x, b.add("Unsqueeze", mask, b.constant(numpy.array([2]))))
    x = b.add("ReduceMax", x, b.constant(numpy.array([1])), keepdims=0)
    return b, b.model(b.add("ArgMax", b.add("MatMul", x, b.weight(6, 9)), axis=1))


def shapes():
    b = Builder(9, inputs(9, x=(4, 3, 6)))
    size = b.add("Shape", "x")
    rows = b.add("Gather", size, b.constant(numpy.array([0])))
    x = b.add("Reshape", "x", b.add("Concat", rows, b.constant(numpy.array([-1])), axis=0))
    x = b.add("Slice", x, b.constant(numpy.array([2])), b.constant(numpy.array([14])), b.constant(numpy.array([1])))
    x = b.add("Pad", x, b.constant(numpy.array([0, 1, 0, 2])), b.constant(numpy.float32(0.5)))
    return b, b.model(b.add("Where", b.add("Less", x, b.constant(numpy.float32(0))), b.add("Neg", x), b.add("Sqrt", b.add("Abs", x))))


def upsampling():
    b = Builder(10, inputs(10, x=(1, 2, 4, 4)))
    x = b.add("Resize", "x", "", b.constant(numpy.array([1, 1, 2, 2], numpy.float32)), mode="nearest",
              coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    x = b.add("InstanceNormalization", b.add("Conv", x, b.weight(4, 2, 3, 3)), b.weight(4), b.weight(4))
    x = b.add("DepthToSpace", x, blocksize=2)
    return b, b.model(b.add("Erf", b.add("Pow", b.add("Tanh", x), b.constant(numpy.float32(2)))))


MODELS = (convolutions, residual, attention, perceptron, two_inputs_two_outputs, depthwise, recurrent, embedding, shapes, upsampling)


def norm_relative(given, expected):
    scale = numpy.linalg.norm(expected.astype(numpy.float64))
    return numpy.linalg.norm(given.astype(numpy.float64) - expected.astype(numpy.float64)) / (scale or 1)


class IntermediatesTest(unittest.TestCase):
    def check(self, runtime):
        compared = 0
        with Models() as models, tempfile.TemporaryDirectory() as folder:
            for make in MODELS:
                with self.subTest(make.__name__):
                    builder, model = make()
                    path = os.path.join(folder, f"{make.__name__}.onnx")
                    onnx.save(model, path)
                    every = [name for node in builder.nodes for name in node.output]
                    tapped = onnx.ModelProto()
                    tapped.CopyFrom(model)
                    given = {value.name for value in model.graph.output}
                    tapped.graph.output.extend(onnx.ValueInfoProto(name=name) for name in every if name not in given)
                    names = [value.name for value in tapped.graph.output]
                    reference = dict(zip(names, ReferenceEvaluator(tapped).run(None, builder.inputs)))
                    layers, outputs, used = models.run(path + (f"@{runtime}" if runtime else ""), builder.inputs, folder, layers=True)
                    self.assertEqual(used, runtime or "openvino")
                    self.assertEqual(set(layers), set(every))
                    self.assertEqual(set(outputs), given)
                    for name, array in {**layers, **outputs}.items():
                        expected = numpy.asarray(reference[name])
                        self.assertEqual((array.dtype, array.shape), (expected.dtype, expected.shape), name)
                        if expected.dtype.kind == "f":
                            self.assertLess(norm_relative(array, expected), 1e-5, name)
                        else:
                            numpy.testing.assert_array_equal(array, expected, name)
                        compared += 1
        self.assertGreater(compared, 100)

    def test_openvino_gives_every_intermediate_of_the_reference(self):
        self.check("")

    def test_onnxruntime_gives_every_intermediate_of_the_reference(self):
        self.check("onnxruntime")


if __name__ == "__main__":
    unittest.main()
