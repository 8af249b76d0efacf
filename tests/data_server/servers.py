"""Our data server, alone and behind the real TensorBoard."""

import os
import pathlib
import subprocess
import tempfile
import urllib.error

import grpc
from tensorboard.data.proto import data_provider_pb2_grpc

from web_server import EVERY_PLUGIN, PATIENCE, WebServer, wait_until

BINARY = os.environ["SONDE_DATA_SERVER"]


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


class TensorBoard(WebServer):
    """`tensorboard --logdir`, on our data server or on its own reader in Python."""

    def __init__(self, logdir, on_ours, samples):
        # Its own reader has read everything before it answers anything; ours lets questions wait, and follows the log.
        how = ["--load_fast=true"] if on_ours else ["--load_fast=false", "--reload_task=blocking", "--reload_interval=0"]
        super().__init__(logdir, "--samples_per_plugin=" + ",".join(f"{plugin}={samples}" for plugin in EVERY_PLUGIN),
                         *how, TENSORBOARD_DATA_SERVER_BINARY=BINARY)

    def children(self):
        """The processes that it started: on our data server that one."""
        tasks = pathlib.Path(f"/proc/{self._process.pid}/task").glob("*/children")
        return [int(child) for task in tasks for child in task.read_text().split()]

    def raw(self, path, body=None, **query):
        """The bytes of an answer; of an error its number."""
        try:
            return super().raw(path, body, **query)
        except urllib.error.HTTPError as error:
            error.close()
            return f"error {error.code}".encode()
