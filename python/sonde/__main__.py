"""`python -m sonde`, and the command `sonde` of an environment: runs the program that comes with the package."""
import os
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "sonde")
    if not os.access(program, os.X_OK):
        sys.exit(f"sonde: the command is not part of this package: {program} is not there; build it with: make wheel")
    os.execv(program, ["sonde", *sys.argv[1:]])


if __name__ == "__main__":
    main()
