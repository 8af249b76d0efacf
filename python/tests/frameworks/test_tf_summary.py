"""The same script with tf.summary and with sonde.tf_summary: TensorBoard reads the same from both, function by function."""
import gc
import io
import pathlib
import sys
import time
import unittest
import wave

import numpy
import tensorflow as tf
from tensorboard.backend.event_processing import plugin_event_accumulator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from testing import InFolder, tensorboard_events  # noqa: E402

import sonde  # noqa: E402
from sonde import tf_summary  # noqa: E402

random = numpy.random.default_rng(1)
VALUES = random.normal(size=1000).astype(numpy.float32)
PICTURES = {channels: random.random((5, 6, 7, channels)).astype(numpy.float32) for channels in (1, 2, 3, 4)}
SOUND = random.uniform(-1, 1, (4, 100, 2)).astype(numpy.float32)


def scalars(summary):
    for step in range(3):
        summary.scalar("python", 0.5 + step, step=step)
    summary.scalar("numpy", numpy.float64(0.25), step=numpy.int32(4))
    summary.scalar("tensor", tf.constant(7), step=tf.constant(5, tf.int64))
    summary.scalar("variable", tf.Variable(2.0), tf.Variable(6, dtype=tf.int64))
    summary.scalar("half", tf.constant(1.5, tf.bfloat16), step=1)
    summary.scalar("truth", True, step=1)
    summary.scalar("described", 1.0, step=1, description="a *number*")
    summary.scalar("described", 2.0, step=2, description="a *number*")


def names(summary):
    summary.scalar("loss", 1, step=0)
    with tf.name_scope("outer"):
        summary.scalar("loss", 2, step=0)
        with tf.name_scope("inner"):
            summary.scalar("loss / with spaces", 3, step=0)


def histograms(summary):
    summary.histogram("values", VALUES, step=1)
    summary.histogram("values", tf.constant(VALUES * 2), step=2)
    summary.histogram("ten", VALUES, step=1, buckets=10)
    summary.histogram("described", VALUES, step=1, description="of values")
    summary.histogram("integers", tf.range(100), step=1, buckets=7)
    summary.histogram("equal", tf.ones([20]), step=1, buckets=4)
    summary.histogram("empty", tf.zeros([0]), step=1, buckets=4)
    summary.histogram("none", VALUES, step=1, buckets=0)


def images(summary):
    for channels, pictures in PICTURES.items():
        summary.image(f"channels{channels}", pictures, step=1)
    summary.image("all", PICTURES[3], step=1, max_outputs=10, description="all of them")
    summary.image("bytes", (PICTURES[3] * 255).astype(numpy.uint8), step=2, max_outputs=1)
    summary.image("bright", PICTURES[1] * 3, step=2)


def sounds(summary):
    summary.audio("clip", SOUND, 8000, step=1)
    summary.audio("one", SOUND, 44100, step=2, max_outputs=1, encoding="wav", description="one of them")


def texts(summary):
    summary.text("word", "hello *wörld*", step=1)
    summary.text("table", [["a", "b"], ["c", "d"]], step=1, description="a table")
    summary.text("tensor", tf.constant(["x", "y"]), step=2)


def raw(summary):
    metadata = tf.compat.v1.Summary.Value().metadata
    metadata.plugin_data.plugin_name = "my_plugin"
    metadata.plugin_data.content = b"content"
    summary.write("tensor", tf.ones([2, 3]), step=1, metadata=metadata)
    summary.write("bytes", tf.ones([2, 3]), step=1, metadata=metadata.SerializeToString())
    summary.write("called", lambda: tf.constant([1, 2]), step=1, metadata=metadata)
    message = tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(tag="old", simple_value=0.5)])
    summary.experimental.write_raw_pb(message.SerializeToString(), step=3)


