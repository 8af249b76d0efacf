"""The examples, run as a user runs them; their logs are read by TensorBoard's own reader."""

import contextlib
import io
import os
import pathlib
import pty
import re
import subprocess
import tempfile
import unittest

import numpy as np
import safetensors.numpy
from PIL import Image
from tensorboard.backend.event_processing import event_accumulator
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorboard.util import tensor_util

BUILD = pathlib.Path(os.environ["SONDE_BUILD_DIR"])
SONDE = os.environ.get("SONDE_BIN") or BUILD / "bin" / "sonde"

BATCH, HELD_OUT = 32, 359
LAYERS = {  # output of one digit
    "conv_1": (8, 8, 16),
    "relu_1": (8, 8, 16),
    "pool_1": (4, 4, 16),
    "dense_1": (64,),
    "relu_2": (64,),
    "dense_2": (10,),
}
PARAMETERS = {
    "conv_1/kernel": (3, 3, 1, 16),
    "conv_1/bias": (16,),
    "dense_1/kernel": (256, 64),
    "dense_1/bias": (64,),
    "dense_2/kernel": (64, 10),
    "dense_2/bias": (10,),
}


def demo(*arguments, cwd=None):
    return subprocess.run([SONDE, "demo", "--no-serve", *arguments], cwd=cwd, capture_output=True, text=True)


def read(run):
    """Everything of one run, nothing left out."""
    everything = {kind: 0 for kind in event_accumulator.DEFAULT_SIZE_GUIDANCE}
    log = event_accumulator.EventAccumulator(str(run), size_guidance=everything)
    log.Reload()
    return log


def plugins(log):
    return {tag: log.SummaryMetadata(tag).plugin_data.plugin_name for tag in log.Tags()["tensors"]}


def without_hparams(case, found):
    """What else there is than hyper-parameters, which there are."""
    hparams = {tag for tag, plugin in found.items() if plugin == "hparams"}
    case.assertIn("_hparams_/session_start_info", hparams)
    return {tag: found[tag] for tag in found.keys() - hparams}


def points(log, tag):
    """{step: array}"""
    return {event.step: tensor_util.make_ndarray(event.tensor_proto) for event in log.Tensors(tag)}


def accuracy_said(output):
    return float(re.search(r"reads ([\d.]+) % of the digits", output)[1]) / 100


