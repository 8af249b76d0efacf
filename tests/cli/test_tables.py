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


class TableCase(Case):
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


class Tables(TableCase):
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


class Shown(TableCase):
    """What `sonde ls` lists, `sonde show` shows."""

    def setUp(self):
        super().setUp()
        self.heading, self.rows = self.record({"x": np.arange(10, dtype=np.float32) / 4, "y": VALUES[:10]}, steps=6)
        (run,) = self.json("ls", ".")["runs"]
        (self.table,) = [table["file"] for table in run["tables"] if table["file"].startswith("tables/validation")]

    def test_by_the_name_that_ls_lists_or_the_one_it_was_recorded_under(self):
        for name in (self.table, self.table.removeprefix("tables/"), "validation", "tables/validation"):
            (table,) = self.json("show", ".", "run", name, "--full")["values"]
            self.assertEqual((table["kind"], table["file"], table["columns"], table["rows"], table["left_out"]),
                             ("table", self.table, self.heading, 60, 0))
            for shown, row in zip(table["values"], self.rows, strict=True):
                self.assertEqual([float(cell) for cell in shown[3:]][0], float(row["x"]))
                self.assertEqual(str(float(shown[4])), str(float(row["y"])))  # NaN and infinities are texts
        self.assertIn("did you mean", self.error("show", ".", "run", "tables/validatoin" + self.table[17:]))

    def test_the_first_and_the_last_rows(self):
        text = self.output("show", ".", "run", self.table, "--rows", "5").splitlines()
        self.assertEqual(text[1], f"{self.table}  5 columns, 60 rows")
        self.assertEqual(text[2].split(), self.heading)
        self.assertEqual([line.split()[2] for line in text[3:6] + text[7:]], ["0", "1", "2", "8", "9"])
        self.assertEqual(text[6], "  ... 55 rows left out: use --rows N or --full to print more")
        self.assertEqual(len(self.output("show", ".", "run", self.table, "--full").splitlines()), 63)
        self.assertEqual(len(self.output("show", ".", "run", self.table).splitlines()), 2 + 1 + 21)
        self.assertIn("--rows is 0", self.error("show", ".", "run", self.table, "--rows", "0"))

    def test_of_one_step(self):
        (table,) = self.json("show", ".", "run", self.table, "--step", "4", "--full")["values"]
        self.assertEqual((table["rows"], {row[0] for row in table["values"]}), (10, {4}))
        self.assertIn("has no row of step 9", self.error("show", ".", "run", self.table, "--step", "9"))

    def test_as_a_file(self):
        answer = self.json("show", os.path.join("run", self.table), "--rows", "2")
        self.assertEqual((answer["format"], answer["rows"], answer["left_out"], len(answer["values"])), ("csv", 60, 58, 2))
        with open(self.path("any.csv"), "w", encoding="utf-8", newline="") as file:
            file.write('name,"a, b"\r\n"two\nlines",\r\nno end,007')
        answer = self.json("show", "any.csv")
        self.assertEqual((answer["columns"], answer["values"]), (["name", "a, b"], [["two\nlines", ""], ["no end", "007"]]))
        self.assertIn("two\\nlines", self.output("show", "any.csv"))
        self.assertIn("needs a column 'step'", self.error("show", "any.csv", "--step", "1"))
        with open(self.path("bad.csv"), "w", encoding="utf-8") as file:
            file.write('a,b\n1,2\n"x"y,1\n')
        self.assertIn("'bad.csv' is not a table: not valid CSV: line 3", self.error("show", "bad.csv"))


if __name__ == "__main__":
    unittest.main()
