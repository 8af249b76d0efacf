"""sonde captures and sonde recover: why something was saved, what it contains, and which tensor produced the NaN."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

import numpy as np
import safetensors.numpy

from command import Case

TOOL = os.environ["SONDE_CAPTURE_TOOL"]


class CaptureCase(Case):
    def make(self, mode, run):
        os.makedirs(self.path(run), exist_ok=True)
        result = subprocess.run([TOOL, mode, run], cwd=self.folder, stdout=subprocess.PIPE, text=True, check=False,
                                timeout=60)
        self.assertIn(result.returncode, (0, -signal.SIGKILL))
        return result.stdout.strip()

    def fails(self, *arguments):
        """A command that succeeds in part: its output, and its error messages."""
        result = self.run_sonde(*arguments)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"\A(sonde: [^\n]+\n)+\Z")
        return result.stdout, result.stderr


class Captures(CaptureCase):
    def test_say_why_what_and_which_tensor(self):
        self.make("nan", "logs/train")
        size = sum(path.stat().st_size for path in pathlib.Path(self.path("logs/train/captures/1-nan")).iterdir())
        text = self.output("captures", "logs")
        self.assertRegex(text, r"\Alogs  1 capture\n\ntrain\n  1-nan  step 123, 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d, \d+ days ago\n")
        self.assertIn("    when     nonfinite('.*') or loss > 10\n", text)
        self.assertIn("    values   nonfinite('.*') = 13, loss = NaN\n", text)
        self.assertIn(f"    kept     steps 118 .. 123, 24 tensors, {size / 1000:.3g} kB\n", text)
        self.assertTrue(text.endswith(
            "    origin   step 123: activation/dense/out was the first to hold non-finite values (5 NaN of 64), although "
            "all of its inputs were finite: input/images, weight/dense/kernel\n"
            "             passed them on: activation/softmax\n"), text)

    def test_are_found_from_every_place(self):
        path = self.make("nan", "logs/a/train")
        self.make("manual", "logs/a/train")
        self.make("manual", "logs/b")
        runs = [(one["run"], os.path.basename(one["path"])) for one in self.json("captures", "logs")["captures"]]
        self.assertEqual(runs, [("a/train", "1-nan"), ("a/train", "2-manual"), ("b", "1-manual")])
        self.assertIn("logs  3 captures in 2 runs\n", self.output("captures", "logs"))
        for place in ("logs/a/train", "logs/a/train/", "logs/a/train/captures"):
            self.assertEqual(len(self.json("captures", place)["captures"]), 2, place)
        for place in (path, path + "/"):
            self.assertEqual([one["reason"] for one in self.json("captures", place)["captures"]], ["nan"])

    def test_are_in_the_order_of_creation(self):
        for _ in range(11):
            self.make("manual", "run")
        names = [os.path.basename(one["path"]) for one in self.json("captures", "run")["captures"]]
        self.assertEqual(names, [f"{i}-manual" for i in range(1, 12)])

    def test_through_links_are_found_once_a_way_and_circles_end(self):
        self.make("nan", "elsewhere/train")
        os.makedirs(self.path("logs"))
        os.symlink(self.path("elsewhere/train"), self.path("logs/linked"))
        os.symlink(self.path("logs"), self.path("logs/circle"))
        self.assertEqual([one["run"] for one in self.json("captures", "logs")["captures"]], ["linked"])

    def test_whose_origin_is_unclear_say_what_was_not_seen(self):
        self.make("unclear", "run")
        text = self.output("captures", "run")
        self.assertIn("    lost     17 tensors, step 123: the flight ring had no room\n", text)
        self.assertIn(", but they may come from an input that the capture does not show\n", text)
        self.assertIn("not seen: what it is computed from, which the program did not declare\n", text)
        self.assertIn("note: step 123 is the first that the capture holds, so the origin may be older\n", text)

    def test_say_in_one_line_what_they_lack_in_many_steps(self):
        self.make("crowded", "run")
        text = self.output("captures", "run")
        self.assertEqual([line.strip() for line in text.splitlines() if " lost " in line],
                         ["lost     all tensors of 2 steps: the flight ring has no room for this many steps",
                          "lost     200 tensors, steps 114 .. 123: the flight ring had no room"])
        self.assertIn("note: the capture lacks tensors (200) in steps 114 to 123\n", text)
        (capture,) = self.json("captures", "run")["captures"]
        self.assertEqual(len(capture["dropped"]), 11)

    def test_that_hold_nothing_say_why(self):
        self.make("empty", "run")
        text = self.output("captures", "run")
        self.assertRegex(text, r"\n  1-empty  step 123, ")
        self.assertTrue(text.endswith("    when     loss > 10\n    kept     nothing\n"
                                      "    lost     all tensors, steps 123 .. 124: the policy has no flight ring\n"
                                      "    origin   unknown, because nothing was kept\n"), text)

    def test_are_shown_file_by_file(self):
        path = self.make("nan", "run")
        self.assertIn(f"'{path}' is a capture: 'sonde captures' lists", self.error("show", path))
        self.assertIn("activation/dense/out", self.output("show", path + "/000000000123.safetensors"))

    def test_in_which_all_is_well_say_so(self):
        self.make("manual", "run")
        self.assertTrue(self.output("captures", "run").endswith("    origin   all values are finite\n"))

    def test_for_programs_have_all_that_capture_json_has(self):
        path = self.make("nan", "logs/train")
        with open(self.path(path) + "/capture.json", encoding="utf-8") as file:
            stored = json.load(file)
        (answer,) = self.json("captures", "logs")["captures"]
        self.assertEqual((answer.pop("run"), answer.pop("path")), ("train", "logs/train/captures/1-nan"))
        self.assertEqual(answer.pop("bytes"), sum(one.stat().st_size for one in pathlib.Path(self.path(path)).iterdir()))
        self.assertEqual(answer, stored)
        self.assertEqual(stored["values"][1], {"expression": "loss", "value": "NaN"})
        self.assertEqual([place["key"] for place in stored["origin"]["producers"]], ["activation/dense/out"])

    def test_are_files_that_others_read(self):
        path = self.path(self.make("nan", "run"))
        with open(path + "/capture.json", encoding="utf-8") as file:
            steps = json.load(file)["steps"]
        for step in steps:
            tensors = safetensors.numpy.load_file(os.path.join(path, step["file"]))
            self.assertEqual(sorted(tensors), sorted(tensor["key"] for tensor in step["tensors"]))
            for tensor in step["tensors"]:
                values = tensors[tensor["key"]]
                self.assertEqual(list(values.shape), tensor["shape"])
                self.assertEqual((values.size, int(np.isnan(values).sum())), (tensor["count"], tensor["nan"]))
            with safetensors.safe_open(os.path.join(path, step["file"]), "np") as file:
                metadata = file.metadata()
            self.assertEqual(json.loads(metadata["order"]), [tensor["key"] for tensor in step["tensors"]])
            self.assertEqual((int(metadata["step"]), float(metadata["wall_time"])), (step["step"], step["wall_time"]))

    def test_that_are_damaged_are_named_and_the_others_shown(self):
        broken, lost, whole = (self.make("nan", "run") for _ in range(3))
        with open(self.path(broken) + "/capture.json", "r+", encoding="utf-8") as file:
            file.truncate(100)
        os.remove(self.path(lost) + "/000000000120.safetensors")
        text, sentences = self.fails("captures", "run")
        self.assertNotIn("1-nan", text)
        self.assertIn("2-nan", text)
        self.assertIn(os.path.basename(whole), text)
        self.assertIn("1-nan/capture.json': not a valid capture.json", sentences)
        self.assertIn("the tensors of step 120 are missing: ", sentences)
        text, _ = self.fails("captures", "run", "--json")
        self.assertEqual(len(json.loads(text)["captures"]), 2)

    def test_of_which_many_files_are_missing_say_so_in_one_line(self):
        path = pathlib.Path(self.path(self.make("nan", "run")))
        for file in path.glob("*.safetensors"):
            file.unlink()
        _, sentences = self.fails("captures", "run")
        self.assertRegex(sentences, r"\Asonde: the tensors of step 118 are missing: [^\n]+, and 5 more\n\Z")

    def test_whose_tensors_are_damaged_are_shown_and_named(self):
        path = pathlib.Path(self.path(self.make("nan", "run")))
        file = path / "000000000120.safetensors"
        content = file.read_bytes()
        tensors = safetensors.numpy.load_file(file)

        def damaged(said):
            text, sentences = self.fails("captures", "run")
            self.assertIn("    kept     steps 118 .. 123, 24 tensors", text)
            self.assertIn("    damaged  the tensors of step 120 are damaged: ", text)
            self.assertRegex(sentences, r"\Asonde: the tensors of step 120 are damaged: [^\n]*"
                                        r"1-nan/000000000120\.safetensors'[^\n]*\n\Z")
            self.assertIn(said, sentences)
            self.assertEqual(len(json.loads(self.fails("captures", "run", "--json")[0])["captures"]), 1)

        for size in (0, 50, len(content) - 1):
            file.write_bytes(content[:size])
            damaged("safetensors")
        file.write_bytes(content + b"x")
        damaged("safetensors")
        kernel = tensors.pop("weight/dense/kernel")
        safetensors.numpy.save_file(tensors, file)
        damaged("lacks weight/dense/kernel, which capture.json names")
        for other in (kernel.astype(np.float64), kernel.T.copy(), kernel[:1]):
            safetensors.numpy.save_file({**tensors, "weight/dense/kernel": other}, file)
            damaged("holds weight/dense/kernel with another type or shape than capture.json says")
        safetensors.numpy.save_file({**tensors, "weight/dense/kernel": kernel, "more": kernel}, file)
        damaged("holds 5 tensors, and capture.json names 4")
        file.write_bytes(content)
        self.output("captures", "run")

    def test_whose_steps_do_not_ascend_say_so(self):
        path = pathlib.Path(self.path(self.make("nan", "run")), "capture.json")
        stored = json.loads(path.read_text(encoding="utf-8"))
        for numbers, said in (((5, 6, 7, 3, 4, 5), "6 steps with numbers from 3 to 7, not ascending, 24 tensors"),
                              ((9, 8, 7, 6, 5, 4), "6 steps with numbers from 4 to 9, not ascending, 24 tensors"),
                              ((0,) * 6, "6 times step 0, 24 tensors"), ((1, 2, 3, 5, 7, 9), "steps 1 .. 9, 24 tensors"),
                              ((-2**63, -1, 0, 1, 2**63 - 2, 2**63 - 1), f"steps {-2**63} .. {2**63 - 1}, 24 tensors")):
            for step, number in zip(stored["steps"], numbers):
                step["step"] = number
            path.write_text(json.dumps(stored), encoding="utf-8")
            self.assertIn("    kept     " + said, self.output("captures", "run"))

    def test_of_a_newer_version_are_named(self):
        path = self.path(self.make("nan", "run")) + "/capture.json"
        text = pathlib.Path(path).read_text(encoding="utf-8")
        pathlib.Path(path).write_text(text.replace('"version":1', '"version":9'), encoding="utf-8")
        self.assertIn("version 9", self.fails("captures", "run")[1])

    def test_whose_json_is_a_pipe_are_named_and_not_waited_for(self):
        path = self.path(self.make("nan", "run")) + "/capture.json"
        os.remove(path)
        os.mkfifo(path)
        self.assertIn("1-nan/capture.json': it is not a regular file\n", self.fails("captures", "run")[1])

    def test_without_their_json_are_named(self):
        os.makedirs(self.path("run/captures/1-nan"))
        self.assertIn("1-nan/capture.json", self.fails("captures", "run")[1])

    def test_that_do_not_exist_are_not_an_error(self):
        os.makedirs(self.path("logs/run"))
        self.assertEqual(self.output("captures", "logs"), "There are no captures in 'logs'.\n")
        self.assertEqual(self.json("captures", "logs"), {"captures": []})

    def test_of_a_path_that_is_not_a_directory_are(self):
        self.assertIn("'nowhere'", self.error("captures", "nowhere"))
        self.save("a.npy", np.zeros(3))
        self.assertIn("'a.npy'", self.error("captures", "a.npy"))

    def test_on_a_terminal_have_colour_and_lines_that_fit(self):
        self.make("nan", "logs/train")
        text = self.on_terminal("captures", "logs")
        self.assertIn("\x1b[31mstep 123: activation/dense/out", text)
        plain = text.replace("\x1b[0m", "").replace("\r", "")
        for code in ("1", "2", "31", "33", "36"):
            plain = plain.replace(f"\x1b[{code}m", "")
        self.assertLessEqual(max(map(len, plain.splitlines())), 80)

    def test_never_bring_codes_from_names_to_the_terminal(self):
        path = self.path(self.make("nan", "run")) + "/capture.json"
        text = pathlib.Path(path).read_text(encoding="utf-8")
        evil = text.replace("loss > 10", "\\u001b[31mloss").replace("activation/dense/out", "a\\u001b[2J")
        pathlib.Path(path).write_text(evil, encoding="utf-8")
        self.assertNotIn("\x1b", "".join(self.fails("captures", "run")))  # the file knows the tensor by its real name


class Recover(CaptureCase):
    def test_saves_the_steps_of_a_killed_process(self):
        ring = self.make("ring", "run")
        self.assertTrue(os.path.exists(self.path(ring)))
        text = self.output("recover", "run")
        self.assertTrue(text.startswith(f"run/captures/1-crash  from {ring}\n\n  1-crash  step 16, "), text)
        self.assertRegex(text, r"\n    process  \d+ on \S+ ended without closing its log\n")
        self.assertRegex(text, r"\n    kept     steps 11 \.\. 16, 22 tensors, [^;]+; the ring ends in the middle of step 16: "
                               r"what came after it had not reached the ring when the process ended\n")
        self.assertIn("    origin   step 15: activation/dense/out was the first", text)
        self.assertEqual(os.listdir(self.path("run")), ["captures"])
        (capture,) = self.json("captures", "run")["captures"]
        self.assertEqual((capture["cause"], capture["step"], capture["writer"]), ("crash", 16, "w"))
        kept = safetensors.numpy.load_file(self.path("run/captures/1-crash/000000000015.safetensors"))
        self.assertEqual(int(np.isnan(kept["activation/dense/out"]).sum()), 5)

    def test_saves_every_ring(self):
        for _ in range(3):
            self.make("ring", "run")
        self.assertEqual(self.output("recover", "run").count("1-crash  step 16"), 1)
        self.assertEqual(sorted(os.listdir(self.path("run/captures"))), ["1-crash", "2-crash", "3-crash"])

    def test_accepts_a_ring_in_another_directory(self):
        os.makedirs(self.path("run"))
        ring = self.make("ring", "rings")
        self.assertIn("run/captures/1-crash  from " + ring, self.output("recover", "run", "--ring", ring))
        self.assertEqual(os.listdir(self.path("rings")), [])

    def test_says_that_there_is_nothing(self):
        os.makedirs(self.path("run"))
        self.assertEqual(self.output("recover", "run"), "No process left a ring in 'run': there is nothing to recover.\n")
        self.assertEqual(os.listdir(self.path("run")), [])

    def test_leaves_a_living_process_alone(self):
        os.makedirs(self.path("run"))
        with subprocess.Popen([TOOL, "hold", "run"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            (ring,) = os.listdir(self.path("run"))
            self.assertIn(f"'run/{ring}' belongs to a running process", self.error("recover", "run"))
            self.assertIn("running process", self.error("recover", "run", "--ring", "run/" + ring))
            self.assertEqual(os.listdir(self.path("run")), [ring])
            # One that was left beside it is saved all the same.
            self.make("ring", "run")
            result = self.run_sonde("recover", "run")
            self.assertEqual(result.returncode, 0)
            self.assertIn("1-crash", result.stdout)
            self.assertIn("running process", result.stderr)
            process.stdin.close()
        self.assertIn("2-crash", self.output("recover", "run"))

    def test_leaves_the_copy_of_a_living_process_s_ring_alone(self):
        os.makedirs(self.path("run"))
        with subprocess.Popen([TOOL, "hold", "run"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            (ring,) = os.listdir(self.path("run"))
            shutil.copy(self.path("run/" + ring), self.path("copy.ring"))
            self.assertRegex(self.error("recover", "run", "--ring", "copy.ring"),
                             rf"'copy.ring' is a copy of the ring of process {process.pid} on \S+, which still runs")
            self.assertTrue(os.path.exists(self.path("copy.ring")))
            process.stdin.close()
        self.assertIn("1-crash", self.output("recover", "run", "--ring", "copy.ring"))

    def test_leaves_a_ring_of_which_nothing_can_be_read(self):
        ring = pathlib.Path(self.path(self.make("ring", "run")))
        content = bytearray(ring.read_bytes())
        content[4096:] = b"x" * (len(content) - 4096)
        ring.write_bytes(content)
        self.assertIn(f"{ring.name}': none of its entries can be read", self.error("recover", "run"))
        self.assertEqual(ring.read_bytes(), content)

    def test_leaves_a_ring_that_it_cannot_read(self):
        os.makedirs(self.path("run"))
        content = bytearray(pathlib.Path(self.path(self.make("ring", "rings"))).read_bytes())
        content[8] = 77  # its version
        ring = pathlib.Path(self.path("run/flight-box-1-0.ring"))
        ring.write_bytes(content)
        self.assertIn("'run/flight-box-1-0.ring': the flight ring has version 77", self.error("recover", "run"))
        self.assertEqual(ring.read_bytes(), content)
        ring.write_bytes(b"something else")
        self.assertIn("flight-box-1-0.ring", self.error("recover", "run"))

    def test_leaves_a_blank_file_that_is_no_ring(self):
        os.makedirs(self.path("run"))
        for name, content in (("precious.txt", b""), ("zeros.npy", bytes(4096))):
            path = pathlib.Path(self.path(name))
            path.write_bytes(content)
            self.assertIn(f"'{name}': ", self.error("recover", "run", "--ring", name))
            self.assertEqual(path.read_bytes(), content)
        self.assertEqual(os.listdir(self.path("run")), [])

    def test_waits_for_no_pipe(self):
        os.makedirs(self.path("run"))
        os.mkfifo(self.path("run/flight-box-1-0.ring"))
        self.assertIn("there is nothing to recover", self.output("recover", "run"))
        self.assertIn("regular file", self.error("recover", "run", "--ring", "run/flight-box-1-0.ring"))

    def test_of_a_ring_that_nothing_has_reached_says_so(self):
        os.makedirs(self.path("run"))
        pathlib.Path(self.path("run/flight-box-1-0.ring")).write_bytes(bytes(8192))
        text = self.output("recover", "run")
        self.assertTrue(text.endswith("    kept     nothing: the ring holds no step, because the process ended before any "
                                      "had reached it\n"
                                      "    origin   unknown, because nothing was kept\n"), text)

    def test_of_a_missing_path_is_an_error(self):
        self.assertIn("'nowhere'", self.error("recover", "nowhere"))
        os.makedirs(self.path("run"))
        self.assertIn("'none.ring'", self.error("recover", "run", "--ring", "none.ring"))

    def test_needs_no_existing_run(self):
        ring = self.make("ring", "run")
        shutil.move(self.path(ring), self.path("run/flight-other-1-0.ring"))
        self.assertIn("1-crash", self.output("recover", "run"))


if __name__ == "__main__":
    unittest.main()
