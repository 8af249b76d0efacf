"""Layers by name: no index goes wrong when a layer is added."""
import sys

import keras
from task import digits

import sonde


def main(_=None, *names):
    names = list(names) or ["dense_1", "dense_2"]
    keras.utils.set_random_seed(7)
    model = keras.Sequential([
        keras.Input((8, 8, 1)),
        keras.layers.Flatten(name="flatten"),
        keras.layers.Dense(10, "relu", name="dense_1"),
        keras.layers.Dense(15, "relu", name="dense_2"),
        keras.layers.Dense(5, "softmax", name="dense_3"),
    ])
    inspect = sonde.keras.inspection_model(model, names)
    outputs = keras.tree.flatten(inspect(digits()[1][0][:1]))  # one layer gives a tensor, several a list
    for name, output in zip(names, outputs):
        sonde.show(output, name)


if __name__ == "__main__":
    main(None, *sys.argv[1:])
