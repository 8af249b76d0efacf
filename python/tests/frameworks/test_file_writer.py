"""sonde.FileWriter and merge_all beside those of TensorFlow 1: TensorBoard reads the same from both."""
import pathlib
import sys
import unittest

import numpy
import tensorflow as tf
from tensorboard.backend.event_processing import event_accumulator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from testing import InFolder, tensorboard_events  # noqa: E402

import sonde  # noqa: E402

v1 = tf.compat.v1


def train(writer_class, merge_all, folder):
    """A linear model in a session, with a writer for training and one for testing."""
    with tf.Graph().as_default(), v1.Session() as session:
        x, y = v1.placeholder(tf.float32, [None, 3], "x"), v1.placeholder(tf.float32, [None, 1], "y")
        weights = v1.get_variable("weights", [3, 1], initializer=v1.ones_initializer())
        activation = tf.nn.relu(tf.matmul(x, weights))
        loss = tf.reduce_mean((activation - y) ** 2)
        step = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        v1.summary.histogram("weights", weights)
        v1.summary.histogram("activation", activation)
        v1.summary.scalar("loss", loss)
        v1.summary.image("weights_image", tf.reshape(tf.sigmoid(weights), [1, 3, 1, 1]))
        v1.summary.text("note", tf.constant("hello"))
        v1.summary.tensor_summary("raw", weights)
        merged = merge_all()
        session.run(v1.global_variables_initializer())
        train_writer = writer_class(str(folder / "train"), session.graph)
        test_writer = writer_class(str(folder / "test"))
        random = numpy.random.default_rng(1)
        for n in range(5):
            batch = random.normal(size=(8, 3))
            feed = {x: batch, y: batch.sum(axis=1, keepdims=True)}
            options, metadata = v1.RunOptions(trace_level=v1.RunOptions.SOFTWARE_TRACE), v1.RunMetadata()
            _, summary, error = session.run([step, merged, loss], feed, options=options, run_metadata=metadata)
            train_writer.add_summary(summary, n)
            train_writer.add_run_metadata(metadata, f"step{n}", n)
            message = v1.Summary()
            message.value.add(tag="loss", simple_value=error)
            test_writer.add_summary(message, n)
        train_writer.add_session_log(v1.SessionLog(status=v1.SessionLog.CHECKPOINT, checkpoint_path="x"), 5)
        test_writer.add_event(v1.Event(wall_time=123.5, step=9, summary=message))
        test_writer.flush()
        train_writer.close()
        test_writer.close()


class BothWriters(InFolder):
    def setUp(self):
        super().setUp()
        train(v1.summary.FileWriter, v1.summary.merge_all, self.folder / "tensorflow")
        train(sonde.FileWriter, sonde.merge_all, self.folder / "sonde")

    def readers(self, run):
        for writer in ("tensorflow", "sonde"):
            reader = event_accumulator.EventAccumulator(str(self.folder / writer / run), {"images": 0, "histograms": 0})
            reader.Reload()
            yield reader

    def test_everything_of_a_session_is_read_as_from_tensorflows_writer(self):
        theirs, ours = self.readers("train")
        self.assertEqual(ours.Tags(), theirs.Tags())
        self.assertTrue(ours.Tags()["graph"] and ours.Tags()["meta_graph"] and ours.Tags()["run_metadata"])
        self.assertEqual(ours.Graph(), theirs.Graph())
        for tag in theirs.Tags()["histograms"]:
            self.assertEqual([event.histogram_value for event in ours.Histograms(tag)],
                             [event.histogram_value for event in theirs.Histograms(tag)])
        self.assertEqual([event.value for event in ours.Scalars("loss")], [event.value for event in theirs.Scalars("loss")])
        self.assertEqual([event.step for event in ours.Images(*ours.Tags()["images"])], [0, 1, 2, 3, 4])
        self.assertEqual(set(tensorboard_events(self.folder / "sonde/train")), set(tensorboard_events(self.folder / "tensorflow/train")))

    def test_messages_and_events_that_were_made_by_hand(self):
        theirs, ours = self.readers("test")
        self.assertEqual([(event.step, event.value) for event in ours.Scalars("loss")],
                         [(event.step, event.value) for event in theirs.Scalars("loss")])
        self.assertEqual(ours.Scalars("loss")[-1].wall_time, 123.5)
        self.assertGreater(ours.Scalars("loss")[0].wall_time, 1e9)

    def test_our_reader_has_the_curve(self):
        self.assertEqual(sonde.load(self.folder / "sonde", cache=False)["train"].scalars("loss").steps.tolist(), [0, 1, 2, 3, 4])


class WithoutASession(InFolder):
    def test_merge_all_joins_summaries(self):
        first, second = v1.summary.scalar("a", tf.constant(1.0)), v1.summary.scalar("b", tf.constant(2.0))
        with sonde.FileWriter(self.log) as writer:
            writer.add_summary(sonde.merge_all([first, second]), 3)
            writer.add_summary(v1.summary.scalar("a", tf.constant(5.0)), tf.constant(4))
        found = tensorboard_events(self.log)
        self.assertEqual([(step, float(value)) for step, _, value in found["scalars", "a"]], [(3, 1), (4, 5)])
        self.assertEqual([(step, float(value)) for step, _, value in found["scalars", "b"]], [(3, 2)])

    def test_merge_all_without_a_graph_says_what_to_do(self):
        self.assertRaisesRegex(RuntimeError, "give it the summaries", sonde.merge_all)

    def test_a_graph_of_a_function(self):
        graph = tf.function(tf.nn.relu).get_concrete_function(tf.TensorSpec([2])).graph
        with sonde.FileWriter(self.log, graph) as writer:
            writer.add_graph(None, graph_def=graph.as_graph_def())
        reader = event_accumulator.EventAccumulator(str(self.log))
        reader.Reload()
        self.assertIn("Relu", str(reader.Graph()))

    def test_a_writer_that_was_closed_raises_until_it_is_reopened(self):
        writer = sonde.FileWriter(self.log)
        summary = v1.Summary(value=[v1.Summary.Value(tag="a", simple_value=1)])
        writer.add_summary(summary, 1)
        writer.close()
        for call in (lambda: writer.add_summary(summary, 2), writer.flush, lambda: writer.add_event(v1.Event())):
            self.assertRaisesRegex(ValueError, r"reopen\(\)", call)
        writer.reopen()
        writer.add_summary(summary, 3)
        writer.close()
        self.assertEqual(sonde.load(self.log, cache=False)["."].scalars("a").steps.tolist(), [1, 3])

    def test_what_is_no_message_is_refused(self):
        with sonde.FileWriter(self.log) as writer:
            for wrong in ("text", 3, None):
                self.assertRaisesRegex(TypeError, "^summary must be", writer.add_summary, wrong, 1)
            self.assertRaises((TypeError, ValueError), writer.add_summary, b"", "one")
            with self.assertWarnsRegex(sonde.RecordingWarning, "an event was not recorded"):
                writer.add_summary(b"\xff\xff", 1)
                writer.flush()


if __name__ == "__main__":
    unittest.main()
