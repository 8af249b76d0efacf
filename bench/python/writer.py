#!/usr/bin/env python3
"""What a call of SummaryWriter costs the training thread: ours beside torch's, in one run. What was written is checked.

    build/venv-frameworks/bin/python bench/python/writer.py [--json]

Needs the package installed beside torch: `make test-frameworks` does so.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import torch
from torch.utils.tensorboard import SummaryWriter as TorchWriter

import sonde


def cost(call, count: int, rounds: int = 7, between=lambda: None) -> float:
    """Nanoseconds a call: the median of rounds, in which nothing else is measured."""
    times = []
    for _ in range(rounds):
        between()
        begin = time.perf_counter_ns()
        for n in range(count):
            call(n)
        times.append((time.perf_counter_ns() - begin) / count)
    return statistics.median(times)


def import_time() -> float:
    """Milliseconds that `import sonde` takes over a bare interpreter."""
    def run(program):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True)
        return time.perf_counter() - begin
    bare, with_import = [], []
    for _ in range(11):
        bare.append(run("pass"))
        with_import.append(run("import sonde"))
    return (statistics.median(with_import) - statistics.median(bare)) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    value, tensor, million = 0.5, torch.tensor(0.5), torch.randn(1_000_000)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = sonde.SummaryWriter(folder + "/sonde"), TorchWriter(folder + "/torch")
        empty = cost(lambda n: None, 20_000)
        for name, what, count in (("a float", value, 20_000), ("a 0-d tensor", tensor, 20_000)):
            our = cost(lambda n: ours.add_scalar(name, what, n), count, between=ours.flush) - empty
            their = cost(lambda n: theirs.add_scalar(name, what, n), count // 20, between=theirs.flush) - empty
            found[f"add_scalar of {name}"] = {"sonde ns": our, "torch ns": their, "ratio": their / our}
        series = ours.series("series")
        found["Series.record"] = {"sonde ns": cost(lambda n: series.record(value, n), 20_000, between=ours.flush) - empty}
        our = cost(lambda n: ours.add_histogram("h", million, n), 5, between=ours.flush)
        their = cost(lambda n: theirs.add_histogram("h", million, n), 5, between=theirs.flush)
        found["add_histogram of 1M float32"] = {"sonde ns": our, "torch ns": their, "ratio": their / our}
        found["import sonde"] = {"ms": import_time()}
        ours.close()
        theirs.close()
        counters = ours.counters
        assert counters.scalars == 3 * 7 * 20_000 and counters.dropped_scalars == 0, counters
        points = sonde.load(folder + "/sonde", cache=False)["."].scalars("a float")
        assert len(points) == 7 * 20_000 and numpy.all(points.values == value)
    if arguments.json:
        print(json.dumps(found))
        return
    for name, figures in found.items():
        print(f"{name:30}", "  ".join(f"{key} {number:,.1f}" for key, number in figures.items()))


if __name__ == "__main__":
    main()
