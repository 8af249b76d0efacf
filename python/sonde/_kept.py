"""What a policy kept of a run besides its log: whole tensors, tables and checkpoints."""
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Iterator

from . import _core
from ._arguments import path as checked_path
from ._errors import NotFoundError, not_found


class TensorSteps(Mapping):
    """A tensor that was kept whole at some steps: a mapping from the step to the array, which is mapped from its file.

    >>> kernel = sonde.load(log)["train"].tensors["activation/kept"]
    >>> kernel.steps, kernel[1]
    ([1], array([1., 2.], dtype=float32))
    """

    def __init__(self, name: str, places: dict[int, tuple[str, str]]) -> None:
        self.name = name
        self._places = places

    @property
    def steps(self) -> list[int]:
        """The steps at which it was kept, ascending."""
        return list(self._places)

    def path(self, step: int) -> str:
        """The file that holds it at this step: safetensors, npz or npy.

        >>> sonde.load(log)["train"].tensors["activation/kept"].path(1).endswith(".safetensors")
        True
        """
        if step not in self._places:
            raise NotFoundError(f"{self.name} was not kept at step {step}; it was at {self.steps}")
        return self._places[step][0]

    def __getitem__(self, step: int) -> Any:
        path = self.path(step)
        return open_tensors(path)[self._places[step][1]]

    def __iter__(self) -> Iterator[int]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f"<sonde.TensorSteps {self.name!r}: {len(self)} steps>"


class TensorFile:
    """The tensors of a npy, npz or safetensors file, by name. Nothing is read before it is asked for.

    >>> file = sonde.open_tensors(checkpoint)
    >>> list(file), file["kernel"]
    (['kernel'], array([[1., 2.]]))
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = _core.TensorFile(checked_path("path", path))

    @property
    def metadata(self) -> dict[str, str]:
        """Text that a safetensors file carries besides its tensors."""
        return self._file.metadata()

    def __iter__(self) -> Iterator[str]:
        return iter(self._file.names())

    def __len__(self) -> int:
        return len(self._file.names())

    def __getitem__(self, name: str) -> Any:
        if name not in self._file.names():
            not_found("the file has no tensor", name, self._file.names())
        try:
            return typed(*self._file.view(name))
        except NotImplementedError:  # compressed, or of another byte order
            return typed(*self._file.load(name))


def open_tensors(path: str | os.PathLike[str]) -> TensorFile:
    """Open a npy, npz or safetensors file; what it is, its content says. The tensor of a npy file has the name "".

    >>> sonde.open_tensors(checkpoint)["kernel"].shape
    (1, 2)
    """
    return TensorFile(path)


@dataclass(frozen=True)
class Checkpoint:
    """Tensors that the program saved together: Recorder.checkpoint.

    >>> (saved,) = sonde.load(log)["train"].checkpoints
    >>> saved.name, saved.step, saved.tensors()["kernel"]
    ('model', 1, array([[1., 2.]]))
    """

    name: str
    step: int
    path: str
    wall_time: float  # seconds since 1970
    metric: float     # NaN: there is none

    def tensors(self) -> TensorFile:
        """Its tensors, by name."""
        return TensorFile(self.path)


def whole_tensors(directory: str) -> dict[str, TensorSteps]:
    tensors, unreadable = _core.list_whole_tensors(directory)
    _warn(unreadable)
    places: dict[str, dict[int, tuple[str, str]]] = {}
    for tag, step, path, name in tensors:
        places.setdefault(tag, {})[step] = (path, name)
    return {tag: TensorSteps(tag, steps) for tag, steps in places.items()}


def checkpoints(directory: str) -> list[Checkpoint]:
    found, unreadable = _core.list_checkpoints(directory)
    _warn(unreadable)
    return [Checkpoint(**each) for each in found]


def _warn(sentences: list[str]) -> None:
    import warnings
    for sentence in sentences:
        warnings.warn(sentence, stacklevel=4)


_SMALL_FLOATS = {"bf16": "bfloat16", "f8_e4m3": "float8_e4m3fn", "f8_e5m2": "float8_e5m2"}


def typed(array: Any, dtype: str) -> Any:
    """bf16 and fp8 with their types where ml_dtypes is installed; otherwise their bits."""
    if dtype not in _SMALL_FLOATS:
        return array
    try:
        import ml_dtypes
    except ImportError:
        return array
    return array.view(getattr(ml_dtypes, _SMALL_FLOATS[dtype]))
