"""TensorFlow's SavedModels and frozen graphs, and TFLite files."""
import os
import warnings
from typing import Any

from ._tensor_bytes import described
from ._worker_common import Missing, WorkerError, first_line, need

_NO_LAYERS = {"Const", "Placeholder", "PlaceholderWithDefault", "NoOp", "Assert"}


class GraphModel:
    """A graph with all functions in place, of which any tensors can be fetched."""

    def __init__(self, tensorflow: Any, request: dict[str, Any], form: str) -> None:
        self._tf, self._path = tensorflow, request["path"]
        self._layers: list[str] = []
        try:
            graph_def, feeds, fetches = self._read_saved_model(request["signature"]) if form == "saved_model" else self._read_frozen()
        except WorkerError:
            raise
        except Exception as error:
            raise WorkerError("invalid_argument", f"TensorFlow cannot load '{self._path}': {first_line(error)}") from None
        self._wrapped = tensorflow.compat.v1.wrap_function(lambda: tensorflow.import_graph_def(graph_def, name=""), [])
        self._graph = self._wrapped.graph
        self._feeds, self._fetches = feeds, fetches  # names of the signature, and tensors
        self._tensors: dict[str, Any] = {}
        self.description = {"format": form, "inputs": [self._value(name, self._tensor(place)) for name, place in feeds.items()],
                            "outputs": [self._value(name, self._tensor(place)) for name, place in fetches.items()],
                            "layers": self._describe_layers()}
        self.info = {"name": "tensorflow", "version": tensorflow.__version__, "precision": "f32", "settings": ""}
        self.select([])

    # ---- Reading

    def _read_saved_model(self, signature: str) -> tuple[Any, dict[str, str], dict[str, str]]:
        from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
        loaded = self._tf.saved_model.load(self._path)
        known = list(loaded.signatures)
        if not known:
            raise WorkerError("unsupported", f"the SavedModel '{self._path}' has no signature")
        if not signature:
            signature = known[0] if len(known) == 1 else "serving_default"
        if signature not in known:
            raise WorkerError("not_found", f"the SavedModel '{self._path}' has no signature '{signature}'; it has {', '.join(known)}")
        function = loaded.signatures[signature]
        self._loaded = loaded  # which owns the variables
        frozen = convert_variables_to_constants_v2(function, lower_control_flow=False)
        named = {spec.name: name for name, spec in function.structured_input_signature[1].items()}
        feeds = {named.get(tensor.op.name, tensor.op.name): tensor.name for tensor in frozen.inputs}
        fetches = dict(zip(sorted(function.structured_outputs), (tensor.name for tensor in frozen.outputs)))
        return frozen.graph.as_graph_def(), feeds, fetches

    def _read_frozen(self) -> tuple[Any, dict[str, str], dict[str, str]]:
        graph_def = self._tf.compat.v1.GraphDef()
        with open(self._path, "rb") as file:
            graph_def.ParseFromString(file.read())
        if not graph_def.node:
            raise WorkerError("invalid_argument", f"'{self._path}' is no frozen graph: it has no nodes")
        read = {name.lstrip("^").split(":")[0] for node in graph_def.node for name in node.input}
        feeds = {node.name: f"{node.name}:0" for node in graph_def.node if node.op in ("Placeholder", "PlaceholderWithDefault")}
        fetches = {node.name: f"{node.name}:0" for node in graph_def.node if node.name not in read and node.op not in _NO_LAYERS}
        return graph_def, feeds, fetches

    # ---- Description

    def _tensor(self, name: str) -> Any:
        return self._graph.get_tensor_by_name(name)

    def _value(self, name: str, tensor: Any) -> dict[str, Any]:
        sizes = tensor.shape.as_list() if tensor.shape.rank is not None else None
        return {"name": name, "type": described(tensor.dtype.name),
                "shape": None if sizes is None or len(sizes) > 8 else [-1 if size is None else size for size in sizes]}

    def _describe_layers(self) -> list[dict[str, Any]]:
        layers = []
        constants = {operation.name: operation for operation in self._graph.get_operations() if operation.type == "Const"}
        for operation in self._graph.get_operations():  # importing sorts them: inputs come first
            if operation.type in _NO_LAYERS or operation.name.startswith("Func/") or operation.name.endswith("ReadVariableOp"):
                continue  # constants, and what an inlined function passes on or a variable became
            for number, tensor in enumerate(operation.outputs):
                if tensor.dtype in (self._tf.resource, self._tf.variant):
                    continue
                name = operation.name if number == 0 else f"{operation.name}:{number}"
                self._tensors[name] = tensor
                layers.append({**self._value(name, tensor), "node": operation.name, "op": operation.type,
                               "scope": operation.name.rpartition("/")[0],
                               "inputs": [_name(_through(each)) for each in operation.inputs],
                               "parameters": sum(_weights(_through(each).op, constants) for each in operation.inputs)})
        return layers

    # ---- Running

    def select(self, layers: list[str]) -> None:
        unknown = [name for name in layers if name not in self._tensors]
        if unknown:
            raise WorkerError("not_found", f"the graph of '{self._path}' has no tensor '{unknown[0]}' in TensorFlow")
        self._layers = layers
        fetched = [self._tensors[name] for name in layers] + [self._tensor(place) for place in self._fetches.values()]
        self._function = self._wrapped.prune([self._tensor(place) for place in self._feeds.values()], fetched)

    def run(self, inputs: dict[str, Any]) -> tuple[list[Any], list[tuple[str, Any]]]:
        fed = []
        for name, place in self._feeds.items():
            if name not in inputs:
                raise WorkerError("invalid_argument", f"the input '{name}' is missing")
            fed.append(self._tf.constant(inputs[name], dtype=self._tensor(place).dtype))
        values = [value.numpy() for value in self._function(*fed)]
        count = len(self._layers)
        return values[:count], list(zip(self._fetches, values[count:]))

    def times(self) -> list[dict[str, Any]]:
        raise WorkerError("unsupported", "TensorFlow is not asked for times; profile the model with its default runtime")


