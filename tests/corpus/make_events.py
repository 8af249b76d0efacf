"""Makes the seeds of tfrecord, tfevents_decode, graph_def and stats_record, with TensorBoard's protobufs and framing.

Needs the packages of tests/requirements.txt.
"""
import io
import pathlib
import struct

import numpy as np
from tensorboard.compat.proto import event_pb2, graph_pb2, summary_pb2
from tensorboard.plugins.audio import metadata as audio_metadata
from tensorboard.plugins.histogram import summary_v2 as histogram_summary
from tensorboard.plugins.text import summary_v2 as text_summary
from tensorboard.summary.writer import record_writer
from tensorboard.util import tensor_util

HERE = pathlib.Path(__file__).parent


def write(path, data):
    path = HERE / path
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(bytes(data))


def framed(*payloads):
    out = io.BytesIO()
    writer = record_writer.RecordWriter(out)
    for payload in payloads:
        writer.write(payload)
    return out.getvalue()


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def make_tfrecord():
    whole = framed(b"first", b"", b"x" * 40)
    write("tfrecord/whole", whole)
    write("tfrecord/empty_record", framed(b""))
    write("tfrecord/truncated", whole[:-5])
    write("tfrecord/header_only", whole[:9])
    write("tfrecord/bad_length", flipped(whole, 2))
    write("tfrecord/bad_payload", flipped(whole, 14))
    write("tfrecord/torn", whole[:50] + whole)
    write("tfrecord/zeros", bytes(40) + whole)


def value(tag, data):
    return summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag=tag, tensor=tensor_util.make_tensor_proto(data))])


def make_tfevents():
    histogram = summary_pb2.HistogramProto(min=-1, max=2, num=3, bucket_limit=[-2, 0, 1.7976931348623157e308],
                                           bucket=[0, 1, 2])
    audio = value("a", [[b"RIFF", b"label"]])
    audio.value[0].metadata.CopyFrom(audio_metadata.create_summary_metadata("name", "text", 11))
    summaries = {
        "scalar": value("s", np.float32(0.5)), "double": value("d", 0.1), "half": value("h", np.float16(1.5)),
        "integers": value("i", np.array([[1, -2], [3, 4]], np.int64)),
        "images": value("p", [b"2", b"3", b"\x89PNG", b"\x89PNG"]), "audio": audio,
        "histogram": histogram_summary.histogram_pb("h", [1.0, 2.0, 3.0], buckets=2),
        "text": text_summary.text_pb("t", np.array([["a", "b"]], object)),
        "old": summary_pb2.Summary(value=[
            summary_pb2.Summary.Value(tag="s", simple_value=1.5),
            summary_pb2.Summary.Value(tag="h", histo=histogram),
            summary_pb2.Summary.Value(tag="i", image=summary_pb2.Summary.Image(height=1, width=2, encoded_image_string=b"P")),
            summary_pb2.Summary.Value(tag="a", audio=summary_pb2.Summary.Audio(sample_rate=8, encoded_audio_string=b"R"))]),
    }
    events = {name: event_pb2.Event(wall_time=1.5, step=3, summary=summary) for name, summary in summaries.items()}
    events["version"] = event_pb2.Event(wall_time=1.5, file_version="brain.Event:2")
    events["version"].source_metadata.writer = "writer"
    events["session"] = event_pb2.Event(session_log=event_pb2.SessionLog(status="START", checkpoint_path="p", msg="m"))
    events["run_metadata"] = event_pb2.Event(tagged_run_metadata=event_pb2.TaggedRunMetadata(tag="t", run_metadata=b"r"))
    events["log"] = event_pb2.Event(log_message=event_pb2.LogMessage(level="WARN", message="m"))
    for name, event in events.items():
        write(f"tfevents_decode/{name}", event.SerializeToString(deterministic=True))


def make_graph_def():
    graph = graph_pb2.GraphDef()
    node = graph.node.add(name="a/b", op="Conv2D", input=["x", "^y", "z:1"], device="/device:CPU:0")
    node.attr["type"].type = 1
    node.attr["shape"].shape.dim.add(size=-1)
    node.attr["tensor"].tensor.CopyFrom(tensor_util.make_tensor_proto(np.arange(3.0)))
    node.attr["function"].func.name = "f"
    write("graph_def/node", graph.SerializeToString(deterministic=True))
    lists = graph_pb2.GraphDef()
    attribute = lists.node.add(name="n").attr
    attribute["i"].list.i.extend([1, -2])
    attribute["f"].list.f.extend([0.5])
    attribute["b"].list.b.extend([True, False])
    attribute["s"].list.s.extend([b"a", b"b"])
    attribute["t"].list.type.extend([1, 7, 99])
    attribute["h"].list.shape.add().unknown_rank = True
    attribute["g"].list.func.add(name="g")
    write("graph_def/lists", lists.SerializeToString(deterministic=True))


def make_stats_record():
    start = bytes([1, 1])
    numbers = struct.pack("<5d", -1, 2, 0.5, float("nan"), 3e300)
    form = bytes([13, 2, 1, 6])  # f32[-1,3]
    histogram = bytes([3, 9, 1, 4, 2, 0, 0x80, 1])  # keys -5, 0, 1
    summary = bytes([0xc0, 0x84, 0x3d, 1, 2, 3, 4, 5]) + numbers
    write("stats_record/header", start + b"\x00\x05train\x04host\x80\x01" + struct.pack("<d", 1.75e9))
    write("stats_record/definition", start + b"\x01\xac\x02\x03" + form + b"\x01n\x02\x01a\x00")
    write("stats_record/step", start + b"\x02\x09" + struct.pack("<d", 1.75e9) + b"\x01" + b"\x05\x00" + summary
          + b"\x06\x07\x02" + form + summary + bytes([len(histogram)]) + histogram)
    write("stats_record/gap", start + b"\x03\x03\x00\x01\x02\x0c\x01\x04full")
    write("stats_record/newer", b"\x02\x01\x02anything")
    # What a newer writer may add without another version.
    write("stats_record/unknown_kind", start + b"\x01\xac\x02\x09" + form + b"\x01n\x02\x01a\x00")
    write("stats_record/unknown_dtype", start + b"\x01\xac\x02\x03\x63" + form[1:] + b"\x01n\x02\x01a\x00")
    write("stats_record/unknown_type", start + b"\x09anything")
    write("stats_record/unknown_reason", start + b"\x03\x03\x00\x01\x02\x0c\x4d\x04full")


make_tfrecord()
make_tfevents()
make_graph_def()
make_stats_record()
