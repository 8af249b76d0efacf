"""sonde inspect: the layers of saved models, against the reference implementation of ONNX and onnxruntime."""

import csv
import os
import sys

import numpy as np
import onnx
import onnx.reference
import onnxruntime
import safetensors.numpy
from onnx import TensorProto, helper
from PIL import Image

import models
from command import Case
from models import runs_models, value


class Listing(Case):
    def test_shows_what_the_file_says_without_a_runtime(self):
        models.convolution(self.path("m.onnx"))
        # No runtime is needed, so one that cannot be loaded does not matter.
        result = self.run_sonde("inspect", "m.onnx", "--list", SONDE_OPENVINO="/nowhere")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"input   x  f32\[\?,3,8,8\]\n")
        self.assertRegex(result.stdout, r"\n +0  conv_1   Conv +f32\[\?,8,6,6\] +224\n")
        self.assertRegex(result.stdout, r"\n +3  dense_1  MatMul +\?\[...\] +2,880\n")

    def test_of_a_path_alone_is_the_same(self):
        models.convolution(self.path("m.onnx"))
        self.assertEqual(self.output("m.onnx"), self.output("inspect", "m.onnx", "--list"))

    def test_takes_the_model_after_an_option(self):
        models.convolution(self.path("m.onnx"))
        self.assertEqual(self.output("inspect", "--list", "--layers", "prob", "--layers", "flat", "m.onnx"),
                         self.output("inspect", "m.onnx", "--list", "--layers", "prob", "--layers", "flat"))

    def test_as_json(self):
        models.convolution(self.path("m.onnx"))
        listed = self.json("inspect", "m.onnx", "--list")
        self.assertEqual([layer["name"] for layer in listed["layers"]], ["conv_1", "relu_1", "flat", "dense_1", "prob"])
        first = listed["layers"][0]
        self.assertEqual((first["index"], first["op"], first["dtype"], first["shape"], first["parameters"], first["node"]),
                         (0, "Conv", "f32", [-1, 8, 6, 6], 224, "/conv_1/Conv"))
        self.assertEqual(listed["inputs"], [{"name": "x", "dtype": "f32", "shape": [-1, 3, 8, 8]}])

    def test_can_be_limited(self):
        models.convolution(self.path("m.onnx"))
        for arguments, names in ((("--op", "Relu"), ["relu_1"]), (("--index", "0,-1"), ["conv_1", "prob"]),
                                 (("--layers", ".*_1"), ["conv_1", "relu_1", "dense_1"]),
                                 (("--layers", "/conv_1/Conv"), ["conv_1"]), (("--layers=[dens]+_1",), ["dense_1"]),
                                 (("--layers", "[re].*[1]"), ["relu_1"]), (("--layers", "[^_,]+"), ["flat", "prob"])):
            listed = self.json("inspect", "m.onnx", "--list", *arguments)
            self.assertEqual([layer["name"] for layer in listed["layers"]], names)


