"""sonde diff: what it finds between two sets of tensors, against NumPy."""

import base64
import io
import os
import pathlib
import re
import subprocess
import unittest

import ml_dtypes
import numpy as np
import safetensors.numpy
from PIL import Image

from command import Case

TOOL = os.environ["SONDE_CAPTURE_TOOL"]


def norm_relative(a, b):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


class DiffCase(Case):
    def archive(self, name, **tensors):
        np.savez(self.path(name), **tensors)
        return self.path(name)

    def row(self, answer, name):
        return next(row for row in answer["tensors"] if row["tensor"] == name)

    def statuses(self, answer):
        return {row["tensor"]: row["status"] for row in answer["tensors"]}


class Values(DiffCase):
    def test_metrics_are_those_of_numpy(self):
        random = np.random.default_rng(1)
        b = random.standard_normal((7, 300)).astype(np.float32)
        a = (b + 0.01 * random.standard_normal(b.shape)).astype(np.float32)
        row = self.row(self.json("diff", self.archive("a.npz", x=a), self.archive("b.npz", x=b), code=1), "x")
        wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
        delta = wide_a - wide_b
        self.assertAlmostEqual(row["norm_relative"], norm_relative(a, b), delta=1e-12)
        self.assertEqual(row["max_abs"], np.abs(delta).max())
        self.assertAlmostEqual(row["max_rel"] / (np.abs(delta) / np.abs(wide_b)).max(), 1, delta=1e-12)
        self.assertAlmostEqual(row["rmse"], np.sqrt((delta**2).mean()), delta=1e-12)
        self.assertAlmostEqual(
            row["cosine"], (wide_a * wide_b).sum() / np.linalg.norm(wide_a) / np.linalg.norm(wide_b), delta=1e-12)
        self.assertAlmostEqual(row["sqnr"], 10 * np.log10((wide_b**2).sum() / (delta**2).sum()), delta=1e-9)
        self.assertEqual(tuple(row["worst"]), np.unravel_index(np.abs(delta).argmax(), a.shape))
        self.assertEqual(row["different"], (a != b).sum())

    def test_units_in_the_last_place_are_those_of_numpy(self):
        b = np.random.default_rng(2).standard_normal(500).astype(np.float32)
        a = b.copy()
        for _ in range(7):
            a = np.nextafter(a, np.float32(np.inf))
        row = self.row(self.json("diff", self.archive("a.npz", x=a), self.archive("b.npz", x=b)), "x")
        self.assertEqual((row["max_ulp"], row["status"]), (7, "within tolerance"))

    def test_element_wise_tolerances_are_those_of_isclose(self):
        random = np.random.default_rng(3)
        b = random.standard_normal(2000)
        a = b * (1 + 1e-3 * random.standard_normal(2000)) + 1e-5 * random.standard_normal(2000)
        files = self.archive("a.npz", x=a), self.archive("b.npz", x=b)
        for rtol, atol in (1e-3, 0), (0, 1e-3), (2e-3, 1e-4), (1e-1, 1e-1):
            outside = int((~np.isclose(a, b, rtol=rtol, atol=atol)).sum())
            answer = self.json("diff", *files, "--rtol", str(rtol), "--atol", str(atol), code=int(outside > 0))
            self.assertEqual(self.row(answer, "x")["outside"], outside)

    def test_the_tolerance_that_would_pass_passes(self):
        b = np.random.default_rng(4).standard_normal(100)
        files = self.archive("a.npz", x=b + 0.03), self.archive("b.npz", x=b)
        passing = self.row(self.json("diff", *files, "--rtol", "1e-3", code=1), "x")["would_pass"]
        rtol = passing.removeprefix("rtol ").split(",")[0]
        self.json("diff", *files, "--rtol", rtol)

    def test_tolerances_hold_for_names_that_a_pattern_matches(self):
        b = np.ones(5, np.float32)
        files = self.archive("a.npz", enc_1=b * 1.01, dec_1=b), self.archive("b.npz", enc_1=b, dec_1=b)
        self.json("diff", *files, code=1)
        answer = self.json("diff", *files, "--tolerance", "enc.*=0.02,0")
        self.assertEqual(self.row(answer, "enc_1")["tolerance"], "rtol 0.02, atol 0")
        self.assertEqual(self.row(answer, "dec_1")["tolerance"], "norm-relative 1e-05")

    def test_nan_and_infinities_agree_with_themselves_only(self):
        a = np.array([1, np.nan, np.inf, -np.inf], np.float32)
        self.json("diff", self.archive("a.npz", x=a), self.archive("a2.npz", x=a))
        b = np.array([1, np.nan, -np.inf, -np.inf], np.float32)
        row = self.row(self.json("diff", self.path("a.npz"), self.archive("b.npz", x=b), code=1), "x")
        self.assertEqual((row["status"], row["non_finite_differ"], row["non_finite_a"]), ("different", 1, 3))
        self.assertIn("not finite in only one", self.run_sonde("diff", self.path("a.npz"), self.path("b.npz")).stdout)

    def test_every_type_is_compared(self):
        for dtype in (np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64,
                      np.float16, np.float32, np.float64, np.complex64):
            a = np.arange(12).reshape(3, 4).astype(dtype)
            b = a.copy()
            b[0, 0] = 1
            same = self.json("diff", self.archive("a.npz", x=a), self.archive("a2.npz", x=a))
            self.assertEqual(same["tensors"][0]["status"], "same")
            other = self.json("diff", self.path("a.npz"), self.archive("b.npz", x=b), code=1)
            self.assertEqual((other["tensors"][0]["different"], other["first"]["max_abs"]), (1, 1), dtype)

    def test_small_floats_are_compared_in_their_own_type(self):
        for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
            b = np.linspace(0.5, 2, 40).astype(dtype)
            a = b.copy()
            a[5] = np.nextafter(a[5], dtype(4))
            safetensors.numpy.save_file({"x": a}, self.path("a.safetensors"))
            safetensors.numpy.save_file({"x": b}, self.path("b.safetensors"))
            row = self.row(self.json("diff", self.path("a.safetensors"), self.path("b.safetensors")), "x")
            self.assertEqual((row["max_ulp"], row["different"]), (1, 1), dtype)

    def test_types_that_differ_are_cast_to_the_smaller_one(self):
        wide = np.random.default_rng(5).standard_normal(1000).astype(np.float32)
        row = self.row(self.json("diff", self.archive("a.npz", x=wide), self.archive("b.npz", x=wide.astype(np.float16))), "x")
        self.assertEqual((row["status"], row["notes"]), ("same", ["A cast from f32 to f16"]))

    def test_empty_tensors_and_scalars_are_compared(self):
        a = self.archive("a.npz", none=np.zeros((0, 3)), scalar=np.float64(2))
        b = self.archive("b.npz", none=np.zeros((0, 3)), scalar=np.float64(3))
        answer = self.json("diff", a, b, code=1)
        self.assertEqual(self.statuses(answer), {"none": "same", "scalar": "different"})
        self.assertEqual(self.row(answer, "scalar")["worst"], [])

    def test_the_layout_of_images_is_recognised(self):
        nchw = np.random.default_rng(6).standard_normal((2, 3, 8, 8)).astype(np.float32)
        nhwc = np.ascontiguousarray(nchw.transpose(0, 2, 3, 1))
        row = self.row(self.json("diff", self.archive("a.npz", x=nhwc), self.archive("b.npz", x=nchw)), "x")
        self.assertEqual((row["status"], row["order_b"]), ("same", [0, 2, 3, 1]))
        self.assertEqual(row["notes"], ["B permuted by (0, 2, 3, 1), as NCHW to NHWC"])

    def test_a_transposed_square_matrix_differs_with_a_hint(self):
        a = np.random.default_rng(7).standard_normal((5, 5))
        row = self.row(self.json("diff", self.archive("a.npz", x=a), self.archive("b.npz", x=a.T), code=1), "x")
        self.assertEqual((row["status"], row["notes"]), ("different", ["would agree with B permuted by (1, 0)"]))

    def test_shapes_that_differ_are_no_error(self):
        answer = self.json("diff", self.archive("a.npz", x=np.zeros((2, 3))), self.archive("b.npz", x=np.zeros(6)), code=1)
        self.assertEqual(answer["tensors"][0]["status"], "shape differs")
        self.assertEqual((answer["first"]["tensor"], answer["first"]["max_abs"]), ("x", None))


