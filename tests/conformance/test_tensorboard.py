"""TensorBoard reads what the recorder writes: every value, step, tag and plugin comes back, through its Python reader
and through its data server."""

import glob
import os
import shutil
import tempfile
import unittest

import numpy as np
from tensorboard import context, errors
from tensorboard.backend.event_processing import event_accumulator, event_file_loader
from tensorboard.compat.proto import graph_pb2
from tensorboard.plugins.audio import metadata as audio_metadata
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams import api_pb2
from tensorboard.plugins.hparams import metadata as hparams_metadata
from tensorboard.plugins.mesh import metadata as mesh_metadata
from tensorboard.plugins.mesh import plugin_data_pb2 as mesh_pb2
from tensorboard.plugins.pr_curve import metadata as pr_curve_metadata
from tensorboard.util import tensor_util

import checks
import recorded_log
from checks import CUSTOM_SCALARS, HPARAMS_TAGS, RUN_GRAPH
from readers import DataServer, PythonReader
from recording import ColorMap, Encoding, Layout, Script
from web_server import EVERY_PLUGIN, wait_until

EVERYTHING = 1 << 30


def setUpModule():
    global LOGDIR, EXPECTED
    LOGDIR = tempfile.mkdtemp()
    unittest.addModuleCleanup(shutil.rmtree, LOGDIR)
    EXPECTED = recorded_log.write(LOGDIR)


class Recorder(unittest.TestCase):
    def test_takes_everything_and_complains_of_the_overflow_alone(self):
        self.assertEqual(EXPECTED.complaints, [recorded_log.OVERFLOW])
        for recorder, counters in EXPECTED.counters.items():
            taken = {name: count for name, count in counters.items() if name not in ("scalars", "tensors")}
            self.assertEqual(set(taken.values()), {0}, f"{recorder}: {counters}")

    def test_puts_the_values_of_a_group_into_one_event_and_its_pictures_after_it(self):
        (path,) = glob.glob(os.path.join(LOGDIR, "train", "*tfevents*"))
        events = [event for event in event_file_loader.EventFileLoader(path).Load() if event.HasField("summary")]
        groups = [event for event in events if any(value.tag.startswith("group/") for value in event.summary.value)]
        groups = [(event.step, {value.tag for value in event.summary.value}) for event in groups]
        for step in range(2):
            self.assertEqual([tags for of, tags in groups if of == step],
                             [{"group/x", "group/y", "group/histogram", "group/text"}, {"group/image"}])

    def test_repeats_the_metadata_of_a_tag_from_time_to_time(self):
        (path,) = glob.glob(os.path.join(LOGDIR, "again", "*tfevents*"))
        said = {}
        for event in event_file_loader.LegacyEventFileLoader(path).Load():
            for value in event.summary.value:
                if value.HasField("metadata"):
                    said.setdefault(value.tag, []).append(value.metadata.plugin_data.plugin_name)
        del said[recorded_log.END]
        self.assertEqual({tag: set(names) for tag, names in said.items()},
                         {"loss": {"scalars"}, "notes": {"text"}, "kernel": {"histograms"}, "picture": {"images"}})
        for tag, names in said.items():
            self.assertTrue(2 <= len(names) <= 5, f"{tag}: {len(names)} of 8")

    def test_keeps_the_label_of_a_sound(self):
        (path,) = glob.glob(os.path.join(LOGDIR, "train", "*tfevents*"))
        labels = {value.tensor.string_val[1]
                  for event in event_file_loader.LegacyEventFileLoader(path).Load()
                  for value in event.summary.value if value.tag == "mono"}
        self.assertEqual(labels, {b"*a* label"})


