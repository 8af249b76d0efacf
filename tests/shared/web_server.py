"""The real TensorBoard, started as a user starts it, and asked as its page asks."""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

PATIENCE = 120  # seconds, for a machine that has much else to do
EVERY_PLUGIN = ("scalars", "histograms", "images", "audio", "text", "pr_curves", "mesh", "hparams", "custom_scalars",
                "graphs")


def wait_until(condition, what):
    """The first true answer of `condition`."""
    end = time.monotonic() + PATIENCE
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not happen within {PATIENCE} s")
        time.sleep(0.02)


class WebServer:
    """`tensorboard --logdir`, with its own folder for temporary files."""

    def __init__(self, logdir, *flags, **environment):
        self._folder = tempfile.TemporaryDirectory()
        self._output = open(os.path.join(self._folder.name, "output"), "w+b")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--host", "127.0.0.1", "--port", "0",
             *flags],
            stdin=subprocess.DEVNULL, stdout=self._output, stderr=subprocess.STDOUT,
            env={**os.environ, "TMPDIR": self._folder.name, "XDG_CACHE_HOME": self._folder.name, **environment})
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        self._address = None

    def output(self):
        self._output.seek(0)
        return self._output.read().decode()

    def wait_for_start(self):
        def address():
            text = self.output()
            if self._process.poll() is not None:
                raise RuntimeError(f"tensorboard ended with {self._process.returncode}: {text}")
            _, found, rest = text.partition(" at http://")
            return found and " " in rest and "http://" + rest.split()[0].rstrip("/")

        self._address = wait_until(address, "the start of tensorboard")

    def raw(self, path, body=None, **query):
        """The bytes of an answer."""
        url = f"{self._address}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        request = urllib.request.Request(url, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        with self._open(request, timeout=PATIENCE) as response:
            return response.read()

    def get(self, path, body=None, **query):
        """The JSON of an answer."""
        answer = self.raw(path, body, **query)
        try:
            return json.loads(answer)
        except ValueError:
            raise ValueError(f"{path} {query} gave {answer[:200]}") from None

    def close(self):
        self._process.terminate()
        self._process.wait(PATIENCE)
        self._output.close()
        self._folder.cleanup()
