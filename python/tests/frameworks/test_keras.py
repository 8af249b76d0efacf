"""sonde.keras.Recorder on the back end that KERAS_BACKEND names: run_frameworks runs this file once for each."""
import csv
import pathlib
import sys
import unittest
import warnings

import keras
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from testing import InFolder, tensorboard_events  # noqa: E402

import sonde  # noqa: E402
import sonde.keras  # noqa: E402

BACKEND = keras.backend.backend()
random = numpy.random.default_rng(1)
X = random.normal(size=(64, 8)).astype("float32")
Y = (X[:, :4].sum(axis=1) > 0).astype("int32")


def sequential(**options):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, "relu", name="dense_1"),
                              keras.layers.Dropout(0.5, name="dropout"), keras.layers.Dense(2, "softmax", name="dense_2")], name="net")
    return compiled(model, **options)


def functional():
    keras.utils.set_random_seed(1)
    inputs = keras.Input((8,))
    shared = keras.layers.Dense(8, "relu", name="dense_1")
    x = keras.layers.Add(name="add")([shared(inputs), inputs])
    return compiled(keras.Model(inputs, keras.layers.Dense(2, "softmax", name="dense_2")(x), name="net"))


class Subclassed(keras.Model):
    def __init__(self, operation=None):
        super().__init__(name="net")
        self.dense_1 = keras.layers.Dense(16, name="dense_1")
        self.dense_2 = keras.layers.Dense(2, "softmax", name="dense_2")
        self._operation = operation or keras.ops.relu

    def call(self, x):
        return self.dense_2(self._operation(self.dense_1(x)))


def subclassed(operation=None):
    keras.utils.set_random_seed(1)
    return compiled(Subclassed(operation))


def backend_relu(x):
    """Takes no symbolic tensors: an operation of the framework itself."""
    if BACKEND == "tensorflow":
        import tensorflow as tf
        return tf.raw_ops.Relu(features=x)
    if BACKEND == "jax":
        import jax
        return jax.lax.max(x, jax.numpy.zeros_like(x))
    import torch
    return torch.clamp(x, min=0)


def compiled(model, **options):
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"], **options)
    return model


class Recording(InFolder):
    def fit(self, model, *, epochs=2, batch_size=16, validation_data=None, x=X, y=Y, **options):
        self.callback = sonde.keras.Recorder(self.log, console=False, **options)
        self.history = model.fit(x, y, epochs=epochs, batch_size=batch_size, verbose=0, validation_data=validation_data,
                                 callbacks=[self.callback])
        self.callback.close()
        return sonde.load(self.log, cache=False)["."]

    def steps(self, run, tag):
        return run.statistics(tag).steps.tolist()

    def tags(self, run):
        return {probe["tag"] for probe in run.probes}


class Metrics(Recording):
    def test_of_every_batch_and_every_epoch(self):
        run = self.fit(sequential(), validation_data=(X, Y))
        self.assertEqual(run.scalars("loss").steps.tolist(), list(range(8)))
        self.assertEqual(run.scalars("accuracy").steps.tolist(), list(range(8)))
        for name in ("loss", "val_loss", "accuracy", "val_accuracy"):
            self.assertEqual(run.scalars(f"epoch/{name}").steps.tolist(), [3, 7])
            numpy.testing.assert_allclose(run.scalars(f"epoch/{name}").values, self.history.history[name], rtol=1e-5)

    def test_a_second_fit_continues_the_numbers(self):
        model = sequential()
        self.fit(model, epochs=1)
        run = self.fit(model, epochs=1)
        self.assertEqual(run.scalars("loss").steps.tolist(), list(range(8)))

    def test_the_last_batch_may_be_smaller(self):
        run = self.fit(sequential(), epochs=2, batch_size=24, every=1)
        self.assertEqual(run.scalars("loss").steps.tolist(), list(range(6)))
        self.assertEqual(run.statistics("activation/dense_1")["count"].tolist(), [24 * 16, 24 * 16, 16 * 16] * 2)

    def test_of_evaluate_by_itself(self):
        model = sequential()
        callback = sonde.keras.Recorder(self.log)
        result = model.evaluate(X, Y, verbose=0, callbacks=[callback])
        callback.close()
        self.assertAlmostEqual(sonde.load(self.log, cache=False)["."].scalars("evaluate/loss").values[0], result[0], 5)


