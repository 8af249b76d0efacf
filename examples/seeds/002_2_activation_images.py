"""What every layer of a convolutional network makes of a digit, as pictures, after every epoch. Keras, one callback."""
import sys

import keras
from task import digits

import sonde


def main(logs):
    keras.utils.set_random_seed(7)
    (images, labels), (held_out, _) = digits()
    model = keras.Sequential([
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(16, 3, activation="relu", name="conv"),
        keras.layers.MaxPooling2D(2, name="pool"),
        keras.layers.Flatten(name="flatten"),
        keras.layers.Dense(10, activation="softmax", name="classes"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    recorder = sonde.keras.Recorder(logs, images=True, sample=held_out[:1])
    model.fit(images, labels, epochs=2, verbose=0, callbacks=[recorder])
    recorder.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/002_2")
