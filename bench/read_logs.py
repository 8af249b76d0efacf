"""Reading: makes the logs, and runs our reader and its peers on them in turns, with the files in the page cache."""

import dataclasses
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

TURNS = 3  # the median of each result counts
SCALED = 50  # tbparse reads a log that is smaller by this factor: the whole one takes it minutes


@dataclasses.dataclass(frozen=True)
class Scalars:
    """A log of make_log.py with this many of each."""
    runs: int
    tags: int
    steps: int

    @property
    def points(self):
        return self.runs * self.tags * self.steps


# 5 million points of few runs, of many runs, and a fraction of the first; 10 million points of one series.
FEW_RUNS = Scalars(10, 25, 20_000)
MANY_RUNS = Scalars(1000, 10, 500)
FRACTION = Scalars(10, 25, 20_000 // SCALED)
LONG = Scalars(1, 1, 10_000_000)
MEDIA = 20_000  # images, and as many histograms
TENSORS, STEPS = 500, 10_000  # statistics


class Reading:
    def __init__(self, build, python, peers, lines_of, fail):
        """`lines_of(command, what)` are the results that a program prints, `fail(message)` ends everything."""
        self.build, self.python, self.peers, self.lines_of, self.fail = build, python, peers, lines_of, fail
        self.program = build / "bench" / "bench_reading"
        self.found = {}  # name: (unit, values)

    def log(self, kind, *sizes):
        """The folder of a log; created if it does not exist, and read once, so that the page cache holds it."""
        folder = self.build / "bench-logs" / "-".join([kind, *map(str, sizes)])
        if not folder.exists():
            temporary = folder.with_name(folder.name + ".part")
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.parent.mkdir(exist_ok=True)
            command = [self.python, self.peers / "make_log.py", kind, temporary, *map(str, sizes)]
            if subprocess.run(command, check=False).returncode != 0:
                self.fail(f"the log {folder.name} could not be made")
            temporary.rename(folder)
        for path in folder.rglob("*tfevents*"):
            with open(path, "rb") as file:
                while file.read(1 << 20):
                    pass
        return folder

    def scalars(self, size):
        return self.log("scalars", size.runs, size.tags, size.steps)

    def keep(self, prefix, results):
        for name, (value, unit) in results.items():
            self.found.setdefault(f"{prefix}/{name}", (unit, []))[1].append(value)

    def ours(self, prefix, *arguments):
        self.keep(prefix, self.lines_of([self.program, *map(str, arguments)], "bench_reading"))

    def peer(self, prefix, *arguments):
        self.keep(prefix, self.lines_of([self.python, self.peers / "reading.py", *map(str, arguments)], arguments[0]))

    def open_against_data_server(self, prefix, size):
        folder = self.scalars(size)
        for _ in range(TURNS):
            self.ours(prefix, "open", folder, size.points)
            self.peer(prefix, "data_server", folder, size.runs * size.tags, size.steps)

    def open_again(self, size):
        """A log that has not changed since it was opened before."""
        folder = self.scalars(size)
        with tempfile.TemporaryDirectory() as cache:
            for turn in range(1 + TURNS):
                if turn == 0:  # leaves the cache behind
                    self.lines_of([self.program, "open", folder, str(size.points), cache], "bench_reading")
                else:
                    self.ours("again", "open", folder, size.points, cache)

    def export(self, size, fraction):
        folder, small = self.scalars(size), self.scalars(fraction)
        scale = size.points / fraction.points
        for _ in range(TURNS):
            with tempfile.TemporaryDirectory(dir=self.build) as temporary:
                out = pathlib.Path(temporary, "scalars.csv")
                # A separate cache, so that nothing is shared between turns.
                environment = os.environ | {"XDG_CACHE_HOME": temporary}
                command = [self.build / "bin" / "sonde", "export", folder, "--format", "csv", "-o", out]
                begin = time.perf_counter()
                if subprocess.run(command, env=environment, check=False).returncode != 0:
                    self.fail("sonde export failed")
                self.keep("export", {"time": (time.perf_counter() - begin, "s")})
                with open(out, "rb") as file:
                    lines = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
            if lines != size.points + 1:
                self.fail(f"wrong answer: sonde export wrote {lines} lines for {size.points} points")
            results = self.lines_of([self.python, self.peers / "reading.py", "tbparse", small, str(fraction.points)],
                                    "tbparse")
            self.keep("export", {"tbparse/scaled_time": (results["tbparse/time"][0] * scale, "s")})

    def run(self):
        """{name: (median, unit)}"""
        self.open_against_data_server("few_runs", FEW_RUNS)
        self.open_against_data_server("many_runs", MANY_RUNS)
        self.open_again(FEW_RUNS)
        media = self.log("media", MEDIA)
        long = self.scalars(LONG)
        statistics_log = self.build / "bench-logs" / f"statistics-{TENSORS}-{STEPS}"  # bench_reading makes it
        statistics_log.parent.mkdir(exist_ok=True)
        for _ in range(TURNS):
            self.ours("statistics", "statistics", statistics_log, TENSORS, STEPS)
            self.ours("media", "open", media, 2 * MEDIA)
            self.ours("draw", "draw", long, LONG.points)
            self.ours("follow", "follow", self.scalars(MANY_RUNS))
        self.export(FEW_RUNS, FRACTION)
        return {name: (statistics.median(values), unit) for name, (unit, values) in self.found.items()}
