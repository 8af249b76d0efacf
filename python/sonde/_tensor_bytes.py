"""Tensors as the bytes of a safetensors file, in NumPy alone."""
import json
import struct
from typing import Any, NamedTuple

import numpy

_TYPES = {"BOOL": "bool", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64", "U8": "uint8", "U16": "uint16",
          "U32": "uint32", "U64": "uint64", "F16": "float16", "F32": "float32", "F64": "float64", "C64": "complex64"}
_NAMES = {name: short for short, name in _TYPES.items()}
# Types that NumPy lacks, with the type of their bits, and the names that ml_dtypes gives them.
_BITS = {"BF16": "uint16", "F8_E4M3": "uint8", "F8_E5M2": "uint8"}
_SMALL_FLOATS = {"bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2"}


class Bits(NamedTuple):
    """Elements of a type that NumPy lacks, as unsigned integers."""

    dtype: str  # "BF16", "F8_E4M3", "F8_E5M2"
    array: Any


def encode(tensors: dict[str, Any]) -> "list[bytes | memoryview]":
    """Arrays (or Bits) as the parts of a safetensors file, not copied if they are dense. A type that has no name there is a
    TypeError that says so.

    >>> b"".join(encode({"x": numpy.ones(1, numpy.uint8)})).endswith(bytes([1]))
    True
    """
    header: dict[str, Any] = {}
    parts: list[bytes | memoryview] = [b""]
    offset = 0
    # Larger elements first, so that every element is aligned.
    ordered = sorted(((name, *_bits_of(value)) for name, value in tensors.items()), key=lambda each: -each[2].itemsize)
    for name, dtype, array in ordered:
        dense = numpy.ascontiguousarray(array).reshape(array.shape)
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [offset, offset + dense.nbytes]}
        if dense.nbytes:
            parts.append(memoryview(dense.reshape(-1).view(numpy.uint8)))
        offset += dense.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    parts[0] = struct.pack("<Q", len(text)) + text
    return parts


def _bits_of(value: Any) -> tuple[str, Any]:
    if isinstance(value, Bits):
        return value.dtype, value.array
    array = numpy.asarray(value)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    name = array.dtype.name
    if name in _SMALL_FLOATS:
        return _SMALL_FLOATS[name], array.view(_BITS[_SMALL_FLOATS[name]])
    if name not in _NAMES:
        raise TypeError(f"its elements are of type {'string' if array.dtype.kind in 'OSU' else name}, which Sonde has no tensors of")
    if array.ndim > 8:
        raise TypeError(f"it has {array.ndim} dimensions, and Sonde has tensors of up to 8")
    return _NAMES[name], array


def decode(file: bytes) -> dict[str, Any]:
    """The tensors of a safetensors file: arrays, or Bits where NumPy lacks the type.

    >>> decode(b"".join(encode({"x": numpy.arange(3)})))
    {'x': array([0, 1, 2])}
    """
    if not file:
        return {}
    size = struct.unpack_from("<Q", file)[0]
    tensors: dict[str, Any] = {}
    for name, entry in json.loads(file[8:8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        dtype = entry["dtype"]
        elements = numpy.frombuffer(file, numpy.uint8)[8 + size + begin:8 + size + end]
        array = elements.view(_TYPES.get(dtype) or _BITS[dtype]).reshape(entry["shape"])
        tensors[name] = Bits(dtype, array) if dtype in _BITS else array
    return tensors


def described(dtype: Any) -> str:
    """The name that sonde/tensor.h gives to a NumPy type, or to the name of one: "f32", "bf16"; other names stay.

    >>> described(numpy.float32), described("bfloat16"), described("string")
    ('f32', 'bf16', 'string')
    """
    name = dtype if isinstance(dtype, str) else numpy.dtype(dtype).name
    name = _SMALL_FLOATS.get(name) or _NAMES.get(name) or ("C128" if name == "complex128" else name)
    return name.lower()