class State(Recording):
    def test_weights_and_gradients_every_few_batches(self):
        run = self.fit(sequential(), every=3)
        variables = ["dense_1/kernel", "dense_1/bias", "dense_2/kernel", "dense_2/bias"]
        for name in variables:
            self.assertEqual(self.steps(run, f"weight/{name}"), [0, 3, 6], name)
            self.assertEqual(self.steps(run, f"gradient/{name}"), [0, 3, 6], name)

    def test_a_gradient_is_the_change_of_the_weight(self):
        """With SGD: weight(n) = weight(n - 1) - rate * gradient(n)."""
        model = sequential()
        run = self.fit(model, every=1, policy={"watch": [{"tensors": "dense_1/kernel", "record": ["whole"]}]}, epochs=1)
        rate = float(keras.ops.convert_to_numpy(model.optimizer.learning_rate))
        tensors = [sonde.open_tensors(path) for path in sorted(pathlib.Path(run.directory, "tensors").iterdir())]
        self.assertEqual(len(tensors), 4)
        for before, after in zip(tensors, tensors[1:]):
            change = numpy.asarray(after["weight/dense_1/kernel"]) - numpy.asarray(before["weight/dense_1/kernel"])
            numpy.testing.assert_allclose(change, -rate * numpy.asarray(after["gradient/dense_1/kernel"]), rtol=1e-3, atol=1e-7)

    def test_the_model_learns_the_same_as_without_us(self):
        alone = sequential()
        alone.fit(X, Y, epochs=2, batch_size=16, verbose=0)
        watched = sequential()
        self.fit(watched, every=1, validation_sample=(X, Y, 4), images=True)
        for one, other in zip(alone.get_weights(), watched.get_weights(), strict=True):
            numpy.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)

    def test_afterwards_nothing_is_wrapped(self):
        call = keras.layers.Layer.__call__
        model = sequential()
        self.fit(model, every=1)
        self.assertIs(keras.layers.Layer.__call__, call)
        self.assertNotIn("apply", vars(model.optimizer))
        model.fit(X, Y, verbose=0)

    def test_a_model_that_was_trained_before_is_seen_too(self):
        model = sequential()
        model.fit(X, Y, verbose=0, batch_size=16)
        run = self.fit(model, every=1, epochs=1)
        self.assertEqual(self.steps(run, "gradient/dense_1/kernel"), [4, 5, 6, 7])
        self.assertEqual(self.steps(run, "activation/dense_1"), [4, 5, 6, 7])

    def test_what_is_switched_off_is_not_recorded(self):
        run = self.fit(sequential(), every=1, weights=False, gradients=False, activations=False)
        self.assertEqual(self.tags(run), set())

    def test_a_policy_decides(self):
        policy = {"watch": [{"tensors": "dense_2.*", "every": 4, "kind": "gradient"}]}
        run = self.fit(sequential(), policy=policy)
        self.assertEqual(self.tags(run), {"gradient/dense_2/kernel", "gradient/dense_2/bias"})
        self.assertEqual(self.steps(run, "gradient/dense_2/kernel"), [0, 4])


