"""Our data server, alone and behind the real TensorBoard."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import grpc
from tensorboard.data.proto import data_provider_pb2_grpc

BINARY = os.environ["SONDE_DATA_SERVER"]
PATIENCE = 120  # seconds, for a machine that has much else to do
PLUGINS = ("scalars", "histograms", "images", "audio", "text", "pr_curves", "mesh", "hparams", "custom_scalars", "graphs")


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


class DataServer:
    """Our program, as TensorBoard starts it. Its index cache is its own, so that no test sees what another left."""

    def __init__(self, logdir, *flags):
        self._folder = tempfile.TemporaryDirectory()
        self.port_file = pathlib.Path(self._folder.name, "port")
        self.process = subprocess.Popen(
            [BINARY, f"--logdir={logdir}", "--port=0", f"--port-file={self.port_file}", "--die-after-stdin", *flags],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env={**os.environ, "XDG_CACHE_HOME": self._folder.name})
        port = wait_until(self._port, "the start of the data server")
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}",
                                              options=[("grpc.max_receive_message_length", 1 << 28)])
        self.calls = data_provider_pb2_grpc.TensorBoardDataProviderStub(self._channel)

    def _port(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"the data server ended: {self.process.stderr.read().decode()}")
        text = self.port_file.read_text() if self.port_file.exists() else ""
        return text.endswith("\n") and int(text)

    def close(self):
        """Ends it as TensorBoard does. What it said, and its exit code."""
        self._channel.close()
        self.process.stdin.close()
        said = self.process.stderr.read().decode()
        code = self.process.wait(PATIENCE)
        self.process.stderr.close()
        self._folder.cleanup()
        return said, code


class TensorBoard:
    """`tensorboard --logdir`, on our data server or on its own reader in Python."""

    def __init__(self, logdir, on_ours, samples):
        self._folder = tempfile.TemporaryDirectory()
        self._output = open(os.path.join(self._folder.name, "output"), "w+b")
        # Its own reader has read everything before it answers anything; ours lets questions wait, and follows the log.
        how = ["--load_fast=true"] if on_ours else ["--load_fast=false", "--reload_task=blocking", "--reload_interval=0"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--host", "127.0.0.1", "--port", "0",
             "--samples_per_plugin=" + ",".join(f"{plugin}={samples}" for plugin in PLUGINS), *how],
            stdin=subprocess.DEVNULL, stdout=self._output, stderr=subprocess.STDOUT,
            env={**os.environ, "TENSORBOARD_DATA_SERVER_BINARY": BINARY, "TMPDIR": self._folder.name,
                 "XDG_CACHE_HOME": self._folder.name})
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        self._address = None

    def output(self):
        self._output.seek(0)
        return self._output.read().decode()

    def children(self):
        """The processes that it started: on our data server that one."""
        tasks = pathlib.Path(f"/proc/{self._process.pid}/task").glob("*/children")
        return [int(child) for task in tasks for child in task.read_text().split()]

    def wait_for_start(self):
        def address():
            text = self.output()
            if self._process.poll() is not None:
                raise RuntimeError(f"tensorboard ended with {self._process.returncode}: {text}")
            _, found, rest = text.partition(" at http://")
            return found and " " in rest and "http://" + rest.split()[0].rstrip("/")

        self._address = wait_until(address, "the start of tensorboard")

    def raw(self, path, body=None, **query):
        """The bytes of an answer; of an error its number."""
        url = f"{self._address}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        request = urllib.request.Request(url, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with self._open(request, timeout=PATIENCE) as response:
                return response.read()
        except urllib.error.HTTPError as error:
            error.close()
            return f"error {error.code}".encode()

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
