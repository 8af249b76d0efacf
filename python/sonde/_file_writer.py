"""sonde.FileWriter and merge_all: the interface of TensorFlow 1's writer, without TensorFlow."""
import os
import sys
from typing import Any

from ._recorder import Recorder
from ._wire import field, number_field, serialized


class FileWriter:
    """Writes summaries and graphs of TensorFlow 1, as tf.compat.v1.summary.FileWriter: with a session, and in eager code.

    A summary is a Summary message, its bytes, or a tensor that holds them, such as what session.run(merge_all()) returns.
    Everything is in the file within a tenth of a second, or `flush_secs` where that is shorter; `max_queue` and `session`
    change nothing. A writer that was closed raises ValueError until it is reopened. `recorder` is the sonde.Recorder.

    >>> with sonde.FileWriter(directory) as train_writer:
    ...     train_writer.add_summary(bytes.fromhex("0a090a026c72150000003f"), 3)
    """

    def __init__(self, logdir: str | os.PathLike[str], graph: Any = None, max_queue: int = 10, flush_secs: float = 120,
                 graph_def: Any = None, filename_suffix: str | None = None, session: Any = None) -> None:
        self._logdir = os.fspath(logdir)
        self._options = {"flush_interval": min(0.1, flush_secs), "file_suffix": filename_suffix or ""}
        self._run_tags: set[str] = set()
        self.recorder = Recorder(self._logdir, **self._options)
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)
            self._add(9, field(2, _graph_bytes(graph, graph_def)), None)  # MetaGraphDef { graph_def = 2 }

    def get_logdir(self) -> str:
        """The directory that is written into.

        >>> sonde.FileWriter(directory).get_logdir() == directory
        True
        """
        return self._logdir

    def _add(self, what: int, message: bytes, global_step: Any) -> None:
        if self.recorder.closed:
            raise ValueError("the writer is closed: reopen it with reopen()")
        step = b"" if global_step is None else number_field(2, int(global_step))
        self.recorder.event(step + field(what, message))

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Record a Summary message, its bytes, or a tensor that holds them.

        >>> sonde.FileWriter(directory).add_summary(bytes.fromhex("0a090a026c72150000003f"), 3)
        """
        self._add(5, serialized(summary, "summary"), global_step)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Record a tf.Graph, or a GraphDef.

        >>> sonde.FileWriter(directory).add_graph(session.graph)                # doctest: +SKIP
        """
        self._add(4, _graph_bytes(graph, graph_def), global_step)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Record a MetaGraphDef.

        >>> sonde.FileWriter(directory).add_meta_graph(meta_graph_def)          # doctest: +SKIP
        """
        self._add(9, serialized(meta_graph_def, "meta_graph_def"), global_step)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Record a SessionLog.

        >>> sonde.FileWriter(directory).add_session_log(b"\\x08\\x01", 3)         # SessionLog.START
        """
        self._add(7, serialized(session_log, "session_log"), global_step)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Record what a session's run cost, a RunMetadata, under a tag that is new.

        >>> sonde.FileWriter(directory).add_run_metadata(b"", "step3", 3)
        """
        if tag in self._run_tags:
            raise ValueError(f"tag must be new for every RunMetadata: '{tag}' was used before")
        self._add(8, field(1, tag.encode()) + field(2, serialized(run_metadata, "run_metadata")), global_step)
        self._run_tags.add(tag)

    def add_event(self, event: Any) -> None:
        """Record an Event message, with its own step and time.

        >>> sonde.FileWriter(directory).add_event(bytes.fromhex("10032a0b0a090a026c72150000003f"))
        """
        if self.recorder.closed:
            raise ValueError("the writer is closed: reopen it with reopen()")
        self.recorder.event(serialized(event, "event"))

    def flush(self) -> None:
        """Return when everything recorded so far is in the file.

        >>> sonde.FileWriter(directory).flush()
        """
        if self.recorder.closed:
            raise ValueError("the writer is closed: reopen it with reopen()")
        self.recorder.flush()

    def close(self) -> None:
        """Flush and end the file.

        >>> sonde.FileWriter(directory).close()
        """
        self.recorder.close()

    def reopen(self) -> None:
        """Begin a new file after close; nothing if it is open.

        >>> writer = sonde.FileWriter(directory)
        >>> writer.close()
        >>> writer.reopen()
        >>> writer.add_summary(bytes.fromhex("0a090a026c72150000003f"), 4)
        """
        if self.recorder.closed:
            self.recorder = Recorder(self._logdir, **self._options)

    def __enter__(self) -> "FileWriter":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<sonde.FileWriter {self._logdir!r}{' closed' if self.recorder.closed else ''}>"


def _graph_bytes(graph: Any, graph_def: Any) -> bytes:
    if graph is not None and graph_def is not None:
        raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
    given = graph if graph is not None else graph_def
    if hasattr(given, "as_graph_def"):
        given = given.as_graph_def(add_shapes=True)
    return serialized(given, "graph")


def merge_all(summaries: Any = "summaries", scope: str | None = None, name: str | None = None) -> Any:
    """All summaries of TensorFlow's graph as one operation, as tf.compat.v1.summary.merge_all(key, scope, name).

    Where there is no graph, give it the summaries themselves: messages, their bytes, or tensors that hold them. It then
    returns the bytes of one Summary, for FileWriter.add_summary.

    >>> loss = bytes.fromhex("0a090a026c72150000003f")
    >>> sonde.merge_all([loss, loss]) == loss + loss
    True
    """
    if not isinstance(summaries, str):
        # Messages that are joined are merged: that is how protobuf defines it.
        return b"".join(serialized(each, "a summary") for each in summaries)
    tf = sys.modules.get("tensorflow")
    if tf is None or tf.executing_eagerly():
        raise RuntimeError("merge_all collects the summaries of a graph of TensorFlow, and there is none here: give it the "
                           "summaries, merge_all([first, second])")
    return tf.compat.v1.summary.merge_all(summaries, scope, name)
