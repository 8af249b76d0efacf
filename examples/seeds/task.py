"""The task of these examples: the 1,797 handwritten digits of ../digits, 8x8 pixels, as NumPy arrays. No download."""
import pathlib

import numpy

DIGITS = pathlib.Path(__file__).resolve().parents[1] / "digits"


def digits():
    """(images, labels) to learn from and (images, labels) held out: f32 [n,8,8,1] in 0..1, and i32 [n]."""
    images = numpy.load(DIGITS / "images.npy").astype(numpy.float32).reshape(-1, 8, 8, 1)
    labels = numpy.load(DIGITS / "labels.npy").astype(numpy.int32)
    order = numpy.random.default_rng(1).permutation(len(labels))
    images, labels = images[order] / images.max(), labels[order]
    return (images[:1438], labels[:1438]), (images[1438:], labels[1438:])


def batches(images, labels, count, size=32):
    """`count` random batches."""
    random = numpy.random.default_rng(2)
    for _ in range(count):
        chosen = random.integers(0, len(labels), size)
        yield images[chosen], labels[chosen]