class Sets(DiffCase):
    def test_files_of_all_formats_are_compared(self):
        x = np.arange(6, dtype=np.float32)
        safetensors.numpy.save_file({"x": x}, self.path("a.safetensors"))
        np.savez_compressed(self.path("b.npz"), x=x)
        self.json("diff", "a.safetensors", "b.npz")
        self.save("one.npy", x)
        self.save("two.npy", x + 1)
        self.assertEqual(self.json("diff", "one.npy", "two.npy", code=1)["first"]["max_abs"], 1)

    def test_directories_are_compared_file_by_file(self):
        for folder, factor in ("a", 1), ("b", 2):
            os.makedirs(self.path(f"{folder}/conv"))
            self.save(f"{folder}/conv/out.npy", np.ones(4))
            self.archive(f"{folder}/rest.npz", y=np.ones(4) * factor)
        answer = self.json("diff", "a", "b", code=1)
        self.assertEqual(self.statuses(answer), {"conv/out": "same", "rest/y": "different"})

    def test_a_tensor_that_one_file_lacks_is_a_difference(self):
        a, b = self.archive("a.npz", x=np.ones(2), y=np.ones(2)), self.archive("b.npz", x=np.ones(2), z=np.ones(2))
        answer = self.json("diff", a, b, code=1)
        self.assertEqual(self.statuses(answer), {"x": "same", "y": "only in A", "z": "only in B"})
        self.assertEqual(answer["first"]["tensor"], "y")

    def test_a_map_pairs_other_names(self):
        a, b = self.archive("a.npz", p=np.ones(2), q=np.zeros(2)), self.archive("b.npz", u=np.zeros(2), v=np.ones(2))
        pathlib.Path(self.path("map.txt")).write_text("# pairs\np -> v\nq -> u\n", encoding="utf-8")
        answer = self.json("diff", a, b, "--map", "map.txt")
        self.assertEqual({row["tensor"]: row["tensor_b"] for row in answer["tensors"]}, {"p": "v", "q": "u"})
        self.assertEqual({row["matched_by"] for row in answer["tensors"]}, {"mapping"})

    def test_captures_are_compared_step_by_step(self):
        for run in "one", "two":
            os.makedirs(self.path(run))
            subprocess.run([TOOL, "nan", run], cwd=self.folder, stdout=subprocess.PIPE, check=True, timeout=60)
        one, two = (next(pathlib.Path(self.path(run), "captures").iterdir()) for run in ("one", "two"))
        answer = self.json("diff", str(one), str(two))
        self.assertEqual(answer["order"], "execution")
        self.assertTrue(all(row["status"] == "same" for row in answer["tensors"]))