def steps(summary):
    summary.experimental.set_step(3)
    summary.scalar("default", summary.experimental.get_step(), step=None)
    variable = tf.Variable(0, dtype=tf.int64)
    summary.experimental.set_step(variable)

    @tf.function
    def work():
        summary.scalar("variable", tf.cast(variable * 2, tf.float32))

    for _ in range(3):
        work()
        variable.assign_add(1)
    summary.experimental.set_step(None)


def conditions(summary):
    with summary.record_if(False):
        summary.scalar("never", 1, step=1)
    with summary.record_if(True):
        summary.scalar("always", 1, step=1)
    with summary.record_if(tf.constant(False)):
        summary.scalar("tensor", 1, step=1)
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def work():
        summary.scalar("callable", 1, step=step)
        summary.histogram("callable_values", tf.range(4), step=step)
        with summary.record_if(step > 2):
            summary.scalar("inside", 1, step=step)
        step.assign_add(1)

    with summary.record_if(lambda: tf.math.equal(step % 2, 0)):
        for _ in range(5):
            work()
            assert bool(summary.should_record_summaries()) == (int(step) % 2 == 0)


def functions(summary):
    """Everything inside tf.function, in a loop that autograph turns into a graph."""
    @tf.function
    def work(values, pictures, sound, count):
        for step in tf.range(count):
            with tf.name_scope("scope"):
                summary.scalar("loss", tf.reduce_mean(values), step=tf.cast(step, tf.int64))
            if step % 2 == 0:
                summary.histogram("values", values * tf.cast(step + 1, tf.float32), step=tf.cast(step, tf.int64), buckets=5)
            summary.histogram("default", values, step=tf.cast(step, tf.int64))
        summary.image("picture", pictures, step=7, max_outputs=count)
        summary.audio("sound", sound, 8000, step=7)
        summary.text("text", tf.strings.as_string(count), step=7)
        return summary.scalar("returned", 1.0, step=7)

    result = work(tf.constant(VALUES), tf.constant(PICTURES[3]), tf.constant(SOUND), tf.constant(4))
    assert bool(result)


def writers(summary, other=None):
    """A writer that is the default inside of a function, with a step of its own."""
    @tf.function
    def work(value):
        with other.as_default(step=11):
            summary.scalar("inner", value)
        summary.scalar("outer", value, step=12)

    work(1.0)
    work(2.0)


SCRIPTS = (scalars, names, histograms, images, sounds, texts, raw, steps, conditions, functions, writers)


def pixels(file):
    return tf.image.decode_png(file).numpy()


def sound_of(file):
    with wave.open(io.BytesIO(file)) as clip:
        return clip.getframerate(), clip.getnchannels(), clip.readframes(clip.getnframes())


def metadata_of(directory):
    """{tag: (plugin, content, description)}"""
    reader = plugin_event_accumulator.EventAccumulator(str(directory))
    reader.Reload()
    found = {}
    for tag in reader.Tags()["tensors"]:
        metadata = reader.SummaryMetadata(tag)
        found[tag] = (metadata.plugin_data.plugin_name, metadata.plugin_data.content, metadata.summary_description)
    return found


