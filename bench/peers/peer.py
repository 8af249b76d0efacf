"""Shared code of the measurements of peers. Results are lines like those of the C++ programs: name, value, unit."""

import statistics
import time


def report(name, value, unit):
    print(f"{name}\t{value:.6g}\t{unit}", flush=True)


def median_seconds(call, calls, pause=0.0):
    """The median time of `call(i)`, with a pause before each so that background threads can keep up.

    CPU time of this thread: what the call waits for, or loses to other programs, is not held against the peer.
    """
    times = []
    for i in range(calls):
        if pause:
            time.sleep(pause)
        begin = time.thread_time()
        call(i)
        times.append(time.thread_time() - begin)
    return statistics.median(times)
