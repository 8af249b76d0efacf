"""The output of one layer of a Sequential model beside that of the model, for one input."""
import keras
from task import digits

import sonde


def main(_=None):
    keras.utils.set_random_seed(7)
    model = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Flatten(), keras.layers.Dense(10, "relu"),
                              keras.layers.Dense(5, "softmax")])
    inspect = sonde.keras.inspection_model(model, [1, -1])
    intermediate, output = inspect(digits()[1][0][:1])
    sonde.show(intermediate, "intermediate", full=True)
    sonde.show(output, "output")


if __name__ == "__main__":
    main()
