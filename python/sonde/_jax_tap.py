"""sonde.tap inside of what JAX traces.

A tap is a primitive that returns its operand, so that every transformation has its own rule: grad lets tangents pass, vmap
records the whole batch as one tensor, remat records in the forward pass and not again when it computes the values a second
time. It is lowered to a callback under a condition, `enabled`. Callbacks come in any order, and later than the Python code
that caused them; what arrives is kept by step, and recorded in the order of the program: when the step ends, when a later
step has begun to arrive, or when the recorder is flushed or closed.
"""
import atexit
import itertools
import threading
import warnings
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir, partial_eval

from . import _core, _current, _tap
from ._errors import RecordingWarning

_sites = itertools.count()  # taps in the order in which they are traced, which is the program's
_lock = threading.RLock()
_gathered: "weakref.WeakKeyDictionary[Any, dict[int, _Gathered]]" = weakref.WeakKeyDictionary()
_without_step = False  # whether a tap was traced that takes the step in force


class _Reference:
    """A recorder as a parameter of a primitive: JAX compares parameters, and keeps them for longer than the program."""

    def __init__(self, recorder: Any) -> None:
        self._recorder = weakref.ref(recorder)
        self._key = id(recorder)

    def __call__(self) -> Any:
        return self._recorder()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reference) and self._recorder == other._recorder

    def __hash__(self) -> int:
        return self._key


class _Gathered:
    """What has arrived of one step, and the step that it will be recorded in."""

    def __init__(self, to: Any, number: int) -> None:
        found = _current.step(to)
        self.owned = found is None or found.number != number
        self.step = _tap.again(to, number) if self.owned else found
        self.values: list[tuple[int, int, Any, Any]] = []  # site, arrival, probe, value

    def emit(self, to: Any) -> None:
        self.values.sort(key=lambda each: each[:2])
        if self.values:
            to.record(self.step, [(probe, value) for _, _, probe, value in self.values])
        self.step = None  # one of ours ends with that; `end` would wait for JAX, on a thread of JAX


def _emit(to: Any, before: int | None = None) -> None:
    """Records the steps that are complete: all, or those before a number."""
    with _lock:
        steps = _gathered.get(to, {})
        for number in sorted(steps):
            if before is None or number < before:
                steps.pop(number).emit(to)


def _settle(everything: bool) -> None:
    if everything or _without_step:
        jax.effects_barrier()  # without the lock: callbacks take it
    for to in list(_gathered.keys()):
        if to.closed:
            continue
        if everything or _without_step:
            _emit(to)
        else:
            _emit_open(to)


def _emit_open(to: Any) -> None:
    """Records what has arrived for the program's step that is about to end."""
    with _lock:
        found, steps = _current.step(to), _gathered.get(to, {})
        for number, gathered in list(steps.items()):
            if gathered.step is found and not gathered.owned:
                steps.pop(number).emit(to)


def _arrived(value: Any, step: Any, *, name: str, kind: str, site: int, has_step: bool, recorder: Any) -> None:
    """The callback, on a thread of JAX. The value belongs to JAX: it is copied if it is wanted."""
    to = _current.recorder() if recorder is None else recorder()
    if to is None or to.closed:
        warnings.warn(f"the tap '{name}' recorded nothing: its recorder is closed", RecordingWarning, stacklevel=1)
        return
    with _lock:
        number = int(step) if has_step else _in_force(to, (name, kind))
        steps = _gathered.setdefault(to, {})
        gathered = steps.get(number)
        if gathered is None or not gathered.owned and gathered.step.ended:
            gathered = steps[number] = _Gathered(to, number)
        probe = _tap.probe(to, name, kind)
        if probe.wanted(gathered.step):
            gathered.values.append((site, len(gathered.values), probe, numpy.array(value)))
        if has_step:
            _emit(to, number - 1)


def _in_force(to: Any, name: tuple[str, str]) -> int:
    """The number of the step in force; counted where the program begins none: a name that comes again begins the next."""
    found = _current.step(to)
    if found is not None:
        return found.number
    last = _current.last_step(to)
    if last is not None:
        return last[1]
    number, seen = _counted.get(to, (0, set()))
    if name in seen:
        number, seen = number + 1, set()
        _emit(to)
    seen.add(name)
    _counted[to] = (number, seen)
    return number


_counted: "weakref.WeakKeyDictionary[Any, tuple[int, set[tuple[str, str]]]]" = weakref.WeakKeyDictionary()

