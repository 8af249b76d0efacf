"""The command that comes with the package."""
import os


def program() -> str:
    """The path of the command in this package."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "sonde")
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(f"the command is not part of this package: {path} is not there; build it with: make wheel")
    return path
