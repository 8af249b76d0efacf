"""tf.summary, written by Sonde: the same functions and signatures, in eager code and inside tf.function.

>>> import sonde.tf_summary as summary                                          # was: from tensorflow import summary
>>> writer = summary.create_file_writer(directory)
>>> with writer.as_default():
...     for step in range(3):
...         _ = summary.scalar("loss", 1 / (step + 1), step=step)

`record_if`, `should_record_summaries`, `experimental.set_step`, `experimental.get_step`, `experimental.summary_scope`,
`trace_on` and `trace_off` are TensorFlow's own: both share the default writer, the step and the condition.

Inside tf.function a summary belongs to this process: it works in every graph that runs here, but not in a SavedModel that
another process loads, and not with jit_compile=True, where TensorFlow refuses its own summaries too.
"""
import os
import tempfile
import types
from typing import Any, Callable

try:
    import tensorflow as tf
    from tensorflow.python.ops.summary_ops_v2 import _summary_state
except ImportError:
    raise ImportError("sonde.tf_summary needs TensorFlow: pip install tensorflow; without it use "
                      "sonde.SummaryWriter") from None

import numpy

from . import _current
from ._recorder import Recorder
from ._tensorflow_graph import Numbers, callback, in_function, refuse_xla

record_if = tf.summary.record_if
should_record_summaries = tf.summary.should_record_summaries
trace_on = tf.summary.trace_on
trace_off = tf.summary.trace_off

__all__ = ["SummaryWriter", "audio", "create_file_writer", "create_noop_writer", "experimental", "flush", "graph", "histogram",
           "image", "record_if", "scalar", "should_record_summaries", "text", "trace_export", "trace_off", "trace_on", "write"]

_WAV = b"\x10\x0b"  # AudioPluginData { encoding = 2: WAV }
_V2_COLLECTION = "_SUMMARY_V2"  # what tf.compat.v1.summary.all_v2_summary_ops returns


class _AsDefault:
    """What `as_default` returns: TensorFlow's, but leaving it inside a tf.function does not wait for the disk."""

    def __init__(self, writer: "SummaryWriter", step: Any) -> None:
        self._writer, self._step = writer, step

    def __enter__(self) -> "SummaryWriter":
        self._before = (_summary_state.writer, _summary_state.step)
        _summary_state.writer = self._writer
        if self._step is not None:
            _summary_state.step = self._step
        return self._writer

    def __exit__(self, *error: object) -> None:
        if tf.executing_eagerly():
            self._writer.flush()
        _summary_state.writer = self._before[0]
        if self._step is not None:
            _summary_state.step = self._before[1]


class SummaryWriter(tf.summary.SummaryWriter):
    """What `create_file_writer` returns. `recorder` is the sonde.Recorder that writes.

    >>> writer = sonde.tf_summary.create_file_writer(directory)                 # doctest: +SKIP
    >>> writer.recorder.scalar("loss", 0.5, 1)                                  # doctest: +SKIP
    """

    def __init__(self, recorder: Recorder, saved: bool = False) -> None:
        self.recorder = recorder
        self._native: Any = None
        self._numbers: Numbers | None = None
        self._saved = saved  # with a model, which cannot hold a queue

    @property
    def _resource(self) -> Any:
        # Libraries that call tf.summary itself while this writer is the default get a file of TensorFlow's beside ours.
        if self._native is None:
            with tf.init_scope():
                self._native = tf.summary.create_file_writer(self.recorder.directory, filename_suffix=".tensorflow")
        return self._native._resource

    def as_default(self, step: Any = None) -> _AsDefault:
        """A context manager in which summaries go to this writer, at `step` where they name none."""
        if tf.executing_eagerly() and self.recorder.closed:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")
        return _AsDefault(self, step)

    def set_as_default(self, step: Any = None) -> None:
        """From now on summaries of this thread go to this writer."""
        self.as_default(step).__enter__()

    def init(self) -> Any:
        """Nothing: a writer is open when it was created."""
        return tf.no_op()

    def flush(self) -> Any:
        """Return when everything recorded so far is in the files."""
        native = None if self._native is None else self._native.flush()
        return self._call(self.recorder.flush, native)

    def close(self) -> Any:
        """Flush and end the files."""
        native = None if self._native is None else self._native.close()
        return self._call(self._close, native)

    def _close(self) -> None:
        self.recorder.close()
        if self._numbers is not None:
            self._numbers.close()

    def _queue(self) -> Numbers | None:
        """Where the function that is being traced leaves its numbers; None: it calls back."""
        if self._saved or not in_function():
            return None
        if self._numbers is None:
            self._numbers = Numbers(self.recorder)
        return self._numbers

    def _call(self, function: Callable[[], None], before: Any) -> Any:
        if tf.executing_eagerly():
            if not self.recorder.closed:
                function()
            return None
        with tf.control_dependencies([] if before is None else [before]):
            return callback(lambda: None if self.recorder.closed else function(), [], "sonde_writer")

    def __repr__(self) -> str:
        return f"<sonde.tf_summary.SummaryWriter {self.recorder.directory!r}{' closed' if self.recorder.closed else ''}>"