class UsualRun(unittest.TestCase):
    """The demo with its default settings, once for all tests."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name, "log")
        cls.result = demo("--dir", str(cls.folder))
        assert cls.result.returncode == 0, cls.result.stderr
        cls.train, cls.test = read(cls.folder / "train"), read(cls.folder / "test")

    def test_reads_more_than_95_percent_of_the_held_out_digits(self):
        accuracy = points(self.test, "accuracy")[999]
        self.assertGreater(accuracy, 0.95)
        self.assertAlmostEqual(accuracy_said(self.result.stdout), float(accuracy), delta=0.0006)

    def test_says_where_the_log_is_and_what_it_cost(self):
        self.assertEqual(self.result.stderr, "")
        self.assertIn(f"tensorboard --logdir {self.folder}\n", self.result.stdout)
        recording, backend = re.search(
            r"recording took ([\d.]+) % .*own thread ([\d.]+) % of a core", self.result.stdout
        ).groups()
        self.assertLess(float(recording), 100)
        self.assertGreater(float(backend), 0)
        self.assertNotIn("records are missing", self.result.stdout)

    def test_prints_plain_lines_if_there_is_no_terminal(self):
        self.assertNotIn("\r", self.result.stdout)
        self.assertNotIn("\x1b", self.result.stdout)
        self.assertIn("step 1000 of 1000", self.result.stdout)

    def test_records_every_promised_tag_of_training(self):
        expected = {tag: "scalars" for tag in ("loss", "accuracy", "optimizer/learning_rate")}
        expected |= {tag: "histograms" for tag in ("input/input", "gradient/input", "output/probabilities")}
        for layer in LAYERS:
            expected |= {f"{kind}/{layer}/out": "histograms" for kind in ("activation", "gradient")}
        for parameter in PARAMETERS:
            expected |= {f"{kind}/{parameter}": "histograms" for kind in ("weight", "gradient", "update")}
        expected |= {"about": "text", "custom_scalars__config__": "custom_scalars"}
        self.assertEqual(without_hparams(self, plugins(self.train)), expected)

    def test_records_every_promised_tag_of_testing(self):
        expected = {tag: "scalars" for tag in ("loss", "accuracy")}
        expected |= {f"activation/{layer}/out": "histograms" for layer in LAYERS}
        expected |= {f"features/{name}": "images" for name in ("kernels", "input", "conv_1", "relu_1", "pool_1")}
        expected |= {"errors/confusion": "images", "errors/misread": "images", "errors/list": "text"}
        expected |= {"all_digits": "pr_curves"}
        self.assertEqual(without_hparams(self, plugins(self.test)), expected)

    def test_records_scalars_of_every_step_and_tests_of_every_twentieth(self):
        for tag in ("loss", "accuracy", "optimizer/learning_rate"):
            self.assertEqual(list(points(self.train, tag)), list(range(1000)), tag)
        for tag in ("loss", "accuracy"):
            self.assertEqual(list(points(self.test, tag)), [*range(0, 1000, 20), 999], tag)
        loss = list(points(self.train, "loss").values())
        self.assertLess(np.mean(loss[-100:]), 0.1 * np.mean(loss[:10]))

    def test_records_histograms_of_whole_tensors(self):
        shapes = {f"activation/{layer}/out": (BATCH, *shape) for layer, shape in LAYERS.items()}
        shapes |= {f"gradient/{layer}/out": (BATCH, *shape) for layer, shape in LAYERS.items()}
        shapes |= {f"{kind}/{name}": s for name, s in PARAMETERS.items() for kind in ("weight", "gradient", "update")}
        for tag, shape in shapes.items():
            histograms = points(self.train, tag)
            self.assertEqual(list(histograms), list(range(0, 1000, 20)), tag)
            for histogram in histograms.values():
                self.assertAlmostEqual(histogram[:, 2].sum(), np.prod(shape), places=6, msg=tag)
        for layer, shape in LAYERS.items():
            histograms = points(self.test, f"activation/{layer}/out")
            self.assertEqual(list(histograms), [*range(0, 1000, 20), 999], layer)
            self.assertAlmostEqual(histograms[999][:, 2].sum(), HELD_OUT * np.prod(shape), places=6, msg=layer)

    def test_keeps_statistics_beside_the_events(self):
        for run in ("train", "test"):
            files = list((self.folder / run).glob("stats.*.tfrecord"))
            self.assertEqual(len(files), 1, run)
            self.assertGreater(files[0].stat().st_size, 10_000, run)

    def test_draws_images_that_open(self):
        for tag, plugin in plugins(self.test).items():
            if plugin != "images":
                continue
            for step, strings in points(self.test, tag).items():
                width, height, png = strings
                with Image.open(io.BytesIO(png)) as image:
                    image.load()
                    self.assertEqual(image.size, (int(width), int(height)), (tag, step))

    def test_draws_the_network(self):
        nodes = {node.name: node for node in self.train.Graph().node}
        self.assertEqual(nodes.keys(), {"input", "labels", "loss", *PARAMETERS, *(f"{layer}/out" for layer in LAYERS)})
        self.assertEqual(list(nodes["conv_1/out"].input), ["input", "conv_1/kernel", "conv_1/bias"])
        self.assertEqual(nodes["conv_1/out"].op, "Conv2D")
        for node in nodes.values():
            self.assertLessEqual(set(node.input), nodes.keys(), node.name)

    def test_writes_a_note_and_the_hyper_parameters(self):
        (note,) = points(self.train, "about").values()
        self.assertIn(b"| conv_1 | Conv2D | 8x8x16 | 160 |", note.item())
        for run in (self.train, self.test):
            metadata = run.SummaryMetadata("_hparams_/session_start_info")
            content = plugin_data_pb2.HParamsPluginData.FromString(metadata.plugin_data.content)
            hparams = content.session_start_info.hparams
            self.assertEqual(hparams["steps"].number_value, 1000)
            self.assertEqual(hparams["seed"].number_value, 1)
            self.assertEqual(hparams["optimizer"].string_value, "adam")

    def test_records_a_precision_recall_curve_of_all_predictions(self):
        curve = points(self.test, "all_digits")[999]
        true_positives, false_positives, true_negatives, false_negatives = curve[:4]
        np.testing.assert_array_equal(true_positives + false_negatives, HELD_OUT)
        np.testing.assert_array_equal(false_positives + true_negatives, 9 * HELD_OUT)


class OtherRuns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_the_same_seed_gives_the_same_numbers(self):
        for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
            self.assertEqual(demo("--dir", name, "--steps", "30", "--seed", seed, cwd=self.folder).returncode, 0)
        a, b, c = (points(read(self.folder / name / "train"), "loss") for name in "abc")
        self.assertEqual(list(a), list(range(30)))
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)

    def test_without_a_directory_it_makes_one_below_the_current(self):
        result = demo("--steps", "1", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        (made,) = self.folder.glob("logs/demo-*")
        self.assertIn(f"tensorboard --logdir {made.relative_to(self.folder)}\n", result.stdout)
        self.assertEqual(list(points(read(made / "train"), "loss")), [0])

    def test_a_second_run_gets_its_own_directory_and_says_so(self):
        log = self.folder / "log"
        first = demo("--dir", str(log), "--steps", "1")
        files = {path: path.read_bytes() for path in log.rglob("*") if path.is_file()}
        second = demo("--dir", str(log), "--steps", "2")
        third = demo("--dir", str(log), "--steps", "3")
        self.assertEqual((first.returncode, second.returncode, third.returncode), (0, 0, 0))
        self.assertIn(f"{log} already holds a run; this one goes into {log}/run-2.\n", second.stdout)
        self.assertEqual({path: path.read_bytes() for path in files}, files)
        steps = [len(points(read(path / "train"), "loss")) for path in (log, log / "run-2", log / "run-3")]
        self.assertEqual(steps, [1, 2, 3])

    def test_a_directory_that_cannot_be_written_is_one_sentence_and_exit_2(self):
        (self.folder / "file").write_text("in the way")
        for directory in (self.folder / "file", self.folder / "file" / "below", pathlib.Path("/proc/nowhere")):
            result = demo("--dir", str(directory))
            self.assertEqual(result.returncode, 2, directory)
            self.assertEqual(result.stdout, "")
            self.assertRegex(result.stderr, rf"\Asonde: [^\n]*{re.escape(str(directory))}[^\n]*\n\Z")

    def test_arguments_that_make_no_sense_are_one_sentence_and_exit_2(self):
        for arguments in (("--steps", "0"), ("--steps", "-5"), ("--seed", "-1"), ("--steps", "many")):
            result = demo("--dir", str(self.folder / "log"), *arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertEqual(result.stdout, "")
            self.assertIn(arguments[0], result.stderr)
            self.assertFalse((self.folder / "log").exists(), arguments)

    def test_on_a_terminal_progress_stays_in_one_line(self):
        parent, child = pty.openpty()
        command = [SONDE, "demo", "--no-serve", "--steps", "50", "--dir", str(self.folder)]
        with subprocess.Popen(command, stdout=child) as process:
            os.close(child)
            output = b""
            with contextlib.suppress(OSError):  # the end of a terminal
                while chunk := os.read(parent, 4096):
                    output += chunk
        os.close(parent)
        self.assertEqual(process.returncode, 0)
        first_line = output.decode().split("\r\n")[0]
        shown = re.findall(r"step +(\d+) of 50", first_line)
        self.assertEqual((shown[0], shown[-1]), ("1", "50"))
        self.assertEqual(first_line.count("\r"), len(shown))


class Minimal(unittest.TestCase):
    def test_the_smallest_program_records_a_number_a_histogram_and_a_layer(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([BUILD / "examples" / "example_minimal"], cwd=folder, check=True)
            log = read(pathlib.Path(folder, "logs", "minimal"))
        expected = {"loss": "scalars", "dense_1/kernel": "histograms", "activation/dense_1/out": "histograms"}
        self.assertEqual(plugins(log), expected)
        for tag in expected:
            self.assertEqual(list(points(log, tag)), list(range(100)), tag)


class ReadLog(unittest.TestCase):
    PROGRAM = BUILD / "examples" / "example_read_log"

    def test_reports_a_log_like_tensorboard(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([BUILD / "examples" / "example_minimal"], cwd=folder, check=True)
            cache = os.environ | {"XDG_CACHE_HOME": folder}  # not the cache of the user who runs the test
            result = subprocess.run([self.PROGRAM], cwd=folder, env=cache, check=True, capture_output=True, text=True)
            log = read(pathlib.Path(folder, "logs", "minimal"))
        self.assertEqual(result.stderr, "")
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "minimal")
        for tag, plugin in plugins(log).items():
            self.assertIn(f"  {tag}: {plugin}, 100 points", lines)
        loss = [float(value) for value in points(log, "loss").values()]
        self.assertIn(f"  loss is {loss[-1]:.6g} at step 99, was between {min(loss):.6g} and {max(loss):.6g}", lines)
        histogram = points(log, "dense_1/kernel")[99]
        self.assertIn(f"  dense_1/kernel at step 99: {histogram[:, 2].sum():g} values in {len(histogram)} buckets", lines)

    def test_a_directory_that_does_not_exist_is_one_sentence(self):
        result = subprocess.run([self.PROGRAM, "nowhere"], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"\A[^\n]*'nowhere'[^\n]*\n\Z")


class TensorFiles(unittest.TestCase):
    def test_what_it_saves_opens_in_numpy_and_what_it_prints_is_in_the_files(self):
        with tempfile.TemporaryDirectory() as folder:
            program = BUILD / "examples" / "example_tensor_files"
            output = subprocess.run([program], cwd=folder, check=True, capture_output=True, text=True).stdout
            column = np.load(pathlib.Path(folder, "column.npy"))
            model = safetensors.numpy.load_file(pathlib.Path(folder, "model.safetensors"))
        np.testing.assert_array_equal(column, [1, 4])
        np.testing.assert_array_equal(model["dense/kernel"], [[1, 2, 3], [4, 5, 6]])
        np.testing.assert_array_equal(model["dense/bias"], np.array([0.5, -0.5, 0], np.float32))
        self.assertEqual(output, "epoch: 3\ndense/kernel: f32, 6 elements\ndense/bias: f32, 3 elements\n"
                                 "the first column: 1, 4\n")


class Checkpoints(unittest.TestCase):
    def test_the_last_two_and_the_best_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            program = BUILD / "examples" / "example_checkpoints"
            output = subprocess.run([program], cwd=folder, check=True, capture_output=True, text=True).stdout
            kept = {path.name: safetensors.numpy.load_file(path)
                    for path in pathlib.Path(folder, "run", "checkpoints").iterdir()}
        self.assertEqual(set(kept), {f"model-{step}.safetensors" for step in (20, 40, 50)})
        np.testing.assert_allclose(kept["model-20.safetensors"]["weights"], [1.3, 2.3, 3.3, 4.3], rtol=1e-6)
        self.assertEqual(output, "model at step 20: loss 1\nmodel at step 40: loss 21\nmodel at step 50: loss 31\n"
                                 "going on from step 20 with 1 tensor\n")


if __name__ == "__main__":
    unittest.main()
