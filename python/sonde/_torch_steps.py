"""The steps of a watched module: which training step, evaluation or pass of inference a call belongs to."""
import contextlib
import threading
from typing import Any, Iterator

import torch

from ._torch_names import unique
from ._torch_outputs import Entry

_MOST_PASSES = 256  # forward passes without an optimizer step, before each of them counts as a step
UNUSED_AFTER = 10  # steps, after which modules that never ran are reported
_is_compiling = torch.compiler.is_compiling


class Steps:
    """The passes of a Watch, on all threads, and the step in progress."""

    def __init__(self, watch: Any) -> None:
        self._watch = watch
        self.lock = threading.RLock()
        self._threads = threading.local()
        self._open = 0  # passes that threads are in
        self.number, self._last, self._count, self._passes = 0, 0, 0, 0
        self.ended = 0
        self.step: Any = None
        self.stepped: set[int] = set()  # optimizers that have stepped in this step
        self._ambient: list[Any] = []  # steps that threads are in without a call of the module
        self._evaluation: Any = None  # a pass of modules that are called on their own
        self._seen: set[int] = set()

    def present(self) -> int:
        """The training step that an evaluation belongs to."""
        return self.number if self.step is not None else self._last

    def _training_step(self) -> Any:
        """The step that a forward pass in training mode belongs to."""
        self.end_stepped()
        self.end_evaluation()
        if self.step is None:
            self.step = self._watch.recorder.step(self.number)
        return self.step

    def begin_pass(self, called: Any, args: Any, kwargs: Any) -> None:
        if not self._watch.active or self._watch.recorder.closed or self._watch._taps.in_backward():
            self._stack().append(None)
            return
        with self.lock:
            nested = bool(self._stack()) or getattr(self._threads, "explicit", None) is not None
            if nested:
                step, own = self._watch._taps.step, False
            elif self._watch._inference:
                step, own = self._watch.recorder.pass_(self._count), True
                self._count += 1
            elif self._watch.module.training:
                step, own = self._count_pass(), False
            else:
                self.end_stepped()
                self.end_evaluation()
                step, own = self._watch.recorder.evaluation(self.present()), True
            if step is None:
                self._stack().append(None)
                return
            self._stack().append((step, own))
            wanted = self._enter(step)
            if not nested:
                self._watch._outputs.begin_learning()
            self._watch._set_on(wanted or self._watch._outputs.origins is not None)
        if self._watch._switch.on and self._watch._activations and not nested:
            self._watch._guarded(self._watch._outputs.record_inputs, called, args, kwargs)

    def _enter(self, step: Any) -> bool:
        """This thread is in a pass of the step. Returns whether anything is wanted."""
        self._open += 1
        return self._watch._taps.begin(step)

    def _leave(self, step: Any) -> list[str]:
        """Returns the names of lent tensors that were written to."""
        written = self._watch._taps.end(step)
        self._open -= 1
        if self._open == 0:  # no thread is inside of a module, which would lose its hook
            for entry in self._watch._outputs.learned:
                self._watch._shorten(entry, self._watch._matched[entry.path])
            self._watch._outputs.learned = []
        return written

    def _count_pass(self) -> Any:
        if self._passes >= _MOST_PASSES and not self.stepped:
            self._watch._note(f"{_MOST_PASSES} forward passes came without an optimizer step: from now on each of them counts as "
                              "a step; assign to .step of what sonde.watch returned to number them yourself")
            if self.step is not None:
                self.end_step()
                self.number += 1
                self._passes = _MOST_PASSES
        step = self._training_step()
        self._passes += 1
        return step

    def end_pass(self) -> None:
        ended = self._stack().pop() if self._stack() else None
        if ended is None:
            return
        step, own = ended
        self._watch._outputs.drain(step)
        with self.lock:
            self._watch._outputs.finish_pending()
            written = self._leave(step)
            if not self._stack():
                self._watch._outputs.origins = None
                self._watch._set_on(True)
        if own:
            step.end()
        for name in unique(written):
            self._watch._note(f"'{name}' was written to after it was lent: what was recorded of it may be the later values; "
                              "watch without hold=True")

    def around(self, module: Any, call: Any, args: Any, kwargs: Any) -> Any:
        """A call of compiled code, as a pass."""
        self.begin_pass(module, args, kwargs)
        try:
            return call(*args, **kwargs)
        finally:
            self.end_pass()

    def compiled_returned(self) -> None:
        if self._watch._switch.outputs and self._watch.active and not _is_compiling():
            step = self._watch._taps.step
            if step is None:
                self.in_a_pass_of_its_own(lambda found: self._watch._outputs.drain(found))
            else:
                self._watch._outputs.drain(step)

    def _stack(self) -> list[Any]:
        """The calls of the module that this thread is in."""
        if not hasattr(self._threads, "stack"):
            self._threads.stack = []
        return self._threads.stack

    @contextlib.contextmanager
    def explicit(self, step: Any) -> Iterator[Any]:
        outer = getattr(self._threads, "explicit", None)
        self._threads.explicit = step
        with self.lock:
            self._watch._outputs.begin_learning()
            self._watch._set_on(self._enter(step) or self._watch._outputs.origins is not None)
        try:
            yield step
        finally:
            self._threads.explicit = outer
            self._watch._outputs.drain(step)
            with self.lock:
                self._watch._outputs.finish_pending()
                self._leave(step)
                self._watch._outputs.origins = None
                self._watch._set_on(True)
            step.end()

    def in_a_pass_of_its_own(self, work: Any, module: Any = None, entry: Entry | None = None) -> None:
        """For modules that the program calls on their own: their training is part of the step, and in evaluation mode a pass
        lasts until a module is called again."""
        training = (module if module is not None else self._watch.module).training
        with self.lock:
            if self._watch._inference or not training:
                self.end_stepped()
                if self._evaluation is None or entry is not None and entry.index in self._seen:
                    self.end_evaluation()
                    self._evaluation = (self._watch.recorder.pass_(self._count) if self._watch._inference
                                        else self._watch.recorder.evaluation(self.present()))
                    self._count += 1
                if entry is not None:
                    self._seen.add(entry.index)
                step = self._evaluation
                self._enter(step)
                try:
                    work(step)
                finally:
                    self._watch._outputs.finish_pending()
                    self._leave(step)
                return
            step = self._training_step()
            self._watch._outputs.begin_learning()
            self._watch._set_on(self._enter(step) or self._watch._outputs.origins is not None)
            self._ambient.append(step)
        work(step)

    def end_stepped(self) -> None:
        if self.stepped:
            self.end_step()

    def end_step(self) -> None:
        """The step in progress is over."""
        step, self.step = self.step, None
        self._last = self.number
        if self.stepped:
            self.number += 1
        self.stepped = set()
        self._passes = 0
        if step is None:
            return
        self.end_ambient()
        step.end()
        self._count_steps()

    def end_ambient(self) -> None:
        self._watch._outputs.finish_pending()
        for ambient in self._ambient:
            self._leave(ambient)
        if self._ambient:
            self._watch._set_on(True)
            self._watch._outputs.origins = None
        self._ambient = []

    def end_evaluation(self) -> None:
        if self._evaluation is not None:
            self._evaluation.end()
            self._evaluation = None
            self._seen = set()

    def _count_steps(self) -> None:
        self.ended += 1
        if self.ended == UNUSED_AFTER:
            self._watch._report_unused()
