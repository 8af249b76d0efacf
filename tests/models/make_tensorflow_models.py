#!/usr/bin/env python3
"""Writes small models with TensorFlow, and what TensorFlow itself computes in each of their layers.

    make_tensorflow_models.py [NAME...]     all that are not there yet, or those named

Each model goes beside this script, and NAME.npz with it: `input:NAME` the inputs, `layer:NAME` the outputs of operations
by the names that the file gives them, `output:NAME` the outputs of the model. README.md says which versions wrote them.
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import pathlib
import shutil
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

HERE = pathlib.Path(__file__).resolve().parent


def random(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def seeded(keras, seed=7):
    keras.utils.set_random_seed(seed)
    if hasattr(keras.backend, "clear_session"):
        keras.backend.clear_session()


def give_weights(model, seed=3):
    """Weights that no layer starts with: biases and moving averages are not 0 and 1."""
    generator = np.random.default_rng(seed)
    model.set_weights([np.abs(w * 0.5 + 0.4 * generator.standard_normal(w.shape)).astype(w.dtype) + 0.05
                       if "variance" in v.name else (w + 0.3 * generator.standard_normal(w.shape)).astype(w.dtype)
                       for w, v in zip(model.get_weights(), model.weights)])


# ---- What TensorFlow computes.

def frozen(function):
    """The function as one graph without functions and variables, by TensorFlow's own passes."""
    return convert_variables_to_constants_v2(function, lower_control_flow=False)


def values_of_graph(graph_def, feeds):
    """Every numeric tensor of every operation, by "node" or "node:1"; `feeds` by tensor name."""
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
    wanted = {}
    for operation in graph.get_operations():
        if operation.type in ("Const", "Placeholder", "NoOp"):
            continue
        for index, tensor in enumerate(operation.outputs):
            if tensor.dtype.base_dtype not in (tf.resource, tf.variant, tf.string):
                wanted[operation.name + (f":{index}" if index else "")] = tensor
    options = tf.compat.v1.ConfigProto()
    options.graph_options.rewrite_options.disable_meta_optimizer = True
    options.graph_options.optimizer_options.opt_level = -1
    with tf.compat.v1.Session(graph=graph, config=options) as session:
        return session.run(wanted, feeds)


def values_of_function(function, inputs):
    """Of a signature. A function's graph inlines under the names of its calls, which are not part of a layer's name."""
    result = frozen(function)
    graph_def = result.graph.as_graph_def()
    # structured_input_signature has the names of the arguments; the graph's placeholders are in their order.
    names = sorted(function.structured_input_signature[1])
    placeholders = {tensor.name.split(":")[0].removeprefix("signature_wrapper_"): tensor.name for tensor in result.inputs}
    feeds = {placeholders[name]: inputs[name] for name in names}
    values = values_of_graph(graph_def, feeds)
    short = {}
    for name, value in values.items():
        parts = name.split("/")
        while parts and parts[0].startswith(("StatefulPartitionedCall", "PartitionedCall")) and len(parts) > 1:
            parts = parts[1:]
        key = "/".join(parts)
        short.setdefault(key, []).append(value)
    return {key: found[0] for key, found in short.items() if len(found) == 1}


def save_values(path, inputs, layers, outputs):
    arrays = {f"input:{k}": v for k, v in inputs.items()}
    arrays |= {f"layer:{k}": v for k, v in layers.items()}
    arrays |= {f"output:{k}": np.asarray(v) for k, v in outputs.items()}
    np.savez_compressed(path, **{name.replace("/", "|"): np.asarray(value) for name, value in arrays.items()})


def save_signature_values(directory, signature, inputs, suffix=""):
    loaded = tf.saved_model.load(str(directory))  # owns the variables
    function = loaded.signatures[signature]
    outputs = {k: v.numpy() for k, v in function(**{k: tf.constant(v) for k, v in inputs.items()}).items()}
    save_values(HERE / f"{directory.name}{suffix}.npz", inputs, values_of_function(function, inputs), outputs)


