"""The distribution of a layer's weights at every step of training: TensorFlow 1's summaries, written by Sonde."""
import sys

import tensorflow.compat.v1 as tf
from network_v1 import Network
from task import batches, digits

import sonde


def main(logs):
    learned, _ = digits()
    with tf.Graph().as_default(), tf.Session() as session:
        network = Network()
        tf.summary.histogram("weights", network.weights)
        merged = sonde.merge_all()
        session.run(tf.global_variables_initializer())
        with sonde.FileWriter(f"{logs}/train", session.graph) as writer:
            for step, batch in enumerate(batches(*learned, count=100)):
                _, summary = session.run([network.train, merged], network.feed(*batch))
                writer.add_summary(summary, step)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/000_2")
