"""numpy_style prints what NumPy prints, byte for byte."""

import os
import subprocess
import unittest

import ml_dtypes
import numpy as np

TOOL = os.path.join(os.environ["SONDE_TOOLS"], "print_tool")
EVERYTHING = 2**63 - 1

DTYPES = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128,
    "bf16": ml_dtypes.bfloat16, "f8_e4m3": ml_dtypes.float8_e4m3fn, "f8_e5m2": ml_dtypes.float8_e5m2,
}
# Without their own text in NumPy: printed as these values in float32.
FOREIGN = ("bf16", "f8_e4m3", "f8_e5m2")
SPECIALS = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.1, 1 / 3, 1e-4, 9.9e-5, 999.5, 1000.0, 1e3, 1e6, 1e8, 99999999.5,
            5e-324, 1.7976931348623157e308, 3.4028235e38, 1e-45, 65504.0, 6e-8, 0.30000000000000004, 123456.789]


def printed(cases):
    """What the tool prints for [(dtype name, threshold, array)]."""
    request = b"".join(
        f"{name} {threshold} {array.ndim} {' '.join(map(str, array.shape))}\n".encode() + array.tobytes()
        for name, threshold, array in cases)
    answer = subprocess.run([TOOL], input=request, stdout=subprocess.PIPE, check=True).stdout
    texts = []
    at = 0
    while at < len(answer):
        end_of_line = answer.index(b"\n", at)
        at = end_of_line + 1 + int(answer[at:end_of_line])
        texts.append(answer[end_of_line + 1:at].decode())
    return texts


def expected(name, threshold, array):
    known = array.astype(np.float32) if name in FOREIGN else array
    if threshold == 1000:  # NumPy's own
        return str(known)
    with np.printoptions(threshold=threshold):
        return str(known)


class Print(unittest.TestCase):
    def check(self, cases):
        self.assertTrue(cases)
        texts = printed(cases)
        self.assertEqual(len(texts), len(cases))
        for (name, threshold, array), text in zip(cases, texts):
            wanted = expected(name, threshold, array)
            if text != wanted:
                self.assertEqual(text, wanted, f"{name}{list(array.shape)} {array.tobytes()[:400]!r}")

    def random_floats(self, rng, shape):
        form = rng.integers(8)
        if form == 0:
            return rng.standard_normal(shape)
        if form == 1:
            return rng.standard_normal(shape) * 10.0 ** rng.integers(-20, 21)
        if form == 2:
            return rng.standard_normal(shape) * 10.0 ** rng.uniform(-20, 20, shape)
        if form == 3:
            return rng.integers(-50, 50, shape).astype(np.float64)
        if form == 4:
            return np.round(rng.standard_normal(shape) * 100, rng.integers(0, 5))
        if form == 5:
            return np.maximum(rng.standard_normal(shape), 0)
        if form == 6:
            return rng.choice(SPECIALS, shape)
        values = np.array(rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 8))
        values[rng.random(shape) < 0.2] = rng.choice([np.nan, np.inf, -np.inf, 0.0])
        return values

    def random_array(self, rng, name, shape):
        dtype = DTYPES[name]
        if name == "bool":
            return np.asarray(rng.integers(0, 2, shape), dtype)
        if np.issubdtype(dtype, np.integer):
            info = np.iinfo(dtype)
            low, high = (info.min, info.max) if rng.integers(2) else (max(info.min, -9), 10)
            return np.asarray(rng.integers(low, high, shape, dtype, endpoint=True), dtype)
        with np.errstate(all="ignore"):
            if np.issubdtype(dtype, np.complexfloating):
                values = np.empty(shape, np.complex128)
                values.real = self.random_floats(rng, shape)
                values.imag = self.random_floats(rng, shape)
                return np.asarray(values, dtype)
            return np.asarray(np.asarray(self.random_floats(rng, shape)).astype(dtype))

    def random_shape(self, rng):
        rank = rng.integers(5)
        longest = (1, 40, 15, 8, 5)[rank]
        return tuple(int(size) for size in rng.integers(0 if rng.integers(10) == 0 else 1, longest + 1, rank))

    def test_random_arrays_of_every_dtype(self):
        rng = np.random.default_rng(1)
        self.check([(name, 1000, self.random_array(rng, name, self.random_shape(rng)))
                    for name in DTYPES for _ in range(150)])

    def test_large_arrays_are_summarised(self):
        rng = np.random.default_rng(2)
        shapes = [(1000,), (1001,), (5000,), (30, 40), (2, 600), (600, 2), (7, 7, 30), (3, 3, 200), (6, 6, 6, 6), (7, 7, 7, 7),
                  (1, 1, 2000), (2000, 1, 1)]
        self.check([(name, 1000, self.random_array(rng, name, shape)) for name in DTYPES for shape in shapes])

    def test_a_threshold_decides_what_is_summarised(self):
        rng = np.random.default_rng(3)
        self.check([(name, threshold, self.random_array(rng, name, shape))
                    for name in ("f32", "i64", "c64") for shape in ((2000,), (40, 40), (3, 4)) for threshold in (5, EVERYTHING)])

    def test_empty_arrays(self):
        self.check([(name, 1000, np.empty(shape, DTYPES[name]))
                    for name in DTYPES for shape in ((0,), (0, 3), (3, 0), (2, 0, 4))])

    def test_special_values_alone_in_pairs_and_as_scalars(self):
        for name in ("f16", "f32", "f64", "c64", "c128", "bf16", "f8_e4m3", "f8_e5m2"):
            with np.errstate(all="ignore"):
                values = np.array(SPECIALS).astype(DTYPES[name])
            cases = [(name, 1000, value) for value in values]
            cases += [(name, 1000, values[i:i + 1]) for i in range(len(values))]
            cases += [(name, 1000, np.array([a, b])) for a in values for b in values]
            self.check(cases)

    def test_complex_scalars(self):
        parts = [0.0, -0.0, 1.0, -2.5, 1e20, np.nan, np.inf, -np.inf]
        self.check([(name, 1000, np.array(complex(re, im), DTYPES[name]))
                    for name in ("c64", "c128") for re in parts for im in parts])

    def test_every_number_of_the_small_types(self):
        for name, bits in (("f16", np.uint16), ("f8_e4m3", np.uint8), ("f8_e5m2", np.uint8)):
            values = np.arange(np.iinfo(bits).max + 1).astype(bits).view(DTYPES[name])
            self.check([(name, 1000, np.array(value)) for value in values])

    def test_random_bit_patterns(self):
        rng = np.random.default_rng(4)
        f64 = rng.integers(0, 2**64, 20000, np.uint64).view(np.float64)
        f32 = rng.integers(0, 2**32, 20000, np.uint32).view(np.float32)
        powers = np.concatenate([2.0 ** np.arange(-1074, 1024), np.nextafter(2.0 ** np.arange(-1070, 1024), 0)])
        with np.errstate(all="ignore"):
            arrays = [("f64", f64), ("f32", f32), ("f64", powers), ("f32", powers.astype(np.float32))]
        self.check([(name, 1000, value) for name, values in arrays for value in values])
        self.check([(name, EVERYTHING, part) for name, values in arrays for part in np.array_split(values, 50)])


if __name__ == "__main__":
    unittest.main()
