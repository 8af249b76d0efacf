"""sonde.tap and sonde.tap_grad with TensorFlow, eager and inside tf.function."""
import pathlib
import sys
import unittest

import numpy
import tensorflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from taps import Taps  # noqa: E402

import sonde  # noqa: E402
from sonde import tf_summary  # noqa: E402


class TensorFlow(Taps):
    def test_eager(self):
        x = tf.constant([1.0, 2.0])
        with self.rec.step(1):
            self.assertIs(sonde.tap("x", x), x)
            sonde.tap("variable", tf.Variable([4.0]))
        self.assertEqual((self.found(), self.found("activation/variable")), ([(1, 1.5)], [(1, 4)]))

    def test_inside_of_a_function_with_the_step_that_is_open(self):
        @tf.function
        def work(x):
            sonde.tap("unused", x + 1)
            return sonde.tap("x", x) * 2

        for n in range(3):
            with self.rec.step(n):
                self.assertEqual(work(tf.constant([float(n)])).numpy().tolist(), [2 * n])
        self.assertEqual(self.found(), [(0, 0), (1, 1), (2, 2)])
        self.assertEqual(self.found("activation/unused"), [(0, 1), (1, 2), (2, 3)])
        self.assertEqual(work.experimental_get_tracing_count(), 1)

    def test_steps_and_switches_that_are_tensors(self):
        @tf.function
        def work(x, step, enabled):
            return sonde.tap("x", x, step, enabled=enabled)

        for n in range(4):
            work(tf.constant([1.0]), tf.constant(n), tf.constant(n % 2 == 0))
        self.assertEqual([step for step, _ in self.found()], [0, 2])
        self.assertEqual(work.experimental_get_tracing_count(), 1)

    def test_the_step_of_tf_summary(self):
        variable = tf.Variable(5, dtype=tf.int64)
        tf.summary.experimental.set_step(variable)
        self.addCleanup(tf.summary.experimental.set_step, None)
        work = tf.function(lambda x: sonde.tap("x", x))
        work(tf.constant([1.0]))
        variable.assign_add(1)
        work(tf.constant([2.0]))
        sonde.tap("eager", tf.constant([3.0]))
        self.assertEqual((self.found(), self.found("activation/eager")), ([(5, 1), (6, 2)], [(6, 3)]))

    def test_the_default_writer_of_tf_summary(self):
        writer = tf_summary.create_file_writer(str(self.folder / "writer"))
        later = sonde.Recorder(self.folder / "later")
        with writer.as_default(step=1):
            sonde.tap("x", tf.constant([1.0]))
        writer.close()
        later.close()
        self.assertEqual(self.found(directory=self.folder / "writer"), [(1, 1)])

    def test_in_loops_and_branches(self):
        @tf.function
        def work(x):
            for n in tf.range(3):
                x = sonde.tap("x", x + 1)
                if n == 1:
                    x = sonde.tap("once", x)
            return x

        with self.rec.step(1):
            work(tf.constant([0.0]))
        self.assertEqual([self.found(f"activation/x{which}") for which in ("", "#1", "#2")], [[(1, 1)], [(1, 2)], [(1, 3)]])
        self.assertEqual(self.found("activation/once"), [(1, 2)])

    def test_gradients(self):
        def work(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(sonde.tap_grad("y", sonde.tap("y", x * 2)) ** 2)
            return tape.gradient(y, x)

        for n, function in enumerate((work, tf.function(work))):
            with self.rec.step(n):
                numpy.testing.assert_allclose(function(tf.range(4.0)), [0, 8, 16, 24])
        self.assertEqual(self.found("gradient/y"), [(0, 6), (1, 6)])
        self.assertEqual(self.found("activation/y"), [(0, 3), (1, 3)])

    def test_in_a_session(self):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            y = sonde.tap("x", tf.constant([1.0, 3.0]), 4) * 2
            self.assertEqual(session.run(y).tolist(), [2, 6])
        self.assertEqual(self.found(), [(4, 2)])

    def test_what_xla_compiles_is_refused_with_a_sentence(self):
        def gradient(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = sonde.tap_grad("y", x * 2)
            return tape.gradient(y, x)

        for name, work in (("tap", lambda x: sonde.tap("x", x)), ("tap_grad", gradient)):
            with self.assertRaisesRegex(NotImplementedError, fr"sonde\.{name}\('.'\) is inside a function that XLA compiles"):
                tf.function(work, jit_compile=True)(tf.constant([1.0]))
        off = tf.function(lambda x: sonde.tap("off", x, enabled=False) * 2, jit_compile=True)
        self.assertEqual(off(tf.constant([1.0])).numpy().tolist(), [2])

    def test_a_model_of_keras_that_xla_compiles_is_refused_with_what_to_do(self):
        import keras

        class Tapped(keras.layers.Layer):
            def call(self, x):
                return sonde.tap("x", x * 2)

        model = keras.Sequential([keras.Input((2,)), Tapped(), keras.layers.Dense(1)])
        model.compile("sgd", "mse", jit_compile=True)
        with self.assertRaisesRegex(NotImplementedError, r"model\.compile\(\.\.\., jit_compile=False\)"):
            model.fit(numpy.ones((4, 2)), numpy.ones((4, 1)), verbose=0)
        model.compile("sgd", "mse", jit_compile=False)
        with self.rec.step(1):
            model.fit(numpy.ones((4, 2)), numpy.ones((4, 1)), verbose=0)
        self.assertEqual(self.found(), [(1, 2)])

    def test_a_symbolic_tensor_of_keras_is_refused(self):
        import keras
        self.assertRaisesRegex(TypeError, "in the `call` of a layer", sonde.tap, "x", keras.Input((3,)))

    def test_inside_of_a_layer_of_keras(self):
        import keras

        class Tapped(keras.layers.Layer):
            def call(self, x):
                return sonde.tap("x", x * 2)

            def compute_output_shape(self, shape):
                return shape

        model = keras.Sequential([keras.Input((2,)), Tapped()])
        with self.rec.step(1):
            model.predict(numpy.ones((4, 2)), verbose=0)
        self.assertEqual(self.found(), [(1, 2)])


if __name__ == "__main__":
    unittest.main()
