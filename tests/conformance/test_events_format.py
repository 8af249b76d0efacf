"""Event and statistics files at the level of bytes: TensorBoard's protobufs, plugins and readers against src/formats,
in both directions."""

import importlib
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

import numpy as np
from tensorboard import context, data_compat
from tensorboard import summary as tensorboard_summary
from tensorboard.backend.event_processing import event_accumulator, event_file_loader
from tensorboard.compat.proto import event_pb2, graph_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2
from tensorboard.compat.tensorflow_stub import dtypes, pywrap_tensorflow
from tensorboard.plugins.audio import metadata as audio_metadata
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.custom_scalar import summary as custom_scalar_summary
from tensorboard.plugins.histogram import summary_v2 as histogram_summary
from tensorboard.plugins.hparams import api_pb2
from tensorboard.plugins.hparams import plugin_data_pb2 as hparams_pb2
from tensorboard.plugins.hparams import summary_v2 as hparams_summary
from tensorboard.plugins.image import metadata as image_metadata
from tensorboard.plugins.mesh import summary_v2 as mesh_summary
from tensorboard.plugins.pr_curve import summary as pr_curve_summary
from tensorboard.plugins.scalar import metadata as scalar_metadata
from tensorboard.plugins.text import summary_v2 as text_summary
from tensorboard.summary.writer import event_file_writer, record_writer
from tensorboard.util import tensor_util

import stats_record
from readers import DataServer, PythonReader
from web_server import wait_until

TIME = 1.75e9
EVERYTHING = 1 << 30
SCALAR, TENSOR, BLOBS = (summary_pb2.DATA_CLASS_SCALAR, summary_pb2.DATA_CLASS_TENSOR,
                         summary_pb2.DATA_CLASS_BLOB_SEQUENCE)


def tool(*arguments):
    """The lines that events_tool prints."""
    path = os.path.join(os.environ["SONDE_TOOLS"], "events_tool")
    return subprocess.run([path, *arguments], check=True, capture_output=True, text=True).stdout.splitlines()


def setUpModule():
    global LOGDIR, FILE
    LOGDIR = tempfile.mkdtemp()
    unittest.addModuleCleanup(shutil.rmtree, LOGDIR)
    os.mkdir(os.path.join(LOGDIR, "run"))
    FILE = os.path.join(LOGDIR, "run", "events.out.tfevents.1750000000.host.1.0")
    tool("write", FILE)


def raw_records(path):
    """The payloads of a file, by TensorBoard's own record reader, which checks the checksums."""
    reader = pywrap_tensorflow.PyRecordReader_New(path.encode())
    payloads = []
    while True:
        try:
            reader.GetNext()
        except Exception as end:  # its own OutOfRangeError at the end; anything else is a broken record
            if type(end).__name__ == "OutOfRangeError":
                return payloads
            raise
        payloads.append(reader.record())


def with_tensorflow(module, function, *arguments, **options):
    """Calls a summary function of TensorBoard that wants TensorFlow, though it only packs protobufs with it: those are
    TensorBoard's own here."""
    fake = types.ModuleType("tensorflow")
    fake.compat, fake.v1, fake.__version__ = fake, fake, "2"
    fake.Summary, fake.SummaryMetadata = summary_pb2.Summary, summary_pb2.SummaryMetadata
    fake.float32, fake.int32, fake.uint8, fake.string = dtypes.float32, dtypes.int32, dtypes.uint8, dtypes.string
    fake.make_tensor_proto = tensor_util.make_tensor_proto
    modules = {name: fake for name in ("tensorflow", "tensorflow.compat", "tensorflow.compat.v1")}
    with unittest.mock.patch.dict(sys.modules, modules):
        module = importlib.import_module(module) if isinstance(module, str) else module
        if hasattr(module, "tf"):
            with unittest.mock.patch.object(module, "tf", fake):
                return getattr(module, function)(*arguments, **options)
        return getattr(module, function)(*arguments, **options)


def value(tag, tensor, metadata, data_class):
    """A value as a plugin writes it, with the data class that readers would give it."""
    result = summary_pb2.Summary.Value(tag=tag, tensor=tensor, metadata=metadata)
    if data_class:
        result.metadata.data_class = data_class
    return result


