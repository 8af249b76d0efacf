"""torch's exported programs, .pt2. An interpreter of the graph sees every operation; hooks of modules would never be called."""
import re
from typing import Any

from ._tensor_bytes import Bits, described
from ._worker_common import Missing, WorkerError, first_line, need

_BITS = {"bfloat16": ("BF16", "uint16"), "float8_e4m3fn": ("F8_E4M3", "uint8"), "float8_e5m2": ("F8_E5M2", "uint8")}


class ExportedModel:
    """One program. Its layers are the operations that give tensors, under their names in the file, and after its last operation
    each module, under its path. An operation with the name of a module is not listed if both are the same tensor."""

    def __init__(self, request: dict[str, Any]) -> None:
        torch = self._torch = need("torch", "torch")
        if request["precision"] != "f32":
            raise WorkerError("unsupported", "torch executes an exported program in the types that it was exported with; it has no "
                              f"setting for precision '{request['precision']}'")
        self._path = request["path"]
        try:
            self._program = torch.export.load(self._path)
        except Exception as error:
            raise WorkerError("invalid_argument", f"torch cannot load '{self._path}': {first_line(error)}; a .pt2 file is what "
                              "torch.export.save writes") from None
        self._module = self._program.module(check_guards=False)
        self._nodes = {node.name: node for node in self._module.graph.nodes}
        # An argument keeps its name, while a node whose name Python knows already gets another one.
        self._inputs = {str(node.target): node.name for node in self._module.graph.find_nodes(op="placeholder")
                        if self._is_tensor(node.name)}
        self._outputs: list[str] = []
        for output in self._module.graph.find_nodes(op="output"):
            torch.fx.map_arg(output.args, lambda node: self._outputs.append(node.name))
        self._outputs = [name for name in dict.fromkeys(self._outputs) if self._is_tensor(name)]
        self._sources: dict[str, str] = {}  # the layer's name, and the node that computes it
        self.description = {"format": "torch_export", "inputs": [self._value(name, node) for name, node in self._inputs.items()],
                            "outputs": [self._value(name, name) for name in self._outputs], "layers": self._describe_layers()}
        self.info = {"name": "torch", "version": torch.__version__, "precision": "f32", "settings": "eager, each operation by itself"}
        self._layers: list[str] = []

    # ---- Description

    def _is_tensor(self, node: str) -> bool:
        return node in self._nodes and isinstance(self._nodes[node].meta.get("val"), self._torch.Tensor)

    def _value(self, name: str, node: str) -> dict[str, Any]:
        tensor = self._nodes[node].meta.get("val")
        if not isinstance(tensor, self._torch.Tensor):
            return {"name": name, "type": "unknown", "shape": None}
        sizes = [size if isinstance(size, int) else -1 for size in tensor.shape]
        return {"name": name, "type": described(str(tensor.dtype).removeprefix("torch.")), "shape": sizes if len(sizes) <= 8 else None}

    def _describe_layers(self) -> list[dict[str, Any]]:
        modules = self._module_outputs()
        ending: dict[str, list[str]] = {}
        for path, outputs in modules.items():
            ending.setdefault(outputs[-1], []).append(path)
        layers: list[dict[str, Any]] = []
        for name, node in self._nodes.items():
            if node.op == "call_function" and self._is_tensor(name) and modules.get(name) != [name]:
                shown = f"{name}.op" if name in modules else name
                layers.append(self._layer(shown, name, _operation(node), node))
            # The innermost module ends first.
            for path in sorted(ending.get(name, []), key=lambda path: -path.count(".")):
                for number, output in enumerate(modules[path]):
                    shown = path if len(modules[path]) == 1 else f"{path}/{number}"
                    layers.append(self._layer(shown, output, self._module_type(path, output), self._nodes[output]))
        return layers

    def _layer(self, name: str, output: str, operation: str, node: Any) -> dict[str, Any]:
        self._sources[name] = output
        read = node.all_input_nodes
        if getattr(node.target, "__name__", "") == "getitem":  # one of several outputs
            read = read[0].all_input_nodes
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        parameters = [each for each in read if each.op == "get_attr" and self._is_tensor(each.name)]
        return {**self._value(name, output), "node": node.name, "op": operation, "scope": str(stack[-1][0]) if stack else "",
                "inputs": [each.name for each in read if each not in parameters and self._is_tensor(each.name)],
                "parameters": sum(each.meta["val"].numel() for each in parameters)}

    def _module_outputs(self) -> dict[str, list[str]]:
        """The nodes that give the outputs of each module, as the program's own modules have them."""
        try:
            modules = dict(self._torch.export.unflatten(self._program).named_modules())
        except Exception as error:  # a program whose modules cannot be restored still has its operations
            print(f"the modules of '{self._path}' are not listed: {first_line(error)}")
            return {}
        found: dict[str, list[str]] = {}
        for path, module in modules.items():
            if not path or not hasattr(module, "graph"):
                continue
            names: list[str] = []
            for output in module.graph.find_nodes(op="output"):  # none: it only holds other modules
                self._torch.fx.map_arg(output.args, lambda node: names.append(node.name))
            if names and all(self._is_tensor(name) for name in names):
                found[path] = names
        return found

    def _module_type(self, path: str, output: str) -> str:
        for where, kind in (self._nodes[output].meta.get("nn_module_stack") or {}).values():
            if where == re.sub(r"@\d+$", "", path):
                return (kind if isinstance(kind, str) else kind.__qualname__).rsplit(".", 1)[-1]
        return "Module"

    # ---- Running

    def select(self, layers: list[str]) -> None:
        self._layers = layers

    def run(self, inputs: dict[str, Any]) -> tuple[list[Any], list[tuple[str, Any]]]:
        torch = self._torch
        wanted = {self._sources[name] for name in self._layers} | set(self._outputs)
        found: dict[str, Any] = {}

        class Taking(torch.fx.Interpreter):
            def run_node(self, node: Any) -> Any:
                value = super().run_node(node)
                if node.name in wanted and isinstance(value, torch.Tensor):
                    found[node.name] = _tensor(torch, value)  # a copy: a later operation may work in place
                return value

        fed = [_from_array(torch, inputs[str(node.target)]) if str(node.target) in self._inputs else None  # the program has constants
               for node in self._module.graph.find_nodes(op="placeholder")]
        with torch.no_grad():
            Taking(self._module).run(*fed)
        gone = Missing("the program did not compute it")
        return ([found.get(self._sources[name], gone) for name in self._layers],
                [(name, found.get(name, gone)) for name in self._outputs])

    def times(self) -> list[dict[str, Any]]:
        raise WorkerError("unsupported", "torch counts no times of an exported program's operations; export it to ONNX to profile it")


