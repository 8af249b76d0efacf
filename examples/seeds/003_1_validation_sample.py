"""Labels and outputs of ten held-out digits after every epoch, as rows of tables/validation.<writer>.csv. Keras."""
import sys

import keras
from task import digits

import sonde


def main(logs):
    keras.utils.set_random_seed(7)
    (images, labels), (held_out, truth) = digits()
    model = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Flatten(), keras.layers.Dense(32, "relu"),
                              keras.layers.Dense(10, "softmax")])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
    recorder = sonde.keras.Recorder(logs, validation_sample=(held_out, truth, 10))
    model.fit(images, labels, epochs=4, verbose=0, callbacks=[recorder])
    recorder.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/003_1")
