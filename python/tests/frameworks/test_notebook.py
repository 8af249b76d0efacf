"""What a user sees in a notebook: cells run by a real Jupyter kernel, and the outputs that a front end would show."""
import json
import os
import pathlib
import re
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import nbclient
import nbformat

CELLS = {
    "record": """
        import numpy, sonde
        with sonde.Recorder("log/train") as rec:
            for n in range(50):
                rec.scalar("loss", 1 / (n + 1), n)
                with rec.step(n) as step:
                    rec.probe("dense/out").record(step, numpy.arange(4.0) + n)
        x = numpy.random.default_rng(0).normal(size=(32, 128)).astype(numpy.float32)
        runs = sonde.load("log", cache=False)
        """,
    "show": 'sonde.show(x, "dense_1/out")',
    "full": 'sonde.show(x[:2, :2], full=True)',
    "summary": 'sonde.summary(x, "<b>")',
    "log": "runs",
    "series": 'runs["train"].scalars("loss")',
    "table": 'runs["train"].scalars("loss").to_pandas().head(2)',
    "wrong": 'runs["train"].scalars("lss")',
    "serve": 'server = sonde.serve("log", port=0)',
    "url": "print(server.url)",
    "again": "server",
}


def answer(url: str) -> tuple[int, str]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())  # for the token
    with opener.open(url, timeout=60) as response:
        return response.status, response.read().decode()


class Notebook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.runtime = pathlib.Path(folder, "runtime")
        cls.runtime.mkdir()
        # What a notebook's server leaves for its kernels, whose parent this process is.
        (cls.runtime / f"jpserver-{os.getpid()}.json").write_text(json.dumps({"port": 8888, "secure": False}))
        before = os.environ.copy()
        os.environ.update(JUPYTER_RUNTIME_DIR=str(cls.runtime), IPYTHONDIR=f"{folder}/ipython", HOME=folder)
        for name in ("SSH_CONNECTION", "JUPYTERHUB_SERVICE_PREFIX", "JUPYTERHUB_PUBLIC_URL"):
            os.environ.pop(name, None)
        cls.addClassCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        cells = [nbformat.v4.new_code_cell("\n".join(line.removeprefix(" " * 8) for line in source.strip().splitlines()))
                 for source in CELLS.values()]
        notebook = nbformat.v4.new_notebook(cells=cells)
        client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=True,
                                         resources={"metadata": {"path": folder}})
        with client.setup_kernel():
            for index, cell in enumerate(cells):
                client.execute_cell(cell, index)
            cls.outputs = {name: cell.outputs for name, cell in zip(CELLS, cells)}
            cls.url = "".join(each.get("text", "") for each in cls.outputs["url"]).strip()
            cls.page = answer(cls.url)
        cls.ended = cls.ends(cls.url)

    @staticmethod
    def ends(url: str) -> bool:
        """Whether the server is gone, now or soon."""
        for _ in range(600):
            try:
                answer(url)
            except (urllib.error.URLError, OSError):
                return True
            time.sleep(0.1)
        return False

    def only(self, cell: str, kind: str) -> dict:
        """The data of a cell's one output, by type."""
        outputs = self.outputs[cell]
        self.assertEqual([output.output_type for output in outputs], [kind], outputs)
        return outputs[0].data

    def test_recording_prints_nothing(self):
        self.assertEqual(self.outputs["record"], [])

    def test_show_has_a_picture_and_the_line(self):
        data = self.only("show", "display_data")
        self.assertRegex(data["text/plain"], r"^dense_1/out f32\[32,128\] -3\.\d+ \|.*\| 3\.\d+  mean -0\.\d+ std 0\.\d+$")
        self.assertIn(data["text/plain"], data["text/html"].replace("&lt;", "<"))
        self.assertGreater(data["text/html"].count("<rect"), 20)
        self.assertIn("<svg", data["text/html"])

    def test_show_has_the_values_too(self):
        data = self.only("full", "display_data")
        self.assertEqual(data["text/plain"].count("\n"), 2)
        self.assertRegex(data["text/html"], r"<pre>\[\[.*\n.*\]\]</pre>")

    def test_the_last_value_of_a_cell_is_shown_and_names_are_escaped(self):
        data = self.only("summary", "execute_result")
        self.assertIn("<svg", data["text/html"])
        self.assertIn("&lt;b&gt;", data["text/html"])
        self.assertNotIn("<b>", data["text/html"])

    def test_a_log_and_its_series(self):
        self.assertRegex(self.only("log", "execute_result")["text/plain"], r"^<sonde.Log '.*log': 1 runs>$")
        data = self.only("series", "execute_result")
        self.assertRegex(data["text/html"], r"<svg.*<(path|polyline)")
        self.assertIn("loss", data["text/html"])
        self.assertIn("<table", self.only("table", "execute_result")["text/html"])

    def test_an_error_is_a_readable_sentence(self):
        (output,) = self.outputs["wrong"]
        self.assertEqual((output.output_type, output.ename), ("error", "NotFoundError"))
        self.assertEqual(output.evalue, "the run 'train' has no tag 'lss' of kind scalars; did you mean 'loss'?")

    def test_the_page_is_in_a_frame_that_the_notebook_may_show(self):
        data = self.only("serve", "display_data")
        source = re.search('<iframe src="([^"]+)"', data["text/html"])[1].replace("&amp;", "&")
        self.assertRegex(data["text/plain"], r"^Page  http://127\.0\.0\.1:\d+/\S*$")
        # The notebook is open at localhost:8888: the frame has the same host, so that it gets its cookies.
        self.assertEqual(source, self.url.replace("127.0.0.1", "localhost"))
        status, page = self.page
        self.assertEqual(status, 200)
        self.assertIn("<title>Sonde", page)
        self.assertRegex(self.only("again", "execute_result")["text/plain"], r"^<sonde.Server http://127\.0\.0\.1:\d+/>$")

    def test_the_server_ends_with_the_kernel(self):
        self.assertTrue(self.ended)


if __name__ == "__main__":
    unittest.main()
