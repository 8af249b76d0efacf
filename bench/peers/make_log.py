"""Writes log directories as TensorBoard's writers would, byte by byte and fast: whole blocks of records at a time.

  make_log.py scalars OUT RUNS TAGS STEPS    every run has TAGS series of STEPS points, all of a step together
  make_log.py media OUT COUNT                COUNT images of 64x64 RGB and as many histograms of 30 buckets

A record is u64 length, u32 masked CRC-32C of the length, the event, u32 masked CRC-32C of the event.
"""

import io
import pathlib
import struct
import sys

import numpy
import PIL.Image

START = 1.7e9  # wall time of the first step, in seconds
ROWS = 20_000  # steps that are put together at a time
DT_STRING, DT_DOUBLE = 7, 2


def crc_table():
    table = numpy.arange(256, dtype=numpy.uint32)
    for _ in range(8):
        table = (table >> 1) ^ numpy.where(table & 1, numpy.uint32(0x82F63B78), numpy.uint32(0))
    return table


TABLE = crc_table()


def masked_crc(rows):
    """Of each row of a matrix of bytes."""
    crc = numpy.full(len(rows), 0xFFFFFFFF, numpy.uint32)
    for column in numpy.ascontiguousarray(rows.T):
        crc = TABLE[(crc ^ column) & 0xFF] ^ (crc >> 8)
    crc = ~crc
    return ((crc >> 15) | (crc << 17)) + numpy.uint32(0xA282EAD8)


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, content):
    """Of a protobuf message, with a length before its content."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def as_bytes(values, dtype):
    """Little-endian numbers as a matrix: a row of bytes for each."""
    return numpy.ascontiguousarray(values, dtype).view(numpy.uint8).reshape(len(values), -1)


def steps_as_varints(steps, size):
    shifted = steps[:, None] >> (7 * numpy.arange(size))
    last = numpy.arange(size) == size - 1
    return (shifted & 0x7F | numpy.where(last, 0, 0x80)).astype(numpy.uint8)


def records(steps, value, floats=None):
    """The records of one value at many steps whose varints have the same size, one a row.

    `value` is the serialised Summary.Value; with `floats` its last four bytes are replaced by them.
    """
    size = len(varint(int(steps[-1])))
    head = b"\x09" + bytes(8) + b"\x10" + bytes(size)
    event = head + field(5, field(1, value))
    length = struct.pack("<Q", len(event))
    rows = numpy.empty((len(steps), 12 + len(event) + 4), numpy.uint8)
    rows[:, :8] = numpy.frombuffer(length, numpy.uint8)
    rows[:, 8:12] = as_bytes(masked_crc(rows[:1, :8]), "<u4")
    rows[:, 12:-4] = numpy.frombuffer(event, numpy.uint8)
    rows[:, 13:21] = as_bytes(START + steps * 0.1, "<f8")
    rows[:, 22:22 + size] = steps_as_varints(steps, size)
    if floats is not None:
        rows[:, -8:-4] = as_bytes(floats, "<f4")
    rows[:, -4:] = as_bytes(masked_crc(rows[:, 12:-4]), "<u4")
    return rows


def blocks(count, rows=ROWS):
    """The steps from 0 to count in pieces whose varints have the same size; step 0, with its metadata, alone."""
    begin = 0
    while begin < count:
        limit = 1 if begin == 0 else 1 << (7 * len(varint(begin)))
        end = min(begin + rows, limit, count)
        yield numpy.arange(begin, end)
        begin = end


def open_events(folder, number):
    folder.mkdir(parents=True)
    file = open(folder / f"events.out.tfevents.1700000000.host.{number}.0", "wb")
    version = b"\x09" + struct.pack("<d", START) + field(3, b"brain.Event:2")
    length = struct.pack("<Q", len(version))
    for part in (length, version):
        crc = masked_crc(numpy.frombuffer(part, numpy.uint8)[None, :])
        file.write(part + struct.pack("<I", crc[0]))
    return file


def metadata(plugin, data_class):
    return field(9, field(1, field(1, plugin)) + b"\x20" + varint(data_class))


def scalars(out, runs, tags, steps):
    for run in range(runs):
        random = numpy.random.default_rng(run)
        with open_events(out / f"run_{run:04d}", run) as file:
            for block in blocks(steps):
                parts = []
                for tag in range(tags):
                    floats = numpy.exp(-block / 5000) + random.random(len(block)) * 0.1
                    value = field(1, f"layer_{tag}/loss".encode())
                    value += metadata(b"scalars", 1) if block[0] == 0 else b""
                    parts.append(records(block, value + b"\x15" + bytes(4), floats))
                file.write(numpy.concatenate(parts, axis=1).tobytes())


def shape_of(*sizes):
    return field(2, b"".join(field(2, b"\x08" + varint(size)) for size in sizes))


def media(out, count):
    pixels = numpy.random.default_rng(1).integers(0, 256, (64, 64, 3), numpy.uint8)
    png = io.BytesIO()
    PIL.Image.fromarray(pixels).save(png, "PNG")
    strings = [b"64", b"64", png.getvalue()]
    image = b"\x08" + varint(DT_STRING) + shape_of(3) + b"".join(field(8, text) for text in strings)
    edges = numpy.linspace(-3, 3, 31)
    buckets = numpy.stack([edges[:-1], edges[1:], numpy.arange(30.0)], axis=1)
    histogram = b"\x08" + varint(DT_DOUBLE) + shape_of(30, 3) + field(4, buckets.astype("<f8").tobytes())
    kinds = [(b"samples", b"images", 3, image), (b"weights", b"histograms", 2, histogram)]
    with open_events(out / "train", 0) as file:
        for block in blocks(count, 500):
            parts = []
            for tag, plugin, data_class, tensor in kinds:
                first = metadata(plugin, data_class) if block[0] == 0 else b""
                parts.append(records(block, field(1, tag) + first + field(8, tensor)))
            file.write(numpy.concatenate(parts, axis=1).tobytes())


def main():
    kind, out, *sizes = sys.argv[1:]
    {"scalars": scalars, "media": media}[kind](pathlib.Path(out), *map(int, sizes))


if __name__ == "__main__":
    main()
