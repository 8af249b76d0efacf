"""The same script with tf.summary and with sonde.tf_summary: TensorBoard reads the same from both, function by function."""
import io
import pathlib
import sys
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


if __name__ == "__main__":
    unittest.main()
