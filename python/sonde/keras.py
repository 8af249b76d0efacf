"""Keras 3, on TensorFlow, JAX and torch: sonde.keras.Recorder is a callback, inspection_model a function."""
import os
import warnings
from typing import Any

try:
    import keras
except ImportError:
    raise ImportError("sonde.keras needs Keras 3: pip install keras") from None

import numpy

from . import _tap
from ._arguments import count, flag, path, recording
from ._errors import RecordingWarning
from ._keras_layers import SampleOutputs, inspection_model, select
from ._keras_training import TrainingValues, variable_name
from ._recorder import Recorder as _Recorder

__all__ = ["Recorder", "inspection_model"]


class Recorder(keras.callbacks.Callback):
    """A callback of `fit` that records a training run.

    - Metrics: of every batch under their own names (Keras gives the mean since the epoch began), of every epoch as epoch/loss
      and epoch/val_loss. The step is the number of batches since the optimizer was new.
    - Every `every` batches: the weights, the gradients, and the outputs of `layers`: all, or those that a regular expression,
      a name, an index, a list of those or a function selects. A `policy` decides instead where there is one.
    - With a sample, `validation_sample=(x, y, n)` or `sample=x`, the outputs are inference-mode values of the sample, named
      sample/<layer>, computed by a model beside the original; `method` says how. Without one they are those of the training
      batches; in a compiled step of TensorFlow their statistics only.
    - `images`: a picture of every layer's output for the sample, at the end of every epoch.
    - `validation_sample`: n rows of labels and predictions, appended to tables/validation.*.csv at the end of every epoch.

    `recorder` is the sonde.Recorder that writes into `log_dir`; it may be used beside.

    >>> model.fit(x, y, callbacks=[sonde.keras.Recorder("logs/train", layers="dense_.*")])      # doctest: +SKIP
    """

    def __init__(self, log_dir: str | os.PathLike[str], layers: Any = None, every: int = 100, images: bool = False,
                 validation_sample: Any = None, *, sample: Any = None, weights: bool = True, gradients: bool = True,
                 activations: bool = True, policy: Any = None, **options: Any) -> None:
        super().__init__()
        path("log_dir", log_dir)
        count("every", every)
        for name, value in (("images", images), ("weights", weights), ("gradients", gradients), ("activations", activations)):
            flag(name, value)
        self._validation = _checked_sample(validation_sample)
        self._sample = self._validation[0] if sample is None and self._validation is not None else sample
        if images and self._sample is None:
            raise ValueError("images needs a sample: validation_sample=(x, y, n) or sample=x")
        self._layers, self._every, self._images = layers, every, images
        self._weights, self._gradients, self._activations = weights, gradients, activations
        self._has_policy = policy is not None
        self.recorder = _Recorder(log_dir, **recording(policy, options))
        self.method = ""
        self._outputs: SampleOutputs | None = None
        self._training: TrainingValues | None = None
        self._step: Any = None
        self._first = self._number = 0

    def close(self) -> None:
        """Flush and end the files. The end of the program does so too."""
        self._stop()
        self.recorder.close()

    def set_model(self, model: Any) -> None:
        super().set_model(model)
        if self._gradients or self._activations:
            model.train_function = None  # one that was compiled before would not see what is recorded

    def on_train_begin(self, logs: Any = None) -> None:
        self._stop()
        model = self.model
        optimizer = model.optimizer
        self._first = self._number = 0 if optimizer is None else int(keras.ops.convert_to_numpy(optimizer.iterations))
        chosen = select(model, self._layers) if self._activations else {}
        if keras.backend.backend() == "torch" and model.jit_compile and (self._gradients or chosen and self._sample is None):
            raise ValueError("sonde.keras.Recorder cannot look into a training step that torch compiles: call "
                             "model.compile(jit_compile=False), or use Recorder(gradients=False, sample=x)")
        self._outputs = None
        if chosen and self._sample is not None:
            self._outputs = SampleOutputs(model, chosen, self._sample)
            self.method = self._outputs.method
            if self._outputs.reason:
                warnings.warn(f"the outputs of the layers of '{model.name}' are recorded by wrapping the calls of the layers, "
                              f"because the model cannot be traced again: {self._outputs.reason}", RecordingWarning, stacklevel=2)
            chosen = {}
        elif chosen:
            self.method = "training step"
        self._training = TrainingValues(model, chosen, self._gradients, self.recorder, self._every)
        self._training.begin()

    def on_train_end(self, logs: Any = None) -> None:
        self._stop()
        self.recorder.flush()

    def _stop(self) -> None:
        if self._step is not None:
            self._step.end()
            self._step = None
        if self._training is not None:
            self._training.end()
            self._training = None
            if self._gradients or self._activations:
                self.model.train_function = None  # the next one is compiled without us

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.recorder.epoch(epoch)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._number = self._first + batch
        self._step = self.recorder.step(self._number)
        self._training.training = True
        self._training.begin_step(self._due())

    def _due(self) -> bool:
        return self._has_policy or self._number % self._every == 0

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._training.training = False
        for name, value in (logs or {}).items():
            self.recorder.scalar(name, float(value), self._number)
        if self._due():
            self._training.end_step(self._step)
            self._record_state()
        self._step.end()
        self._step = None
        self._number = self._first + batch  # of the last batch, where several are one execution

    def _record_state(self) -> None:
        if self._weights or self._outputs is not None:
            self._sync()
        if self._weights:
            for variable in self.model.trainable_variables:
                probe = _tap.probe(self.recorder, variable_name(self.model, variable), "weight", self._every)
                if probe.wanted(self._step):
                    probe.record(self._step, keras.ops.convert_to_numpy(variable))
        if self._outputs is not None:
            for name, value in self._outputs.values():
                probe = _tap.probe(self.recorder, f"sample/{name}", "activation", self._every)
                if probe.wanted(self._step):
                    probe.record(self._step, value)

    def _sync(self) -> None:
        if hasattr(self.model, "jax_state_sync"):  # on JAX, variables are behind while an epoch runs
            self.model.jax_state_sync()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        for name, value in (logs or {}).items():
            self.recorder.scalar(f"epoch/{name}", float(value), self._number)
        self._sync()
        if self._images and self._outputs is not None:
            for name, value in self._outputs.values():
                picture, layout = _picture(value)
                if picture is not None:
                    self.recorder.image(f"activation/sample/{name}/image", picture, self._number, layout)
        if self._validation is not None:
            self._record_validation(epoch)
        self._first = self._number + 1

    def _record_validation(self, epoch: int) -> None:
        x, y, n = self._validation
        predictions = keras.tree.flatten(self.model(x, training=False))
        labels = keras.tree.flatten(y)
        columns: dict[str, Any] = {"epoch": numpy.full(n, epoch)}
        for kind, values in (("label", labels), ("prediction", predictions)):
            for number, value in enumerate(values):
                columns[kind if len(values) == 1 else f"{kind}_{number}"] = keras.ops.convert_to_numpy(value)[:n]
        self.recorder.table("validation", columns, self._number)

    def on_test_end(self, logs: Any = None) -> None:
        if self._training is None:  # `evaluate`, by itself
            for name, value in (logs or {}).items():
                self.recorder.scalar(f"evaluate/{name}", float(value), self._number)


def _checked_sample(given: Any) -> Any:
    """(x, y, n) with n rows of x and y."""
    if given is None:
        return None
    if not isinstance(given, (tuple, list)) or len(given) != 3:
        raise ValueError("validation_sample must be (x, y, n): inputs, labels and how many rows of them")
    x, y, n = given
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError(f"validation_sample must name at least one row, not {n!r}")
    shapes = [numpy.shape(part) for part in keras.tree.flatten([x, y])]
    if not shapes or not all(shapes) or min(shape[0] for shape in shapes) == 0:
        raise ValueError("validation_sample must hold arrays with rows, not numbers or nothing")
    rows = min(shape[0] for shape in shapes)
    n = min(n, rows)
    return keras.tree.map_structure(lambda part: part[:n], x), keras.tree.map_structure(lambda part: part[:n], y), n


def _picture(value: Any) -> tuple[Any, str]:
    """An output as a picture, and the names of its axes; of sequences and planes the first ones. None for single numbers."""
    if value.ndim == 4:
        return value[:4], "NHWC" if keras.config.image_data_format() == "channels_last" else "NCHW"
    if value.ndim == 3:
        return value[:4], "NHW"
    if value.ndim == 2:
        return value, "HW"
    return None, ""