def tidy(directory):
    """A fingerprint and assets say nothing about the graph; the fingerprint differs each time."""
    (directory / "fingerprint.pb").unlink(missing_ok=True)
    (directory / "keras_metadata.pb").unlink(missing_ok=True)
    assets = directory / "assets"
    if assets.is_dir() and not any(assets.iterdir()):
        assets.rmdir()


# ---- The models.

def cnn(keras):
    seeded(keras)
    image = keras.Input((8, 8, 3), name="image")
    x = keras.layers.Conv2D(4, 3, activation="relu", name="conv_1")(image)
    x = keras.layers.BatchNormalization(name="norm_1")(x)
    x = keras.layers.MaxPooling2D(2, name="pool_1")(x)
    x = keras.layers.DepthwiseConv2D(2, name="depth_1")(x)
    x = keras.layers.GlobalAveragePooling2D(name="mean_1")(x)
    x = keras.layers.Dropout(0.5, name="drop_1")(x)
    model = keras.Model(image, keras.layers.Dense(5, activation="softmax", name="dense_1")(x), name="classifier")
    give_weights(model)
    return model


def keras3_cnn():
    import keras
    model = cnn(keras)
    directory = HERE / "keras3_cnn"
    model.export(str(directory), verbose=False)
    tidy(directory)
    save_signature_values(directory, "serving_default", {"image": random(2, 8, 8, 3)})


def keras3_saved():
    """The same through tf.saved_model.save, which also writes a training function for each layer."""
    import keras
    model = cnn(keras)
    directory = HERE / "keras3_saved"
    tf.saved_model.save(model, str(directory), options=tf.saved_model.SaveOptions(experimental_debug_stripper=False))
    tidy(directory)
    save_signature_values(directory, "serving_default", {"inputs": random(2, 8, 8, 3)})


def keras2_cnn():
    import tf_keras
    model = cnn(tf_keras)
    directory = HERE / "keras2_cnn"
    model.save(str(directory), save_format="tf", include_optimizer=False)
    tidy(directory)
    save_signature_values(directory, "serving_default", {"image": random(2, 8, 8, 3)})


def subclassed():
    import keras
    seeded(keras)

    class Block(keras.layers.Layer):
        def __init__(self, width):
            super().__init__(name=f"block_{width}")
            self.first = keras.layers.Dense(width, name="first")
            self.second = keras.layers.Dense(width, name="second")

        def call(self, x):
            return tf.nn.relu(self.first(x)) + self.second(x)

    class Network(keras.Model):
        def __init__(self):
            super().__init__(name="network")
            self.embed = keras.layers.Embedding(11, 6, name="tokens")
            self.blocks = [Block(6), Block(4)]

        def call(self, inputs):
            x = tf.reduce_mean(self.embed(inputs["ids"]), 1) * inputs["scale"]
            for block in self.blocks:
                x = block(x)
            return {"logits": x, "best": tf.math.top_k(x, 2).indices}

    model = Network()
    inputs = {"ids": np.array([[1, 2, 3], [4, 10, 0]], np.int32), "scale": random(2, 1)}
    model(inputs)
    give_weights(model)
    directory = HERE / "subclassed"
    archive = keras.export.ExportArchive()
    archive.track(model)
    archive.add_endpoint("serve", lambda ids, scale: model({"ids": ids, "scale": scale}), input_signature=[
        tf.TensorSpec((None, 3), tf.int32, "ids"), tf.TensorSpec((None, 1), tf.float32, "scale")])
    archive.write_out(str(directory), verbose=False)
    tidy(directory)
    save_signature_values(directory, "serve", inputs)


