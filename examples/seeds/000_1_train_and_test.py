"""Loss and accuracy of training and of held-out data, as two runs that share their charts, and the graph: TensorFlow 1.

Only the writer differs from TensorFlow's: sonde.FileWriter instead of tf.summary.FileWriter.
"""
import sys

import tensorflow.compat.v1 as tf
from network_v1 import Network
from task import batches, digits

import sonde


def summary(**values):
    return tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()])


def main(logs):
    learned, held_out = digits()
    with tf.Graph().as_default(), tf.Session() as session:
        network = Network()
        session.run(tf.global_variables_initializer())
        with sonde.FileWriter(f"{logs}/train", session.graph) as train_writer, sonde.FileWriter(f"{logs}/test") as test_writer:
            for step, (images, labels) in enumerate(batches(*learned, count=100)):
                _, loss, accuracy = session.run([network.train, network.loss, network.accuracy], network.feed(images, labels))
                train_writer.add_summary(summary(loss=loss, accuracy=accuracy), step)
                loss, accuracy = session.run([network.loss, network.accuracy], network.feed(*held_out))
                test_writer.add_summary(summary(loss=loss, accuracy=accuracy), step)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/000_1")
