"""Weights, gradients and updates of a watched module, read when an optimizer steps."""
import weakref
from typing import Any

import torch

from . import _torch_tensors
from ._torch_names import is_wrapper, plain_path
from ._torch_tensors import joined, local

Named = list[tuple[str, Any]]


class Parameters:
    """The parameters of a Watch, by optimizer."""

    def __init__(self, watch: Any) -> None:
        self._watch = watch
        self._known: "weakref.WeakKeyDictionary[Any, tuple[list[int], Named | None]]" = weakref.WeakKeyDictionary()
        self._before: list[tuple[Any, Any, Any, Any]] = []  # of updates: optimizer, probe, parameter, its value

    def of(self, optimizer: Any) -> Named | None:
        """Those that the optimizer updates, of the modules that are selected; None if it has none of the module at all."""
        held = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        ids = [id(parameter) for parameter in held]
        known = self._known.get(optimizer)
        if known is not None and known[0] == ids:
            return known[1]
        watch, names = self._watch, {}
        for path, module in watch.module.named_modules():
            if not is_wrapper(module) or type(module).__name__ == "FullyShardedDataParallel":
                plain = plain_path(path, watch.module)
                for name, parameter in module.named_parameters(recurse=False):
                    names.setdefault(id(parameter), (joined(plain, name), plain in watch._matched))
        found = [(names[id(parameter)], parameter) for parameter in held if id(parameter) in names]
        result = [(name, parameter) for (name, selected), parameter in found if selected] if found else None
        self._known[optimizer] = (ids, result)
        return result

    def record(self, step: Any, kind: str, parameters: Named) -> None:
        """Their values, or their gradients."""
        watch, batch = self._watch, []
        for name, parameter in parameters:
            tensor = parameter.grad if kind == "gradient" else parameter
            if tensor is not None:
                probe = watch._probe(name, kind, [] if kind == "weight" else self._inputs(name))
                self._add(batch, step, probe, tensor)
        if kind == "weight":
            for path, module in watch._matched.items():  # running statistics: modules compute with them as with weights
                for name, buffer in module.named_buffers(recurse=False):
                    if buffer is not None and buffer.is_floating_point():
                        self._add(batch, step, watch._probe(joined(path, name), "weight", []), buffer)
        watch.recorder.record(step, batch)
        watch._outputs.finish_pending()

    def _add(self, batch: list[tuple[Any, Any]], step: Any, probe: Any, tensor: Any, hold: bool = False) -> None:
        plain = local(tensor)
        if plain is None or plain is not tensor or _torch_tensors.on_device(plain) or plain.layout is not torch.strided:
            self._watch._outputs.record_elsewhere(step, probe, tensor, hold)
        else:
            batch.append((probe, plain))

    def _inputs(self, name: str) -> list[str]:
        """What the gradient of a parameter is computed from: that of its module's output, and the module's inputs."""
        made = self._watch._outputs.made
        module = name.rpartition(".")[0] or type(self._watch.module).__name__
        outputs = [f"gradient/{each}" for each in made if each == module or each.startswith(f"{module}/")]
        return outputs + made.get(module, []) if outputs else []

    def keep(self, step: Any, optimizer: Any, parameters: Named) -> None:
        """Values before the step of the optimizer, where updates are wanted."""
        for name, parameter in parameters:
            probe = self._watch._probe(name, "update", [f"gradient/{name}"])
            plain = local(parameter)
            if plain is not None and probe.wanted(step):
                self._before.append((optimizer, probe, parameter, plain.detach().clone()))

    def record_updates(self, step: Any, optimizer: Any) -> None:
        """What the optimizer has changed."""
        mine = [each for each in self._before if each[0] is optimizer]
        self._before = [each for each in self._before if each[0] is not optimizer]
        batch: list[tuple[Any, Any]] = []
        for _, probe, parameter, before in mine:
            self._add(batch, step, probe, torch.sub(local(parameter).detach(), before, out=before), hold=True)
        self._watch.recorder.record(step, batch, hold=True)
        self._watch._outputs.finish_pending()
