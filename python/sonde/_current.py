"""The recorder and the step in force: where taps and watched models record when they are not told.

The recorder is the one whose step was begun last and has not ended, on this thread if it has begun one; otherwise one that
a framework names (`chosen`); otherwise the one that was opened last and is open; otherwise a new one in
runs/<time>-<host>. The lookup covers all threads of the process, because frameworks call back on threads of their own.
"""
import threading
import weakref
from typing import Any, Callable

_lock = threading.RLock()
_opened: list[weakref.ref[Any]] = []
_begun: list["_Begun"] = []  # in the order in which they began
_last: "weakref.WeakKeyDictionary[Any, tuple[str, int]]" = weakref.WeakKeyDictionary()
_default: Any = None

# Functions of one bool that wait for values which arrive later than their call, as JAX's do. They are called before a step
# begins (False), and before a recorder is flushed or closed (True).
settlers: list[Callable[[bool], None]] = []
# Functions that name a recorder, or return None.
chosen: list[Callable[[], Any]] = []


class _Begun:
    __slots__ = ("recorder", "step", "kind", "thread")

    def __init__(self, recorder: Any, step: Any, kind: str) -> None:
        self.recorder = weakref.ref(recorder)
        self.step = weakref.ref(step)
        self.kind = kind  # the method that began it: "step", "evaluation" or "pass_"
        self.thread = threading.get_ident()

    def open(self) -> bool:
        step, recorder = self.step(), self.recorder()
        return step is not None and recorder is not None and not step.ended and not recorder.closed


def opened(recorder: Any) -> None:
    """A recorder was opened."""
    with _lock:
        _opened[:] = [each for each in _opened if each() is not None and not each().closed]
        _opened.append(weakref.ref(recorder))


def begun(recorder: Any, step: Any, kind: str) -> Any:
    """A step was begun; returns it."""
    with _lock:
        # A step of training ends the one before it.
        _begun[:] = [each for each in _begun
                     if each.open() and not (kind == each.kind == "step" and each.recorder() is recorder)]
        _begun.append(_Begun(recorder, step, kind))
        _last[recorder] = (kind, step.number)
    return step


def settle_at_step_end(function: Callable[[bool], None]) -> None:
    """Adds a settler whose values belong to the step: all settlers are called before a step ends, too."""
    from . import _core
    settlers.append(function)
    _core._before_step_end(settle)


def settle(everything: bool = False) -> None:
    """Wait for values that are on their way: those of the step, or everything."""
    for function in settlers:
        function(everything)


def step(recorder: Any = None) -> Any:
    """The step in force, of a recorder or of any; None where none is open."""
    with _lock:
        found = [each for each in _begun if each.open() and (recorder is None or each.recorder() is recorder)]
        mine = [each for each in found if each.thread == threading.get_ident()]
        return (mine or found)[-1].step() if found else None


def last_step(recorder: Any) -> tuple[str, int] | None:
    """The kind and the number of the last step that was begun, open or not."""
    return _last.get(recorder)


def recorder() -> Any:
    """The recorder in force; opens one in runs/<time>-<host> where there is none."""
    global _default
    with _lock:
        found = [each for each in _begun if each.open()]
        mine = [each for each in found if each.thread == threading.get_ident()]
        if found:
            return (mine or found)[-1].recorder()
        for choose in chosen:
            named = choose()
            if named is not None:
                return named
        for reference in reversed(_opened):
            known = reference()
            if known is not None and not known.closed:
                return known
        from ._recorder import Recorder
        from ._watch import default_directory
        _default = Recorder(default_directory())
        return _default
