"""Sonde records, prints and shows what happens inside a neural network.

>>> import sonde
>>> with sonde.Recorder(directory + "/first") as rec:
...     rec.scalar("loss", 0.5, 1)
"""
import atexit as _atexit
import importlib as _importlib
from typing import Any as _Any

from . import _core
from ._errors import RecordingWarning
from ._core import Counters, Group, Probe, Series, Statistics, Step, StepValues, histogram_key, release_owners
from ._file_writer import FileWriter, merge_all
from ._kept import Checkpoint, TensorFile, TensorSteps, open_tensors
from ._log import Capture, Log, Run, load, load_capture
from ._recorder import Recorder
from ._series import Scalars, ScalarTable, StatisticsTable
from ._serve import Server, serve
from ._show import Summary, show, summary
from ._tap import tap, tap_grad
from ._version import __version__
from ._writer import SummaryWriter

_atexit.register(_core._close_all)

__all__ = ["Capture", "Checkpoint", "Counters", "FileWriter", "Group", "Log", "Probe", "Recorder", "RecordingWarning", "Run",
           "ScalarTable", "Scalars", "Series", "Server", "Statistics", "StatisticsTable", "Step", "StepValues", "Summary",
           "SummaryWriter", "TensorFile", "TensorSteps", "histogram_key", "load", "load_capture", "merge_all", "open_tensors",
           "release_owners", "serve", "show", "summary", "tap", "tap_grad"]

_MODULES = ("keras", "tf_summary")  # imported when they are used, since each imports its framework


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'sonde' has no attribute '{name}'")
