"""Makes the seeds of flight: flight rings, written from the description in src/formats/flight_layout.h alone.

The test FlightFormat.ReadsWhatTheDescriptionSays expects the values written here.
"""
import pathlib
import struct

HERE = pathlib.Path(__file__).parent / "flight"
HEADER = 4096
KINDS = {"activation": 0, "gradient": 1, "kind 9": 9}
DTYPES = {"i8": 1, "f32": 13}
TENSOR, STEP_END, FILLER = 1, 2, 3


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def zigzag(value):
    return varint(value * 2 if value >= 0 else -value * 2 - 1)


def text(value):
    return varint(len(value.encode())) + value.encode()


def padded(data):
    return data + bytes(-len(data) % 64)


class Ring:
    def __init__(self, capacity, version=1, selectors=()):
        texts = text("box") + text("w.1") + varint(len(selectors)) + b"".join(text(s) for s in selectors)
        page = b"SONDERNG" + struct.pack("<IIQQdI", version, 0x01020304, capacity, 42, 1.5, len(texts))
        page += struct.pack("<I", crc32c(page + texts))
        self.page = bytearray(page.ljust(192, b"\0") + texts).ljust(HEADER, b"\0")
        self.entries = bytearray(capacity)
        self.begin = self.end = self.position = self.sequence = 0

    def entry(self, kind, step, meta=b"", data=b"", size=None):
        self.sequence += 1
        size = size or 64 + len(padded(meta)) + len(padded(data))
        head = struct.pack("<4sIQQQQQIII", b"ENTE", kind, self.sequence, self.position, step, size, len(data), len(meta),
                           crc32c(meta + data), 0)
        at = self.position % len(self.entries)
        body = head + struct.pack("<I", crc32c(head)) + padded(meta) + padded(data)
        self.entries[at:at + len(body)] = body
        self.position += size
        return self.position - size

    def tensor(self, number, first, name, kind, dtype, shape, data, occurrence=0, inputs=(), evaluation=False):
        meta = zigzag(number) + struct.pack("<BdBBB", evaluation, 10.0, KINDS[kind], DTYPES[dtype], len(shape))
        meta += varint(occurrence) + b"".join(varint(n) for n in shape) + text(name)
        meta += varint(len(inputs)) + b"".join(text(i) for i in inputs)
        return self.entry(TENSOR, self.position if first is None else first, meta, data)

    def step_end(self, number, first, tensors, dropped=0, scalars=(), evaluation=False):
        meta = zigzag(number) + struct.pack("<Bd", evaluation, 20.0) + varint(tensors) + varint(dropped)
        meta += varint(len(scalars)) + b"".join(text(n) + struct.pack("<d", v) for n, v in scalars)
        self.entry(STEP_END, self.position if first is None else first, meta)
        self.end = self.position

    def step(self, number):
        first = self.tensor(number, None, "x", "activation", "f32", [3], struct.pack("<3f", number, 1, 2))
        self.step_end(number, first, 1, scalars=[("loss", 0.25)])
        return first

    def filler(self):
        self.entry(FILLER, self.position, size=len(self.entries) - self.position % len(self.entries))

    def save(self, name):
        struct.pack_into("<Q", self.page, 64, self.begin)
        struct.pack_into("<Q", self.page, 128, self.end)
        HERE.mkdir(exist_ok=True)
        (HERE / name).write_bytes(self.page + self.entries)


ring = Ring(640, selectors=["mask", "attention/.*"])
ring.save("empty.ring")

ring = Ring(1280, selectors=["mask", "attention/.*"])
first = ring.tensor(-7, None, "dense_1/out", "gradient", "f32", [2, 3], struct.pack("<6f", *range(6)), occurrence=300,
                    inputs=["conv_1/out", "bias"])
ring.tensor(2, None, "eval", "activation", "i8", [], b"\x05", evaluation=True)
ring.tensor(-7, first, "none", "activation", "f32", [0, 4], b"")
ring.step_end(-7, first, 2, dropped=3, scalars=[("loss", 0.5), ("accuracy", 1.0)])
ring.save("interleaved.ring")

ring = Ring(1024)
firsts = [ring.step(n) for n in range(3)]
ring.filler()
ring.begin = firsts[1]
ring.step(3)
ring.save("round.ring")

ring.page[HEADER - 1] = 1  # belongs to nothing
ring.entries[70] ^= 1
ring.entries[330] ^= 1
ring.save("damaged.ring")

Ring(640, version=2).save("version_2.ring")

# Two passes of one number, open at the same time, of an unknown kind.
ring = Ring(1280)
first = ring.tensor(7, None, "x", "kind 9", "f32", [1], struct.pack("<f", 1))
second = ring.tensor(7, None, "x", "kind 9", "f32", [1], struct.pack("<f", 2))
ring.step_end(7, second, 1)
ring.step_end(7, first, 1)
ring.save("passes.ring")

(HERE / "cut.ring").write_bytes((HERE / "round.ring").read_bytes()[:-64])
