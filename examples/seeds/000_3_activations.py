"""The distribution of what a layer puts out, at every step of training: TensorFlow 1, with a probe of Sonde.

The session returns the tensor beside the training operation; the probe records statistics and a histogram of it, which cost
the graph no operation.
"""
import sys

import tensorflow.compat.v1 as tf
from network_v1 import Network
from task import batches, digits

import sonde


def main(logs):
    learned, _ = digits()
    with tf.Graph().as_default(), tf.Session() as session, sonde.FileWriter(f"{logs}/train", session.graph) as writer:
        network = Network()
        session.run(tf.global_variables_initializer())
        activation = writer.recorder.probe("activation")
        for n, batch in enumerate(batches(*learned, count=100)):
            with writer.recorder.step(n) as step:
                _, values = session.run([network.train, network.activation], network.feed(*batch))
                activation.record(step, values)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/000_3")