class Refused(unittest.TestCase):
    """What cannot be recorded costs itself alone: it is counted and explained, and all the rest is read."""

    UNUSABLE = [
        ("scalar", "", 1, 1),
        ("scalar", "x" * 70_000, 1, 1),
        ("histogram", "loss", np.ones(3), 1),  # the tag is a scalar's
        ("scalar", "mesh_VERTEX", 1, 1),
        ("histogram", "complex", np.ones(3, np.complex64), 1),
        ("image", "four axes", np.ones((1, 2, 2, 3)), 1, Layout.HWC, ColorMap.automatic, 64, 0, 0),
        ("image", "nothing to draw", np.ones((0, 3)), 1, Layout.HW, ColorMap.automatic, 64, 0, 0),
        ("audio", "no rate", np.ones(3), 1, 0, Encoding.pcm16, ""),
        ("audio", "three axes", np.ones((2, 2, 2)), 1, 8000, Encoding.pcm16, ""),
        ("pr_curve", "other sizes", np.ones(3, np.bool_), np.ones(4), 1, 10),
        ("pr_curve", "not a number", np.ones(3, np.bool_), np.full(3, np.nan), 1, 10),
        ("pr_curve", "thresholds", np.ones(3, np.bool_), np.ones(3), 1, 1),
        ("mesh", "flat", np.ones((4, 2)), 1, False, False),
        ("custom_scalars", 1, "category", 1, "margin", ["loss", "loss"], True),
        ("graph", 1, "node", "Op", ["unknown"], 0, [], 0, ""),
        ("graph", 1, "", "Op", [], 0, [], 0, ""),
    ]

    def test_values_are_counted_and_leave_no_trace(self):
        with tempfile.TemporaryDirectory() as logdir:
            with Script() as script:
                script.open("run", f"{logdir}/run")
                script("mesh", "run", "mesh", np.ones((4, 3), np.float32), 0, False, False)
                for step, (command, *arguments) in enumerate(self.UNUSABLE):
                    script("scalar", "run", "loss", step, step)
                    script(command, "run", *arguments)
                script("begin_group", "run", 99)  # one bad value among others
                script("group_scalar", "run", "loss", 99)
                script("group_image", "run", "group", np.ones(3), Layout.HW, ColorMap.automatic, 64, 0, 0)
                script("group_text", "run", "text", "in a group")
                script("end_group", "run")
                counters = script.close("run")
            self.assertEqual(counters["rejected"], len(self.UNUSABLE) + 1)
            self.assertEqual(len(script.complaints), len(self.UNUSABLE) + 1, script.complaints)
            accumulator = event_accumulator.EventAccumulator(f"{logdir}/run", size_guidance={"tensors": 0})
            accumulator.Reload()
            self.assertEqual(set(accumulator.Tags()["tensors"]), {"loss", "mesh_VERTEX", "text"})
            self.assertFalse(accumulator.Tags()["graph"])
            values = {event.step: tensor_util.make_ndarray(event.tensor_proto) for event in accumulator.Tensors("loss")}
            self.assertEqual(values, {step: step for step in [*range(len(self.UNUSABLE)), 99]})

    def test_calls_after_close_change_nothing(self):
        with tempfile.TemporaryDirectory() as logdir:
            with Script() as script:
                script.open("run", f"{logdir}/run")
                script("series", "run", "loss", 1, 1)
                script.close("run")
                files = {path: os.path.getsize(path) for path in glob.glob(f"{logdir}/run/*")}
                script("series", "run", "loss", 2, 2)
                script("histogram", "run", "late", np.ones(3), 2)
                script("graph", "run", 1, "node", "Op", [], 0, [], 0, "")
                counters = script.close("run")
            self.assertEqual(counters["rejected"], 3)
            self.assertEqual({path: os.path.getsize(path) for path in glob.glob(f"{logdir}/run/*")}, files)


