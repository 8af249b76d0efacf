"""The real TensorBoard, as a user starts it: its Python reader, its data server, and its web server."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import grpc
import tensorboard_data_server
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.data import grpc_provider

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
        time.sleep(0.05)


class PythonReader:
    """TensorBoard's reader in Python, keeping everything."""

    def __init__(self, logdir):
        self._logdir = logdir
        self._multiplexer = plugin_event_multiplexer.EventMultiplexer(
            size_guidance={"tensors": 0}, tensor_size_guidance={plugin: 0 for plugin in EVERY_PLUGIN})
        self.provider = data_provider.MultiplexerDataProvider(self._multiplexer, logdir)
        self.reload()

    def reload(self):
        self._multiplexer.AddRunsFromDirectory(self._logdir)
        self._multiplexer.Reload()

    def close(self):
        pass


class DataServer:
    """TensorBoard's data server, keeping everything, over gRPC."""

    def __init__(self, logdir):
        self._folder = tempfile.TemporaryDirectory()
        port_file = os.path.join(self._folder.name, "port")
        self._process = subprocess.Popen(
            [tensorboard_data_server.server_binary(), f"--logdir={logdir}", "--reload=1", "--port=0",
             f"--port-file={port_file}", "--die-after-stdin",
             "--samples-per-plugin=" + ",".join(f"{plugin}=all" for plugin in EVERY_PLUGIN)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def port():
            if self._process.poll() is not None:
                raise RuntimeError(f"the data server ended with {self._process.returncode}")
            text = pathlib.Path(port_file).read_text() if os.path.exists(port_file) else ""
            return text.endswith("\n") and int(text)

        self._channel = grpc.insecure_channel(f"127.0.0.1:{wait_until(port, 'the start of the data server')}",
                                              options=[("grpc.max_receive_message_length", 1 << 28)])
        self.provider = grpc_provider.GrpcDataProvider("data server", grpc_provider.make_stub(self._channel))

    def reload(self):
        pass  # by itself, every second

    def close(self):
        self._channel.close()
        self._process.stdin.close()
        self._process.wait(PATIENCE)
        self._folder.cleanup()


class WebServer:
    """`tensorboard --logdir`, with the defaults of a user."""

    def __init__(self, logdir, load_fast):
        self._folder = tempfile.TemporaryDirectory()
        self._output = open(os.path.join(self._folder.name, "output"), "w+b")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tensorboard.main", "--logdir", logdir, "--host", "127.0.0.1", "--port", "0",
             f"--load_fast={str(load_fast).lower()}"],
            stdin=subprocess.DEVNULL, stdout=self._output, stderr=subprocess.STDOUT,
            env={**os.environ, "TMPDIR": self._folder.name})
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        self._address = None

    def wait_for_start(self):
        def address():
            self._output.seek(0)
            text = self._output.read().decode()
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
        return json.loads(self.raw(path, body, **query))

    def close(self):
        self._process.terminate()
        self._process.wait(PATIENCE)
        self._output.close()
        self._folder.cleanup()
