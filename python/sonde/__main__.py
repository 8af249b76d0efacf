"""`python -m sonde`, and the command `sonde` of an environment: runs the program that comes with the package. Only `sonde run`
runs its script in this interpreter."""
import os
import sys

from ._program import program


def main() -> None:
    if sys.argv[1:2] == ["run"] and sys.argv[2:3] not in (["-h"], ["--help"]):
        from ._run import main as run
        sys.exit(run(sys.argv[2:]))
    try:
        path = program()
    except FileNotFoundError as error:
        sys.exit(f"sonde: {error}")
    os.environ.setdefault("SONDE_PYTHON", sys.executable)  # whose packages the workers of `sonde inspect` use
    os.execv(path, ["sonde", *sys.argv[1:]])


if __name__ == "__main__":
    main()
