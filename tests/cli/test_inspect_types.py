"""sonde inspect with every type of ONNX, with sizes that the input decides, with graphs inside of operations."""

import json
import os
import pty
import struct
import subprocess

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

import models
from command import SONDE, Case
from models import runs_models, value

# The types that both Sonde and OpenVINO have: the name in Sonde, that of safetensors, that of NumPy.
TYPES = {TensorProto.DOUBLE: ("f64", "F64", np.float64), TensorProto.FLOAT: ("f32", "F32", np.float32),
         TensorProto.FLOAT16: ("f16", "F16", np.float16), TensorProto.BFLOAT16: ("bf16", "BF16", ml_dtypes.bfloat16),
         TensorProto.FLOAT8E4M3FN: ("f8_e4m3", "F8_E4M3", ml_dtypes.float8_e4m3fn),
         TensorProto.FLOAT8E5M2: ("f8_e5m2", "F8_E5M2", ml_dtypes.float8_e5m2),
         TensorProto.INT8: ("i8", "I8", np.int8), TensorProto.INT16: ("i16", "I16", np.int16),
         TensorProto.INT32: ("i32", "I32", np.int32), TensorProto.INT64: ("i64", "I64", np.int64),
         TensorProto.UINT8: ("u8", "U8", np.uint8), TensorProto.UINT16: ("u16", "U16", np.uint16),
         TensorProto.UINT32: ("u32", "U32", np.uint32), TensorProto.UINT64: ("u64", "U64", np.uint64),
         TensorProto.BOOL: ("bool", "BOOL", np.bool_)}


def save_tensor(path, name, kind, array):
    """A file of safetensors; its package does not write all of these types from NumPy."""
    header = json.dumps({name: {"dtype": kind, "shape": list(array.shape), "data_offsets": [0, array.nbytes]}}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + array.tobytes())


def load_tensor(path, name):
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        entry = json.loads(file.read(size))[name]
        begin, end = entry["data_offsets"]
        file.seek(8 + size + begin)
        return entry["dtype"], entry["shape"], file.read(end - begin)


def save_graph(path, nodes, inputs, outputs, opset=21):
    """Without the checks of onnx, which knows fewer combinations of operations and types than runtimes do."""
    graph = helper.make_graph(nodes, "test", inputs, outputs)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), path)


@runs_models
class Types(Case):
    def test_of_inputs_and_of_layers_are_all_those_of_onnx(self):
        for kind, (name, stored, dtype) in TYPES.items():
            with self.subTest(name):
                save_graph(self.path("m.onnx"),
                           [helper.make_node("Reshape", ["x", "shape"], ["column"]),
                            helper.make_node("Cast", ["column"], ["y"], to=TensorProto.FLOAT)],
                           [value("x", [4], kind), value("shape", [2], TensorProto.INT64)], [value("y", [4, 1])])
                x = np.array([0, 1, 2, 3]).astype(dtype)
                save_tensor(self.path("x.safetensors"), "x", stored, x)
                self.save("shape.npy", np.array([4, 1]))
                out = f"out-{name}"
                self.output("inspect", "m.onnx", "--input", "x=x.safetensors", "--input", "shape=shape.npy", "--layers", "column",
                            "--layers", "y", "--save", out, "--format", "safetensors")
                self.assertEqual(load_tensor(self.path(f"{out}/layers.safetensors"), "column"), (stored, [4, 1], x.tobytes()))
                self.assertEqual(load_tensor(self.path(f"{out}/layers.safetensors"), "y"),
                                 ("F32", [4, 1], x.astype(np.float32).tobytes()))
                listed = self.json("inspect", "m.onnx", "--list")
                self.assertEqual(listed["inputs"][0], {"name": "x", "dtype": name, "shape": [4]})

    def test_that_sonde_does_not_have_are_named(self):
        for kind, name in ((TensorProto.STRING, "string"), (TensorProto.INT4, "i4"), (TensorProto.UINT4, "u4")):
            with self.subTest(name):
                save_graph(self.path("m.onnx"), [helper.make_node("Identity", ["x"], ["y"])], [value("x", [4], kind)],
                           [value("y", [4], kind)])
                self.save("x.npy", np.zeros(4, np.float32))
                self.assertRegex(self.error("inspect", "m.onnx", "--input", "x.npy", "--layers", "y"),
                                 rf"'x' .*{name}|{name}.*'x'")
                self.assertEqual(self.json("inspect", "m.onnx", "--list")["layers"][0]["dtype"], name)

    def test_the_file_does_not_say_are_those_that_the_runtime_infers(self):
        models.convolution(self.path("m.onnx"))
        listed = {layer["name"]: (layer["dtype"], layer["shape"]) for layer in self.json("inspect", "m.onnx", "--list")["layers"]}
        self.assertEqual(listed, {"conv_1": ("f32", [-1, 8, 6, 6]), "relu_1": ("f32", [-1, 8, 6, 6]), "flat": ("f32", [-1, 288]),
                                  "dense_1": ("f32", [-1, 10]), "prob": ("f32", [-1, 10])})
        unknown = self.run_sonde("inspect", "m.onnx", "--list", SONDE_OPENVINO="/nowhere")
        self.assertEqual((unknown.returncode, unknown.stderr), (0, ""))
        self.assertRegex(unknown.stdout, r"relu_1 +Relu +\?\[\.\.\.\]")


