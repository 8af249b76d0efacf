#!/usr/bin/env python3
"""What sonde.watch costs a training step: the network of a residual MLP, with everything recorded at every step, against the
bare step in the same run. What was recorded is checked.

    build/venv-frameworks/bin/python bench/python/watch.py [--json] [--rounds N] [name...]

The settings: `activations` with statistics and histograms, copied and with hold; `unselected`, where the policy selects
nothing; `all`: activations, gradients, weights and updates; `modules`: a thousand LayerNorms of 64. Each with a spare
core (torch on one thread) and with torch on all cores. Bare and watched steps alternate in short blocks, in turns which comes
first, and the ratio is the median over the pairs of blocks.
"""
import argparse
import json
import statistics
import tempfile
import time

import torch
from torch import nn

import sonde


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.fc1, self.act, self.fc2 = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.fc2(self.act(self.fc1(self.norm(x))))


class Training:
    def __init__(self):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(64, 256), *[Block(256) for _ in range(6)], nn.Linear(256, 10))
        self.optimizer = torch.optim.SGD(self.model.parameters(), 1e-2)
        self.x, self.y = torch.randn(512, 64), torch.randint(0, 10, (512,))

    def step(self):
        self.optimizer.zero_grad()
        nn.functional.cross_entropy(self.model(self.x), self.y).backward()
        self.optimizer.step()


class Modules:
    """A thousand small modules, forward only."""
    def __init__(self):
        self.model = nn.Sequential(*[nn.LayerNorm(64) for _ in range(1000)])
        self.x = torch.randn(8, 64)

    def step(self):
        with torch.no_grad():
            self.model(self.x)


def timed(task, steps):
    begin = time.perf_counter()
    for _ in range(steps):
        task.step()
    return (time.perf_counter() - begin) / steps


def compare(make, rounds, steps, expected, policy=None, **options):
    """Seconds of a bare and of a watched step, and the median ratio of neighbouring blocks."""
    bare, watched = make(), make()
    with tempfile.TemporaryDirectory() as folder:
        rec = sonde.Recorder(folder, memory="1GiB", policy=policy)
        with sonde.watch(watched.model, rec, **options) as watch:
            timed(bare, 3), timed(watched, 3)
            pairs = []
            for turn in range(rounds):
                first, second = (bare, watched) if turn % 2 else (watched, bare)
                rec.flush()
                one = timed(first, steps)
                rec.flush()
                other = timed(second, steps)
                pairs.append((one, other) if first is bare else (other, one))
            watch.remove()
        rec.close()
        counters, total = rec.counters, 3 + rounds * steps
        assert counters.dropped_tensors == 0 and counters.rejected == 0, counters
        assert counters.tensors == expected * total, (counters, expected, total)
        if expected:
            run = sonde.load(folder, cache=False)["."]
            tag = next(probe["tag"] for probe in run.probes if probe["kind"] == "activation")
            assert len(run.statistics(tag)) == total
    return (statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs),
            statistics.median(pair[1] / pair[0] for pair in pairs))


ACTIVATIONS = 1 + 2 + 6 * 5  # the input, two layers, and four layers and the sum of each block
PARAMETERS = 2 * 2 + 6 * 6
SETTINGS = {
    "activations": (ACTIVATIONS, {}),
    "activations, hold": (ACTIVATIONS, {"hold": True}),
    "unselected": (0, {"policy": '[[watch]]\nsteps = "1000000.."'}),
    "all": (2 * ACTIVATIONS - 1 + 3 * PARAMETERS, {"gradients": True, "weights": True, "updates": True}),
    "all, hold": (2 * ACTIVATIONS - 1 + 3 * PARAMETERS, {"gradients": True, "weights": True, "updates": True, "hold": True}),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    found, cores = {}, torch.get_num_threads()
    for name, (expected, options) in SETTINGS.items():
        if arguments.names and name not in arguments.names:
            continue
        for threads, where in ((1, "a spare core"), (cores, "all cores busy")):
            torch.set_num_threads(threads)
            bare, watched, ratio = compare(Training, arguments.rounds, 3, expected, **options)
            found[f"{name}, {where}"] = {"bare ms": bare * 1e3, "watched ms": watched * 1e3, "ratio": ratio}
    if not arguments.names or "modules" in arguments.names:
        torch.set_num_threads(1)
        bare, watched, _ = compare(Modules, 3 * arguments.rounds, 1, 1001, record="stats", inference=True)
        found["a LayerNorm of 64 and call"] = {"bare us": bare * 1e3, "watched us": watched * 1e3, "cost us": (watched - bare) * 1e3}
    if arguments.json:
        print(json.dumps(found))
        return
    for name, figures in found.items():
        print(f"{name:36}", "  ".join(f"{key} {number:7.3f}" for key, number in figures.items()))


if __name__ == "__main__":
    main()