@runs_models
class Running(Case):
    def setUp(self):
        super().setUp()
        self.model = models.convolution(self.path("m.onnx"))
        self.x = np.random.default_rng(1).normal(size=(2, 3, 8, 8)).astype(np.float32)
        self.save("x.npy", self.x)
        self.expected = models.every_value(self.model, {"x": self.x})

    def test_every_layer_is_that_of_the_reference(self):
        self.output("inspect", "m.onnx", "--input", "x.npy", "--taps", "all", "--save", "out")
        self.assertEqual(set(os.listdir(self.path("out"))), {f"{name}.npy" for name in self.expected})
        for name, expected in self.expected.items():
            np.testing.assert_allclose(np.load(self.path(f"out/{name}.npy")), expected, rtol=1e-4, atol=1e-5, err_msg=name)

    def test_statistics_are_those_of_the_values_and_name_the_runtime(self):
        found = self.json("inspect", "m.onnx", "--input", "x.npy", "--layers", ".*_1")
        self.assertEqual((found["runtime"], found["precision"]), ("openvino", "f32"))
        self.assertRegex(found["version"], r"^\d{4}\.\d+\.\d+$")
        for layer in found["layers"]:
            expected = self.expected[layer["name"]]
            self.assertEqual((layer["dtype"], layer["shape"]), ("f32", list(expected.shape)))
            np.testing.assert_allclose([layer["stats"][key] for key in ("min", "max", "mean", "std")],
                                       [expected.min(), expected.max(), expected.mean(), expected.std()], rtol=1e-3, atol=1e-5)
            self.assertEqual((layer["stats"]["nan"], layer["stats"]["inf"]), (0, 0))

    def test_the_precision_is_the_one_that_was_executed(self):
        found = self.json("inspect", "m.onnx", "--input", "x.npy", "--layers", "dense_1", "--precision", "bf16", "--save", "out")
        values, expected = np.load(self.path("out/dense_1.npy")), self.expected["dense_1"]
        error = np.linalg.norm(values - expected) / np.linalg.norm(expected)
        self.assertLess(error, 0.05)
        self.assertEqual(found["precision"], "bf16" if error > 1e-4 else "f32")  # a processor without bf16 computes in f32

    def test_all_formats_hold_the_same_values(self):
        arguments = ("inspect", "m.onnx", "--input", "x.npy", "--layers", "relu_1", "--layers", "dense_1", "--format")
        self.output(*arguments, "npz", "--save", "a")
        self.output(*arguments, "safetensors", "--save", "b")
        self.output(*arguments, "csv", "--save", "c")
        arrays = np.load(self.path("a/layers.npz"))
        tensors = safetensors.numpy.load_file(self.path("b/layers.safetensors"))
        self.assertEqual(set(arrays), {"relu_1", "dense_1"})
        for name in arrays:
            np.testing.assert_array_equal(arrays[name], tensors[name])
        with open(self.path("c/dense_1.csv"), encoding="utf-8") as file:
            np.testing.assert_array_equal(np.array(list(csv.reader(file)), np.float32), arrays["dense_1"])

    def test_pictures_show_the_channels_of_each_prediction(self):
        self.output("inspect", "m.onnx", "--input", "x.npy", "--layers", "relu_1", "--format", "png", "--save", "out")
        for n in (0, 1):
            with Image.open(self.path(f"out/relu_1/{n}.png")) as picture:
                self.assertEqual(picture.size, (27, 13))  # 8 maps of 6x6, four in a row, one pixel apart

    def test_a_log_is_what_other_commands_read(self):
        self.output("inspect", "m.onnx", "--input", "x.npy", "--layers", "relu_1", "--format", "tfevents", "--save", "log")
        (run,) = self.json("ls", "log")["runs"]
        self.assertEqual({tag["tag"] for tag in run["tags"]}, {"activation/relu_1", "activation/relu_1/image"})

    def test_printed_values_are_those_of_numpy(self):
        text = self.output("inspect", "m.onnx", "--input", "x.npy", "--layers", "dense_1", "--print", "--save", "out")
        self.assertTrue(text.endswith(f"\ndense_1\n{np.load(self.path('out/dense_1.npy'))}\n"), text)

    def test_without_a_selection_fusions_stay_whole(self):
        found = {layer["name"]: layer for layer in self.json("inspect", "m.onnx", "--input", "x.npy")["layers"]}
        self.assertEqual(found["conv_1"]["missing"], "openvino computes it within 'relu_1'; --taps all shows it")
        self.assertIsNone(found["conv_1"]["stats"])
        self.assertIsNotNone(found["relu_1"]["stats"])
        found = self.json("inspect", "m.onnx", "--input", "x.npy", "--taps", "all")
        self.assertTrue(all(layer["stats"] for layer in found["layers"]))
        self.assertEqual(found["taps"]["split"], 1)

    def test_a_folder_of_inputs_gives_the_statistics_of_all(self):
        os.mkdir(self.path("in"))
        for i in range(2):
            np.save(self.path(f"in/{i}.npy"), self.x[i:i + 1])
        one = self.json("inspect", "m.onnx", "--input", "x.npy", "--layers", "relu_1")["layers"][0]["stats"]
        found = self.json("inspect", "m.onnx", "--input", "in", "--layers", "relu_1", "--save", "out")
        merged = found["layers"][0]["stats"]
        self.assertEqual(found["passes"], 2)
        for key in ("nan", "inf", "zero"):
            self.assertEqual(merged[key], one[key])
        np.testing.assert_allclose([merged[key] for key in ("min", "max", "mean", "std")],
                                   [one[key] for key in ("min", "max", "mean", "std")], rtol=1e-5)
        self.assertEqual(np.load(self.path("out/1/relu_1.npy")).shape, (1, 8, 6, 6))

    def test_inputs_from_other_files_are_the_same(self):
        def zeros(*arguments):
            return self.json("inspect", "m.onnx", *arguments, "--layers", "relu_1")["layers"][0]["stats"]["zero"]
        np.savez(self.path("x.npz"), x=self.x)
        safetensors.numpy.save_file({"x": self.x}, self.path("x.safetensors"))
        wanted = zeros("--input", "x.npy")
        for argument in ("x.npz", "x.safetensors", "x=x.npy"):
            self.assertEqual(zeros("--input", argument), wanted, argument)
        Image.fromarray((np.arange(192) % 256).astype(np.uint8).reshape(8, 8, 3)).save(self.path("p.png"))
        picture = (np.arange(192) % 256).reshape(8, 8, 3).transpose(2, 0, 1)[None].astype(np.float32) / 255
        self.save("picture.npy", picture)
        self.assertEqual(zeros("--input", "p.png"), zeros("--input", "picture.npy"))

    def test_random_inputs_are_the_same_for_a_seed(self):
        one, same, other = (self.json("inspect", "m.onnx", "--random", seed, "--layers", "dense_1")["layers"][0]["stats"]
                            for seed in ("1", "1", "2"))
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)

    def test_an_inspection_model_gives_the_layers_in_onnxruntime(self):
        self.output("inspect", "m.onnx", "--layers", ".*_1", "--save-model", "tapped.onnx")
        onnx.checker.check_model(onnx.load(self.path("tapped.onnx")), full_check=True)
        session = onnxruntime.InferenceSession(self.path("tapped.onnx"))
        names = [output.name for output in session.get_outputs()]
        self.assertEqual(names, ["conv_1", "relu_1", "dense_1"])
        for name, found in zip(names, session.run(None, {"x": self.x})):
            np.testing.assert_allclose(found, self.expected[name], rtol=1e-4, atol=1e-5)

    def test_verify_says_whether_looking_changes_something(self):
        verified = self.json("inspect", "m.onnx", "--input", "x.npy", "--taps", "all", "--verify")["verify"]
        (output,) = verified["outputs"]
        self.assertTrue(output["bitwise"] or output["norm_relative"] < 1e-5)
        pairs = [(each["layer"], each["consumer"]) for each in verified["consumers"]]
        self.assertEqual(pairs, [("conv_1", "relu_1"), ("relu_1", "flat"), ("flat", "dense_1"), ("dense_1", "prob")])
        for each in verified["consumers"]:
            self.assertLess(each["norm_relative"], 1e-5)
            self.assertFalse(each["not_the_value_used"])

    def test_verify_looks_at_all_inputs(self):
        os.mkdir(self.path("in"))
        for number in range(3):
            np.save(self.path(f"in/{number}.npy"), self.x * number)
        verified = self.json("inspect", "m.onnx", "--input", "in", "--layers", "relu_1", "--verify")["verify"]
        self.assertEqual(verified["inputs"], 3)
        self.assertEqual([(each["layer"], each["consumer"]) for each in verified["consumers"]], [("relu_1", "flat")])
        self.assertIn("\nthe largest differences of 3 inputs:\noutput 'prob' with and without taps: ",
                      self.output("inspect", "m.onnx", "--input", "in", "--layers", "relu_1", "--verify"))

    def test_profile_gives_times_of_layers(self):
        profile = self.json("inspect", "m.onnx", "--input", "x.npy", "--profile")["profile"]
        named = {each["name"] for each in profile["operations"]}
        self.assertLessEqual({"relu_1", "dense_1", "prob"}, named)
        self.assertAlmostEqual(sum(each["share"] for each in profile["operations"]), 1, places=6)
        self.assertGreater(profile["activation_bytes"], 2 * 8 * 6 * 6 * 4)