class Signatures(tf.Module):
    """Operations with several outputs, and control flow, in signatures of their own."""

    def __init__(self):
        super().__init__()
        self.weight = tf.Variable(random(6, 6, seed=5), name="weight")
        self.bias = tf.Variable(random(6, seed=6), name="bias")
        self.table = tf.Variable(random(9, 4, seed=8), name="table")

    @tf.function(input_signature=[tf.TensorSpec((None, 6), tf.float32, "x"), tf.TensorSpec((6,), tf.float32, "y")])
    def parts(self, x, y):
        h = tf.nn.bias_add(tf.matmul(x, self.weight, name="project"), self.bias, name="biased")
        left, right = tf.split(h, 2, axis=1, name="halves")
        best = tf.math.top_k(right, 2, name="best")
        mean, variance = tf.nn.moments(h, [0], name="moments")
        return {"sum": tf.add(left, right, name="sum"), "best": best.values, "which": best.indices,
                "scaled": tf.multiply(h - mean, y, name="scaled") * tf.math.rsqrt(variance + 1e-3)}

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.int64, "ids")])
    def lookup(self, ids):
        return {"rows": tf.nn.embedding_lookup(self.table, ids, name="rows")}

    @tf.function(input_signature=[tf.TensorSpec((2, 6), tf.float32, "x")])
    def flow(self, x):
        h = tf.tanh(tf.matmul(x, self.weight, name="before"), name="squashed")
        _, grown = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.tanh(v @ self.weight + 0.1)), [0, h],
                                 name="loop")
        chosen = tf.cond(tf.reduce_sum(grown) > 0, lambda: grown * 2.0, lambda: grown - 1.0, name="choice")
        return {"out": tf.nn.relu(chosen, name="after")}


def signatures():
    module = Signatures()
    directory = HERE / "signatures"
    tf.saved_model.save(module, str(directory), {"parts": module.parts, "lookup": module.lookup, "flow": module.flow})
    tidy(directory)
    save_signature_values(directory, "parts", {"x": random(3, 6), "y": random(6, seed=2)}, "_parts")
    save_signature_values(directory, "lookup", {"ids": np.array([0, 8, 3], np.int64)}, "_lookup")
    save_signature_values(directory, "flow", {"x": random(2, 6)}, "_flow")


def recurrent():
    import keras
    seeded(keras)
    tokens = keras.Input((5,), dtype="int32", name="tokens")
    x = keras.layers.Embedding(12, 4, name="embed")(tokens)
    x = keras.layers.LSTM(3, return_sequences=True, name="lstm")(x)
    x = keras.layers.GRU(2, name="gru")(x)
    model = keras.Model(tokens, keras.layers.Dense(2, name="head")(x), name="reader")
    give_weights(model)
    directory = HERE / "recurrent"
    model.export(str(directory), verbose=False)
    tidy(directory)
    save_signature_values(directory, "serving_default", {"tokens": np.array([[1, 2, 3, 4, 11], [0, 5, 6, 7, 8]], np.int32)})


def variables_v1():
    """Reference variables and a saver in the graph, as TensorFlow 1 wrote."""
    v1 = tf.compat.v1
    directory = HERE / "variables_v1"
    graph = tf.Graph()
    with graph.as_default(), v1.Session(graph=graph) as session:
        x = v1.placeholder(tf.float32, (None, 4), "x")
        w = v1.get_variable("dense/kernel", initializer=random(4, 3, seed=4), use_resource=False)
        b = v1.get_variable("dense/bias", initializer=random(3, seed=5), use_resource=True)
        y = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w, name="dense/MatMul"), b, name="dense/BiasAdd"), name="dense/Relu")
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, str(directory), {"x": x}, {"y": y})
        value = random(2, 4)
        layers = {name: session.run(f"{name}:0", {x: value}) for name in ("dense/MatMul", "dense/BiasAdd", "dense/Relu")}
        save_values(HERE / "variables_v1.npz", {"x": value}, layers, {"y": layers["dense/Relu"]})
    tidy(directory)


def frozen_cnn():
    import keras
    model = cnn(keras)
    function = tf.function(lambda image: model(image, training=False)).get_concrete_function(
        tf.TensorSpec((None, 8, 8, 3), tf.float32, "image"))
    graph_def = convert_variables_to_constants_v2(function).graph.as_graph_def()
    (HERE / "frozen_cnn.pb").write_bytes(graph_def.SerializeToString(deterministic=True))
    inputs = {"image": random(2, 8, 8, 3)}
    values = values_of_graph(graph_def, {"image:0": inputs["image"]})
    save_values(HERE / "frozen_cnn.npz", inputs, values, {"Identity": values["Identity"]})


