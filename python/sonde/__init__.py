"""Sonde records, prints and shows what happens inside a neural network.

>>> import sonde
>>> with sonde.Recorder(directory + "/first") as rec:
...     rec.scalar("loss", 0.5, 1)
"""
import atexit as _atexit

from ._load import _core
from ._errors import RecordingWarning
from ._core import Counters, Group, Probe, Series, Statistics, Step, StepValues, histogram_key, release_owners
from ._log import Capture, Log, Run, Scalars, load, load_capture, open_tensors
from ._recorder import Recorder
from ._version import __version__
from ._writer import SummaryWriter

_atexit.register(_core._close_all)

__all__ = ["Capture", "Counters", "Group", "Log", "Probe", "Recorder", "RecordingWarning", "Run", "Scalars", "Series",
           "Statistics", "Step", "StepValues", "SummaryWriter", "histogram_key", "load", "load_capture", "open_tensors",
           "release_owners"]
