"""sonde.Recorder: the compiled class, with paths and policies in all the forms that Python has."""
import os
from typing import Any, Callable, SupportsIndex

from . import _core, _current
from ._arguments import count, flag, path, seconds, step as checked_step, whole_number
from ._policy import policy_text

_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "KB": 10**3, "MB": 10**6, "GB": 10**9}


def _bytes(size: int | str) -> int:
    if not isinstance(size, str):
        return count("memory", size, "bytes")
    for unit in sorted(_UNITS, key=len, reverse=True):
        number = size.removesuffix(unit)
        if number != size and number.strip().replace(".", "", 1).isdigit():
            return int(float(number) * _UNITS[unit])
    raise ValueError(f"memory must be a number of bytes or a text such as '256MiB', not {size!r}")


class Options:
    """What Recorder and SummaryWriter have in common: how they are opened."""

    def __init__(self, directory: str | os.PathLike[str], *, policy: Any = None, memory: int | str = "256MiB",
                 scalars: str = "wait", tensors: str = "drop_newest", max_wait: float = 1.0, threads: int = 0,
                 flush_interval: float = 0.1, precision: str = "f32", histogram_buckets: int = 30,
                 console: bool = True, file_suffix: str = "", live_control: bool = True, trigger_signal: int = 0,
                 purge_step: int | None = None, on_error: Callable[[str], Any] | None = None) -> None:
        text, source = policy_text(policy)
        super().__init__(path("directory", directory), policy=text, policy_source=source, memory=_bytes(memory),
                         scalars=scalars, tensors=tensors, max_wait=seconds("max_wait", max_wait), threads=whole_number("threads", threads),
                         flush_interval=seconds("flush_interval", flush_interval), precision=precision,
                         histogram_buckets=count("histogram_buckets", histogram_buckets, "buckets"),
                         console=flag("console", console), file_suffix=file_suffix, live_control=flag("live_control", live_control),
                         trigger_signal=whole_number("trigger_signal", trigger_signal), purge_step=checked_step("purge_step", purge_step),
                         on_error=on_error)
        _current.opened(self)

    def step(self, number: SupportsIndex) -> _core.Step:
        """Begin a step of training. The one before it ends, if it has not.

        >>> with rec.step(10) as step:
        ...     rec.scalar("loss", 0.1, 10)
        """
        _current.settle()
        return _current.begun(self, super().step(number), "step")

    def evaluation(self, step: SupportsIndex) -> _core.Step:
        """Begin a pass over held-out data, at the training step that it belongs to.

        >>> with rec.evaluation(10) as step:
        ...     rec.probe("dense/out").record(step, [1.0, 2.0])
        """
        _current.settle()
        return _current.begun(self, super().evaluation(step), "evaluation")

    def pass_(self, number: SupportsIndex) -> _core.Step:
        """Begin a pass of inference, such as one request. Any number of them may be open side by side.

        >>> with rec.pass_(11) as one, rec.pass_(12) as other:
        ...     one.number, other.number
        (11, 12)
        """
        _current.settle()
        return _current.begun(self, super().pass_(number), "pass_")

    def flush(self) -> None:
        """Return when everything recorded so far is in the files. Raises OSError where a file refused it.

        >>> rec.flush()
        """
        _current.settle(everything=True)
        super().flush()

    def close(self) -> None:
        """Flush and end the files. A second call does nothing; recording after it raises ValueError.

        >>> other = sonde.Recorder(directory + "/closed")
        >>> other.close()
        >>> other.scalar("loss", 1.0, 1)
        Traceback (most recent call last):
        ValueError: the recorder is closed
        """
        if not self.closed:
            _current.settle(everything=True)
        super().close()

    def __exit__(self, *error: object) -> None:
        self.close()

    def set_policy(self, policy: Any) -> None:
        """Another policy, from the next step on: a path, TOML as a str, or a dict.

        >>> rec.set_policy({"watch": [{"tensors": "conv.*"}]})
        """
        self._set_policy(*policy_text(policy))

    def __repr__(self) -> str:
        return f"<sonde.{type(self).__name__} {self.directory!r}{' closed' if self.closed else ''}>"


class Recorder(Options, _core.Recorder):
    """Writes one run: a directory with an event file that TensorBoard opens, and a statistics file.

    Calls are safe from any thread and do not wait for the disk. What cannot be recorded is counted, and reported: to
    `on_error`, a function of one str, or as a RecordingWarning where there is none, by the next call on the recorder.

    >>> rec = sonde.Recorder(directory, policy={"watch": [{"tensors": "dense.*", "every": 10}]})
    >>> loss = rec.series("loss")
    >>> out = rec.probe("dense/out")
    >>> for n in range(20):
    ...     with rec.step(n) as step:
    ...         if out.wanted(step):
    ...             out.record(step, [[1.0, 2.0], [3.0, 4.0]])
    ...         loss.record(0.5, n)
    >>> rec.close()
    """
