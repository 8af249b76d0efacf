"""What NumPy takes for the statistics of 16M float32, asked for one by one as people do."""

import math
import sys

import numpy

from peer import median_seconds, report

COUNT = 16 << 20


def main():
    values = numpy.random.default_rng(1).standard_normal(COUNT, dtype=numpy.float32)
    answers = {}

    def ask(_):
        answers["min"] = values.min()
        answers["max"] = values.max()
        answers["mean"] = values.mean()
        answers["std"] = values.std()
        answers["nan"] = numpy.isnan(values).any()

    report("numpy/statistics_16m", median_seconds(ask, 15) * 1e3, "ms")
    if answers["nan"] or not math.isclose(answers["std"], 1, rel_tol=0.01):
        sys.exit("wrong answer: NumPy's statistics are not those of normal numbers")


if __name__ == "__main__":
    main()
