"""What the tests of sonde.watch share: a folder, a model, and what was recorded."""
import pathlib
import sys
import warnings

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from testing import InFolder, heed_ctrl_c  # noqa: E402, F401

import sonde  # noqa: E402


class Residual(torch.nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.norm, self.linear = torch.nn.LayerNorm(width), torch.nn.Linear(width, width)

    def forward(self, x):
        return x + self.linear(self.norm(x))


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), Residual(), torch.nn.Linear(6, 2))


class Watching(InFolder):
    def setUp(self):
        super().setUp()
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("error", sonde.RecordingWarning)
        torch.manual_seed(1)

    def recorder(self, **options):
        rec = sonde.Recorder(self.log, **options)
        self.addCleanup(rec.close)
        return rec

    def run_(self):
        return sonde.load(self.log, cache=False)["."]

    def tags(self):
        """All tensors that have statistics."""
        return {tag.name for tag in self.run_().tags if tag.kind == "statistics"}

    def column(self, tag, name="mean"):
        table = self.run_().statistics(tag)
        return list(zip(table.steps.tolist(), table[name].tolist()))

    def assert_is(self, tag, tensors):
        """The statistics of a tag are those of the tensors: [(step, tensor)]."""
        run = self.run_().statistics(tag)
        self.assertEqual(run.steps.tolist(), [step for step, _ in tensors], tag)
        for row, (_, tensor) in enumerate(tensors):
            values = tensor.detach().double().numpy().ravel()
            for name, expected in (("count", values.size), ("zeros", (values == 0).sum()), ("negatives", (values < 0).sum())):
                self.assertEqual(run[name][row], expected, f"{tag} {name}")
            for name, expected in (("min", values.min()), ("max", values.max()), ("mean", values.mean()), ("std", values.std()),
                                   ("sum_abs", numpy.abs(values).sum())):
                numpy.testing.assert_allclose(run[name][row], expected, rtol=1e-5, atol=1e-7, err_msg=f"{tag} {name}")


def train(net, steps, micro_batches=1, optimizer=None, loss=lambda out: out.square().mean()):
    """Trains, and returns what went in."""
    optimizer = optimizer or torch.optim.SGD(net.parameters(), 0.1)
    batches = []
    for _ in range(steps):
        optimizer.zero_grad()
        for _ in range(micro_batches):
            batches.append(torch.randn(5, 4))
            loss(net(batches[-1])).backward()
        optimizer.step()
    return batches