@runs_models
class OpenvinoFiles(Case):
    def test_have_the_layers_of_the_model_that_they_were_made_from(self):
        model = models.convolution(self.path("m.onnx"))
        x = np.random.default_rng(1).normal(size=(2, 3, 8, 8)).astype(np.float32)
        self.save("x.npy", x)
        expected = models.every_value(model, {"x": x})
        # The package that the build installed; it writes the files.
        sys.path.append(os.path.join(os.environ["SONDE_SOURCE_DIR"], "build", "openvino"))
        import openvino
        openvino.save_model(openvino.Core().read_model(self.path("m.onnx")), self.path("m.xml"), compress_to_fp16=False)
        listed = {layer["name"]: layer for layer in self.json("inspect", "m.xml", "--list")["layers"]}
        self.assertEqual((listed["relu_1"]["op"], listed["relu_1"]["shape"]), ("ReLU", [-1, 8, 6, 6]))
        self.output("inspect", "m.xml", "--input", "x.npy", "--layers", "conv_1|relu_1|dense_1|prob", "--save", "out")
        for name in ("conv_1", "relu_1", "dense_1", "prob"):
            np.testing.assert_allclose(np.load(self.path(f"out/{name}.npy")), expected[name], rtol=1e-4, atol=1e-5)
        self.output("inspect", "m.xml", "--input", "x.npy", "--taps", "all")
        os.remove(self.path("m.bin"))
        self.assertIn("put 'm.bin' beside it", self.error("inspect", "m.xml", "--list"))


