"""What sonde.watch has to know about tensors and modules of torch beyond their values."""
import inspect
import os
import sys
from typing import Any, Iterator

import torch

from ._torch_names import is_wrapper, leaves
from ._watch import default_directory, default_name


def local(tensor: Any) -> Any:
    """What this process has of a tensor, as a plain one; None for one without elements."""
    if type(tensor) is torch.Tensor or type(tensor) is torch.nn.Parameter:
        return tensor
    if hasattr(tensor, "to_local"):  # a DTensor
        return local(tensor.detach().to_local())
    if type(tensor).__torch_dispatch__ is torch.Tensor.__torch_dispatch__:
        return tensor.detach().as_subclass(torch.Tensor)
    return None


def on_device(tensor: Any) -> bool:
    return tensor.device.type not in ("cpu", "meta")


def joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def argument_names(module: Any) -> list[str]:
    while is_wrapper(module):
        module = getattr(module, "_orig_mod", None) or module.module
    try:
        return [name for name, parameter in inspect.signature(module.forward).parameters.items()
                if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        return []


def named_arguments(names: list[str], args: Any, kwargs: Any) -> Iterator[tuple[str, Any]]:
    for number, value in enumerate(args):
        for place, tensor in leaves(value):
            yield (names[number] if number < len(names) else f"argument {number}") + place, tensor
    for name, value in kwargs.items():
        for place, tensor in leaves(value):
            yield name + place, tensor


def argument_sources(origins: Any, name: str, args: Any, kwargs: Any) -> list[str]:
    """The names of the tensors that a module was called with; one that nobody knows is named by its place."""
    found: list[str] = []
    for place, tensor in leaves(args) + leaves(kwargs):
        known = origins.exact(tensor) if origins is not None else None
        if known is not None:
            found.append(known)
        elif tensor.is_floating_point():  # others are indices and masks
            found += origins.before(tensor) if origins is not None else []
            found.append(f"argument {place[1:]} of {name}")
    return found


def own_weights(path: str, module: Any) -> list[str]:
    """The parameters and running statistics that a module itself has, and computes with."""
    return [f"weight/{joined(path, name)}" for name, tensor in (*module.named_parameters(recurse=False), *module.named_buffers(recurse=False))
            if tensor is not None and tensor.is_floating_point()]


def run_directory() -> str:
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        rank = os.environ.get("RANK")
        return default_directory(int(rank) if rank is not None and int(os.environ.get("WORLD_SIZE", "1")) > 1 else None)
    if distributed.get_world_size() == 1:
        return default_directory()
    # The first rank that comes here names the run. No rank waits for another one.
    store = distributed.distributed_c10d._get_default_store()
    name = store.compare_set("sonde/run", "", default_name())
    return default_directory(distributed.get_rank(), name.decode())