class BothWriters(InFolder):
    def run_both(self, script):
        for name, summary in (("tensorflow", tf.summary), ("sonde", tf_summary)):
            writer = summary.create_file_writer(str(self.folder / name))
            with writer.as_default():
                if script is writers:
                    other = summary.create_file_writer(str(self.folder / name / "other"))
                    script(summary, other)
                    other.close()
                else:
                    script(summary)
            writer.close()

    def pairs(self, script, run="."):
        """(tag, our value, their value) of everything that TensorBoard reads."""
        self.run_both(script)
        theirs, ours = (tensorboard_events(self.folder / name / run) for name in ("tensorflow", "sonde"))
        self.assertEqual(set(ours), set(theirs))
        self.assertGreater(len(ours), 0)
        self.assertEqual(metadata_of(self.folder / "sonde" / run), metadata_of(self.folder / "tensorflow" / run))
        for (plugin, tag), points in theirs.items():
            self.assertEqual([step for step, _, _ in ours[plugin, tag]], [step for step, _, _ in points], tag)
            for (_, _, our), (_, _, their) in zip(ours[plugin, tag], points, strict=True):
                yield plugin, tag, our, their

    def assert_same(self, script, run="."):
        for plugin, tag, our, their in self.pairs(script, run):
            with self.subTest(tag=tag):
                self.compare(plugin, our, their)

    def compare(self, plugin, our, their):
        if plugin == "histograms":
            if len(our) == 1 and len(their) > 1:  # values that are all equal: one bucket of ours, empty ones in theirs
                their = their[their[:, 2] > 0]
            self.assertEqual(our.shape, their.shape)
            numpy.testing.assert_allclose(our[:, :2], their[:, :2], rtol=1e-6, atol=1e-6)
            # A bucket may have a value more or less: fine bins on an edge are split in proportion.
            numpy.testing.assert_allclose(our[:, 2], their[:, 2], atol=0.03 * max(1, their[:, 2].sum()))
            self.assertEqual(our[:, 2].sum(), their[:, 2].sum())
        elif plugin == "images":
            self.assertEqual(our[:2].tolist(), their[:2].tolist())
            for one, other in zip(our[2:], their[2:], strict=True):
                numpy.testing.assert_array_equal(pixels(one), pixels(other))
        elif plugin == "audio":
            self.assertEqual(our.shape, their.shape)
            for one, other in zip(our.ravel(), their.ravel(), strict=True):  # TensorBoard may leave out the labels
                self.assertEqual(sound_of(one) if one else one, sound_of(other) if other else other)
        else:
            self.assertEqual(our.shape, their.shape)
            numpy.testing.assert_array_equal(our, their)

    def test_scalar(self):
        self.assert_same(scalars)

    def test_tags_carry_the_name_scopes(self):
        self.assert_same(names)

    def test_histogram(self):
        self.assert_same(histograms)

    def test_image(self):
        self.assert_same(images)

    def test_audio(self):
        self.assert_same(sounds)

    def test_text(self):
        self.assert_same(texts)

    def test_write(self):
        self.assert_same(raw)

    def test_default_step(self):
        self.assert_same(steps)

    def test_record_if(self):
        self.assert_same(conditions)

    def test_inside_of_functions_and_loops_of_autograph(self):
        self.assert_same(functions)

    def test_a_writer_inside_of_a_function(self):
        self.assert_same(writers)
        self.assert_same(writers, "other")


