"""ONNX models in onnxruntime. Taps are outputs that are added to a copy of the model in memory."""
import ctypes
import json
import math
import os
import re
import tempfile
from typing import Any

import numpy

from ._tensor_bytes import Bits
from ._wire import field
from ._worker_common import Missing, WorkerError, first_line, need

_GRAPH, _OUTPUT, _NAME = 7, 12, 1  # fields of ModelProto, GraphProto and ValueInfoProto
# Element types that the Python interface of onnxruntime does not turn into arrays, with their numbers in TensorProto.
_BITS = {"tensor(bfloat16)": ("BF16", numpy.uint16, 16), "tensor(float8e4m3fn)": ("F8_E4M3", numpy.uint8, 17),
         "tensor(float8e5m2)": ("F8_E5M2", numpy.uint8, 19)}


class OnnxModel:
    """One model. The command describes it: its own reader knows the names of the file."""

    description = None

    def __init__(self, request: dict[str, Any]) -> None:
        self._ort = need("onnxruntime", "onnxruntime")
        if request["precision"] != "f32":
            raise WorkerError("unsupported", f"onnxruntime executes on the CPU as the model says; it has no setting for "
                              f"precision '{request['precision']}'")
        self._ort.set_default_logger_severity(3)
        self._path = os.path.abspath(request["path"])
        self._profile = request["profile"]
        self._layers: list[str] = []
        self._folder: Any = None
        self._session = self._load([])
        self._results = [output.name for output in self._session.get_outputs()]
        self._types = {value.name: value.type for value in self._session.get_inputs()}
        self.info = {"name": "onnxruntime", "version": self._ort.__version__, "precision": "f32",
                     "settings": "graph optimisation: all, as by default"}

    def _load(self, added: list[str]) -> Any:
        options = self._ort.SessionOptions()
        options.graph_optimization_level = self._ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        if self._profile:
            self._folder = tempfile.TemporaryDirectory(prefix="sonde-profile-")
            options.enable_profiling = True
            options.profile_file_prefix = os.path.join(self._folder.name, "profile")
        model: str | bytes = self._path
        if added:
            # A message that follows another one is merged into it, so the model needs no decoding.
            outputs = b"".join(field(_OUTPUT, field(_NAME, name.encode())) for name in added)
            with open(self._path, "rb") as file:
                model = file.read() + field(_GRAPH, outputs)
            options.add_session_config_entry("session.model_external_initializers_file_folder_path", os.path.dirname(self._path))
        try:
            return self._ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its exceptions have no base class
            code = "unsupported" if "NOT_IMPLEMENTED" in str(error) or "No Op registered" in str(error) else "invalid_argument"
            raise WorkerError(code, f"onnxruntime cannot load '{self._path}': {_reason(error)}") from None

    def select(self, layers: list[str]) -> None:
        self._layers = layers
        given = set(self._results)
        self._session = None  # frees the other copy first
        self._session = self._load([name for name in dict.fromkeys(layers) if name not in given])

    def run(self, inputs: dict[str, Any]) -> tuple[list[Any], list[tuple[str, Any]]]:
        if self._profile and self._session is None:
            self.select(self._layers)
        wanted = list(dict.fromkeys([*self._layers, *self._results]))
        fed = {name: self._value(name, value) for name, value in inputs.items()}
        try:
            values = self._session.run_with_ort_values(wanted, fed)
        except Exception as error:
            raise WorkerError("invalid_argument", f"onnxruntime cannot run '{self._path}': {_reason(error)}") from None
        found = {name: _tensor(value) for name, value in zip(wanted, values)}
        return [found[name] for name in self._layers], [(name, found[name]) for name in self._results]

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, Bits):
            number = next(number for dtype, _, number in _BITS.values() if dtype == value.dtype)
            return self._ort.OrtValue.ortvalue_from_numpy_with_onnx_type(value.array, number)
        return self._ort.OrtValue.ortvalue_from_numpy(numpy.ascontiguousarray(value).reshape(value.shape))

    def times(self) -> list[dict[str, Any]]:
        """Of the last run: the session counts until it is asked, and then needs to be loaded again."""
        if not self._profile or self._session is None:
            raise WorkerError("unsupported", "onnxruntime counted no times, because nothing ran with a profile")
        with open(self._session.end_profiling()) as file:
            events = json.load(file)
        self._session = None
        self._folder.cleanup()
        begin = max((event["ts"] for event in events if event.get("name") == "model_run"), default=0)
        times = []
        for event in events:
            name = event.get("name", "")
            if event.get("cat") == "Node" and name.endswith("_kernel_time") and event["ts"] >= begin:
                times.append({"layer": "", "node": name.removesuffix("_kernel_time"), "name": name.removesuffix("_kernel_time"),
                              "op": event.get("args", {}).get("op_name", ""), "nanoseconds": 1000 * event["dur"]})
        return times


def _reason(error: BaseException) -> str:
    """Without the number and the name of the code that it puts first."""
    return re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ", "", first_line(error))


def _tensor(value: Any) -> Any:
    if value is None or not value.has_value():
        return Missing("the optional value is empty")
    if not value.is_tensor():
        return Missing(f"it is a {value.data_type()}, not a tensor")
    if value.data_type() in _BITS:
        dtype, bits, _ = _BITS[value.data_type()]
        shape = value.shape()
        size = math.prod(shape) * numpy.dtype(bits).itemsize
        return Bits(dtype, numpy.frombuffer(ctypes.string_at(value.data_ptr(), size), bits).reshape(shape))
    try:
        return value.numpy()
    except Exception as error:
        return Missing(f"onnxruntime gives no array of {value.data_type()}: {_reason(error)}")


def open_model(request: dict[str, Any]) -> OnnxModel:
    return OnnxModel(request)
