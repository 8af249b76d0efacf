"""What happens inside of a compiled training step of Keras: the outputs of layers, and gradients.

On JAX they are taps. On torch, and where TensorFlow runs eagerly, they are recorded at once. A compiled step of TensorFlow may
be XLA, which calls no Python: there gradients are copied into variables, and outputs are reduced to statistics in variables,
under a condition that is a variable too; they are read when the step is over.
"""
import contextlib
import weakref
from typing import Any

import keras

from . import _core, _tap
from ._keras_layers import parts, wrapped_calls


class TrainingValues:
    """The values of the training steps of one model, from `begin` to `end`."""

    def __init__(self, model: Any, layers: dict[str, Any], gradients: bool, recorder: Any, every: int) -> None:
        self._model, self._layers, self._gradients, self._recorder, self._every = model, layers, gradients, recorder, every
        self._backend = keras.backend.backend()
        self._open = contextlib.ExitStack()
        self._graph = _GraphValues() if self._backend == "tensorflow" else None
        self._due = False
        self.training = False

    def begin(self) -> None:
        self._open.enter_context(wrapped_calls(self._layers, self._saw_output))
        optimizer = self._model.optimizer
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)  # of a LossScaleOptimizer: gradients without the scale
        if self._gradients and optimizer is not None:
            apply = optimizer.apply

            def wrapped(grads: Any, trainable_variables: Any = None) -> Any:
                variables = trainable_variables
                if variables is None:
                    variables = getattr(optimizer, "_trainable_variables", self._model.trainable_variables)
                return apply(self._saw_gradients(grads, variables), trainable_variables)

            optimizer.apply = wrapped
            self._open.callback(optimizer.__dict__.pop, "apply", None)

    def end(self) -> None:
        self._open.close()

    def begin_step(self, due: bool) -> None:
        self._due = due
        if self._graph is not None:
            self._graph.enable(due)

    def end_step(self, step: Any) -> None:
        """Record what the step left in variables."""
        if self._graph is not None and self._due:
            for kind, name, value in self._graph.values():
                probe = _tap.probe(self._recorder, name, kind, self._every)
                if probe.wanted(step):
                    probe.record(step, value)

    def _saw_output(self, name: str, output: Any) -> Any:
        if not self.training or any(isinstance(part, keras.KerasTensor) for _, part in parts(name, output)):
            return output
        return keras.tree.pack_sequence_as(output, [self._saw("activation", part, value) for part, value in parts(name, output)])

    def _saw_gradients(self, grads: Any, variables: Any) -> list[Any]:
        if not self.training:
            return list(grads)
        return [gradient if gradient is None else self._saw("gradient", variable_name(self._model, variable), gradient)
                for gradient, variable in zip(grads, variables)]

    def _saw(self, kind: str, name: str, value: Any) -> Any:
        if self._graph is not None and not _eager():
            self._graph.add(kind, name, value)
            return value
        _tap.probe(self._recorder, name, kind, self._every)
        # What JAX traces asks the policy when the value arrives.
        enabled = self._due or self._backend == "jax"
        return _tap._tap(name, value, None, self._recorder, enabled, kind)


def variable_name(model: Any, variable: Any) -> str:
    """dense/kernel: the path of a variable below its model."""
    return variable.path.removeprefix(f"{model.name}/")


def _eager() -> bool:
    import tensorflow as tf
    return tf.executing_eagerly()


