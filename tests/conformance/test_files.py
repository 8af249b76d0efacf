"""NumPy, safetensors, Pillow, libsndfile and Python's own wave, csv and zipfile read the files that this project writes,
and this project reads theirs."""

import csv
import io
import json
import os
import random
import struct
import subprocess
import tempfile
import unittest
import wave
import zipfile
from unittest import mock

import ml_dtypes
import numpy as np
import PIL.Image
import safetensors
import safetensors.numpy
import soundfile

TOOL = os.path.join(os.environ["SONDE_TOOLS"], "files_tool")

PLAIN = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128,
}
SMALL_FLOATS = {"bf16": ml_dtypes.bfloat16, "f8_e4m3": ml_dtypes.float8_e4m3fn, "f8_e5m2": ml_dtypes.float8_e5m2}
DTYPES = {name: np.dtype(dtype) for name, dtype in (PLAIN | SMALL_FLOATS).items()}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
SAFETENSORS = {
    "bool": "BOOL", "i8": "I8", "i16": "I16", "i32": "I32", "i64": "I64", "u8": "U8", "u16": "U16", "u32": "U32",
    "u64": "U64", "f16": "F16", "bf16": "BF16", "f32": "F32", "f64": "F64", "f8_e4m3": "F8_E4M3", "f8_e5m2": "F8_E5M2",
    "c64": "C64",
}
AWKWARD_NAMES = ["x", "a/b", "größe", "層/出力:0", "two words", "line\nbreak", 'quote"back\\slash', "n" * 10_000, "."]