class Accumulator(unittest.TestCase):
    """EventAccumulator, which scripts use."""

    def test_finds_every_tag_with_its_plugin(self):
        for run in EXPECTED.runs():
            accumulator = event_accumulator.EventAccumulator(os.path.join(LOGDIR, run), size_guidance={"tensors": 0})
            accumulator.Reload()
            found = {tag: accumulator.SummaryMetadata(tag).plugin_data.plugin_name
                     for tag in accumulator.Tags()["tensors"]}
            wanted = {"scalars": EXPECTED.scalars, **checks.expected_tags(EXPECTED)}
            del wanted["graphs"]
            self.assertEqual(found, {tag: plugin for plugin, runs in wanted.items() for tag in runs.get(run, ())})
            self.assertEqual(accumulator.Tags()["graph"], run in EXPECTED.graphs)

    def test_reads_the_scalars(self):
        for run, tags in EXPECTED.scalars.items():
            accumulator = event_accumulator.EventAccumulator(os.path.join(LOGDIR, run), size_guidance={"tensors": 0})
            accumulator.Reload()
            for tag, points in tags.items():
                events = accumulator.Tensors(tag)
                self.assertEqual([event.step for event in events], [step for step, _ in points], (run, tag))
                values = [tensor_util.make_ndarray(event.tensor_proto) for event in events]
                np.testing.assert_array_equal(np.array(values), np.array([value for _, value in points]))
                self.assertEqual({value.dtype for value in values}, {points[0][1].dtype})


