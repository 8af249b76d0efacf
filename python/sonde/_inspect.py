"""sonde.inspect: the outputs of the layers of a model, for some input."""
import difflib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any, Iterator

from ._kept import open_tensors
from ._layer_names import Names
from ._program import program
from ._tensor_bytes import encode


class Inspection(Mapping):
    """The outputs of layers by name, in the order of execution: a mapping of NumPy arrays.

    >>> found = sonde.Inspection({"dense_1": [1.0, 2.0]}, runtime="openvino 2026.4.1")
    >>> list(found), found["dense_1"], found.runtime
    (['dense_1'], [1.0, 2.0], 'openvino 2026.4.1')
    """

    def __init__(self, arrays: "Mapping[str, Any]", runtime: str = "", missing: "Mapping[str, str] | None" = None) -> None:
        self._arrays = dict(arrays)
        self.runtime = runtime
        """Who computed the numbers: the runtime, its version and the precision."""
        self.missing = dict(missing or {})
        """Layers that were asked for and have no array, and why."""

    def __getitem__(self, name: str) -> Any:
        try:
            return self._arrays[name]
        except KeyError:
            if name in self.missing:
                raise KeyError(f"there is no array of {name!r}: {self.missing[name]}") from None
            near = difflib.get_close_matches(str(name), self._arrays, 3, 0.4)
            raise KeyError(f"there is no layer {name!r}" + (f"; is it {' or '.join(map(repr, near))}?" if near else "")) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}{list(getattr(array, 'shape', []))}" for name, array in list(self._arrays.items())[:6])
        return f"<sonde.Inspection by {self.runtime or 'nobody'}: {shown}{', ...' if len(self) > 6 else ''}>"


def inspect(model: Any, x: Any = None, layers: Any = None, runtime: "str | None" = None, *, precision: str = "f32",
            signature: str = "") -> Inspection:
    """The outputs of the layers of a model for the input `x`, by name, without changing the model.

    `model` is the path of a file (ONNX, SavedModel, frozen graph, TFLite, OpenVINO IR, .keras, .h5, .pt2), a torch module or a
    Keras model. `x` is an array or a tensor; a list or tuple of them if there are several inputs; or a dict by name. `layers`
    says which: names, regular expressions that match a whole name, indices in the order of execution (of a Keras model: those
    of model.layers), or a list of those; None are all. `runtime` chooses another one than the file's own: "onnxruntime",
    "tensorflow", "openvino". `precision` and `signature` (of a SavedModel) are for files, which run in a process of the
    command `sonde`: nothing that a runtime loads or breaks touches this one.

    A live module runs in inference mode, without gradients; afterwards it is as it was before. A module that is called several
    times has the outputs NAME, NAME#1, and one that returns several tensors NAME/0, NAME/1.

    >>> outputs = sonde.inspect("model.onnx", x, layers=["dense_1", 2])         # doctest: +SKIP
    >>> outputs = sonde.inspect(torch_module, x, layers="encoder.*")            # doctest: +SKIP
    >>> outputs["encoder.0"].mean(), outputs.runtime                            # doctest: +SKIP
    (0.01, 'torch 2.15.0, f32')
    """
    if isinstance(model, (str, os.PathLike)):
        return _inspect_file(os.fspath(model), x, layers, runtime, precision, signature)
    kind = kind_of(model)
    if kind is None:
        raise TypeError(f"model must be the path of a file, a torch module or a Keras model, not {type(model).__name__}")
    if runtime not in (None, kind):
        raise ValueError(f"runtime: a live {kind} model runs in {kind}, not in {runtime!r}")
    if x is None:
        raise ValueError("x must be given: the input of the model")
    if kind == "keras":
        return _inspect_keras(model, x, layers)
    from ._inspect_torch import inspect_module
    return Inspection(*inspect_module(model, x, layers))


def kind_of(model: Any) -> "str | None":
    """Which framework a live model belongs to. A Keras model on torch is a module of both."""
    for name, type_name in (("keras", "Model"), ("torch.nn", "Module")):
        module = sys.modules.get(name)
        if module is not None and isinstance(model, getattr(module, type_name)):
            return name.partition(".")[0]
    return None


