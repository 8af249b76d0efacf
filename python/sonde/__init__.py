"""Sonde records, prints and shows what happens inside a neural network.

>>> import sonde
>>> with sonde.Recorder(directory + "/first") as rec:
...     rec.scalar("loss", 0.5, 1)
"""
import atexit as _atexit
import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import _core
from ._errors import NotFoundError, RecordingWarning
from ._core import Counters, Group, Probe, Series, Statistics, Step, StepValues, histogram_key, release_owners
from ._file_writer import FileWriter, merge_all
from ._recorder import Recorder
from ._tap import tap, tap_grad
from ._version import __version__
from ._watch import watch
from ._writer import SummaryWriter

if _TYPE_CHECKING:
    from ._diff import Difference, diff
    from ._inspect import Inspection, inspect
    from ._kept import Checkpoint, TensorFile, TensorSteps, open_tensors
    from ._log import Capture, Log, Run, load, load_capture
    from ._series import Scalars, ScalarTable, StatisticsTable
    from ._serve import Server, serve
    from ._show import Summary, show, summary

_atexit.register(_core._close_all)

__all__ = ["Capture", "Checkpoint", "Counters", "Difference", "FileWriter", "Group", "Inspection", "Log", "NotFoundError", "Probe", "Recorder", "RecordingWarning", "Run",
           "ScalarTable", "Scalars", "Series", "Server", "Statistics", "StatisticsTable", "Step", "StepValues", "Summary",
           "SummaryWriter", "TensorFile", "TensorSteps", "diff", "histogram_key", "inspect", "load", "load_capture", "merge_all", "open_tensors",
           "release_owners", "serve", "show", "summary", "tap", "tap_grad", "watch"]

_MODULES = ("keras", "lightning", "tf_summary", "transformers")  # imported when they are used, since each imports its framework
# Names of reading and showing, and the modules that define them: imported when they are used, since a job that trains needs
# only recording.
_LATER = dict.fromkeys(("Checkpoint", "TensorFile", "TensorSteps", "open_tensors"), "_kept")
_LATER |= dict.fromkeys(("Difference", "diff"), "_diff")
_LATER |= dict.fromkeys(("Inspection", "inspect"), "_inspect")
_LATER |= dict.fromkeys(("Capture", "Log", "Run", "load", "load_capture"), "_log")
_LATER |= dict.fromkeys(("ScalarTable", "Scalars", "StatisticsTable"), "_series")
_LATER |= dict.fromkeys(("Server", "serve"), "_serve")
_LATER |= dict.fromkeys(("Summary", "show", "summary"), "_show")


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _importlib.import_module(f".{name}", __name__)
    if name in _LATER:
        found = getattr(_importlib.import_module(f".{_LATER[name]}", __name__), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'sonde' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
