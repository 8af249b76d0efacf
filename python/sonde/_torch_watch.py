"""Watching a torch module: options, selection and hooks. What hooks do for each tensor is in src/taps.cc; _torch_steps counts the
steps, _torch_outputs names and records outputs, _torch_gradients and _torch_parameters the rest."""
import atexit
import contextlib
import warnings
import weakref
from typing import Any, Iterator

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from . import _core, _torch_compile
from ._arguments import count, flag
from ._errors import RecordingWarning
from ._recorder import Recorder
from ._torch_gradients import Gradients
from ._torch_names import Selection, is_wrapper, leaves, plain_path, runs
from ._torch_outputs import Entry, Outputs
from ._torch_parameters import Parameters
from ._torch_steps import UNUSED_AFTER, Steps
from ._torch_tensors import run_directory

_is_compiling = torch.compiler.is_compiling
_core_taps = _core._Taps


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
        if not isinstance(gradients, (bool, str)):
            raise TypeError(f"gradients must be True, False, 'outputs' or 'parameters', not {gradients!r}")
        if gradients not in (False, True, "outputs", "parameters"):
            raise ValueError(f"gradients must be True, False, 'outputs' or 'parameters', not {gradients!r}")
        self.module = module
        self._activations = flag("activations", activations)
        self._output_gradients = gradients in (True, "outputs")
        self._parameter_gradients = gradients in (True, "parameters")
        self._weights, self._updates = flag("weights", weights), flag("updates", updates)
        self._inference, self._hold = flag("inference", inference), flag("hold", hold)
        self._options = {"keep": self._checked(record), "every": count("every", every)}
        self._entries = self._select(layers)
        self._own_recorder = recorder is None
        if recorder is None:
            recorder = Recorder(run_directory(), policy=policy)
        elif policy is not None:
            recorder.set_policy(policy)
        self.recorder = recorder
        self._taps = _core._Taps(recorder, torch.Tensor, torch.nn.Parameter, torch._C._current_graph_task_id, self._hold)
        self._switch = _Switch()
        self._handles: list[Any] = []
        self._undo: list[Any] = []
        self._roots: list[Any] = []
        self._compilable = False
        self._notes: set[str] = set()
        self._steps, self._outputs, self._gradients = Steps(self), Outputs(self), Gradients(self)
        self._parameters = Parameters(self)
        self._probes: dict[tuple[str, str], Any] = {}
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
        with self._steps.lock:
            return self._steps.number + (1 if self._steps.stepped else 0)

    @step.setter
    def step(self, number: int) -> None:
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise TypeError(f"step must be an int, not {type(number).__name__}")
        with self._steps.lock:
            number = number.__index__()
            if self._steps.step is not None and (self._steps.stepped or self._steps.number != number):
                self._steps.end_step()
            self._steps.number = number

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
        with self._steps.lock:
            self._steps.end_stepped()
            step = self.recorder.evaluation(self._steps.present())
        with self._steps.explicit(step):
            yield step

    @contextlib.contextmanager
    def pass_(self, number: int) -> Iterator[Any]:
        """Everything that this thread computes inside is one pass of inference, such as one request.

        >>> with watched.pass_(request):                                    # doctest: +SKIP
        ...     model(x)
        """
        with self._steps.explicit(self.recorder.pass_(number)) as step:
            yield step

    def remove(self) -> None:
        """End the step in progress and remove all hooks. Closes the recorder that `sonde.watch` has opened.

        >>> watched.remove()                                                # doctest: +SKIP
        """
        with self._steps.lock:
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

    def _select(self, layers: Any) -> list[Entry]:
        selection = Selection(layers)
        modules: dict[str, Any] = {}
        for path, module in self.module.named_modules():
            if not is_wrapper(module):
                modules.setdefault(plain_path(path, self.module), module)
        selection.restrict(list(modules))
        entries: list[Entry] = []
        self._matched = {path: module for path, module in modules.items() if selection.match(path, module)}
        for path, module in self._matched.items():
            if runs(module):
                entries.append(Entry(len(entries), path, module))
        for text in selection.texts:
            if text not in selection.used:
                names = ", ".join(repr(path) for path in list(modules)[1:6])
                raise ValueError(f"layers: '{text}' matches no module; the first ones are {names}")
        if not self._matched:
            raise ValueError("layers selects no module")
        return entries

    @staticmethod
    def _checked(record: Any) -> tuple[str, ...]:
        """Raises now what probes would raise later."""
        words = (record,) if isinstance(record, str) else record
        if not isinstance(words, (tuple, list, set, frozenset)) or not all(isinstance(word, str) for word in words):
            raise TypeError(f"record must be a str or a sequence of str, not {record!r}")
        if not words:
            raise ValueError("record must name at least one of 'stats', 'histogram', 'image', 'whole', ...")
        for word in words:
            if word not in _KEEPS:
                raise ValueError(f"record must be of {', '.join(map(repr, _KEEPS))}, not {word!r}")
        return tuple(words)

    def _install(self) -> None:
        if self._activations or self._output_gradients:
            for entry in self._entries:
                self._add_hook(entry)
        self._hook_root(self.module)
        # Hooks of all optimizers of the process; they do not keep the watch, and with it the module, alive.
        before, after = weakref.WeakMethod(self._gradients.before_optimizer), weakref.WeakMethod(self._gradients.after_optimizer)
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
                self._steps.begin_pass(called, args, kwargs)

        def end(called: Any, args: Any, output: Any) -> None:
            if not _is_compiling() and called is module:
                self._steps.end_pass()

        self._handles += [module.register_forward_pre_hook(begin, with_kwargs=True),
                          module.register_forward_hook(end, always_call=True)]

    def _knows(self, module: Any) -> bool:
        return any(module is each for each in self.module.modules()) or any(module is each for each in self._roots)

    def _hook(self, entry: Entry) -> Any:
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

    def _shorten(self, entry: Entry, module: Any) -> None:
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

    def _lengthen(self, entry: Entry) -> None:
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

    def _add_hook(self, entry: Entry) -> None:
        entry.handle = self._matched[entry.path].register_forward_hook(self._hook(entry), with_kwargs=True)
        self._handles.append(entry.handle)

    def _set_on(self, on: bool) -> None:
        """Whether hooks do anything."""
        self._switch.on = self._taps.on = on

    def _guarded(self, work: Any, *arguments: Any) -> None:
        """Recording does not fail in the way of training: what could not be recorded is said once."""
        try:
            work(*arguments)
        except Exception as error:
            if self.recorder.closed:
                self._set_on(False)
                return
            self._note(f"{type(error).__name__}: {error}")

    def _slow(self, entry: Entry, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        if self.active and not self.recorder.closed:
            self._guarded(self._outputs.take, entry, module, args, kwargs, output)
        else:
            self._set_on(False)

    def _probe(self, name: str, kind: str, inputs: list[str]) -> Any:
        probe = self._probes.get((name, kind))
        if probe is None:
            probe = self._probes[name, kind] = self.recorder.probe(name, kind=kind, inputs=inputs, **self._options)
        return probe

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
            self._steps.compiled_returned()
            ended = self._steps.ended
            if self._steps.step is not None:
                self._steps.end_step()
            self._steps.end_evaluation()
            if ended < UNUSED_AFTER:
                self._report_unused()

    def _note(self, sentence: str) -> None:
        """Says something once: as a warning, and in the log."""
        if sentence in self._notes:
            return
        self._notes.add(sentence)
        if not self.recorder.closed:
            self.recorder.text("sonde/watch", sentence, self._steps.number)
        warnings.warn(f"sonde.watch: {sentence}", RecordingWarning, stacklevel=2)


_KEEPS = ("stats", "histogram", "image", "print", "whole", "npy", "npz", "csv", "audio")


def _nothing(*_: Any) -> None:
    return None


_live: "weakref.WeakSet[Watch]" = weakref.WeakSet()


@atexit.register
def _finish_all() -> None:
    for watch in list(_live):
        watch._finish()
