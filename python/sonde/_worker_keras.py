"""Keras models: .keras and .h5. The outputs of the layers come from an inspection model."""
from typing import Any

from ._tensor_bytes import described
from ._worker_common import WorkerError, first_line, need


class KerasModel:
    """One model. Its layers are model.layers, with the same indices."""

    def __init__(self, request: dict[str, Any]) -> None:
        keras = self._keras = need("keras", "keras")
        from ._keras_layers import parts
        if request["precision"] != "f32":
            raise WorkerError("unsupported", f"Keras executes as the model's dtype policy says; it has no setting for precision "
                              f"'{request['precision']}'")
        self._path = request["path"]
        try:
            self._model = keras.saving.load_model(self._path, compile=False)
        except Exception as error:
            raise WorkerError("invalid_argument", f"Keras cannot load '{self._path}': {first_line(error)}") from None
        if not getattr(self._model, "inputs", None):
            raise WorkerError("unsupported", f"the model of '{self._path}' is subclassed, so its inputs are not in the file; load it "
                              "in Python, and use sonde.inspect(model, x)")
        self._values: dict[str, Any] = {}
        for layer in self._model.layers:
            for name, value in parts(layer.name, layer.output):
                self._values[name] = value
        names = list(getattr(self._model, "output_names", []))
        self._outputs = list(zip(names if len(names) == len(set(names)) == len(self._model.outputs) else
                                 [f"output_{number}" for number in range(len(self._model.outputs))], self._model.outputs))
        self.description = self._describe(parts)
        backend = need(keras.backend.backend(), "keras")
        self.info = {"name": "keras", "version": f"{keras.__version__} on {backend.__name__} {backend.__version__}", "precision": "f32",
                     "settings": ""}
        self._tapped: Any = None
        self.select([])

    def _describe(self, parts: Any) -> dict[str, Any]:
        layers = []
        for layer in self._model.layers:
            read = [_producer(value, self._values) for value in layer._inbound_nodes[0].input_tensors] if layer._inbound_nodes else []
            for name, value in parts(layer.name, layer.output):
                layers.append({**_value(name, value), "node": layer.name, "op": type(layer).__name__, "inputs": read,
                               "parameters": layer.count_params() if layer.built else 0})
        return {"format": "h5" if self._path.endswith((".h5", ".hdf5")) else "keras",
                "inputs": [_value(value.name, value) for value in self._model.inputs],
                "outputs": [_value(name, value) for name, value in self._outputs], "layers": layers}

    def select(self, layers: list[str]) -> None:
        self._layers = layers
        wanted = [self._values[name] for name in layers] + [value for _, value in self._outputs]
        self._tapped = self._keras.Model(self._model.inputs, wanted)

    def run(self, inputs: dict[str, Any]) -> tuple[list[Any], list[tuple[str, Any]]]:
        fed = [inputs[value.name] for value in self._model.inputs]
        values = self._tapped(fed, training=False)
        values = values if isinstance(values, (list, tuple)) else [values]
        arrays = [self._keras.ops.convert_to_numpy(value) for value in values]
        count = len(self._layers)
        return arrays[:count], [(name, array) for (name, _), array in zip(self._outputs, arrays[count:])]

    def times(self) -> list[dict[str, Any]]:
        raise WorkerError("unsupported", "Keras counts no times of layers; export the model to ONNX to profile it")


def _producer(value: Any, known: dict[str, Any]) -> str:
    """The name of the layer's output that this tensor is."""
    history = value._keras_history
    name = history.operation.name
    return f"{name}/{history.tensor_index}" if f"{name}/{history.tensor_index}" in known else name


def _value(name: str, value: Any) -> dict[str, Any]:
    shape = value.shape
    return {"name": name, "type": described(str(value.dtype)),
            "shape": None if shape is None or len(shape) > 8 else [-1 if size is None else size for size in shape]}


def open_model(request: dict[str, Any]) -> KerasModel:
    return KerasModel(request)