class Readers:
    """Cases for both of TensorBoard's readers, behind the interface that its pages use."""

    fast = False

    @classmethod
    def open_reader(cls, logdir):
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        cls.reader = cls.open_reader(LOGDIR)
        cls.addClassCleanup(cls.reader.close)
        cls.provider = cls.reader.provider
        cls.where = {"ctx": context.RequestContext(), "experiment_id": ""}
        wait_until(cls.is_loaded, "loading the log")

    @classmethod
    def is_loaded(cls):
        ends = cls.provider.list_tensors(**cls.where, plugin_name="text")
        sessions = cls.provider.list_tensors(**cls.where, plugin_name="hparams")
        return (all(recorded_log.END in ends.get(run, ()) for run in EXPECTED.runs()) and
                all(HPARAMS_TAGS <= set(sessions.get(run, ())) for run in EXPECTED.hparams))

    def read(self, plugin, kind="tensors"):
        return getattr(self.provider, f"read_{kind}")(**self.where, plugin_name=plugin, downsample=EVERYTHING)

    def list(self, plugin, kind="tensors"):
        return getattr(self.provider, f"list_{kind}")(**self.where, plugin_name=plugin)

    def check_series(self, found, expected, check):
        """Runs, tags and steps are equal, and `check` takes the datum, the tag and the rest of each point."""
        self.assertEqual({run: set(tags) for run, tags in found.items()},
                         {run: set(tags) for run, tags in expected.items()})
        for run, tags in expected.items():
            for tag, points in tags.items():
                data = found[run][tag]
                with self.subTest(run=run, tag=tag[:80]):
                    self.assertEqual([datum.step for datum in data], [point[0] for point in points])
                    for datum, (_, *rest) in zip(data, points):
                        check(datum, tag, *rest)

    def blobs(self, datum):
        return [self.provider.read_blob(ctx=self.where["ctx"], blob_key=value.blob_key) for value in datum.values]

    def test_lists_runs_and_plugins(self):
        runs = self.provider.list_runs(**self.where)
        self.assertEqual({run.run_name for run in runs}, EXPECTED.runs())
        for run in runs:
            self.assertTrue(EXPECTED.begin - 0.01 <= run.start_time <= EXPECTED.end + 0.01, run)
        self.assertEqual(set(self.provider.list_plugins(**self.where)), set(EVERY_PLUGIN))

    def test_puts_each_tag_under_its_plugin_alone(self):
        kinds = {"images": "blob_sequences", "audio": "blob_sequences", "graphs": "blob_sequences"}
        for plugin, wanted in checks.expected_tags(EXPECTED).items():
            listed = self.list(plugin, kinds.get(plugin, "tensors"))
            self.assertEqual({run: set(tags) for run, tags in listed.items()},
                             {run: set(tags) for run, tags in wanted.items()}, plugin)
            for tags in listed.values():
                for series in tags.values():
                    self.assertEqual((series.display_name, series.description), ("", ""))

    def test_reads_scalars(self):
        def check(datum, tag, value):
            np.testing.assert_array_equal(datum.value, float(value))
            self.assertEqual(np.signbit(datum.value), np.signbit(value))

        self.check_series(self.read("scalars", "scalars"), checks.expected_scalars(EXPECTED, self.fast), check)

    def test_lists_the_last_step_and_time_of_each_series(self):
        read = self.read("scalars", "scalars")
        for run, tags in self.list("scalars", "scalars").items():
            for tag, listed in tags.items():
                self.assertEqual(listed.max_step, max(datum.step for datum in read[run][tag]))
                self.assertEqual(listed.max_wall_time, max(datum.wall_time for datum in read[run][tag]))

    def test_reads_times_that_never_decrease(self):
        for tags in self.read("scalars", "scalars").values():
            for data in tags.values():
                times = [EXPECTED.begin - 0.01, *[datum.wall_time for datum in data], EXPECTED.end + 0.01]
                self.assertEqual(times, sorted(times))

    def test_reads_histograms(self):
        def check(datum, tag, array, count):
            self.assertEqual(datum.numpy.dtype, np.float64)
            checks.check_buckets(self, datum.numpy, array, count)

        self.check_series(self.read("histograms"), EXPECTED.histograms, check)

    def test_reads_images(self):
        def check(datum, tag, pixels, tolerance):
            if self.fast and checks.has_unreadable_blobs(tag):
                with self.assertRaisesRegex(errors.InvalidArgumentError, "failed to parse blob key"):
                    self.blobs(datum)
                return
            width, height, *pictures = self.blobs(datum)
            self.assertEqual((int(width), int(height)), (pixels.shape[1], pixels.shape[0]))
            (picture,) = pictures
            checks.check_png(self, picture, pixels, tolerance)

        self.check_series(self.read("images", "blob_sequences"), EXPECTED.images, check)

    def test_reads_audio(self):
        for tags in self.list("audio", "blob_sequences").values():
            for series in tags.values():
                content = audio_metadata.parse_plugin_metadata(series.plugin_content)
                self.assertEqual(content.encoding, audio_metadata.Encoding.Value("WAV"))

        def check(datum, tag, samples, rate):
            (clip,) = self.blobs(datum)
            checks.check_wav(self, clip, samples, rate)

        self.check_series(self.read("audio", "blob_sequences"), EXPECTED.audio, check)

    def test_reads_text(self):
        def check(datum, tag, text):
            self.assertEqual((datum.numpy.shape, datum.numpy.item().decode()), ((), text))

        self.check_series(self.read("text"), EXPECTED.text, check)

    def test_reads_graphs(self):
        found = self.read("graphs", "blob_sequences")
        self.assertEqual(set(found), set(EXPECTED.graphs))
        for run, nodes in EXPECTED.graphs.items():
            ((graph,),) = [self.blobs(datum) for datum in found[run][RUN_GRAPH]]
            checks.check_graph(self, graph_pb2.GraphDef.FromString(graph), nodes)

    def test_reads_pr_curves(self):
        for run, tags in self.list("pr_curves").items():
            for tag, series in tags.items():
                content = pr_curve_metadata.parse_plugin_metadata(series.plugin_content)
                self.assertEqual(content.num_thresholds, EXPECTED.pr_curves[run][tag][0][3])

        def check(datum, tag, labels, predictions, thresholds):
            self.assertEqual(datum.numpy.dtype, np.float32)
            np.testing.assert_array_equal(datum.numpy, checks.tensorboard_pr_curve(labels, predictions, thresholds))

        self.check_series(self.read("pr_curves"), EXPECTED.pr_curves, check)

    def test_reads_meshes(self):
        types_of_content = mesh_pb2.MeshPluginData.ContentType
        for run, tags in self.list("mesh").items():
            for tag, series in tags.items():
                content = mesh_metadata.parse_plugin_metadata(series.plugin_content)
                name, part = tag.rsplit("_", 1)
                _, parts = EXPECTED.meshes[run][name][0]
                self.assertEqual((content.name, content.content_type), (name, types_of_content.Value(part)))
                self.assertEqual(tuple(content.shape), parts[part].shape)
                self.assertEqual(content.components,
                                 mesh_metadata.get_components_bitmask([types_of_content.Value(each) for each in parts]))

        def check(datum, tag, array):
            self.assertEqual(datum.numpy.dtype, array.dtype)
            np.testing.assert_array_equal(datum.numpy, array)

        self.check_series(self.read("mesh"), EXPECTED.mesh_tags(), check)

    def test_reads_custom_scalars(self):
        found = self.read("custom_scalars")
        self.assertEqual(set(found), set(EXPECTED.layouts))
        for run, categories in EXPECTED.layouts.items():
            (datum,) = found[run][CUSTOM_SCALARS]
            self.assertEqual(layout_pb2.Layout.FromString(datum.numpy.item()), checks.expected_layout(categories))

    def test_reads_hparams(self):
        for run, tags in self.list("hparams").items():
            values, metrics, group = EXPECTED.hparams[run]
            content = {tag: series.plugin_content for tag, series in tags.items()}
            experiment = hparams_metadata.parse_experiment_plugin_data(content["_hparams_/experiment"])
            kinds = {str: api_pb2.DATA_TYPE_STRING, bool: api_pb2.DATA_TYPE_BOOL}
            self.assertEqual({info.name: info.type for info in experiment.hparam_infos},
                             {name: kinds.get(type(each), api_pb2.DATA_TYPE_FLOAT64) for name, each in values.items()})
            self.assertEqual([info.name.tag for info in experiment.metric_infos], metrics)
            start = hparams_metadata.parse_session_start_info_plugin_data(content["_hparams_/session_start_info"])
            found = {name: getattr(value, value.WhichOneof("kind")) for name, value in start.hparams.items()}
            self.assertEqual(found, values)
            self.assertEqual({name: type(value) for name, value in found.items()},
                             {name: float if type(value) is int else type(value) for name, value in values.items()})
            self.assertEqual(start.group_name, group)
            end = hparams_metadata.parse_session_end_info_plugin_data(content["_hparams_/session_end_info"])
            self.assertEqual(end.status, api_pb2.STATUS_SUCCESS)
            for moment in (experiment.time_created_secs, start.start_time_secs, end.end_time_secs):
                self.assertTrue(EXPECTED.begin - 0.01 <= moment <= EXPECTED.end + 0.01, moment)

    def test_follows_a_run_in_progress(self):
        with tempfile.TemporaryDirectory() as logdir, Script() as script:
            script.open("live", f"{logdir}/live")
            script("scalar", "live", "loss", 0, 0)
            script.flush("live")
            reader = self.open_reader(logdir)
            self.addCleanup(reader.close)

            def steps():
                reader.reload()
                read = reader.provider.read_scalars(**self.where, plugin_name="scalars", downsample=EVERYTHING)
                return [datum.step for datum in read.get("live", {}).get("loss", [])]

            for step in range(1, 3):
                wait_until(lambda: steps() == list(range(step)), "reading what was flushed")
                script("scalar", "live", "loss", step, step)
                script.flush("live")
            wait_until(lambda: steps() == [0, 1, 2], "reading what was flushed last")


class ThePythonReader(Readers, unittest.TestCase):
    @classmethod
    def open_reader(cls, logdir):
        return PythonReader(logdir)


class TheDataServer(Readers, unittest.TestCase):
    fast = True

    @classmethod
    def open_reader(cls, logdir):
        return DataServer(logdir)


if __name__ == "__main__":
    unittest.main()