class Runs(DiffCase):
    def train(self, folder, *arguments):
        self.assertEqual(self.run_sonde("demo", "--dir", folder, "--steps", "100", "--no-serve", *arguments).returncode, 0)
        return os.path.join(folder, "train")

    def test_the_first_step_and_tensor_at_which_statistics_part(self):
        one, two, faulty = self.train("one"), self.train("two"), self.train("faulty", "--fault", "explode")
        self.assertEqual(self.json("diff", one, two)["first"], None)
        answer = self.json("diff", one, faulty, code=1)
        parting = {row["tensor"]: row["step"] for row in answer["tensors"] if "step" in row}
        self.assertEqual(answer["first"]["step"], min(parting.values()))
        self.assertGreaterEqual(answer["first"]["step"], 50)  # the fault starts halfway
        self.assertEqual(parting[answer["first"]["tensor"]], answer["first"]["step"])
        self.assertIn(f"at step {answer['first']['step']}: ", self.run_sonde("diff", one, faulty).stdout)

    def test_a_run_without_tensors_is_an_error(self):
        one = self.train("one")
        os.makedirs(self.path("empty"))
        pathlib.Path(self.path("empty/events.out.tfevents.1.host")).write_bytes(b"")
        self.assertIn("have no tensor in common", self.error("diff", one, "empty"))


