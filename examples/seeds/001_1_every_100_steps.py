"""Activations every 100 steps, the loss at every step, from inside a tf.function.

sonde.tap records a tensor where it is computed, and returns it. The policy says how often: it may as well be a file, and
`sonde policy` changes it while the program runs.
"""
import sys

import tensorflow as tf
from task import batches, digits

import sonde

POLICY = {"watch": [{"tensors": "layer1", "every": 100, "record": "histogram"}]}


def main(logs):
    keras = tf.keras
    keras.utils.set_random_seed(7)
    first, second, last = (keras.layers.Dense(64, "relu"), keras.layers.Dense(128, "relu"), keras.layers.Dense(10))
    optimizer = keras.optimizers.Adam(0.003)

    @tf.function
    def train(images, labels):
        with tf.GradientTape() as tape:
            hidden = sonde.tap("layer1", first(tf.reshape(images, [-1, 64])))
            loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(labels, last(second(hidden)), from_logits=True))
        variables = tape.watched_variables()
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    (images, labels), _ = digits()
    with sonde.Recorder(logs, policy=POLICY) as rec:
        for n, batch in enumerate(batches(images, labels, count=301)):
            with rec.step(n):
                rec.scalar("loss", train(*batch), n)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/001_1")
