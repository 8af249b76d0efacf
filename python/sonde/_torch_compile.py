"""sonde.watch and torch.compile: hooks are compiled with the model, so they may only append to a list; the list is emptied
when the compiled code returns."""
import functools
import sys
import warnings
import weakref
from typing import Any

import torch

from . import _core
from ._errors import RecordingWarning

_watches: "weakref.WeakSet[Any]" = weakref.WeakSet()
_torch_compile: Any = None
_replicate: Any = None


def _optimized_module() -> Any:
    frames = sys.modules.get("torch._dynamo.eval_frame")
    return frames.OptimizedModule if frames is not None else ()


def _compiled_before() -> bool:
    """Whether the compiler has compiled anything in this process."""
    frames = sys.modules.get("torch._dynamo.utils")
    return frames is not None and bool(frames.counters.get("stats"))


def reset() -> None:
    """Code that was compiled before has no hooks in it, and the compiler does not notice new ones."""
    if _compiled_before():
        torch._dynamo.reset()
        warnings.warn("torch.compile had compiled code before sonde.watch, and would ignore its hooks: the compiler was reset, "
                      "and compiles again at the next call", RecordingWarning, stacklevel=5)


def attach(watch: Any, module: Any) -> None:
    """From now on the watch learns when compiled code of this module returns, also if it is compiled later."""
    for each in module.modules():
        if isinstance(each, _optimized_module()) or each._compiled_call_impl is not None and not _is_ours(each):
            watch._make_compilable()
        if each is not module and isinstance(each, _optimized_module()):
            watch._handles.append(each.register_forward_hook(_returned(watch), always_call=True))
        if each._compiled_call_impl is not None and not _is_ours(each):
            _wrap_call(watch, each)
    _watches.add(watch)
    _patch()


def _returned(watch: Any) -> Any:
    compiling = torch.compiler.is_compiling

    def hook(module: Any, args: Any, output: Any) -> None:
        if not compiling():
            watch._steps.compiled_returned()

    return hook


def _is_ours(module: Any) -> bool:
    return isinstance(module._compiled_call_impl, _core._Call)


def _wrap_call(watch: Any, module: Any) -> None:
    compiled = module._compiled_call_impl

    @functools.wraps(compiled)
    def call(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling() or not watch.active:
            return compiled(*args, **kwargs)
        return watch._steps.around(module, compiled, args, kwargs)

    module._compiled_call_impl = call
    watch._undo.append(lambda: setattr(module, "_compiled_call_impl", compiled))


def detach(watch: Any) -> None:
    _watches.discard(watch)
    if not _watches:
        _unpatch()


def _watch_of(module: Any) -> list[Any]:
    return [watch for watch in _watches if watch._knows(module)]


def _compile(model: Any = None, *args: Any, **kwargs: Any) -> Any:
    """torch.compile while something is watched."""
    if model is None:
        return lambda given: _compile(given, *args, **kwargs)
    for watch in _watches:
        watch._make_compilable()
    compiled = _torch_compile(model, *args, **kwargs)
    if isinstance(model, torch.nn.Module):
        for watch in _watch_of(model):
            if isinstance(compiled, torch.nn.Module) and compiled is not model:
                watch._hook_root(compiled)
        return compiled
    owner = getattr(model, "__self__", None)
    watches = _watch_of(owner) if isinstance(owner, torch.nn.Module) else list(_watches)
    if not callable(compiled):
        return compiled

    @functools.wraps(compiled)
    def call(*given: Any, **named: Any) -> Any:
        if torch.compiler.is_compiling():
            return compiled(*given, **named)
        if isinstance(owner, torch.nn.Module):  # Module.compile()
            for watch in watches:
                if watch.active:
                    return watch._steps.around(owner, compiled, given, named)
        try:
            return compiled(*given, **named)
        finally:
            for watch in watches:
                watch._steps.compiled_returned()

    return call


def _replicated(module: Any) -> Any:
    """A replica of DataParallel has its own call."""
    replica = _replicate(module)
    if _is_ours(replica):
        del replica._compiled_call_impl
    return replica


def _patch() -> None:
    global _torch_compile, _replicate
    if _torch_compile is None:
        _replicate = torch.nn.Module._replicate_for_data_parallel
        torch.nn.Module._replicate_for_data_parallel = _replicated
        _torch_compile = torch.compile
        functools.update_wrapper(_compile, _torch_compile)
        torch.compile = _compile


def _unpatch() -> None:
    global _torch_compile
    if _torch_compile is not None and torch.compile is _compile:
        torch.compile = _torch_compile
        torch.nn.Module._replicate_for_data_parallel = _replicate
        _torch_compile = None