_current.chosen.append(lambda: _summary_state.writer.recorder if isinstance(_summary_state.writer, SummaryWriter)
                       and not _summary_state.writer.recorder.closed else None)


def create_file_writer(logdir: Any, max_queue: Any = None, flush_millis: Any = None, filename_suffix: Any = None,
                       name: str | None = None, experimental_trackable: bool = False,
                       experimental_mesh: Any = None) -> SummaryWriter:
    """A writer of a run, as tf.summary.create_file_writer. Everything is in the file within two tenths of a second; less where
    `flush_millis` is shorter. `max_queue` and `name` change nothing. With `experimental_trackable` functions that write can be
    part of a SavedModel; their numbers then cost more.

    >>> writer = sonde.tf_summary.create_file_writer(directory)                 # doctest: +SKIP
    """
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    if experimental_mesh is not None:
        raise ValueError("experimental_mesh is not supported: record the tensors of one host")
    for argument, value in (("logdir", logdir), ("filename_suffix", filename_suffix), ("flush_millis", flush_millis)):
        if tf.is_tensor(value) and not hasattr(value, "numpy"):
            raise ValueError(f"{argument} must not be a tensor of a graph: the writer is created before the graph runs")
    interval = 0.1 if flush_millis is None else min(0.1, float(flush_millis) / 1000)
    suffix = ".v2" if filename_suffix is None else _text(filename_suffix)
    return SummaryWriter(Recorder(_text(logdir), flush_interval=interval, file_suffix=suffix), bool(experimental_trackable))


def create_noop_writer() -> Any:
    """A writer that records nothing: TensorFlow's own.

    >>> writer = sonde.tf_summary.create_noop_writer()                          # doctest: +SKIP
    """
    return tf.summary.create_noop_writer()


def _text(value: Any) -> str:
    if hasattr(value, "numpy"):
        value = value.numpy()
    return value.decode() if isinstance(value, bytes) else os.fspath(value)


def _tag(name: str) -> str:
    scope = tf.get_current_name_scope()
    return f"{scope}/{name}" if scope else name


def _writer() -> SummaryWriter | None:
    writer = _summary_state.writer
    if writer is None or isinstance(writer, SummaryWriter):
        return writer
    if isinstance(writer, type(tf.summary.create_noop_writer())):
        return None
    raise ValueError(f"the default writer is {writer!r}: create it with sonde.tf_summary.create_file_writer")


def _recording() -> Any:
    if _summary_state.is_recording is None and _summary_state.is_recording_distribution_strategy is True:
        return True  # what should_record_summaries would say, but without a tensor
    return tf.summary.should_record_summaries()