def classified(summary, data_class):
    for each in summary.value:
        each.metadata.data_class = data_class
    return list(summary.value)


def scalar(tag, number, dtype):
    metadata = scalar_metadata.create_summary_metadata(display_name=None, description=None)
    return value(tag, tensor_util.make_tensor_proto(dtype(number)), metadata, SCALAR)


def expected_step(step):
    """The values of the events of one step, made by TensorBoard."""
    number = 0.1 * (step + 1)
    counts = [1 + (i + step) % 5 for i in range(30)]
    data = [0.0, 30.0]
    for i, count in enumerate(counts):
        data += [i + 0.5] * (count - (i in (0, 29)))
    images = tensor_util.make_tensor_proto([b"12", b"34", b"\x89PNG first", b"\x89PNG second"])
    audio = tensor_util.make_tensor_proto([[b"RIFF first", b"*label*"], [b"RIFF second", b""]])
    wav = audio_metadata.Encoding.Value("WAV")
    text = f"step {step}"
    return [
        [scalar("loss", number, np.float32)],
        [scalar("exact loss", number, np.float64)],
        [scalar("group/x", -number, np.float32),
         *classified(histogram_summary.histogram_pb("histogram", data), TENSOR),
         value("images", images, image_metadata.create_summary_metadata(None, None), BLOBS),
         value("audio", audio, audio_metadata.create_summary_metadata(None, None, wav), None),
         *classified(text_summary.text_pb("text", text), TENSOR),
         *classified(text_summary.text_pb("table", np.array(["# a", text], object)), TENSOR)],
    ]


def expected_pr_curve():
    labels = np.array([1, 0, 1, 1, 0, 0, 1, 0], bool)
    predictions = np.array([0.9, 0.7, 0.7, 0.3, 0.2, 0.6, 1.0, 0.0], np.float32)
    summary = with_tensorflow(pr_curve_summary, "pb", "pr", labels, predictions, num_thresholds=11)
    (result,) = classified(summary, TENSOR)
    result.tag = "pr"
    result.metadata.ClearField("display_name")  # this plugin repeats the tag there
    return result


def expected_layout():
    layout = layout_pb2.Layout()
    losses = layout.category.add(title="losses")
    losses.chart.add(title="all").multiline.tag.extend(["loss.*", "exact.*"])
    band = losses.chart.add(title="band")
    band.margin.series.add(value="loss", lower="low", upper="high")
    band.margin.series.add(value="x", lower="y", upper="z")
    layout.category.add(title="empty")
    return layout


def expected_hparams():
    experiment = hparams_summary.hparams_config_pb(
        hparams=[hparams_summary.HParam(name) for name in ("optimizer", "learning rate", "layers", "bias")],
        metrics=[hparams_summary.Metric("loss"), hparams_summary.Metric("exact loss")], time_created_secs=TIME)
    start = hparams_summary.hparams_pb({"optimizer": "adam", "learning rate": 0.001, "layers": 3, "bias": False},
                                       trial_id="a group", start_time_secs=TIME + 1)
    end = with_tensorflow("tensorboard.plugins.hparams.summary", "session_end_pb", api_pb2.STATUS_SUCCESS,
                          end_time_secs=TIME + 2)
    values = [each for summary in (experiment, start, end) for each in classified(summary, TENSOR)]
    for each in values:
        content = hparams_pb2.HParamsPluginData.FromString(each.metadata.plugin_data.content)
        # The function above can name a type only together with a domain.
        for info, kind in zip(content.experiment.hparam_infos, ("STRING", "FLOAT64", "FLOAT64", "BOOL")):
            info.type = api_pb2.DataType.Value(f"DATA_TYPE_{kind}")
        # And writes maps in any order.
        each.metadata.plugin_data.content = content.SerializeToString(deterministic=True)
    return values


