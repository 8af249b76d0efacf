"""Activations only of steps whose loss exceeds a threshold.

The loss is known last, and decides over tensors that were recorded before it in the same step.
"""
import sys

import tensorflow as tf
from task import batches, digits

import sonde

POLICY = {"watch": [{"tensors": "layer1", "when": "loss > 1.0", "record": "histogram"}]}


def main(logs):
    keras = tf.keras
    keras.utils.set_random_seed(7)
    hidden, last = keras.layers.Dense(32, "relu"), keras.layers.Dense(10)
    optimizer = keras.optimizers.Adam(0.01)

    @tf.function
    def train(images, labels):
        with tf.GradientTape() as tape:
            outputs = last(sonde.tap("layer1", hidden(tf.reshape(images, [-1, 64]))))
            loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(labels, outputs, from_logits=True))
        variables = tape.watched_variables()
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    (images, labels), _ = digits()
    with sonde.Recorder(logs, policy=POLICY) as rec:
        for n, batch in enumerate(batches(images, labels, count=150)):
            with rec.step(n):
                rec.scalar("loss", train(*batch), n)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/001_3")
