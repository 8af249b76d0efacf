"""Layers that are too wide to look at value by value: the distribution of each after every epoch."""
import sys

import tensorflow as tf
from task import digits

from sonde import tf_summary


def main(logs):
    keras = tf.keras
    keras.utils.set_random_seed(7)
    (images, labels), (held_out, _) = digits()
    first, second = keras.layers.Dense(128, "relu"), keras.layers.Dense(256, "relu")
    model = keras.Sequential([keras.layers.Flatten(), first, second, keras.layers.Dense(10, "softmax")])
    model.compile("adam", "sparse_categorical_crossentropy")
    writer = tf_summary.create_file_writer(logs)

    class Distributions(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            with writer.as_default(step=epoch):
                x = first(tf.reshape(held_out, [-1, 64]))
                tf_summary.histogram("layer 1", x)
                tf_summary.histogram("layer 2", second(x))

    model.fit(images, labels, epochs=3, verbose=0, callbacks=[Distributions()])
    writer.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/002_3")
