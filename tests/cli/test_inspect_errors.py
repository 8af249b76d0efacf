"""sonde inspect with bad input: one clear sentence, exit code 2, and nothing half written."""

import os
import pathlib
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import models
from command import Case
from models import runs_models, value


class Files(Case):
    def test_that_are_no_models(self):
        pathlib.Path(self.path("notes.txt")).write_text("hello", encoding="utf-8")
        self.assertIn("'notes.txt' is not a model that Sonde knows by its name: ONNX (.onnx)",
                      self.error("inspect", "notes.txt", "--list"))
        pathlib.Path(self.path("text.onnx")).write_text("hello, this is no model", encoding="utf-8")
        self.assertIn("'text.onnx' is not a valid ONNX model: ", self.error("inspect", "text.onnx", "--list"))
        self.assertIn("'none.onnx'", self.error("inspect", "none.onnx", "--list"))
        pathlib.Path(self.path("net.pt")).write_bytes(b"PK")
        self.assertIn("'net.pt' is a file of torch.save or TorchScript, which Sonde does not run: load it in Python, and write "
                      "the model with torch.export.save(", self.error("inspect", "net.pt", "--list"))
        os.mkdir(self.path("folder"))
        self.assertIn("'folder' is not a model", self.error("inspect", "folder", "--list"))

    def test_that_are_truncated(self):
        models.convolution(self.path("m.onnx"))
        whole = pathlib.Path(self.path("m.onnx")).read_bytes()
        pathlib.Path(self.path("cut.onnx")).write_bytes(whole[:len(whole) // 2])
        self.assertIn("'cut.onnx' is not a valid ONNX model: it is damaged or truncated",
                      self.error("inspect", "cut.onnx", "--list"))

    def external(self, location, write=True, length="16"):
        tensor = numpy_helper.from_array(np.ones(4, np.float32), "w")
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, text in (("location", location), ("offset", "0"), ("length", length)):
            tensor.external_data.add(key=key, value=text)
        graph = helper.make_graph([helper.make_node("Mul", ["x", "w"], ["y"])], "g", [value("x", [4])], [value("y", [4])],
                                  [tensor])
        os.makedirs(self.path("dir"), exist_ok=True)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        pathlib.Path(self.path("dir/m.onnx")).write_bytes(model.SerializeToString())
        if write:
            np.ones(4, np.float32).tofile(self.path(os.path.join("dir", location)))

    def test_whose_external_data_are_missing_short_or_elsewhere(self):
        self.external("w.bin", write=False)
        self.assertIn("the values of 'w' are in 'w.bin', which cannot be read: put this file beside the model",
                      self.error("inspect", "dir/m.onnx", "--list"))
        self.external("../w.bin")
        self.assertIn("which is outside of the model's directory", self.error("inspect", "dir/m.onnx", "--list"))
        self.external("/etc/hostname", write=False)
        self.assertIn("which is outside of the model's directory", self.error("inspect", "dir/m.onnx", "--list"))
        os.symlink("../w.bin", self.path("dir/link.bin"))
        self.external("link.bin", write=False)
        self.assertIn("which is outside of the model's directory", self.error("inspect", "dir/m.onnx", "--list"))
        self.external("w.bin", length="17")
        self.assertIn("which is too short", self.error("inspect", "dir/m.onnx", "--list"))

    @runs_models
    def test_whose_external_data_are_there(self):
        self.external("w.bin")
        self.save("x.npy", np.arange(4, dtype=np.float32))
        found = self.json("inspect", "dir/m.onnx", "--input", "x.npy", "--layers", "y", "--verify")
        self.assertEqual(found["layers"][0]["stats"]["max"], 3)
        self.assertIn("in the same folder", self.error("inspect", "dir/m.onnx", "--layers", "y", "--save-model", "t.onnx"))


@runs_models
class Inputs(Case):
    def setUp(self):
        super().setUp()
        models.convolution(self.path("m.onnx"))

    def test_that_are_missing(self):
        self.assertIn("model 'm.onnx' needs an input 'x' of f32[?,3,8,8]: give --input FILE, or --random SEED",
                      self.error("inspect", "m.onnx", "--print"))
        self.assertIn("'no.npy'", self.error("inspect", "m.onnx", "--input", "no.npy"))

    def test_of_the_wrong_shape_or_type(self):
        self.save("x.npy", np.zeros((2, 8, 8, 3), np.float32))
        self.assertIn("input 'x' of 'm.onnx' is f32[?,3,8,8], but 'x.npy' holds f32[2,8,8,3]",
                      self.error("inspect", "m.onnx", "--input", "x.npy"))
        self.save("x.npy", np.zeros((2, 3, 8, 8)))
        self.assertIn("but 'x.npy' holds f64[2,3,8,8]", self.error("inspect", "m.onnx", "--input", "x.npy"))

    def test_that_the_model_does_not_have(self):
        self.save("x.npy", np.zeros((1, 3, 8, 8), np.float32))
        self.assertIn("model 'm.onnx' has no input 'z'; it has x", self.error("inspect", "m.onnx", "--input", "z=x.npy"))
        self.assertIn("exclude each other", self.error("inspect", "m.onnx", "--input", "x.npy", "--random", "1"))

    def test_that_are_no_files_of_tensors(self):
        pathlib.Path(self.path("x.npy")).write_text("hello", encoding="utf-8")
        self.assertIn("'x.npy'", self.error("inspect", "m.onnx", "--input", "x.npy"))
        os.mkdir(self.path("empty"))
        self.assertIn("the folder 'empty' has no npy", self.error("inspect", "m.onnx", "--input", "empty"))


@runs_models
class Runs(Case):
    def setUp(self):
        super().setUp()
        models.convolution(self.path("m.onnx"))
        self.save("x.npy", np.zeros((1, 3, 8, 8), np.float32))

    def test_of_layers_that_do_not_exist(self):
        self.assertIn("no layer of 'm.onnx' matches 'dense_9'; the nearest are 'dense_1'",
                      self.error("inspect", "m.onnx", "--input", "x.npy", "--layers", "dense_9"))
        self.assertIn("there is no layer 9 in 'm.onnx', which has 5 layers",
                      self.error("inspect", "m.onnx", "--input", "x.npy", "--index", "9"))

    def test_of_an_operation_that_the_runtime_does_not_have(self):
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Conjure", ["a"], ["b"])], "g",
                                  [value("x", [4])], [value("b", [4])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), self.path("odd.onnx"))
        for arguments in (("--layers", ".*"), ("--layers", "b"), ()):
            sentence = self.error("inspect", "odd.onnx", "--random", "1", *arguments)
            self.assertIn("does not have the operation Conjure, which gives layer 1 'b' of 'odd.onnx'; supported are the "
                          "layers before it, up to 'a'", sentence)

    def test_of_layers_before_an_operation_that_the_runtime_does_not_have(self):
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Conjure", ["a"], ["b"]),
                                   helper.make_node("Neg", ["b"], ["c"]), helper.make_node("Neg", ["a"], ["d"])], "g",
                                  [value("x", [4])], [value("c", [4]), value("d", [4])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), self.path("odd.onnx"))
        self.save("four.npy", np.array([-1, 2, -3, 4], np.float32))
        for name in ("odd.onnx", "odd.onnx@openvino"):
            text = self.output("inspect", name, "--input", "four.npy", "--layers", "a", "--layers", "d", "--save", "out-" + name)
            self.assertIn("does not have the operation Conjure", text)
            np.testing.assert_array_equal(np.load(self.path(f"out-{name}/a.npy")), [0, 2, 0, 4])
            np.testing.assert_array_equal(np.load(self.path(f"out-{name}/d.npy")), [0, -2, 0, -4])
            self.assertIn("Conjure", self.error("inspect", name, "--input", "four.npy", "--layers", "c"))
        listed = {layer["name"]: layer["dtype"] for layer in self.json("inspect", "odd.onnx", "--list")["layers"]}
        self.assertEqual(listed, {"a": "f32", "b": "", "c": "f32", "d": "f32"})

    def test_with_a_runtime_that_does_not_exist(self):
        self.assertIn("'nothing'", self.error("inspect", "m.onnx@nothing", "--input", "x.npy"))

    def test_without_openvino_say_how_to_get_it(self):
        result = self.run_sonde("inspect", "m.onnx", "--input", "x.npy", SONDE_OPENVINO="/nowhere")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"\Asonde: SONDE_OPENVINO is '/nowhere', but .* openvino==[\d.]+'\n\Z")

    def test_that_fail_leave_nothing_behind(self):
        before = set(os.listdir(self.folder))
        os.mkdir(self.path("in"))
        np.save(self.path("in/0.npy"), np.zeros((1, 3, 8, 8), np.float32))
        np.save(self.path("in/1.npy"), np.zeros((1, 3, 8, 9), np.float32))
        for kind in ("npy", "npz", "safetensors", "png", "csv", "tfevents"):
            self.error("inspect", "m.onnx", "--input", "in", "--layers", "relu_1", "--save", "out", "--format", kind)
            self.assertEqual(set(os.listdir(self.folder)), before | {"in"}, kind)

    def test_do_not_overwrite_a_folder(self):
        os.mkdir(self.path("out"))
        pathlib.Path(self.path("out/mine")).write_text("x", encoding="utf-8")
        self.assertIn("'out' already exists: name a new or an empty folder with --save",
                      self.error("inspect", "m.onnx", "--input", "x.npy", "--save", "out"))


if __name__ == "__main__":
    unittest.main()