# ---- TFLite.

def lite_values(path, inputs, signature=None):
    """Every tensor that the interpreter computes, as it stores it: integers of quantised tensors stay integers."""
    interpreter = tf.lite.Interpreter(str(path), experimental_preserve_all_tensors=True, num_threads=1,
                                      experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_REF)
    if signature:
        runner = interpreter.get_signature_runner(signature)
        outputs = runner(**inputs)
        return {}, outputs
    details = {d["name"]: d for d in interpreter.get_input_details()}
    for name, value in inputs.items():
        interpreter.resize_tensor_input(details[name]["index"], value.shape)
    interpreter.allocate_tensors()
    for name, value in inputs.items():
        interpreter.set_tensor(details[name]["index"], value)
    interpreter.invoke()
    computed = {index for op in interpreter._get_ops_details() for index in op["outputs"]}
    layers = {}
    for detail in interpreter.get_tensor_details():
        if detail["index"] in computed and detail["name"]:
            layers[detail["name"]] = interpreter.get_tensor(detail["index"])
    outputs = {d["name"]: interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()}
    return layers, outputs


def lite_file(name, converter, inputs_of):
    path = HERE / f"{name}.tflite"
    path.write_bytes(converter.convert())
    interpreter = tf.lite.Interpreter(str(path))
    inputs = inputs_of(interpreter.get_input_details())
    layers, outputs = lite_values(path, inputs)
    save_values(HERE / f"{name}.npz", inputs, layers, outputs)


def lite_converter():
    return tf.lite.TFLiteConverter.from_saved_model(str(HERE / "keras3_cnn"), ["serving_default"])


def lite_float():
    lite_file("lite_float", lite_converter(), lambda details: {details[0]["name"]: random(2, 8, 8, 3)})


def lite_f16():
    converter = lite_converter()
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_types = [tf.float16]
    lite_file("lite_f16", converter, lambda details: {details[0]["name"]: random(2, 8, 8, 3)})


def representative():
    for seed in range(8):
        yield [random(1, 8, 8, 3, seed=seed)]


def lite_int8():
    converter = lite_converter()
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = representative
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    lite_file("lite_int8", converter, lambda details: {
        details[0]["name"]: np.random.default_rng(1).integers(-128, 128, (1, 8, 8, 3)).astype(np.int8)})


def lite_int8_float_io():
    converter = lite_converter()
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = representative
    lite_file("lite_int8_float_io", converter, lambda details: {details[0]["name"]: random(1, 8, 8, 3)})


def lite_signatures():
    module = Signatures()
    directory = HERE / "lite_signatures.tmp"
    tf.saved_model.save(module, str(directory), {"parts": module.parts, "lookup": module.lookup})
    path = HERE / "lite_signatures.tflite"
    path.write_bytes(tf.lite.TFLiteConverter.from_saved_model(str(directory), ["parts", "lookup"]).convert())
    shutil.rmtree(directory)
    inputs = {"x": random(3, 6), "y": random(6, seed=2)}
    _, outputs = lite_values(path, inputs, "parts")
    save_values(HERE / "lite_signatures_parts.npz", inputs, {}, outputs)


MODELS = [keras3_cnn, keras3_saved, keras2_cnn, subclassed, signatures, recurrent, variables_v1, frozen_cnn, lite_float,
          lite_f16, lite_int8, lite_int8_float_io, lite_signatures]


def main():
    for make in MODELS:
        name = make.__name__
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        if any(HERE.glob(f"{name}.*")) or (HERE / name).exists():
            if len(sys.argv) == 1:
                continue
            shutil.rmtree(HERE / name, ignore_errors=True)
            for path in HERE.glob(f"{name}*.npz"):
                path.unlink()
        print(name, flush=True)
        make()


if __name__ == "__main__":
    main()
