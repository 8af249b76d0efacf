"""The calls of TensorBoard's data provider one by one: what they answer, and how they reject invalid requests. The
oracle is TensorBoard's reader in Python, used as a library."""

import functools
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import grpc
import numpy as np
from tensorboard import context
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.data.proto import data_provider_pb2 as rpc
from tensorboard.summary.writer import event_file_writer
from tensorboard.util import tensor_util

import servers

DATA = pathlib.Path(os.environ["SONDE_SOURCE_DIR"]) / "tests" / "data"
ALL = rpc.Downsample(num_points=10_000)


def plugin(name):
    return rpc.PluginFilter(plugin_name=name)


def only(runs=None, tags=None):
    chosen = rpc.RunTagFilter()
    for names, field in ((runs, chosen.runs), (tags, chosen.tags)):
        if names is not None:
            field.SetInParent()
            field.names.extend(names)
    return chosen


def entries(response):
    """{run: {tag: its description}}"""
    return {run.run_name: {tag.tag_name: tag.data if hasattr(tag, "data") else tag.metadata for tag in run.tags}
            for run in response.runs}


class PythonReader:
    """TensorBoard's reader, keeping everything; the calls of its DataProvider."""

    def __init__(self, logdir):
        multiplexer = plugin_event_multiplexer.EventMultiplexer(
            size_guidance={"tensors": 0}, tensor_size_guidance={name: 0 for name in servers.EVERY_PLUGIN})
        multiplexer.AddRunsFromDirectory(str(logdir))
        multiplexer.Reload()
        self._provider = data_provider.MultiplexerDataProvider(multiplexer, str(logdir))

    def __getattr__(self, call):
        return functools.partial(getattr(self._provider, call), context.RequestContext())