class Page(DiffCase):
    def test_the_report_is_one_file_without_network_or_script(self):
        b = np.random.default_rng(8).standard_normal((40, 30)).astype(np.float32)
        a = b.copy()
        a[7, 9] += 1
        files = self.archive("a.npz", **{"<x>&": a, "y": b}), self.archive("b.npz", **{"<x>&": b, "y": b})
        self.assertEqual(self.run_sonde("diff", *files, "--html", "report.html").returncode, 1)
        page = pathlib.Path(self.path("report.html")).read_text(encoding="utf-8")
        self.assertIn("different: 1 of 2 tensors exceeds norm-relative 1e-05 (f32)", page)
        self.assertIn("&lt;x&gt;&amp;", page)
        self.assertNotRegex(page, r"<script|https?:|<link|@import|<x>")

    def test_its_pictures_show_where_tensors_differ(self):
        b = np.zeros((40, 30), np.float32)
        a = b.copy()
        a[7, 9] = 1
        self.run_sonde("diff", self.archive("a.npz", x=a), self.archive("b.npz", x=b + 0), "--html", "report.html")
        page = pathlib.Path(self.path("report.html")).read_text(encoding="utf-8")
        png = base64.b64decode(re.search(r"base64,([^']+)'", page).group(1))
        picture = np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)
        self.assertEqual(picture.shape, (40, 30, 3))
        brightness = picture.sum(axis=2)
        self.assertEqual(np.unravel_index(brightness.argmax(), brightness.shape), (7, 9))
        self.assertEqual(len(np.unique(brightness)), 2)

    def test_it_must_be_a_place_for_a_file(self):
        a = self.archive("a.npz", x=np.ones(2))
        self.assertIn("nowhere", self.error("diff", a, a, "--html", "nowhere/report.html"))


class Messages(DiffCase):
    def test_text_begins_with_the_verdict_and_its_tolerance(self):
        a = self.archive("a.npz", x=np.ones(4, np.float32), y=np.ones(4, np.float32))
        b = self.archive("b.npz", x=np.ones(4, np.float32), y=np.array([1, 1, 2, 1], np.float32))
        self.assertEqual(self.output("diff", a, a).splitlines()[0], "same: 2 tensors agree exactly")
        result = self.run_sonde("diff", a, b)
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "different: 1 of 2 tensors exceeds norm-relative 1e-05 (f32)")
        self.assertIn("first in the order of A: y  f32[4]", lines)
        self.assertIn("max abs 1 at [2], max rel 0.5", result.stdout)
        self.assertIn("would pass with norm-relative 0.38", result.stdout)

    def test_errors_are_one_sentence(self):
        a = self.archive("a.npz", dense_1=np.ones(2), other=np.ones(9))
        b = self.archive("b.npz", conv=np.ones(3), dens_1=np.ones(4))
        self.assertIn("there is no file or directory 'nowhere'", self.error("diff", a, "nowhere"))
        self.assertIn("A and B have no tensor in common", self.error("diff", a, b))
        self.assertIn("'dens_1'", self.error("diff", a, b))
        self.assertIn("is not valid: missing ')'", self.error("diff", a, a, "--tolerance", "x(=1"))
        self.assertIn("--rtol is -1", self.error("diff", a, a, "--rtol", "-1"))
        pathlib.Path(self.path("map.txt")).write_text("dense -> dense_1\n", encoding="utf-8")
        self.assertIn("there is no tensor 'dense' in A", self.error("diff", a, a, "--map", "map.txt"))
        pathlib.Path(self.path("text.npy")).write_text("not an array", encoding="utf-8")
        self.assertIn("text.npy", self.error("diff", a, "text.npy"))
        os.makedirs(self.path("empty"))
        self.assertIn("there is no tensor in 'empty'", self.error("diff", a, "empty"))

    def test_a_rule_that_matches_nothing_is_reported(self):
        a = self.archive("a.npz", x=np.ones(2))
        result = self.run_sonde("diff", a, a, "--tolerance", "conv.*=1")
        self.assertEqual(result.returncode, 0)
        self.assertIn("no tensor has a name that 'conv.*=1' matches", result.stderr)


if __name__ == "__main__":
    unittest.main()
