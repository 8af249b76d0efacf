"""sonde.tap and sonde.tap_grad: any value of any framework, recorded where it is, and returned.

The framework is found by the value's type among those that the program has imported. What JAX traces is in _jax_tap.py.
"""
import sys
import threading
import weakref
from typing import Any

from . import _core, _current

_lock = threading.RLock()
_probes: "weakref.WeakKeyDictionary[Any, dict[tuple[str, str], Any]]" = weakref.WeakKeyDictionary()
_counted: "weakref.WeakKeyDictionary[Any, _Counted]" = weakref.WeakKeyDictionary()


class _Counted:
    """A step that nobody began: it ends when one of its names comes again, and when the recorder is flushed."""

    def __init__(self, recorder: Any, number: int, names: set[tuple[str, str]]) -> None:
        self.number = number
        self.names = names
        self.step = _current.begun(recorder, _core.Recorder.step(recorder, number), "step")


def _settle(everything: bool) -> None:
    if everything:
        with _lock:
            for counted in _counted.values():
                counted.step = None


_current.settlers.append(_settle)


def tap(name: str, x: Any, step: Any = None, *, recorder: Any = None, enabled: Any = True, kind: str = "activation") -> Any:
    """Record a value under a name, and return it. Works with torch, TensorFlow (also inside tf.function), JAX (also under
    jit, grad, vmap, scan and remat) and NumPy; of a tuple, list or dict every part is recorded, as name/0 or name/key.
    Use what it returns.

    The recorder is `recorder`, or the one whose step is open, or the one that was opened last, or a new one in
    runs/<time>-<host>. Without `step` the value belongs to the step that is open; where none was ever begun, steps are
    counted: a step ends when one of its names comes again. `enabled=False` records nothing; inside traced code `step` and
    `enabled` may be arguments of the traced function, so that switching it on and off compiles nothing.

    >>> import numpy
    >>> with rec.step(1):
    ...     scores = sonde.tap("attention/scores", numpy.ones((2, 3)))
    >>> scores.shape
    (2, 3)
    """
    _check(name, recorder)
    return _tap(name, x, step, recorder, enabled, kind)


def tap_grad(name: str, x: Any, step: Any = None, *, recorder: Any = None, enabled: Any = True) -> Any:
    """Return a value, and record the gradient with respect to it when that is computed: `kind="gradient"`. For torch,
    TensorFlow and JAX (reverse mode). The other arguments are those of `tap`.

    >>> x = sonde.tap_grad("attention/scores", x)                               # doctest: +SKIP
    """
    _check(name, recorder)
    return _tap_grad(name, x, step, recorder, enabled)


