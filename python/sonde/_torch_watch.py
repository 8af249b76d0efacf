"""Watching a torch module: hooks, steps, weights and gradients. What the hooks do for each tensor is in src/taps.cc."""
import atexit
import contextlib
import threading
import warnings
import weakref
from typing import Any, Iterator

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from . import _core, _torch_compile, _torch_device, _torch_tensors
from ._errors import RecordingWarning
from ._recorder import Recorder
from ._torch_names import Origins, Selection, is_wrapper, leaves, plain_path, runs, unique
from ._torch_parameters import Parameters
from ._torch_tensors import argument_names, argument_sources, local, named_arguments, own_weights, run_directory

_MOST_PASSES = 256  # forward passes without an optimizer step, before each of them counts as a step
_LEARNING_PASSES = 3
_UNUSED_AFTER = 10  # steps, after which modules that never ran are reported
_is_compiling = torch.compiler.is_compiling
_core_taps = _core._Taps


class _Entry:
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


class _Switch:
    """What compiled hooks look at: whether anything is wanted in this pass, and where outputs go."""

    def __init__(self) -> None:
        self.on = True
        self.outputs: list[Any] = []


class Watch:
    """What `sonde.watch` returns: a context manager, which removes the hooks at its end.

    >>> watched = sonde.watch(model, rec)                                   # doctest: +SKIP
    >>> watched.step = 1000                                                 # doctest: +SKIP
    >>> watched.remove()                                                    # doctest: +SKIP
    """

    def __init__(self, module: Any, recorder: Any, *, layers: Any, every: int, record: Any, activations: bool, gradients: Any,
                 weights: bool, updates: bool, inference: bool, policy: Any, hold: bool) -> None:
        if gradients not in (False, True, "outputs", "parameters"):
            raise ValueError(f"gradients must be True, False, 'outputs' or 'parameters', not {gradients!r}")
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ValueError(f"every must be a number of steps, at least 1, not {every!r}")
        self.module = module
        self._activations = bool(activations)
        self._output_gradients = gradients in (True, "outputs")
        self._parameter_gradients = gradients in (True, "parameters")
        self._weights, self._updates, self._inference, self._hold = bool(weights), bool(updates), bool(inference), bool(hold)
        self._options = {"keep": (record,) if isinstance(record, str) else tuple(record), "every": every}
        self._check_options()
        self._entries = self._select(layers)
        self._own_recorder = recorder is None
        if recorder is None:
            recorder = Recorder(run_directory(), policy=policy)
        elif policy is not None:
            recorder.set_policy(policy)
        self.recorder = recorder
        self._taps = _core._Taps(recorder, torch.Tensor, torch.nn.Parameter, torch._C._current_graph_task_id, self._hold)
        self._switch = _Switch()
        self._lock = threading.RLock()
        self._threads = threading.local()
        self._handles: list[Any] = []
        self._undo: list[Any] = []
        self._roots: list[Any] = []
        self._compilable = False
        self._signatures: dict[int, list[str]] = {}
        self._inputs: dict[str, Any] = {}  # taps of what the module is called with
        self._origins: Origins | None = None
        self._learnings = 0
        self._learned: list[_Entry] = []  # modules whose output is known to be one tensor, since the pass in progress
        self._open = 0  # passes that threads are in
        self._made: dict[str, list[str]] = {}  # inputs of each output, by name
        self._pending: list[tuple[Any, Any, Any]] = []
        self._notes: set[str] = set()
        self._parameters = Parameters(self)
        self._probes: dict[tuple[str, str], Any] = {}
        self._number, self._last, self._count, self._passes = 0, 0, 0, 0
        self._step: Any = None
        self._stepped: set[int] = set()  # optimizers that have stepped in this step
        self._ambient: list[Any] = []  # steps that threads are in without a call of the module
        self._evaluation: Any = None  # a pass of modules that are called on their own
        self._seen: set[int] = set()
        self.active = True
        _torch_compile.reset()
        self._install()
        _live.add(self)

    # ---- For the program.

    @property
    def step(self) -> int:
        """The number of the training step in progress, or of the next one. Assign to it to number steps yourself; without
        that, `optimizer.step` counts them, from 0.

        >>> watched.step = 1000                                             # doctest: +SKIP
        """
        with self._lock:
            return self._number + (1 if self._stepped else 0)

    @step.setter
    def step(self, number: int) -> None:
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise TypeError(f"step must be an int, not {type(number).__name__}")
        with self._lock:
            number = number.__index__()
            if self._step is not None and (self._stepped or self._number != number):
                self._end_step()
            self._number = number

    @property
    def layers(self) -> list[str]:
        """The names of the watched modules.

        >>> watched.layers                                                  # doctest: +SKIP
        ['0', '1']
        """
        return [entry.name for entry in self._entries]

    @contextlib.contextmanager
    def evaluation(self) -> Iterator[Any]:
        """Everything that this thread computes inside is one pass of evaluation, at the present step, whatever the mode of
        the modules is.

        >>> with watched.evaluation():                                      # doctest: +SKIP
        ...     validate(model)
        """
        with self._lock:
            self._end_stepped()
            step = self.recorder.evaluation(self._present())
        with self._explicit(step):
            yield step

    @contextlib.contextmanager
    def pass_(self, number: int) -> Iterator[Any]:
        """Everything that this thread computes inside is one pass of inference, such as one request.

        >>> with watched.pass_(request):                                    # doctest: +SKIP
        ...     model(x)
        """
        with self._explicit(self.recorder.pass_(number)) as step:
            yield step

    def remove(self) -> None:
        """End the step in progress and remove all hooks. Closes the recorder that `sonde.watch` has opened.

        >>> watched.remove()                                                # doctest: +SKIP
        """
        with self._lock:
            if not self.active:
                return
            self._finish()
            self.active = False
            for entry in self._entries:
                self._lengthen(entry)
            for handle in self._handles:
                handle.remove()
            for undo in self._undo:
                undo()
            _torch_compile.detach(self)
            _live.discard(self)
            if self._own_recorder:
                self.recorder.close()

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<sonde.Watch of {len(self._entries)} modules into {self.recorder.directory!r}>"

    # ---- Set-up.

    def _select(self, layers: Any) -> list[_Entry]:
        selection = Selection(layers)
        modules: dict[str, Any] = {}
        for path, module in self.module.named_modules():
            if not is_wrapper(module):
                modules.setdefault(plain_path(path, self.module), module)
        selection.restrict(list(modules))
        entries: list[_Entry] = []
        self._matched = {path: module for path, module in modules.items() if selection.match(path, module)}
        for path, module in self._matched.items():
            if runs(module):
                entries.append(_Entry(len(entries), path, module))
        for text in selection.texts:
            if text not in selection.used:
                names = ", ".join(repr(path) for path in list(modules)[1:6])
                raise ValueError(f"layers: '{text}' matches no module; the first ones are {names}")
        if not self._matched:
            raise ValueError("layers selects no module")
        return entries

    def _check_options(self) -> None:
        """Raises now what probes would raise later."""
        if not self._options["keep"]:
            raise ValueError("record must name at least one of 'stats', 'histogram', 'image', 'whole', ...")
        for word in self._options["keep"]:
            if word not in _KEEPS:
                raise ValueError(f"record must be of {', '.join(map(repr, _KEEPS))}, not {word!r}")

    def _install(self) -> None:
        if self._activations or self._output_gradients:
            for entry in self._entries:
                self._add_hook(entry)
        self._hook_root(self.module)
        # Hooks of all optimizers of the process; they do not keep the watch, and with it the module, alive.
        before, after = weakref.WeakMethod(self._before_optimizer), weakref.WeakMethod(self._after_optimizer)
        for handle in (register_optimizer_step_pre_hook(lambda *given: (before() or _nothing)(*given)),
                       register_optimizer_step_post_hook(lambda *given: (after() or _nothing)(*given))):
            self._handles.append(handle)
            weakref.finalize(self, handle.remove)
        _torch_compile.attach(self, self.module)

    def _hook_root(self, module: Any) -> None:
        """A call of this module is a pass."""
        if any(module is root for root in self._roots):
            return
        self._roots.append(module)

        def begin(called: Any, args: Any, kwargs: Any) -> None:
            if not _is_compiling() and called is module:  # copies of the module have the same hook
                self._begin_pass(called, args, kwargs)

        def end(called: Any, args: Any, output: Any) -> None:
            if not _is_compiling() and called is module:
                self._end_pass()

        self._handles += [module.register_forward_pre_hook(begin, with_kwargs=True),
                          module.register_forward_hook(end, always_call=True)]

    def _knows(self, module: Any) -> bool:
        return any(module is each for each in self.module.modules()) or any(module is each for each in self._roots)

    def _hook(self, entry: _Entry) -> Any:
        """The hook of a module until its output is known, and for code that is compiled."""
        switch, outputs, index, copied = self._switch, self._switch.outputs, entry.index, not self._hold
        slow, activations, watched = self._slow, self._activations, self._matched[entry.path]

        def hook(module: Any, args: Any, kwargs: Any, output: Any) -> None:
            if _is_compiling():
                if switch.on and activations:
                    for place, tensor in leaves(output):
                        tensor = tensor.detach()
                        outputs.append((index, place, tensor.clone() if copied else tensor))
            elif (switch.on or not entry.ran) and module is watched:  # copies of the module have the same hook
                slow(entry, module, args, kwargs, output)

        return hook

    def _shorten(self, entry: _Entry, module: Any) -> None:
        """Once it is known that a module returns one tensor, it is called through the binding instead of with a hook."""
        # A call of a root ends its pass, after which nothing can be recorded in it.
        root = any(module is each for each in self._roots)
        if root or self._compilable or self._output_gradients or entry.handle is None or module._compiled_call_impl is not None:
            return
        watch = weakref.ref(self)

        def otherwise(args: Any, kwargs: Any, output: Any) -> None:
            found = watch()
            if found is not None:
                found._slow(entry, module, args, kwargs, output)

        entry.handle.remove()
        entry.handle = None
        module._compiled_call_impl = self._taps.call(entry.taps[""][1], entry.container, module._call_impl, otherwise)

    def _lengthen(self, entry: _Entry) -> None:
        """Back to the module's own call."""
        module = self._matched[entry.path]
        if isinstance(module.__dict__.get("_compiled_call_impl"), _core._Call):
            del module._compiled_call_impl

    def _make_compilable(self) -> None:
        """The compiler sees into Python functions only."""
        if self._compilable:
            return
        self._compilable = True
        if self._output_gradients:
            self._note("gradients of outputs are not recorded in compiled code, those of parameters are: use "
                       "gradients='parameters'")
        for entry in self._entries:
            self._lengthen(entry)
            if entry.handle is None and (self._activations or self._output_gradients):
                self._add_hook(entry)

    def _add_hook(self, entry: _Entry) -> None:
        entry.handle = self._matched[entry.path].register_forward_hook(self._hook(entry), with_kwargs=True)
        self._handles.append(entry.handle)

    def _set_on(self, on: bool) -> None:
        """Whether hooks do anything."""
        self._switch.on = self._taps.on = on

    # ---- Passes.

    def _present(self) -> int:
        """The training step that an evaluation belongs to."""
        return self._number if self._step is not None else self._last

    def _training_step(self) -> Any:
        """The step that a forward pass in training mode belongs to."""
        self._end_stepped()
        self._end_evaluation()
        if self._step is None:
            self._step = self.recorder.step(self._number)
        return self._step

    def _begin_pass(self, called: Any, args: Any, kwargs: Any) -> None:
        if not self.active or self.recorder.closed or self._taps.in_backward():
            self._stack().append(None)
            return
        with self._lock:
            nested = bool(self._stack()) or getattr(self._threads, "explicit", None) is not None
            if nested:
                step, own = self._taps.step, False
            elif self._inference:
                step, own = self.recorder.pass_(self._count), True
                self._count += 1
            elif self.module.training:
                step, own = self._count_pass(), False
            else:
                self._end_stepped()
                self._end_evaluation()
                step, own = self.recorder.evaluation(self._present()), True
            if step is None:
                self._stack().append(None)
                return
            self._stack().append((step, own))
            wanted = self._enter(step)
            if not nested:
                self._begin_learning()
            self._set_on(wanted or self._origins is not None)
        if self._switch.on and self._activations and not nested:
            self._guarded(self._record_inputs, called, args, kwargs)

    def _enter(self, step: Any) -> bool:
        """This thread is in a pass of the step. Returns whether anything is wanted."""
        self._open += 1
        return self._taps.begin(step)

    def _leave(self, step: Any) -> list[str]:
        """Returns the names of lent tensors that were written to."""
        written = self._taps.end(step)
        self._open -= 1
        if self._open == 0:  # no thread is inside of a module, which would lose its hook
            for entry in self._learned:
                self._shorten(entry, self._matched[entry.path])
            self._learned = []
        return written

    def _begin_learning(self) -> None:
        """The first passes show what tensors are computed from; modules that run later are recorded without that."""
        if self._learnings < _LEARNING_PASSES and self._origins is None and not all(entry.ran for entry in self._entries):
            self._learnings += 1
            self._origins = Origins()

    def _count_pass(self) -> Any:
        if self._passes >= _MOST_PASSES and not self._stepped:
            self._note(f"{_MOST_PASSES} forward passes came without an optimizer step: from now on each of them counts as a "
                       "step; assign to .step of what sonde.watch returned to number them yourself")
            if self._step is not None:
                self._end_step()
                self._number += 1
                self._passes = _MOST_PASSES
        step = self._training_step()
        self._passes += 1
        return step

    def _end_pass(self) -> None:
        ended = self._stack().pop() if self._stack() else None
        if ended is None:
            return
        step, own = ended
        self._drain(step)
        with self._lock:
            self._finish_pending()
            written = self._leave(step)
            if not self._stack():
                self._origins = None
                self._set_on(True)
        if own:
            step.end()
        for name in unique(written):
            self._note(f"'{name}' was written to after it was lent: what was recorded of it may be the later values; watch "
                       "without hold=True")

    def _around(self, module: Any, call: Any, args: Any, kwargs: Any) -> Any:
        """A call of compiled code, as a pass."""
        self._begin_pass(module, args, kwargs)
        try:
            return call(*args, **kwargs)
        finally:
            self._end_pass()

    def _compiled_returned(self) -> None:
        if self._switch.outputs and self.active and not _is_compiling():
            step = self._taps.step
            if step is None:
                self._in_a_pass_of_its_own(lambda found: self._drain(found))
            else:
                self._drain(step)

    def _stack(self) -> list[Any]:
        """The calls of the module that this thread is in."""
        if not hasattr(self._threads, "stack"):
            self._threads.stack = []
        return self._threads.stack

    @contextlib.contextmanager
    def _explicit(self, step: Any) -> Iterator[Any]:
        outer = getattr(self._threads, "explicit", None)
        self._threads.explicit = step
        with self._lock:
            self._begin_learning()
            self._set_on(self._enter(step) or self._origins is not None)
        try:
            yield step
        finally:
            self._threads.explicit = outer
            self._drain(step)
            with self._lock:
                self._finish_pending()
                self._leave(step)
                self._origins = None
                self._set_on(True)
            step.end()

    def _in_a_pass_of_its_own(self, work: Any, module: Any = None, entry: _Entry | None = None) -> None:
        """For modules that the program calls on their own: their training is part of the step, and in evaluation mode a pass
        lasts until a module is called again."""
        training = (module if module is not None else self.module).training
        with self._lock:
            if self._inference or not training:
                self._end_stepped()
                if self._evaluation is None or entry is not None and entry.index in self._seen:
                    self._end_evaluation()
                    self._evaluation = (self.recorder.pass_(self._count) if self._inference
                                        else self.recorder.evaluation(self._present()))
                    self._count += 1
                if entry is not None:
                    self._seen.add(entry.index)
                step = self._evaluation
                self._enter(step)
                try:
                    work(step)
                finally:
                    self._finish_pending()
                    self._leave(step)
                return
            step = self._training_step()
            self._begin_learning()
            self._set_on(self._enter(step) or self._origins is not None)
            self._ambient.append(step)
        work(step)

    # ---- Outputs.

    def _guarded(self, work: Any, *arguments: Any) -> None:
        """Recording does not fail in the way of training: what could not be recorded is said once."""
        try:
            work(*arguments)
        except Exception as error:
            if self.recorder.closed:
                self._set_on(False)
                return
            self._note(f"{type(error).__name__}: {error}")

    def _slow(self, entry: _Entry, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        if self.active and not self.recorder.closed:
            self._guarded(self._take, entry, module, args, kwargs, output)
        else:
            self._set_on(False)

    def _take(self, entry: _Entry, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        if self._taps.in_backward():  # a checkpoint that is computed again: gradients pass through this one
            if self._step is not None and not self._stepped:
                self._tap_gradients(entry, output, self._step)
            return
        step = self._taps.step
        if step is None:
            return self._in_a_pass_of_its_own(lambda found: self._take_in(found, entry, module, args, kwargs, output), module,
                                              entry)
        self._take_in(step, entry, module, args, kwargs, output)

    def _take_in(self, step: Any, entry: _Entry, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        found = leaves(output)
        if not entry.ran or any(place not in entry.taps and place not in entry.skipped for place, _ in found):
            self._learn(entry, module, args, kwargs, found)
        if self._activations:
            for place, tensor in found:
                tap = entry.taps.get(place)
                if tap is not None and not tap[0].record(tensor):
                    self._record_elsewhere(step, *tap[1:], tensor)
        if self._output_gradients and self._step is step:
            self._tap_gradients(entry, output, step)

    def _learn(self, entry: _Entry, module: Any, args: Any, kwargs: Any, found: list[tuple[str, Any]]) -> None:
        """The first output of a module: its names, and what they are computed from."""
        origins, inputs = self._origins, None
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
            self._made[name] = inputs
            self._add_tap(entry, place, name, inputs)
            if origins is not None:
                origins.add(tensor, f"activation/{name}")
        entry.ran = True
        if len(found) == 1 and "" in entry.taps:
            self._learned.append(entry)

    def _add_tap(self, entry: _Entry, place: str, name: str, inputs: list[str]) -> None:
        probe = self._probe(name, "activation", unique(inputs))
        entry.taps[place] = (self._taps.tap(probe, entry.container), probe)

    def _made_below(self, entry: _Entry) -> list[str]:
        """The outputs of the modules inside a container that no other one inside of it contains."""
        prefix = f"{entry.path}." if entry.path else ""
        below = {name for name in self._made if name.startswith(prefix) and name != entry.name}

        def contained(name: str) -> bool:
            above = name.rpartition(".")[0]
            while len(above) > len(prefix):
                if above in below:
                    return True
                above = above.rpartition(".")[0]
            return False

        return [f"activation/{name}" for name in self._made if name in below and not contained(name)]

    def _record_inputs(self, called: Any, args: Any, kwargs: Any) -> None:
        """What the module is called with, under the names that its forward method gives them."""
        step = self._taps.step
        if id(called) not in self._signatures:
            self._signatures[id(called)] = argument_names(called)
        for name, tensor in named_arguments(self._signatures[id(called)], args, kwargs):
            if name not in self._inputs:
                probe = self._probe(name, "input", [])
                self._inputs[name] = (self._taps.tap(probe), probe)
            tap, probe = self._inputs[name]
            if self._origins is not None:
                self._origins.add(tensor, f"input/{name}")
            if not tap.record(tensor):
                self._record_elsewhere(step, probe, tensor)
        if self._origins is not None:
            self._origins.latest = ""

    def _probe(self, name: str, kind: str, inputs: list[str]) -> Any:
        probe = self._probes.get((name, kind))
        if probe is None:
            probe = self._probes[name, kind] = self.recorder.probe(name, kind=kind, inputs=inputs, **self._options)
        return probe

    def _record_elsewhere(self, step: Any, probe: Any, tensor: Any, hold: bool = False) -> None:
        """Tensors that the taps cannot look into: on a device, distributed, of other types."""
        if not probe.wanted(step):
            return
        plain = local(tensor)
        if plain is None or plain.device.type == "meta" or plain.layout is not torch.strided:
            self._note(f"'{probe.name}' is not recorded: it is a {type(tensor).__name__} without elements in memory")
            return
        if plain is not tensor and hasattr(tensor, "to_local"):
            self._note("distributed tensors: this process records its own shards of them")
        if _torch_tensors.on_device(plain):
            needs = set(probe.needs(step))
            if needs <= {"stats", "histogram"} and plain.dtype in _torch_device.DTYPES:
                self._pending.append((step, probe, _torch_device.Pending(plain, "histogram" in needs)))
                return
            plain, hold = plain.detach().cpu(), True
        probe.record(step, plain, hold=hold)

    def _finish_pending(self) -> None:
        if self._pending:
            pending, self._pending = self._pending, []
            for (step, probe, _), found in zip(pending, _torch_device.finish([each for _, _, each in pending])):
                probe.record(step, found)

    def _drain(self, step: Any) -> None:
        """What compiled code has put on the list."""
        outputs = self._switch.outputs
        if not outputs:
            return
        taken = outputs[:]
        outputs.clear()
        self._guarded(self._take_compiled, step, taken)

    def _take_compiled(self, step: Any, taken: list[Any]) -> None:
        batch, latest = [], None
        for index, place, tensor in taken:
            entry = self._entries[index]
            if place not in entry.taps:
                # Compiled code does not show what a module was called with: the order is known, and no more.
                name = entry.name + place
                own = own_weights(entry.path, self._matched[entry.path])
                inputs = ([latest] if latest else []) + [f"the arguments of {entry.name}, which is compiled"] + own
                self._made[name] = inputs
                self._add_tap(entry, place, name, inputs)
                entry.ran = True
            latest = f"activation/{entry.name}{place}"
            batch.append((entry.taps[place][1], tensor))
        host = [(probe, tensor) for probe, tensor in batch if type(tensor) is torch.Tensor and not _torch_tensors.on_device(tensor)]
        self.recorder.record(step, host, hold=True)
        for probe, tensor in batch:
            if type(tensor) is not torch.Tensor or _torch_tensors.on_device(tensor):
                self._record_elsewhere(step, probe, tensor, hold=True)
        with self._lock:
            self._finish_pending()

    # ---- Gradients, weights, updates.

    def _tap_gradients(self, entry: _Entry, output: Any, step: Any) -> None:
        for place, tensor in leaves(output):
            if not tensor.requires_grad or place in entry.skipped:
                continue
            probe = entry.gradients.get(place)
            if probe is None:
                probe = entry.gradients[place] = self._gradient_probe(entry.name + place)
            if probe is not False and probe.wanted(step):
                tensor.register_hook(lambda gradient, probe=probe: self._guarded(self._take_gradient, probe, gradient))

    def _gradient_probe(self, name: str) -> Any:
        """False for a container that returns what a module inside of it has returned. Its inputs are known when the forward
        pass is over, so the probe is made then."""
        return _Later(self, name) if name in self._made or not self._activations else False

    def _take_gradient(self, probe: Any, gradient: Any) -> None:
        step = self._step
        if step is None or gradient is None:
            return
        found = probe.get()
        plain = local(gradient)
        if plain is None or _torch_tensors.on_device(plain):
            self._record_elsewhere(step, found, gradient)
        else:
            found.record(step, plain, hold=self._hold)

    def _before_optimizer(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        if not self.active or self.recorder.closed:
            return None
        parameters = self._parameters.of(optimizer)
        if parameters is None:
            return None
        closure = kwargs.get("closure") or (args[1] if len(args) > 1 else None)
        with self._lock:
            if id(optimizer) in self._stepped or closure is not None:
                self._end_stepped()
            if self._step is None:
                self._end_evaluation()
                self._step = self.recorder.step(self._number)
        if self._weights:
            self._guarded(self._parameters.record, self._step, "weight", parameters)
        if self._updates:
            self._guarded(self._parameters.keep, self._step, optimizer, parameters)
        if not self._parameter_gradients:
            return None
        if not callable(closure):
            self._guarded(self._parameters.record, self._step, "gradient", parameters)
            return None

        def with_gradients(*given: Any, **named: Any) -> Any:
            loss = closure(*given, **named)
            self._guarded(self._parameters.record, self._step, "gradient", parameters)
            return loss

        if kwargs.get("closure") is not None:
            return args, {**kwargs, "closure": with_gradients}
        return (args[0], with_gradients, *args[2:]), kwargs

    def _after_optimizer(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self.active or self.recorder.closed or self._parameters.of(optimizer) is None:
            return
        self._guarded(self._parameters.record_updates, self._step, optimizer)
        with self._lock:
            if self._step is not None:
                self._stepped.add(id(optimizer))
                self._end_ambient()
        self._compiled_returned()

    # ---- The ends.

    def _end_stepped(self) -> None:
        if self._stepped:
            self._end_step()

    def _end_step(self) -> None:
        """The step in progress is over."""
        step, self._step = self._step, None
        self._last = self._number
        if self._stepped:
            self._number += 1
        self._stepped = set()
        self._passes = 0
        if step is None:
            return
        self._end_ambient()
        step.end()
        self._count_steps()

    def _end_ambient(self) -> None:
        self._finish_pending()
        for ambient in self._ambient:
            self._leave(ambient)
        if self._ambient:
            self._set_on(True)
            self._origins = None
        self._ambient = []

    def _end_evaluation(self) -> None:
        if self._evaluation is not None:
            self._evaluation.end()
            self._evaluation = None
            self._seen = set()

    def _count_steps(self) -> None:
        self._ended = getattr(self, "_ended", 0) + 1
        if self._ended == _UNUSED_AFTER:
            self._report_unused()

    def _report_unused(self) -> None:
        unused = [entry.name for entry in self._entries if not entry.ran]
        if unused and (self._activations or self._output_gradients):
            names = ", ".join(unused[:8]) + (f" and {len(unused) - 8} more" if len(unused) > 8 else "")
            self._note(f"watched, but never called: {names}")

    def _finish(self) -> None:
        """The step in progress and what waits are written."""
        if self.recorder.closed:
            return
        with contextlib.suppress(ValueError):
            self._compiled_returned()
            ended = getattr(self, "_ended", 0)
            if self._step is not None:
                self._end_step()
            self._end_evaluation()
            if ended < _UNUSED_AFTER:
                self._report_unused()

    def _note(self, sentence: str) -> None:
        """Says something once: as a warning, and in the log."""
        if sentence in self._notes:
            return
        self._notes.add(sentence)
        if not self.recorder.closed:
            self.recorder.text("sonde/watch", sentence, self._number)
        warnings.warn(f"sonde.watch: {sentence}", RecordingWarning, stacklevel=2)


class _Later:
    """The probe of an output's gradient, made with the first gradient: then it is known who used the output."""

    def __init__(self, watch: Watch, name: str) -> None:
        self._watch, self._name = watch, name
        self._probe: Any = None

    def get(self) -> Any:
        if self._probe is None:
            users = [f"gradient/{each}" for each, inputs in self._watch._made.items()
                     if f"activation/{self._name}" in inputs]
            self._probe = self._watch._probe(self._name, "gradient", users)
            self._watch._taps.tap(self._probe)  # a pass in which only gradients are wanted has hooks too
        return self._probe

    def wanted(self, step: Any) -> bool:
        return self._probe is None or self._probe.wanted(step)


_KEEPS = ("stats", "histogram", "image", "print", "whole", "npy", "npz", "csv", "audio")


def _nothing(*_: Any) -> None:
    return None


_live: "weakref.WeakSet[Watch]" = weakref.WeakSet()


@atexit.register
def _finish_all() -> None:
    for watch in list(_live):
        watch._finish()