class Graphs(InFolder):
    def graphs_of(self, directory):
        reader = plugin_event_accumulator.EventAccumulator(str(directory))
        reader.Reload()
        return reader

    def test_graph(self):
        @tf.function
        def work(x):
            return tf.nn.relu(x) * 2

        graph = work.get_concrete_function(tf.constant(1.0)).graph
        for name, summary in (("tensorflow", tf.summary), ("sonde", tf_summary)):
            writer = summary.create_file_writer(str(self.folder / name))
            with writer.as_default():
                self.assertTrue(summary.graph(graph))
                self.assertTrue(summary.graph(graph.as_graph_def()))
                self.assertRaises(ValueError, summary.graph, "no graph")
        theirs, ours = (self.graphs_of(self.folder / name).Graph() for name in ("tensorflow", "sonde"))
        self.assertEqual(ours, theirs)
        self.assertIn("Relu", str(ours))

    def test_trace_export(self):
        for name, summary in (("tensorflow", tf.summary), ("sonde", tf_summary)):
            @tf.function
            def work(x):
                return tf.nn.relu(x) * 2

            writer = summary.create_file_writer(str(self.folder / name))
            with writer.as_default():
                summary.trace_on(graph=True)
                work(tf.constant(1.0))
                summary.trace_export("my_trace", step=4)
            writer.close()
        theirs, ours = (self.graphs_of(self.folder / name) for name in ("tensorflow", "sonde"))
        self.assertEqual(ours.Tags(), theirs.Tags())
        ops = []
        for reader in (ours, theirs):
            [event] = reader.Tensors("my_trace")
            self.assertEqual(event.step, 4)
            metadata = tf.compat.v1.RunMetadata.FromString(event.tensor_proto.string_val[0])
            ops.append(sorted(node.op for one in metadata.function_graphs for node in one.pre_optimization_graph.node))
        self.assertEqual(*ops)
        self.assertIn("Relu", ops[0])

    def test_in_a_graph_of_tensorflow_1(self):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            step = tf.compat.v1.get_variable("step", [], tf.int64, tf.compat.v1.zeros_initializer())
            writer = tf_summary.create_file_writer(str(self.log))
            with writer.as_default(), tf_summary.record_if(tf.equal(step % 2, 0)):
                tf_summary.scalar("loss", 0.5, step=step)
            session.run([writer.init(), tf.compat.v1.global_variables_initializer()])
            for _ in range(4):
                session.run(tf.compat.v1.summary.all_v2_summary_ops())
                session.run(step.assign_add(1))
            session.run(writer.flush())
            session.run(writer.close())
        self.assertEqual([step for step, _, _ in tensorboard_events(self.log)["scalars", "loss"]], [0, 2])