_tap_p = Primitive("sonde_tap")
# The effect of a callback of JAX: a tap is kept even if nobody uses its result, and effects_barrier waits for it.
_effects = jax.make_jaxpr(lambda x: jax.debug.callback(lambda y: None, x))(0.0).effects


def _lowered(x: Any, step: Any, enabled: Any, *, again: bool, **site: Any) -> Any:
    if not again:
        def call(value: Any, number: Any) -> None:
            jax.debug.callback(lambda *arrived: _arrived(*arrived, **site), value, number)

        jax.lax.cond(enabled, call, lambda value, number: None, x, step)
    return x


def _evaluated(x: Any, step: Any, enabled: Any, *, name: str, kind: str, has_step: bool, recorder: Any, again: bool,
               **site: Any) -> Any:
    if not again and enabled:
        _tap.record(_current.recorder() if recorder is None else recorder(), name, kind, x, step if has_step else None)
    return x


def _differentiated(primals: Any, tangents: Any, **site: Any) -> Any:
    return _tap_p.bind(*primals, **site), tangents[0]


def _batched(operands: Any, axes: Any, *, name: str, **site: Any) -> Any:
    if axes[1] is not None or axes[2] is not None:
        raise ValueError(f"step and enabled of the tap '{name}' must be the same for the whole batch: do not map over them")
    return _tap_p.bind(*operands, name=name, **site), axes[0]


def _rematerialized(saveable: Any, unknown: Any, instantiated: Any, equation: Any) -> Any:
    needed = [operand for operand, there in zip(equation.invars, instantiated) if not there and hasattr(operand, "count")]
    if any(unknown):
        return None, equation, [True], [True], needed
    copy = equation.replace(params={**equation.params, "again": True}, effects=set())
    return equation, copy, [False], [True], needed


_tap_p.def_impl(_evaluated)
_tap_p.def_effectful_abstract_eval(lambda x, step, enabled, *, again, **site: (x, set() if again else _effects))
ad.primitive_jvps[_tap_p] = _differentiated
batching.primitive_batchers[_tap_p] = _batched
partial_eval.partial_eval_jaxpr_custom_rules[_tap_p] = _rematerialized
mlir.register_lowering(_tap_p, mlir.lower_fun(_lowered, multiple_results=False))

_current.settle_at_step_end(_settle)
atexit.register(_settle, True)


def tap(name: str, x: Any, step: Any, recorder: Any, enabled: Any, kind: str) -> Any:
    traced = any(isinstance(each, jax.core.Tracer) for each in (x, step, enabled))
    if not traced:
        if enabled:
            _tap.record(_current.recorder() if recorder is None else recorder, name, kind, x, step)
        return x
    return _bind(x, step, enabled, (name, kind, None if recorder is None else _Reference(recorder)))


def _bind(x: Any, step: Any, enabled: Any, place: tuple[str, str, Any]) -> Any:
    global _without_step
    if isinstance(enabled, (bool, numpy.bool_)) and not enabled:
        return x
    _without_step |= step is None
    number = jnp.asarray(0 if step is None else step)
    if not jnp.issubdtype(number.dtype, jnp.integer) or number.ndim != 0:
        raise TypeError(f"step must be an integer, not {number.dtype.name}{list(number.shape) or ''}")
    name, kind, recorder = place
    return _tap_p.bind(x, number, jnp.asarray(enabled, bool), name=name, kind=kind, site=next(_sites), has_step=step is not None,
                       recorder=recorder, again=False)


def _through(place: tuple[str, str, Any], has_step: bool, x: Any, step: Any, enabled: Any) -> Any:
    return x


def _forward(place: tuple[str, str, Any], has_step: bool, x: Any, step: Any, enabled: Any) -> Any:
    return x, (step, enabled)


def _backward(place: tuple[str, str, Any], has_step: bool, given: Any, gradient: Any) -> Any:
    step, enabled = given
    return _bind(gradient, step if has_step else None, enabled, place), None, None


_gradient = jax.custom_vjp(_through, nondiff_argnums=(0, 1))
_gradient.defvjp(_forward, _backward)


def tap_grad(name: str, x: Any, step: Any, recorder: Any, enabled: Any) -> Any:
    place = (name, "gradient", None if recorder is None else _Reference(recorder))
    return _gradient(place, step is not None, x, jnp.asarray(0 if step is None else step), jnp.asarray(enabled, bool))
