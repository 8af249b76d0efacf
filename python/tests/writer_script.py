"""One script for two writers: every method of SummaryWriter, each into a run of its own. Used by test_writer_interface.py,
and with torch's writer by test_torch_writer.py."""
import pathlib

import numpy


def data() -> dict:
    random = numpy.random.default_rng(1)
    return {"values": random.normal(size=1000), "picture": random.random((3, 16, 20)), "batch": random.random((11, 1, 6, 7)),
            "pixels": random.integers(0, 255, (16, 20, 3)).astype(numpy.uint8), "sound": random.uniform(-1, 1, 400),
            "labels": random.integers(0, 2, 100), "predictions": random.random(100), "weights": random.random(100),
            "points": random.random((2, 5, 3)).astype(numpy.float32), "colors": random.integers(0, 255, (2, 5, 3)),
            "faces": random.integers(0, 5, (2, 4, 3))}


def counted(values):
    counts, edges = numpy.histogram(values, 20)
    return {"min": values.min(), "max": values.max(), "num": len(values), "sum": values.sum(),
            "sum_squares": values.dot(values), "bucket_limits": edges[1:].tolist(), "bucket_counts": counts.tolist()}


def calls() -> dict:
    """{name of a run: what it records with a writer}"""
    d = data()
    boxes = numpy.array([[2, 2, 10, 9], [5, 4, 15, 12]])
    curve = [numpy.linspace(1, 0, 10) for _ in range(6)]
    time = {"walltime": 1234.5}
    layout = {"losses": {"both": ["Multiline", ["a", "b"]], "range": ["Margin", ["m", "l", "u"]]}}
    return {
        "scalar": lambda w: [w.add_scalar("x", 0.5, 3), w.add_scalar("x", numpy.float32(0.25), 4, **time), w.add_scalar("y", 7),
                             w.add_scalar("new", 0.1, 1, new_style=True), w.add_scalar("one", numpy.array([3.0]), 2),
                             w.add_scalar("wide", 0.1, 1, new_style=True, double_precision=True)],
        "histogram": lambda w: [w.add_histogram("h", d["values"], 1), w.add_histogram("h", d["values"] * 2, 2, **time)],
        "bins": lambda w: [w.add_histogram("auto", d["values"], 1, bins="auto"), w.add_histogram("ten", d["values"], 1, bins=10),
                           w.add_histogram("few", d["values"], 1, bins=100, max_bins=10),
                           w.add_histogram("edges", d["values"], 1, bins=[-1.0, 0.0, 1.0])],
        "histogram_raw": lambda w: w.add_histogram_raw("h", **counted(d["values"]), global_step=2),
        "image": lambda w: [w.add_image("chw", d["picture"], 1), w.add_image("hwc", d["pixels"], 2, dataformats="HWC"),
                            w.add_image("hw", d["picture"][0], 3, dataformats="HW", **time), w.add_image("grey", d["picture"][:1], 4)],
        "images": lambda w: [w.add_images("nchw", d["batch"], 1),
                             w.add_images("nhwc", d["batch"].transpose(0, 2, 3, 1), 1, dataformats="NHWC")],
        "boxes": lambda w: [w.add_image_with_boxes("b", d["picture"], boxes, 1),
                            w.add_image_with_boxes("l", d["picture"], boxes, 1, rescale=2, labels=["cat", "dog"])],
        "audio": lambda w: w.add_audio("a", d["sound"], 1, sample_rate=8000),
        "text": lambda w: [w.add_text("t", "*hello*", 1), w.add_text("t", "wörld", 2, **time)],
        "pr_curve": lambda w: [w.add_pr_curve("p", d["labels"], d["predictions"], 1, num_thresholds=31),
                               w.add_pr_curve("w", d["labels"], d["predictions"], 1, weights=d["weights"])],
        "pr_curve_raw": lambda w: w.add_pr_curve_raw("p", *curve, global_step=1, num_thresholds=10),
        "custom_scalars": lambda w: w.add_custom_scalars(layout),
        "multiline": lambda w: w.add_custom_scalars_multilinechart(["a", "b"], title="t"),
        "margin": lambda w: w.add_custom_scalars_marginchart(["m", "l", "u"], category="c"),
        "mesh": lambda w: [w.add_mesh("points", d["points"], global_step=1),
                           w.add_mesh("mesh", d["points"], d["colors"], d["faces"], {"camera": {"fov": 75}}, 2, 1234.5)],
        "scalars": lambda w: w.add_scalars("both/x", {"train": 0.5, "test": 0.6}, 3),
        "hparams": lambda w: w.add_hparams({"lr": 0.1, "n": 3, "name": "x"}, {"accuracy": 0.9}, {"lr": [0.1, 0.2]}, "trial", 4),
    }


def record(writer_class, directory: pathlib.Path, only=None) -> None:
    for name, call in calls().items():
        if only is not None and name not in only:
            continue
        with writer_class(log_dir=str(directory / name)) as writer:
            call(writer)