@runs_models
class Sizes(Case):
    def test_that_the_input_decides_may_change_from_pass_to_pass(self):
        model = models.convolution(self.path("m.onnx"))
        os.mkdir(self.path("in"))
        arrays = [np.random.default_rng(n).normal(size=(n, 3, 8, 8)).astype(np.float32) for n in (1, 3, 2, 5)]
        for number, array in enumerate(arrays):
            np.save(self.path(f"in/{number}.npy"), array)
        # The outputs of a pass are read while the next one runs.
        for kind in ("npz", "npy"):
            found = self.json("inspect", "m.onnx", "--input", "in", "--layers", ".*", "--save", kind, "--format", kind)
            self.assertEqual(found["passes"], 4)
            for layer in found["layers"]:
                self.assertEqual(layer["shape"][0], -1)
            for number, array in enumerate(arrays):
                for name, expected in models.every_value(model, {"x": array}).items():
                    saved = np.load(self.path(f"npz/{number}.npz"))[name] if kind == "npz" else np.load(
                        self.path(f"npy/{number}/{name}.npy"))
                    np.testing.assert_allclose(saved, expected, rtol=1e-4, atol=1e-5)


@runs_models
class Progress(Case):
    def drawn(self, arguments):
        """What the command draws on a terminal as its standard error, and what it prints."""
        leader, follower = pty.openpty()
        with subprocess.Popen([SONDE, *arguments], stdout=subprocess.PIPE, stderr=follower, cwd=self.folder,
                              env={**self.environment, "TERM": "xterm"}) as process:
            os.close(follower)
            drawn = b""
            while True:
                try:
                    part = os.read(leader, 65536)
                except OSError:  # the other end is closed
                    break
                if not part:
                    break
                drawn += part
            os.close(leader)
            table = process.stdout.read().decode()
        self.assertEqual(process.returncode, 0)
        return drawn.decode(), table

    def test_is_drawn_on_a_terminal_only(self):
        models.convolution(self.path("m.onnx"))
        self.save("x.npy", np.zeros((1, 3, 8, 8), np.float32))
        os.mkdir(self.path("in"))
        arguments = ["inspect", "m.onnx", "--input", "in", "--layers", "prob"]
        # Nothing is drawn in the first half second: as many passes as that takes here.
        passes, drawn = 0, ""
        while not drawn and passes < 100000:
            for number in range(passes, 2 * passes + 500):
                os.symlink("../x.npy", self.path(f"in/{number}.npy"))
            passes = 2 * passes + 500
            drawn, table = self.drawn(arguments)
        self.assertRegex(drawn, r"\A\rrunning the model  \|.*\| +\d+ %")
        self.assertTrue(drawn.endswith("\r\x1b[K"), "the bar is taken away at the end")
        self.assertNotIn("running the model", table)
        self.output(*arguments)  # no terminal: nothing on standard error


@runs_models
class GraphsInside(Case):
    def test_of_an_operation_are_run_and_its_own_output_is_given(self):
        branches = {name: helper.make_graph([helper.make_node(op, ["x", "x"], [f"inner_{name}"])], name, [],
                                            [value(f"inner_{name}", [2])]) for name, op in (("then", "Add"), ("else", "Mul"))}
        save_graph(self.path("m.onnx"),
                   [helper.make_node("If", ["which"], ["chosen"], then_branch=branches["then"], else_branch=branches["else"]),
                    helper.make_node("Neg", ["chosen"], ["y"])],
                   [value("which", [], TensorProto.BOOL), value("x", [2])], [value("y", [2])], opset=17)
        x = np.array([3, 5], np.float32)
        np.savez(self.path("in.npz"), which=np.array(False), x=x)
        self.output("inspect", "m.onnx", "--input", "in.npz", "--layers", "chosen", "--layers", "y", "--save", "out")
        np.testing.assert_array_equal(np.load(self.path("out/chosen.npy")), x * x)
        np.testing.assert_array_equal(np.load(self.path("out/y.npy")), -x * x)
        self.assertIn("no layer of 'm.onnx' matches 'inner_then'",
                      self.error("inspect", "m.onnx", "--input", "in.npz", "--layers", "inner_then"))


if __name__ == "__main__":
    import unittest
    unittest.main()
