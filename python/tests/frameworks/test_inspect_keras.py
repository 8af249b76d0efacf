"""sonde.inspect of live Keras models, compared with Keras itself."""
import os
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy
import sonde


class LiveModelTest(unittest.TestCase):
    def setUp(self) -> None:
        keras.utils.set_random_seed(0)
        inputs = keras.Input((8, 8, 3), name="picture")
        x = keras.layers.Conv2D(4, 3, name="conv")(inputs)
        x = keras.layers.BatchNormalization(name="norm")(x)
        x = keras.layers.Flatten(name="flat")(x)
        x = keras.layers.Dropout(0.5, name="drop")(x)
        self.model = keras.Model(inputs, keras.layers.Dense(5, activation="softmax", name="dense")(x))
        self.x = numpy.random.default_rng(0).normal(size=(2, 8, 8, 3)).astype(numpy.float32)

    def reference(self, name):
        return keras.ops.convert_to_numpy(keras.Model(self.model.inputs, self.model.get_layer(name).output)(self.x))

    def test_every_layer_has_the_output_of_an_inspection_model(self):
        outputs = sonde.inspect(self.model, self.x)
        self.assertEqual(list(outputs), ["conv", "norm", "flat", "drop", "dense"])
        for name, array in outputs.items():
            numpy.testing.assert_allclose(array, self.reference(name), rtol=1e-5, atol=1e-6, err_msg=name)
        self.assertIn(keras.__version__, outputs.runtime)

    def test_layers_are_chosen_by_name_pattern_and_keras_own_index(self):
        self.assertEqual(list(sonde.inspect(self.model, self.x, layers="dense")), ["dense"])
        self.assertEqual(list(sonde.inspect(self.model, self.x, layers=["d.*", 1])), ["conv", "drop", "dense"])
        with self.assertRaisesRegex(ValueError, "no layer 'nope'"):
            sonde.inspect(self.model, self.x, layers="nope")

    def test_a_subclassed_model_is_inspected_too(self):
        class Small(keras.Model):
            def __init__(self):
                super().__init__()
                self.first, self.second = keras.layers.Dense(4, name="first"), keras.layers.Dense(2, name="second")

            def call(self, x):
                return self.second(self.first(x))

        model = Small()
        x = self.x[:, 0, 0]
        model(x)
        outputs = sonde.inspect(model, x)
        numpy.testing.assert_allclose(outputs["first"], keras.ops.convert_to_numpy(model.first(x)), rtol=1e-5, atol=1e-6)


class SavedFilesTest(LiveModelTest):
    """The same model in files, in the worker, against Keras and TensorFlow here."""

    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_keras_and_h5_files_give_every_layer(self):
        for extension in ("keras", "h5"):
            path = f"{self.folder}/model.{extension}"
            self.model.save(path)
            outputs = sonde.inspect(path, self.x)
            self.assertEqual(list(outputs)[1:], ["conv", "norm", "flat", "drop", "dense"])
            for name in ("conv", "norm", "flat", "dense"):
                numpy.testing.assert_allclose(outputs[name], self.reference(name), rtol=1e-5, atol=1e-6, err_msg=name)

    def test_a_saved_model_in_tensorflow_gives_tensors_inside_functions(self):
        path = f"{self.folder}/saved"
        self.model.export(path, verbose=False)
        outputs = sonde.inspect(path, self.x, runtime="tensorflow")
        for end, name in (("conv_1/BiasAdd", "conv"), ("dense_1/Softmax", "dense")):
            (found,) = [each for each in outputs if each.endswith(end)]
            numpy.testing.assert_allclose(outputs[found], self.reference(name), rtol=1e-5, atol=1e-6, err_msg=name)

    def test_a_quantised_tflite_file_gives_the_stored_integers(self):
        import tensorflow
        converter = tensorflow.lite.TFLiteConverter.from_keras_model(self.model)
        converter.optimizations = [tensorflow.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([self.x[:1]] for _ in range(4))
        converter.target_spec.supported_ops = [tensorflow.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tensorflow.int8
        path = f"{self.folder}/model.tflite"
        with open(path, "wb") as file:
            file.write(converter.convert())
        x = numpy.clip(self.x[:1] * 20, -128, 127).astype(numpy.int8)
        outputs = sonde.inspect(path, x, runtime="tensorflow")
        reference = tensorflow.lite.Interpreter(path)
        reference.allocate_tensors()
        reference.set_tensor(reference.get_input_details()[0]["index"], x)
        reference.invoke()
        (last,) = reference.get_output_details()
        self.assertEqual(outputs[last["name"]].dtype, numpy.int8)
        difference = outputs[last["name"]].astype(int) - reference.get_tensor(last["index"])
        self.assertLessEqual(abs(difference).max(), 1)  # the delegate of the reference may round differently


if __name__ == "__main__":
    unittest.main()