def expected_others():
    mesh = with_tensorflow(
        mesh_summary, "mesh_pb", "mesh", np.array([[[0, 0, 0], [1, 0, 0], [0, 1, 0.5]]], np.float32),
        faces=np.array([[[0, 1, 2]]], np.int32), colors=np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255]]], np.uint8))
    layout = with_tensorflow(custom_scalar_summary, "pb", expected_layout())
    unknown = summary_pb2.SummaryMetadata(
        plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name="a plugin", content=b"its content"))
    numbers = tensor_util.make_tensor_proto(np.array([[1, -2, 3], [-4, 5, -6]], np.int16))
    return [expected_pr_curve(), *classified(mesh, TENSOR), *classified(layout, TENSOR), *expected_hparams(),
            value("unknown", numbers, unknown, TENSOR)]


def expected_graph():
    graph = graph_pb2.GraphDef()
    graph.versions.producer = 22

    def shape(*sizes):
        return tensor_shape_pb2.TensorShapeProto(dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=s) for s in sizes])

    source = graph.node.add(name="input", op="Placeholder")
    source.attr["dtype"].type = types_pb2.DT_FLOAT
    source.attr["_output_shapes"].list.shape.append(shape(-1, 8, 8, 1))
    conv = graph.node.add(name="conv/out", op="Conv2D", input=["input"], device="/device:CPU:0")
    conv.attr["T"].type = types_pb2.DT_HALF
    conv.attr["_output_shapes"].list.shape.extend([shape(-1, 4, 4, 8), shape()])
    conv.attr["strides"].list.i.extend([1, 2, 2, 1])
    conv.attr["padding"].s = b"SAME"
    conv.attr["groups"].i = -3
    conv.attr["bias"].b = True
    conv.attr["alpha"].f = 0.25
    conv.attr["kernel"].shape.CopyFrom(shape(3, 3))
    conv.attr["accumulate"].type = types_pb2.DT_BFLOAT16
    relu = graph.node.add(name="relu", op="Relu", input=["conv/out:1"])
    relu.attr["T"].type = types_pb2.DT_FLOAT
    return graph


def expected_events():
    """Every event of the file, as TensorBoard's plugins would make it."""
    version = event_pb2.Event(wall_time=TIME, file_version="brain.Event:2")
    version.source_metadata.writer = "sonde"
    events = [version, event_pb2.Event(wall_time=TIME, graph_def=expected_graph().SerializeToString(deterministic=True))]
    for step in range(3):
        for values in expected_step(step):
            if step > 0:
                for each in values:
                    each.ClearField("metadata")
            events.append(event_pb2.Event(wall_time=TIME + step, step=step, summary=summary_pb2.Summary(value=values)))
    events.append(event_pb2.Event(wall_time=TIME, summary=summary_pb2.Summary(value=expected_others())))
    return events


class Written(unittest.TestCase):
    maxDiff = None

    def test_is_what_the_plugins_of_tensorboard_write_field_by_field(self):
        found = [event_pb2.Event.FromString(payload) for payload in raw_records(FILE)]
        expected = expected_events()
        self.assertEqual(len(found), len(expected))
        for ours, theirs in zip(found, expected):
            self.assertEqual(str(ours), str(theirs))
            self.assertEqual(ours, theirs)

    def test_is_byte_by_byte_what_protobuf_writes(self):
        for payload, event in zip(raw_records(FILE), expected_events()):
            self.assertEqual(payload.hex(), event.SerializeToString(deterministic=True).hex())

    def test_is_framed_byte_by_byte_as_tensorboard_frames_it(self):
        path = os.path.join(LOGDIR, "framed")
        with open(path, "wb") as file:
            writer = record_writer.RecordWriter(file)
            for event in expected_events():
                writer.write(event.SerializeToString(deterministic=True))
        with open(path, "rb") as theirs, open(FILE, "rb") as ours:
            self.assertEqual(ours.read(), theirs.read())

    def test_is_read_by_the_event_accumulator(self):
        accumulator = event_accumulator.EventAccumulator(FILE, size_guidance={"tensors": 0})
        accumulator.Reload()
        expected = {}
        for event in expected_events():
            for each in event.summary.value:
                expected.setdefault(each.tag, []).append((event.wall_time, event.step, each))
        self.assertEqual(set(accumulator.Tags()["tensors"]), set(expected))
        self.assertTrue(accumulator.Tags()["graph"])
        self.assertEqual(accumulator.Graph(), expected_graph())
        for tag, points in expected.items():
            found = accumulator.Tensors(tag)
            self.assertEqual([(point.wall_time, point.step) for point in found], [point[:2] for point in points])
            self.assertEqual([point.tensor_proto for point in found], [point[2].tensor for point in points])
            self.assertEqual(accumulator.SummaryMetadata(tag), points[0][2].metadata)


