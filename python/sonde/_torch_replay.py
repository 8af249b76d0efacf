"""Capture.replay: the module once more on the input that a capture holds, and what differs from what it holds."""
from dataclasses import dataclass
from typing import Any

import torch

from ._torch_names import is_wrapper, leaves, plain_path, runs

_SMALL_FLOATS = {"bfloat16": torch.bfloat16, "float8_e4m3fn": torch.float8_e4m3fn, "float8_e5m2": torch.float8_e5m2}


def to_torch(array: Any) -> Any:
    """A copy of a NumPy array, also of the types of ml_dtypes."""
    small = _SMALL_FLOATS.get(array.dtype.name)
    if small is None:
        return torch.from_numpy(array.copy())
    return torch.from_numpy(array.view(f"uint{array.itemsize * 8}").copy()).view(small)


@dataclass(frozen=True)
class Difference:
    """A tensor of the capture beside the replayed one. Status: "same", "different", "shape" or "missing"."""

    name: str
    status: str
    max_abs: float = 0.0
    max_rel: float = 0.0


@dataclass(frozen=True)
class Replay:
    """What `Capture.replay` found, in the order of execution."""

    step: int
    tensors: list[Difference]

    @property
    def same(self) -> bool:
        """Whether every tensor came out as it was captured."""
        return all(tensor.status == "same" for tensor in self.tensors)

    @property
    def first(self) -> Difference | None:
        """The first tensor that did not."""
        return next((tensor for tensor in self.tensors if tensor.status != "same"), None)

    def __str__(self) -> str:
        if self.same:
            return f"step {self.step}: all {len(self.tensors)} tensors are the same"
        lines = [f"step {self.step}: {sum(each.status != 'same' for each in self.tensors)} of {len(self.tensors)} tensors differ"]
        for each in self.tensors:
            if each.status != "same":
                numbers = f"  max |a - b| {each.max_abs:.3g}, relative {each.max_rel:.3g}" if each.status == "different" else ""
                lines.append(f"  {each.name}  {each.status}{numbers}")
        return "\n".join(lines)


def replay(tensors: dict[str, Any], step: int, module: Any, rtol: float, atol: float, weights: bool) -> Replay:
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"module must be a torch module, not {type(module).__name__}")
    found = []
    for occurrence in range(1 + max((_split(key)[1] for key in tensors), default=0)):
        mine = {_split(key)[0]: tensor for key, tensor in tensors.items() if _split(key)[1] == occurrence}
        args, kwargs = _arguments({key[6:]: tensor for key, tensor in mine.items() if key.startswith("input/")})
        if not args and not kwargs:
            if occurrence == 0:
                raise ValueError(f"step {step} of the capture has no inputs of the module: sonde.watch records them as input/<name>")
            continue
        outputs = _run(module, args, kwargs, tensors if weights else {})
        suffix = f"#{occurrence}" if occurrence else ""
        for key, tensor in mine.items():
            if key.startswith("activation/"):
                found.append(_compare(key + suffix, tensor, outputs.get(key[11:]), rtol, atol))
    return Replay(step, found)


def _split(key: str) -> tuple[str, int]:
    name, mark, number = key.rpartition("#")
    return (name, int(number)) if mark and number.isdigit() else (key, 0)


def _arguments(inputs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """What the module is called with, from names such as "x", "argument 0" and "batch/image"."""
    tree: dict[str, Any] = {}
    for name, tensor in inputs.items():
        *above, last = name.split("/")
        place = tree
        for part in above:
            place = place.setdefault(part, {})
        place[last] = tensor

    def build(node: Any) -> Any:
        if not isinstance(node, dict):
            return node
        built = {key: build(value) for key, value in node.items()}
        return tuple(built[key] for key in sorted(built, key=int)) if all(key.isdigit() for key in built) else built

    values = {name: build(node) for name, node in tree.items()}
    args = [values.pop(name) for name in sorted((each for each in values if each.startswith("argument ")), key=lambda each: int(each[9:]))]
    return args, values


def _run(module: Any, args: list[Any], kwargs: dict[str, Any], captured: dict[str, Any]) -> dict[str, Any]:
    outputs: dict[str, Any] = {}
    handles = []
    for path, each in module.named_modules():
        if is_wrapper(each) or not runs(each):
            continue
        name = plain_path(path, module) or type(each).__name__

        def hook(_: Any, args: Any, output: Any, name: str = name) -> None:
            for place, tensor in leaves(output):
                outputs.setdefault(name + place, tensor.detach().clone())

        handles.append(each.register_forward_hook(hook))
    names = [name for name, _ in [*module.named_parameters(), *module.named_buffers()]]
    state = {name: captured[f"weight/{plain}"] for name in names
             for plain in [".".join(filter(None, [plain_path(name.rpartition(".")[0], module), name.rpartition(".")[2]]))]
             if f"weight/{plain}" in captured}
    try:
        with torch.no_grad():
            torch.func.functional_call(module, state, tuple(args), kwargs)
    finally:
        for handle in handles:
            handle.remove()
    return outputs


def _compare(name: str, captured: Any, replayed: Any, rtol: float, atol: float) -> Difference:
    if replayed is None:
        return Difference(name, "missing")
    if tuple(captured.shape) != tuple(replayed.shape):
        return Difference(name, "shape")
    a, b = captured.double(), replayed.cpu().double()
    if torch.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
        return Difference(name, "same")
    difference = (a - b).abs()
    relative = difference / a.abs().clamp_min(torch.finfo(torch.float64).tiny)
    return Difference(name, "different", difference.nan_to_num(float("inf")).max().item(), relative.nan_to_num(float("inf")).max().item())
