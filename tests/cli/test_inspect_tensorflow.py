"""sonde inspect on TensorFlow's models, against the values that TensorFlow computed when tests/models was made."""

import json
import os
import pathlib
import shutil
import unittest

import numpy as np

from command import Case

MODELS = pathlib.Path(os.environ["SONDE_SOURCE_DIR"]) / "tests" / "models"
PLUGIN = pathlib.Path(os.environ["SONDE_BUILD_DIR"]) / "lib" / "sonde" / "libsonde_openvino.so"
TOLERANCE = 1e-5  # norm-relative
TRAINED = 173  # values in the weights of the network `classifier`


def stored(name):
    """Inputs, layers and outputs as TensorFlow gave them."""
    parts = {"input": {}, "layer": {}, "output": {}}
    with np.load(MODELS / f"{name}.npz") as file:
        for key in file.files:
            kind, tensor = key.replace("|", "/").split(":", 1)
            parts[kind][tensor] = file[key]
    return parts["input"], parts["layer"], parts["output"]


def distance(a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    return np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-30)


class Inspecting(Case):
    def inspect(self, model, *arguments):
        result = self.run_sonde("inspect", str(MODELS / model), "--json", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def listed(self, model, *arguments):
        return self.inspect(model, "--list", *arguments)["layers"]

    def refused(self, model, *arguments):
        """The sentence with which a model is refused."""
        result = self.run_sonde("inspect", str(model), *arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        return result.stderr

    def computed(self, model, inputs, *arguments):
        """What the command says about the layers, and their values."""
        given = []
        for place, (name, value) in enumerate(inputs.items()):
            given += ["--input", f"{name}={self.save(f'input{place}.npy', value)}"]
        report = self.inspect(model, *given, "--save", self.path("out.npz"), "--format", "npz", *arguments)
        self.assertEqual(report["runtime"], "openvino")
        self.assertEqual(report["precision"], "f32")
        values = {}
        for path in pathlib.Path(self.path("out.npz")).rglob("*.npz"):
            with np.load(path) as file:
                values |= {name: file[name] for name in file.files}
        return report["layers"], values


class Lists(Inspecting):
    """No runtime is loaded for a list."""

    def names(self, model, *arguments):
        return [layer["name"] for layer in self.listed(model, *arguments)]

    def test_layers_of_a_keras_3_export_have_the_names_that_keras_gave_them(self):
        layers = self.listed("keras3_cnn")
        self.assertEqual(layers[0]["name"], "classifier_1/conv_1_1/convolution")
        self.assertEqual((layers[0]["op"], layers[0]["dtype"], layers[0]["shape"]), ("Conv2D", "f32", [-1, 6, 6, 4]))
        self.assertEqual(layers[-1]["name"], "classifier_1/dense_1_1/Softmax")
        self.assertEqual(sum(layer["parameters"] for layer in layers), TRAINED)

    def test_every_format_lists_the_layers_that_tensorflow_computes(self):
        for model, values, arguments in (
                ("keras3_cnn", "keras3_cnn", ()), ("keras2_cnn", "keras2_cnn", ()), ("subclassed", "subclassed", ()),
                ("keras3_saved", "keras3_saved", ()), ("recurrent", "recurrent", ()), ("variables_v1", "variables_v1", ()),
                ("frozen_cnn.pb", "frozen_cnn", ()), ("lite_float.tflite", "lite_float", ()),
                ("lite_int8.tflite", "lite_int8", ()), ("signatures", "signatures_parts", ("--signature", "parts")),
                ("signatures", "signatures_flow", ("--signature", "flow"))):
            with self.subTest(model=model, arguments=arguments):
                _, layers, _ = stored(values)
                names = self.names(model, *arguments)
                self.assertEqual(len(names), len(set(names)), "a name stands for one layer")
                # TensorFlow's own inlining adds nodes Func/..., and keeps those that only read a variable.
                expected = {name for name in layers
                            if not name.startswith("Func/") and "ReadVariableOp" not in name and name != "Identity"}
                missing = {name for name in expected - set(names) if not name.startswith("Identity")}
                self.assertEqual(missing, set())

    def test_layers_come_in_order_of_execution(self):
        for model in ("keras3_cnn", "keras2_cnn", "recurrent", "frozen_cnn.pb", "subclassed"):
            with self.subTest(model=model):
                layers = self.listed(model)
                place = {layer["name"]: index for index, layer in enumerate(layers)}
                self.assertEqual([layer["index"] for layer in layers], list(range(len(layers))))
                ordered = [name for name in place if name.endswith(("BiasAdd", "MatMul", "Softmax"))]
                self.assertEqual(ordered, sorted(ordered, key=place.get))

    def test_a_graph_without_variables_counts_its_constants(self):
        self.assertEqual(sum(layer["parameters"] for layer in self.listed("frozen_cnn.pb")), TRAINED)

    def test_the_signatures_of_a_model_are_listed_one_at_a_time(self):
        self.assertIn("project", self.names("signatures", "--signature", "parts"))
        self.assertIn("rows", self.names("signatures", "--signature", "lookup"))
        flow = {layer["name"]: layer["op"] for layer in self.listed("signatures", "--signature", "flow")}
        self.assertEqual((flow["loop"], flow["choice"]), ("While", "StatelessIf"))

    def test_a_quantised_layer_has_its_scale_and_zero_point(self):
        layers = self.listed("lite_int8.tflite")
        self.assertEqual({layer["dtype"] for layer in layers}, {"i8"})
        self.assertEqual(layers[-1]["quantization"], {"scale": [1 / 256], "zero_point": [-128], "axis": -1})
        self.assertNotIn("quantization", self.listed("lite_float.tflite")[0])

    def test_an_operation_with_several_outputs_is_several_layers(self):
        layers = {layer["name"]: layer for layer in self.listed("signatures", "--signature", "parts")}
        self.assertEqual([layers[name]["dtype"] for name in ("best", "best:1")], ["f32", "i32"])
        self.assertEqual([layers[name]["shape"] for name in ("halves", "halves:1")], [[-1, 3], [-1, 3]])


@unittest.skipUnless(PLUGIN.exists(), "this build has no OpenVINO")
class Values(Inspecting):
    def compare(self, model, values, *arguments, missing=()):
        inputs, expected, _ = stored(values)
        layers, found = self.computed(model, inputs, "--taps", "all", *arguments)
        compared = 0
        for layer in layers:
            name = layer["name"]
            if layer.get("missing"):
                self.assertIn(name, missing)
                continue
            if name not in expected:
                continue
            self.assertEqual(layer["shape"], list(expected[name].shape), name)
            self.assertLess(distance(found[name], expected[name]), TOLERANCE, name)
            self.assertEqual(found[name].dtype, expected[name].dtype, name)
            compared += 1
        return compared

    def test_saved_models_of_keras_3(self):
        self.assertEqual(self.compare("keras3_cnn", "keras3_cnn"), 21)

    def test_saved_models_of_tf_saved_model_save(self):
        self.assertEqual(self.compare("keras3_saved", "keras3_saved"), 21)

    def test_saved_models_of_keras_2(self):
        rest = {f"classifier/norm_1/FusedBatchNormV3:{i}" for i in range(1, 6)}
        self.assertGreaterEqual(self.compare("keras2_cnn", "keras2_cnn", missing=rest), 12)

    def test_a_subclassed_model_with_two_inputs(self):
        self.assertEqual(self.compare("subclassed", "subclassed"), 21)

    def test_each_signature(self):
        self.assertEqual(self.compare("signatures", "signatures_parts", "--signature", "parts"), 18)

    def test_a_signature_that_reads_rows_of_a_variable(self):
        self.assertEqual(self.compare("signatures", "signatures_lookup", "--signature", "lookup"), 2)

    def test_layers_around_control_flow(self):
        self.assertGreaterEqual(self.compare("signatures", "signatures_flow", "--signature", "flow",
                                             missing={"loop:4"}), 11)

    def test_a_recurrent_network_outside_of_its_loops(self):
        inputs, expected, _ = stored("recurrent")
        layers, found = self.computed("recurrent", inputs)
        compared = 0
        for layer in layers:
            if "missing" in layer:  # a list of tensors, and what a loop carries along as one
                self.assertIn(layer["op"], ("While", "TensorListReserve", "TensorListFromTensor"), layer)
            elif layer["name"] in expected:
                self.assertLess(distance(found[layer["name"]], expected[layer["name"]]), TOLERANCE, layer["name"])
                compared += 1
        self.assertGreaterEqual(compared, 34)

    def test_variables_and_a_saver_of_tensorflow_1(self):
        self.assertEqual(self.compare("variables_v1", "variables_v1"), 3)

    def test_frozen_graphs(self):
        self.assertEqual(self.compare("frozen_cnn.pb", "frozen_cnn"), 22)

    def test_tflite_files_keep_names_and_nhwc(self):
        self.assertEqual(self.compare("lite_float.tflite", "lite_float"), 8)

    def test_tflite_files_with_weights_of_16_bits(self):
        self.assertGreaterEqual(self.compare("lite_f16.tflite", "lite_f16"), 8)

    def test_a_quantised_layer_is_not_given_as_an_invented_number(self):
        inputs, _, _ = stored("lite_int8")
        layers, found = self.computed("lite_int8.tflite", inputs)
        self.assertEqual(found, {})
        for layer in layers:
            self.assertIn("integers", layer["missing"])


class BadInput(Inspecting):
    def copied(self, model):
        target = pathlib.Path(self.path(model))
        if (MODELS / model).is_dir():
            shutil.copytree(MODELS / model, target)
        else:
            shutil.copy(MODELS / model, target)
        return target

    def cut(self, path, size):
        path.write_bytes(path.read_bytes()[:size])

    def test_a_folder_that_is_no_saved_model(self):
        os.mkdir(self.path("empty"))
        self.assertIn("'empty'", self.refused("empty", "--list"))

    def test_a_truncated_saved_model(self):
        folder = self.copied("keras3_cnn")
        self.cut(folder / "saved_model.pb", 20_000)
        self.assertIn("saved_model.pb", self.refused(folder, "--list"))

    def test_an_unknown_signature_names_those_that_there_are(self):
        for model in ("signatures", "lite_signatures.tflite"):
            with self.subTest(model=model):
                said = self.refused(MODELS / model, "--list", "--signature", "train")
                self.assertIn("no signature 'train'; it has", said)
                self.assertIn("'lookup'", said)
                self.assertIn("'parts'", said)

    def test_several_signatures_and_none_named(self):
        self.assertIn("--signature", self.refused(MODELS / "signatures", "--list"))

    def test_a_file_that_is_no_graph(self):
        for content in (b"", b"this is no graph, it is a text of a few words", bytes(range(256))):
            pathlib.Path(self.path("model.pb")).write_bytes(content)
            self.assertIn("model.pb", self.refused("model.pb", "--list"))

    def test_a_tflite_file_with_offsets_out_of_the_file(self):
        path = self.copied("lite_float.tflite")
        for size in (4, 40, 1500):
            shutil.copy(MODELS / "lite_float.tflite", path)
            self.cut(path, size)
            self.assertIn("not a valid TFLite model", self.refused(path, "--list"))
        pathlib.Path(path).write_bytes(b"\xff\xff\xff\x7fTFL3" + bytes(64))
        self.assertIn("out of the file", self.refused(path, "--list"))

    @unittest.skipUnless(PLUGIN.exists(), "this build has no OpenVINO")
    def test_missing_variables(self):
        folder = self.copied("keras3_cnn")
        (folder / "variables" / "variables.data-00000-of-00001").unlink()
        self.assertIn("variables.data-00000-of-00001", self.refused(folder, "--random", "1"))
        (folder / "variables" / "variables.index").unlink()
        self.assertIn("variables of the SavedModel are missing", self.refused(folder, "--random", "1"))

    @unittest.skipUnless(PLUGIN.exists(), "this build has no OpenVINO")
    def test_damaged_variables(self):
        folder = self.copied("keras3_cnn")
        self.cut(folder / "variables" / "variables.data-00000-of-00001", 100)
        self.assertIn("cut off or damaged", self.refused(folder, "--random", "1"))
        index = folder / "variables" / "variables.index"
        content = bytearray(index.read_bytes())
        content[100] ^= 1
        index.write_bytes(content)
        self.assertIn("checksum", self.refused(folder, "--random", "1"))

    @unittest.skipUnless(PLUGIN.exists(), "this build has no OpenVINO")
    def test_an_input_of_the_wrong_shape_or_type(self):
        wrong = self.save("wrong.npy", np.zeros((1, 3, 8, 8), np.float32))
        self.assertIn("'image'", self.refused(MODELS / "keras3_cnn", "--input", wrong))


if __name__ == "__main__":
    unittest.main()