def _inspect_keras(model: Any, x: Any, layers: Any) -> Inspection:
    import keras

    from . import _keras_layers
    outputs = _keras_layers.SampleOutputs(model, _keras_layers.select(model, layers), x)
    return Inspection(dict(outputs.values()), f"keras {keras.__version__} on {keras.backend.backend()}, {keras.config.floatx()}")


def _inspect_file(path: str, x: Any, layers: Any, runtime: "str | None", precision: str, signature: str) -> Inspection:
    if x is None:
        raise ValueError("x must be given: the input of the model")
    with tempfile.TemporaryDirectory(prefix="sonde-inspect-") as folder:
        command = ["inspect", f"{path}@{runtime}" if runtime else path, "--json", *input_arguments(path, x, folder)]
        for option, value, default in (("--precision", precision, "f32"), ("--signature", signature, "")):
            if value != default:
                command += [option, value]
        saved = os.path.join(folder, "out")
        chosen = _selection(layers) or ["--taps", "all"]
        answer = json.loads(run_command([*command, *chosen, "--save", saved, "--format", "safetensors"]))
        file = open_tensors(os.path.join(saved, "layers.safetensors"))
        # The elements are mapped, and stay when the file is deleted.
        arrays = {layer["name"]: file[layer["name"]] for layer in answer["layers"] if "missing" not in layer}
    missing = {layer["name"]: layer["missing"] for layer in answer["layers"] if "missing" in layer}
    return Inspection(arrays, f"{answer['runtime']} {answer['version']}, {answer['precision']}", missing)


def _selection(layers: Any) -> list[str]:
    if callable(layers):
        raise TypeError("layers of a file must be names, patterns or indices, not a function")
    names = Names(layers)
    # The command line takes brackets around a whole value for those of a list.
    texts = [f"(?:{text})" if text.startswith("[") else text for text in names.texts]
    words = [word for text in texts for word in ("--layers", text)]
    return words + (["--index", ",".join(map(str, names.indices))] if names.indices else [])


def input_arguments(path: str, x: Any, folder: str) -> list[str]:
    """The options that give `x` to the command, after it is saved to files in this folder."""
    if isinstance(x, (str, os.PathLike)):
        return ["--input", os.fspath(x)]
    if not isinstance(x, Mapping):
        given = list(x) if isinstance(x, (list, tuple)) and any(hasattr(each, "shape") for each in x) else [x]
        listed = {"inputs": [{"name": ""}]} if len(given) == 1 and not _is_small_float(given[0]) else \
            json.loads(run_command(["inspect", path, "--list", "--json"]))
        names = [each["name"] for each in listed["inputs"]]
        if len(given) > len(names):
            raise ValueError(f"x: '{path}' has {len(names)} inputs, but {len(given)} were given")
        x = dict(zip(names, given))
    file = os.path.join(folder, "x.safetensors" if "" not in x else "x.npy")
    if "" in x:
        import numpy
        numpy.save(file, _plain(x[""]))
    else:
        with open(file, "wb") as out:
            out.writelines(encode({name: _plain(value) for name, value in x.items()}))
    return ["--input", file]


def _is_small_float(value: Any) -> bool:
    return str(getattr(value, "dtype", "")).removeprefix("torch.") in ("bfloat16", "float8_e4m3fn", "float8_e5m2")


def _plain(value: Any) -> Any:
    if hasattr(value, "detach"):
        from ._inspect_torch import to_numpy
        return to_numpy(value)
    import numpy
    return numpy.asarray(value)


def run_command(arguments: "list[str]", codes: "tuple[int, ...]" = (0,)) -> str:
    """What the command prints; an error of it is a ValueError with its sentence. Its workers run in this interpreter."""
    done = subprocess.run([program(), *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "SONDE_PYTHON": os.environ.get("SONDE_PYTHON") or sys.executable})
    if done.returncode not in codes:
        lines = done.stderr.strip().splitlines() or [f"the command ended with code {done.returncode}"]
        raise ValueError(lines[-1].removeprefix("sonde: "))
    return done.stdout
