"""What TensorBoard must report about a recorded log, and how its answers are compared with what was recorded."""

import io
import json
import struct
import sys
import types
import unittest.mock
import wave

import numpy as np
import PIL.Image
from tensorboard.compat.proto import types_pb2
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.pr_curve import summary as pr_curve_summary

from recording import DTYPE_NUMBERS

RUN_GRAPH = "__run_graph__"
CUSTOM_SCALARS = "custom_scalars__config__"
HPARAMS_TAGS = {"_hparams_/experiment", "_hparams_/session_start_info", "_hparams_/session_end_info"}
TF_DTYPES = {"f32": types_pb2.DT_FLOAT, "f64": types_pb2.DT_DOUBLE, "bf16": types_pb2.DT_BFLOAT16,
             "u8": types_pb2.DT_UINT8}


def without_preempted(points):
    """What the data server keeps of a series: a step that goes back drops what it repeats."""
    kept = []
    for point in points:
        while kept and kept[-1][0] >= point[0]:
            kept.pop()
        kept.append(point)
    return kept


def expected_scalars(expected, fast):
    """The data server skips doubles, and drops steps that are repeated."""
    if not fast:
        return expected.scalars
    return {run: {tag: without_preempted(points) if run != "double" else [] for tag, points in tags.items()}
            for run, tags in expected.scalars.items()}


def has_unreadable_blobs(tag):
    """The data server cannot find the pictures of a tag that has characters which JSON escapes."""
    return json.dumps(tag, ensure_ascii=False) != f'"{tag}"'


def expected_tags(expected):
    """{plugin: {run: tags}} of everything but scalars."""
    return {
        "histograms": expected.histograms, "images": expected.images, "audio": expected.audio, "text": expected.text,
        "pr_curves": expected.pr_curves, "mesh": expected.mesh_tags(),
        "hparams": {run: HPARAMS_TAGS for run in expected.hparams},
        "custom_scalars": {run: {CUSTOM_SCALARS} for run in expected.layouts},
        "graphs": {run: {RUN_GRAPH} for run in expected.graphs},
    }


def bin_of(edge):
    """The bounds of the bin around `edge` in a grid of 16 bins per octave: the resolution of the recorder's histogram."""
    if edge == 0:
        return -5e-324, 5e-324
    mantissa, exponent = np.frexp(abs(edge))
    index = np.floor(mantissa * 32)
    low, high = np.ldexp(index / 32, exponent), np.ldexp((index + 1) / 32, min(exponent, 1024))
    return (low, high) if edge > 0 else (-high, -low)


def check_buckets(test, buckets, array, count):
    """Buckets [k, 3] of an array, against NumPy: to the resolution of the bins that they are made from."""
    values = np.asarray(array, np.float64).ravel()
    values = np.sort(values[np.isfinite(values)])
    if len(values) == 0:
        test.assertEqual(buckets.shape, (0, 3))
        return
    left, right, counts = buckets.T
    test.assertEqual((left[0], right[-1]), (values[0], values[-1]))
    np.testing.assert_allclose(counts.sum(), len(values), rtol=1e-12)
    if values[0] == values[-1]:
        test.assertEqual(len(buckets), 1)
        return
    test.assertEqual(len(buckets), count)
    np.testing.assert_array_equal(left[1:], right[:-1])
    edges = np.append(left, right[-1])
    # Equal steps, in a type that holds any range of doubles.
    steps = np.linspace(np.longdouble(values[0]), np.longdouble(values[-1]), count + 1)
    np.testing.assert_allclose(edges.astype(np.longdouble), steps, rtol=1e-13,
                               atol=max(abs(values[0]), abs(values[-1])) * 1e-15 + 5e-324)
    test.assertTrue((counts >= 0).all())
    true_counts, _ = np.histogram(values, edges)
    ours, truth = np.cumsum(counts)[:-1], np.cumsum(true_counts)[:-1]
    for edge, found, exact in zip(edges[1:-1], ours, truth):
        low, high = bin_of(edge)
        in_bin = np.searchsorted(values, high, "right") - np.searchsorted(values, low, "left")
        test.assertLessEqual(abs(found - exact), in_bin + 1e-9 * len(values), f"below {edge}")


