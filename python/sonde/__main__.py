"""`python -m sonde`, and the command `sonde` of an environment: runs the program that comes with the package."""
import os
import sys


def program() -> str:
    """The path of the command in this package."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "sonde")
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(f"the command is not part of this package: {path} is not there; build it with: make wheel")
    return path


def main() -> None:
    try:
        path = program()
    except FileNotFoundError as error:
        sys.exit(f"sonde: {error}")
    os.execv(path, ["sonde", *sys.argv[1:]])


if __name__ == "__main__":
    main()