class _GraphValues:
    """Values of a graph of TensorFlow, in variables that the graph writes while it is enabled."""

    def __init__(self) -> None:
        import tensorflow as tf
        self._tf = tf
        self._enabled = tf.Variable(False, trainable=False, name="sonde_enabled")
        self._calls: "weakref.WeakKeyDictionary[Any, dict[tuple[str, str], int]]" = weakref.WeakKeyDictionary()
        self._variables: dict[tuple[str, str, int], list[Any]] = {}
        self._shapes: dict[tuple[str, str, int], tuple[Any, str]] = {}

    def enable(self, due: bool) -> None:
        self._enabled.assign(due)

    def add(self, kind: str, name: str, value: Any) -> None:
        tf = self._tf
        value = tf.stop_gradient(tf.convert_to_tensor(value))
        calls = self._calls.setdefault(tf.compat.v1.get_default_graph(), {})
        number = calls[kind, name] = calls.get((kind, name), -1) + 1
        key = (kind, name, number)
        results = (lambda: [value]) if kind == "gradient" else (lambda: statistics(tf, value))
        if key not in self._variables:
            shapes = [(value.shape, value.dtype)] if kind == "gradient" else [([7], tf.int64), ([5], tf.float64), ([8], tf.int64)]
            with tf.init_scope():
                self._variables[key] = [tf.Variable(tf.zeros(shape, dtype), trainable=False) for shape, dtype in shapes]
            self._shapes[key] = (value.shape, value.dtype.name)
        variables = self._variables[key]

        def write() -> Any:
            for variable, result in zip(variables, results(), strict=True):
                variable.assign(result)
            return tf.constant(True)

        tf.cond(self._enabled, write, lambda: tf.constant(False))

    def values(self) -> list[tuple[str, str, Any]]:
        found = []
        for (kind, name, _), variables in self._variables.items():
            if kind == "gradient":
                found.append((kind, name, variables[0].numpy()))
                continue
            counts, floats, shape = (variable.numpy() for variable in variables)
            if counts[0] == 0:
                continue  # a branch that was not taken
            dtype = _DTYPES.get(self._shapes[kind, name, _][1], "f32")
            rank = len(self._shapes[kind, name, _][0])
            found.append((kind, name, _core.Statistics(
                shape=[int(size) for size in shape[:rank]], dtype=dtype, nan=int(counts[1]), positive_infinity=int(counts[2]),
                negative_infinity=int(counts[3]), zeros=int(counts[4]), negatives=int(counts[5]), min=floats[0], max=floats[1],
                mean=floats[2], m2=floats[3], sum_abs=floats[4])))
        return found


_DTYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "bool": "bool",
           "uint8": "u8", "int8": "i8"}


def statistics(tf: Any, value: Any) -> list[Any]:
    """Counts, numbers and the shape of a tensor, as a graph computes them: what sonde.Statistics takes."""
    x = tf.cast(value, tf.float64 if value.dtype in (tf.float64, tf.int64) else tf.float32)
    finite = tf.math.is_finite(x)
    number = tf.math.count_nonzero(finite, dtype=tf.int64)
    infinite = tf.math.is_inf(x)
    counts = [tf.size(x, tf.int64), tf.math.count_nonzero(tf.math.is_nan(x), dtype=tf.int64),
              tf.math.count_nonzero(infinite & (x > 0), dtype=tf.int64), tf.math.count_nonzero(infinite & (x < 0), dtype=tf.int64),
              tf.math.count_nonzero(tf.equal(x, 0), dtype=tf.int64), tf.math.count_nonzero(x < 0, dtype=tf.int64), number]
    zero = tf.zeros_like(x)
    only = tf.where(finite, x, zero)
    some = tf.cast(tf.maximum(number, 1), x.dtype)
    mean = tf.reduce_sum(only) / some
    nothing = tf.constant(float("nan"), x.dtype)
    floats = [tf.where(number > 0, tf.reduce_min(tf.where(finite, x, x.dtype.max)), nothing),
              tf.where(number > 0, tf.reduce_max(tf.where(finite, x, x.dtype.min)), nothing),
              tf.where(number > 0, mean, nothing), tf.reduce_sum(tf.where(finite, tf.square(only - mean), zero)),
              tf.reduce_sum(tf.abs(only))]
    shape = tf.shape(x, tf.int64)
    return [tf.stack(counts), tf.cast(tf.stack(floats), tf.float64), tf.concat([shape, tf.zeros([8 - x.shape.rank], tf.int64)], 0)]