class TrainingOutputs(Recording):
    def test_without_a_sample_they_are_those_of_the_training_batches(self):
        run = self.fit(sequential(), every=2, layers="dense_.*")
        self.assertEqual(self.callback.method, "training step")
        self.assertEqual({tag for tag in self.tags(run) if tag.startswith("activation/")}, {"activation/dense_1", "activation/dense_2"})
        table = run.statistics("activation/dense_2")
        self.assertEqual(table.steps.tolist(), [0, 2, 4, 6])
        self.assertEqual(table["count"].tolist(), [32] * 4)
        numpy.testing.assert_allclose(table["mean"], 0.5, rtol=1e-5)  # of a softmax over two classes
        first = run.statistics("activation/dense_1")
        self.assertTrue((first["min"] == 0).all() and (first["zeros"] > 0).all() and (first["max"] > 0).all())

    def test_dropout_is_seen_at_work(self):
        run = self.fit(sequential(), every=1, epochs=1)
        self.assertTrue((run.statistics("activation/dropout")["zeros"] > run.statistics("activation/dense_1")["zeros"]).all())

    def test_validation_does_not_mix_in(self):
        run = self.fit(sequential(), every=1, validation_data=(X[:10], Y[:10]))
        self.assertEqual(set(run.statistics("activation/dense_1")["count"].tolist()), {16 * 16})
        self.assertEqual(self.steps(run, "activation/dense_1"), list(range(8)))

    def test_a_functional_and_a_subclassed_model(self):
        for name, model in (("functional", functional()), ("subclassed", subclassed(backend_relu))):
            self.log = self.folder / name
            run = self.fit(model, every=1, epochs=1)
            self.assertEqual(self.steps(run, "activation/dense_1"), [0, 1, 2, 3], name)
            self.assertEqual(self.steps(run, "gradient/dense_1/kernel"), [0, 1, 2, 3], name)

    def test_nan_is_counted(self):
        x = X.copy()
        x[3, 2] = numpy.nan
        # A layer without ReLU: that of XLA makes 0 of NaN.
        run = self.fit(subclassed(), every=1, epochs=1, batch_size=64, x=x)
        self.assertEqual(run.statistics("activation/dense_1")["nan"].tolist(), [16])

    def test_eagerly(self):
        run = self.fit(sequential(run_eagerly=True), every=1, epochs=1)
        self.assertEqual(self.steps(run, "activation/dense_1"), [0, 1, 2, 3])
        self.assertEqual(self.steps(run, "gradient/dense_1/kernel"), [0, 1, 2, 3])

    def test_jit_compile(self):
        if BACKEND == "torch":
            model = sequential()
            model.jit_compile = True
            with self.assertRaisesRegex(ValueError, r"compile\(jit_compile=False\)"):
                self.fit(model)
            return
        for compile_it in (True, False):
            self.log = self.folder / str(compile_it)
            run = self.fit(sequential(jit_compile=compile_it), every=1, epochs=1)
            self.assertEqual(self.steps(run, "activation/dense_1"), [0, 1, 2, 3])
            self.assertEqual(self.steps(run, "gradient/dense_1/kernel"), [0, 1, 2, 3])

    def test_mixed_precision(self):
        keras.config.set_dtype_policy("mixed_bfloat16")
        self.addCleanup(keras.config.set_dtype_policy, "float32")
        run = self.fit(sequential(), every=1, epochs=1)
        self.assertEqual({probe["tag"]: probe["dtype"] for probe in run.probes}["activation/dense_1"], "bf16")


class Sample(Recording):
    def outputs(self, model, layers=("dense_1", "dense_2")):
        """What the layers of a trained model compute for the first rows, straight forward."""
        first = keras.ops.relu(keras.ops.matmul(X[:5], model.layers[0].kernel) + model.layers[0].bias)
        return keras.ops.convert_to_numpy(first)

    def check(self, model, method, **options):
        run = self.fit(model, every=1, epochs=1, batch_size=64, sample=X[:5], weights=False, gradients=False, **options)
        self.assertEqual(self.callback.method, method)
        table = run.statistics("activation/sample/dense_1")
        self.assertEqual((table.steps.tolist(), table["count"].tolist()), ([0], [5 * model.get_layer("dense_1").units]))
        return run

    def test_of_a_sequential_model(self):
        model = sequential()
        run = self.check(model, "inspection model")
        self.assertAlmostEqual(run.statistics("activation/sample/dense_1")["mean"][0], self.outputs(model).mean(), 5)
        self.assertEqual(run.statistics("activation/sample/dropout")["mean"][0], run.statistics("activation/sample/dense_1")["mean"][0],
                         "in inference mode")

    def test_of_a_functional_model(self):
        run = self.check(functional(), "inspection model")
        self.assertIn("activation/sample/add", self.tags(run))

    def test_of_a_subclassed_model_with_operations_of_keras(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error", sonde.RecordingWarning)
            self.check(subclassed(), "inspection model")

    def test_of_a_subclassed_model_that_cannot_be_traced_again(self):
        with self.assertWarnsRegex(sonde.RecordingWarning, "by wrapping the calls of the layers, because the model cannot be traced"):
            self.check(subclassed(backend_relu), "wrapped calls")

    def test_of_an_unbuilt_model(self):
        model = compiled(keras.Sequential([keras.layers.Dense(4, name="dense_1"), keras.layers.Dense(2, "softmax")]))
        self.check(model, "inspection model")

    def test_images_of_every_layer_and_epoch(self):
        keras.utils.set_random_seed(1)
        model = compiled(keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Conv2D(3, 3, name="conv"), keras.layers.Flatten(),
                                           keras.layers.Dense(2, "softmax", name="dense_2")]))
        pictures = random.normal(size=(64, 8, 8, 1)).astype("float32")
        self.fit(model, x=pictures, sample=pictures[:2], images=True)
        found = tensorboard_events(self.log)
        for name in ("conv", "flatten", "dense_2"):
            tag = next(tag for plugin, tag in found if plugin == "images" and name in tag)
            self.assertEqual([step for step, _, _ in found["images", tag]], [3, 7])

    def test_validation_outputs_as_a_table(self):
        run = self.fit(sequential(), validation_sample=(X, Y, 5))
        [table] = pathlib.Path(run.directory, "tables").glob("validation*.csv")
        rows = list(csv.DictReader(table.read_text().splitlines()))
        self.assertEqual(len(rows), 10)
        self.assertEqual([row["epoch"] for row in rows], ["0"] * 5 + ["1"] * 5)
        self.assertEqual([int(row["label"]) for row in rows[:5]], Y[:5].tolist())
        predictions = [[float(value) for key, value in row.items() if key.startswith("prediction")] for row in rows[5:]]
        expected = keras.ops.convert_to_numpy(self.callback.model(X[:5], training=False))
        numpy.testing.assert_allclose(predictions, expected, rtol=1e-4)


