"""How values leave a graph of TensorFlow: through a callback into Python, and numbers through a queue of TensorFlow's own.

A callback costs about 100 us, since the thread that runs the graph has to wait for the interpreter. A number in a queue costs
less than a summary of TensorFlow itself; a thread of this process empties the queue every twentieth of a second, and so does
whatever ends a step, flushes or closes a recorder. docs/decisions/0046 has the figures.
"""
import atexit
import os
import threading
import warnings
import weakref
from typing import Any, Callable

import numpy
import tensorflow as tf

from . import _current
from ._errors import RecordingWarning

try:
    from tensorflow.python.framework.func_graph import FuncGraph
    from tensorflow.python.ops.control_flow_util import GraphOrParentsInXlaContext
except ImportError:  # private names: without them numbers take the callback, and XLA refuses it in its own words
    FuncGraph, GraphOrParentsInXlaContext = (), lambda graph: False

_CAPACITY = 1 << 16  # numbers; a graph waits where the queue is full
_PERIOD = 0.05       # seconds


def refuse_xla(what: str) -> None:
    """Raises where the graph that is being traced is compiled by XLA, which calls no Python and has no queues."""
    if not tf.executing_eagerly() and GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph()):
        raise NotImplementedError(f"{what} is inside a function that XLA compiles (jit_compile=True), from which nothing can be "
                                  "recorded; return the value and record it outside, or compile without XLA: "
                                  "tf.function(jit_compile=False), model.compile(..., jit_compile=False)")


@tf.autograph.experimental.do_not_convert
def callback(function: Callable[..., Any], tensors: list[Any], name: str) -> Any:
    """An operation that calls a function with the values of tensors, wherever the graph runs in this process; gives True."""
    def call(*values: Any) -> Any:
        function(*values)
        return numpy.True_

    with tf.device("cpu:0"):
        return tf.numpy_function(call, tensors, tf.bool, stateful=True, name=name)


def in_function() -> bool:
    """Whether a tf.function is being traced that eager code calls; not a graph of TensorFlow 1, whose sessions have queues of
    their own."""
    if not isinstance(tf.compat.v1.get_default_graph(), FuncGraph):
        return False
    with tf.init_scope():
        return tf.executing_eagerly()


class Numbers:
    """The numbers that functions leave for one recorder, as rows of (tag, step, time, value)."""

    def __init__(self, recorder: Any) -> None:
        self._recorder = recorder
        self._places: dict[str, int] = {}
        self._lock = threading.RLock()  # a handler of errors may flush
        with tf.init_scope(), tf.device("cpu:0"):
            self._queue = tf.queue.FIFOQueue(_CAPACITY, [tf.int64, tf.int64, tf.float64, tf.float32], [[]] * 4, name="sonde_writer")
        _drainer.add(self)

    @tf.autograph.experimental.do_not_convert
    def put(self, tag: str, step: Any, value: Any) -> Any:
        """An operation that hands a number over; gives True."""
        place = self._places.setdefault(tag, len(self._places))
        # A queue ends with the object that made it: whoever holds the graph holds this.
        graph = tf.compat.v1.get_default_graph()
        graph._sonde_numbers = {*getattr(graph, "_sonde_numbers", ()), self}
        with tf.device("cpu:0"):
            row = (tf.constant(place, tf.int64), tf.convert_to_tensor(step, tf.int64), tf.timestamp(), tf.cast(value, tf.float32))
            with tf.control_dependencies([self._queue.enqueue(row, name="sonde_summary")]):
                return tf.constant(True)

    def has(self, tag: str) -> bool:
        return tag in self._places

    def drain(self) -> None:
        """Record what is in the queue."""
        with self._lock, tf.init_scope():
            count = int(self._queue.size())
            if count == 0:
                return
            rows = [column.numpy().tolist() for column in self._queue.dequeue_many(count)]
            if self._recorder.closed:
                self._queue.close()
                warnings.warn(f"{count} numbers of functions came after the writer of '{self._recorder.directory}' was closed",
                              RecordingWarning, stacklevel=2)
                return
            tags = list(self._places)
            for place, step, time, value in zip(*rows):
                with self._recorder.group(step, time) as group:
                    group.scalar(tags[place], value)

    def close(self) -> None:
        """From now on a function that leaves a number fails."""
        with self._lock, tf.init_scope():
            self._queue.close()


class _Drainer:
    """The thread that empties all queues until the interpreter ends."""

    def __init__(self) -> None:
        self._all: "weakref.WeakSet[Numbers]" = weakref.WeakSet()
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        atexit.register(self._stop)
        _current.settle_at_step_end(lambda everything: self.drain())

    def add(self, numbers: Numbers) -> None:
        with self._lock:
            self._all.add(numbers)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="sonde-tensorflow", daemon=True)
                self._thread.start()

    def drain(self) -> None:
        if os.getpid() != self._process:  # TensorFlow does not work in a forked child
            return
        with self._lock:
            known = list(self._all)
        for numbers in known:
            numbers.drain()

    def _run(self) -> None:
        while not self._end.wait(_PERIOD):
            try:
                self.drain()
            except Exception as error:  # a thread that ends would leave the graphs waiting for room
                warnings.warn(f"numbers of functions were not recorded: {error}", RecordingWarning, stacklevel=2)

    def _stop(self) -> None:
        if self._thread is not None and os.getpid() == self._process:
            self._end.set()
            self._thread.join()
            self.drain()


_drainer = _Drainer()