@runs_models
class Health(Case):
    def test_a_value_that_was_not_used_is_named(self):
        models.overflowing_half(self.path("half.onnx"))
        self.save("x.npy", np.full((1, 64), 40, np.float16))
        found = self.json("inspect", "half.onnx", "--input", "x.npy", "--layers", ".*", "--verify")
        self.assertEqual((found["precision"], found["declared"]), ("f32", "f16"))
        h, y = found["layers"]
        self.assertEqual((h["stats"]["inf"], y["stats"]["inf"]), (64, 0))
        self.assertEqual(h["health"]["not_the_value_used"], "y")
        (consumer,) = found["verify"]["consumers"]
        self.assertTrue(consumer["not_the_value_used"])
        text = self.output("inspect", "half.onnx", "--input", "x.npy", "--layers", ".*")
        self.assertIn("executed in f32; the model declares f16\n", text)
        self.assertIn("'h' is not the value used: it is not finite, but 'y' (MatMul), which reads it, is\n", text)

    def test_layers_that_overflow_in_fp16_and_dead_units_are_counted(self):
        models.save(self.path("m.onnx"),
                    [helper.make_node("Mul", ["x", "k"], ["large"]), helper.make_node("Relu", ["large"], ["relu"])],
                    [value("x", ["N", 4])], [value("relu", ["N", 4])], {"k": np.array([1e6, 1, -1, 1], np.float32)})
        self.save("x.npy", np.ones((3, 4), np.float32))
        text = self.output("inspect", "m.onnx", "--input", "x.npy", "--taps", "all")
        self.assertIn("\n2 layers would overflow in fp16: 'large' and 'relu'\n", text)
        self.assertIn("\n1 of 4 units of 'relu' is 0 for all of this input: dead, if the input is typical\n", text)

    def test_the_first_layer_with_nan_is_named(self):
        models.save(self.path("m.onnx"),
                    [helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Log", ["a"], ["b"]),
                     helper.make_node("Abs", ["b"], ["c"])], [value("x", [2])], [value("c", [2])])
        self.save("x.npy", np.ones(2, np.float32))
        text = self.output("inspect", "m.onnx", "--input", "x.npy", "--taps", "all")
        self.assertIn("\nthe first non-finite values are in activation/b: 2 NaN and 0 infinite of 2", text)


@runs_models
class Types(Case):
    def test_several_inputs_and_outputs_of_other_types(self):
        models.save(self.path("m.onnx"),
                    [helper.make_node("Add", ["a", "b"], ["sum"]), helper.make_node("Greater", ["a", "b"], ["more"]),
                     helper.make_node("Split", ["sum"], ["low", "high"], axis=0)],
                    [value("a", [4], TensorProto.INT32), value("b", [4], TensorProto.INT32)],
                    [value("more", [4], TensorProto.BOOL), value("low", [2], TensorProto.INT32),
                     value("high", [2], TensorProto.INT32)])
        a, b = np.array([1, 2, 3, 4], np.int32), np.array([4, 3, 2, 1], np.int32)
        np.savez(self.path("in.npz"), a=a, b=b)
        self.output("inspect", "m.onnx", "--input", "in.npz", "--layers", ".*", "--format", "npz", "--save", "out")
        found = np.load(self.path("out/layers.npz"))
        for name, expected in (("sum", a + b), ("more", a > b), ("low", (a + b)[:2]), ("high", (a + b)[2:])):
            self.assertEqual(found[name].dtype, expected.dtype)
            np.testing.assert_array_equal(found[name], expected, name)
        random = self.run_sonde("inspect", "m.onnx", "--random", "1", "--layers", "sum")
        self.assertIn("holds integers: say which with --range LOW,HIGH", random.stderr)
        found = self.json("inspect", "m.onnx", "--random", "1", "--range", "5,5", "--layers", "sum")
        self.assertEqual(found["layers"][0]["stats"]["min"], 10)


if __name__ == "__main__":
    import unittest
    unittest.main()