def _operation(node: Any) -> str:
    """aten.linear.default is "linear"; getitem is one of several outputs of the operation before it."""
    target = node.target
    if getattr(target, "__name__", "") == "getitem":
        return _operation(node.args[0])
    return getattr(target, "_opname", None) or getattr(target, "__name__", str(target))


def _tensor(torch: Any, value: Any) -> Any:
    value = value.detach().cpu()
    if value.is_sparse or value.is_quantized:
        value = value.to_dense() if value.is_sparse else value.int_repr()
    name = str(value.dtype).removeprefix("torch.")
    if name in _BITS:
        short, bits = _BITS[name]
        return Bits(short, value.contiguous().view(getattr(torch, bits)).numpy().copy())
    return value.numpy().copy()


def _from_array(torch: Any, value: Any) -> Any:
    if isinstance(value, Bits):
        name = next(name for name, (short, _) in _BITS.items() if short == value.dtype)
        return torch.from_numpy(value.array.copy()).view(getattr(torch, name))
    return torch.from_numpy(value.copy())


def open_model(request: dict[str, Any]) -> ExportedModel:
    if request["path"].endswith((".pt", ".pth")):
        raise WorkerError("unsupported", f"'{request['path']}' is not an exported program; write one with torch.export.save, as a .pt2 "
                          "file, or use sonde.inspect(module, x) in Python")
    return ExportedModel(request)
