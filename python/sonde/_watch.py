"""sonde.watch: every layer of a model, recorded with one line."""
import os
import sys
import time
from typing import Any, Callable, Sequence

from ._recorder import Recorder


def watch(module: Any, recorder: Recorder | None = None, *, layers: str | Sequence[Any] | Callable[[str, Any], bool] | None = None,
          every: int = 1, record: str | Sequence[str] = ("stats", "histogram"), activations: bool = True,
          gradients: bool | str = False, weights: bool = False, updates: bool = False, inference: bool = False,
          policy: Any = None, hold: bool = False) -> Any:
    """Record what the modules of a torch model compute, from now until `remove()`.

    `layers` selects modules by their paths: a name or a regular expression over the whole path, a list of them (or of
    modules), or a function of path and module; without it every module is watched. `gradients` are those of outputs and
    parameters, or only of one of them with "outputs" or "parameters"; `weights` are read before `optimizer.step`,
    `updates` are what it changes. `every` and `record` apply where no policy has a [[watch]].

    A step ends with `optimizer.step`; several forward passes before it are its micro-batches. Modules in evaluation
    mode are recorded under eval/; with `inference` each call of the module is a pass with a number of its own.

    With `hold` outputs are shared instead of copied: nothing may write to them until the recorder has read them.

    Without a recorder it opens one in runs/<time>-<host>.

    >>> import torch                                                        # doctest: +SKIP
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU())  # doctest: +SKIP
    >>> with sonde.watch(model, rec, gradients=True) as watched:            # doctest: +SKIP
    ...     train(model)
    """
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(module, torch.nn.Module):
        kind = type(module)
        if any(base.__module__.partition(".")[0] == "keras" for base in kind.__mro__):
            raise TypeError("module must be a torch module; for a Keras model use the callback sonde.keras.Recorder")
        raise TypeError(f"module must be a torch module, not {kind.__name__}")
    if recorder is not None and not isinstance(recorder, _recording()):
        raise TypeError(f"recorder must be a sonde.Recorder, not {type(recorder).__name__}")
    if recorder is not None and recorder.closed:
        raise ValueError("the recorder is closed")
    from ._torch_watch import Watch
    return Watch(module, recorder, layers=layers, every=every, record=record, activations=activations, gradients=gradients,
                 weights=weights, updates=updates, inference=inference, policy=policy, hold=hold)


def _recording() -> type:
    from . import _core
    return _core.Recorder


def default_directory(rank: int | None = None, name: str | None = None) -> str:
    """runs/<time>-<host>, and below it rank-<n> in a job of several processes.

    >>> default_directory(3, "first")
    'runs/first/rank-0003'
    """
    run = os.path.join("runs", name or default_name())
    return run if rank is None else os.path.join(run, f"rank-{rank:04d}")


def default_name() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{os.uname().nodename}"
