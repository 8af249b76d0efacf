#!/usr/bin/env python3
"""What a summary adds to the call of a tf.function: ours beside TensorFlow's, in one run. What was written is checked.

    build/venv-frameworks/bin/python bench/python/tf_summary.py [--json]

Needs the package installed beside TensorFlow: `make test-frameworks` does so. Times are those of all threads of the process,
so that what happens behind the function counts too.
"""
import argparse
import json
import os
import statistics
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

import sonde
from sonde import tf_summary

CALLS, ROUNDS = 500, 9


def function(summary, writer, kind: str):
    """A step of training without any training, and one summary."""
    step = tf.Variable(0, dtype=tf.int64)
    values = tf.random.stateless_normal([1000], [1, 2])

    @tf.function
    def work():
        step.assign_add(1)
        if kind == "scalar":
            summary.scalar("loss", tf.cast(step, tf.float32), step=step)
        elif kind == "histogram":
            summary.histogram("values", values, step=step)

    def call():
        with writer.as_default():
            for _ in range(CALLS):
                work()

    return call


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        writers = {name: (summary, summary.create_file_writer(f"{folder}/{name}"))
                   for name, summary in (("sonde", tf_summary), ("tensorflow", tf.summary))}
        calls = {(kind, name): function(*writers[name], kind) for kind in ("bare", "scalar", "histogram") for name in writers}
        times = {key: [] for key in calls}
        for call in calls.values():
            call()  # traced
        for _ in range(ROUNDS):
            for key, call in calls.items():
                begin = time.process_time()
                call()
                times[key].append((time.process_time() - begin) / CALLS * 1e6)
        for _, writer in writers.values():
            writer.close()
        points = sonde.load(folder, cache=False).scalars("loss")
        for name in writers:
            assert len(points[name, "loss"]) == CALLS * (ROUNDS + 1), (name, len(points[name, "loss"]))
    median = {key: statistics.median(all_of) for key, all_of in times.items()}
    found = {f"{kind} in a tf.function": {f"{name} us": median[kind, name] - median["bare", name] for name in writers}
             for kind in ("scalar", "histogram")}
    found["a tf.function without"] = {"us": median["bare", "sonde"]}
    if arguments.json:
        print(json.dumps(found))
        return
    for name, figures in found.items():
        print(f"{name:30}", "  ".join(f"{key} {number:,.1f}" for key, number in figures.items()))


if __name__ == "__main__":
    main()
