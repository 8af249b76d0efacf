"""The layers of a Keras model: which of them, and what they compute for a sample."""
import contextlib
import functools
import re
from typing import Any, Callable, Iterator

import keras


def select(model: Any, layers: Any) -> dict[str, Any]:
    """Layers by name, in the model's order: all for None; a regular expression that matches the whole name, an index, a
    layer, a list of those, or a function of a layer that returns a bool."""
    known = {layer.name: layer for layer in model.layers if not isinstance(layer, keras.layers.InputLayer)}
    if layers is None:
        return known
    if callable(layers) and not isinstance(layers, keras.layers.Layer):
        return {name: layer for name, layer in known.items() if layers(layer)}
    wanted: set[str] = set()
    for each in layers if isinstance(layers, (list, tuple)) else [layers]:
        if isinstance(each, bool) or not isinstance(each, (str, int, keras.layers.Layer)):
            raise TypeError(f"layers must be a name, an index, a layer, a list of those, or a function, not {type(each).__name__}")
        if isinstance(each, int):
            try:
                found = [model.layers[each].name]
            except IndexError:
                raise ValueError(f"layers: the model '{model.name}' has {len(model.layers)} layers, and none has the index "
                                 f"{each}") from None
        elif isinstance(each, keras.layers.Layer):
            found = [each.name]
        else:
            found = [each] if each in known else _matching(each, known)
        if not found or not set(found) <= set(known):
            raise ValueError(f"layers: the model '{model.name}' has no layer {each!r}; it has {', '.join(known)}")
        wanted.update(found)
    return {name: layer for name, layer in known.items() if name in wanted}


def _matching(pattern: str, names: dict[str, Any]) -> list[str]:
    try:
        return [name for name in names if re.fullmatch(pattern, name)]
    except re.error as error:
        raise ValueError(f"layers: {pattern!r} is neither a name nor a regular expression: {error}") from None


@contextlib.contextmanager
def wrapped_calls(layers: dict[str, Any], saw: Callable[[str, Any], Any]) -> Iterator[None]:
    """While it is open, the output of these layers goes through a function of (name, output) that returns the output."""
    names = {id(layer): name for name, layer in layers.items()}
    original = keras.layers.Layer.__call__

    @functools.wraps(original)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        output = original(self, *arguments, **options)
        name = names.get(id(self))
        return output if name is None else saw(name, output)

    keras.layers.Layer.__call__ = call
    try:
        yield
    finally:
        keras.layers.Layer.__call__ = original


def parts(name: str, output: Any) -> list[tuple[str, Any]]:
    """An output that is a tuple, list or dict, as name/0 or name/key; others by their name."""
    if isinstance(output, dict):
        return [part for key, value in output.items() for part in parts(f"{name}/{key}", value)]
    if isinstance(output, (tuple, list)):
        return [part for number, value in enumerate(output) for part in parts(f"{name}/{number}", value)]
    return [(name, output)]


def inspection_model(model: Any, layers: Any = None, sample: Any = None) -> Any:
    """A model beside the original, with the same layers and weights, that returns the outputs of some of its layers: a list in
    the model's order, or the output itself if it is one. `layers` are names, indices, a regular expression, a function; all for None.

    A subclassed model is traced again with Keras's symbolic tensors: give it a `sample` of its inputs. That works where its
    `call` uses layers and keras.ops only.

    >>> inspect = sonde.keras.inspection_model(model, ["dense_1", 2])           # doctest: +SKIP
    >>> first, second = inspect(x)                                              # doctest: +SKIP
    """
    inputs, outputs = _symbolic(model, select(model, layers), sample)
    if not outputs:
        raise ValueError(f"layers: nothing of the model '{model.name}' is selected")
    return keras.Model(inputs, [output for _, output in outputs] if len(outputs) > 1 else outputs[0][1],
                       name=f"{model.name}_inspection")


def _symbolic(model: Any, layers: dict[str, Any], sample: Any) -> tuple[Any, list[tuple[str, Any]]]:
    """Symbolic inputs, and the outputs that are computed from them, by name."""
    if isinstance(model, keras.Sequential) and not model.built:
        if sample is None:
            raise ValueError(f"sample must be given, because the model '{model.name}' was not built yet")
        model(sample)
    if getattr(model, "inputs", None):  # Sequential and functional models are graphs already
        inputs = model.inputs[0] if len(model.inputs) == 1 else getattr(model, "_inputs_struct", model.inputs)
        return inputs, [part for name, layer in layers.items() for part in parts(name, layer.output)]
    if sample is None:
        raise ValueError(f"sample must be given, because the model '{model.name}' is subclassed: its inputs are not known")
    inputs = keras.tree.map_structure(
        lambda array: keras.Input(batch_shape=(None, *array.shape[1:]), dtype=keras.backend.standardize_dtype(array.dtype)), sample)
    outputs: list[tuple[str, Any]] = []

    def saw(name: str, output: Any) -> Any:
        calls = sum(known == name or known.startswith(f"{name}#") for known, _ in outputs)
        outputs.extend(parts(f"{name}#{calls}" if calls else name, output))
        return output

    with wrapped_calls(layers, saw):
        model.call(inputs)
    return inputs, outputs


class SampleOutputs:
    """What the layers of a model compute for a sample, in inference mode. `method` says how they are found: by an
    inspection model, or by wrapping the calls of the layers where the model cannot be traced again, for `reason`."""

    def __init__(self, model: Any, layers: dict[str, Any], sample: Any) -> None:
        self._model, self._layers, self._sample = model, layers, sample
        self.reason = ""
        try:
            inputs, outputs = _symbolic(model, layers, sample)
            self._names = [name for name, _ in outputs]
            self._inspection = keras.Model(inputs, [output for _, output in outputs])
            self.values()
            self.method = "inspection model"
        except Exception as error:  # whatever the program's `call` does with a symbolic tensor
            self._inspection = None
            self.method = "wrapped calls"
            self.reason = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"

    def values(self) -> list[tuple[str, Any]]:
        """(name, array) in the order of execution."""
        if self._inspection is not None:
            outputs = self._inspection(self._sample, training=False)
            outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
            found = list(zip(self._names, outputs, strict=True))
        else:
            found = []

            def saw(name: str, output: Any) -> Any:
                found.extend(parts(name, output))
                return output

            with wrapped_calls(self._layers, saw):
                self._model(self._sample, training=False)
        return [(name, keras.ops.convert_to_numpy(output)) for name, output in found]