class Readers(unittest.TestCase):
    """The same answers from TensorBoard's Python reader and from its data server."""

    def test_python(self):
        self.check(PythonReader(LOGDIR), fast=False)

    def test_data_server(self):
        self.check(DataServer(LOGDIR), fast=True)

    def check(self, reader, fast):
        self.addCleanup(reader.close)
        self.provider, self.context = reader.provider, context.RequestContext()

        def loaded():
            tags = self.listed("list_tensors", "a plugin")
            return tags and self.listed("list_scalars", "scalars")["loss"].max_step == 2

        wait_until(loaded, "loading the file")
        self.check_scalars(fast)
        self.check_tensors()
        self.check_blobs()

    def listed(self, method, plugin):
        answer = getattr(self.provider, method)(self.context, experiment_id="", plugin_name=plugin)
        return answer.get("run", {})

    def read(self, method, plugin):
        answer = getattr(self.provider, method)(self.context, experiment_id="", plugin_name=plugin, downsample=EVERYTHING)
        return answer.get("run", {})

    def check_scalars(self, fast):
        expected = {tag: [(step, TIME + step, np.float32(sign * 0.1 * (step + 1))) for step in range(3)]
                    for tag, sign in (("loss", 1), ("group/x", -1))}
        found = self.read("read_scalars", "scalars")
        exact = [(step, TIME + step, 0.1 * (step + 1)) for step in range(3)]
        if fast:  # it lists doubles, but has no values of them
            self.assertEqual(found.pop("exact loss", []), [])
        else:
            expected["exact loss"] = exact
        self.assertEqual({tag: [(point.step, point.wall_time, point.value) for point in points]
                          for tag, points in found.items()}, expected)

    def check_tensors(self):
        expected = {}
        for event in expected_events():
            for each in event.summary.value:
                expected.setdefault(each.tag, []).append((event.step, event.wall_time, each))
        plugins = ("histograms", "text", "pr_curves", "mesh", "custom_scalars", "hparams", "a plugin")
        for plugin in plugins:
            tags = {tag for tag, points in expected.items() if points[0][2].metadata.plugin_data.plugin_name == plugin}
            self.assertTrue(tags, plugin)
            listed, read = self.listed("list_tensors", plugin), self.read("read_tensors", plugin)
            self.assertEqual(set(listed), tags)
            for tag in tags:
                points = expected[tag]
                self.assertEqual(listed[tag].plugin_content, points[0][2].metadata.plugin_data.content)
                self.assertEqual([(point.step, point.wall_time) for point in read[tag]], [point[:2] for point in points])
                for ours, (_, _, theirs) in zip(read[tag], points):
                    np.testing.assert_array_equal(ours.numpy, tensor_util.make_ndarray(theirs.tensor))

    def check_blobs(self):
        images = [b"12", b"34", b"\x89PNG first", b"\x89PNG second"]
        clips = [b"RIFF first", b"RIFF second"]
        self.assertEqual(self.blobs("images"), {"images": [(step, TIME + step, images) for step in range(3)]})
        self.assertEqual(self.blobs("audio"), {"audio": [(step, TIME + step, clips) for step in range(3)]})
        self.assertEqual(self.listed("list_blob_sequences", "audio")["audio"].plugin_content, b"\x10\x0b")
        ((step, _, (graph,)),) = self.blobs("graphs")["__run_graph__"]
        self.assertEqual(step, 0)
        self.assertEqual(graph_pb2.GraphDef.FromString(graph), expected_graph())

    def blobs(self, plugin):
        return {tag: [(point.step, point.wall_time,
                       [self.provider.read_blob(self.context, blob_key=each.blob_key) for each in point.values])
                      for point in points]
                for tag, points in self.read("read_blob_sequences", plugin).items()}


