"""What the tests of the package share: a folder for each test, and what TensorBoard reads from a log."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.log = self.folder / "log"

    def run_python(self, program: str, *arguments, check: bool = True, timeout: float = 120) -> subprocess.CompletedProcess:
        """Runs a program in a Python of its own, with this package."""
        done = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True,
                              timeout=timeout, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"the program ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done


def heed_ctrl_c() -> None:
    """For a new process: where the tests run as a background job of a shell, SIGINT is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def tensorboard_events(directory: os.PathLike) -> dict:
    """{(plugin, tag): [(step, wall time, array)]}: what TensorBoard makes of a run, whichever writer wrote it."""
    from tensorboard.backend.event_processing import plugin_event_accumulator
    from tensorboard.util import tensor_util
    accumulator = plugin_event_accumulator.EventAccumulator(str(directory), tensor_size_guidance=dict.fromkeys(
        ("scalars", "histograms", "images", "audio", "text", "tensors", "mesh", "pr_curves", "hparams"), 0))
    accumulator.Reload()
    found = {}
    for tag in accumulator.Tags()["tensors"]:
        plugin = accumulator.SummaryMetadata(tag).plugin_data.plugin_name
        found[plugin, tag] = [(event.step, event.wall_time, tensor_util.make_ndarray(event.tensor_proto))
                              for event in accumulator.Tensors(tag)]
    return found