class Refused(Exception):
    """The tool answered with an error; `code` is its name."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


class Tool:
    def __init__(self):
        self.process = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, *request):
        fields = [field if isinstance(field, bytes) else str(field).encode() for field in request]
        for line in [b"%d\n" % len(fields)] + [b"%d\n%s" % (len(field), field) for field in fields]:
            self.process.stdin.write(line)
        self.process.stdin.flush()
        answer = [self.field() for _ in range(int(self.process.stdout.readline()))]
        code, message = answer[0].decode(), answer[1].decode()
        if code != "ok":
            raise Refused(code, message)
        return answer[2:]

    def field(self):
        return self.process.stdout.read(int(self.process.stdout.readline()))

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


def fields_of(array):
    """An array as the tool takes it."""
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    return [NAMES[array.dtype], "F" if fortran else "C", " ".join(map(str, array.shape)),
            array.tobytes("F" if fortran else "C")]


def array_of(fields):
    """An array as the tool answers it."""
    dtype, _, sizes, data = fields
    return np.frombuffer(data, DTYPES[dtype.decode()]).reshape(tuple(map(int, sizes.split())))


def named_arrays(fields):
    return {fields[i].decode(): array_of(fields[i + 1:i + 5]) for i in range(0, len(fields), 5)}


def random_array(rng, dtype, shape):
    """Random bits: every value, NaN and infinity among them."""
    dtype = np.dtype(dtype)
    data = rng.integers(0, 2 if dtype == np.bool_ else 256, int(np.prod(shape)) * dtype.itemsize, np.uint8)
    return data.view(dtype).reshape(shape)


def random_shapes(rng):
    """Rank 0 to 8, empty ones among them."""
    return [(), (0,), (1,), (3, 0, 2)] + [tuple(rng.integers(0 if rank % 3 == 1 else 1, 5, rank)) for rank in range(1, 9)]


class FilesTest(unittest.TestCase):
    def setUp(self):
        self.tool = Tool()
        self.rng = np.random.default_rng(20)

    def tearDown(self):
        self.assertEqual(self.tool.close(), 0, "the tool did not end in order")

    def assert_same(self, actual, expected, message=None):
        self.assertEqual(actual.dtype, expected.dtype, message)
        self.assertEqual(actual.shape, expected.shape, message)
        self.assertEqual(actual.tobytes(), expected.tobytes(), message)

    def assert_refused(self, code, *request):
        with self.assertRaises(Refused) as raised:
            self.tool(*request)
        self.assertEqual(raised.exception.code, code, str(raised.exception))

    def arrays(self, dtypes=DTYPES):
        """(dtype name, array) of every dtype and many shapes, in C and in Fortran order."""
        for name in dtypes:
            for shape in random_shapes(self.rng):
                array = random_array(self.rng, DTYPES[name], shape)
                yield name, array
                yield name, np.asfortranarray(array) if array.ndim else array


def npy_of(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


class Npy(FilesTest):
    def test_numpy_would_have_written_the_same_bytes(self):
        for name, array in self.arrays(list(PLAIN) + ["bf16"]):
            [ours] = self.tool("npy_encode", *fields_of(array))
            self.assertEqual(ours, npy_of(array), f"{name}{array.shape}")

    def test_numpy_loads_every_dtype(self):
        for name, array in self.arrays():
            [ours] = self.tool("npy_encode", *fields_of(array))
            loaded = np.load(io.BytesIO(ours), allow_pickle=False)
            self.assertEqual(loaded.flags.f_contiguous, array.flags.f_contiguous)
            if name in SMALL_FLOATS:
                self.assertEqual(loaded.dtype.kind, "V", "the bits of small floats must not pass as numbers")
                loaded = np.asfortranarray(loaded).T.view(array.dtype).T if array.ndim else loaded.view(array.dtype)
            self.assert_same(loaded, array, f"{name}{array.shape}")

    def test_fp8_files_survive_numpy(self):
        for name in ("f8_e4m3", "f8_e5m2"):
            array = random_array(self.rng, DTYPES[name], (3, 4))
            [ours] = self.tool("npy_encode", *fields_of(array))
            self.assert_same(array_of(self.tool("npy_decode", npy_of(np.load(io.BytesIO(ours))))), array)

    def test_reads_every_dtype_order_byte_order_and_version(self):
        for name, array in self.arrays(PLAIN):
            for order in "<>":
                for version in (None, (1, 0), (2, 0), (3, 0)):
                    theirs = npy_of(array.astype(array.dtype.newbyteorder(order)), version)
                    self.assert_same(array_of(self.tool("npy_decode", theirs)), array, f"{name}{array.shape}")

    def test_reads_what_ml_dtypes_writes(self):
        for name, array in self.arrays(SMALL_FLOATS):
            self.assert_same(array_of(self.tool("npy_decode", npy_of(array))), array, f"{name}{array.shape}")

    def test_rejects_arrays_without_plain_numbers(self):
        for array in (np.array(["a"]), np.array([b"a"]), np.array([None]), np.zeros(1, "datetime64[s]"),
                      np.zeros(2, [("a", "f4"), ("b", "i4")]), np.zeros(2, [("a", "f4", (2,))]), np.zeros(1, np.longdouble),
                      np.zeros(1, "V3"), np.zeros([1] * 9)):
            self.assert_refused("unsupported", "npy_decode", npy_of(array))

    def test_rejects_truncated_files(self):
        self.assert_refused("corrupt", "npy_decode", npy_of(np.zeros(5))[:-1])


class Unseekable(io.RawIOBase):
    """A stream onto which zipfile writes sizes and checksums after the data."""

    def __init__(self):
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


class Npz(FilesTest):
    def some_arrays(self):
        return {f"{name}/{i}": array for i, (name, array) in enumerate(self.arrays(PLAIN))}

    def encode(self, method, arrays):
        [archive] = self.tool("npz_encode", method, *(f for name, array in arrays.items() for f in [name, *fields_of(array)]))
        return archive

    def test_numpy_loads_every_array(self):
        arrays = self.some_arrays()
        for method in ("stored", "deflated"):
            archive = self.encode(method, arrays)
            self.assertIsNone(zipfile.ZipFile(io.BytesIO(archive)).testzip())
            loaded = np.load(io.BytesIO(archive), allow_pickle=False)
            self.assertEqual(loaded.files, list(arrays))
            for name, array in arrays.items():
                self.assert_same(loaded[name], array, name)

    def test_numpy_finds_awkward_names(self):
        arrays = {name: np.array(i) for i, name in enumerate(AWKWARD_NAMES)}
        loaded = np.load(io.BytesIO(self.encode("stored", arrays)))
        self.assertEqual(loaded.files, AWKWARD_NAMES)
        for i, name in enumerate(AWKWARD_NAMES):
            self.assertEqual(int(loaded[name]), i)

    def test_deflated_archives_are_smaller(self):
        arrays = {"zeros": np.zeros(100_000)}
        self.assertLess(len(self.encode("deflated", arrays)), 10_000)

    def test_reads_savez_and_savez_compressed(self):
        arrays = self.some_arrays() | {name: np.arange(i) for i, name in enumerate(AWKWARD_NAMES)}
        for save in (np.savez, np.savez_compressed):
            out = io.BytesIO()
            save(out, **arrays)
            decoded = named_arrays(self.tool("npz_decode", out.getvalue()))
            self.assertEqual(list(decoded), list(arrays))
            for name, array in arrays.items():
                self.assert_same(decoded[name], array, name)

    def test_reads_archives_with_sizes_after_the_data_and_zip64_fields(self):
        array = np.arange(1000.0)
        for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            for limit in (zipfile.ZIP64_LIMIT, -1):
                out = Unseekable()
                with mock.patch("zipfile.ZIP64_LIMIT", limit), zipfile.ZipFile(out, "w", compression) as archive:
                    archive.writestr("a.npy", npy_of(array))
                self.assert_same(named_arrays(self.tool("npz_decode", out.data))["a"], array)

    def test_rejects_other_compressions(self):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_LZMA) as archive:
            archive.writestr("a.npy", npy_of(np.zeros(3)))
        self.assert_refused("unsupported", "npz_decode", out.getvalue())

    def test_arrays_beyond_4_gib_are_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "large.npz")
            self.tool("npz_large", path)
            large = 128 + 16 * (2**28 + 1)
            with zipfile.ZipFile(path) as archive:
                sizes = {info.filename: (info.file_size, info.compress_size) for info in archive.infolist()}
                self.assertEqual(sizes["large.npy"], (large, large))
                with archive.open("large.npy") as file:
                    version = np.lib.format.read_magic(file)
                    self.assertEqual(version, (1, 0))
                    self.assertEqual(np.lib.format.read_array_header_1_0(file), ((2**28 + 1,), False, np.dtype("<c16")))
                    self.assertEqual(file.read(64), bytes(64))
            loaded = np.load(path)
            self.assertEqual(loaded["before"].tolist(), [7])
            self.assertEqual(loaded["after"].tolist(), [7])
            *sizes, dtype, order, shape, data = self.tool("npz_list", path)
            self.assertEqual(sizes, [b"before", b"132", b"large", str(large).encode(), b"after", b"132"])
            self.assertEqual(array_of([dtype, order, shape, data]).tolist(), [7])


class Safetensors(FilesTest):
    def encode(self, arrays, metadata=None):
        pairs = [text for pair in (metadata or {}).items() for text in pair]
        [file] = self.tool("safetensors_encode", len(metadata or {}), *pairs,
                           *(f for name, array in arrays.items() for f in [name, *fields_of(array)]))
        return file

    def decode(self, file):
        count, *fields = self.tool("safetensors_decode", file)
        texts = [field.decode() for field in fields[:2 * int(count)]]
        return named_arrays(fields[2 * int(count):]), dict(zip(texts[::2], texts[1::2]))

    def test_the_reference_reads_every_dtype(self):
        arrays = {f"{i}": array for i, (name, array) in enumerate(self.arrays(SAFETENSORS))}
        read = dict(safetensors.deserialize(self.encode(arrays)))
        self.assertEqual(set(read), set(arrays))
        for name, array in arrays.items():
            self.assertEqual(read[name]["dtype"], SAFETENSORS[NAMES[array.dtype]])
            self.assertEqual(tuple(read[name]["shape"]), array.shape)
            self.assertEqual(bytes(read[name]["data"]), array.tobytes("C"))

    def test_the_reference_reads_names_and_metadata(self):
        arrays = {name: np.array([i], np.float32) for i, name in enumerate(AWKWARD_NAMES)}
        metadata = {name: name[::-1] for name in AWKWARD_NAMES} | {"": ""}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.safetensors")
            with open(path, "wb") as file:
                file.write(self.encode(arrays, metadata))
            with safetensors.safe_open(path, framework="np") as file:
                self.assertEqual(file.metadata(), metadata)
                self.assertEqual(sorted(file.keys()), sorted(arrays))
                for name, array in arrays.items():
                    self.assert_same(file.get_tensor(name), array)

    def test_reads_every_dtype_of_the_reference(self):
        arrays = {f"{i}": np.ascontiguousarray(array) if array.ndim else array
                  for i, (name, array) in enumerate(self.arrays(SAFETENSORS))}
        specs = {name: safetensors.TensorSpec(dtype=array.dtype.name, shape=list(array.shape), data_ptr=array.ctypes.data,
                                              data_len=array.nbytes) for name, array in arrays.items()}
        decoded, _ = self.decode(bytes(safetensors.serialize(specs)))
        self.assertEqual(set(decoded), set(arrays))
        for name, array in arrays.items():
            self.assert_same(decoded[name], array, f"{array.dtype}{array.shape}")

    def test_reads_names_and_metadata_of_the_reference(self):
        arrays = {name: np.array([i], np.int16) for i, name in enumerate(AWKWARD_NAMES)}
        metadata = {name: name[::-1] for name in AWKWARD_NAMES}
        decoded, read = self.decode(safetensors.numpy.save(arrays, metadata))
        self.assertEqual(read, metadata)
        for name, array in arrays.items():
            self.assert_same(decoded[name], array)

    def verdicts(self, file):
        """What the reference and the tool say: "ok", or a reason."""
        try:
            safetensors.deserialize(file)
            theirs = "ok"
        except Exception as error:  # it raises several kinds
            theirs = str(error)
        try:
            self.decode(file)
            return theirs, "ok"
        except Refused as refused:
            return theirs, refused.code

    def test_agrees_with_the_reference_about_headers(self):
        def file(header, data=b""):
            header = header if isinstance(header, str) else json.dumps(header)
            return struct.pack("<Q", len(header.encode())) + header.encode() + data

        def one(dtype="U8", shape=(1,), offsets=(0, 1), **more):
            return {"a": {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}}

        for bad in (b"", b"\0" * 7, b"\0" * 8, struct.pack("<Q", 100_000_001) + b"{}", struct.pack("<Q", 3) + b"{}",
                    struct.pack("<Q", 2**64 - 1) + b"{}", file("[]"), file("{"), file("{}{}"), file("{}", b"x"), file(one()),
                    file(one(), b"xx"), file(one(shape=(2,)), b"x"), file(one(offsets=(1, 2)), b"xx"),
                    file(one(offsets=(1, 0), shape=(0,)), b"x"), file(one(shape=(-1,)), b"x"), file(one(shape=(1.0,)), b"x"),
                    file(one(offsets=(0, 1, 2)), b"x"), file(one(offsets=(0,)), b"x"), file({"a": {}}), file({"a": None}),
                    file(one(shape=(2**63, 2)), b"x"), file({"__metadata__": {"a": 1}}), file({"__metadata__": []}),
                    file('{"__metadata__": {}, "__metadata__": {}}')):
            theirs, ours = self.verdicts(bad)
            self.assertNotEqual(theirs, "ok", bad)
            self.assertEqual(ours, "corrupt", bad)
        for good in (file("{}"), file("{}  \n"), file(one(), b"x"), file(one(new=[1, {}]), b"x"), file({"__metadata__": None}),
                     file(one(shape=(), dtype="F32", offsets=(0, 4)), b"1234"), file(one(shape=(0, 5), offsets=(0, 0)))):
            self.assertEqual(self.verdicts(good), ("ok", "ok"), good)
        for known in ("F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"):
            self.assertEqual(self.verdicts(file(one(dtype=known), b"x")), ("ok", "unsupported"))

    def test_agrees_with_the_reference_about_damaged_files(self):
        arrays = {"a": np.zeros((2, 3), np.float32), "bb": np.zeros(3, np.uint8), "c": np.zeros((), np.int64)}
        file = safetensors.numpy.save(arrays, {"k": "v"})
        generator = random.Random(4)
        agreed = 0
        for _ in range(4000):
            damaged = bytearray(file)
            for _ in range(generator.choice((1, 1, 2))):
                damaged[generator.randrange(len(damaged))] = generator.choice(b'\0 "{}[],:0123456789aF\xff')
            theirs, ours = self.verdicts(bytes(damaged))
            if (theirs == "ok") == (ours == "ok"):
                agreed += 1
            elif ours == "ok":
                self.fail(f"read what the reference refuses ({theirs}): {bytes(damaged)}")
            else:  # stricter in two points: no blanks before the header, no name twice
                header = bytes(damaged[8:]).partition(b"}}")[0].lstrip(b" ")
                self.assertTrue(damaged[8:9].isspace() or header.count(b'"a"') + header.count(b'"c"') > 1 or
                                ours == "unsupported", bytes(damaged))
        self.assertGreater(agreed, 3900)


class Csv(FilesTest):
    ROWS = [["run", "tag"], ["a,b", 'say "hi"', ""], ["two\r\nlines", "\n", "\r"], [""], [], ["", ""], [" blank ", "é層\t", "'"],
            ['"', '""', ","]]

    def test_python_reads_every_row(self):
        for line_end in ("crlf", "lf"):
            text = "".join(self.tool("csv_row", line_end, *row)[0].decode() for row in self.ROWS)
            self.assertEqual(list(csv.reader(io.StringIO(text, newline=""))), self.ROWS)

    def test_python_would_have_written_the_same_bytes(self):
        out = io.StringIO(newline="")
        csv.writer(out).writerows(self.ROWS)
        self.assertEqual("".join(self.tool("csv_row", "crlf", *row)[0].decode() for row in self.ROWS), out.getvalue())

    def test_reads_every_row_of_python(self):
        # With another line end than its own, Python quotes too little for its own reader, unless it quotes everything.
        for quoting, line_end in ((csv.QUOTE_MINIMAL, "\r\n"), (csv.QUOTE_ALL, "\r\n"), (csv.QUOTE_ALL, "\n"),
                                  (csv.QUOTE_ALL, "\r")):
            out = io.StringIO(newline="")
            csv.writer(out, quoting=quoting, lineterminator=line_end).writerows(self.ROWS)
            fields = [field.decode() for field in self.tool("csv_decode", out.getvalue())]
            rows = []
            while fields:
                count = int(fields[0])
                rows.append(fields[1:count + 1])
                fields = fields[count + 1:]
            self.assertEqual(rows, self.ROWS)

    def test_numbers_come_back_as_the_same_value(self):
        for name in set(DTYPES) - {"c64", "c128"}:
            array = random_array(self.rng, DTYPES[name], (40, 5))
            if name in ("f32", "f64"):
                array.flat[:6] = [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324]
            [text] = self.tool("csv_encode_tensor", *fields_of(array))
            rows = list(csv.reader(io.StringIO(text.decode(), newline="")))
            if array.dtype.kind in "iub":
                self.assertEqual([[int(field) for field in row] for row in rows], array.astype(object).tolist(), name)
            else:
                values = np.array([[float(field) for field in row] for row in rows]).astype(array.dtype)
                with np.errstate(invalid="ignore"):  # signalling NaN among the random bits
                    np.testing.assert_array_equal(values.astype("f8"), array.astype("f8"), name)

    def test_numbers_are_as_short_as_python_writes_them(self):
        values = self.rng.standard_normal(1000) * 10.0 ** self.rng.integers(-30, 30, 1000)
        [text] = self.tool("csv_encode_tensor", *fields_of(values))
        for ours, value in zip(text.decode().split(), values):
            self.assertEqual(float(ours), value)
            self.assertLessEqual(len(ours), len(repr(float(value))))

    def test_reads_the_numbers_of_numpy_and_python(self):
        array = random_array(self.rng, "f8", (50, 4))
        text = "\n".join(",".join(map(repr, row)) for row in array.tolist())
        np.testing.assert_array_equal(array_of(self.tool("csv_decode_tensor", text)), array)
        out = io.StringIO()
        np.savetxt(out, array, fmt="%.17g", delimiter=",")
        np.testing.assert_array_equal(array_of(self.tool("csv_decode_tensor", out.getvalue())), array)


class Png(FilesTest):
    MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}

    def test_pillow_reads_8_bits(self):
        for channels, mode in self.MODES.items():
            for height, width in ((1, 1), (7, 3), (100, 257)):
                pixels = random_array(self.rng, "u1", (height, width, channels))
                [file] = self.tool("png_encode", *fields_of(pixels))
                picture = PIL.Image.open(io.BytesIO(file))
                self.assertEqual((picture.format, picture.mode), ("PNG", mode))
                np.testing.assert_array_equal(np.asarray(picture).reshape(pixels.shape), pixels)

    def test_pillow_reads_16_bits(self):
        for channels in self.MODES:
            pixels = random_array(self.rng, "u2", (20, 31, channels))
            [file] = self.tool("png_encode", *fields_of(pixels))
            picture = np.asarray(PIL.Image.open(io.BytesIO(file))).reshape(20, 31, -1)
            if channels == 1:
                np.testing.assert_array_equal(picture, pixels)
            else:  # Pillow keeps the upper 8 bits of 16, and shows grey and alpha as RGBA
                upper = (pixels >> 8).astype("u1")
                np.testing.assert_array_equal(picture if channels > 2 else picture[:, :, [0, -1]], upper)

    def test_reads_what_pillow_writes(self):
        smooth = np.add.outer(np.arange(60), np.arange(80))[:, :, None] * [1, 2, 3, 4] % 256
        for channels, mode in self.MODES.items():
            for options in ({}, {"optimize": True}, {"compress_level": 0}, {"compress_level": 9}):
                for pixels in (smooth[:, :, :channels].astype("u1"), random_array(self.rng, "u1", (13, 17, channels))):
                    out = io.BytesIO()
                    PIL.Image.fromarray(pixels.squeeze()).save(out, "PNG", **options)
                    self.assertEqual(PIL.Image.open(out).mode, mode)
                    self.assert_same(array_of(self.tool("png_decode", out.getvalue())), pixels)

    def test_reads_16_bit_grey_of_pillow(self):
        pixels = random_array(self.rng, "u2", (40, 30))
        out = io.BytesIO()
        PIL.Image.fromarray(pixels).save(out, "PNG")
        self.assert_same(array_of(self.tool("png_decode", out.getvalue())), pixels[:, :, None])

    def test_rejects_palettes_and_single_bits(self):
        picture = PIL.Image.fromarray(random_array(self.rng, "u1", (9, 9)))
        for mode in ("P", "1"):
            out = io.BytesIO()
            picture.convert(mode).save(out, "PNG")
            self.assert_refused("unsupported", "png_decode", out.getvalue())


class Wav(FilesTest):
    def test_python_reads_pcm16(self):
        for shape in ((1000,), (500, 2), (0,), (7, 3)):
            samples = random_array(self.rng, "i2", shape)
            [file] = self.tool("wav_encode", 44100, "pcm16", *fields_of(samples))
            self.assertEqual(len(file), 44 + samples.nbytes)
            with wave.open(io.BytesIO(file)) as sound:
                self.assertEqual(sound.getparams()[:4], (shape[1] if len(shape) > 1 else 1, 2, 44100, shape[0]))
                self.assertEqual(sound.readframes(shape[0]), samples.tobytes())

    def test_floats_become_pcm16_as_libsndfile_scales_them(self):
        samples = self.rng.uniform(-1, 1, (1000, 2)).astype("f4")
        [file] = self.tool("wav_encode", 16000, "pcm16", *fields_of(samples))
        read, rate = soundfile.read(io.BytesIO(file), dtype="float32", always_2d=True)
        self.assertEqual(rate, 16000)
        np.testing.assert_allclose(read, samples, atol=1.6 / 32768)

    def test_libsndfile_reads_float32(self):
        for shape in ((1000,), (500, 2), (0,)):
            samples = self.rng.standard_normal(shape).astype("f4")
            [file] = self.tool("wav_encode", 48000, "float32", *fields_of(samples))
            info = soundfile.info(io.BytesIO(file))
            self.assertEqual((info.format, info.subtype, info.samplerate, info.frames), ("WAV", "FLOAT", 48000, shape[0]))
            read, _ = soundfile.read(io.BytesIO(file), dtype="float32")
            self.assertEqual(read.tobytes(), samples.tobytes())

    def test_reads_what_python_and_libsndfile_write(self):
        for channels in (1, 2, 5):
            samples = random_array(self.rng, "i2", (300, channels))
            out = io.BytesIO()
            with wave.open(out, "wb") as sound:
                sound.setparams((channels, 2, 22050, 0, "NONE", ""))
                sound.writeframes(samples.tobytes())
            rate, *fields = self.tool("wav_decode", out.getvalue())
            self.assertEqual(int(rate), 22050)
            self.assert_same(array_of(fields), samples)
            floats = self.rng.standard_normal((300, channels)).astype("f4")
            for kind in ("WAV", "WAVEX"):
                for subtype, data in (("PCM_16", samples), ("FLOAT", floats)):
                    out = io.BytesIO()
                    soundfile.write(out, data, 8000, format=kind, subtype=subtype)
                    rate, *fields = self.tool("wav_decode", out.getvalue())
                    self.assertEqual(int(rate), 8000)
                    self.assert_same(array_of(fields), data)

    def test_rejects_other_encodings(self):
        for subtype in ("PCM_24", "PCM_U8", "PCM_32", "DOUBLE", "ULAW"):
            out = io.BytesIO()
            soundfile.write(out, np.zeros(10), 8000, format="WAV", subtype=subtype)
            self.assert_refused("unsupported", "wav_decode", out.getvalue())


class Paths(FilesTest):
    """sonde/tensor_io.h: the same formats, from and to files."""

    def setUp(self):
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def path(self, name):
        return os.path.join(self.folder, name)

    def load(self, path):
        """(format, metadata, arrays by name)"""
        kind, count, *fields = self.tool("load", path)
        pairs = [field.decode() for field in fields[:2 * int(count)]]
        return kind.decode(), dict(zip(pairs[::2], pairs[1::2])), named_arrays(fields[2 * int(count):])

    def named(self, dtypes):
        return {f"{name}/{i}": array for i, (name, array) in enumerate(self.arrays(dtypes))}

    @staticmethod
    def fields_of_all(arrays):
        return [field for name, array in arrays.items() for field in [name, *fields_of(array)]]

    def assert_all_same(self, actual, expected):
        self.assertEqual(set(actual), set(expected))
        for name, array in expected.items():
            self.assert_same(actual[name], array, name)

    def test_numpy_opens_saved_npy(self):
        for name, array in self.arrays(PLAIN):
            self.tool("save_npy", self.path("a.npy"), *fields_of(array))
            self.assert_same(np.load(self.path("a.npy"), allow_pickle=False), array, f"{name}{array.shape}")

    def test_opens_npy_of_numpy(self):
        for name, array in self.arrays():
            np.save(self.path("a.npy"), array)
            kind, _, arrays = self.load(self.path("a.npy"))
            self.assertEqual(kind, "npy")
            self.assert_same(arrays[""], array, f"{name}{array.shape}")
        big_endian = np.arange(6, dtype=">i4").reshape(2, 3)
        np.save(self.path("a.npy"), big_endian)
        self.assert_same(self.load(self.path("a.npy"))[2][""], big_endian.astype("<i4"))

    def test_numpy_opens_saved_npz(self):
        arrays = self.named(PLAIN)
        for compression in ("none", "deflate"):
            self.tool("save_npz", self.path("a.npz"), compression, *self.fields_of_all(arrays))
            with np.load(self.path("a.npz"), allow_pickle=False) as loaded:
                self.assertEqual(loaded.files, list(arrays))
                self.assert_all_same(dict(loaded), arrays)

    def test_opens_npz_of_numpy(self):
        arrays = self.named(DTYPES)
        for save in (np.savez, np.savez_compressed):
            save(self.path("a.npz"), **arrays)
            kind, _, loaded = self.load(self.path("a.npz"))
            self.assertEqual(kind, "npz")
            self.assert_all_same(loaded, arrays)

    def test_takes_of_a_name_twice_the_same_array_as_numpy(self):
        with zipfile.ZipFile(self.path("a.npz"), "w") as archive, self.assertWarns(UserWarning):
            for value in (1, 2):
                archive.writestr("x.npy", npy_of(np.array(value)))
        with np.load(self.path("a.npz")) as loaded:
            self.assertEqual(self.load(self.path("a.npz"))[2], {"x": loaded["x"]})

    def test_safetensors_opens_saved_files(self):
        arrays, metadata = self.named(SAFETENSORS), {"epoch": "3", "größe": "\n"}
        pairs = [text for pair in metadata.items() for text in pair]
        self.tool("save_safetensors", self.path("a.safetensors"), len(metadata), *pairs, *self.fields_of_all(arrays))
        with safetensors.safe_open(self.path("a.safetensors"), "numpy") as file:
            self.assertEqual(file.metadata(), metadata)
        with open(self.path("a.safetensors"), "rb") as file:
            loaded = {name: (tensor["dtype"], tuple(tensor["shape"]), bytes(tensor["data"]))
                      for name, tensor in safetensors.deserialize(file.read())}
        self.assertEqual(loaded, {name: (SAFETENSORS[NAMES[array.dtype]], array.shape, array.tobytes())
                                  for name, array in arrays.items()})

    def test_opens_files_of_safetensors(self):
        arrays = {name: np.ascontiguousarray(array) if array.ndim else array
                  for name, array in self.named(set(PLAIN) - {"c64", "c128"} | {"bf16"}).items()}
        safetensors.numpy.save_file(arrays, self.path("a.safetensors"), {"k": "v"})
        kind, metadata, loaded = self.load(self.path("a.safetensors"))
        self.assertEqual((kind, metadata), ("safetensors", {"k": "v"}))
        self.assert_all_same(loaded, arrays)


if __name__ == "__main__":
    unittest.main()
