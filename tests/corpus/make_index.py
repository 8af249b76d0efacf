"""Makes the seeds of index from the golden logs in tests/data and a demo, and those of cache from their layout.

  make_index.py SONDE_BUILD_DIR    the folder of a build, whose `sonde` runs the demo
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent / "data"


def payloads(data):
    at = 0
    while at + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        yield data[at + 12:at + 12 + length]
        at += 16 + length


def seed(first, data):
    """Without checksums: the length of each record in two bytes, then the record."""
    return bytes([first]) + b"".join(struct.pack("<H", len(p)) + p for p in payloads(data) if len(p) < 60_000)


def text(value):
    assert len(value) < 128
    return bytes([len(value)]) + value


def cache(files, series):
    """A cache file from its 16th byte on (src/index/cache.cc), without damage and gaps."""
    return bytes([len(files)]) + b"".join(files) + bytes([len(series)]) + b"".join(series) + b"\0\0"


def cached_file(name):
    return text(name) + b"\0" + struct.pack("<QQQQqII", 1, 2, 300, 300, 4, 5, 6) + text(b"")


def cached_series(tag, kind, columns=(), tracks=()):
    head = text(tag) + bytes([kind, 0]) + text(b"scalars") + text(b"") * 3 + b"\0"
    return (head + bytes([len(columns)]) + b"".join(b"\0" + c for c in columns)
            + bytes([len(tracks)]) + b"".join(b"\0" + t for t in tracks))


def column():
    """Three points of one value, one step and one second apart (Column::Block in src/index/column.h)."""
    data = struct.pack("<d", 0.5) + bytes(8)
    block = struct.pack("<qddqddQQQQddIHHHHBBBBBBxx4x", 0, 1.0, 0.5, 2, 1.0, 0.5, 0, 1, (1 << 63) + 0x3FF0000000000000, 0,
                        0.5, 0.5, len(data), 3, 0, 0, 0, 0, 0, 0, 0, 0, 1)
    return b"\1\0" + block + data


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    (HERE / "index").mkdir(exist_ok=True)
    (HERE / "cache").mkdir(exist_ok=True)
    for number, path in enumerate(sorted(DATA.rglob("*tfevents*"))):
        made = seed(0, path.read_bytes())
        if len(made) < 12_000:
            (HERE / "index" / f"events_{number}").write_bytes(made)
    (HERE / "cache" / "empty").write_bytes(cache([], []))
    track = b"\1\2" + struct.pack("<d", 1.0) + b"\x20\0"
    (HERE / "cache" / "small").write_bytes(
        cache([cached_file(b"e.tfevents")], [cached_series(b"loss", 0, [column()]), cached_series(b"i", 2, (), [track])]))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([build / "bin" / "sonde", "demo", "--dir", f"{folder}/log", "--steps", "3", "--no-serve"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for path in sorted(pathlib.Path(folder).rglob("stats.*.tfrecord"))[:1]:
            (HERE / "index" / "statistics").write_bytes(seed(1, path.read_bytes())[:12_000])


if __name__ == "__main__":
    main()
