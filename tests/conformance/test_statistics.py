"""The statistics file against NumPy: every statistic of every dtype, read by a reader made from the format alone."""

import glob
import os
import shutil
import tempfile
import time
import unittest

import numpy as np
from tensorboard.backend.event_processing import event_file_loader

import stats_record
from recording import ColorMap, DTYPES, Keep, Kind, Layout, Script

SPECIALS = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.1, 1e-3, 448.0, 57344.0, 2.0**-9, 2.0**-16, 65504.0, 6e-8,
            1e-40, 1e-45, 3e38, 5e-324, 1e300, -1e-300]


def arrays(rng):
    """{name: array}, of every dtype."""
    result = {}
    for name, dtype in DTYPES.items():
        kind = np.dtype(dtype).kind
        if name == "bool":
            cases = {"ordinary": rng.random((13, 7)) < 0.3, "none": np.zeros(5, bool), "all": np.ones(5, bool)}
        elif kind in "iu":
            info = np.iinfo(dtype)
            cases = {"ordinary": rng.integers(max(info.min, -50), 50, (13, 7)),
                     "whole range": rng.integers(info.min, info.max, 5000, dtype, endpoint=True),
                     "extremes": np.array([info.min, info.max, 0, 1, info.max, info.min], dtype)}
        else:
            with np.errstate(over="ignore"):
                cases = {"ordinary": rng.standard_normal((13, 7)), "many": rng.standard_normal(100_003),
                         "specials": np.array(SPECIALS * 3).astype(dtype),
                         "only specials": np.array([np.nan, np.inf, -np.inf]),
                         "positive": rng.random(1000) + 0.5, "small": rng.standard_normal(1000) * 2.0**-14,
                         "many magnitudes": (rng.standard_normal(3000) * 2.0 ** rng.uniform(-160, 150, 3000)
                                             ).astype(dtype)}
        cases |= {"empty": np.zeros((0, 4)), "rank 0": np.array(1), "all zero": np.zeros(33), "one": np.array([1])}
        cases |= {"Fortran order": np.asfortranarray(cases["ordinary"])}
        result |= {f"{name}/{case}": np.asarray(array, dtype, order="K") for case, array in cases.items()}
    result["f64/far away"] = rng.normal(1000, 0.01, 100_000)
    result["f32/far away"] = rng.normal(1000, 0.01, 100_000).astype(np.float32)
    result["f64/huge"] = np.array([1e308, 1.5e308, -1e308, 1e308])
    result["f64/subnormal"] = np.arange(-100, 100) * 5e-324
    result["f32/rank 8"] = rng.standard_normal((2, 1, 3, 1, 2, 1, 2, 2)).astype(np.float32)
    return result


def finite(array):
    values = array.astype(np.float64).ravel()
    return values[np.isfinite(values)]


def as_double(value):
    with np.errstate(over="ignore", under="ignore"):
        return np.float64(value)


def keys_of(values):
    """The bins of finite values: one for zero, 16 an octave for either sign."""
    mantissa, exponent = np.frexp(np.abs(values))
    key = 1 + (exponent.astype(np.int64) - 1 + 1074) * 16 + np.floor((mantissa * 2 - 1) * 16).astype(np.int64)
    return np.where(values == 0, 0, np.where(values < 0, -key, key))


def bounds_of(key):
    """The values that a bin begins and ends with."""
    exponent, sixteenths = divmod(abs(key) - 1, 16)
    low, high = (np.ldexp(np.longdouble(1 + part / 16), exponent - 1074) for part in (sixteenths, sixteenths + 1))
    return (0, 0) if key == 0 else (low, high) if key > 0 else (-high, -low)