def check_png(test, png, pixels, tolerance):
    picture = PIL.Image.open(io.BytesIO(png))
    test.assertEqual(picture.format, "PNG")
    shown = np.asarray(picture, np.float64)
    pixels = np.asarray(pixels, np.float64)
    test.assertEqual(shown.shape, pixels.shape)
    anything = np.isnan(pixels)
    np.testing.assert_allclose(np.where(anything, 0, shown), np.where(anything, 0, pixels), rtol=0, atol=tolerance)


def check_wav(test, file, samples, rate):
    if samples.dtype == np.int16:
        with wave.open(io.BytesIO(file)) as sound:
            form = sound.getframerate(), sound.getnchannels(), sound.getsampwidth()
            test.assertEqual(form, (rate, samples.shape[1], 2))
            frames = np.frombuffer(sound.readframes(sound.getnframes()), "<i2")
    else:  # Python's module reads integers only
        chunks, at = {}, 12
        while at < len(file):
            size = struct.unpack_from("<I", file, at + 4)[0]
            chunks[file[at:at + 4]] = file[at + 8:at + 8 + size]
            at += 8 + size
        form, channels, frequency = struct.unpack_from("<HHI", chunks[b"fmt "])
        test.assertEqual((form, channels, frequency), (3, samples.shape[1], rate))
        frames = np.frombuffer(chunks[b"data"], "<f4")
    np.testing.assert_array_equal(frames.reshape(samples.shape), samples)


def tensorboard_pr_curve(labels, predictions, thresholds):
    """TensorBoard's own computation, which only needs TensorFlow to pack its result."""
    unused = types.ModuleType("tensorflow")
    modules = {name: unused for name in ("tensorflow", "tensorflow.compat", "tensorflow.compat.v1")}
    unused.compat, unused.v1 = unused, unused
    with unittest.mock.patch.dict(sys.modules, modules), \
            unittest.mock.patch.object(pr_curve_summary, "raw_data_pb") as pack:
        pr_curve_summary.pb("", labels.ravel().astype(bool), predictions.ravel(), thresholds)
    rows = pack.call_args.kwargs
    return np.float32([rows["true_positive_counts"], rows["false_positive_counts"], rows["true_negative_counts"],
                       rows["false_negative_counts"], rows["precision"], rows["recall"]])


def attribute_value(attribute):
    """The kind and value of an attribute, in the words of recorded_log.node."""
    one = attribute.WhichOneof("value")
    if one == "f":
        return "float", round(attribute.f, 6)
    if one == "s":
        return "str", attribute.s.decode()
    if one == "list":
        return "ints", list(attribute.list.i)
    if one == "shape":
        return "shape", [dim.size for dim in attribute.shape.dim]
    if one == "type":
        (name,) = [name for name, number in TF_DTYPES.items() if number == attribute.type]
        return "dtype", DTYPE_NUMBERS[name]
    return {"b": "bool", "i": "int"}[one], getattr(attribute, one)


def check_graph(test, graph, nodes):
    test.assertEqual([node.name for node in graph.node], [node["name"] for node in nodes])
    for found, node in zip(graph.node, nodes):
        test.assertEqual((found.op, list(found.input), found.device), (node["op"], node["inputs"], node["device"]))
        attributes = dict(found.attr)
        shapes = attributes.pop("_output_shapes").list.shape
        test.assertEqual([[dim.size for dim in shape.dim] for shape in shapes], node["shapes"])
        test.assertFalse(any(shape.unknown_rank for shape in shapes))
        test.assertEqual(attributes.pop("T" if node["inputs"] else "dtype").type, TF_DTYPES[node["dtype"]])
        test.assertEqual(set(attributes), set(node["attributes"]))
        for key, (kind, value) in node["attributes"].items():
            test.assertEqual(attribute_value(attributes[key]), (kind, value), key)


def expected_layout(categories):
    layout = layout_pb2.Layout()
    for title, charts in categories:
        category = layout.category.add(title=title)
        for chart_title, tags, margin in charts:
            chart = category.chart.add(title=chart_title)
            if margin:
                for value, lower, upper in zip(*[iter(tags)] * 3):
                    chart.margin.series.add(value=value, lower=lower, upper=upper)
            else:
                chart.multiline.tag.extend(tags)
    return layout