def _step(step: Any) -> Any:
    """An int where it is known, otherwise a tensor of int64."""
    if step is None:
        step = tf.summary.experimental.get_step()
        if step is None:
            raise ValueError("No step set. Please specify one either through the `step` argument or through "
                             "tf.summary.experimental.set_step()")
    if type(step) is int:
        return step
    step = tf.convert_to_tensor(step)
    if not step.dtype.is_integer:
        raise TypeError(f"step must be an integer, not {step.dtype.name}")
    if step.shape.num_elements() not in (1, None):
        raise ValueError(f"Argument `step` must be a scalar. Received step with shape {step.shape}.")
    step = tf.reshape(tf.cast(step, tf.int64), [])
    return int(step) if tf.executing_eagerly() else step


def _record(step: Any, tensors: Callable[[], list[Any]], record: Callable[..., None], number_of: str | None = None) -> Any:
    """Runs record(recorder, step, values of the tensors) if summaries are recorded: now, or when the graph runs. `number_of`:
    the value is a number with this tag and nothing else."""
    if step is not None:
        step = _step(step)
    writer = _writer()
    if writer is None:
        return tf.constant(False)
    refuse_xla("a summary of sonde.tf_summary")

    def write() -> Any:
        number = _step(step)
        if tf.executing_eagerly():
            if writer._numbers is not None and number_of is not None and writer._numbers.has(number_of):
                writer._numbers.drain()  # what came before
            record(writer.recorder, number, *[_value(each) for each in tensors()])
            return tf.constant(True)
        if number_of is not None and (queue := writer._queue()) is not None:
            return queue.put(number_of, number, *tensors())
        values = [tf.convert_to_tensor(number, tf.int64), *map(tf.convert_to_tensor, tensors())]
        return callback(lambda number, *values: record(writer.recorder, int(number), *values), values, "sonde_summary")

    condition = _recording()
    known = condition if isinstance(condition, bool) else tf.get_static_value(condition)
    if known is not None:
        done = write() if known else tf.constant(False)
    else:
        done = tf.cond(condition, write, lambda: tf.constant(False))
    if not tf.executing_eagerly():
        tf.compat.v1.add_to_collection(_V2_COLLECTION, done)
    return done


def _value(tensor: Any) -> Any:
    return tensor.numpy() if hasattr(tensor, "numpy") else numpy.asarray(tensor)


def _put(recorder: Recorder, tag: str, step: int, value: Any, metadata: Any) -> None:
    """Records a tensor with any metadata, a SummaryMetadata or its bytes, as one event."""
    event = tf.compat.v1.Event(step=step)
    put = event.summary.value.add(tag=tag, tensor=tf.make_tensor_proto(value))
    if isinstance(metadata, bytes):
        put.metadata.ParseFromString(metadata)
    elif metadata is not None:
        put.metadata.CopyFrom(metadata)
    recorder.event(event.SerializeToString())


def _metadata(plugin: str, description: str | None, content: bytes = b"") -> Any:
    metadata = tf.compat.v1.Summary.Value().metadata
    metadata.plugin_data.plugin_name = plugin
    metadata.plugin_data.content = content
    metadata.summary_description = description or ""
    return metadata


