"""A second reader of statistics files, made from the layout on top of src/formats/stats_record.h and nothing else."""

import struct

KINDS = ("activation", "gradient", "weight", "update", "input", "output")
REASONS = ("no room", "write error", "budget", "rejected")
DTYPES = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f8_e4m3", "f8_e5m2", "f16", "bf16", "f32",
          "f64", "c64", "c128")
COUNTS = ("count", "nan", "positive_infinity", "negative_infinity", "zeros", "negatives")
NUMBERS = ("min", "max", "mean", "m2", "sum_abs")


class Reader:
    """Takes values from the front of some bytes."""

    def __init__(self, data):
        self.data = data

    def take(self, size):
        if size > len(self.data):
            raise ValueError("cut off")
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def u8(self):
        return self.take(1)[0]

    def f64(self):
        return struct.unpack("<d", self.take(8))[0]

    def varint(self):
        value = 0
        for shift in range(0, 70, 7):
            byte = self.u8()
            value |= (byte & 0x7f) << shift
            if byte < 0x80:
                return value
        raise ValueError("a varint of more than ten bytes")

    def zigzag(self):
        raw = self.varint()
        return (raw >> 1) ^ -(raw & 1)

    def text(self):
        return self.take(self.varint()).decode()

    def form(self):
        dtype, rank = DTYPES[self.u8()], self.u8()
        return {"dtype": dtype, "shape": [self.zigzag() for _ in range(rank)]}


def histogram(data):
    """[[key, count], ...]"""
    reader = Reader(data)
    bins = []
    for _ in range(reader.varint()):
        key = bins[-1][0] + reader.varint() + 1 if bins else reader.zigzag()
        bins.append([key, reader.varint()])
    if reader.data:
        raise ValueError("something behind the last bin")
    return bins


def entry(reader):
    result = {"id": reader.varint(), "occurrence": 0}
    flags = reader.u8()
    if flags & 1:
        result["occurrence"] = reader.varint()
    if flags & 2:
        result["form"] = reader.form()
    result["summary"] = {name: reader.varint() for name in COUNTS} | {name: reader.f64() for name in NUMBERS}
    if flags & 4:
        result["histogram"] = histogram(reader.take(reader.varint()))
    return result


def header(reader):
    return {"type": "header", "writer": reader.text(), "host": reader.text(), "pid": reader.varint(),
            "start_time": reader.f64()}


def definition(reader):
    return {"type": "definition", "id": reader.varint(), "kind": KINDS[reader.u8()], "form": reader.form(),
            "name": reader.text(), "inputs": [reader.text() for _ in range(reader.varint())]}


def step(reader):
    result = {"type": "step", "step": reader.zigzag(), "wall_time": reader.f64(), "evaluation": bool(reader.u8() & 1),
              "entries": []}
    while reader.data:
        result["entries"].append(entry(reader))
    return result


def gap(reader):
    flags, tensor = reader.u8(), reader.varint()
    return {"type": "gap", "id": None if flags & 2 else tensor, "evaluation": bool(flags & 1),
            "first_step": reader.zigzag(), "last_step": reader.zigzag(), "count": reader.varint(),
            "reason": REASONS[reader.u8()], "detail": reader.text()}


def decode(payload):
    """One record as a dictionary; of a newer one only its type."""
    reader = Reader(payload)
    version, grid = reader.u8(), reader.u8()
    if (version, grid) != (1, 1):
        return {"type": "newer", "version": version, "grid": grid}
    return (header, definition, step, gap)[reader.u8()](reader)
