"""The outputs of the modules of a live torch model."""
from collections.abc import Mapping
from typing import Any, Iterator

import torch

from ._kept import typed
from ._layer_names import Names
from ._torch_names import is_wrapper, leaves, plain_path, runs

_BITS = {torch.bfloat16: (torch.uint16, "bf16"), torch.float8_e4m3fn: (torch.uint8, "f8_e4m3"),
         torch.float8_e5m2: (torch.uint8, "f8_e5m2")}


def inspect_module(module: Any, x: Any, layers: Any) -> "tuple[dict[str, Any], str]":
    """The outputs by the paths of the modules, in the order in which they end, and the name of the runtime."""
    module = getattr(module, "_orig_mod", module)  # compiled code calls no hooks of inner modules
    names = Names(layers)
    modules = dict(_modules(module))
    names.restrict(list(modules))
    paths: dict[str, str] = {}  # of every output in the order of the calls, and of the module that gave it
    calls: dict[str, int] = {}
    arrays: dict[str, Any] = {}

    def wanted(name: str) -> bool:
        return names.wants(name) or names.wants(paths[name])

    def hook(path: str) -> Any:
        def saw(_: Any, __: Any, output: Any) -> None:
            number = calls.get(path, 0)
            calls[path] = number + 1
            for place, tensor in leaves(output, f"{path}#{number}" if number else path):
                paths[place] = path
                if names.indices or wanted(place):  # the place of an index is known only at the end
                    arrays[place] = to_numpy(tensor)
        return saw

    handles = [each.register_forward_hook(hook(path)) for path, each in modules.items()]
    training = [each for each in module.modules() if each.training]
    try:
        module.eval()
        with torch.no_grad():
            _call(module, x)
    finally:
        for each in training:
            each.training = True
        for handle in handles:
            handle.remove()
    order = list(paths)
    names.check(order, type(module).__name__, also=set(paths.values()))
    indexed = {order[index] for index in names.indices}
    arrays = {name: array for name, array in arrays.items() if name in indexed or wanted(name)}
    return arrays, f"torch {torch.__version__}, {_precision(module)}"


def _modules(module: Any) -> "Iterator[tuple[str, Any]]":
    for path, each in module.named_modules():
        if runs(each) and not is_wrapper(each):
            yield plain_path(path, module) or type(each).__name__, each


def _precision(module: Any) -> str:
    types = {str(each.dtype).removeprefix("torch.") for each in module.parameters()} or {"float32"}
    short = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}
    return " and ".join(sorted(short.get(name, name) for name in types))


def _call(module: Any, x: Any) -> None:
    device = next((each.device for each in module.parameters()), None)

    def given(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value if device is None else value.to(device)
        if hasattr(value, "__array__"):
            import numpy
            return given(torch.from_numpy(numpy.ascontiguousarray(value)))
        return value

    if isinstance(x, Mapping):
        module(**{name: given(value) for name, value in x.items()})
    elif isinstance(x, (list, tuple)):
        module(*[given(value) for value in x])
    else:
        module(given(x))


def to_numpy(tensor: Any) -> Any:
    """A copy: what the module gave may be overwritten later."""
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_quantized:
        tensor = tensor.int_repr()
    tensor = tensor.cpu().resolve_conj().resolve_neg()
    if tensor.dtype in _BITS:
        bits, name = _BITS[tensor.dtype]
        return typed(tensor.contiguous().view(bits).numpy().copy(), name)
    return tensor.numpy().copy()
