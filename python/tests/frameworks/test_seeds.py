"""The programs of examples/seeds in Python, each run, and what it records read back."""
import contextlib
import csv
import importlib
import io
import os
import pathlib
import re
import subprocess
import sys
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import numpy  # noqa: E402
from PIL import Image  # noqa: E402

SEEDS = pathlib.Path(__file__).resolve().parents[3] / "examples" / "seeds"
sys.path[:0] = [str(SEEDS), str(pathlib.Path(__file__).resolve().parents[1])]
from testing import InFolder  # noqa: E402

import sonde  # noqa: E402

HELD_OUT = 359  # digits


def count(value) -> int:
    """The values in the buckets of a histogram."""
    return round(sum(number for _, _, number in value.data))


class Seeds(InFolder):
    def run_seed(self, name: str, *arguments) -> str:
        """Runs a program as a user does; returns what it printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            importlib.import_module(name).main(str(self.log), *arguments)
        return out.getvalue()

    def run_alone(self, name: str) -> None:
        """Runs a program in a process of its own: torch and TensorFlow together may abort it, each with its own LLVM."""
        subprocess.run([sys.executable, SEEDS / f"{name}.py", self.log], check=True, timeout=600)

    def run_of(self, name: str = ".") -> sonde.Run:
        return sonde.load(self.log, cache=False)[name]

    def kinds(self, run: sonde.Run) -> set:
        return {(tag.name, tag.kind) for tag in run.tags}

    def test_every_program_is_tested(self):
        names = {path.stem for path in SEEDS.glob("0*.py")}
        self.assertEqual(len(names), 15)
        self.assertEqual(set(re.findall(r'run_(?:seed|alone)\("(\w+)"', pathlib.Path(__file__).read_text())), names)

    def test_000_1_two_runs_share_their_tags_and_one_has_the_graph(self):
        self.run_seed("000_1_train_and_test")
        runs = sonde.load(self.log, cache=False)
        self.assertEqual(list(runs.scalars()), [(run, tag) for run in ("test", "train") for tag in ("accuracy", "loss")])
        for series in runs.scalars().values():
            self.assertEqual(series.steps.tolist(), list(range(100)))
        test = runs["test"]
        self.assertLess(test.scalars("loss").values[-1], test.scalars("loss").values[0] / 2)
        self.assertGreater(test.scalars("accuracy").values[-1], 0.8)
        graphs = {name: [tag.name for tag in runs[name].tags if tag.kind == "graphs"] for name in runs}
        self.assertEqual(graphs["test"], [])
        (graph,) = list(runs["train"].values(graphs["train"][0], "graphs"))[:1]
        self.assertIn(b"dense_1/kernel", graph.data)

    def test_000_2_the_weights_at_every_step(self):
        self.run_seed("000_2_weights")
        weights = list(self.run_of("train").values("weights", "histograms"))
        self.assertEqual([value.step for value in weights], list(range(100)))
        self.assertEqual({count(value) for value in weights}, {64 * 32})
        self.assertNotEqual(weights[0].data, weights[-1].data)  # they learn

    def test_000_3_the_activations_at_every_step(self):
        self.run_seed("000_3_activations")
        table = self.run_of("train").statistics("activation/activation")
        self.assertEqual((table.steps.tolist(), set(table["count"])), (list(range(100)), {32 * 32}))
        self.assertEqual((table["min"].min(), table["negatives"].max()), (0, 0))  # a ReLU has nothing below zero

    def test_001_1_activations_every_100_steps(self):
        self.run_seed("001_1_every_100_steps")
        run = self.run_of()
        self.assertEqual([value.step for value in run.values("activation/layer1", "histograms")], [0, 100, 200, 300])
        loss = run.scalars("loss")
        self.assertEqual(loss.steps.tolist(), list(range(301)))
        self.assertLess(loss.values[-20:].mean(), loss.values[:20].mean() / 2)

    def test_001_2_a_tensor_every_100_steps_as_npy(self):
        self.run_alone("001_2_tensors_as_npy")
        kept = self.run_of().tensors["activation/layer2"]
        self.assertEqual(kept.steps, [0, 100, 200, 300])
        for step in kept:
            values = numpy.load(kept.path(step))
            self.assertEqual((values.shape, values.dtype, values.min()), ((32, 16), numpy.float32, 0))

    def test_001_3_activations_of_exactly_the_steps_with_a_high_loss(self):
        self.run_seed("001_3_when_the_loss_is_high")
        run = self.run_of()
        loss = run.scalars("loss")
        high = loss.steps[loss.values > 1.0].tolist()
        self.assertEqual([value.step for value in run.values("activation/layer1", "histograms")], high)
        self.assertTrue(0 < len(high) < 150)

    def test_002_1_shapes_on_the_console(self):
        shapes = re.findall(r"^(\w+?)(?:_\d+)? f32\[([\d,]+)\] ", self.run_seed("002_1_printed_shapes"), re.MULTILINE)
        self.assertEqual(shapes, [("input", "1,8,8,1"), ("flatten", "1,64"), ("dense", "1,64"), ("dense", "1,10")])

    def test_002_2_pictures_of_every_layer(self):
        self.run_seed("002_2_activation_images")
        run = self.run_of()
        for layer, size in (("conv", (4 * 6 + 3,) * 2), ("pool", (4 * 3 + 3,) * 2), ("classes", (10, 1))):
            pictures = list(run.values(f"activation/sample/{layer}/image", "images"))
            self.assertEqual(len(pictures), 2, layer)  # one an epoch
            self.assertEqual(Image.open(io.BytesIO(pictures[1].data[0])).size, size, layer)
        self.assertEqual(len(run.scalars("epoch/loss")), 2)

    def test_002_3_distributions_of_wide_layers(self):
        self.run_seed("002_3_wide_layers")
        for tag, width in (("layer 1", 128), ("layer 2", 256)):
            values = list(self.run_of().values(tag, "histograms"))
            self.assertEqual([value.step for value in values], [0, 1, 2])
            self.assertEqual({count(value) for value in values}, {HELD_OUT * width})

    def test_003_1_a_sample_of_held_out_digits_as_a_table(self):
        self.run_seed("003_1_validation_sample")
        (path,) = self.run_of().tables
        with open(path, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(row["epoch"]) for row in rows], [epoch for epoch in range(4) for _ in range(10)])
        outputs = numpy.array([[float(row[f"prediction[{i}]"]) for i in range(10)] for row in rows])
        numpy.testing.assert_allclose(outputs.sum(1), 1, rtol=1e-4)
        right = outputs.argmax(1) == numpy.array([int(float(row["label"])) for row in rows])
        self.assertGreater(right[-10:].sum(), 6)

    def test_003_2_a_loaded_model_gives_its_outputs(self):
        self.assertIn("outputs f32[10,8,8,1]", self.run_seed("003_2_saved_model"))
        outputs = numpy.load(self.log / "outputs.npy")
        self.assertEqual(outputs.shape, (10, 8, 8, 1))
        pictures = list(self.run_of().values("output", "images"))
        self.assertEqual([value.step for value in pictures], list(range(10)))
        for value in pictures:
            pixels = numpy.asarray(Image.open(io.BytesIO(value.data[0])).convert("L")) / 255
            numpy.testing.assert_allclose(pixels, outputs[value.step, :, :, 0], atol=1 / 255)

    def test_003_3_every_variable_at_every_step(self):
        self.run_seed("003_3_every_variable")
        run = self.run_of()
        sizes = {"hidden/kernel": 64 * 64, "hidden/bias": 64, "logits/kernel": 640, "logits/bias": 10}
        found = {tag.name.split("/", 1)[1] if tag.name.startswith("sequential") else tag.name: tag.name
                 for tag in run.tags if tag.kind == "histograms"}
        self.assertEqual(set(found), set(sizes))
        for name, size in sizes.items():
            values = list(run.values(found[name], "histograms"))
            self.assertEqual(([value.step for value in values], count(values[99])), (list(range(100)), size), name)
        self.assertEqual(run.scalars("loss").steps.tolist(), list(range(100)))

    def test_004_1_one_layer_and_the_output(self):
        printed = self.run_seed("004_1_one_layer")
        self.assertRegex(printed, r"intermediate f32\[1,10\] .*\n\[\[")
        self.assertRegex(printed, r"output f32\[1,5\] .* mean 0\.2 ")

    def test_004_2_several_layers_in_one_file(self):
        self.run_seed("004_2_several_layers")
        tensors = self.run_of().tensors
        self.assertEqual({tag: kept[0].shape for tag, kept in tensors.items()},
                         {"activation/layer_1": (1, 10), "activation/layer_2": (1, 15), "activation/layer_3": (1, 5)})
        self.assertAlmostEqual(tensors["activation/layer_3"][0].sum(), 1, places=5)

    def test_004_3_layers_by_name(self):
        for names, shapes in ((("dense_1", "dense_2"), ["1,10", "1,15"]), (("dense_3",), ["1,5"])):
            printed = self.run_seed("004_3_layers_by_name", *names)
            self.assertEqual(re.findall(r"^(\w+) f32\[([\d,]+)\]", printed, re.MULTILINE), list(zip(names, shapes)))


if __name__ == "__main__":
    unittest.main()
