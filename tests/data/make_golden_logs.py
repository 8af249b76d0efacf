#!/usr/bin/env python3
"""Writes the golden logs: small log directories made by the writers that people use, for tests of our reader.

    make_golden_logs.py WRITER...     torch, tensorboardx, tensorflow, tensorflow_v1, keras

Each writer goes into the folder of its name beside this script, which must not be there yet. requirements.txt names
the versions that the logs in the repository were written with; README.md says what they hold.
"""
import itertools
import os
import pathlib
import re
import sys
import time
import wave

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
RATE = 8000  # of the sounds, in Hz


def still_clock():
    """Writers in Python then give the same times whenever this runs: a quarter of a second from call to call."""
    ticks = itertools.count(1_700_000_000 * 4)
    time.time = lambda: next(ticks) / 4


def random(seed=0):
    return np.random.default_rng(seed)


def picture(height=8, width=12, shift=0):
    y, x = np.mgrid[0:height, 0:width]
    channels = [(x * 20 + shift) % 256, (y * 30 + shift) % 256, (x * y + shift) % 256]
    return np.stack(channels, -1).astype(np.uint8)


def sound(frequency=440.0, seconds=0.05):
    return np.sin(2 * np.pi * frequency * np.arange(int(RATE * seconds)) / RATE).astype(np.float32)


def cube():
    vertices = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float32)[None]
    faces = np.array([[0, 1, 2], [1, 2, 3], [4, 5, 6], [5, 6, 7]], np.int32)[None]
    colors = (vertices * 255).astype(np.uint8)
    return vertices, faces, colors


LAYOUT = {"losses": {"both": ["Multiline", ["loss/train", "loss/eval"]],
                     "band": ["Margin", ["loss/train", "loss/low", "loss/high"]]}}
HPARAMS = {"rate": 0.125, "layers": 3, "optimizer": "adam", "bias": True}


def fill_torch_like(writer, extra):
    """What torch's writer and tensorboardX have in common. `extra`: arguments that only one of them takes."""
    rng = random()
    for step in range(40):
        writer.add_scalar("loss/train", 1 / (step + 1), step)
        writer.add_scalar("loss/eval", 1.25 / (step + 1), step)
        writer.add_scalar("loss/low", 0.75 / (step + 1), step)
        writer.add_scalar("loss/high", 2 / (step + 1), step)
    for step, value in enumerate([0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1e-45, 3.4e38]):
        writer.add_scalar("special values", value, step * 10)
    writer.add_scalars("group", {"a": 1.0, "b": 2.0}, 0)  # a run of its own for each
    writer.add_scalars("group", {"a": 1.5, "b": 2.5}, 1)
    for step in range(3):
        values = rng.normal(step, 2, 300)
        writer.add_histogram("weights", values, step, bins="tensorflow")
        writer.add_histogram("weights/auto", values, step, bins="auto")
        writer.add_image("picture", picture(shift=40 * step), step, dataformats="HWC")
        writer.add_text("remark", f"*step* {step}\n\n| a | b |\n|---|---|\n| 1 | {step} |", step)
        labels, predictions = rng.integers(0, 2, 60), rng.random(60)
        writer.add_pr_curve("curve", labels, predictions, step, num_thresholds=15)
    writer.add_histogram("constant", np.full(10, 0.5), 0)
    writer.add_images("batch", np.stack([picture(shift=s) for s in (0, 90, 180)]), 0, dataformats="NHWC")
    for step in range(2):
        writer.add_audio("tone", extra["sound"](440.0 * (step + 1)), step, sample_rate=RATE)
    vertices, faces, colors = cube()
    writer.add_mesh("cube", extra["tensor"](vertices), extra["tensor"](colors), extra["tensor"](faces), global_step=2)
    writer.add_custom_scalars(LAYOUT)


def small_network():
    import torch
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1)), torch.ones(2, 3)


def make_torch(folder):
    import torch
    from torch.utils.tensorboard import SummaryWriter
    still_clock()
    with SummaryWriter(folder / "train") as writer:
        fill_torch_like(writer, {"tensor": torch.from_numpy, "sound": lambda f: torch.from_numpy(sound(f))})
        writer.add_hparams(HPARAMS, {"hparam/loss": 0.25}, run_name="trial")
    with SummaryWriter(folder) as writer:  # the run "."
        for step in range(5):
            writer.add_scalar("at the root", step * step, step)
    with SummaryWriter(folder / "nested" / "deep" / "run") as writer:
        for step in range(10):
            writer.add_scalar("loss/train", -step, step)
            writer.add_scalar("new style", step / 3, step, new_style=True)
            writer.add_scalar("double", step / 3, step, new_style=True, double_precision=True)
    with SummaryWriter(folder / "graph") as writer:
        writer.add_graph(*small_network())
    for part in range(2):  # a job that ended and went on: two event files
        with SummaryWriter(folder / "resumed") as writer:
            for step in range(part * 6, part * 6 + 6):
                writer.add_scalar("loss/train", step + 0.5, step)
                writer.add_histogram("weights", random(step).normal(0, 1, 50), step, bins="auto")
    for part in range(2):  # one that repeats some steps
        with SummaryWriter(folder / "restarted", purge_step=4 if part else None) as writer:
            for step in range(part * 4, part * 4 + 6):
                writer.add_scalar("loss/train", step + 100 * part, step)


