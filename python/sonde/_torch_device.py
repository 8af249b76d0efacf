"""Statistics of tensors that are not in this machine's memory, computed where they are: only numbers are copied."""
from typing import Any

import torch

from . import _core

DTYPES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16",
          torch.float8_e4m3fn: "f8_e4m3", torch.float8_e5m2: "f8_e5m2", torch.int8: "i8", torch.int16: "i16",
          torch.int32: "i32", torch.int64: "i64", torch.uint8: "u8", torch.bool: "bool"}


def _wide(tensor: Any) -> Any:
    """The values in a type that has all of them, and that the device computes with."""
    if tensor.dtype in (torch.float32, torch.float64):
        return tensor
    if tensor.dtype.is_floating_point:
        return tensor.float()
    return tensor.double() if tensor.device.type != "mps" else tensor.float()


def _keys(values: Any) -> Any:
    """`histogram_key` of finite values, from their bits; subnormal values have their own exponents."""
    if values.dtype == torch.float64:
        bits, mantissa, bias, bottom = values.view(torch.int64), 52, 1023, 2.0**64
    else:
        bits, mantissa, bias, bottom = values.view(torch.int32), 23, 127, 2.0**32
    exponent_mask = (1 << (11 if mantissa == 52 else 8)) - 1

    def split(pattern: Any) -> Any:
        exponent = (pattern >> mantissa) & exponent_mask
        return exponent, (pattern >> (mantissa - 4)) & 15

    exponent, top = split(bits)
    scaled, scaled_top = split((values * bottom).view(bits.dtype))
    subnormal = exponent == 0
    shift = 64 if mantissa == 52 else 32
    exponent = torch.where(subnormal, scaled - shift, exponent)
    top = torch.where(subnormal, scaled_top, top)
    key = 1 + (exponent - bias + 1074) * 16 + top
    return torch.where(values == 0, torch.zeros_like(key), torch.where(values < 0, -key, key))


class Pending:
    """Statistics on their way: `start` puts the work on the device's queue, `finish` waits for it."""

    def __init__(self, tensor: Any, histogram: bool) -> None:
        self.dtype, self.shape = DTYPES.get(tensor.dtype), tuple(tensor.shape)
        if self.dtype is None:
            raise TypeError(f"{tensor.dtype} has no statistics")
        values = _wide(tensor.detach()).reshape(-1)
        finite = torch.isfinite(values)
        count = finite.sum()
        kept = torch.where(finite, values, torch.zeros_like(values))
        wide = torch.float32 if values.device.type == "mps" else torch.float64
        mean = kept.sum(dtype=wide) / count
        spread = torch.where(finite, values.to(wide) - mean, torch.zeros((), dtype=wide, device=values.device))
        if values.numel() == 0:
            least = most = values.new_tensor(float("nan"))
        else:
            least = torch.where(finite, values, torch.full_like(values, float("inf"))).min()
            most = torch.where(finite, values, torch.full_like(values, -float("inf"))).max()
        numbers = (count, torch.isnan(values).sum(), (values == float("inf")).sum(), (values == -float("inf")).sum(),
                   (values == 0).sum(), (finite & (values < 0)).sum(), least, most, mean, (spread * spread).sum(),
                   kept.abs().sum(dtype=wide))
        self.numbers = torch.stack([number.to(wide) for number in numbers])
        self.histogram = torch.unique(_keys(values[finite]), return_counts=True) if histogram else None

    def finish(self, numbers: Any) -> Any:
        count, nan, positive, negative, zeros, negatives = (int(number) for number in numbers[:6])
        least, most, mean, m2, sum_abs = numbers[6:]
        ranges = {"min": least, "max": most, "mean": mean} if count else {}
        bins = list(zip(*(column.tolist() for column in self.histogram))) if self.histogram else ()
        return _core.Statistics(shape=self.shape, dtype=self.dtype, nan=nan, positive_infinity=positive,
                                negative_infinity=negative, zeros=zeros, negatives=negatives, m2=m2 if count else 0.0,
                                sum_abs=sum_abs, histogram=bins, **ranges)


def finish(pending: list[Pending]) -> list[Any]:
    """All of them, with one copy from each device."""
    found: dict[int, Any] = {}
    by_device: dict[Any, list[Pending]] = {}
    for one in pending:
        by_device.setdefault(one.numbers.device, []).append(one)
    for group in by_device.values():
        for one, numbers in zip(group, torch.stack([each.numbers for each in group]).tolist()):
            found[id(one)] = one.finish(numbers)
    return [found[id(one)] for one in pending]


def statistics(tensor: Any, histogram: bool = True) -> Any:
    return finish([Pending(tensor, histogram)])[0]
