"""Tables that the recorder writes, as Python's csv module reads them: whatever the columns are called and hold."""

import csv
import glob
import os
import subprocess
import unittest

import numpy as np
import safetensors.numpy

from command import Case

RECORDER = os.environ["SONDE_TABLE_RECORDER"]
NAMES = ["plain", "with, comma", 'with "quotes"', '"', ",", "two\nlines", "carriage\rreturn", "both\r\n", "tab\there",
         " blanks ", "größe/層 🙂", "'single'", "=1+1", "x;y", "back\\slash"]
LIMITS = np.finfo(np.float32)
VALUES = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1 / 3, -1e-45, LIMITS.max, LIMITS.tiny, 16777217, 0.1],
                  np.float32)
INTEGERS = np.iinfo(np.int64)


class Tables(Case):
    def record(self, tensors, steps=1, table="validation"):
        """All rows of the table, those behind its heading by the names of the columns."""
        safetensors.numpy.save_file(tensors, self.path("tensors.safetensors"))
        result = subprocess.run([RECORDER, "run", table, "tensors.safetensors", str(steps)], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        (path,) = glob.glob(self.path("run/tables/*.csv"))
        return self.read(path)

    def read(self, path):
        with open(path, encoding="utf-8", newline="") as file:
            heading, *rows = list(csv.reader(file, strict=True))
        for row in rows:
            self.assertEqual(len(row), len(heading))
        self.assertEqual(len(set(heading)), len(heading))
        return heading, [dict(zip(heading, row)) for row in rows]

    def test_have_a_column_for_every_name(self):
        tensors = {name: np.arange(3, dtype=np.float32) + i for i, name in enumerate(NAMES)}
        heading, rows = self.record(tensors, steps=4)
        self.assertEqual(heading[:3], ["step", "wall_time", "row"])
        self.assertEqual(sorted(heading[3:]), sorted(NAMES))
        self.assertEqual([(row["step"], row["row"]) for row in rows],
                         [(str(step), str(number)) for step in range(4) for number in range(3)])
        for row in rows:
            for name in NAMES:
                self.assertEqual(float(row[name]), tensors[name][int(row["row"])], name)

    def test_hold_every_bit_of_a_number(self):
        halves = VALUES.clip(-65504, 65504).astype(np.float16)
        integers = np.resize(np.array([INTEGERS.min, INTEGERS.max, 0, -1], np.int64), len(VALUES))
        columns = {"f32": VALUES, "f64": VALUES.astype(np.float64) / 3, "f16": halves, "i64": integers,
                   "bool": integers != 0}
        _, rows = self.record(columns)
        for name, type_of in (("f32", np.float32), ("f64", np.float64), ("f16", np.float16)):
            read = np.array([row[name] for row in rows]).astype(np.float64).astype(type_of)
            np.testing.assert_array_equal(read, columns[name])
            np.testing.assert_array_equal(np.signbit(read[3:]), np.signbit(columns[name][3:]))
        self.assertEqual([int(row["i64"]) for row in rows], integers.tolist())
        self.assertEqual([row["bool"] for row in rows], [str(int(value)) for value in columns["bool"]])
        self.assertEqual([row["f32"] for row in rows[:3]], ["NaN", "Infinity", "-Infinity"])

    def test_name_the_elements_of_a_row(self):
        matrix = np.arange(12, dtype=np.float64).reshape(2, 2, 3)
        heading, rows = self.record({"a, b": matrix, "label": np.array([7, 3], np.uint8)})
        self.assertEqual(set(heading[3:]), {"label"} | {f"a, b[{i},{j}]" for i in range(2) for j in range(3)})
        for number, row in enumerate(rows):
            self.assertEqual(int(row["label"]), (7, 3)[number])
            for i in range(2):
                for j in range(3):
                    self.assertEqual(float(row[f"a, b[{i},{j}]"]), matrix[number, i, j])

    def test_of_the_policy_are_files_of_their_own(self):
        self.record({name: VALUES + i for i, name in enumerate(NAMES)}, steps=2)
        paths = glob.glob(self.path("run/tables/activation/**/*.csv"), recursive=True)
        self.assertEqual(len(paths), len(NAMES))
        first = set()
        for path in paths:
            heading, rows = self.read(path)
            self.assertEqual(heading, ["step", "wall_time", "row", "value"])
            self.assertEqual(len(rows), 2 * len(VALUES))
            self.assertEqual([row["value"] for row in rows[:3]], ["NaN", "Infinity", "-Infinity"])
            first.add(float(rows[3]["value"]))
        self.assertEqual(first, set(range(len(NAMES))))

    def test_may_have_any_name_themselves(self):
        for table in ("a, b", 'say "hi"\n', "../../outside", "größe"):
            with self.subTest(table):
                self.folder = os.path.join(self.folder, "below")
                os.makedirs(self.folder)
                safetensors.numpy.save_file({"x": VALUES}, self.path("t.safetensors"))
                subprocess.run([RECORDER, "run", table, "t.safetensors", "1"], cwd=self.folder, check=True, timeout=60)
                self.assertEqual(sorted(os.listdir(self.folder)), ["run", "t.safetensors"])
                tables = [path for path in glob.glob(self.path("run/tables/**/*.csv"), recursive=True)
                          if "/tables/activation/" not in path]
                self.assertEqual([self.read(path)[0][3:] for path in tables], [["x"]])


if __name__ == "__main__":
    unittest.main()
