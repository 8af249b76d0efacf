"""Logs to read: the golden ones of the real writers, as TensorBoard's own file reader sees them, and some made here."""

import collections
import os
import pathlib
import shutil
import struct

from tensorboard.backend.event_processing import event_file_loader
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, types_pb2
from tensorboard.summary.writer.record_writer import RecordWriter, masked_crc32c
from tensorboard.util import tensor_util

GOLDEN = pathlib.Path(os.environ["SONDE_SOURCE_DIR"]) / "tests" / "data"
WRITERS = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir())

Point = collections.namedtuple("Point", "step wall_time tensor")


def event_files(folder):
    """{run: its event files, in the order written}."""
    runs = collections.defaultdict(list)
    for path in sorted(pathlib.Path(folder).rglob("*tfevents*")):
        runs[str(path.parent.relative_to(folder))].append(path)
    return dict(runs)


def read(folder):
    """{(run, tag): (plugin, points)}, every value of every file, old forms converted."""
    series = {}
    for run, files in event_files(folder).items():
        for path in files:
            for event in event_file_loader.EventFileLoader(str(path)).Load():
                for value in event.summary.value:
                    plugin, points = series.setdefault((run, value.tag), (value.metadata.plugin_data.plugin_name, []))
                    points.append(Point(event.step, event.wall_time, value.tensor))
    return series


def of_plugin(series, plugin):
    return {key: points for key, (name, points) in series.items() if name == plugin}


def number(tensor):
    return tensor_util.make_ndarray(tensor).item()


def copy_of(writer, folder):
    """A copy of a golden log, to be damaged."""
    target = os.path.join(folder, writer)
    shutil.copytree(GOLDEN / writer, target)
    return target


def records(content):
    """The (offset, size) of all records in an intact file."""
    found, offset = [], 0
    while offset < len(content):
        size = struct.unpack_from("<Q", content, offset)[0] + 16
        found.append((offset, size))
        offset += size
    return found


def with_payload(content, record, payload):
    """The file with another payload of the same size in that record, and its checksum."""
    offset, size = record
    return (content[:offset + 12] + payload + struct.pack("<I", masked_crc32c(payload)) + content[offset + size:])


def damage(path, *numbers):
    """Flips a bit in the payloads of these records."""
    content = bytearray(pathlib.Path(path).read_bytes())
    found = records(content)
    for number in numbers:
        content[found[number][0] + 14] ^= 1
    pathlib.Path(path).write_bytes(content)


class Writer:
    """An event file, written as TensorBoard writes them."""

    def __init__(self, folder, name="events.out.tfevents.1700000000.host.1.0"):
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, name)
        self._file = open(self.path, "wb")
        self._records = RecordWriter(self._file)
        self._write(event_pb2.Event(wall_time=1.7e9, file_version="brain.Event:2"))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._records.close()

    def _write(self, event):
        self._records.write(event.SerializeToString())
        self._records.flush()

    def graph(self, graph_def, step=0):
        """`graph_def` is the encoded message."""
        self._write(event_pb2.Event(wall_time=1.7e9 + step, step=step, graph_def=graph_def))

    def summary(self, value, step, wall_time=None):
        time = 1.7e9 + step if wall_time is None else wall_time
        self._write(event_pb2.Event(wall_time=time, step=step, summary=summary_pb2.Summary(value=[value])))

    def scalar(self, tag, value, step, wall_time=None):
        self.summary(summary_pb2.Summary.Value(tag=tag, simple_value=value), step, wall_time)

    def double(self, tag, value, step):
        tensor = tensor_pb2.TensorProto(dtype=types_pb2.DT_DOUBLE, double_val=[value])
        metadata = summary_pb2.SummaryMetadata(plugin_data={"plugin_name": "scalars"})
        self.summary(summary_pb2.Summary.Value(tag=tag, metadata=metadata, tensor=tensor), step)

    def image(self, tag, encoded, step):
        image = summary_pb2.Summary.Image(height=1, width=1, encoded_image_string=encoded)
        self.summary(summary_pb2.Summary.Value(tag=tag, image=image), step)