def old_forms():
    """Summaries as TensorFlow 1, tensorboardX and torch write them."""
    histogram = summary_pb2.HistogramProto(min=-1.5, max=3.25, num=6, sum=4, sum_squares=20,
                                           bucket_limit=[-2, -1, 0, 1, 2, 3, 1.7976931348623157e308],
                                           bucket=[0, 1, 0, 2, 0, 3, 1])
    outside = summary_pb2.HistogramProto(min=5, max=5, num=3, bucket_limit=[-1.7976931348623157e308, 4, 6, 1e308],
                                         bucket=[0, 0, 3, 0])
    empty = summary_pb2.HistogramProto(min=1.7976931348623157e308, max=-1.7976931348623157e308, bucket_limit=[0, 1],
                                       bucket=[0, 0])
    return summary_pb2.Summary(value=[
        summary_pb2.Summary.Value(tag="simple", simple_value=0.1),
        summary_pb2.Summary.Value(tag="not finite", simple_value=math.inf, node_name="a node"),
        summary_pb2.Summary.Value(tag="histo", histo=histogram),
        summary_pb2.Summary.Value(tag="histo/one", histo=outside),
        summary_pb2.Summary.Value(tag="histo/empty", histo=empty),
        summary_pb2.Summary.Value(tag="image", image=summary_pb2.Summary.Image(
            height=3, width=2, colorspace=3, encoded_image_string=b"\x89PNG")),
        summary_pb2.Summary.Value(tag="audio", audio=summary_pb2.Summary.Audio(
            sample_rate=44100, num_channels=2, length_frames=7, encoded_audio_string=b"RIFF", content_type="audio/wav")),
    ])


def tensors():
    """A number of every dtype, in typed fields and in content, and larger tensors."""
    summary = summary_pb2.Summary()
    numbers = {"DT_FLOAT": np.float32, "DT_DOUBLE": np.float64, "DT_INT32": np.int32, "DT_UINT8": np.uint8,
               "DT_INT16": np.int16, "DT_INT8": np.int8, "DT_INT64": np.int64, "DT_BOOL": np.bool_,
               "DT_UINT16": np.uint16, "DT_HALF": np.float16, "DT_COMPLEX64": np.complex64,
               "DT_COMPLEX128": np.complex128}
    for name, dtype in numbers.items():
        for shape in ((), (1,), (2, 3)):
            array = (np.arange(6) - (0 if name.startswith("DT_U") else 3)).astype(dtype)[:math.prod(shape)].reshape(shape)
            summary.value.add(tag=f"{name}{shape}", tensor=tensor_util.make_tensor_proto(array))
            content = tensor_pb2.TensorProto(dtype=types_pb2.DataType.Value(name), tensor_content=array.tobytes())
            content.tensor_shape.CopyFrom(tensor_util.make_tensor_proto(array).tensor_shape)
            summary.value.add(tag=f"content {name}{shape}", tensor=content)
    splat = tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[2.5])
    splat.tensor_shape.dim.add(size=4)
    summary.value.add(tag="splat", tensor=splat)
    return summary


def fields(event):
    """What our decoder must say of an event, from TensorBoard's protobuf of it."""
    what = event.WhichOneof("what") or "nothing"
    result = {"what": what, "wall_time": event.wall_time, "step": event.step, "text": b"", "bytes": b"", "number": 0,
              "checkpoint_path": b"", "writer": event.source_metadata.writer.encode()}
    if what == "file_version":
        result["text"] = event.file_version.encode()
    if what in ("graph_def", "meta_graph_def"):
        result["bytes"] = getattr(event, what)
    if what == "log_message":
        result |= {"text": event.log_message.message.encode(), "number": event.log_message.level}
    if what == "session_log":
        result |= {"text": event.session_log.msg.encode(), "number": event.session_log.status,
                   "checkpoint_path": event.session_log.checkpoint_path.encode()}
    if what == "tagged_run_metadata":
        result |= {"text": event.tagged_run_metadata.tag.encode(), "bytes": event.tagged_run_metadata.run_metadata}
    return result


