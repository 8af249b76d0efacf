"""The shape of the input and of what every layer makes of it, on the console, with range and distribution of the values."""
import tensorflow as tf
from task import digits

import sonde


def main(_=None):
    tf.keras.utils.set_random_seed(7)
    model = tf.keras.Sequential([
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, "relu"),
        tf.keras.layers.Dense(10, "softmax"),
    ])
    x = digits()[1][0][:1]
    sonde.show(x, "input")
    for layer in model.layers:
        x = layer(x)
        sonde.show(x, layer.name)


if __name__ == "__main__":
    main()
