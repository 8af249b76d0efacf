"""What the signatures of this package are made of."""
from typing import Any, Protocol, Sequence, Union


class _DLPack(Protocol):
    def __dlpack__(self, *arguments: Any, **options: Any) -> Any: ...


class _Array(Protocol):
    def __array__(self, *arguments: Any, **options: Any) -> Any: ...


# A NumPy array, a tensor of torch, TensorFlow or JAX, anything with the buffer protocol, or (nested) lists of numbers.
TensorLike = Union[_DLPack, _Array, memoryview, bytearray, Sequence[Any], float, int]
