"""Models for the tests of `sonde inspect`, made with the package onnx."""

import os
import unittest

import numpy as np
import onnx
import onnx.reference
from onnx import TensorProto, helper, numpy_helper

# A build without OpenVINO, as those with sanitizers, lists models and runs none.
runs_models = unittest.skipUnless(os.environ["SONDE_INSPECT"] == "1", "this build does not run models")


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def save(path, nodes, inputs, outputs, constants=None, known=(), opset=17):
    graph = helper.make_graph(nodes, "test", inputs, outputs,
                              [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
                              value_info=known)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return model


def convolution(path):
    """x f32[N,3,8,8] -> conv_1 -> relu_1 -> flat -> dense_1 -> prob f32[N,10]"""
    rng = np.random.default_rng(0)
    constants = {"conv_1/kernel": rng.normal(size=(8, 3, 3, 3)).astype(np.float32) / 5,
                 "conv_1/bias": np.linspace(-1, 1, 8, dtype=np.float32),
                 "dense_1/kernel": rng.normal(size=(288, 10)).astype(np.float32) / 17}
    return save(path, [helper.make_node("Conv", ["x", "conv_1/kernel", "conv_1/bias"], ["conv_1"], name="/conv_1/Conv"),
                       helper.make_node("Relu", ["conv_1"], ["relu_1"]),
                       helper.make_node("Flatten", ["relu_1"], ["flat"]),
                       helper.make_node("MatMul", ["flat", "dense_1/kernel"], ["dense_1"]),
                       helper.make_node("Softmax", ["dense_1"], ["prob"])],
                [value("x", ["N", 3, 8, 8])], [value("prob", ["N", 10])], constants,
                known=[value("conv_1", ["N", 8, 6, 6])])


def overflowing_half(path):
    """h overflows fp16; a runtime that computes in f32 continues with the finite value."""
    return save(path, [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("MatMul", ["h", "v"], ["y"])],
                [value("x", [1, 64], TensorProto.FLOAT16)], [value("y", [1, 1], TensorProto.FLOAT16)],
                {"w": np.full((64, 64), 40, np.float16), "v": np.full((64, 1), 2**-13, np.float16)})


def every_value(model, inputs):
    """All values of a model, computed by the reference implementation of ONNX."""
    graph = onnx.ModelProto()
    graph.CopyFrom(model)
    names = [name for node in model.graph.node for name in node.output]
    del graph.graph.output[:]
    graph.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    return dict(zip(names, onnx.reference.ReferenceEvaluator(graph).run(names, inputs)))
