"""A trained model is saved and loaded again; what it makes of new images goes into outputs.npy and into pictures.

The model makes a clean picture of a noisy one, so that its outputs are pictures.
"""
import os
import sys

import keras
import numpy
from task import digits

import sonde


def train_and_save(path, images):
    model = keras.Sequential([
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu", name="features"),
        keras.layers.Conv2D(1, 1, activation="sigmoid", name="picture"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "mse")
    model.fit(noisy(images), images, epochs=3, verbose=0)
    model.save(path)


def noisy(images):
    return numpy.clip(images + numpy.random.default_rng(3).normal(0, 0.3, images.shape).astype(numpy.float32), 0, 1)


def main(logs):
    keras.utils.set_random_seed(7)
    (images, _), (held_out, _) = digits()
    os.makedirs(logs, exist_ok=True)
    train_and_save(f"{logs}/model.keras", images)

    model = keras.models.load_model(f"{logs}/model.keras")
    inputs = noisy(held_out[:10])
    outputs = model.predict(inputs, verbose=0)
    numpy.save(f"{logs}/outputs.npy", outputs)
    with sonde.Recorder(logs) as rec:
        for n, (given, made) in enumerate(zip(inputs, outputs)):
            rec.image("input", given, n, "HWC")
            rec.image("output", made, n, "HWC")
    sonde.show(outputs, "outputs")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/003_2")