def _through(tensor: Any) -> Any:
    """The tensor that an inlined function passed on, or that a variable became."""
    while tensor.op.type == "Identity" and (tensor.op.name.startswith("Func/") or tensor.op.name.endswith("ReadVariableOp")):
        tensor = tensor.op.inputs[0]
    return tensor


def _name(tensor: Any) -> str:
    return tensor.op.name if tensor.value_index == 0 else f"{tensor.op.name}:{tensor.value_index}"


def _weights(operation: Any, constants: dict[str, Any]) -> int:
    """How many numbers a constant has, if they are trained ones: those of a floating-point type."""
    if operation.name not in constants:
        return 0
    tensor = operation.outputs[0]
    return tensor.shape.num_elements() or 0 if tensor.dtype.is_floating and tensor.shape.rank else 0


class LiteModel:
    """A TFLite file. Quantised tensors are given as they are stored, with scale and zero point in the description."""

    def __init__(self, tensorflow: Any, request: dict[str, Any]) -> None:
        self._path = request["path"]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # Without the delegate, which would execute several operations as one.
                self._interpreter = tensorflow.lite.Interpreter(
                    self._path, experimental_preserve_all_tensors=True,
                    experimental_op_resolver_type=tensorflow.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
                self._interpreter.allocate_tensors()
        except (ValueError, RuntimeError) as error:
            raise WorkerError("invalid_argument", f"TensorFlow Lite cannot load '{self._path}': {first_line(error)}") from None
        self._details = {each["index"]: each for each in self._interpreter.get_tensor_details()}
        self._inputs = {each["name"]: each for each in self._interpreter.get_input_details()}
        self._outputs = {each["name"]: each for each in self._interpreter.get_output_details()}
        self._places: dict[str, int] = {}
        self._layers: list[str] = []
        self.description = {"format": "tflite", "inputs": [_lite_value(each) for each in self._inputs.values()],
                            "outputs": [_lite_value(each) for each in self._outputs.values()], "layers": self._describe_layers()}
        self.info = {"name": "tensorflow", "version": f"{tensorflow.__version__} (TFLite)", "precision": "f32",
                     "settings": "no delegates"}

    def _describe_layers(self) -> list[dict[str, Any]]:
        written = {number for each in self._interpreter._get_ops_details() for number in each["outputs"]}
        inputs = {each["index"] for each in self._inputs.values()}
        layers = []
        for each in self._interpreter._get_ops_details():
            if each["op_name"] == "DELEGATE":
                continue
            read = [self._details[number] for number in each["inputs"] if number >= 0 and number in self._details]
            parameters = sum(int(detail["shape"].prod()) for detail in read
                             if detail["index"] not in written | inputs and detail["shape"].size and _is_trained(detail))
            for number in each["outputs"]:
                if number not in self._details:
                    continue
                detail = self._details[number]
                self._places[detail["name"]] = number
                layers.append({**_lite_value(detail), "node": "", "op": each["op_name"],
                               "inputs": [detail["name"] for detail in read], "parameters": parameters})
        return layers

    def select(self, layers: list[str]) -> None:
        unknown = [name for name in layers if name not in self._places]
        if unknown:
            raise WorkerError("not_found", f"'{self._path}' has no tensor '{unknown[0]}' in TensorFlow Lite")
        self._layers = layers

    def run(self, inputs: dict[str, Any]) -> tuple[list[Any], list[tuple[str, Any]]]:
        for name, detail in self._inputs.items():
            if name not in inputs:
                raise WorkerError("invalid_argument", f"the input '{name}' is missing")
            if tuple(inputs[name].shape) != tuple(self._interpreter._get_tensor_details(detail["index"], 0)["shape"]):
                self._interpreter.resize_tensor_input(detail["index"], inputs[name].shape)
        self._interpreter.allocate_tensors()
        for name, detail in self._inputs.items():
            self._interpreter.set_tensor(detail["index"], inputs[name])
        self._interpreter.invoke()
        return ([self._get(self._places[name]) for name in self._layers],
                [(name, self._get(detail["index"])) for name, detail in self._outputs.items()])

    def _get(self, index: int) -> Any:
        try:
            return self._interpreter.get_tensor(index)
        except ValueError as error:
            return Missing(f"TensorFlow Lite kept no value of it: {first_line(error)}")

    def times(self) -> list[dict[str, Any]]:
        raise WorkerError("unsupported", "TensorFlow Lite is not asked for times; profile the model with its default runtime")


def _is_trained(detail: dict[str, Any]) -> bool:
    """Weights are floating-point numbers or quantised ones; shapes and axes are plain integers."""
    return described(detail["dtype"]).startswith("f") or len(detail["quantization_parameters"]["scales"]) > 0


def _lite_value(detail: dict[str, Any]) -> dict[str, Any]:
    sizes = detail["shape_signature"] if len(detail["shape_signature"]) == len(detail["shape"]) else detail["shape"]
    value = {"name": detail["name"], "type": described(detail["dtype"]), "shape": [int(size) for size in sizes]}
    parameters = detail["quantization_parameters"]
    if len(parameters["scales"]):
        value["quantization"] = {"scales": [float(each) for each in parameters["scales"]],
                                 "zero_points": [int(each) for each in parameters["zero_points"]],
                                 "axis": int(parameters["quantized_dimension"]) if len(parameters["scales"]) > 1 else -1}
    return value


def open_model(request: dict[str, Any]) -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    tensorflow = need("tensorflow", "tensorflow", "tensorflow-cpu")
    if request["precision"] != "f32":
        raise WorkerError("unsupported", f"TensorFlow executes as the model says; it has no setting for precision '{request['precision']}'")
    path = request["path"]
    if os.path.isdir(path):
        return GraphModel(tensorflow, request, "saved_model")
    with open(path, "rb") as file:
        head = file.read(8)
    if head[4:8] == b"TFL3":
        return LiteModel(tensorflow, request)
    if path.endswith((".keras", ".h5", ".hdf5")):
        from ._worker_keras import open_model as open_keras
        return open_keras(request)
    return GraphModel(tensorflow, request, "frozen_graph")