def _check_rank(data: Any, rank: int, argument: str = "data") -> None:
    shape = data.shape if hasattr(data, "shape") else numpy.shape(data)
    found = getattr(shape, "rank", None) if isinstance(shape, tf.TensorShape) else len(shape)
    if found is not None and found != rank:
        raise ValueError(f"{argument} must have {rank} dimensions, not {found}")


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Record a number, as tf.summary.scalar.

    >>> sonde.tf_summary.scalar("loss", 0.5, step=1)                            # doctest: +SKIP
    """
    tag = _tag(name)
    _check_rank(data, 0)
    if description is None:
        return _record(step, lambda: [data] if tf.executing_eagerly() else [tf.cast(data, tf.float32)],
                       lambda recorder, number, value: recorder.scalar(tag, value, number), number_of=tag)
    metadata = _metadata("scalars", description)
    return _record(step, lambda: [tf.cast(data, tf.float32)],
                   lambda recorder, number, value: _put(recorder, tag, number, value, metadata))


def histogram(name: str, data: Any, step: Any = None, buckets: Any = None, description: str | None = None) -> Any:
    """Record the histogram of values, as tf.summary.histogram: `buckets` of equal width, 30 where it is None. NaN and
    infinities are left out of them; TensorFlow's would have no other values then.

    >>> sonde.tf_summary.histogram("kernel", [0.1, 0.2, 0.2], step=1)           # doctest: +SKIP
    """
    tag = _tag(name)
    if buckets is None and description is None:
        return _record(step, lambda: [tf.stop_gradient(data)],
                       lambda recorder, number, values: recorder.histogram(tag, values, number))
    metadata = _metadata("histograms", description)
    return _record(step, lambda: [tf.stop_gradient(data), 30 if buckets is None else buckets],
                   lambda recorder, number, values, count: _put(recorder, tag, number, _buckets(values, int(count)), metadata))


def _buckets(values: Any, count: int) -> Any:
    """[count, 3]: left, right and how many; those of one value have no width."""
    flat = numpy.asarray(values).reshape(-1).astype(numpy.float64)
    flat = flat[numpy.isfinite(flat)]
    if count <= 0 or flat.size == 0:
        return numpy.zeros((max(count, 0), 3))
    low, high = flat.min(), flat.max()
    if low == high:
        counts = numpy.zeros(count)
        counts[-1] = flat.size
        return numpy.stack([numpy.full(count, low), numpy.full(count, low), counts], axis=1)
    edges = numpy.linspace(low, high, count + 1)
    places = numpy.minimum(numpy.floor((flat - low) / ((high - low) / count)).astype(numpy.int64), count - 1)
    return numpy.stack([edges[:-1], edges[1:], numpy.bincount(places, minlength=count)], axis=1)


def image(name: str, data: Any, step: Any = None, max_outputs: Any = 3, description: str | None = None) -> Any:
    """Record up to `max_outputs` pictures, [n, height, width, channels], as tf.summary.image.

    >>> sonde.tf_summary.image("input", tf.zeros([1, 8, 8, 3]), step=1)         # doctest: +SKIP
    """
    tag = _tag(name)
    _check_rank(data, 4)
    metadata = _metadata("images", description)

    def encoded() -> list[Any]:
        tf.debugging.assert_non_negative(max_outputs)
        pictures = tf.image.convert_image_dtype(data, tf.uint8, saturate=True)
        size = tf.as_string(tf.gather(tf.shape(pictures), [2, 1]))  # width, height
        return [tf.concat([size, tf.image.encode_png(pictures[:max_outputs])], axis=0)]

    return _record(step, encoded, lambda recorder, number, value: _put(recorder, tag, number, value, metadata))


def audio(name: str, data: Any, sample_rate: Any, step: Any = None, max_outputs: Any = 3, encoding: str | None = None,
          description: str | None = None) -> Any:
    """Record up to `max_outputs` clips, [n, frames, channels], floats from -1 to 1, as tf.summary.audio.

    >>> sonde.tf_summary.audio("beep", tf.zeros([1, 100, 1]), 8000, step=1)     # doctest: +SKIP
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    tag = _tag(name)
    _check_rank(data, 3)
    metadata = _metadata("audio", description, _WAV)

    def encoded() -> list[Any]:
        tf.debugging.assert_non_negative(max_outputs)
        clips = tf.convert_to_tensor(data)[:max_outputs]
        files = tf.map_fn(lambda clip: tf.audio.encode_wav(clip, sample_rate), clips, fn_output_signature=tf.string)
        return [tf.stack([files, tf.fill(tf.shape(files), "")], axis=1)]

    return _record(step, encoded, lambda recorder, number, value: _put(recorder, tag, number, value, metadata))


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Record texts in Markdown: a string, or a tensor of strings, which is shown as a table. As tf.summary.text.

    >>> sonde.tf_summary.text("note", "learning rate *halved*", step=1)         # doctest: +SKIP
    """
    tag = _tag(name)
    value = tf.convert_to_tensor(data)
    if value.dtype != tf.string:
        raise TypeError(f"data must be a tensor of strings, not {value.dtype.name}")
    metadata = _metadata("text", description)
    return _record(step, lambda: [value], lambda recorder, number, words: _put(recorder, tag, number, words, metadata))


def write(tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None) -> Any:
    """Record a tensor for a plugin of TensorBoard, as tf.summary.write. `tensor` may be a function that returns it, and is
    called only if summaries are recorded.

    >>> sonde.tf_summary.write("raw", tf.ones([3]), step=1)                     # doctest: +SKIP
    """
    return _record(step, lambda: [tensor() if callable(tensor) else tensor],
                   lambda recorder, number, value: _put(recorder, tag, number, value, metadata))


def graph(graph_data: Any) -> Any:
    """Record a tf.Graph or a GraphDef, as tf.summary.graph: in eager code only.

    >>> sonde.tf_summary.graph(function.get_concrete_function().graph)          # doctest: +SKIP
    """
    if not tf.executing_eagerly():
        raise ValueError("graph() cannot be invoked inside a graph context.")
    if not isinstance(graph_data, (tf.Graph, tf.compat.v1.GraphDef)):
        raise ValueError("Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef. Received "
                         f"graph_data={graph_data} of type {type(graph_data).__name__}.")
    writer = _writer()
    if writer is None or not _recording():
        return tf.constant(False)
    definition = graph_data.as_graph_def(add_shapes=True) if isinstance(graph_data, tf.Graph) else graph_data
    writer.recorder.event(tf.compat.v1.Event(graph_def=definition.SerializeToString()).SerializeToString())
    return tf.constant(True)


def flush(writer: Any = None, name: str | None = None) -> Any:
    """Return when everything recorded so far is in the files, as tf.summary.flush.

    >>> sonde.tf_summary.flush()                                                # doctest: +SKIP
    """
    return tf.summary.flush(writer)


def trace_export(name: str, step: Any = None, profiler_outdir: Any = None) -> None:
    """End a trace that `trace_on` began, and record its graphs, as tf.summary.trace_export.

    >>> sonde.tf_summary.trace_export("step", step=1)                           # doctest: +SKIP
    """
    writer = _writer()
    if writer is None:
        return tf.summary.trace_export(name, step, profiler_outdir)
    with tempfile.TemporaryDirectory() as folder:
        exported = tf.summary.create_file_writer(folder)
        with exported.as_default():
            tf.summary.trace_export(name, step, profiler_outdir)
        exported.close()
        files = [os.path.join(folder, file) for file in sorted(os.listdir(folder))]
        for event in tf.data.TFRecordDataset(files).as_numpy_iterator():
            writer.recorder.event(event)
    return None


def _write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> Any:
    """Record serialized Summary messages, as tf.summary.experimental.write_raw_pb.

    >>> sonde.tf_summary.experimental.write_raw_pb(serialized, step=1)          # doctest: +SKIP
    """
    def record(recorder: Recorder, number: int, messages: Any) -> None:
        event = tf.compat.v1.Event(step=number)
        for message in numpy.asarray(messages, object).reshape(-1):
            event.summary.MergeFromString(message)
        recorder.event(event.SerializeToString())

    return _record(step, lambda: [tensor], record)


experimental = types.SimpleNamespace(get_step=tf.summary.experimental.get_step, set_step=tf.summary.experimental.set_step,
                                     summary_scope=tf.summary.experimental.summary_scope, write_raw_pb=_write_raw_pb)