def make_tensorboardx(folder):
    from tensorboardX import SummaryWriter
    still_clock()
    with SummaryWriter(str(folder / "train")) as writer:
        fill_torch_like(writer, {"tensor": lambda array: array, "sound": sound})
        writer.add_hparams(HPARAMS, {"hparam/loss": 0.25}, name="trial")
    with SummaryWriter(str(folder / "graph")) as writer:
        writer.add_graph(*small_network())
    with SummaryWriter(str(folder)) as writer:
        writer.add_scalar("at the root", 1.0, 0)


def encoded_wav(samples):
    import io
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((1, 2, RATE, 0, "NONE", ""))
        out.writeframes((samples * 32767).astype("<i2").tobytes())
    return file.getvalue()


def make_tensorflow(folder):
    import tensorflow as tf
    from tensorboard.plugins.custom_scalar import layout_pb2, summary as custom_scalars
    from tensorboard.plugins.hparams import api as hparams
    from tensorboard.plugins.mesh import summary_v2 as mesh
    from tensorboard.plugins.pr_curve import summary as pr_curves
    from tensorboard.compat.proto import summary_pb2
    rng = random()
    with tf.summary.create_file_writer(str(folder / "train")).as_default():
        for step in range(40):
            tf.summary.scalar("loss/train", 1 / (step + 1), step, description="what is **minimised**")
            tf.summary.scalar("loss/eval", 1.25 / (step + 1), step)
        for step in range(3):
            tf.summary.histogram("weights", rng.normal(step, 2, 300), step)
            tf.summary.image("picture", np.stack([picture(shift=40 * step + s) for s in (0, 90)]), step)
            tf.summary.audio("tone", np.stack([sound(440), sound(660)])[..., None], RATE, step)
            tf.summary.text("remark", f"*step* {step}", step)
            tf.summary.text("table", [["a", "b"], ["1", str(step)]], step)
            tf.summary.write("matrix", tf.reshape(tf.range(6.0), [2, 3]) + step, step,
                             metadata=plugin_metadata("somebody's plugin"))
            labels, predictions = rng.integers(0, 2, 60).astype(bool), rng.random(60).astype(np.float32)
            curve = pr_curves.pb("curve", labels, predictions, num_thresholds=15)
            tf.summary.experimental.write_raw_pb(curve.SerializeToString(), step)
        vertices, faces, colors = cube()
        mesh.mesh("cube", vertices=vertices, faces=faces, colors=colors, step=1)
        chart = layout_pb2.Chart(title="both", multiline=layout_pb2.MultilineChartContent(tag=["loss/.*"]))
        layout = layout_pb2.Layout(category=[layout_pb2.Category(title="losses", chart=[chart])])
        summary = summary_pb2.Summary.FromString(custom_scalars.pb(layout).SerializeToString())
        tf.summary.experimental.write_raw_pb(summary.SerializeToString(), 0)
    for trial, units in enumerate([4, 8]):
        with tf.summary.create_file_writer(str(folder / "trials" / str(trial))).as_default():
            hparams.hparams({"units": units, "dropout": 0.5, "kind": "dense"}, start_time_secs=1_700_000_000)
            tf.summary.scalar("accuracy", 0.5 + units / 100, 1)
    with tf.summary.create_file_writer(str(folder)).as_default():
        hparams.hparams_config(hparams=[hparams.HParam("units", hparams.Discrete([4, 8]))],
                               metrics=[hparams.Metric("accuracy", display_name="Accuracy")])
        tf.summary.graph(small_graph(tf))
    with tf.summary.create_file_writer(str(folder / "traced")).as_default():
        tf.summary.trace_on(graph=True)
        tf.function(lambda x: tf.nn.relu(x) * 2 + 1)(tf.ones([2, 3]))
        tf.summary.trace_export("function", step=0)


def plugin_metadata(name):
    from tensorflow.core.framework import summary_pb2
    return summary_pb2.SummaryMetadata(plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name=name,
                                                                                         content=b"\x00\xff"))


def small_graph(tf):
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 3], name="x")
        with tf.name_scope("layer"):
            tf.nn.relu(tf.matmul(x, tf.ones([3, 2])), name="out")
    return graph


