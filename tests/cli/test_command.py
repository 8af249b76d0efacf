"""The command: every subcommand, its exit codes, and a clean standard output where something is wrong."""

import json
import os
import subprocess
import sys
import unittest
import wave

import numpy as np
from PIL import Image
from safetensors.numpy import save_file

from command import SONDE, Case

PINK = (0xFF, 0x3D, 0x9A)
ORANGE = (0xFF, 0x8C, 0x00)


class Help(Case):
    def commands(self):
        lines = self.output("--help").split("Commands\n")[1].split("\n\n")[0].splitlines()
        return [line.split()[0] for line in lines]

    def test_version(self):
        with open(os.path.join(os.environ["SONDE_SOURCE_DIR"], "VERSION"), encoding="utf-8") as file:
            self.assertEqual(self.output("--version"), f"sonde {file.read().strip()}\n")

    def test_is_the_same_however_it_is_asked_for(self):
        text = self.output("--help")
        self.assertEqual(self.output("-h"), text)
        self.assertEqual(self.output("help"), text)
        self.assertEqual(self.output(), text)

    def test_lists_only_commands_that_exist(self):
        self.assertIn("show", self.commands())
        self.assertIn("doctor", self.commands())
        for command in self.commands():
            if command != "help":
                self.assertTrue(self.output("help", command).startswith(f"sonde {command}: "))
                self.assertEqual(self.output(command, "--help"), self.output("help", command))
                self.assertEqual(self.output(command, "-h"), self.output("help", command))

    def test_fits_80_columns(self):
        texts = [self.output("--help")] + [self.output("help", c) for c in self.commands() if c != "help"]
        for text in texts:
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, line)
                self.assertEqual(line, line.rstrip())

    def test_is_coloured_on_a_terminal_only(self):
        self.assertNotIn("\x1b", self.output("--help"))
        self.assertIn("\x1b[1m", self.on_terminal("--help"))
        self.assertNotIn("\x1b", self.on_terminal("--help", NO_COLOR="1"))
        self.assertNotIn("\x1b", self.on_terminal("--help", TERM="dumb"))

    def test_an_unknown_command_gets_a_suggestion(self):
        self.assertIn("did you mean 'show'?", self.error("shwo"))
        self.assertIn("did you mean 'doctor'?", self.error("docto"))
        self.assertIn("did you mean 'show'?", self.error("help", "shwo"))
        self.assertIn("sonde --help", self.error("xyzzy"))
        self.assertIn("did you mean '--version'?", self.error("--versoin"))

    def test_wrong_arguments_are_reported_in_one_sentence(self):
        file = self.save("a.npy", np.arange(3))
        self.assertIn("did you mean '--full'?", self.error("show", file, "--ful"))
        self.assertIn("'b' is an unexpected argument", self.error("show", file, "b"))
        self.assertIn("FILE is missing", self.error("show"))
        self.assertIn("--png needs a value", self.error("show", file, "--png"))
        self.assertIn("--png needs a value", self.error("show", file, "--png", "--full"))
        self.assertIn("--cells needs a value", self.error("show", file, "--cells="))
        self.assertIn("--full takes no value", self.error("show", file, "--full=3"))
        self.assertIn("not 'pink'", self.error("show", file, "--colors", "pink"))
        self.assertIn("not 'x'", self.error("show", file, "--cells", "x"))
        self.assertIn("at least 1", self.error("show", file, "--cells", "0"))
        self.assertIn("sonde help show", self.error("show", file, "--cells", "1e9"))



