"""sonde.diff: where two models, dumps, captures or runs part."""
import json
import os
import tempfile
from collections.abc import Mapping
from typing import Any

from ._inspect import Inspection, input_arguments, inspect, kind_of, run_command
from ._tensor_bytes import encode


class Difference:
    """The result of a comparison. It is true if something differs.

    >>> found = sonde.diff({"a": [1.0], "b": [2.0]}, {"a": [1.0], "b": [2.5]})
    >>> bool(found), found.first["tensor"], found["a"]["status"]
    (True, 'b', 'same')
    """

    def __init__(self, answer: "dict[str, Any]", text: str) -> None:
        self.verdict: str = answer["verdict"]
        """"same" or "different"."""
        self.first: "dict[str, Any] | None" = answer["first"]
        """The first tensor that differs, in the order of execution; None if none does."""
        self.tensors: "list[dict[str, Any]]" = answer["tensors"]
        """Every tensor with its status and the measures of its difference."""
        self.answer = answer
        """All that `sonde diff --json` says."""
        self._text = text

    def __bool__(self) -> bool:
        return self.verdict != "same"

    def __getitem__(self, name: str) -> "dict[str, Any]":
        for tensor in self.tensors:
            if tensor["tensor"] == name:
                return tensor
        raise KeyError(name)

    def __repr__(self) -> str:
        first = f", first in {self.first['tensor']!r}" if self.first else ""
        return f"<sonde.Difference: {self.verdict}{first}, {len(self.tensors)} tensors>"

    def __str__(self) -> str:
        return self._text


def diff(a: Any, b: Any, x: Any = None, *, layers: Any = None, rtol: "float | None" = None, atol: "float | None" = None,
         tolerance: "Mapping[str, tuple[float, float]] | None" = None, names: "Mapping[str, str] | None" = None) -> Difference:
    """Compare two models for the same input `x`, or two sets of tensors, and find the first that differs.

    `a` and `b` are each the path of a model, with "@runtime" after it if another one shall run it; a live torch module or Keras
    model; what sonde.inspect returned, or another dict of arrays; or the path of tensors, a capture or a run. `b` is the
    reference of relative errors. `layers` selects the layers of live models. `rtol` and `atol` replace the default tolerance, and
    `tolerance` does so for tensors whose name a pattern matches: {"encoder.*": (rtol, atol)}. `names` says which tensors
    correspond, {name in a: name in b}, where names and order do not tell.

    The ONNX export of a torch module corresponds to it by the paths of the modules that the exporter wrote into the file.

    >>> print(sonde.diff(module, "module.onnx", x))                              # doctest: +SKIP
    >>> sonde.diff("model.onnx", "model.onnx@onnxruntime", x).verdict            # doctest: +SKIP
    'same'
    """
    with tempfile.TemporaryDirectory(prefix="sonde-diff-") as folder:
        pairs = dict(names or {})
        sides = [_Side(value, x, layers) for value in (a, b)]
        for one, other, turned in ((*sides, False), (*reversed(sides), True)):
            if one.live == "torch" and other.path is not None and other.path.partition("@")[0].endswith(".onnx") and not names:
                found = module_outputs(other.path.partition("@")[0], list(one.arrays or {}))
                pairs.update({there: here for here, there in found.items()} if turned else found)
                one.arrays = {name: array for name, array in (one.arrays or {}).items() if name in found}
        command = ["diff", *(side.save(folder, place) for place, side in zip("ab", sides))]
        if x is not None and any(side.is_model for side in sides):
            model = next(side.path for side in sides if side.is_model)
            command += input_arguments(model or "", x, folder)
        if pairs:
            file = os.path.join(folder, "names.txt")
            with open(file, "w") as out:
                out.writelines(f"{here} -> {there}\n" for here, there in pairs.items())
            command += ["--map", file]
        for option, value in (("--rtol", rtol), ("--atol", atol)):
            command += [option, repr(float(value))] if value is not None else []
        for pattern, (relative, absolute) in (tolerance or {}).items():
            command += ["--tolerance", f"{pattern}={float(relative)!r},{float(absolute)!r}"]
        return Difference(json.loads(run_command([*command, "--json"], (0, 1))), run_command(command, (0, 1)))


_MODELS = (".onnx", ".xml", ".tflite", ".pb", ".keras", ".h5", ".pt2")


class _Side:
    """One of the two: a path that the command opens, or arrays that are saved for it."""

    def __init__(self, value: Any, x: Any, layers: Any) -> None:
        self.path: "str | None" = None
        self.arrays: "Mapping[str, Any] | None" = None
        self.live = kind_of(value)
        if isinstance(value, (str, os.PathLike)):
            self.path = os.fspath(value)
        elif isinstance(value, (Inspection, Mapping)):
            self.arrays = value
        elif self.live is not None:
            self.arrays = dict(inspect(value, x, layers))
        else:
            raise TypeError("a and b must be paths, live models or dicts of arrays, not " + type(value).__name__)

    @property
    def is_model(self) -> bool:
        if self.path is None:
            return False
        plain = self.path if os.path.exists(self.path) else self.path.rpartition("@")[0]
        return plain.endswith(_MODELS) or os.path.isfile(os.path.join(plain, "saved_model.pb"))

    def save(self, folder: str, name: str) -> str:
        if self.path is not None:
            return self.path
        path = os.path.join(folder, f"{name}.safetensors")
        with open(path, "wb") as out:
            out.writelines(encode(dict(self.arrays or {})))
        return path


def module_outputs(path: str, modules: "list[str]") -> "dict[str, str]":
    """For each module the value of an ONNX file that is its output: that of the last node that was exported from it."""
    listed = json.loads(run_command(["inspect", path, "--list", "--json"]))
    found: "dict[str, str]" = {}
    for name in modules:
        scopes = (name, f"{name}.")
        inside = [layer["name"] for layer in listed["layers"]
                  if layer.get("scope") == scopes[0] or str(layer.get("scope", "")).startswith(scopes[1])]
        if inside:
            found[name] = inside[-1]
    return found
