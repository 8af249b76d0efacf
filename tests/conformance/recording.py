"""Records through the C++ library: writes scripts for record_tool, which says how they are encoded."""

import enum
import json
import os
import subprocess

import ml_dtypes
import numpy as np

TOOL = os.path.join(os.environ["SONDE_TOOLS"], "record_tool")

# Those that have an order, hence statistics; the names are those of sonde::to_string(DType).
DTYPES = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f8_e4m3": ml_dtypes.float8_e4m3fn, "f8_e5m2": ml_dtypes.float8_e5m2,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
}
NAMES = {np.dtype(dtype): name for name, dtype in {**DTYPES, "c64": np.complex64}.items()}
# The numbers of sonde::DType.
DTYPE_NUMBERS = {name: number for number, name in enumerate(DTYPES)}


class Precision(enum.IntEnum):
    f32, f64 = range(2)


class Layout(enum.IntEnum):
    HW, HWC, CHW, NHW, NHWC, NCHW = range(6)


class ColorMap(enum.IntEnum):
    automatic, grey, viridis, diverging = range(4)


class Encoding(enum.IntEnum):
    pcm16, float32 = range(2)


class Kind(enum.IntEnum):
    activation, gradient, weight, update, input, output = range(6)


class Keep(enum.IntFlag):
    nothing, stats, histogram, image = 0, 1, 2, 4


def encode(value):
    """The fields of one argument."""
    if isinstance(value, np.ndarray):
        order = "F" if value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous else "C"
        return b"".join(map(encode, [NAMES[value.dtype], order, list(value.shape), value.tobytes(order=order)]))
    if isinstance(value, (list, tuple)):
        return encode(len(value)) + b"".join(map(encode, value))
    if isinstance(value, (bool, enum.Enum)):
        value = int(value)
    field = value if isinstance(value, bytes) else str(value).encode()
    return str(len(field)).encode() + b":" + field


class Script:
    """A running record_tool. Use as a context: leaving it ends the tool and every recorder that is still open."""

    def __enter__(self):
        self._tool = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._waiting = []
        return self

    def __exit__(self, *error):
        if error[0] is not None:
            self._tool.kill()
        self._send()
        self._tool.stdin.close()
        self._tool.stdin = None
        _, complaints = self._tool.communicate()
        self.complaints = complaints.decode().splitlines()
        if error[0] is None and self._tool.returncode != 0:
            raise RuntimeError(f"{TOOL} failed: {self.complaints}")

    def _send(self):
        try:
            self._tool.stdin.write(b"".join(self._waiting))
            self._tool.stdin.flush()
        except BrokenPipeError:
            pass  # the tool's end says why
        self._waiting.clear()

    def __call__(self, command, recorder, *arguments):
        self._waiting += map(encode, [command, recorder, *arguments])

    def open(self, recorder, directory, precision=Precision.f32, buckets=30, suffix=""):
        self("open", recorder, directory, precision, buckets, suffix)

    def flush(self, recorder):
        """Returns when everything is in the file, with the recorder's counters."""
        return self._ask("flush", recorder)

    def close(self, recorder):
        """Returns when the file has ended, with the recorder's counters."""
        return self._ask("close", recorder)

    def _ask(self, command, recorder):
        self(command, recorder)
        self._send()
        answer = self._tool.stdout.readline()
        if not answer:
            raise RuntimeError(f"{TOOL} ended early: {self._tool.stderr.read().decode()}")
        return json.loads(answer)
