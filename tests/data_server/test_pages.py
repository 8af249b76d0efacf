"""The real TensorBoard shows the same on our data server as on its own reader in Python: all that its pages ask for, on
logs of all the usual writers and of ours. Where the Python reader is wrong, a named case says so."""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import numpy as np

import pages
import servers

PROJECT = pathlib.Path(os.environ["SONDE_SOURCE_DIR"])
SAMPLES = 10_000  # of each series, more than any log here has

sys.path.append(str(PROJECT / "tests" / "conformance"))
import recorded_log  # noqa: E402, our writer; found through the line above


def numbers(points):
    """The JSON of points, in which NaN and infinities are strings."""
    return np.array([[float(value) for value in point] for point in points], np.float64)


def scalar_points(answer):
    """[[wall time, step, value]] of what a page with scalars was told."""
    if isinstance(answer, dict) and "runToSeries" in answer:
        (series,) = answer["runToSeries"].values()
        return [[datum["wallTime"], datum["step"], datum["value"]] for datum in series]
    if isinstance(answer, dict):
        (series,) = answer["tag_to_events"].values()
        return series
    return answer


def check_newest_history(test, python, ours):
    kept = []
    for point in numbers(scalar_points(python)):
        while kept and kept[-1][1] >= point[1]:
            kept.pop()
        kept.append(point)
    np.testing.assert_array_equal(numbers(scalar_points(ours)), np.array(kept))


def check_order(test, python, ours):
    python, ours = numbers(scalar_points(python)), numbers(scalar_points(ours))
    np.testing.assert_array_equal(ours, python[np.argsort(python[:, 1], kind="stable")])


def check_single_precision(test, python, ours):
    python, ours = numbers(scalar_points(python)), numbers(scalar_points(ours))
    np.testing.assert_array_equal(ours[:, :2], python[:, :2])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.float32(ours[:, 2]), np.float32(python[:, 2]))


def flat(answer):
    """All numbers of an answer, in order, and the rest of it."""
    if isinstance(answer, dict):
        answer = [item for pair in sorted(answer.items()) for item in pair]
    if not isinstance(answer, list):
        return [answer]
    return [number for part in answer for number in flat(part)]


def check_nearly(test, python, ours):
    """Everything the same, but numbers to seven digits of the largest."""
    python, ours = flat(python), flat(ours)
    test.assertEqual([type(value) for value in ours], [type(value) for value in python])
    for found, wanted in zip(ours, python):
        if isinstance(wanted, float):
            np.testing.assert_allclose(found, wanted, rtol=2e-7, atol=2e-6)
        else:
            test.assertEqual(found, wanted)


# (log, key of an answer) -> whether the case is about it; why the answers differ; how they are compared.
CASES = {
    "restart": (
        lambda log, key: "restarted" in key and key[0] in ("scalars", "timeseries", "custom_scalars"),
        "steps that a restarted job wrote again are shown twice by the Python reader, in a zigzag; we show the newest",
        check_newest_history),
    "order": (
        lambda log, key: "out of order" in key and key[0] in ("scalars", "timeseries", "custom_scalars"),
        "steps that one writer wrote out of order are shown in that order, as a zigzag; we show all of them by step",
        check_order),
    "double": (
        lambda log, key: key[-1] in ("double", "precise") or key[-2:-1] in (("double",), ("precise",)),
        "the data server's protocol has only single precision for scalars; TensorBoard's own drops doubles",
        check_single_precision),
    "old histogram": (
        lambda log, key: log in ("torch", "tensorboardx", "tensorflow_v1") and
        (key[0] in ("histograms", "distributions") or key[:2] == ("timeseries", "histograms")) and "tags" not in key,
        "the Python reader rounds the limits of old histograms to single precision; we keep them",
        check_nearly),
}


def comparable(key, answer):
    """Without what the pages do not look at: the order of tags and of the parts of a mesh, and a display name that
    repeats the tag (the Python reader gives one to values of the old forms; the pages show the tag where there is
    none)."""
    if key[-1] == "tags" and key[0] != "timeseries":
        return {run: {tag: {**about, "displayName": about.get("displayName") or tag} for tag, about in tags.items()}
                if isinstance(tags, dict) else sorted(tags) for run, tags in answer.items()}
    if key[0] == "mesh" and isinstance(answer, list):
        return sorted(answer, key=lambda one: (one["step"], one["content_type"]))
    return answer


class Pages:
    log = None
    cases = ()  # that must occur

    @classmethod
    def logdir(cls):
        return PROJECT / "tests" / "data" / cls.log

    @classmethod
    def setUpClass(cls):
        logdir = cls.logdir()
        cls.python, cls.ours = (servers.TensorBoard(logdir, on_ours, SAMPLES) for on_ours in (False, True))
        for server in (cls.python, cls.ours):
            cls.addClassCleanup(server.close)
        for server in (cls.python, cls.ours):
            server.wait_for_start()
        cls.seen = set()

    def check_page(self, page):
        python, ours = (dict(pages.PAGES[page](server)) for server in (self.python, self.ours))
        self.assertEqual(set(ours), set(python))
        for key, wanted in python.items():
            with self.subTest(answer=str(key)[:200]):
                wanted, found = comparable(key, wanted), comparable(key, ours[key])
                self.assertFalse(isinstance(wanted, bytes) and wanted.startswith(b"error"), wanted)
                if wanted == found:
                    continue
                for case, (applies, _, check) in CASES.items():
                    if applies(self.log, key):
                        check(self, wanted, found)
                        self.seen.add(case)
                        break
                else:
                    self.assertEqual(found, wanted)

    def test_every_page(self):
        for page in pages.PAGES:
            with self.subTest(page=page):
                self.check_page(page)
        self.assertEqual(self.seen, set(self.cases))
        self.assertNotIn("Traceback", self.ours.output())


class Torch(Pages, unittest.TestCase):
    log = "torch"
    cases = ("restart", "double", "old histogram")


class TensorboardX(Pages, unittest.TestCase):
    log = "tensorboardx"
    cases = ("old histogram",)


class TensorFlow(Pages, unittest.TestCase):
    log = "tensorflow"


class TensorFlow1(Pages, unittest.TestCase):
    log = "tensorflow_v1"
    cases = ("old histogram",)


class Keras(Pages, unittest.TestCase):
    log = "keras"


class Ours(Pages, unittest.TestCase):
    log = "sonde"
    cases = ("order", "double")

    @classmethod
    def logdir(cls):
        folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, folder)
        recorded_log.write(folder)
        return folder

    def test_the_data_server_ends_with_tensorboard(self):
        server = servers.TensorBoard(PROJECT / "tests" / "data" / "keras", True, SAMPLES)
        try:
            server.wait_for_start()
            children = server.children()
        finally:
            server.close()
        self.assertEqual(len(children), 1)
        servers.wait_until(lambda: not os.path.exists(f"/proc/{children[0]}"), "the end of the data server")


if __name__ == "__main__":
    unittest.main()
