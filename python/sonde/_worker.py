"""The worker process of `sonde inspect`: runs models with the runtimes that live in Python.

The command starts `python -m sonde._worker`, sends requests to its standard input and reads answers from its standard output.
Each is one line of JSON; if it has "bytes", so many bytes follow it, which are a safetensors file.

    worker     {"hello": 1, "sonde": "0.5.0", "interpreter": "/usr/bin/python3", "python": "3.12.1"}
    command    {"call": "open", "path": ..., "runtime": "keras", "precision": "f32", "signature": "", "profile": false}
    worker     {"done": {"model": 0, "info": {...}, "description": {...} or null}}
    command    {"call": "select", "model": 0, "layers": ["dense_1", ...]}
    worker     {"done": {}}
    command    {"call": "run", "model": 0, "bytes": 112}  and the inputs by name
    worker     {"layer": 0, "bytes": 880}                 and the tensor; one for each selected layer, in the order of the request,
               {"layer": 1, "missing": "why there is no tensor"}
               {"result": "probabilities", "bytes": 90}   and the tensor; one for each output of the model
               {"done": {}}
    command    {"call": "times", "model": 0}
    worker     {"done": {"times": [{"layer": "dense_1" or "", "name": ..., "nanoseconds": ...}]}}
    command    {"call": "close", "model": 0}

Instead of "done" a request can end with {"error": {"code": "not_found", "message": ...}}: a code of sonde/status.h and one
sentence. What a framework prints goes to standard error. The worker ends when its standard input ends.
"""
import importlib
import json
import os
import platform
import queue
import signal
import sys
import threading
from typing import Any, BinaryIO, Callable

from ._tensor_bytes import decode, encode
from ._worker_common import Missing, WorkerError, first_line

PROTOCOL = 1
_RUNTIMES = ("onnxruntime", "tensorflow", "keras", "torch")
_LONGEST_LINE = 1 << 26


class Worker:
    """Answers the requests of one stream, in order."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self._requests, self._answers = requests, answers
        self._models: dict[int, Any] = {}
        self._next = 0
        self._calls: dict[str, Callable[[dict[str, Any], Any], dict[str, Any]]] = {
            "open": self._open, "select": self._select, "run": self._run, "times": self._times, "close": self._close}

    def serve(self) -> None:
        from ._version import __version__
        self._send({"hello": PROTOCOL, "sonde": __version__, "interpreter": sys.executable, "python": platform.python_version()})
        # A thread reads, so that the end of the command ends this process even while a model is running.
        waiting: queue.SimpleQueue[tuple[dict[str, Any], bytes]] = queue.SimpleQueue()
        threading.Thread(target=self._read_requests, args=(waiting,), daemon=True).start()
        while True:
            request, payload = waiting.get()
            self._send(self._answer(request, payload))

    def _read_requests(self, waiting: Any) -> None:
        while True:
            line = self._requests.readline(_LONGEST_LINE)
            if not line.endswith(b"\n"):
                os._exit(0)  # frameworks take long to end, and nothing here needs it
            request = json.loads(line)
            size = request.get("bytes", 0)
            payload = self._requests.read(size)
            if len(payload) < size:
                os._exit(0)
            waiting.put((request, payload))

    def _answer(self, request: dict[str, Any], payload: bytes) -> dict[str, Any]:
        try:
            return {"done": self._calls[request["call"]](request, payload)}
        except WorkerError as error:
            return {"error": {"code": error.code, "message": str(error)}}
        except MemoryError:
            return {"error": {"code": "exhausted", "message": f"there was not enough memory to {request['call']} the model"}}
        except Exception as error:  # whatever a framework raises
            import traceback
            traceback.print_exc()  # to standard error: the command shows its last lines where they help
            return {"error": {"code": "invalid_argument", "message": f"{type(error).__name__}: {first_line(error)}"}}

    def _send(self, answer: dict[str, Any], payload: "list[bytes | memoryview]" = []) -> None:
        if payload:
            answer["bytes"] = sum(len(part) for part in payload)
        self._answers.write(json.dumps(answer).encode() + b"\n")
        for part in payload:
            self._answers.write(part)
        self._answers.flush()

    def _model(self, request: dict[str, Any]) -> Any:
        return self._models[request["model"]]

    def _open(self, request: dict[str, Any], _: bytes) -> dict[str, Any]:
        runtime = request["runtime"]
        if runtime in _RUNTIMES:
            module = importlib.import_module(f"._worker_{runtime}", __package__)
        elif runtime.startswith("module:"):  # a runtime that is not part of this package, such as the one of the tests
            module = importlib.import_module(runtime.removeprefix("module:"))
        else:
            raise WorkerError("invalid_argument", f"there is no runtime '{runtime}'; there are openvino, {', '.join(_RUNTIMES)}")
        model = module.open_model(request)
        self._models[self._next] = model
        self._next += 1
        return {"model": self._next - 1, "info": model.info, "description": model.description}

    def _select(self, request: dict[str, Any], _: bytes) -> dict[str, Any]:
        self._model(request).select(request["layers"])
        return {}

    def _run(self, request: dict[str, Any], payload: bytes) -> dict[str, Any]:
        layers, results = self._model(request).run(decode(payload))
        for place, value in enumerate(layers):
            self._send_tensor({"layer": place}, value)
        for name, value in results:
            self._send_tensor({"result": name}, value)
        return {}

    def _send_tensor(self, answer: dict[str, Any], value: Any) -> None:
        payload: list[bytes | memoryview] = []
        if not isinstance(value, Missing):
            try:
                payload = encode({"": value})
            except TypeError as error:
                value = Missing(str(error))
        self._send(answer if payload else {**answer, "missing": str(value)}, payload)

    def _times(self, request: dict[str, Any], _: bytes) -> dict[str, Any]:
        return {"times": self._model(request).times()}

    def _close(self, request: dict[str, Any], _: bytes) -> dict[str, Any]:
        self._models.pop(request["model"], None)
        return {}


def main() -> None:
    # An interrupt at the terminal is for the command, whose end closes the standard input of this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The pipe of the answers gets a descriptor of its own; what anybody prints, in Python or in C, goes to standard error.
    answers = os.fdopen(os.dup(1), "wb", buffering=1 << 20)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    requests = os.fdopen(os.dup(0), "rb", buffering=1 << 20)
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)
    os.close(devnull)
    try:
        Worker(requests, answers).serve()
    except BrokenPipeError:
        os._exit(0)  # the command has ended


if __name__ == "__main__":
    main()