def make_tensorflow_v1(folder):
    """The old forms of values, with the events around them that only old programs write."""
    import tensorflow as tf
    from tensorflow.python.summary.writer.writer import FileWriter
    v1 = tf.compat.v1
    v1.disable_eager_execution()
    graph = small_graph(tf)
    writer = FileWriter(str(folder / "old"), graph=graph)
    writer.add_session_log(v1.SessionLog(status=v1.SessionLog.START), 0)
    rng = random()
    with graph.as_default(), v1.Session() as session:
        array = v1.placeholder(tf.float32, [None], name="array")
        pixels = v1.placeholder(tf.uint8, [None, 8, 12, 3], name="pixels")
        clips = v1.placeholder(tf.float32, [None, 400], name="clips")
        merged = v1.summary.merge([
            v1.summary.scalar("loss", tf.reduce_mean(array)), v1.summary.histogram("weights", array),
            v1.summary.image("picture", pixels, max_outputs=2), v1.summary.audio("tone", clips, RATE)])
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        for step in range(5):
            found = session.run(merged, {array: rng.normal(step, 3, 200), clips: np.stack([sound(300 + 100 * step)]),
                                         pixels: np.stack([picture(shift=s + step) for s in (0, 90)])})
            writer.add_summary(found, step)
        about = v1.RunMetadata()
        session.run(merged, {array: [1.0], clips: [sound()], pixels: [picture()]}, options=options, run_metadata=about)
        writer.add_run_metadata(about, "step_5", 5)
    value = v1.Summary.Value
    for step in range(20):
        writer.add_summary(v1.Summary(value=[value(tag="accuracy", simple_value=step / 20)]), step)
    empty = v1.HistogramProto(min=0, max=0, bucket_limit=[0.0, 1.0], bucket=[0.0, 0.0])
    writer.add_summary(v1.Summary(value=[value(tag="empty", histo=empty)]), 0)
    writer.add_session_log(v1.SessionLog(status=v1.SessionLog.CHECKPOINT, checkpoint_path="model.ckpt"), 20)
    writer.close()
    by_hand = FileWriter(str(folder / "by_hand"))
    audio = v1.Summary.Audio(sample_rate=RATE, num_channels=1, length_frames=400, content_type="audio/wav",
                             encoded_audio_string=encoded_wav(sound()))
    by_hand.add_summary(v1.Summary(value=[value(tag="tone", audio=audio), value(tag="x", simple_value=1)]), 7)
    by_hand.close()


def make_keras(folder):
    import tensorflow as tf
    tf.keras.utils.set_random_seed(0)
    model = tf.keras.Sequential([tf.keras.layers.Input([3]), tf.keras.layers.Dense(4, "relu", name="hidden"),
                                 tf.keras.layers.Dense(1, name="out")])
    model.compile("sgd", "mse")
    x = random().normal(0, 1, (32, 3)).astype(np.float32)
    y = x.sum(1, keepdims=True)
    board = tf.keras.callbacks.TensorBoard(str(folder), histogram_freq=1, write_graph=True, profile_batch=0)
    model.fit(x, y, epochs=4, batch_size=16, validation_data=(x, y), callbacks=[board], verbose=0)


def rename(folder):
    """No name of a machine or a process in what is kept. The order of a run's files stays."""
    for directory, _, names in os.walk(folder):
        events = sorted(name for name in names if "tfevents" in name)
        for number, name in enumerate(events):
            suffix = ".v2" if name.endswith(".v2") else ""
            pathlib.Path(directory, name).rename(
                pathlib.Path(directory, f"events.out.tfevents.{1_700_000_000 + number}.host.1.{number}{suffix}"))


def check(folder):
    """Small, and without paths of the machine that wrote it."""
    total = 0
    for file in (path for path in folder.rglob("*") if path.is_file()):
        data = file.read_bytes()
        total += len(data)
        for found in set(re.findall(rb"/(?:home|root|tmp|work|usr)/[\w./-]*", data)):
            sys.exit(f"{file} holds the path {found.decode()}")
        if re.search(rb"\b%s\b" % re.escape(os.uname().nodename.encode()), data):
            sys.exit(f"{file} holds the name of this machine")
    if total > 150_000:
        sys.exit(f"{folder} has {total} bytes, which is more than 150,000")
    print(f"{folder.name}: {total} bytes")


def main():
    makers = {"torch": make_torch, "tensorboardx": make_tensorboardx, "tensorflow": make_tensorflow,
              "tensorflow_v1": make_tensorflow_v1, "keras": make_keras}
    if len(sys.argv) < 2 or not set(sys.argv[1:]) <= set(makers):
        sys.exit(__doc__)
    for name in sys.argv[1:]:
        folder = HERE / name
        if folder.exists():
            sys.exit(f"{folder} is there already; delete it first")
        makers[name](folder)
        rename(folder)
        check(folder)


if __name__ == "__main__":
    main()