def setUpModule():
    global ARRAYS, RECORDS, BEGIN, END
    ARRAYS = arrays(np.random.default_rng(3))
    folder = tempfile.mkdtemp()
    unittest.addModuleCleanup(shutil.rmtree, folder)
    BEGIN = time.time()
    with Script() as script:
        script.open("run", folder)
        for index, name in enumerate(ARRAYS):
            keep = Keep.stats | Keep.histogram if index % 2 else Keep.histogram
            define(script, name, Kind(index % len(Kind)), [f"input {i}" for i in range(index % 3)], keep)
        define(script, "plain", Kind.activation, [], Keep.stats)
        define(script, "nothing", Kind.activation, [], Keep.nothing)
        script("begin_step", "run", -5)
        for name, array in ARRAYS.items():
            script("probe", "run", name, array)
        script("end_step", "run")
        for step in (7, 2**40):
            script("begin_step", "run", step)
            script("probe", "run", "nothing", np.ones(3))
            for occurrence in range(3):  # of its own size each
                script("probe", "run", "plain", np.full(occurrence + 1, occurrence, np.float32))
            script("end_step", "run")
        for evaluation in range(2):
            script("begin_evaluation", "run", evaluation)
            script("probe", "run", "plain", np.full(1, 10 + evaluation, np.float32))
            script("end_evaluation", "run")
        counters = script.close("run")
    END = time.time()
    if script.complaints or counters["rejected"] or counters["dropped_tensors"]:
        raise RuntimeError(f"not everything was recorded: {counters} {script.complaints}")
    (path,) = glob.glob(os.path.join(folder, "stats.*.tfrecord"))
    # TensorBoard's reader of records checks every checksum.
    RECORDS = [stats_record.decode(record) for record in event_file_loader.RawEventFileLoader(path).Load()]


def define(script, name, kind, inputs, keep):
    script("define_probe", "run", name, name, kind, inputs, keep, Layout.NHWC, ColorMap.automatic, 64, 0, 0)


def of_type(kind):
    return [record for record in RECORDS if record["type"] == kind]


