"""The programs of examples/seeds in C++, run as a user runs them; what they record is read by TensorBoard and NumPy."""

import csv
import io
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy as np
import onnxruntime
import safetensors.numpy
from PIL import Image
from test_demo import plugins, points, read

BUILD = pathlib.Path(os.environ["SONDE_BUILD_DIR"])
SOURCES = pathlib.Path(os.environ["SONDE_SOURCE_DIR"]) / "examples" / "seeds"
HELD_OUT = 359  # digits
# A build without OpenVINO, as those with sanitizers, runs no models.
runs_models = unittest.skipUnless(os.environ["SONDE_INSPECT"] == "1", "this build does not run models")


def count(histogram):
    """The values in its buckets; values of one fine bin may be shared out between two of them."""
    return round(histogram[:, 2].sum())


def scalars(log, tag):
    return {step: float(value) for step, value in points(log, tag).items()}


class Seeds(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.log = self.folder / "log"

    def run_seed(self, name, *arguments):
        """Runs the program with its directory and these arguments; returns what it printed."""
        done = subprocess.run([BUILD / "examples" / f"seed_{name}", self.log, *arguments], cwd=self.folder, capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_every_program_is_tested(self):
        names = {path.stem for path in SOURCES.glob("*.cc")}
        self.assertEqual(len(names), 19)
        used = set(re.findall(r'run_seed\("(\w+)"', pathlib.Path(__file__).read_text()))
        self.assertEqual(used, names)

    def test_000_1_two_runs_share_their_tags_and_one_has_the_graph(self):
        self.run_seed("000_1_train_and_test")
        runs = {name: read(self.log / name) for name in ("train", "test")}
        for log in runs.values():
            self.assertEqual(plugins(log), {"loss": "scalars", "accuracy": "scalars"})
            self.assertEqual(list(scalars(log, "loss")), list(range(200)))
        test = runs["test"]
        self.assertLess(scalars(test, "loss")[199], scalars(test, "loss")[0] / 2)
        self.assertGreater(scalars(test, "accuracy")[199], 0.9)
        self.assertEqual((runs["train"].Tags()["graph"], test.Tags()["graph"]), (True, False))
        nodes = {node.name: list(node.input) for node in runs["train"].Graph().node}
        self.assertEqual(nodes["dense_2"], ["relu_1", "dense_2/kernel", "dense_2/bias"])

    def test_000_2_the_weights_at_every_step(self):
        self.run_seed("000_2_weights")
        log = read(self.log)
        weights = points(log, "weights")
        self.assertEqual((list(weights), {count(each) for each in weights.values()}), (list(range(100)), {64 * 32}))
        self.assertGreater(np.abs(weights[99] - weights[0]).max(), 0)  # they learn

    def test_000_3_the_activations_at_every_step(self):
        self.run_seed("000_3_activations")
        activations = points(read(self.log), "activation/relu_1/out")
        self.assertEqual(list(activations), list(range(100)))
        for histogram in activations.values():
            self.assertEqual((count(histogram), histogram[0, 0]), (32 * 32, 0))  # a ReLU has nothing below zero

    def test_001_1_activations_every_100_steps(self):
        self.run_seed("001_1_every_100_steps")
        log = read(self.log)
        self.assertEqual(list(points(log, "activation/relu_1/out")), [0, 100, 200, 300, 400, 500])
        self.assertEqual(len(scalars(log, "loss")), 501)

    def test_001_2_numpy_reads_a_tensor_every_100_steps(self):
        self.run_seed("001_2_tensors_as_npy")
        files = sorted(self.log.glob("tensors/*/activation/relu_2/out.npy"))
        self.assertEqual([int(path.parents[2].name.split(".")[0]) for path in files], [0, 100, 200, 300])
        for path in files:
            values = np.load(path)
            self.assertEqual((values.shape, values.dtype, values.min()), ((32, 16), np.float32, 0))

    def test_001_3_activations_of_exactly_the_steps_with_a_high_loss(self):
        self.run_seed("001_3_when_the_loss_is_high")
        log = read(self.log)
        high = [step for step, loss in scalars(log, "loss").items() if loss > 1.0]
        self.assertEqual(list(points(log, "activation/relu_1/out")), high)
        self.assertTrue(0 < len(high) < 200)

    def test_002_1_shapes_on_the_console(self):
        shapes = re.findall(r"^(\w+) f32\[([\d,]+)\] .*\|.{10}\|.* mean ", self.run_seed("002_1_printed_shapes"), re.MULTILINE)
        self.assertEqual(shapes, [("input", "359,8,8,1"), ("dense_1", "359,64"), ("relu_1", "359,64"), ("dense_2", "359,16"),
                                  ("relu_2", "359,16"), ("dense_3", "359,10")])

    def test_002_2_pictures_of_every_layer(self):
        self.run_seed("002_2_activation_images")
        log = read(self.log)
        self.assertEqual(set(plugins(log)), {"conv_1", "relu_1", "pool_1", "dense_1", "relu_2", "dense_2"})
        for tag, size in {"conv_1": (4 * 8 + 3,) * 2, "pool_1": (4 * 4 + 3,) * 2, "dense_2": (10, 1)}.items():
            images = points(log, tag)  # 16 channels as a grid of 4 x 4, one pixel between them
            self.assertEqual(list(images), [0, 1, 2])
            picture = Image.open(io.BytesIO(images[2][2]))
            self.assertEqual(picture.size, size, tag)
            self.assertGreater(len(picture.convert("RGB").getcolors(10_000)), 3)

    def test_002_3_distributions_of_wide_layers(self):
        self.run_seed("002_3_wide_layers")
        log = read(self.log)
        for tag, width in (("relu_1", 128), ("relu_2", 256)):
            histograms = points(log, tag)
            self.assertEqual((list(histograms), count(histograms[4])), ([0, 1, 2, 3, 4], HELD_OUT * width))

    def test_003_1_a_sample_of_held_out_digits_as_a_table(self):
        printed = self.run_seed("003_1_validation_sample")
        (path,) = (self.log / "tables").glob("validation.*.csv")
        rows = list(csv.DictReader(path.open()))
        self.assertEqual([int(row["step"]) for row in rows], [0] * 10 + [2] * 10 + [4] * 10)
        for row in rows:
            self.assertAlmostEqual(sum(float(row[f"output[{i}]"]) for i in range(10)), 1, places=5)
        right = [max(range(10), key=lambda i, row=row: float(row[f"output[{i}]"])) == int(row["label"]) for row in rows]
        self.assertGreater(sum(right[20:]), 6)
        self.assertEqual(len(re.findall("^step [024]  validation$", printed, re.MULTILINE)), 3)

    def test_003_2_a_loaded_network_gives_its_outputs(self):
        self.assertRegex(self.run_seed("003_2_saved_model"), r"loaded network: 0\.9\d")
        outputs = np.load(self.log / "outputs.npy")
        self.assertEqual(outputs.shape, (HELD_OUT, 10))
        np.testing.assert_allclose(outputs.sum(1), 1, rtol=1e-5)
        images = points(read(self.log), "outputs")
        self.assertEqual(list(images), list(range(10)))
        for i, image in images.items():
            pixels = np.asarray(Image.open(io.BytesIO(image[2])).convert("L"))
            self.assertEqual((pixels.shape, pixels[0].argmax()), ((1, 10), outputs[i].argmax()))

    def test_003_3_every_variable_at_every_step(self):
        self.run_seed("003_3_every_variable")
        log = read(self.log)
        sizes = {"dense_1/kernel": 64 * 64, "dense_1/bias": 64, "dense_2/kernel": 64 * 16, "dense_2/bias": 16,
                 "dense_3/kernel": 16 * 10, "dense_3/bias": 10}
        self.assertEqual(plugins(log), dict.fromkeys(sizes, "histograms") | {"loss": "scalars"})
        for tag, size in sizes.items():
            histograms = points(log, tag)
            self.assertEqual((len(histograms), count(histograms[99])), (100, size), tag)

    def test_004_1_one_layer_and_the_output(self):
        printed = self.run_seed("004_1_one_layer")
        self.assertRegex(printed, r"relu_1 f32\[1,10\] 0 .*\n\[\[\d")
        self.assertRegex(printed, r"output f32\[1,10\] .* mean 0\.1 ")

    def test_004_2_several_layers_in_one_file(self):
        printed = self.run_seed("004_2_several_layers")
        (path,) = (self.log / "tensors").iterdir()
        tensors = safetensors.numpy.load_file(path)
        self.assertEqual({name: tensor.shape for name, tensor in tensors.items()},
                         {"activation/relu_1": (1, 10), "activation/relu_2": (1, 15), "output/output": (1, 10)})
        self.assertAlmostEqual(tensors["output/output"].sum(), 1, places=5)
        self.assertEqual(len(printed.splitlines()), 3)

    def test_004_3_layers_by_name(self):
        for pattern, names in (("relu_.*", {"relu_1", "relu_2"}), ("dense_2", {"dense_2"})):
            self.log = self.folder / pattern.strip(".*")
            printed = self.run_seed("004_3_layers_by_name", pattern)
            (path,) = (self.log / "tensors").iterdir()
            self.assertEqual(set(safetensors.numpy.load_file(path)), {f"activation/{name}" for name in names})
            self.assertEqual(set(re.findall(r"step 0  (\w+) f32", printed)), names)

    @runs_models
    def test_003_4_outputs_of_a_saved_model_as_npy_and_pictures(self):
        printed = self.run_seed("003_4_outputs_of_a_model")
        self.assertRegex(printed, r"^openvino [\d.]+, executed in f32\noutputs f32\[10,1,8,8\] ")
        outputs = np.load(self.log / "outputs.npy")
        self.assertEqual(outputs.shape, (10, 1, 8, 8))
        for i in range(10):
            pixels = np.asarray(Image.open(self.log / f"prediction_{i}.png").convert("L"))
            np.testing.assert_allclose(pixels, outputs[i, 0] * 255, atol=1)

    @runs_models
    def test_004_4_one_layer_of_a_saved_model(self):
        printed = self.run_seed("004_4_inspect_one_layer")
        self.assertRegex(printed, r"relu_1 f32\[1,32\] 0 .*\n\[\[")
        self.assertRegex(printed, r"output f32\[1,10\] .* mean 0\.1 ")

    @runs_models
    def test_004_5_several_layers_are_those_of_the_inspection_model_in_onnxruntime(self):
        self.run_seed("004_5_inspect_several_layers")
        tensors = safetensors.numpy.load_file(self.log / "layers.safetensors")
        session = onnxruntime.InferenceSession(self.log / "inspection.onnx")
        names = [output.name for output in session.get_outputs()]
        self.assertEqual(names, ["relu_1", "relu_2", "output"])
        self.assertEqual(set(tensors), set(names))
        self.assertEqual({name: tensor.shape for name, tensor in tensors.items()},
                         {"relu_1": (4, 32), "relu_2": (4, 16), "output": (4, 10)})
        np.testing.assert_allclose(tensors["output"].sum(1), 1, rtol=1e-5)

    @runs_models
    def test_004_6_layers_by_name_and_index(self):
        printed = self.run_seed("004_6_inspect_by_name_and_index")
        self.assertIn("1 dense_1 Gemm 2080 parameters\n", printed)
        self.assertEqual(re.findall(r"^(\w+) f32", printed, re.MULTILINE), ["flat", "relu_1", "relu_2", "output"])
        printed = self.run_seed("004_6_inspect_by_name_and_index", "dense_.*")
        self.assertEqual(re.findall(r"^(\w+) f32", printed, re.MULTILINE), ["dense_1", "dense_2", "dense_3"])


if __name__ == "__main__":
    unittest.main()
