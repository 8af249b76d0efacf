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