class Decoded(unittest.TestCase):
    """What TensorBoard's writers write, read by our decoder."""
    maxDiff = None

    def dump(self, path):
        lines = [json.loads(line) for line in tool("dump", path)]
        for line in lines:
            self.assertNotIn("damage", line)
            self.assertNotIn("corrupt", line)
        return lines

    def file_of(self, events):
        path = os.path.join(LOGDIR, self.id())
        with open(path, "wb") as file:
            writer = record_writer.RecordWriter(file)
            for event in events:
                writer.write(event.SerializeToString())
        return path

    def check_event(self, line, event):
        found = {key: bytes.fromhex(line[key]) for key in ("text", "bytes", "checkpoint_path", "writer")}
        found |= {"what": line["what"], "step": line["step"], "number": line["number"],
                  "wall_time": float.fromhex(line["wall_time"])}
        self.assertEqual(found, fields(event))
        self.assertEqual(len(line["values"]), len(event.summary.value))
        for ours, theirs in zip(line["values"], event.summary.value):
            self.check_value(ours, theirs)

    def check_value(self, ours, theirs):
        self.assertEqual(bytes.fromhex(ours["tag"]).decode(), theirs.tag)
        self.assertEqual(bytes.fromhex(ours["node_name"]).decode(), theirs.node_name)
        self.assertEqual(ours["form"], theirs.WhichOneof("value"))
        modern = data_compat.migrate_value(theirs)
        self.assertEqual(bytes.fromhex(ours["plugin"]).decode(), modern.metadata.plugin_data.plugin_name)
        self.assertEqual("metadata" in ours, theirs.HasField("metadata"))
        if theirs.HasField("metadata"):
            found, metadata = ours["metadata"], theirs.metadata
            self.assertEqual(bytes.fromhex(found["plugin_name"]).decode(), metadata.plugin_data.plugin_name)
            self.assertEqual(bytes.fromhex(found["content"]), metadata.plugin_data.content)
            self.assertEqual(bytes.fromhex(found["display_name"]).decode(), metadata.display_name)
            self.assertEqual(bytes.fromhex(found["description"]).decode(), metadata.summary_description)
            self.assertEqual(found["data_class"], metadata.data_class)
        self.check_meaning(ours, theirs, modern)

    def check_meaning(self, ours, theirs, modern):
        array = tensor_util.make_ndarray(modern.tensor)
        if theirs.HasField("tensor"):
            self.assertEqual(ours["dtype"], theirs.tensor.dtype)
            self.assertEqual(ours["shape"], list(array.shape))
            if array.dtype == object:
                self.assertEqual([bytes.fromhex(text) for text in ours["strings"]], list(array.ravel()))
            else:
                np.testing.assert_array_equal(np.array([float.fromhex(x) for x in ours["numbers"]]),
                                              array.real.ravel().astype(np.float64))
        if array.dtype != object and array.size == 1:
            self.assertEqual(float.fromhex(ours["scalar"]), float(array.real.ravel()[0]))
        plugin = modern.metadata.plugin_data.plugin_name
        if plugin == "histograms":
            buckets = np.array([[float.fromhex(x) for x in row] for row in ours["histogram"]]).reshape(-1, 3)
            # TensorBoard rounds old histograms to float; their layout is the same.
            np.testing.assert_array_equal(buckets.astype(array.dtype), array)
        if plugin == "images":
            self.assertEqual([str(ours["images"]["width"]).encode(), str(ours["images"]["height"]).encode(),
                              *map(bytes.fromhex, ours["images"]["encoded"])], list(array))
        if plugin == "audio":
            self.assertEqual([[bytes.fromhex(x) for x in clip] for clip in ours["audio"]], array.tolist())

    def check(self, events):
        lines = self.dump(self.file_of(events))
        self.assertEqual(len(lines), len(events))
        for line, event in zip(lines, events):
            self.check_event(line, event)

    def test_our_own_file(self):
        lines = self.dump(FILE)
        events = expected_events()
        self.assertEqual(len(lines), len(events))
        for line, event in zip(lines, events):
            self.check_event(line, event)

    def test_the_summary_writer(self):
        path = os.path.join(LOGDIR, "writer")
        writer = tensorboard_summary.Writer(path)
        for step in range(3):
            writer.add_scalar("a/ü", 0.1 * step, step, wall_time=TIME + step, description="*text*")
        writer.close()
        (name,) = os.listdir(path)
        file = os.path.join(path, name)
        events = list(event_file_loader.LegacyEventFileLoader(file).Load())
        lines = self.dump(file)
        self.assertEqual(len(lines), 4)
        for line, event in zip(lines, events):
            self.check_event(line, event)

    def test_the_event_file_writer_with_values_of_every_plugin(self):
        path = os.path.join(LOGDIR, "event file writer")
        writer = event_file_writer.EventFileWriter(path)
        for event in expected_events():
            writer.add_event(event)
        writer.close()
        (name,) = os.listdir(path)
        lines = self.dump(os.path.join(path, name))
        for line, event in zip(lines[1:], expected_events(), strict=True):
            self.check_event(line, event)

    def test_old_forms(self):
        self.check([event_pb2.Event(wall_time=TIME, step=5, summary=old_forms())])

    def test_tensors_of_every_dtype(self):
        self.check([event_pb2.Event(wall_time=TIME, step=-5, summary=tensors())])

    def test_events_that_are_no_summaries(self):
        self.check([
            event_pb2.Event(),
            event_pb2.Event(wall_time=TIME, log_message=event_pb2.LogMessage(level="WARN", message="careful")),
            event_pb2.Event(step=7, session_log=event_pb2.SessionLog(status="CHECKPOINT", checkpoint_path="/a", msg="b")),
            event_pb2.Event(tagged_run_metadata=event_pb2.TaggedRunMetadata(tag="step1", run_metadata=b"\x00\xff")),
            event_pb2.Event(meta_graph_def=b"meta"),
        ])

    def test_graphs(self):
        graph = expected_graph()
        graph.node[0].attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(np.zeros((2, 3), np.int8)))
        graph.node[0].attr["func"].func.name = "f"
        (line,) = self.dump(self.file_of([event_pb2.Event(graph_def=graph.SerializeToString())]))
        self.assertEqual(len(line["nodes"]), len(graph.node))
        for ours, theirs in zip(line["nodes"], graph.node):
            self.assertEqual([bytes.fromhex(ours[key]).decode() for key in ("name", "op", "device")],
                             [theirs.name, theirs.op, theirs.device])
            self.assertEqual([bytes.fromhex(each).decode() for each in ours["inputs"]], list(theirs.input))
        attributes = [{bytes.fromhex(key).decode(): bytes.fromhex(text).decode() for key, text in node["attributes"]}
                      for node in line["nodes"]]
        self.assertEqual(attributes, [
            {"dtype": "f32", "_output_shapes": "[[-1, 8, 8, 1]]", "value": "tensor i8[2, 3]", "func": "f"},
            {"T": "f16", "_output_shapes": "[[-1, 4, 4, 8], []]", "strides": "[1, 2, 2, 1]", "padding": "SAME",
             "groups": "-3", "bias": "true", "alpha": "0.25", "kernel": "[3, 3]", "accumulate": "bf16"},
            {"T": "f32"}])