class Run(Case):
    """`sonde run` hands its arguments to the Python package; what that does is tested there."""

    def test_starts_the_interpreter_with_the_arguments_as_they_are(self):
        python = self.path("python")
        with open(python, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nshift 2\nprintf '%s\\n' \"$@\"\nexit 7\n")
        os.chmod(python, 0o755)
        done = self.run_sonde("run", "--every", "3", "train.py", "--help", "-x", SONDE_PYTHON=python)
        self.assertEqual((done.returncode, done.stdout), (7, "--every\n3\ntrain.py\n--help\n-x\n"))

    def test_says_what_is_missing(self):
        done = self.run_sonde("run", "train.py", SONDE_PYTHON="/no/such/python")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("cannot start '/no/such/python'", done.stderr)
        self.assertIn("SONDE_PYTHON", done.stderr)
        bare = self.path("python")  # one that sees no installed package
        with open(bare, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
        os.chmod(bare, 0o755)
        done = self.run_sonde("run", "train.py", SONDE_PYTHON=bare)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("has no Python package sonde", done.stderr)
        self.assertIn("make install-python", done.stderr)


class ShowFile(Case):
    def test_npy_is_a_line_and_what_numpy_prints(self):
        array = np.random.default_rng(0).standard_normal((300, 7)).astype(np.float32)
        file = self.save("x.npy", array)
        line, values = self.output("show", file).split("\n", 1)
        self.assertRegex(line, r"\Ax.npy f32\[300,7\] -\d.* \|.{10}\| \d.*  mean \S+ std \S+\Z")
        self.assertEqual(values, str(array) + "\n")
        self.assertEqual(self.output(file), self.output("show", file))
        self.assertEqual(self.output(file, "--full").split("\n", 1)[1],
                         np.array2string(array, threshold=array.size + 1) + "\n")

    def test_fortran_order_big_endian_scalars_and_complex_numbers(self):
        array = np.arange(12).reshape(3, 4)
        for form in (np.asfortranarray(array), array.astype(">i4"), array.astype(complex), np.array(3.5), np.zeros((0, 3))):
            self.assertEqual(self.output("show", self.save("x.npy", form)).split("\n", 1)[1], f"{form}\n")

    def test_non_finite_values_are_counted(self):
        file = self.save("x.npy", np.array([1, 2, np.nan, np.nan, np.inf, -np.inf]))
        self.assertIn("  NaN 2  Inf 1  -Inf 1\n", self.output("show", file))

    def test_archives_are_listed(self):
        tensors = {"a/kernel": np.ones((2, 3), np.float32), "b": np.arange(5)}
        np.savez(self.path("x.npz"), **tensors)
        np.savez_compressed(self.path("y.npz"), **tensors)
        save_file(tensors, self.path("x.safetensors"), {"epoch": "7"})
        for name in ("x.npz", "y.npz", "x.safetensors"):
            lines = self.output("show", name).splitlines()
            self.assertTrue(lines[0].startswith(f"{name}  2 tensors, "), lines)
            rows = {line.split()[1]: line.split()[2] for line in lines[-2:]}
            self.assertEqual(rows, {"a/kernel": "f32[2,3]", "b": "i64[5]"})
        self.assertIn("epoch = 7", self.output("show", "x.safetensors"))

    def test_one_tensor_of_an_archive_by_name_or_number(self):
        save_file({"a": np.ones((2, 3)), "b": np.arange(5), "1": np.zeros(2)}, self.path("x.safetensors"))
        self.assertRegex(self.output("show", "x.safetensors", "--tensor", "b"),
                         r"\Ab i64\[5\] 0 \|.{10}\| 4  mean 2 std 1\.41\n\[0 1 2 3 4\]\n\Z")
        self.assertTrue(self.output("show", "x.safetensors", "--tensor", "1").startswith("1 f64[2] all 0\n"))
        listed = self.output("show", "x.safetensors").splitlines()[1:]
        for line in listed:
            number, name = line.split()[:2]
            if number != "1":
                self.assertTrue(self.output("show", "x.safetensors", "--tensor", number).startswith(f"{name} "))
        self.assertIn("no tensor 'bb'", self.error("show", "x.safetensors", "--tensor", "bb"))
        self.assertIn("no tensor '3'", self.error("show", "x.safetensors", "--tensor", "3"))

    def test_an_empty_archive_has_no_tensors(self):
        np.savez(self.path("x.npz"))
        self.assertTrue(self.output("show", "x.npz").startswith("x.npz  0 tensors, "))

    def test_names_cannot_play_with_the_terminal(self):
        save_file({"a\n\x1b[31mb": np.ones(3)}, self.path("x.safetensors"))
        self.assertIn("a\\n\\x1b[31mb", self.output("show", "x.safetensors"))

    def test_png_is_its_size_and_a_line(self):
        Image.fromarray(np.zeros((30, 40, 3), np.uint8)).save(self.path("x.png"))
        self.assertEqual(self.output("show", "x.png"), "x.png  40 x 30 pixels, RGB, 8 bits\nu8[30,40,3] all 0\n")

    def test_wav_is_its_length_and_a_line(self):
        with wave.open(self.path("x.wav"), "wb") as file:
            file.setnchannels(2)
            file.setsampwidth(2)
            file.setframerate(16000)
            file.writeframes(np.zeros((40000, 2), "<i2").tobytes())
        self.assertEqual(self.output("show", "x.wav"), "x.wav  16000 Hz, 2 channels, 2.5 s\ni16[40000,2] all 0\n")

    def test_json_is_for_programs(self):
        array = np.array([[0, 1.5, np.nan], [-2, np.inf, -np.inf]], np.float32)
        save_file({"name \"x\"": array, "none": np.full(2, np.nan)}, self.path("x.safetensors"))
        answer = json.loads(self.output("show", "x.safetensors", "--json"))
        self.assertEqual(answer["format"], "safetensors")
        tensors = {tensor["name"]: tensor for tensor in answer["tensors"]}
        tensor = tensors["name \"x\""]
        self.assertEqual((tensor["dtype"], tensor["shape"]), ("f32", [2, 3]))
        finite = array[np.isfinite(array)].astype(np.float64)
        self.assertEqual({**tensor["stats"], "mean": 0, "std": 0},
                         {"min": -2, "max": 1.5, "mean": 0, "std": 0, "nan": 1, "inf": 2, "zero": 1})
        self.assertAlmostEqual(tensor["stats"]["mean"], finite.mean(), delta=1e-12)
        self.assertAlmostEqual(tensor["stats"]["std"], finite.std(), delta=1e-12)
        self.assertEqual(tensors["none"]["stats"]["min"], "NaN")
        self.assertIsNone(json.loads(self.output("show", self.save("c.npy", np.array([1j])), "--json"))["tensors"][0]["stats"])

    def test_colours_and_blocks_are_for_terminals(self):
        file = self.save("x.npy", np.arange(100.0))
        self.assertNotIn("\x1b", self.output("show", file))
        shown = self.on_terminal("show", file, LANG="C.UTF-8")
        self.assertIn("\x1b[1mx.npy\x1b[0m", shown)
        self.assertIn("█", shown)
        self.assertNotIn("█", self.on_terminal("show", file, LANG="C"))
        self.assertNotIn("\x1b", self.on_terminal("show", file, NO_COLOR="1"))


class ShowPicture(Case):
    def drawn(self, array, *options):
        said = self.output("show", self.save("x.npy", array), "--png", "x.png", *options).splitlines()
        self.assertEqual(len(said), 2, said)
        with Image.open(self.path("x.png")) as picture:
            picture.load()
            self.assertTrue(said[1].startswith(f"x.png: {picture.width} x {picture.height} pixels, "), said)
            return picture, said[1].split()[-1]

    def test_bytes_stay_as_they_are(self):
        array = np.random.default_rng(0).integers(0, 256, (20, 30, 3)).astype(np.uint8)
        picture, layout = self.drawn(array)
        self.assertEqual(layout, "HWC")
        np.testing.assert_array_equal(np.asarray(picture), array)
        picture, layout = self.drawn(np.ascontiguousarray(array.transpose(2, 0, 1)))
        self.assertEqual(layout, "CHW")
        np.testing.assert_array_equal(np.asarray(picture), array)

    def test_channels_become_a_grid(self):
        picture, layout = self.drawn(np.random.default_rng(0).random((1, 24, 24, 32)).astype(np.float32))
        self.assertEqual((layout, picture.size, picture.mode), ("NHWC", (199, 99), "RGB"))
        picture, layout = self.drawn(np.random.default_rng(0).random((2, 16, 8, 8)).astype(np.float32), "--cells", "4")
        self.assertEqual((layout, picture.size), ("NCHW", (17, 17)))
        picture, layout = self.drawn(np.zeros((4, 4, 6), np.float32), "--layout", "NHW")
        self.assertEqual((layout, picture.size), ("NHW", (13, 9)))

    def test_values_that_are_no_colours_get_a_map(self):
        picture, _ = self.drawn(np.array([[-1.0, 0.0, 2.0]]))
        self.assertEqual(picture.getpixel((1, 0)), (255, 255, 255))
        picture, _ = self.drawn(np.array([[0.0, 0.5, 20.0]]))
        self.assertEqual(picture.getpixel((0, 0)), (0x44, 0x01, 0x54))
        picture, _ = self.drawn(np.array([[0.0, 0.5, 1.0]]))
        self.assertEqual(picture.mode, "L")
        picture, _ = self.drawn(np.array([[0.0, 0.5, 1.0]]), "--colors", "viridis")
        self.assertEqual(picture.getpixel((2, 0)), (0xFD, 0xE7, 0x25))

    def test_non_finite_values_stand_out(self):
        picture, _ = self.drawn(np.array([[-1.0, np.nan, np.inf, -np.inf, 1.0]]))
        self.assertEqual([picture.getpixel((x, 0)) for x in (1, 2, 3)], [PINK, ORANGE, ORANGE])

    def test_numbers_and_vectors_are_a_row(self):
        self.assertEqual(self.drawn(np.arange(5) * 1.0)[0].size, (5, 1))
        self.assertEqual(self.drawn(np.array(0.5))[0].size, (1, 1))

    def test_tensors_that_cannot_be_drawn_are_an_error_without_a_file(self):
        file = self.save("x.npy", np.zeros((3, 4)))
        self.assertIn("f64[3,4]", self.error("show", file, "--png", "x.png", "--layout", "NHWC"))
        self.assertIn("empty", self.error("show", self.save("e.npy", np.zeros((0, 3))), "--png", "x.png"))
        self.assertIn("too many axes", self.error("show", self.save("f.npy", np.zeros((2,) * 5)), "--png", "x.png"))
        self.assertIn("complex", self.error("show", self.save("c.npy", np.ones((2, 2), complex)), "--png", "x.png"))
        np.savez(self.path("x.npz"), a=np.zeros(3), b=np.zeros(3))
        self.assertIn("--tensor", self.error("show", "x.npz", "--png", "x.png"))
        self.assertIn("nowhere", self.error("show", file, "--png", "nowhere/x.png"))
        self.assertFalse(os.path.exists(self.path("x.png")))


class BadFiles(Case):
    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return name

    def test_a_missing_file(self):
        self.assertIn("nowhere.npy", self.error("show", "nowhere.npy"))
        self.assertIn("nowhere.npy", self.error("nowhere.npy"))

    def test_a_file_that_holds_no_tensors(self):
        self.assertIn("x.txt", self.error("show", self.write("x.txt", b"hello")))
        self.assertIn("is empty", self.error("show", self.write("x.bin", b"")))

    def test_a_directory_is_not_a_tensor_file(self):
        self.assertIn("is a directory", self.error("show", self.folder))

    def test_a_damaged_model(self):
        self.assertIn("x.onnx' is not a valid ONNX model", self.error("./" + self.write("x.onnx", b"\x08\x07")))

    def test_damaged_files_of_every_format(self):
        self.save("x.npy", np.arange(100.0))
        np.savez(self.path("x.npz"), a=np.arange(100.0))
        np.savez_compressed(self.path("y.npz"), a=np.arange(100.0))
        save_file({"a": np.arange(100.0)}, self.path("x.safetensors"))
        Image.fromarray(np.random.default_rng(0).integers(0, 256, (20, 20), np.uint8)).save(self.path("x.png"))
        with wave.open(self.path("x.wav"), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            file.writeframes(bytes(2000))
        for name in ("x.npy", "x.npz", "y.npz", "x.safetensors", "x.png", "x.wav"):
            with open(self.path(name), "rb") as file:
                data = file.read()
            for length in (0, 1, 5, 9, 20, len(data) // 2, len(data) - 1):
                damaged = self.write("damaged." + name.split(".")[1], data[:length])
                result = self.run_sonde("show", damaged)
                with self.subTest(name=name, length=length):
                    if name == "x.wav" and length >= 44:  # what is left of a sound may be shown
                        self.assertIn(result.returncode, (0, 2))
                    else:
                        self.assertEqual(result.returncode, 2)
                        self.assertEqual(result.stdout, "")
                        self.assertRegex(result.stderr, r"\Asonde: 'damaged[^\n]+\n\Z")
            position = len(data) // 3
            flipped = self.write("flipped." + name.split(".")[1],
                                 data[:position] + bytes([data[position] ^ 0xFF]) + data[position + 1:])
            self.assertIn(self.run_sonde("show", flipped).returncode, (0, 2))

    def test_a_wrong_checksum_is_noticed(self):
        np.savez(self.path("x.npz"), a=np.arange(1000.0))
        with open(self.path("x.npz"), "r+b") as file:
            file.seek(4000)
            file.write(b"\xff\xff")
        result = self.run_sonde("show", "x.npz")
        self.assertEqual(result.returncode, 2)
        self.assertIn("checksum", result.stderr)

    def test_the_name_does_not_matter_where_the_content_is_clear(self):
        os.rename(self.save("x.npy", np.arange(3)), self.path("y.data"))
        self.assertTrue(self.output("show", "y.data").startswith("y.data i64[3] "))

    def test_an_output_that_cannot_be_written_is_an_error(self):
        folder = os.path.join(os.environ["SONDE_SOURCE_DIR"], "tests", "data", "torch")
        for arguments in (("--help",), ("ls", folder), ("export", folder)):
            with open("/dev/full", "w", encoding="utf-8") as full:
                result = subprocess.run([SONDE, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
                                        env=self.environment)
            self.assertEqual((result.returncode, result.stderr),
                             (2, "sonde: cannot write to standard output: No space left on device\n"))


class Doctor(Case):
    NAMES = ["version", "build", "cpu", "simd", "clock", "page size", "directory", "space", "file system", "open files",
             "dirty pages", "cache", "tensorboard"]

    def checks(self, *arguments, **environment):
        result = self.run_sonde("doctor", "--json", *arguments, **environment)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return {check["name"]: check for check in json.loads(result.stdout)["checks"]}

    def test_says_ok_or_warn_in_a_line_for_every_check(self):
        lines = self.output("doctor").splitlines()
        self.assertEqual(len(lines), len(self.NAMES))
        for line, name in zip(lines, self.NAMES):
            self.assertRegex(line, rf"\A(ok  |warn)  {name} +\S")
        self.assertEqual(list(self.checks()), self.NAMES)

    def test_looks_at_the_directory_that_is_named(self):
        self.assertTrue(self.checks("--dir", self.folder)["directory"]["text"].startswith(os.path.realpath(self.folder)))
        self.assertIn("not a directory", self.error("doctor", "--dir", "nowhere"))

    def test_warns_of_few_open_files(self):
        result = subprocess.run(["bash", "-c", f"ulimit -n 64 && exec {SONDE} doctor --json"], stdout=subprocess.PIPE,
                                text=True, timeout=60, check=True)
        checks = {check["name"]: check for check in json.loads(result.stdout)["checks"]}
        self.assertEqual(checks["open files"]["status"], "warn")
        self.assertIn("64", checks["open files"]["text"])

    def test_finds_tensorboard_on_the_path(self):
        program = self.path("tensorboard")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        os.chmod(program, 0o755)
        self.assertEqual(self.checks(PATH=self.folder)["tensorboard"]["text"], program)
        self.assertIn("not on PATH", self.checks(PATH="/nowhere")["tensorboard"]["text"])


class Values(Case):
    """`sonde show --full --json`: every element, nested as the axes are."""

    def values(self, array):
        (tensor,) = self.json("show", self.save("a.npy", array), "--full")["tensors"]
        return tensor["values"]

    def test_of_every_type(self):
        for dtype in (np.int8, np.uint64, np.int64, np.float16, np.float32, np.float64, np.bool_):
            array = np.arange(6).reshape(2, 3).astype(dtype)
            self.assertEqual(self.values(array), array.tolist(), dtype)
        self.assertEqual(self.values(np.array([2**64 - 1], np.uint64)), [2**64 - 1])
        self.assertEqual(self.values(np.array(0.1, np.float32)), 0.1)
        self.assertEqual(self.values(np.array([1 / 3])), [1 / 3])
        self.assertEqual(self.values(np.array([1 + 2j], np.complex64)), [[1, 2]])
        self.assertEqual(self.values(np.zeros((2, 0))), [[], []])

    def test_non_finite_numbers_are_strings(self):
        self.assertEqual(self.values(np.array([np.nan, np.inf, -np.inf], np.float32)), ["NaN", "Infinity", "-Infinity"])

    def test_of_a_transposed_array(self):
        array = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
        self.assertEqual(self.values(array), array.tolist())


if __name__ == "__main__":
    unittest.main()
