"""What the package raises and warns with."""
from typing import Any, Callable, Iterable, NoReturn


class RecordingWarning(UserWarning):
    """Something could not be recorded: what happened, to which tensor or file, what to do."""


class NotFoundError(KeyError):
    """A log has no run, tag, tensor or step of this name; the message names the nearest ones.

    >>> try:
    ...     sonde.load(log)["train"].scalars("lss")
    ... except KeyError as error:
    ...     print(error)
    the run 'train' has no tag 'lss' of kind scalars; did you mean 'loss'?
    """

    def __str__(self) -> str:  # KeyError would print the sentence in quotes
        return str(self.args[0]) if self.args else ""


def not_found(what: str, name: Any, known: Iterable[Any]) -> NoReturn:
    """Raises NotFoundError with the names that are nearest to a wrong one, or with the first of them."""
    import difflib
    names = {str(each): each for each in known}
    near = difflib.get_close_matches(str(name), names, 3) or list(names)[:5]
    listed = [repr(names[each]) for each in near] + (["..."] if len(near) < len(names) else [])
    raise NotFoundError(f"{what} {name!r}; it has {', '.join(listed) or 'none'}")


def by_name(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of the library that finds something by its name."""
    try:
        return function(*arguments)
    except FileNotFoundError as error:
        raise NotFoundError(error.strerror) from None


class ByName(dict):
    """A dict whose KeyError names the nearest keys."""

    def __init__(self, what: str, items: Any) -> None:
        super().__init__(items)
        self._what = what

    def __missing__(self, name: Any) -> NoReturn:
        not_found(self._what, name, self)
