#!/usr/bin/env python3
"""Makes examples/digits/images.npy and labels.npy from the digits that scikit-learn ships.

They are in the repository already; this is how they came there, and how to make them again:

    python3 -m venv /tmp/digits && /tmp/digits/bin/pip install scikit-learn
    /tmp/digits/bin/python tools/make_digits.py
"""

import pathlib

import numpy as np
from sklearn.datasets import load_digits

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "examples" / "digits"


def main():
    digits = load_digits()
    # Whole numbers stored as doubles: nothing is lost.
    for name, values in (("images", digits.images), ("labels", digits.target)):
        small = values.astype(np.uint8)
        assert (small == values).all()
        path = FOLDER / f"{name}.npy"
        np.save(path, small)
        print(f"{path.name}: {small.dtype} {list(small.shape)}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
