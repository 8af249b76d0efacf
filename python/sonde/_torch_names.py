"""Names of modules and tensors of a torch model, and which tensors each output is computed from."""
import dataclasses
import re
from collections.abc import Mapping
from typing import Any, Iterator

import torch
from torch.multiprocessing.reductions import StorageWeakRef

# What wrappers put in front of the names of the module that they wrap.
_WRAPPERS = re.compile(r"(^|\.)(_orig_mod|module|_fsdp_wrapped_module|_checkpoint_wrapped_module)(?=\.|$)")
_WRAPPER_TYPES = ("OptimizedModule", "DistributedDataParallel", "DataParallel", "FullyShardedDataParallel", "CheckpointWrapper")


def plain_path(path: str, root: Any) -> str:
    """The path without the parts that wrappers add. `module` is one only below a wrapper."""
    parts, module, kept = path.split(".") if path else [], root, []
    for part in parts:
        wrapper = type(module).__name__ in _WRAPPER_TYPES or "_orig_mod" in getattr(module, "_modules", {})
        if not (wrapper and _WRAPPERS.fullmatch(part)):
            kept.append(part)
        module = getattr(module, part)
    return ".".join(kept)


def is_wrapper(module: Any) -> bool:
    return type(module).__name__ in _WRAPPER_TYPES


def runs(module: Any) -> bool:
    """Whether it can be called: ModuleList and ModuleDict cannot."""
    return type(module).forward is not torch.nn.Module.forward


def leaves(value: Any, name: str = "", depth: int = 0) -> list[tuple[str, Any]]:
    """The tensors of an output with the names of their places: tuples, dicts, named tuples, dataclasses."""
    if isinstance(value, torch.Tensor):
        return [(name, value)]
    found: list[tuple[str, Any]] = []
    if depth > 7:
        return found
    for key, item in _items(value):
        found += leaves(item, f"{name}/{key}", depth + 1)
    return found


def _items(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        yield from zip(value._fields, value)
    elif isinstance(value, (tuple, list)):
        yield from enumerate(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))


class Selection:
    """Which modules `layers` means."""

    def __init__(self, layers: Any) -> None:
        self.all = layers is None
        self.function = layers if callable(layers) and not isinstance(layers, torch.nn.Module) else None
        self.modules: list[Any] = []
        self.texts: list[str] = []
        self.used: set[str] = set()
        if self.all or self.function is not None:
            return
        items = [layers] if isinstance(layers, (str, torch.nn.Module)) else layers
        try:
            items = list(items)
        except TypeError:
            raise TypeError("layers must be a str, a list of str or modules, or a function of path and module, not "
                            f"{type(layers).__name__}") from None
        for item in items:
            if isinstance(item, torch.nn.Module):
                self.modules.append(item)
            elif isinstance(item, str):
                self.texts.append(item)
            else:
                raise TypeError(f"layers must hold str or modules, not {type(item).__name__}")
        self.patterns = {}
        for text in self.texts:
            try:
                self.patterns[text] = re.compile(text)
            except re.error as error:
                raise ValueError(f"layers: '{text}' is no regular expression: {error}") from None

    def restrict(self, paths: list[str]) -> None:
        """An exact name wins: it is then no pattern."""
        for text in self.texts:
            if text in paths:
                self.patterns[text] = re.compile(re.escape(text))

    def match(self, path: str, module: Any) -> bool:
        if self.all:
            return True
        if self.function is not None:
            return bool(self.function(path, module))
        if any(module is each for each in self.modules):
            return True
        found = [text for text, pattern in self.patterns.items() if pattern.fullmatch(path)]
        self.used.update(found)
        return bool(found)


class Origins:
    """Where the tensors of one pass came from: by the memory that they share, and by the graph of autograd."""

    def __init__(self) -> None:
        self._storages: dict[int, tuple[Any, str]] = {}
        self._functions: dict[int, tuple[Any, str]] = {}
        self.latest = ""

    def add(self, tensor: Any, name: str) -> None:
        address, storage = _storage(tensor)
        if address:
            self._storages[address] = (StorageWeakRef(storage), name)
        if tensor.grad_fn is not None:
            self._functions[id(tensor.grad_fn)] = (tensor.grad_fn, name)
        self.latest = name

    def exact(self, tensor: Any) -> str | None:
        """The name of the tensor whose memory this one has, or is a view of."""
        address, _ = _storage(tensor)
        known = self._storages.get(address)
        return known[1] if known is not None and not known[0].expired() else None

    def before(self, tensor: Any) -> list[str]:
        """The nearest named tensors that this one was computed from by functions."""
        found: list[str] = []
        waiting, seen = [tensor.grad_fn], 0
        while waiting and seen < 200:
            function = waiting.pop()
            if function is None:
                continue
            seen += 1
            known = self._functions.get(id(function))
            if known is not None:
                found.append(known[1])
            else:
                waiting += [each for each, _ in function.next_functions]
        return found or ([self.latest] if self.latest else [])


def _storage(tensor: Any) -> tuple[int, Any]:
    try:
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage
    except (RuntimeError, NotImplementedError):  # a sparse tensor, or one of a transformation
        return 0, None


def unique(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))