def _check(name: Any, recorder: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    if not name:
        raise ValueError("name must not be empty")
    if recorder is not None and not isinstance(recorder, _core.Recorder):
        raise TypeError(f"recorder must be a sonde.Recorder, not {type(recorder).__name__}")


def _framework(x: Any) -> str:
    torch, tf, jax, keras = (sys.modules.get(name) for name in ("torch", "tensorflow", "jax", "keras"))
    if torch is not None and isinstance(x, getattr(torch, "Tensor", ())):
        return "torch"
    if jax is not None and isinstance(x, getattr(jax, "Array", ())):
        return "jax"
    if tf is not None and hasattr(tf, "is_tensor") and tf.is_tensor(x):
        return "tensorflow"
    if keras is not None and isinstance(x, getattr(keras, "KerasTensor", ())):
        raise TypeError("x must hold values, and a KerasTensor has none: call tap in the `call` of a layer, or record the layer "
                        "with sonde.keras.Recorder")
    return ""


def _parts(x: Any, each: Any) -> Any:
    """A tuple, list or dict with a function of (name of the part, part) applied; None for what is one value."""
    if isinstance(x, dict):
        return type(x)((key, each(str(key), value)) for key, value in x.items())
    if isinstance(x, (tuple, list)) and not all(isinstance(value, (bool, int, float, list)) for value in x):
        parts = [each(str(number), value) for number, value in enumerate(x)]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return None


def _tap(name: str, x: Any, step: Any, recorder: Any, enabled: Any, kind: str) -> Any:
    parts = _parts(x, lambda key, value: _tap(f"{name}/{key}", value, step, recorder, enabled, kind))
    if parts is not None:
        return parts
    framework = _framework(x)
    if framework == "tensorflow":
        return _tap_tensorflow(name, x, step, recorder, enabled, kind)
    if framework == "jax":
        from . import _jax_tap
        return _jax_tap.tap(name, x, step, recorder, enabled, kind)
    if enabled:
        record(_current.recorder() if recorder is None else recorder, name, kind, x, step)
    return x


def _tap_grad(name: str, x: Any, step: Any, recorder: Any, enabled: Any) -> Any:
    parts = _parts(x, lambda key, value: _tap_grad(f"{name}/{key}", value, step, recorder, enabled))
    if parts is not None:
        return parts
    framework = _framework(x)
    if framework == "jax":
        from . import _jax_tap
        return _jax_tap.tap_grad(name, x, step, recorder, enabled)
    if framework == "tensorflow":
        return _tap_grad_tensorflow(name, x, step, recorder, enabled)
    if framework != "torch":
        raise TypeError(f"x must be a tensor of torch, TensorFlow or JAX, not {type(x).__name__}")
    if x.requires_grad:
        x.register_hook(lambda gradient: (_tap(name, gradient, step, recorder, enabled, "gradient"), None)[1])
    return x


def record(to: Any, name: str, kind: str, value: Any, step: Any) -> None:
    """Record a value that is here now, if the policy wants it."""
    handle = probe(to, name, kind)
    with _lock:
        place = _place(to, (name, kind), None if step is None else _number(step))
    if not handle.wanted(place):
        return
    try:
        handle.record(place, _on_host(value))
    except TypeError as error:
        raise TypeError(f"x, tapped as '{name}': {error}") from None


def probe(to: Any, name: str, kind: str, every: int = 1) -> Any:
    """The probe of a name; `every` counts when it is made."""
    known = _probes.setdefault(to, {})
    found = known.get((name, kind))
    if found is None:
        found = known[name, kind] = to.probe(name, kind=kind, every=every)
    return found


def _on_host(value: Any) -> Any:
    device = getattr(value, "device", None)
    if getattr(device, "type", "cpu") not in ("cpu", "meta") and hasattr(value, "cpu"):  # torch on an accelerator
        return value.detach().cpu()
    return value


def _number(step: Any) -> int:
    if isinstance(step, (float, str, bytes)) or hasattr(step, "dtype") and "float" in str(step.dtype):
        raise TypeError(f"step must be an integer, not {step!r}")
    try:
        return int(step)
    except (TypeError, ValueError):
        raise TypeError(f"step must be an integer, not {type(step).__name__}") from None


def again(to: Any, number: int) -> Any:
    """A step that is over, for a value that comes late: another pass with its number."""
    last = _current.last_step(to)
    if last == ("evaluation", number):
        return _core.Recorder.evaluation(to, number)
    return _core.Recorder.pass_(to, number)


def _place(to: Any, name: tuple[str, str], number: int | None) -> Any:
    """The step that a value belongs to."""
    found, counted = _current.step(to), _counted.get(to)
    ours = counted is not None and found is counted.step
    if number is not None:
        if found is not None and found.number == number:
            return found
        if found is not None and not ours:
            return again(to, number)  # the program's own step stays open
        counted = _counted[to] = _Counted(to, number, set())
        return counted.step
    if found is not None and not ours:
        return found
    last = _current.last_step(to)
    if counted is None or last != ("step", counted.number):
        if last is not None:
            return again(to, last[1])  # the program's last step is over
        counted = _counted[to] = _Counted(to, 0, set())
    elif name in counted.names:
        counted = _counted[to] = _Counted(to, counted.number + 1, set())
    elif not ours:
        counted = _counted[to] = _Counted(to, counted.number, counted.names)
    counted.names.add(name)
    return counted.step


def _tap_tensorflow(name: str, x: Any, step: Any, recorder: Any, enabled: Any, kind: str) -> Any:
    tf = sys.modules["tensorflow"]
    if step is None:
        step = tf.summary.experimental.get_step()
    if tf.executing_eagerly():
        if enabled:
            value = tf.convert_to_tensor(x)
            record(_current.recorder() if recorder is None else recorder, name, kind, value,
                   step.numpy() if hasattr(step, "numpy") else step)
        return x

    known = enabled if isinstance(enabled, bool) else tf.get_static_value(enabled)
    if known is not None and not known:
        return x
    from ._tensorflow_graph import callback, refuse_xla
    refuse_xla(f"sonde.{'tap_grad' if kind == 'gradient' else 'tap'}('{name}')")
    value = tf.convert_to_tensor(x)

    def call(value: Any, *number: Any) -> None:
        record(_current.recorder() if recorder is None else recorder, name, kind, value, number[0] if number else None)

    def recorded() -> Any:
        given = [] if step is None else [tf.cast(step, tf.int64)]
        return callback(call, [tf.stop_gradient(value), *given], "sonde_tap")

    done = recorded() if known is not None else tf.cond(tf.cast(enabled, tf.bool), recorded, lambda: tf.constant(False))
    with tf.control_dependencies([done]):
        return tf.identity(value)


def _tap_grad_tensorflow(name: str, x: Any, step: Any, recorder: Any, enabled: Any) -> Any:
    tf = sys.modules["tensorflow"]

    @tf.custom_gradient
    def through(value: Any) -> Any:
        return tf.identity(value), lambda gradient: _tap_tensorflow(name, tf.convert_to_tensor(gradient), step, recorder,
                                                                    enabled, "gradient")
    return through(x)