class OnAGoldenLog(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = servers.DataServer(DATA / "torch", "--reload=once")
        cls.addClassCleanup(cls.server.close)
        cls.calls = cls.server.calls
        cls.python = PythonReader(DATA / "torch")

    def assert_refused(self, code, call, request):
        with self.assertRaises(grpc.RpcError) as caught:
            answer = call(request)
            list(answer) if isinstance(request, rpc.ReadBlobRequest) else answer  # a stream fails when it is read
        self.assertEqual(caught.exception.code(), code)
        self.assertTrue(caught.exception.details())

    def test_get_experiment_says_where_the_log_is(self):
        self.assertEqual(self.calls.GetExperiment(rpc.GetExperimentRequest()).data_location, str(DATA / "torch"))

    def test_list_plugins(self):
        found = [one.name for one in self.calls.ListPlugins(rpc.ListPluginsRequest()).plugins]
        self.assertEqual(found, sorted(self.python.list_plugins(experiment_id="")))

    def test_list_runs(self):
        found = {run.name: run.start_time for run in self.calls.ListRuns(rpc.ListRunsRequest()).runs}
        self.assertEqual(set(found), {run.run_name for run in self.python.list_runs(experiment_id="")})
        self.assertTrue(all(start > 1_600_000_000 for start in found.values()), found)

    def test_list_scalars(self):
        found = entries(self.calls.ListScalars(rpc.ListScalarsRequest(plugin_filter=plugin("scalars"))))
        wanted = self.python.list_scalars(experiment_id="", plugin_name="scalars")
        self.assertEqual({run: {tag: (about.max_step, about.max_wall_time) for tag, about in tags.items()}
                          for run, tags in found.items()},
                         {run: {tag: (about.max_step, about.max_wall_time) for tag, about in tags.items()}
                          for run, tags in wanted.items()})
        about = found["train"]["loss/train"].summary_metadata
        self.assertEqual((about.plugin_data.plugin_name, about.data_class), ("scalars", summary_pb2.DATA_CLASS_SCALAR))

    def test_read_scalars_gives_every_point_if_that_many_are_asked_for(self):
        found = entries(self.calls.ReadScalars(rpc.ReadScalarsRequest(plugin_filter=plugin("scalars"), downsample=ALL)))
        wanted = self.python.read_scalars(experiment_id="", plugin_name="scalars", downsample=10_000)
        del found["restarted"], wanted["restarted"]  # a named case of test_pages.py
        for run, tags in wanted.items():
            for tag, points in tags.items():
                data = found[run][tag]
                self.assertEqual(list(data.step), [point.step for point in points])
                self.assertEqual(list(data.wall_time), [point.wall_time for point in points])
                np.testing.assert_array_equal(np.float32(data.value), np.float32([point.value for point in points]))

    def test_read_scalars_gives_the_last_point_if_one_is_asked_for(self):
        request = rpc.ReadScalarsRequest(plugin_filter=plugin("scalars"), downsample=rpc.Downsample(num_points=1))
        wanted = self.python.read_last_scalars(experiment_id="", plugin_name="scalars")
        for run, tags in entries(self.calls.ReadScalars(request)).items():
            for tag, data in tags.items():
                last = wanted[run][tag]
                self.assertEqual((list(data.step), list(data.wall_time)), ([last.step], [last.wall_time]))
                np.testing.assert_array_equal(np.float32(data.value), np.float32([last.value]))

    def test_read_scalars_gives_nothing_for_no_points(self):
        request = rpc.ReadScalarsRequest(plugin_filter=plugin("scalars"), downsample=rpc.Downsample(num_points=0))
        found = entries(self.calls.ReadScalars(request))
        self.assertIn("loss/train", found["train"])
        self.assertFalse(any(data.step for tags in found.values() for data in tags.values()))

    def test_list_tensors(self):
        for name in ("histograms", "text", "pr_curves", "mesh", "hparams", "custom_scalars"):
            found = entries(self.calls.ListTensors(rpc.ListTensorsRequest(plugin_filter=plugin(name))))
            wanted = self.python.list_tensors(experiment_id="", plugin_name=name)
            self.assertEqual({run: set(tags) for run, tags in found.items()},
                             {run: set(tags) for run, tags in wanted.items()})
            for run, tags in found.items():
                for tag, about in tags.items():
                    self.assertEqual(about.summary_metadata.data_class, summary_pb2.DATA_CLASS_TENSOR)
                    self.assertEqual(about.summary_metadata.plugin_data.content, wanted[run][tag].plugin_content)
                    self.assertEqual(about.max_step, wanted[run][tag].max_step)

    def test_read_tensors(self):
        for name in ("histograms", "text", "pr_curves", "mesh", "hparams", "custom_scalars"):
            request = rpc.ReadTensorsRequest(plugin_filter=plugin(name), downsample=ALL)
            wanted = self.python.read_tensors(experiment_id="", plugin_name=name, downsample=10_000)
            for run, tags in entries(self.calls.ReadTensors(request)).items():
                for tag, data in tags.items():
                    points = wanted[run][tag]
                    self.assertEqual(list(data.step), [point.step for point in points])
                    for value, point in zip(data.value, points):
                        array = tensor_util.make_ndarray(value)
                        self.assertEqual(array.shape, point.numpy.shape)
                        if name == "histograms":  # of the old form, which the Python reader rounds
                            array = np.float32(array)
                        np.testing.assert_array_equal(array, point.numpy)

    def test_read_tensors_chooses_evenly_with_both_ends(self):
        request = rpc.ReadTensorsRequest(plugin_filter=plugin("histograms"), downsample=rpc.Downsample(num_points=3),
                                         run_tag_filter=only(["resumed"], ["weights"]))
        self.assertEqual(list(entries(self.calls.ReadTensors(request))["resumed"]["weights"].step), [0, 5, 11])

    def test_list_blob_sequences(self):
        for name in ("images", "audio", "graphs", "graph_tagged_run_metadata"):
            request = rpc.ListBlobSequencesRequest(plugin_filter=plugin(name))
            found = entries(self.calls.ListBlobSequences(request))
            wanted = self.python.list_blob_sequences(experiment_id="", plugin_name=name)
            self.assertEqual({run: {tag: (about.max_step, about.max_length) for tag, about in tags.items()}
                              for run, tags in found.items()},
                             {run: {tag: (about.max_step, about.max_length) for tag, about in tags.items()}
                              for run, tags in wanted.items()})

    def blob_keys(self, name):
        request = rpc.ReadBlobSequencesRequest(plugin_filter=plugin(name), downsample=ALL)
        return {(run, tag, step, index): reference.blob_key
                for run, tags in entries(self.calls.ReadBlobSequences(request)).items()
                for tag, data in tags.items() for step, sequence in zip(data.step, data.values)
                for index, reference in enumerate(sequence.blob_refs)}

    def test_read_blob_sequences_and_read_blob(self):
        for name in ("images", "audio", "graphs", "graph_tagged_run_metadata"):
            found = self.blob_keys(name)
            wanted = {(run, tag, point.step, index): self.python.read_blob(blob_key=reference.blob_key)
                      for run, tags in self.python.read_blob_sequences(experiment_id="", plugin_name=name,
                                                                       downsample=10_000).items()
                      for tag, points in tags.items() for point in points
                      for index, reference in enumerate(point.values)}
            self.assertEqual(set(found), set(wanted))
            for where, key in found.items():
                self.assertRegex(key, r"^[A-Za-z0-9_-]+$")
                parts = self.calls.ReadBlob(rpc.ReadBlobRequest(blob_key=key))
                self.assertEqual(b"".join(part.data for part in parts), wanted[where], where)

    def test_an_absent_filter_lets_all_pass_and_an_empty_one_nothing(self):
        def ask(chosen):
            request = rpc.ListScalarsRequest(plugin_filter=plugin("scalars"), run_tag_filter=chosen)
            return {run: set(tags) for run, tags in entries(self.calls.ListScalars(request)).items()}

        everything = ask(only())
        self.assertEqual(set(everything), set(self.python.list_scalars(experiment_id="", plugin_name="scalars")))
        self.assertEqual(ask(only(runs=[])), {})
        self.assertEqual(ask(only(tags=[])), {})
        self.assertEqual(ask(only(runs=["."])), {".": {"at the root"}})
        self.assertEqual(ask(only(tags=["group"])), {"train/group_a": {"group"}, "train/group_b": {"group"}})
        self.assertEqual(ask(only(runs=["train", "none"], tags=["loss/low", "none"])), {"train": {"loss/low"}})

    def test_a_plugin_must_be_named(self):
        for call, request in ((self.calls.ListScalars, rpc.ListScalarsRequest),
                              (self.calls.ListTensors, rpc.ListTensorsRequest),
                              (self.calls.ListBlobSequences, rpc.ListBlobSequencesRequest),
                              (self.calls.ReadScalars, rpc.ReadScalarsRequest),
                              (self.calls.ReadTensors, rpc.ReadTensorsRequest),
                              (self.calls.ReadBlobSequences, rpc.ReadBlobSequencesRequest)):
            self.assert_refused(grpc.StatusCode.INVALID_ARGUMENT, call, request())
            self.assert_refused(grpc.StatusCode.INVALID_ARGUMENT, call, request(plugin_filter=plugin("")))

    def test_a_number_of_points_must_be_given(self):
        for call, request in ((self.calls.ReadScalars, rpc.ReadScalarsRequest),
                              (self.calls.ReadTensors, rpc.ReadTensorsRequest),
                              (self.calls.ReadBlobSequences, rpc.ReadBlobSequencesRequest)):
            self.assert_refused(grpc.StatusCode.INVALID_ARGUMENT, call, request(plugin_filter=plugin("scalars")))
            self.assert_refused(grpc.StatusCode.INVALID_ARGUMENT, call,
                                request(plugin_filter=plugin("scalars"), downsample=rpc.Downsample(num_points=-1)))

    def test_plugins_that_do_not_exist_have_no_runs(self):
        self.assertFalse(self.calls.ListTensors(rpc.ListTensorsRequest(plugin_filter=plugin("nobody"))).runs)
        self.assertFalse(self.calls.ListTensors(rpc.ListTensorsRequest(plugin_filter=plugin("scalars"))).runs)

    def test_unknown_blob_keys_are_rejected(self):
        for key in ("", "?", "AAAA", "WyIiLCJpbWFnZXMiXQ", "A" * 10_000):
            self.assert_refused(grpc.StatusCode.INVALID_ARGUMENT, self.calls.ReadBlob, rpc.ReadBlobRequest(blob_key=key))

    def test_every_key_with_one_digit_changed_is_rejected_or_finds_nothing_of_another_file(self):
        key = next(iter(self.blob_keys("graphs").values()))
        known = set(self.blob_keys("graphs").values()) | set(self.blob_keys("graph_tagged_run_metadata").values())
        for at in range(len(key)):
            other = key[:at] + ("B" if key[at] != "B" else "C") + key[at + 1:]
            if other not in known:
                with self.assertRaises(grpc.RpcError) as caught:
                    list(self.calls.ReadBlob(rpc.ReadBlobRequest(blob_key=other)))
                self.assertIn(caught.exception.code(),
                              (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND), other)


class OnALogOfItsOwn(unittest.TestCase):
    def setUp(self):
        self.logdir = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def serve(self, *flags, logdir=None):
        server = servers.DataServer(logdir or self.logdir, *flags)
        self.addCleanup(server.close)
        return server.calls

    def write(self, run, summaries):
        """An event file from (step, Summary.Value)."""
        (self.logdir / run).mkdir(parents=True, exist_ok=True)
        writer = event_file_writer.EventFileWriter(str(self.logdir / run))
        for step, value in summaries:
            event = event_pb2.Event(step=step, wall_time=1_700_000_000 + step)
            event.summary.value.add().CopyFrom(value)
            writer.add_event(event)
        writer.close()

    def scalars(self, calls, run, tag, limit=10_000, name="scalars"):
        request = rpc.ReadScalarsRequest(plugin_filter=plugin(name), run_tag_filter=only([run], [tag]),
                                         downsample=rpc.Downsample(num_points=limit))
        data = entries(calls.ReadScalars(request)).get(run, {}).get(tag)
        return (list(data.step), np.float32(data.value)) if data else ([], np.float32([]))

    def test_a_damaged_record_costs_that_record_only(self):
        # The Python reader stops there forever.
        good = DATA / "torch" / "train" / "events.out.tfevents.1700000000.host.1.0"
        data = bytearray(good.read_bytes())
        at = data.index(b"loss/high", 1000)
        data[at] ^= 0xFF
        (self.logdir / "run").mkdir()
        (self.logdir / "run" / good.name).write_bytes(data)
        calls = self.serve("--reload=once")
        wanted = PythonReader(DATA / "torch").read_scalars(experiment_id="", plugin_name="scalars",
                                                            downsample=10_000)["train"]
        missing = 0
        for tag, points in wanted.items():
            steps, values = self.scalars(calls, "run", tag)
            kept = [point for point in points if point.step in set(steps)]
            missing += len(points) - len(kept)
            np.testing.assert_array_equal(values, np.float32([point.value for point in kept]))
        self.assertEqual(missing, 1)
        read = PythonReader(self.logdir).read_scalars(experiment_id="", plugin_name="scalars", downsample=10_000)
        self.assertLess(sum(map(len, read["run"].values())), sum(map(len, wanted.values())) - 1)

    def test_points_out_of_order_in_a_file_are_served_by_step(self):
        # The Python reader has all of them too, in the order written.
        written = [0, 1, 2, 4, 3, 5, 6]
        self.write("run", [(step, summary_pb2.Summary.Value(tag="x", simple_value=step)) for step in written])
        steps, values = self.scalars(self.serve("--reload=once"), "run", "x")
        self.assertEqual(steps, sorted(written))
        np.testing.assert_array_equal(values, np.float32(sorted(written)))
        read = PythonReader(self.logdir).read_scalars(experiment_id="", plugin_name="scalars", downsample=10_000)
        self.assertEqual(sorted(point.step for point in read["run"]["x"]), steps)

    def test_buckets_of_old_histograms_are_never_inverted(self):
        # The Python reader makes [2, 1.5] of the last bucket.
        histo = summary_pb2.Summary.Value(tag="h")
        histo.histo.MergeFrom(summary_pb2.HistogramProto(min=0, max=1.5, num=6, bucket_limit=[1, 2, 3],
                                                         bucket=[1, 2, 3]))
        self.write("run", [(0, histo)])
        calls = self.serve("--reload=once")
        request = rpc.ReadTensorsRequest(plugin_filter=plugin("histograms"), downsample=ALL)
        (value,) = entries(calls.ReadTensors(request))["run"]["h"].value
        left, right, count = tensor_util.make_ndarray(value).T
        self.assertTrue((left <= right).all(), (left, right))
        np.testing.assert_array_equal(count, [1, 2, 3])
        answer = PythonReader(self.logdir).read_tensors(experiment_id="", plugin_name="histograms", downsample=10)
        np.testing.assert_array_equal(answer["run"]["h"][0].numpy[-1], [2, 1.5, 3])

    def test_a_run_with_several_files_that_grow_is_followed_in_all_of_them(self):
        # The Python reader follows only the last.
        files = sorted((DATA / "torch" / "resumed").glob("*tfevents*"))
        self.assertEqual(len(files), 2)
        run = self.logdir / "resumed"
        run.mkdir()
        for file in files:  # cut in the middle of a record
            (run / file.name).write_bytes(file.read_bytes()[:len(file.read_bytes()) // 2 - 3])
        calls = self.serve()
        before, _ = self.scalars(calls, "resumed", "loss/train")
        self.assertLess(len(before), 12)
        for file in files:
            with open(run / file.name, "ab") as out:
                out.write(file.read_bytes()[len(file.read_bytes()) // 2 - 3:])
        servers.wait_until(lambda: self.scalars(calls, "resumed", "loss/train")[0] == list(range(12)), "following")

    def test_a_directory_that_comes_later_is_found(self):
        calls = self.serve(logdir=self.logdir / "later")
        self.assertFalse(calls.ListRuns(rpc.ListRunsRequest()).runs)
        shutil.copytree(DATA / "keras", self.logdir / "later")
        servers.wait_until(lambda: {run.name for run in calls.ListRuns(rpc.ListRunsRequest()).runs}
                           == {"train", "validation"}, "the discovery of the log")

    def long_series(self, values):
        self.write("run", [(step, summary_pb2.Summary.Value(tag="x", simple_value=value))
                           for step, value in enumerate(values)])

    def test_fewer_points_keep_the_ends_and_the_extremes(self):
        values = np.float32(np.sin(np.arange(5000) / 100))
        values[1234], values[3210] = 40, -50
        self.long_series(values)
        calls = self.serve("--reload=once")
        for limit in (20, 100, 1000):
            steps, found = self.scalars(calls, "run", "x", limit)
            self.assertLessEqual(len(steps), limit)
            self.assertGreater(len(steps), limit // 3)
            self.assertEqual(steps, sorted(set(steps)))
            self.assertEqual((steps[0], steps[-1]), (0, 4999))
            self.assertTrue({1234, 3210} <= set(steps))
            np.testing.assert_array_equal(found, values[steps])
        self.assertEqual(self.scalars(calls, "run", "x", 2)[0], [0, 4999])
        self.assertEqual(self.scalars(calls, "run", "x", 1)[0], [4999])

    def test_fewer_points_keep_non_finite_ones(self):
        values = np.zeros(5000, np.float32)
        values[2000], values[3000], values[4998:] = np.nan, np.inf, np.nan
        self.long_series(values)
        steps, found = self.scalars(self.serve("--reload=once"), "run", "x", 100)
        self.assertTrue({2000, 3000, 4999} <= set(steps))
        np.testing.assert_array_equal(found, values[steps])

    def test_all_samples_of_a_plugin_means_all_although_tensorboard_asks_for_none(self):
        self.long_series(np.arange(3000))
        calls = self.serve("--reload=once", "--samples-per-plugin=scalars=all,images=10")
        self.assertEqual(self.scalars(calls, "run", "x", 0)[0], list(range(3000)))

    def test_unknown_plugins_are_served_by_their_data_class(self):
        def value(tag, array, data_class):
            made = summary_pb2.Summary.Value(tag=tag, tensor=tensor_util.make_tensor_proto(array))
            made.metadata.plugin_data.plugin_name = "mine"
            made.metadata.plugin_data.content = b"\x00\xff"
            made.metadata.data_class = data_class
            return made

        self.write("run", [(3, value("number", np.float64(0.5), summary_pb2.DATA_CLASS_SCALAR)),
                           (4, value("array", np.arange(6).reshape(2, 3), summary_pb2.DATA_CLASS_TENSOR)),
                           (5, value("files", [b"one", b"second"], summary_pb2.DATA_CLASS_BLOB_SEQUENCE)),
                           (6, value("unknown", np.float32(1), summary_pb2.DATA_CLASS_UNKNOWN))])
        calls = self.serve("--reload=once")
        self.assertEqual(self.scalars(calls, "run", "number", name="mine"), ([3], [0.5]))
        tensors = entries(calls.ReadTensors(rpc.ReadTensorsRequest(plugin_filter=plugin("mine"), downsample=ALL)))
        self.assertEqual(set(tensors["run"]), {"array"})
        np.testing.assert_array_equal(tensor_util.make_ndarray(tensors["run"]["array"].value[0]), [[0, 1, 2], [3, 4, 5]])
        blobs = entries(calls.ReadBlobSequences(rpc.ReadBlobSequencesRequest(plugin_filter=plugin("mine"),
                                                                             downsample=ALL)))
        self.assertEqual(set(blobs["run"]), {"files"})
        keys = [reference.blob_key for reference in blobs["run"]["files"].values[0].blob_refs]
        self.assertEqual([b"".join(part.data for part in calls.ReadBlob(rpc.ReadBlobRequest(blob_key=key)))
                          for key in keys], [b"one", b"second"])

    def test_large_blobs_come_in_parts_of_8_mib(self):
        large = os.urandom(20 << 20)
        made = summary_pb2.Summary.Value(tag="large", tensor=tensor_util.make_tensor_proto([b"1", b"1", large]))
        made.metadata.plugin_data.plugin_name = "images"
        self.write("run", [(0, made)])
        calls = self.serve("--reload=once")
        request = rpc.ReadBlobSequencesRequest(plugin_filter=plugin("images"), downsample=ALL)
        key = entries(calls.ReadBlobSequences(request))["run"]["large"].values[0].blob_refs[2].blob_key
        parts = [part.data for part in calls.ReadBlob(rpc.ReadBlobRequest(blob_key=key))]
        self.assertEqual([len(part) for part in parts], [8 << 20, 8 << 20, 4 << 20])
        self.assertEqual(b"".join(parts), large)


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_it(self, *flags):
        done = subprocess.run([servers.BINARY, *flags], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=servers.PATIENCE, check=False, env={**os.environ, "XDG_CACHE_HOME": self.folder})
        return done.returncode, done.stdout, done.stderr

    def test_ends_when_standard_input_ends(self):
        server = servers.DataServer(DATA / "keras")
        self.assertEqual(server.close(), ("", 0))

    def test_says_in_one_sentence_why_it_does_not_start(self):
        error_file = self.folder / "error"
        for flags, words in ((["--what"], "there is no option '--what'"), ([], "--logdir is missing"),
                             (["--logdir=x", "--port-file=" + str(self.folder / "no" / "port")], "no/port"),
                             (["--logdir=x", "--host=192.0.2.1"], "cannot listen on '192.0.2.1:0'")):
            code, out, error = self.run_it(*flags, f"--error-file={error_file}")
            self.assertEqual((code, out), (2, ""))
            self.assertIn(words, error_file.read_text())
            self.assertIn(f"sonde-data-server: {error_file.read_text()}", error)

    def test_a_port_that_is_taken_is_an_error(self):
        server = servers.DataServer(DATA / "keras")
        self.addCleanup(server.close)
        code, _, error = self.run_it("--logdir=x", "--die-after-stdin", f"--port={int(server.port_file.read_text())}")
        self.assertEqual(code, 2)
        self.assertIn("is in use", error)

    def test_is_where_the_command_says(self):
        done = subprocess.run([os.environ["SONDE_BIN"], "data-server-path"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, os.path.realpath(servers.BINARY) + "\n")
        self.assertEqual(done.stderr, "")

    def test_the_command_says_in_one_sentence_that_it_is_missing(self):
        alone = shutil.copy(os.environ["SONDE_BIN"], self.folder / "sonde")
        done = subprocess.run([alone, "data-server-path"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"^sonde: there is no sonde-data-server at .*\n$")

    def test_help_and_version(self):
        self.assertIn("--logdir=DIR", self.run_it("--help")[1])
        self.assertRegex(self.run_it("--version")[1], r"^sonde-data-server \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
