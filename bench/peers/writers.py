"""The cost of TensorBoard's writers for a training thread: `writers.py tensorboardX` or `writers.py torch`.

Calls are paced as ours are, so that a writer's own thread is not what is waited for; scalars also one after the other.
"""

import importlib
import pathlib
import sys
import tempfile

import numpy

from peer import median_seconds, report

MODULES = {"tensorboardX": "tensorboardX", "torch": "torch.utils.tensorboard"}


def main():
    peer = sys.argv[1]
    writer_type = importlib.import_module(MODULES[peer]).SummaryWriter
    random = numpy.random.default_rng(1)
    values = random.standard_normal(1_000_000, dtype=numpy.float32)
    noise = random.integers(0, 256, (256, 256, 3), dtype=numpy.uint8)
    smooth = numpy.add.outer(numpy.arange(256) // 2, numpy.arange(256) // 2).astype(numpy.uint8)
    smooth = numpy.repeat(smooth[:, :, None], 3, axis=2)

    with tempfile.TemporaryDirectory() as directory:
        writer = writer_type(directory)

        def image(name, pixels):
            time = median_seconds(lambda i: writer.add_image(name, pixels, i, dataformats="HWC"), 30, 0.02)
            report(f"{peer}/image_256_{name}", time * 1e3, "ms")

        scalar = median_seconds(lambda i: writer.add_scalar("loss", 0.5, i), 5000, 1e-4)
        report(f"{peer}/scalar", scalar * 1e6, "us")
        burst = median_seconds(lambda i: writer.add_scalar("loss", 0.5, i), 5000)
        report(f"{peer}/scalar_burst", burst * 1e6, "us")
        histogram = median_seconds(lambda i: writer.add_histogram("h", values, i, bins="tensorflow"), 20, 0.02)
        report(f"{peer}/histogram_1m", histogram * 1e3, "ms")
        image("noise", noise)
        image("smooth", smooth)
        writer.close()
        written = sum(file.stat().st_size for file in pathlib.Path(directory).iterdir())
        if written < 30 * noise.size // 2:
            sys.exit(f"wrong answer: {peer} wrote {written} bytes, less than its images take")


if __name__ == "__main__":
    main()
