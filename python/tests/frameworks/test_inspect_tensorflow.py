"""`sonde inspect` on models that TensorFlow and Keras save here, against what TensorFlow itself computes in them."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests/models"))
from make_tensorflow_models import values_of_function, values_of_graph  # noqa: E402

BUILD = pathlib.Path(os.environ.get("SONDE_BUILD_DIR", pathlib.Path(__file__).resolve().parents[3] / "build"))
SONDE = BUILD / "bin" / "sonde"
PLUGIN = BUILD / "lib" / "sonde" / "libsonde_openvino.so"
TOLERANCE = 1e-5  # norm-relative


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def values_of_signature(folder, signature, inputs):
    loaded = tf.saved_model.load(str(folder))  # a function does not keep its variables alive
    return values_of_function(loaded.signatures[signature], inputs)


def distance(a, b):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-30)


@unittest.skipUnless(PLUGIN.exists(), "this build has no OpenVINO")
class InspectTensorFlow(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        keras.utils.set_random_seed(11)

    def inspect(self, model, inputs, *arguments):
        """The report, and the values by name."""
        given = []
        for place, (name, value) in enumerate(inputs.items()):
            np.save(self.folder / f"{place}.npy", value)
            given += ["--input", f"{name}={self.folder / f'{place}.npy'}"]
        target = tempfile.mkdtemp(dir=self.folder) + "/out"
        result = subprocess.run([SONDE, "inspect", model, *given, "--save", target, "--format", "npz", "--json", "--taps", "all",
                                 *arguments],
                                capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        values = {}
        for path in pathlib.Path(target).rglob("*.npz"):
            with np.load(path) as file:
                values |= {name: file[name] for name in file.files}
        return json.loads(result.stdout)["layers"], values

    def check(self, layers, found, expected, least):
        compared = 0
        for layer in layers:
            name = layer["name"]
            if layer.get("missing") or name not in expected:
                continue
            self.assertEqual(found[name].shape, expected[name].shape, name)
            self.assertLess(distance(found[name], expected[name]), TOLERANCE, name)
            compared += 1
        self.assertGreaterEqual(compared, least)

    def check_signature(self, folder, inputs, signature="serving_default", least=1):
        layers, found = self.inspect(folder, inputs, "--signature", signature)
        self.check(layers, found, values_of_signature(folder, signature, inputs), least)
        return layers, found

    def network(self):
        image = keras.Input((16, 16, 3), name="image")
        x = image
        for i in range(3):
            y = keras.layers.Conv2D(8, 3, padding="same", name=f"conv_{i}")(x)
            y = keras.layers.BatchNormalization(name=f"norm_{i}")(y)
            y = keras.layers.Activation("gelu", name=f"act_{i}")(y)
            x = keras.layers.Add(name=f"add_{i}")([x, y]) if i else y
        x = keras.layers.AveragePooling2D(2, name="pool")(x)
        x = keras.layers.LayerNormalization(name="layer_norm")(x)
        x = keras.layers.Flatten(name="flat")(x)
        return keras.Model(image, keras.layers.Dense(10, name="scores")(x), name="net")

    def test_layers_of_a_keras_export(self):
        model = self.network()
        folder = self.folder / "export"
        model.export(str(folder), verbose=False)
        x = random(2, 16, 16, 3)
        layers, found = self.check_signature(folder, {"image": x}, least=40)
        # And against Keras: the layer's output is that of the layer's last operation.
        last = [layer["name"] for layer in layers if "/conv_1" in layer["name"] and layer["op"] == "BiasAdd"][0]
        part = keras.Model(model.inputs, model.get_layer("conv_1").output)
        self.assertLess(distance(found[last], part(x)), TOLERANCE)

    def test_layers_of_tf_saved_model_save(self):
        folder = self.folder / "saved"
        tf.saved_model.save(self.network(), str(folder))
        self.check_signature(folder, {"inputs": random(2, 16, 16, 3)}, least=40)

    def test_a_transformer_block(self):
        tokens = keras.Input((7,), dtype="int32", name="tokens")
        x = keras.layers.Embedding(20, 16, name="embed")(tokens)
        y = keras.layers.MultiHeadAttention(2, 8, name="attention")(x, x)
        x = keras.layers.LayerNormalization(name="norm")(x + y)
        model = keras.Model(tokens, keras.layers.Dense(4, name="head")(x), name="block")
        folder = self.folder / "transformer"
        model.export(str(folder), verbose=False)
        ids = np.random.default_rng(1).integers(0, 20, (2, 7)).astype(np.int32)
        self.check_signature(folder, {"tokens": ids}, least=20)

    def test_a_recurrent_network_outside_of_its_loops(self):
        sequence = keras.Input((6, 3), name="sequence")
        x = keras.layers.LSTM(4, return_sequences=True, name="lstm")(sequence)
        x = keras.layers.GRU(3, name="gru")(x)
        model = keras.Model(sequence, keras.layers.Dense(2, name="head")(x), name="reader")
        folder = self.folder / "recurrent"
        model.export(str(folder), verbose=False)
        layers, _ = self.check_signature(folder, {"sequence": random(2, 6, 3)}, least=10)
        self.assertIn("While", {layer["op"] for layer in layers})

    def test_several_signatures_and_inputs(self):
        class Module(tf.Module):
            def __init__(self):
                super().__init__()
                self.w = tf.Variable(random(5, 4, seed=2))

            @tf.function(input_signature=[tf.TensorSpec((None, 5), tf.float32, "a"), tf.TensorSpec((4,), tf.float32, "b")])
            def both(self, a, b):
                values, places = tf.math.top_k(tf.matmul(a, self.w, name="product") * b, 2, name="best")
                return {"values": values, "places": places}

            @tf.function(input_signature=[tf.TensorSpec((None,), tf.int32, "rows")])
            def rows(self, rows):
                return {"found": tf.gather(self.w, rows, name="gathered")}

        module = Module()
        folder = self.folder / "signatures"
        tf.saved_model.save(module, str(folder), {"both": module.both, "rows": module.rows})
        _, found = self.check_signature(folder, {"a": random(3, 5), "b": random(4)}, "both", least=4)
        self.assertEqual(found["best:1"].dtype, np.int32)
        self.check_signature(folder, {"rows": np.array([0, 4, 2], np.int32)}, "rows", least=1)

    def test_an_operation_that_the_runtime_lacks_is_named_and_layers_before_it_are_given(self):
        class Module(tf.Module):
            @tf.function(input_signature=[tf.TensorSpec((3, 3), tf.float32, "x")])
            def root(self, x):
                return {"y": tf.linalg.cholesky(tf.matmul(x, x, transpose_b=True, name="early") + 1.0, name="late")}

            @tf.function(input_signature=[tf.TensorSpec((3,), tf.float32, "x")])
            def count(self, x):
                self.calls.assign_add(1.0)
                return {"y": tf.add(tf.multiply(x, 2.0, name="early"), self.calls, name="late")}

        module = Module()
        module.calls = tf.Variable(0.0)
        folder = self.folder / "lacking"
        tf.saved_model.save(module, str(folder), {"root": module.root, "count": module.count})
        x = random(3, 3)
        result = subprocess.run([SONDE, "inspect", folder, "--signature", "root", "--random", "1"], capture_output=True,
                                text=True, timeout=120, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn("it has no operation Cholesky; select layers before it", result.stderr)
        _, found = self.inspect(folder, {"x": x}, "--signature", "root", "--layers", "early")
        self.assertLess(distance(found["early"], x @ x.T), TOLERANCE)
        # What depends on a variable that changes during the run is not constant.
        layers, found = self.inspect(folder, {"x": x[0]}, "--signature", "count")
        self.assertEqual(set(found), {"early"})
        self.assertIn("changes while it runs", next(each["missing"] for each in layers if each["name"] == "late"))

    def test_a_subclassed_model(self):
        class Network(keras.Model):
            def __init__(self):
                super().__init__(name="subclassed")
                self.parts = [keras.layers.Dense(6, activation="tanh", name=f"part_{i}") for i in range(3)]

            def call(self, x):
                return tf.concat([part(x) for part in self.parts], -1, name="joined")

        model = Network()
        model(random(1, 4))
        folder = self.folder / "subclassed"
        model.export(str(folder), verbose=False)
        name = next(iter(tf.saved_model.load(str(folder)).signatures["serving_default"].structured_input_signature[1]))
        self.check_signature(folder, {name: random(3, 4)}, least=9)

    def test_a_frozen_graph(self):
        model = self.network()
        function = tf.function(lambda image: model(image, training=False)).get_concrete_function(
            tf.TensorSpec((None, 16, 16, 3), tf.float32, "image"))
        graph_def = convert_variables_to_constants_v2(function).graph.as_graph_def()
        path = self.folder / "frozen.pb"
        path.write_bytes(graph_def.SerializeToString())
        x = random(2, 16, 16, 3)
        layers, found = self.inspect(path, {"image": x})
        self.check(layers, found, values_of_graph(graph_def, {"image:0": x}), 40)

    def lite(self, path, *, quantised):
        folder = self.folder / "for_lite"
        self.network().export(str(folder), verbose=False)
        converter = tf.lite.TFLiteConverter.from_saved_model(str(folder), ["serving_default"])
        if quantised:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
            converter.representative_dataset = lambda: ([random(1, 16, 16, 3, seed=seed)] for seed in range(4))
        path.write_bytes(converter.convert())
        interpreter = tf.lite.Interpreter(
            str(path), experimental_preserve_all_tensors=True, num_threads=1,
            experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_REF)
        given = interpreter.get_input_details()[0]
        x = random(1, 16, 16, 3)
        interpreter.allocate_tensors()
        interpreter.set_tensor(given["index"], x)
        interpreter.invoke()
        computed = {index for op in interpreter._get_ops_details() for index in op["outputs"]}
        return {given["name"]: x}, {detail["name"]: interpreter.get_tensor(detail["index"])
                                    for detail in interpreter.get_tensor_details() if detail["index"] in computed}

    def test_tflite(self):
        path = self.folder / "float.tflite"
        inputs, expected = self.lite(path, quantised=False)
        layers, found = self.inspect(path, inputs)
        self.check(layers, found, expected, 10)

    def test_quantised_tflite_gives_no_invented_number(self):
        path = self.folder / "int8.tflite"
        inputs, expected = self.lite(path, quantised=True)
        layers, found = self.inspect(path, inputs)
        integers = {layer["name"] for layer in layers if layer["dtype"] == "i8"}
        self.assertGreater(len(integers), 5)
        self.assertEqual(integers & set(found), set())
        for name, value in found.items():
            self.assertLess(distance(value, expected[name]), TOLERANCE, name)


if __name__ == "__main__":
    unittest.main()
