"""`sonde demo --fault`: what goes wrong is caught, saved with the steps before it, and traced to where it came from."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy as np
import safetensors.numpy

BUILD = pathlib.Path(os.environ["SONDE_BUILD_DIR"])
SONDE = os.environ.get("SONDE_BIN") or BUILD / "bin" / "sonde"


def sonde(*arguments):
    return subprocess.run([SONDE, *map(str, arguments)], capture_output=True, text=True)


def captures(log):
    result = sonde("captures", log, "--json")
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    return json.loads(result.stdout)["captures"]


class Faults(unittest.TestCase):
    """Each fault once for all tests."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.output = {}
        for fault in ("nan", "explode", "dead"):
            result = sonde("demo", "--no-serve", "--fault", fault, "--dir", cls.folder / fault)
            assert (result.returncode, result.stderr) == (0, ""), result.stderr
            cls.output[fault] = result.stdout

    def capture(self, fault):
        found = captures(self.folder / fault)
        self.assertEqual(len(found), 1, fault)
        return found[0]

    def steps(self, capture):
        """{step: {tensor: array}}, as NumPy reads the files."""
        folder = pathlib.Path(capture["path"])
        return {step["step"]: safetensors.numpy.load_file(folder / step["file"]) for step in capture["steps"]}

    def test_each_is_one_capture_with_the_five_steps_before(self):
        for fault, reason in (("nan", "nonfinite"), ("explode", "exploding_gradient"), ("dead", "dead_relu")):
            capture = self.capture(fault)
            self.assertEqual((capture["run"], capture["reason"]), ("train", reason))
            fired = capture["step"]
            self.assertGreaterEqual(fired, 500)
            self.assertLess(fired, 520)
            self.assertEqual([step["step"] for step in capture["steps"]], list(range(fired - 5, fired + 1)))
            self.assertEqual(capture["dropped"], [])

    def test_a_capture_holds_every_kind_of_tensor_whole(self):
        for step in self.steps(self.capture("dead")).values():
            self.assertEqual({key.split("/")[0] for key in step},
                             {"input", "activation", "output", "gradient", "update", "weight"})
            self.assertEqual(step["activation/conv_1/out"].shape, (32, 8, 8, 16))
            self.assertEqual(step["update/dense_1/kernel"].shape, (256, 64))
            np.testing.assert_allclose(step["output/probabilities"].sum(axis=1), 1, rtol=1e-5)

    def test_nan_names_the_layer_that_made_it_and_nothing_is_unseen(self):
        capture = self.capture("nan")
        origin = capture["origin"]
        producer = origin["producers"][0]
        self.assertEqual((producer["key"], producer["step"]), ("activation/brighten_1/out", 500))
        self.assertEqual((producer["inputs"], producer["unseen"]), (["input/input"], []))
        self.assertIn("activation/conv_1/out", origin["propagators"])
        self.assertEqual(origin["caveats"], [])
        steps = self.steps(capture)
        self.assertTrue(np.isfinite(steps[500]["input/input"]).all())
        self.assertEqual(np.isnan(steps[500]["activation/brighten_1/out"]).sum(), 64)
        for step in range(495, 500):
            self.assertTrue(all(np.isfinite(tensor).all() for tensor in steps[step].values()), step)

    def test_explode_holds_gradients_that_grow(self):
        capture = self.capture("explode")
        (key,) = {re.search(r"'(gradient/[^']*)'", value["expression"])[1] for value in capture["values"]}
        sizes = [float(np.abs(step[key]).max()) for step in self.steps(capture).values()]
        self.assertGreater(sizes[-1], 10 * sizes[0])
        self.assertIn(f"Where    {key}: ", self.output["explode"])

    def test_dead_holds_the_layer_alive_and_the_update_that_killed_it(self):
        capture = self.capture("dead")
        steps = self.steps(capture)
        for step in range(capture["step"] - 5, capture["step"]):
            self.assertGreater(np.count_nonzero(steps[step]["activation/relu_2/out"]), 500, step)
        self.assertEqual(np.count_nonzero(steps[capture["step"]]["activation/relu_2/out"]), 0)
        self.assertLess(steps[500]["update/dense_1/bias"].max(), -49)
        self.assertIn("Where    activation/relu_2/out: ", self.output["dead"])

    def test_the_output_says_what_happened_and_where_to_look(self):
        for fault, output in self.output.items():
            capture = self.capture(fault)
            told = output[output.index("\n\n"):]
            self.assertLess(len(told.splitlines()), 20, fault)
            self.assertIn("\nPlanted  At step 500 ", told)
            self.assertIn(f"\nCaught   by the rule {capture['reason']} at the end of step {capture['step']}\n", told)
            for step in capture["steps"]:
                self.assertIn(f"\n         step {step['step']}  ", told)
            self.assertIn(f" in {capture['path']}\n", told)
            commands = re.findall(r"^(?:View    |        ) sonde (.*)$", told, re.MULTILINE)
            self.assertEqual([command.split()[0] for command in commands], ["captures", "show"])
            for command in commands:
                result = sonde(*command.split())
                self.assertEqual((result.returncode, result.stderr), (0, ""), command)
        self.assertIn("Origin   step 500: activation/brighten_1/out was the first to hold non-finite values "
                      "(64 NaN of 2048), although all of its inputs were finite: input/input\n", self.output["nan"])


class Choices(unittest.TestCase):
    def test_other_seeds_and_lengths_are_caught_the_same_way(self):
        with tempfile.TemporaryDirectory() as folder:
            for fault, reason in (("nan", "nonfinite"), ("explode", "exploding_gradient"), ("dead", "dead_relu")):
                for seed, steps in ((2, 100), (3, 300)):
                    log = pathlib.Path(folder, f"{fault}-{seed}")
                    options = ("--fault", fault, "--seed", seed, "--steps", steps, "--dir", log)
                    result = sonde("demo", "--no-serve", *options)
                    self.assertEqual((result.returncode, result.stderr), (0, ""), options)
                    found = [(capture["reason"], len(capture["steps"])) for capture in captures(log)]
                    self.assertEqual(found, [(reason, 6)], options)

    def test_a_healthy_training_makes_no_capture_and_leaves_no_ring(self):
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(1, 7):
                log = pathlib.Path(folder, str(seed))
                result = sonde("demo", "--no-serve", "--seed", seed, "--dir", log)
                self.assertEqual((result.returncode, result.stderr), (0, ""), seed)
                self.assertEqual(captures(log), [], seed)
                self.assertEqual([*log.rglob("*.ring")], [], seed)
                self.assertGreater(float(re.search(r"reads ([\d.]+) %", result.stdout)[1]), 98, seed)

    def test_an_unknown_fault_or_too_few_steps_are_one_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            unknown = sonde("demo", "--fault", "fire", "--dir", f"{folder}/log")
            short = sonde("demo", "--fault", "nan", "--steps", 20, "--dir", f"{folder}/log")
            self.assertFalse(pathlib.Path(folder, "log").exists())
        said = ((unknown, ("fire", "nan", "explode", "dead")), (short, ("--steps is 20", "at least 100")))
        for result, words in said:
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertRegex(result.stderr, r"\Asonde: [^\n]*\n\Z")
            for word in words:
                self.assertIn(word, result.stderr)


if __name__ == "__main__":
    unittest.main()
