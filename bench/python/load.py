#!/usr/bin/env python3
"""What it takes to get every scalar of a log into a table of pandas: sonde.load beside tbparse, in one run.

    build/venv/bin/python bench/python/load.py [--points 5000000] [--peer-points 100000] [--json]

Needs the package: PYTHONPATH=build/python, or installed. tbparse runs in build/venv-peers, which is made if it is missing.
The files are in the system's cache and Sonde's own cache is off. tbparse gets a smaller log of the same kind, since it
would take many minutes; the ratio is that of the times per point. The values that both return are compared.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import sonde

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ROOT / "bench/peers"
sys.path.insert(0, str(PEERS))
from environment import install_peers  # noqa: E402

TAGS = 5
BAR = 200

PEER = """
import sys, time
from tbparse import SummaryReader
begin = time.perf_counter()
table = SummaryReader(sys.argv[1]).scalars
print(time.perf_counter() - begin, len(table), table["value"].sum())
"""


def make_log(python, folder: pathlib.Path, points: int) -> pathlib.Path:
    path = folder / str(points)
    subprocess.run([python, PEERS / "make_log.py", "scalars", path, "1", str(TAGS), str(points // TAGS)], check=True)
    for file in path.rglob("*tfevents*"):
        file.read_bytes()  # into the system's cache
    return path


def load(path: pathlib.Path) -> tuple[float, float, int, float]:
    """Seconds until there are arrays, and until there is a table; its rows, and their sum."""
    begin = time.perf_counter()
    series = sonde.load(path, cache=False).scalars()
    arrays = time.perf_counter() - begin
    table = series.to_pandas()
    return arrays, time.perf_counter() - begin, len(table), table["value"].sum()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=5_000_000)
    parser.add_argument("--peer-points", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    python = install_peers(ROOT / "build")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        large, small = make_log(python, folder, arguments.points), make_log(python, folder, arguments.peer_points)
        load(small)  # imports pandas
        rounds = [load(large) for _ in range(5)]
        assert all(rows == arguments.points for _, _, rows, _ in rounds), rounds
        peer = subprocess.run([python, "-c", PEER, small], check=True, capture_output=True, text=True).stdout.split()
        ours = load(small)
        assert int(peer[1]) == ours[2] == arguments.peer_points and abs(float(peer[2]) / ours[3] - 1) < 1e-9, (peer, ours)
    arrays, table = (statistics.median(each[i] for each in rounds) for i in range(2))
    per_point = float(peer[0]) / arguments.peer_points
    found = {"points": arguments.points, "sonde arrays s": arrays, "sonde table s": table,
             "tbparse points": arguments.peer_points, "tbparse s": float(peer[0]),
             "ratio arrays": per_point / (arrays / arguments.points), "ratio table": per_point / (table / arguments.points)}
    if arguments.json:
        print(json.dumps(found))
        return
    print(f"sonde.load, {arguments.points:,} points: arrays {arrays:.3f} s, a table {table:.3f} s")
    print(f"tbparse, {arguments.peer_points:,} points: a table {float(peer[0]):.2f} s, {per_point * 1e6:.1f} us a point")
    print(f"times as fast, per point: arrays {found['ratio arrays']:.0f}, a table {found['ratio table']:.0f} (bar {BAR})")


if __name__ == "__main__":
    main()
