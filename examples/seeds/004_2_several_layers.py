"""The outputs of several layers for one input, printed, and kept whole in one file of the log."""
import sys

import keras
from task import digits

import sonde


def main(logs):
    keras.utils.set_random_seed(7)
    model = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Flatten(), keras.layers.Dense(10, "relu"),
                              keras.layers.Dense(15, "relu"), keras.layers.Dense(5, "softmax")])
    inspect = sonde.keras.inspection_model(model, [1, 2, 3])
    outputs = inspect(digits()[1][0][:1])
    with sonde.Recorder(logs) as rec, rec.pass_(0) as step:
        for index, output in zip((1, 2, 3), outputs):
            rec.probe(f"layer_{index}", keep=("whole", "print")).record(step, output)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/004_2")
