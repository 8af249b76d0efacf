"""Gradients of a watched module's outputs, and what is read when an optimizer steps."""
from typing import Any

from . import _torch_tensors
from ._torch_names import leaves
from ._torch_outputs import Entry
from ._torch_tensors import local


class Gradients:
    """The hooks of a Watch in the backward pass and around the step of an optimizer."""

    def __init__(self, watch: Any) -> None:
        self._watch = watch

    def tap_gradients(self, entry: Entry, output: Any, step: Any) -> None:
        for place, tensor in leaves(output):
            if not tensor.requires_grad or place in entry.skipped:
                continue
            probe = entry.gradients.get(place)
            if probe is None:
                probe = entry.gradients[place] = self._gradient_probe(entry.name + place)
            if probe is not False and probe.wanted(step):
                tensor.register_hook(lambda gradient, probe=probe: self._watch._guarded(self._take_gradient, probe, gradient))

    def _gradient_probe(self, name: str) -> Any:
        """False for a container that returns what a module inside of it has returned. Its inputs are known when the forward
        pass is over, so the probe is made then."""
        return _Later(self._watch, name) if name in self._watch._outputs.made or not self._watch._activations else False

    def _take_gradient(self, probe: Any, gradient: Any) -> None:
        step = self._watch._steps.step
        if step is None or gradient is None:
            return
        found = probe.get()
        plain = local(gradient)
        if plain is None or _torch_tensors.on_device(plain):
            self._watch._outputs.record_elsewhere(step, found, gradient)
        else:
            found.record(step, plain, hold=self._watch._hold)

    def before_optimizer(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        watch, steps = self._watch, self._watch._steps
        if not watch.active or watch.recorder.closed:
            return None
        parameters = watch._parameters.of(optimizer)
        if parameters is None:
            return None
        closure = kwargs.get("closure") or (args[1] if len(args) > 1 else None)
        with steps.lock:
            if id(optimizer) in steps.stepped or closure is not None:
                steps.end_stepped()
            if steps.step is None:
                steps.end_evaluation()
                steps.step = watch.recorder.step(steps.number)
        if watch._weights:
            watch._guarded(watch._parameters.record, steps.step, "weight", parameters)
        if watch._updates:
            watch._guarded(watch._parameters.keep, steps.step, optimizer, parameters)
        if not watch._parameter_gradients:
            return None
        if not callable(closure):
            watch._guarded(watch._parameters.record, steps.step, "gradient", parameters)
            return None

        def with_gradients(*given: Any, **named: Any) -> Any:
            loss = closure(*given, **named)
            watch._guarded(watch._parameters.record, steps.step, "gradient", parameters)
            return loss

        if kwargs.get("closure") is not None:
            return args, {**kwargs, "closure": with_gradients}
        return (args[0], with_gradients, *args[2:]), kwargs

    def after_optimizer(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        watch, steps = self._watch, self._watch._steps
        if not watch.active or watch.recorder.closed or watch._parameters.of(optimizer) is None:
            return
        watch._guarded(watch._parameters.record_updates, steps.step, optimizer)
        with steps.lock:
            if steps.step is not None:
                steps.stepped.add(id(optimizer))
                steps.end_ambient()
        steps.compiled_returned()


class _Later:
    """The probe of an output's gradient, made with the first gradient: then it is known who used the output."""

    def __init__(self, watch: Any, name: str) -> None:
        self._watch, self._name = watch, name
        self._probe: Any = None

    def get(self) -> Any:
        if self._probe is None:
            users = [f"gradient/{each}" for each, inputs in self._watch._outputs.made.items()
                     if f"activation/{self._name}" in inputs]
            self._probe = self._watch._probe(self._name, "gradient", users)
            self._watch._taps.tap(self._probe)  # a pass in which only gradients are wanted has hooks too
        return self._probe

    def wanted(self, step: Any) -> bool:
        return self._probe is None or self._probe.wanted(step)
