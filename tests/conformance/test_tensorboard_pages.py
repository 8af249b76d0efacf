"""What the pages of TensorBoard ask its server for, they get as it was recorded: with its data server, which it uses by
default, and without."""

import json
import shutil
import tempfile
import unittest
import urllib.error

import numpy as np
from google.protobuf import json_format, text_format
from tensorboard import plugin_util
from tensorboard.compat.proto import graph_pb2
from tensorboard.plugins.custom_scalar import layout_pb2

import checks
import recorded_log
from web_server import EVERY_PLUGIN, WebServer, wait_until


def setUpModule():
    global LOGDIR, EXPECTED, SERVERS
    LOGDIR = tempfile.mkdtemp()
    unittest.addModuleCleanup(shutil.rmtree, LOGDIR)
    EXPECTED = recorded_log.write(LOGDIR)
    SERVERS = {}
    for load_fast in (True, False):  # side by side, since most of the time is their start
        SERVERS[load_fast] = WebServer(LOGDIR, f"--load_fast={str(load_fast).lower()}")
        unittest.addModuleCleanup(SERVERS[load_fast].close)


def number(value):
    """JSON has no NaN and no infinities."""
    return float({"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}.get(value, value))


class Pages:
    load_fast = False

    @classmethod
    def setUpClass(cls):
        cls.server = SERVERS[cls.load_fast]
        cls.server.wait_for_start()
        wait_until(cls.is_loaded, "loading the log")

    @classmethod
    def is_loaded(cls):
        ends = cls.server.get("/data/plugin/text/tags")
        sessions = [session for group in cls.session_groups() for session in group["sessions"]]
        ended = sum(session["status"] == "STATUS_SUCCESS" for session in sessions)
        return all(recorded_log.END in ends.get(run, ()) for run in EXPECTED.runs()) and ended == len(EXPECTED.hparams)

    @classmethod
    def session_groups(cls):
        request = {"startIndex": 0, "sliceSize": 100, "includeMetrics": True, "colParams": [],
                   "allowedStatuses": ["STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_RUNNING"]}
        return cls.server.get("/data/plugin/hparams/session_groups", body=request).get("sessionGroups", [])

    def check_tags(self, plugin, expected, name_of=lambda tag: tag):
        tags = self.server.get(f"/data/plugin/{plugin}/tags")
        self.assertEqual({run: set(names) for run, names in tags.items() if names},
                         {run: {name_of(tag) for tag in names} for run, names in expected.items()})

    def check_series(self, expected, ask, check):
        """`ask` gives (step, ...) of each point of a run and tag; `check` takes the rest, and what was recorded."""
        for run, tags in expected.items():
            for tag, points in tags.items():
                with self.subTest(run=run, tag=tag[:80]):
                    answers = ask(run, tag)
                    self.assertEqual([answer[0] for answer in answers], [point[0] for point in points])
                    for (_, *answer), (_, *point) in zip(answers, points):
                        check(tag, *answer, *point)

    def test_runs(self):
        self.assertEqual(set(self.server.get("/data/runs")), EXPECTED.runs())

    def test_pages_that_have_something_to_show(self):
        listed = self.server.get("/data/plugins_listing")
        active = {plugin for plugin, about in listed.items() if about["enabled"]}
        self.assertLessEqual({*EVERY_PLUGIN, "distributions", "timeseries"}, active)

    def test_scalars(self):
        expected = {run: tags for run, tags in checks.expected_scalars(EXPECTED, self.load_fast).items()
                    if run != "double" or not self.load_fast}
        self.check_tags("scalars", expected)

        def ask(run, tag):
            answer = self.server.get("/data/plugin/scalars/scalars", run=run, tag=tag)
            return [(step, value) for _, step, value in answer]

        def check(tag, found, value):
            np.testing.assert_array_equal(number(found), float(value))

        self.check_series(expected, ask, check)

    def test_histograms(self):
        self.check_tags("histograms", EXPECTED.histograms)

        def ask(run, tag):
            answer = self.server.get("/data/plugin/histograms/histograms", run=run, tag=tag)
            return [(step, np.array(buckets, np.float64).reshape(-1, 3)) for _, step, buckets in answer]

        def check(tag, buckets, array, count):
            checks.check_buckets(self, buckets, array, count)

        self.check_series(EXPECTED.histograms, ask, check)

    def test_distributions(self):
        self.check_tags("distributions", EXPECTED.histograms)

        def ask(run, tag):
            answer = self.server.get("/data/plugin/distributions/distributions", run=run, tag=tag)
            return [(step, percentiles) for _, step, percentiles in answer]

        def check(tag, percentiles, array, count):
            values = np.asarray(array, np.float64)
            values = values[np.isfinite(values)]
            if len(values) == 0:
                return
            shown = [value for _, value in percentiles]
            np.testing.assert_allclose([shown[0], shown[-1]], [values.min(), values.max()], rtol=1e-9)
            if tag == "weights":
                exact = np.percentile(values, [basis / 100 for basis, _ in percentiles])
                np.testing.assert_allclose(shown, exact, atol=np.ptp(values) / count)

        self.check_series(EXPECTED.histograms, ask, check)

    def test_images(self):
        self.check_tags("images", EXPECTED.images)

        def ask(run, tag):
            return [(image["step"], image["query"])
                    for image in self.server.get("/data/plugin/images/images", run=run, tag=tag, sample=0)]

        def check(tag, query, pixels, tolerance):
            path = f"/data/plugin/images/individualImage?{query}"
            if self.load_fast and checks.has_unreadable_blobs(tag):
                with self.assertRaises(urllib.error.HTTPError):
                    self.server.raw(path)
                return
            checks.check_png(self, self.server.raw(path), pixels, tolerance)

        self.check_series(EXPECTED.images, ask, check)

    def test_time_series(self):
        """The first page that a user sees has questions of its own."""
        kinds = {"scalars": checks.expected_scalars(EXPECTED, self.load_fast), "histograms": EXPECTED.histograms,
                 "images": EXPECTED.images}
        tags = self.server.get("/data/plugin/timeseries/tags")
        listed = {(kind, run, tag) for kind in ("scalars", "histograms")
                  for run, names in tags[kind]["runTagInfo"].items() for tag in names}
        listed |= {("images", run, tag) for tag, runs in tags["images"]["tagRunSampledInfo"].items() for run in runs}
        self.assertEqual(listed, {(kind, run, tag) for kind, expected in kinds.items()
                                  for run, names in expected.items() for tag, points in names.items() if points})
        requests = [{"plugin": kind, "tag": tag, "run": "train", "sample": 0}
                    for kind, expected in kinds.items() for tag in expected["train"]]
        for answer in self.server.get("/data/plugin/timeseries/timeSeries", requests=json.dumps(requests)):
            points = kinds[answer["plugin"]]["train"][answer["tag"]]
            series = answer["runToSeries"]["train"]
            self.assertEqual([datum["step"] for datum in series], [point[0] for point in points], answer["tag"])
            for datum, (_, wanted, *rest) in zip(series, points):
                if answer["plugin"] == "scalars":
                    np.testing.assert_array_equal(number(datum["value"]), float(wanted))
                elif answer["plugin"] == "histograms":
                    buckets = [[bucket["min"], bucket["max"], bucket["count"]] for bucket in datum["bins"]]
                    checks.check_buckets(self, np.array(buckets, np.float64).reshape(-1, 3), wanted, *rest)
                else:
                    png = self.server.raw("/data/plugin/timeseries/imageData", imageId=datum["imageId"])
                    checks.check_png(self, png, wanted, *rest)

    def test_audio(self):
        self.check_tags("audio", EXPECTED.audio)

        def ask(run, tag):
            return [(clip["step"], clip["contentType"], clip["query"])
                    for clip in self.server.get("/data/plugin/audio/audio", run=run, tag=tag, sample=0)]

        def check(tag, content_type, query, samples, rate):
            self.assertEqual(content_type, "audio/wav")
            checks.check_wav(self, self.server.raw(f"/data/plugin/audio/individualAudio?{query}"), samples, rate)

        self.check_series(EXPECTED.audio, ask, check)

    def test_text(self):
        self.check_tags("text", EXPECTED.text)

        def ask(run, tag):
            answer = self.server.get("/data/plugin/text/text", run=run, tag=tag)
            return [(text["step"], text["text"]) for text in answer]

        def check(tag, html, text):
            self.assertEqual(html, plugin_util.markdown_to_safe_html(text))

        self.check_series(EXPECTED.text, ask, check)

    def test_graphs(self):
        info = self.server.get("/data/plugin/graphs/info")
        self.assertEqual({run for run, about in info.items() if about["run_graph"]}, set(EXPECTED.graphs))
        for run, nodes in EXPECTED.graphs.items():
            text = self.server.raw("/data/plugin/graphs/graph", run=run, conceptual="false")
            checks.check_graph(self, text_format.Parse(text, graph_pb2.GraphDef()), nodes)

    def test_pr_curves(self):
        self.check_tags("pr_curves", EXPECTED.pr_curves)

        def ask(run, tag):
            return [(curve["step"], curve)
                    for curve in self.server.get("/data/plugin/pr_curves/pr_curves", run=run, tag=tag)[run]]

        def check(tag, found, labels, predictions, thresholds):
            curve = checks.tensorboard_pr_curve(labels, predictions, thresholds)
            shown = len(found["thresholds"])  # without the end at which nothing is predicted
            self.assertEqual(curve[:2, shown:].sum(), 0)
            names = ("true_positives", "false_positives", "true_negatives", "false_negatives", "precision", "recall")
            np.testing.assert_array_equal(np.float32([found[name] for name in names]), curve[:, :shown])
            np.testing.assert_allclose(found["thresholds"], np.linspace(0, 1, thresholds)[:shown])

        self.check_series(EXPECTED.pr_curves, ask, check)

    def test_meshes(self):
        self.check_tags("mesh", EXPECTED.meshes)
        for run, names in EXPECTED.meshes.items():
            for name, points in names.items():
                about = self.server.get("/data/plugin/mesh/meshes", run=run, tag=name, sample=0)
                self.assertEqual([mesh["step"] for mesh in about], [step for step, parts in points for _ in parts])
                for step, parts in points:
                    for part, array in parts.items():
                        for sample, mesh in enumerate(array):
                            data = self.server.raw("/data/plugin/mesh/data", run=run, tag=name, step=step,
                                                   content_type=part, sample=sample)
                            np.testing.assert_array_equal(np.frombuffer(data, array.dtype), mesh.ravel())

    def test_custom_scalars(self):
        (categories,) = EXPECTED.layouts.values()
        shown = json_format.ParseDict(self.server.get("/data/plugin/custom_scalars/layout"), layout_pb2.Layout())
        self.assertEqual(shown.category, checks.expected_layout(categories).category)
        charted = self.server.get("/data/plugin/custom_scalars/scalars", run="train", tag="group/.*")
        self.assertTrue(charted["regex_valid"])
        self.assertEqual({tag: [(step, np.float32(value)) for _, step, value in points]
                          for tag, points in charted["tag_to_events"].items()},
                         {tag: EXPECTED.scalars["train"][tag] for tag in ("group/x", "group/y")})

    def test_hparams(self):
        experiment = self.server.get("/data/plugin/hparams/experiment", body={"includeMetrics": True})
        values, metrics, _ = EXPECTED.hparams["train"]
        self.assertEqual({info["name"] for info in experiment["hparamInfos"]}, set(values))
        self.assertEqual([info["name"]["tag"] for info in experiment["metricInfos"]], metrics)
        groups = {group["name"]: group for group in self.session_groups()}
        self.assertEqual(set(groups), {group for _, _, group in EXPECTED.hparams.values()})
        for run, (values, metrics, name) in EXPECTED.hparams.items():
            self.assertEqual(groups[name]["hparams"], values)
            sessions = {session["name"]: session for session in groups[name]["sessions"]}
            self.assertEqual(sessions[run]["status"], "STATUS_SUCCESS")
            found = {metric["name"]["tag"]: (metric.get("trainingStep", 0), np.float32(metric["value"]))
                     for metric in sessions[run]["metricValues"]}
            last = {tag: EXPECTED.scalars[run][tag][-1] for tag in metrics}
            self.assertEqual({tag: (int(step), value) for tag, (step, value) in found.items()}, last)


class PagesWithTheDataServer(Pages, unittest.TestCase):
    load_fast = True


class PagesWithThePythonReader(Pages, unittest.TestCase):
    load_fast = False


if __name__ == "__main__":
    unittest.main()
