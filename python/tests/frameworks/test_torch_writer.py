"""The same script with torch's SummaryWriter and with ours: TensorBoard reads the same from both, method by method."""
import io
import pathlib
import sys
import unittest

import numpy
import torch
from PIL import Image
from torch.utils.tensorboard import SummaryWriter as TorchWriter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import writer_script  # noqa: E402
from testing import InFolder, tensorboard_events  # noqa: E402

import sonde  # noqa: E402


def pixels(value):
    return numpy.asarray(Image.open(io.BytesIO(value[2])).convert("RGB"), dtype=int)


def samples(wav: bytes):
    import wave
    with wave.open(io.BytesIO(wav)) as file:
        return file.getframerate(), numpy.frombuffer(file.readframes(file.getnframes()), "<i2")


def cumulative(buckets, at):
    """How many values lie below each place, with those of a bucket spread over it."""
    left, right, count = buckets[buckets[:, 2] > 0].T
    width = numpy.where(right > left, right - left, 1)
    return (count * ((at[:, None] - left) / width).clip(0, 1)).sum(axis=1)


class BothWriters(InFolder):
    def setUp(self):
        super().setUp()
        for name, writer in (("torch", TorchWriter), ("sonde", sonde.SummaryWriter)):
            writer_script.record(writer, self.folder / name)

    def both(self, name: str):
        theirs, ours = (tensorboard_events(self.folder / writer / name) for writer in ("torch", "sonde"))
        self.assertEqual(set(ours), set(theirs))
        self.assertGreater(len(ours), 0)
        for key in theirs:
            self.assertEqual([step for step, _, _ in ours[key]], [step for step, _, _ in theirs[key]], key)
            for (_, our_time, our), (_, their_time, their) in zip(ours[key], theirs[key], strict=True):
                if their_time == 1234.5:
                    self.assertEqual(our_time, their_time, key)
                yield key, our, their

    def assert_same(self, name: str):
        for key, our, their in self.both(name):
            numpy.testing.assert_allclose(our.ravel(), their.ravel(), rtol=1e-6, err_msg=str(key))

    def test_add_scalar(self):
        self.assert_same("scalar")

    def test_add_histogram(self):
        for key, our, their in self.both("histogram"):
            self.assertEqual(our[:, 2].sum(), their[:, 2].sum())
            used = their[their[:, 2] > 0]
            at = numpy.linspace(used[0, 0], used[-1, 1], 50)
            numpy.testing.assert_allclose(cumulative(our, at), cumulative(their, at), atol=60, err_msg=str(key))

    def test_add_histogram_with_bins(self):
        for key, our, their in self.both("bins"):
            used = their[their[:, 2] > 0]
            numpy.testing.assert_array_equal(our[our[:, 2] > 0][:, 2], used[:, 2], err_msg=str(key))
            numpy.testing.assert_allclose(our[our[:, 2] > 0][1:, 0], used[1:, 0], err_msg=str(key))

    def test_add_histogram_raw(self):
        self.assert_same("histogram_raw")

    def assert_same_pictures(self, name: str):
        for key, our, their in self.both(name):
            self.assertEqual(our[:2].tolist(), their[:2].tolist(), key)
            numpy.testing.assert_allclose(pixels(our), pixels(their), atol=1, err_msg=str(key))

    def test_add_image(self):
        self.assert_same_pictures("image")

    def test_add_images(self):
        self.assert_same_pictures("images")

    def test_add_image_with_boxes(self):
        self.assert_same_pictures("boxes")

    def test_add_audio(self):
        for _, our, their in self.both("audio"):
            (our_rate, our_samples), (their_rate, their_samples) = samples(our.ravel()[0]), samples(their.ravel()[0])
            self.assertEqual(our_rate, their_rate)
            numpy.testing.assert_allclose(our_samples, their_samples, atol=1)

    def test_add_text(self):
        for key, our, their in self.both("text"):
            self.assertEqual(our.ravel().tolist(), their.ravel().tolist(), key)

    def test_add_pr_curve(self):
        self.assert_same("pr_curve")

    def test_add_pr_curve_raw(self):
        self.assert_same("pr_curve_raw")

    def test_custom_scalars(self):
        from tensorboard.plugins.custom_scalar import layout_pb2
        for name in ("custom_scalars", "multiline", "margin"):
            for key, our, their in self.both(name):
                self.assertEqual(layout_pb2.Layout.FromString(our.item()), layout_pb2.Layout.FromString(their.item()), name)

    def test_add_mesh(self):
        self.assert_same("mesh")

    def test_add_scalars(self):
        for tag in ("train", "test"):
            self.assert_same(f"scalars/both_x_{tag}")

    def test_add_hparams(self):
        from tensorboard.backend.event_processing import plugin_event_accumulator
        from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

        def content(writer):
            reader = plugin_event_accumulator.EventAccumulator(str(self.folder / writer / "hparams/trial"))
            reader.Reload()
            data = {tag: HParamsPluginData.FromString(text) for tag, text in reader.PluginTagToContent("hparams").items()}
            start, experiment = data["_hparams_/session_start_info"], data["_hparams_/experiment"]
            return ({name: str(value) for name, value in start.session_start_info.hparams.items()},
                    {each.name: [str(value) for value in each.domain_discrete.values] for each in experiment.experiment.hparam_infos},
                    [each.name.tag for each in experiment.experiment.metric_infos],
                    data["_hparams_/session_end_info"].session_end_info.status)

        self.assertEqual(content("sonde"), content("torch"))
        # torch writes what describes the trial at the step of its metrics, where nobody looks for it.
        ours, theirs = (tensorboard_events(self.folder / writer / "hparams/trial")["scalars", "accuracy"] for writer in ("sonde", "torch"))
        self.assertEqual([(step, value) for step, _, value in ours], [(step, value) for step, _, value in theirs])

    def test_add_tensor(self):
        tensors = {"f": torch.arange(6.0).reshape(2, 3), "i": torch.arange(4), "b": torch.tensor([True, False]),
                   "d": torch.ones(2, dtype=torch.float64)}
        for name, writer in (("torch", TorchWriter), ("sonde", sonde.SummaryWriter)):
            with writer(str(self.folder / name / "tensor")) as each:
                for tag, tensor in tensors.items():
                    each.add_tensor(tag, tensor, 1)
        for key, our, their in self.both("tensor"):
            self.assertEqual((our.dtype, our.shape), (their.dtype, their.shape), key)
            numpy.testing.assert_array_equal(our, their)

    def test_add_figure(self):
        import matplotlib.figure
        for name, writer in (("torch", TorchWriter), ("sonde", sonde.SummaryWriter)):
            with writer(str(self.folder / name / "figure")) as each:
                figure = matplotlib.figure.Figure(figsize=(2, 1))
                figure.add_subplot().plot([1, 3, 2])
                each.add_figure("one", figure, 1)
                each.add_figure("two", [figure, figure], 1)
        self.assert_same_pictures("figure")

    def test_add_embedding(self):
        points, pictures = torch.rand(5, 3), torch.rand(5, 3, 4, 6)
        for name, writer in (("torch", TorchWriter), ("sonde", sonde.SummaryWriter)):
            with writer(str(self.folder / name / "embedding")) as each:
                each.add_embedding(points, list("abcde"), pictures, 2, "x/y")
        from google.protobuf import text_format
        from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig
        configs = []
        for name in ("torch", "sonde"):
            folder = self.folder / name / "embedding"
            configs.append(text_format.Parse((folder / "projector_config.pbtxt").read_text(), ProjectorConfig()))
            info = configs[-1].embeddings[0]
            numpy.testing.assert_allclose(numpy.loadtxt(folder / info.tensor_path), points, rtol=1e-6)
            self.assertEqual((folder / info.metadata_path).read_text().split(), list("abcde"))
        self.assertEqual(*configs)
        sprites = [numpy.asarray(Image.open(self.folder / name / "embedding" / configs[0].embeddings[0].sprite.image_path), dtype=int)
                   for name in ("torch", "sonde")]
        numpy.testing.assert_allclose(*sprites, atol=1)

    def test_add_graph(self):
        from tensorboard.backend.event_processing import event_accumulator
        net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Sequential(torch.nn.Linear(3, 2)))
        graphs = []
        for name, writer in (("torch", TorchWriter), ("sonde", sonde.SummaryWriter)):
            with writer(str(self.folder / name / "graph")) as each:
                each.add_graph(net, torch.zeros(1, 4))
            reader = event_accumulator.EventAccumulator(str(self.folder / name / "graph"))
            reader.Reload()
            names = {node.name for node in reader.Graph().node}
            # torch also names modules as inputs, which are no nodes.
            graphs.append({node.name: (node.op, sorted(names.intersection(node.input))) for node in reader.Graph().node})
        theirs, ours = graphs
        self.assertEqual(ours, theirs)
        self.assertGreater(len(ours), 8)

    def test_signatures(self):
        import inspect
        for name, method in inspect.getmembers(TorchWriter, inspect.isfunction):
            if name.startswith("_") and name not in ("__init__", "__enter__", "__exit__"):
                continue
            self.assertTrue(hasattr(sonde.SummaryWriter, name), name)
            wanted = inspect.signature(method).parameters
            if name == "add_scalar":  # compiled: the stub says it
                continue
            found = inspect.signature(getattr(sonde.SummaryWriter, name)).parameters if not name.startswith("__e") else wanted
            self.assertEqual([each for each in wanted], [each for each in found if each in wanted], name)
            for each in wanted:
                self.assertEqual(found[each].default, wanted[each].default, (name, each))


if __name__ == "__main__":
    unittest.main()
