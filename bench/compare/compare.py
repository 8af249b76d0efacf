"""How fast `sonde diff` compares two dumps of activations: 40 layers, 84 MB a pass, 5 passes, in safetensors files.

  compare.py SONDE FOLDER    prints lines of name, value and unit; FOLDER keeps the dumps for the next time

Against Polygraphy's comparison of the same arrays, which are in its memory already: reading its own files is not counted.
Sonde's time is that of the whole command, with the files in the page cache. The floor is a copy of as many bytes in memory.
"""

import json
import pathlib
import subprocess
import sys
import time

import numpy as np
import safetensors.numpy

LAYERS, PASSES, TURNS = 40, 5, 5
SHAPE = (1, 42, 100, 125)  # 2.1 MB of f32 a layer


def dump(folder, noise):
    """One file a pass; B differs from A by a few units in the last place."""
    if folder.exists():
        return
    part = folder.with_name(folder.name + ".part")
    part.mkdir(parents=True, exist_ok=True)
    for number in range(PASSES):
        random = np.random.default_rng(number)
        tensors = {}
        for layer in range(LAYERS):
            values = random.standard_normal(SHAPE, dtype=np.float32)
            tensors[f"conv_{layer:02}"] = values * (1 + np.float32(noise) * random.standard_normal(SHAPE, dtype=np.float32))
        safetensors.numpy.save_file(tensors, part / f"pass_{number}.safetensors")
    part.rename(folder)


def shortest(action):
    times = []
    for _ in range(TURNS):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def read(folder):
    return [safetensors.numpy.load_file(path) for path in sorted(folder.iterdir())]


def sonde(command, a, b):
    done = subprocess.run([command, "diff", a, b, "--json"], stdout=subprocess.PIPE, check=False)
    answer = json.loads(done.stdout)
    if done.returncode != 0 or answer["counts"]["within tolerance"] != LAYERS * PASSES:
        sys.exit(f"sonde diff gave a wrong answer: {answer['verdict']}, {answer['counts']}")
    return answer


def check(answer, passes_a, passes_b):
    """NumPy's norms of some tensors."""
    rows = {row["tensor"]: row for row in answer["tensors"]}
    for layer in ("conv_00", "conv_39"):
        a, b = (passes[0][layer].astype(np.float64).ravel() for passes in (passes_a, passes_b))
        expected = np.linalg.norm(a - b) / np.linalg.norm(b)
        if abs(rows[f"pass_0/{layer}"]["norm_relative"] / expected - 1) > 1e-9:
            sys.exit(f"sonde diff and NumPy disagree about {layer}")


def polygraphy_time(passes_a, passes_b):
    from polygraphy.comparator import Comparator, IterationResult, RunResults, SimpleCompareFunc
    from polygraphy.logger import G_LOGGER

    G_LOGGER.module_severity = {"": G_LOGGER.CRITICAL}
    results = RunResults()
    for name, passes in ("a", passes_a), ("b", passes_b):
        results.append((name, [IterationResult(outputs=outputs, runner_name=name) for outputs in passes]))
    begin = time.perf_counter()
    if not Comparator.compare_accuracy(results, compare_func=SimpleCompareFunc(rtol=1e-3, atol=1e-3)):
        sys.exit("Polygraphy finds the dumps different")
    return time.perf_counter() - begin


def main():
    command, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    a, b = folder / "compare-a", folder / "compare-b"
    dump(a, 0)
    dump(b, 3e-7)
    passes_a, passes_b = read(a), read(b)  # and into the page cache
    size = sum(array.nbytes for tensors in passes_a for array in tensors.values())
    check(sonde(command, a, b), passes_a, passes_b)
    ours = shortest(lambda: sonde(command, a, b))
    source, target = np.ones(size // 4, np.float32), np.ones(size // 4, np.float32)
    copying = shortest(lambda: np.copyto(target, source))
    peer = polygraphy_time(passes_a, passes_b)
    for name, value, unit in (("size", size / 1e6, "MB"), ("time", ours, "s"), ("speed", size / 1e9 / ours, "GB/s"),
                              ("memcpy", size / 1e9 / copying, "GB/s"), ("polygraphy/time", peer, "s"),
                              ("polygraphy/ratio", peer / ours, "times")):
        print(name, value, unit, sep="\t")


if __name__ == "__main__":
    main()
