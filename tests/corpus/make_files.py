"""Makes the seeds of npy, npz, safetensors, csv, png and wav with the programs whose formats they are.

The tests of src/formats expect the values written here. Needs the packages of tests/requirements.txt.
"""
import csv
import io
import pathlib
import struct
import wave
import zlib
from unittest import mock

import ml_dtypes
import numpy as np
import PIL.Image
import safetensors
import safetensors.numpy

HERE = pathlib.Path(__file__).parent


def write(path, data):
    path = HERE / path
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


def npy(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


def make_npy():
    matrix = np.arange(6).reshape(2, 3)
    write("npy/f4.npy", npy(matrix.astype("<f4")))
    write("npy/fortran_i2.npy", npy(np.asfortranarray(matrix.astype("<i2"))))
    write("npy/big_endian_c8.npy", npy((matrix + 0.5j).astype(">c8")))
    write("npy/scalar_f8.npy", npy(np.array(0.25)))
    write("npy/empty_bool.npy", npy(np.zeros((3, 0), bool)))
    write("npy/version_2_u1.npy", npy(matrix.astype("u1"), (2, 0)))
    write("npy/version_3_i8.npy", npy(matrix.astype("<i8"), (3, 0)))
    write("npy/bfloat16.npy", npy(matrix.astype(ml_dtypes.bfloat16)))
    write("npy/float8_e4m3fn.npy", npy(matrix.astype(ml_dtypes.float8_e4m3fn)))
    write("npy/float8_e5m2.npy", npy(matrix.astype(ml_dtypes.float8_e5m2)))
    write("npy/structured.npy", npy(np.zeros(2, [("a", "<f4"), ("b", "<i2")])))
    write("npy/strings.npy", npy(np.array(["a", "bc"])))


def make_npz():
    arrays = {"a": np.arange(3, dtype="<i2"), "layer/größe": np.array([[0.5]], "<f4")}
    for name, save in (("stored", np.savez), ("deflated", np.savez_compressed)):
        out = io.BytesIO()
        save(out, **arrays)
        write(f"npz/{name}.npz", out.getvalue())
    # As if everything were too large for 32 bits.
    with mock.patch("zipfile.ZIP64_LIMIT", -1), mock.patch("zipfile.ZIP_FILECOUNT_LIMIT", 0):
        out = io.BytesIO()
        np.savez(out, **arrays)
        write("npz/zip64.npz", out.getvalue())


def make_safetensors():
    arrays = {
        "a": np.arange(6, dtype="<f4").reshape(2, 3),
        "b/ü": np.array(True),
        "none": np.zeros((0, 4), "<i8"),
    }
    write("safetensors/numpy.safetensors", safetensors.numpy.save(arrays, {"step": "7"}))
    write("safetensors/empty.safetensors", safetensors.numpy.save({}))
    bits = {
        "bfloat16": np.array([0x3F80, 0xC000], "<u2"),
        "float8_e4m3fn": np.array([0x38, 0xC0], "u1"),
        "float8_e5m2": np.array([0x3C, 0xC0], "u1"),
    }
    raw = {
        name: safetensors.TensorSpec(dtype=name, shape=[2], data_ptr=b.ctypes.data, data_len=b.nbytes)
        for name, b in bits.items()
    }
    write("safetensors/small_floats.safetensors", bytes(safetensors.serialize(raw)))


def make_csv():
    out = io.StringIO(newline="")
    csv.writer(out).writerows(
        [["run", "tag", "value"], ["a", 'x,"y"', "1.5"], ["b", "two\r\nlines", "NaN"], [""], [], ["é", "", "-Infinity"]]
    )
    write("csv/python.csv", out.getvalue().encode())
    write("csv/numbers_lf.csv", b"1,2.5,-3e-05\nNaN,Infinity,-Infinity\n")
    write("csv/bom_without_last_line_end.csv", b'\xef\xbb\xbf"a",b\r\n1,2')


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def make_png():
    ramp = np.arange(5 * 4 * 4).reshape(5, 4, 4)
    pictures = {
        "grey": (ramp[:, :, 0] * 3).astype("u1"),
        "grey_16": (ramp[:, :, 0] * 700).astype("<u2"),
        "rgb": (ramp[:, :, :3] * 2).astype("u1"),
        "rgba": (ramp * 3).astype("u1"),
    }
    for name, pixels in pictures.items():
        out = io.BytesIO()
        PIL.Image.fromarray(pixels).save(out, "PNG")
        write(f"png/{name}.png", out.getvalue())
    out = io.BytesIO()
    PIL.Image.fromarray(pictures["rgb"]).quantize(4).save(out, "PNG")
    write("png/palette.png", out.getvalue())
    # Every filter once, in two IDAT chunks with an unknown chunk before them.
    pixels = pictures["rgb"].astype(int)
    rows = b""
    for y, row in enumerate(pixels):
        left = np.vstack([np.zeros((1, 3), int), row[:-1]])
        up = pixels[y - 1] if y else np.zeros((4, 3), int)
        corner = np.vstack([np.zeros((1, 3), int), up[:-1]])
        estimate = left + up - corner
        nearest = np.argmin([abs(estimate - left), abs(estimate - up), abs(estimate - corner)], axis=0)
        guess = [0 * row, left, up, (left + up) // 2, np.choose(nearest, [left, up, corner])][y]
        rows += bytes([y]) + ((row - guess) % 256).astype("u1").tobytes()
    packed = zlib.compress(rows)
    header = struct.pack(">IIBBBBB", 4, 5, 8, 2, 0, 0, 0)
    write("png/rows_for_the_fuzzer", header + rows)
    write(
        "png/filters.png",
        b"\x89PNG\r\n\x1a\n"
        + png_chunk(b"IHDR", header)
        + png_chunk(b"teSt", b"?")
        + png_chunk(b"IDAT", packed[:7])
        + png_chunk(b"IDAT", packed[7:])
        + png_chunk(b"IEND", b""),
    )
    write("png/interlaced.png", b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header[:-1] + b"\1") + png_chunk(b"IEND", b""))


def riff(*chunks):
    body = b"WAVE" + b"".join(k + struct.pack("<I", len(d)) + d + b"\0" * (len(d) % 2) for k, d in chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def make_wav():
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(np.array([[0, 1], [-32768, 32767]], "<i2").tobytes())
    write("wav/pcm16.wav", out.getvalue())
    samples = np.array([0, 0.5, -1], "<f4").tobytes()
    plain = struct.pack("<HHIIHH", 3, 1, 16000, 64000, 4, 32)
    write("wav/float32_odd_chunk.wav", riff((b"fmt ", plain), (b"LIST", b"odd"), (b"data", samples)))
    guid = bytes.fromhex("0000000010008000 00aa00389b71")
    extensible = struct.pack("<HHIIHHHHIH", 0xFFFE, 1, 16000, 64000, 4, 32, 22, 32, 4, 3) + guid
    write("wav/extensible_float32.wav", riff((b"fmt ", extensible), (b"fact", struct.pack("<I", 3)), (b"data", samples)))
    write("wav/pcm8.wav", riff((b"fmt ", struct.pack("<HHIIHH", 1, 1, 8000, 8000, 1, 8)), (b"data", b"\x80\x81")))


if __name__ == "__main__":
    make_npy()
    make_npz()
    make_safetensors()
    make_csv()
    make_png()
    make_wav()