def plain(value):
    """Both readers' answers in one form: floats as their bits, since NaN is not equal to itself."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return struct.pack("<d", value) if isinstance(value, float) else value


TEXTS = {"writer", "host", "name", "detail", "dtype"}
FLOATS = {"start_time", "wall_time", *stats_record.NUMBERS}


def from_tool(value, key=None):
    """What events_tool printed: hexadecimal texts and floats become what they stand for."""
    if isinstance(value, dict):
        return {name: from_tool(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [bytes.fromhex(each).decode() if key == "inputs" else from_tool(each, key) for each in value]
    if key in TEXTS:
        return bytes.fromhex(value).decode()
    return float.fromhex(value) if key in FLOATS else value


class Statistics(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.path = os.path.join(LOGDIR, "stats.writer.tfrecord")
        self.written = [from_tool(json.loads(line)) for line in tool("write_stats", self.path)]

    def test_a_second_reader_finds_what_was_written(self):
        found = [stats_record.decode(payload) for payload in raw_records(self.path)]
        self.assertEqual({record["type"] for record in found}, {"header", "definition", "step", "gap"})
        self.assertEqual(plain(found), plain(self.written))

    def test_a_newer_record_is_named(self):
        payload = bytearray(raw_records(self.path)[0])
        payload[0] = 2
        self.assertEqual(stats_record.decode(bytes(payload)), {"type": "newer", "version": 2, "grid": 1})


if __name__ == "__main__":
    unittest.main()
