"""Checks of arguments: each raises TypeError or ValueError with the argument's name and what was expected."""
import os
from typing import Any


def path(name: str, value: Any) -> str:
    """A path as a str.

    >>> path("logdir", 3)
    Traceback (most recent call last):
    TypeError: logdir must be a str or a path, not int
    """
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} must be a str or a path, not {type(value).__name__}")
    found = os.fspath(value)
    if not isinstance(found, str):
        raise TypeError(f"{name} must be a str or a path, not {type(found).__name__}")
    return found


def flag(name: str, value: Any) -> bool:
    """A bool.

    >>> flag("hold", "no")
    Traceback (most recent call last):
    TypeError: hold must be True or False, not 'no'
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return value


def count(name: str, value: Any, of: str = "steps") -> int:
    """A number of something, at least 1.

    >>> count("every", 0)
    Traceback (most recent call last):
    ValueError: every must be a number of steps, at least 1, not 0
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be a number of {of}, an int, not {value!r}")
    if value.__index__() < 1:
        raise ValueError(f"{name} must be a number of {of}, at least 1, not {value!r}")
    return value.__index__()


def step(name: str, value: Any) -> int | None:
    """The number of a step, or None.

    >>> step("first_step", 1.5)
    Traceback (most recent call last):
    TypeError: first_step must be the number of a step, an int, or None, not 1.5
    """
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be the number of a step, an int, or None, not {value!r}")
    return value.__index__()


def seconds(name: str, value: Any) -> float:
    """A time.

    >>> seconds("timeout", -1)
    Traceback (most recent call last):
    ValueError: timeout must be a number of seconds, at least 0, not -1
    """
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} must be a number of seconds, not {value!r}")
    if not float(value) >= 0:
        raise ValueError(f"{name} must be a number of seconds, at least 0, not {value!r}")
    return float(value)


def whole_number(name: str, value: Any) -> int:
    """A number that may be 0.

    >>> whole_number("threads", "two")
    Traceback (most recent call last):
    TypeError: threads must be an int, at least 0, not 'two'
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an int, at least 0, not {value!r}")
    if value.__index__() < 0:
        raise ValueError(f"{name} must be an int, at least 0, not {value!r}")
    return value.__index__()


def recording(policy: Any, options: dict[str, Any], *also: str) -> dict[str, Any]:
    """The options of a recorder that is opened later: what is wrong with them is said now. `also` names further ones.

    >>> recording(None, {"memry": "1MiB"})
    Traceback (most recent call last):
    TypeError: a sonde.Recorder has no option 'memry'; it has memory, scalars, tensors, ...
    """
    import inspect
    from . import _core
    from ._policy import policy_text
    from ._recorder import Recorder
    known = [name for name in inspect.signature(Recorder).parameters if name not in ("directory", "policy")]
    for name in options:
        if name not in (*known, *also):
            raise TypeError(f"a sonde.Recorder has no option {name!r}; it has {', '.join(known)}")
    text, source = policy_text(policy)
    if text is not None:
        _core.check_policy(text, source)
    return {"policy": policy, **options}


def watching(value: Any) -> Any:
    """`watch` of loggers and callbacks: False, or the arguments for sonde.watch.

    >>> watching(True)
    {}
    >>> watching({"layer": "encoder"})
    Traceback (most recent call last):
    ValueError: watch: sonde.watch has no argument 'layer'; it has layers, every, record, ...
    """
    if not isinstance(value, (bool, dict)):
        raise TypeError(f"watch must be True, False or a dict with the arguments of sonde.watch, not {type(value).__name__}")
    if isinstance(value, bool):
        return {} if value else False
    import inspect
    from ._watch import watch
    known = [name for name in inspect.signature(watch).parameters if name not in ("module", "recorder")]
    for name in value:
        if name not in known:
            raise ValueError(f"watch: sonde.watch has no argument {name!r}; it has {', '.join(known)}")
    return value
