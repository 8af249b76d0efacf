"""What the runtimes of the worker share: errors for the user, packages that may be missing."""
import importlib
import sys
from typing import Any


class WorkerError(Exception):
    """A sentence for the user, with a code of sonde/status.h."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def need(package: str, runtime: str, install: str = "") -> Any:
    """Imports a package, or says how to install it into this interpreter."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        known = error.name is not None and error.name.split(".")[0] == package.split(".")[0]
        reason = f"{sys.executable} has no {package.split('.')[0]}" if known else f"{package} cannot be imported: {error}"
        raise WorkerError("unsupported", f"{runtime} cannot run this model because {reason}; "
                          f"install it with: {sys.executable} -m pip install {install or package.split('.')[0]}") from None


class Missing(str):
    """Why a layer has no tensor."""


def first_line(error: BaseException) -> str:
    """What an exception says, in one line.

    >>> first_line(ValueError("no such layer\\nmore"))
    'no such layer'
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__
