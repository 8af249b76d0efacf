"""TensorBoard's own readers: in Python, and its data server."""

import os
import pathlib
import subprocess
import tempfile

import grpc
import tensorboard_data_server
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.data import grpc_provider

from web_server import EVERY_PLUGIN, PATIENCE, wait_until

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
