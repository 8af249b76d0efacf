"""A training loop of one's own: the loss and the distribution of every variable at every step, inside a tf.function.

One import differs from TensorFlow's own summaries.
"""
import sys

import tensorflow as tf
from task import batches, digits

from sonde import tf_summary as summary      # was: from tensorflow import summary


def main(logs):
    keras = tf.keras
    keras.utils.set_random_seed(7)
    model = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Flatten(), keras.layers.Dense(64, "relu", name="hidden"),
                              keras.layers.Dense(10, name="logits")])
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = keras.optimizers.Adam()
    writer = summary.create_file_writer(logs)

    @tf.function
    def train(images, labels, step):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(images))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        with writer.as_default(step=step):
            summary.scalar("loss", loss)
            for variable in model.trainable_variables:
                summary.histogram(variable.path, variable)
        return loss

    (images, labels), _ = digits()
    for n, batch in enumerate(batches(images, labels, count=100, size=10)):
        train(*batch, tf.constant(n, tf.int64))
    writer.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/003_3")
