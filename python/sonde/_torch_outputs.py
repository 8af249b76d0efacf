"""The outputs of a watched module: their names, what they are computed from, and how each is recorded."""
from typing import Any

import torch

from . import _torch_device, _torch_tensors
from ._torch_names import Origins, leaves, unique
from ._torch_tensors import argument_names, argument_sources, local, named_arguments, own_weights

_LEARNING_PASSES = 3


class Entry:
    """A watched module."""

    def __init__(self, index: int, path: str, module: Any) -> None:
        self.index = index
        self.path = path
        self.name = path or type(module).__name__
        self.container = any(True for _ in module.children())
        self.handle: Any = None
        self.taps: dict[str, Any] = {}  # by the place in the output
        self.gradients: dict[str, Any] = {}
        self.skipped: set[str] = set()  # places of tensors that another module has returned
        self.ran = False


class Outputs:
    """What the modules of a Watch return, and what it is called with."""

    def __init__(self, watch: Any) -> None:
        self._watch = watch
        self._signatures: dict[int, list[str]] = {}
        self._inputs: dict[str, Any] = {}  # taps of what the module is called with
        self.origins: Origins | None = None
        self._learnings = 0
        self.learned: list[Entry] = []  # modules whose output is known to be one tensor, since the pass in progress
        self.made: dict[str, list[str]] = {}  # inputs of each output, by name
        self._pending: list[tuple[Any, Any, Any]] = []

    def begin_learning(self) -> None:
        """The first passes show what tensors are computed from; modules that run later are recorded without that."""
        if self._learnings < _LEARNING_PASSES and self.origins is None and not all(entry.ran for entry in self._watch._entries):
            self._learnings += 1
            self.origins = Origins()

    def take(self, entry: Entry, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        if self._watch._taps.in_backward():  # a checkpoint that is computed again: gradients pass through this one
            if self._watch._steps.step is not None and not self._watch._steps.stepped:
                self._watch._gradients.tap_gradients(entry, output, self._watch._steps.step)
            return
        step = self._watch._taps.step
        if step is None:
            return self._watch._steps.in_a_pass_of_its_own(lambda found: self._take_in(found, entry, module, args, kwargs, output), module,
                                              entry)
        self._take_in(step, entry, module, args, kwargs, output)

    def _take_in(self, step: Any, entry: Entry, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        found = leaves(output)
        if not entry.ran or any(place not in entry.taps and place not in entry.skipped for place, _ in found):
            self._learn(entry, module, args, kwargs, found)
        if self._watch._activations:
            for place, tensor in found:
                tap = entry.taps.get(place)
                if tap is not None and not tap[0].record(tensor):
                    self.record_elsewhere(step, *tap[1:], tensor)
        if self._watch._output_gradients and self._watch._steps.step is step:
            self._watch._gradients.tap_gradients(entry, output, step)

    def _learn(self, entry: Entry, module: Any, args: Any, kwargs: Any, found: list[tuple[str, Any]]) -> None:
        """The first output of a module: its names, and what they are computed from."""
        origins, inputs = self.origins, None
        for place, tensor in found:
            if place in entry.taps:
                continue
            name = entry.name + place
            known = origins.exact(tensor) if origins is not None and entry.container else None
            if known is not None and place:
                entry.skipped.add(place)
                continue
            if known is not None:  # a container that returns what a module inside of it has returned
                self._add_tap(entry, place, name, [known])
                continue
            if inputs is None:
                inputs = unique(argument_sources(origins, entry.name, args, kwargs) + (self._made_below(entry) if entry.container else [])
                                + own_weights(entry.path, module))
            self.made[name] = inputs
            self._add_tap(entry, place, name, inputs)
            if origins is not None:
                origins.add(tensor, f"activation/{name}")
        entry.ran = True
        if len(found) == 1 and "" in entry.taps:
            self.learned.append(entry)

    def _add_tap(self, entry: Entry, place: str, name: str, inputs: list[str]) -> None:
        probe = self._watch._probe(name, "activation", unique(inputs))
        entry.taps[place] = (self._watch._taps.tap(probe, entry.container), probe)

    def _made_below(self, entry: Entry) -> list[str]:
        """The outputs of the modules inside a container that no other one inside of it contains."""
        prefix = f"{entry.path}." if entry.path else ""
        below = {name for name in self.made if name.startswith(prefix) and name != entry.name}

        def contained(name: str) -> bool:
            above = name.rpartition(".")[0]
            while len(above) > len(prefix):
                if above in below:
                    return True
                above = above.rpartition(".")[0]
            return False

        return [f"activation/{name}" for name in self.made if name in below and not contained(name)]

    def record_inputs(self, called: Any, args: Any, kwargs: Any) -> None:
        """What the module is called with, under the names that its forward method gives them."""
        step = self._watch._taps.step
        if id(called) not in self._signatures:
            self._signatures[id(called)] = argument_names(called)
        for name, tensor in named_arguments(self._signatures[id(called)], args, kwargs):
            if name not in self._inputs:
                probe = self._watch._probe(name, "input", [])
                self._inputs[name] = (self._watch._taps.tap(probe), probe)
            tap, probe = self._inputs[name]
            if self.origins is not None:
                self.origins.add(tensor, f"input/{name}")
            if not tap.record(tensor):
                self.record_elsewhere(step, probe, tensor)
        if self.origins is not None:
            self.origins.latest = ""

    def record_elsewhere(self, step: Any, probe: Any, tensor: Any, hold: bool = False) -> None:
        """Tensors that the taps cannot look into: on a device, distributed, of other types."""
        if not probe.wanted(step):
            return
        plain = local(tensor)
        if plain is None or plain.device.type == "meta" or plain.layout is not torch.strided:
            self._watch._note(f"'{probe.name}' is not recorded: it is a {type(tensor).__name__} without elements in memory")
            return
        if plain is not tensor and hasattr(tensor, "to_local"):
            self._watch._note("distributed tensors: this process records its own shards of them")
        if _torch_tensors.on_device(plain):
            needs = set(probe.needs(step))
            if needs <= {"stats", "histogram"} and plain.dtype in _torch_device.DTYPES:
                self._pending.append((step, probe, _torch_device.Pending(plain, "histogram" in needs)))
                return
            plain, hold = plain.detach().cpu(), True
        probe.record(step, plain, hold=hold)

    def finish_pending(self) -> None:
        if self._pending:
            pending, self._pending = self._pending, []
            for (step, probe, _), found in zip(pending, _torch_device.finish([each for _, _, each in pending])):
                probe.record(step, found)

    def drain(self, step: Any) -> None:
        """What compiled code has put on the list."""
        outputs = self._watch._switch.outputs
        if not outputs:
            return
        taken = outputs[:]
        outputs.clear()
        self._watch._guarded(self._take_compiled, step, taken)

    def _take_compiled(self, step: Any, taken: list[Any]) -> None:
        batch, latest = [], None
        for index, place, tensor in taken:
            entry = self._watch._entries[index]
            if place not in entry.taps:
                # Compiled code does not show what a module was called with: the order is known, and no more.
                name = entry.name + place
                own = own_weights(entry.path, self._watch._matched[entry.path])
                inputs = ([latest] if latest else []) + [f"the arguments of {entry.name}, which is compiled"] + own
                self.made[name] = inputs
                self._add_tap(entry, place, name, inputs)
                entry.ran = True
            latest = f"activation/{entry.name}{place}"
            batch.append((entry.taps[place][1], tensor))
        host = [(probe, tensor) for probe, tensor in batch if type(tensor) is torch.Tensor and not _torch_tensors.on_device(tensor)]
        self._watch.recorder.record(step, host, hold=True)
        for probe, tensor in batch:
            if type(tensor) is not torch.Tensor or _torch_tensors.on_device(tensor):
                self.record_elsewhere(step, probe, tensor, hold=True)
        with self._watch._steps.lock:
            self.finish_pending()
