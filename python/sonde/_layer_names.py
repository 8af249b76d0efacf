"""Which layers are meant: by name, pattern and index."""
import difflib
import re
from collections.abc import Collection
from typing import Any, Callable


class Names:
    """The layers that somebody asks for, of names that become known one after the other.

    >>> names = Names(["dense_.*", 0])
    >>> names.wants("dense_1"), names.wants("conv_1"), names.indices
    (True, False, [0])
    """

    def __init__(self, layers: Any) -> None:
        self.all = layers is None
        self.function: "Callable[[str], bool] | None" = layers if callable(layers) else None
        self.indices: list[int] = []
        self.texts: list[str] = []
        self._patterns: dict[str, re.Pattern[str]] = {}
        if self.all or self.function is not None:
            return
        for each in layers if isinstance(layers, (list, tuple, set, range)) else [layers]:
            if isinstance(each, bool) or not (isinstance(each, str) or hasattr(each, "__index__")):
                raise TypeError(f"layers must be a name, an index, a list of those, a function or None, not {type(each).__name__}")
            if isinstance(each, str):
                self.texts.append(each)
                try:
                    self._patterns[each] = re.compile(each)
                except re.error:
                    self._patterns[each] = re.compile(re.escape(each))  # a name such as "a[0"
            else:
                self.indices.append(each.__index__())

    def restrict(self, known: "list[str]") -> None:
        """An exact name wins: it is then no pattern."""
        for text in self.texts:
            if text in known:
                self._patterns[text] = re.compile(re.escape(text))

    def wants(self, name: str) -> bool:
        """Whether the name is asked for; indices do not count."""
        if self.function is not None:
            return bool(self.function(name))
        return self.all or any(pattern.fullmatch(name) for pattern in self._patterns.values())

    def check(self, known: "list[str]", of: str, also: "Collection[str]" = ()) -> None:
        """A ValueError about the first part that selects nothing, neither one of the known names nor another that counts."""
        for text, pattern in self._patterns.items():
            if not any(pattern.fullmatch(name) for name in (*known, *also)):
                near = difflib.get_close_matches(text, known, 3, 0.4) or known[:3]
                raise ValueError(f"layers: {of} has no layer '{text}'; it has {', '.join(near)}"
                                 + (f" and {len(known) - len(near)} more" if len(known) > len(near) else ""))
        for index in self.indices:
            if not -len(known) <= index < len(known):
                raise ValueError(f"layers: {of} has {len(known)} outputs, and none has the index {index}")

