"""Models through `inspect`: many of them in one process, the tool run_models."""
import os
import subprocess
import sys

import sonde
from sonde._tensor_bytes import encode


class Models:
    """The process. If it dies, the error says so, and the next model gets another one."""

    def __enter__(self):
        self._process = None
        return self

    def __exit__(self, *_):
        self._end()

    def _end(self):
        if self._process is not None:
            self._process.stdin.close()
            self._process.wait()
            self._process.stdout.close()
            self._process = None

    def _start(self):
        # The worker process finds onnxruntime here.
        self._process = subprocess.Popen([os.path.join(os.environ["SONDE_TOOLS"], "run_models")], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True, env={**os.environ, "SONDE_PYTHON": sys.executable})

    def run(self, path, inputs, folder, layers=False):
        """The layers and the outputs by name, and the name of the runtime. Errors are a RuntimeError."""
        if self._process is None:
            self._start()
        given, all_layers, outputs = (os.path.join(folder, name) for name in ("inputs", "layers", "outputs"))
        if inputs:
            with open(given, "wb") as file:
                file.writelines(encode(inputs))
        self._process.stdin.write("\t".join([path, given if inputs else "-", all_layers if layers else "-", outputs]) + "\n")
        self._process.stdin.flush()
        kind, _, text = self._process.stdout.readline().rstrip("\n").partition("\t")
        if not kind:
            self._process.stdin.close()
            code = self._process.wait()
            self._process.stdout.close()
            self._process = None
            raise RuntimeError(f"the process died with code {code}")
        if kind == "error":
            raise RuntimeError(text)
        return _read(all_layers) if layers else {}, _read(outputs), text


def _read(path):
    file = sonde.open_tensors(path)
    return {name: file[name] for name in file}