class Behaviour(InFolder):
    def test_without_a_writer_nothing_is_recorded(self):
        for summary in (tf.summary, tf_summary):
            self.assertFalse(summary.scalar("x", 1, step=1))
            with summary.create_noop_writer().as_default():
                self.assertFalse(tf_summary.scalar("x", 1, step=1))

    def test_without_a_step_it_raises(self):
        with tf_summary.create_file_writer(str(self.log)).as_default():
            for summary in (tf_summary.scalar, tf_summary.histogram):
                self.assertRaisesRegex(ValueError, "No step set", summary, "x", 1.0)

    def test_wrong_arguments_raise(self):
        with tf_summary.create_file_writer(str(self.log)).as_default():
            self.assertRaisesRegex(ValueError, "^data must have 0 dimensions, not 1", tf_summary.scalar, "x", [1.0, 2.0], step=1)
            self.assertRaises((TypeError, ValueError), tf_summary.scalar, "x", "text", step=1)
            self.assertRaisesRegex(TypeError, "^step must be an integer", tf_summary.scalar, "x", 1.0, step=1.5)
            self.assertRaises(ValueError, tf_summary.scalar, "x", 1.0, step=[1, 2])
            self.assertRaises(ValueError, tf_summary.image, "x", tf.zeros([3, 3]), step=1)
            self.assertRaises(ValueError, tf_summary.audio, "x", tf.zeros([3, 3]), 100, step=1)
            self.assertRaises(TypeError, tf_summary.text, "x", 1.0, step=1)
        self.assertRaises(ValueError, tf_summary.create_file_writer, None)

    def test_a_closed_writer_raises(self):
        writer = tf_summary.create_file_writer(str(self.log))
        writer.close()
        writer.close()
        self.assertRaises(RuntimeError, writer.as_default)

    def test_with_the_writer_of_tensorflow_it_says_what_to_do(self):
        with tf.summary.create_file_writer(str(self.log)).as_default():
            self.assertRaisesRegex(ValueError, "sonde.tf_summary.create_file_writer", tf_summary.scalar, "x", 1.0, step=1)

    def test_what_a_library_records_with_tf_summary_lies_beside_it(self):
        writer = tf_summary.create_file_writer(str(self.log))
        with writer.as_default():
            tf_summary.scalar("ours", 1.0, step=1)
            tf.summary.scalar("theirs", 2.0, step=1)
        writer.close()
        run = sonde.load(self.log, cache=False)["."]
        self.assertEqual({"ours": 1.0, "theirs": 2.0}, {name: run.scalars(name).values[0] for name in ("ours", "theirs")})

    def test_values_that_are_not_finite_are_left_out_of_histograms(self):
        with tf_summary.create_file_writer(str(self.log)).as_default():
            tf_summary.histogram("x", [1.0, 2.0, float("nan"), float("inf")], step=1)
            tf_summary.histogram("y", [1.0, 2.0, float("nan"), float("inf")], step=1, buckets=3)
        for tag in "xy":
            [(_, _, buckets)] = tensorboard_events(self.log)["histograms", tag]
            self.assertEqual((buckets[0, 0], buckets[-1, 1], buckets[:, 2].sum()), (1.0, 2.0, 2.0))

    def test_gradients_pass_by(self):
        @tf.function
        def work(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
                tf_summary.histogram("y", y, step=1)
                tf_summary.scalar("sum", tf.reduce_sum(y), step=1)
            return tape.gradient(y, x)

        with tf_summary.create_file_writer(str(self.log)).as_default():
            self.assertEqual(work(tf.constant([1.0, 2.0])).numpy().tolist(), [2, 4])
        self.assertEqual(tensorboard_events(self.log)["scalars", "sum"][0][2], 5)


class Numbers(InFolder):
    """Numbers of a tf.function go through a queue of TensorFlow's, which is emptied behind its back."""

    def setUp(self):
        super().setUp()
        self.step = tf.Variable(0, dtype=tf.int64)

    def training(self, writer):
        step = self.step

        @tf.function
        def work():
            step.assign_add(1)
            with writer.as_default():
                tf_summary.scalar("loss", 1 / tf.cast(step, tf.float32), step=step)

        return work

    def points(self, tag="loss"):
        found = sonde.load(self.log, cache=False)["."].scalars(tag)
        return list(zip(found.steps.tolist(), found.values.tolist(), strict=True))

    def test_no_python_is_called(self):
        writer = tf_summary.create_file_writer(str(self.log))
        graph = self.training(writer).get_concrete_function().graph
        self.assertEqual([op.type for op in graph.get_operations() if "Func" in op.type], [])

    def test_they_are_in_the_file_without_a_flush_at_the_time_when_they_were_made(self):
        writer = tf_summary.create_file_writer(str(self.log))
        work = self.training(writer)
        begin = time.time()
        for _ in range(5):
            work()
        end = time.time()
        updates = sonde.load(self.log, follow=True, cache=False).updates(tags="loss")
        found, times = [], []
        while len(found) < 5:
            scalars = next(updates).scalars
            found += scalars.steps.tolist()
            times += scalars.wall_times.tolist()
        self.assertEqual((found, times), ([1, 2, 3, 4, 5], sorted(times)))
        self.assertTrue(begin - 0.01 <= times[0] and times[-1] <= end + 0.01, (begin, times, end))
        writer.close()

    def test_flush_and_close_wait_for_them(self):
        for end in ("flush", "close"):
            with self.subTest(end):
                self.log = self.folder / end
                self.step.assign(0)
                writer = tf_summary.create_file_writer(str(self.log))
                work = self.training(writer)
                for _ in range(300):
                    work()
                getattr(writer, end)()
                self.assertEqual([step for step, _ in self.points()], list(range(1, 301)))

    def test_more_of_them_than_the_queue_holds(self):
        writer = tf_summary.create_file_writer(str(self.log))

        @tf.function
        def work(count):
            for n in tf.range(count):
                tf_summary.scalar("n", n, step=tf.cast(n, tf.int64))

        with writer.as_default():
            work(tf.constant(100_000))
        self.assertEqual(self.points("while/n"), [(n, n) for n in range(100_000)])

    def test_a_step_that_ends_has_its_numbers(self):
        """A condition is asked at the end of the step."""
        writer = tf_summary.create_file_writer(str(self.log))
        writer.recorder.set_policy({"trigger": [{"name": "small", "when": "loss < 0.3", "hold_off": 100}]})
        writer.flush()  # the policy is in force
        work = self.training(writer)
        for n in range(1, 7):
            with writer.recorder.step(n) as step:
                writer.recorder.probe("x").record(step, [float(n)])
                work()
        writer.close()
        self.assertEqual([capture.step for capture in sonde.load(self.log, cache=False)["."].captures], [4])

    def test_eager_code_comes_after_a_function_that_ran_before_it(self):
        writer = tf_summary.create_file_writer(str(self.log))
        work = tf.function(lambda x: tf_summary.scalar("x", x, step=1))
        with writer.as_default():
            for n in range(0, 20, 2):
                work(tf.constant(float(n)))
                tf_summary.scalar("x", n + 1.0, step=1)
        self.assertEqual([value for _, value in self.points("x")], list(range(20)))

    def test_the_end_of_the_interpreter_loses_none(self):
        self.run_python("""
            import sys, tensorflow as tf
            from sonde import tf_summary
            tf_summary.create_file_writer(sys.argv[1]).set_as_default()
            work = tf.function(lambda n: tf_summary.scalar("n", n, step=n))
            for n in range(500): work(tf.constant(n, tf.int64))
        """.replace("\n            ", "\n"), self.log, timeout=600)
        self.assertEqual(self.points("n"), [(n, n) for n in range(500)])

    def test_a_function_holds_its_writer(self):
        work = self.training(tf_summary.create_file_writer(str(self.log)))
        work()
        gc.collect()
        work()
        sonde.tf_summary._current.settle(everything=True)
        del work
        gc.collect()
        self.assertEqual([step for step, _ in self.points()], [1, 2])

    def test_a_function_whose_writer_is_closed_raises(self):
        writer = tf_summary.create_file_writer(str(self.log))
        work = self.training(writer)
        work()
        writer.close()
        with self.assertRaisesRegex(tf.errors.CancelledError, r"Queue '.*' is closed[^$]*sonde_summary"):
            work()

    def test_a_model_that_writes_can_be_saved(self):
        class Model(tf.Module):
            def __init__(self, writer):
                super().__init__()
                self.count, self.writer = tf.Variable(0, dtype=tf.int64), writer

            @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
            def __call__(self, x):
                with self.writer.as_default():
                    tf_summary.scalar("x", x, step=self.count)
                return x + 1

        model = Model(tf_summary.create_file_writer(str(self.log), experimental_trackable=True))
        model(1.5)
        tf.saved_model.save(model, str(self.folder / "saved"))
        model.writer.close()
        self.assertEqual(self.points("x"), [(0, 1.5)])

    def test_what_xla_compiles_is_refused_with_a_sentence(self):
        writer = tf_summary.create_file_writer(str(self.log))
        for summary in (lambda x: tf_summary.scalar("x", x, step=1), lambda x: tf_summary.histogram("x", x, step=1),
                        lambda x: tf_summary.text("x", "text", step=1)):
            inner = tf.function(lambda x, summary=summary: (summary(x), x)[1])
            for function in (tf.function(inner, jit_compile=True), tf.function(lambda x, inner=inner: inner(x), jit_compile=True)):
                with writer.as_default(), self.assertRaisesRegex(NotImplementedError, "XLA compiles .jit_compile=True.*record it outside"):
                    function(tf.constant(1.0))
            with writer.as_default():
                inner(tf.constant(1.0))  # the same one, without XLA
                tf_summary.scalar("outside", tf.function(lambda x: x + 1, jit_compile=True)(1.0), step=1)
        with tf_summary.create_noop_writer().as_default():  # which records nothing anyway
            tf.function(lambda x: (tf_summary.scalar("x", x, step=1), x)[1], jit_compile=True)(1.0)


if __name__ == "__main__":
    unittest.main()
