"""A model that Keras trains, recorded with one callback: metrics, weights, gradients, activations, a table of outputs.

    python keras_fit.py logs/keras            # KERAS_BACKEND=tensorflow, jax or torch
    sonde logs
"""
import sys

import keras
import numpy

import sonde.keras


def shapes(rows: int, seed: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Pictures of 16 x 16 with a square, a frame or a cross in them, and which of the three it is."""
    random = numpy.random.default_rng(seed)
    pictures = random.normal(0, 0.1, (rows, 16, 16, 1)).astype("float32")
    labels = random.integers(0, 3, rows)
    for picture, label in zip(pictures[..., 0], labels):
        top, left, size = random.integers(0, 8), random.integers(0, 8), 7
        place = picture[top:top + size, left:left + size]
        if label == 2:
            place[size // 2] = place[:, size // 2] = 1
        else:
            place[:] = 1
            if label == 1:
                place[1:-1, 1:-1] = 0
    return pictures, labels


def main(log_dir: str, epochs: int = 4) -> float:
    keras.utils.set_random_seed(1)
    x, y = shapes(1024, seed=1)
    test_x, test_y = shapes(256, seed=2)
    model = keras.Sequential([
        keras.Input((16, 16, 1)),
        keras.layers.Conv2D(8, 3, activation="relu", name="conv_1"),
        keras.layers.MaxPooling2D(name="pool"),
        keras.layers.Flatten(name="flat"),
        keras.layers.Dense(32, activation="relu", name="dense_1"),
        keras.layers.Dense(3, activation="softmax", name="dense_2"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    recorder = sonde.keras.Recorder(log_dir, layers="conv_1|dense_.*", every=16, images=True, validation_sample=(test_x, test_y, 8))
    model.fit(x, y, epochs=epochs, batch_size=32, validation_data=(test_x, test_y), verbose=0, callbacks=[recorder])
    recorder.close()

    first, last = sonde.keras.inspection_model(model, ["conv_1", -1])(test_x[:4])
    print(f"conv_1 {tuple(first.shape)}, dense_2 {tuple(last.shape)}")
    return model.evaluate(test_x, test_y, verbose=0)[1]


if __name__ == "__main__":
    print(f"test accuracy {main(sys.argv[1] if len(sys.argv) > 1 else 'logs/keras'):.3f}")