class Inspection(InFolder):
    def test_by_name_index_expression_and_function(self):
        model = sequential()
        for layers, shapes in (("dense_1", [(3, 16)]), (0, [(3, 16)]), (-1, [(3, 2)]), (["dense_1", 2], [(3, 16), (3, 2)]),
                               ("dense_.*", [(3, 16), (3, 2)]), (lambda layer: layer.name == "dropout", [(3, 16)]),
                               (None, [(3, 16), (3, 16), (3, 2)]), (model.layers[2], [(3, 2)])):
            outputs = sonde.keras.inspection_model(model, layers)(X[:3])
            outputs = outputs if isinstance(outputs, list) else [outputs]
            self.assertEqual([tuple(output.shape) for output in outputs], shapes, layers)

    def test_has_the_weights_of_the_model(self):
        model = sequential()
        inspect = sonde.keras.inspection_model(model, -1)
        model.fit(X, Y, verbose=0)
        numpy.testing.assert_allclose(keras.ops.convert_to_numpy(inspect(X[:3])), keras.ops.convert_to_numpy(model(X[:3])), rtol=1e-5)

    def test_of_a_subclassed_model(self):
        model = subclassed()
        model(X[:1])
        outputs = sonde.keras.inspection_model(model, sample=X[:3])(X[:3])
        self.assertEqual([tuple(output.shape) for output in outputs], [(3, 16), (3, 2)])
        self.assertRaisesRegex(ValueError, "^sample must be given", sonde.keras.inspection_model, model)

    def test_unknown_layers_are_named(self):
        model = sequential()
        for wrong, error in (("conv", ValueError), (7, ValueError), (["dense_1", "conv"], ValueError), (1.5, TypeError),
                             ("dense_[", ValueError)):
            with self.assertRaisesRegex(error, "^layers"):
                sonde.keras.inspection_model(model, wrong)

    def test_wrong_arguments_of_the_callback_raise(self):
        for options, error, message in (
                ({"every": 0}, ValueError, "^every must be a number of steps, at least 1"), ({"every": "2"}, TypeError, "^every"),
                ({"images": True}, ValueError, "^images needs a sample"), ({"images": "yes"}, TypeError, "^images must be True or False"),
                ({"weights": 1}, TypeError, "^weights"), ({"gradients": "all"}, TypeError, "^gradients"),
                ({"activations": None}, TypeError, "^activations"), ({"policy": 5}, TypeError, "^policy must be"),
                ({"memory": "much"}, ValueError, "^memory"), ({"colour": 1}, TypeError, "colour"),
                ({"validation_sample": (X, Y)}, ValueError, "^validation_sample"),
                ({"validation_sample": (X, Y, 0)}, ValueError, "^validation_sample"),
                ({"validation_sample": (1.0, 2.0, 1)}, ValueError, "^validation_sample must hold arrays with rows"),
                ({"validation_sample": (X[:0], Y[:0], 1)}, ValueError, "^validation_sample must hold arrays with rows"),
                ({"policy": "[[watch]"}, ValueError, "^policy:1"),
                ({"memry": "1MiB"}, TypeError, "^a sonde.Recorder has no option 'memry'; it has memory, scalars")):
            with self.subTest(options), self.assertRaisesRegex(error, message):
                sonde.keras.Recorder(self.log, **options)
        self.assertRaisesRegex(TypeError, "^log_dir must be a str or a path, not int", sonde.keras.Recorder, 3)


if __name__ == "__main__":
    unittest.main()