class Statistics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.definitions = {record["id"]: record for record in of_type("definition")}
        first = of_type("step")[0]
        cls.entries = {cls.definitions[entry["id"]]["name"]: entry for entry in first["entries"]}

    def for_each(self, check):
        """`check` takes an array, what was found of it, and its finite values."""
        for name, array in ARRAYS.items():
            with self.subTest(name):
                check(array, self.entries[name], finite(array))

    def test_header_says_who_wrote(self):
        (header,) = of_type("header")
        self.assertEqual(RECORDS[0], header)
        self.assertEqual(header["writer"].split(".")[-3:-1], [header["host"].split(".")[-1], str(header["pid"])])
        self.assertTrue(BEGIN - 0.01 <= header["start_time"] <= END)

    def test_definitions_name_kind_form_and_inputs(self):
        self.assertEqual(len(self.definitions), len(ARRAYS) + 1, "none of a probe that keeps nothing")
        by_name = {definition["name"]: definition for definition in self.definitions.values()}
        for index, (name, array) in enumerate(ARRAYS.items()):
            self.assertEqual(by_name[name]["kind"], Kind(index % len(Kind)).name)
            self.assertEqual(by_name[name]["form"], {"dtype": name.split("/")[0], "shape": list(array.shape)})
            self.assertEqual(by_name[name]["inputs"], [f"input {i}" for i in range(index % 3)])

    def test_steps_come_with_time_order_and_occurrences(self):
        steps = of_type("step")
        self.assertEqual([(step["step"], step["evaluation"]) for step in steps],
                         [(-5, False), (7, False), (2**40, False), (0, True), (1, True)])
        times = [BEGIN - 0.01, *[step["wall_time"] for step in steps], END + 0.01]
        self.assertEqual(times, sorted(times))
        self.assertEqual(list(self.entries), list(ARRAYS))
        for step in steps[1:3]:
            self.assertEqual([(entry["occurrence"], entry["summary"]["count"], entry["summary"]["max"])
                              for entry in step["entries"]], [(0, 1, 0), (1, 2, 1), (2, 3, 2)])
            forms = [entry.get("form", {"shape": [1]})["shape"] for entry in step["entries"]]
            self.assertEqual(forms, [[1], [2], [3]])
        self.assertEqual([step["entries"][0]["summary"]["max"] for step in steps[3:]], [10, 11])

    def test_counts_are_exact(self):
        def check(array, entry, values):
            wide = array.astype(np.float64)
            self.assertEqual(
                {name: entry["summary"][name] for name in stats_record.COUNTS},
                {"count": array.size, "nan": np.isnan(wide).sum(), "positive_infinity": (wide == np.inf).sum(),
                 "negative_infinity": (wide == -np.inf).sum(), "zeros": (wide == 0).sum(),
                 "negatives": (values < 0).sum()})

        self.for_each(check)

    def test_min_and_max_are_exact(self):
        def check(array, entry, values):
            found = entry["summary"]["min"], entry["summary"]["max"]
            np.testing.assert_array_equal(found, (values.min(), values.max()) if len(values) else (np.nan, np.nan))

        self.for_each(check)

    def test_mean_and_sum_of_magnitudes(self):
        def check(array, entry, values):
            exact = values.astype(np.longdouble)
            magnitudes = np.abs(exact).sum()
            np.testing.assert_allclose(entry["summary"]["sum_abs"], as_double(magnitudes), rtol=1e-12)
            if len(values) == 0:
                self.assertTrue(np.isnan(entry["summary"]["mean"]))
            else:
                np.testing.assert_allclose(entry["summary"]["mean"], as_double(exact.mean()), rtol=1e-12,
                                           atol=as_double(1e-12 * magnitudes / len(values)))

        self.for_each(check)

    def test_sum_of_squared_deviations(self):
        def check(array, entry, values):
            exact = values.astype(np.longdouble)
            squares = ((exact - exact.mean()) ** 2).sum() if len(values) else 0
            np.testing.assert_allclose(entry["summary"]["m2"], as_double(squares), rtol=1e-9)

        self.for_each(check)

    def test_standard_deviation_of_values_far_from_zero(self):
        for name in ("f32/far away", "f64/far away"):
            summary = self.entries[name]["summary"]
            exact = ARRAYS[name].astype(np.longdouble).std()
            np.testing.assert_allclose(np.sqrt(summary["m2"] / summary["count"]), exact, rtol=1e-6)

    def test_histograms_are_exact(self):
        def check(array, entry, values):
            keys, counts = np.unique(keys_of(values), return_counts=True)
            np.testing.assert_array_equal(np.array(entry["histogram"]).reshape(-1, 2), np.stack([keys, counts], 1))

        self.for_each(check)

    def test_percentiles_are_in_the_right_bin(self):
        def check(array, entry, values):
            if len(values) == 0:
                return
            keys, counts = np.array(entry["histogram"]).T
            for percent in (0.1, 1, 6.68, 15.87, 30.85, 50, 69.15, 84.13, 93.32, 99, 99.9):
                exact = np.percentile(values, percent, method="inverted_cdf")
                rank = np.ceil(percent / 100 * len(values))
                low, high = bounds_of(int(keys[np.searchsorted(np.cumsum(counts), rank)]))
                self.assertTrue(low <= exact <= high, f"{percent} %: {exact} not in [{low}, {high}]")
                self.assertLessEqual(high - low, abs(np.longdouble(exact)) / 16)

        self.for_each(check)

    def test_entry_without_histogram_takes_at_most_100_bytes(self):
        with tempfile.TemporaryDirectory() as folder, Script() as script:
            script.open("run", folder)
            names = [f"tensor {i}" for i in range(200)]
            for name in names:
                define(script, name, Kind.activation, [], Keep.stats)
            for step in range(10):
                script("begin_step", "run", step)
                for name in names:
                    script("probe", "run", name, np.array([step, np.nan, -np.inf, np.inf, 0, -1], np.float32))
                script("end_step", "run")
            script.close("run")
            (path,) = glob.glob(os.path.join(folder, "stats.*.tfrecord"))
            sizes = [len(record) for record in event_file_loader.RawEventFileLoader(path).Load()
                     if stats_record.decode(record)["type"] == "step"]
        self.assertEqual(len(sizes), 10)
        self.assertLessEqual(max(sizes), 100 * len(names))


if __name__ == "__main__":
    unittest.main()
