"""The virtual environment of the peers, build/venv-peers, with the packages of requirements.txt."""

import pathlib
import subprocess
import sys

PEERS = pathlib.Path(__file__).resolve().parent


class InstallError(Exception):
    pass


def install_peers(build, torch=False):
    """Returns its Python. It is created, or updated if a list of requirements has changed."""
    venv = build / "venv-peers"
    python = venv / "bin" / "python"
    for wanted in ["requirements.txt"] + (["requirements-torch.txt"] if torch else []):
        stamp = venv / wanted  # a copy of the list that was installed
        text = (PEERS / wanted).read_text()
        if stamp.exists() and stamp.read_text() == text:
            continue
        print(f"bench: installing bench/peers/{wanted} into {venv.name}", file=sys.stderr, flush=True)
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if subprocess.run(pip + ["--requirement", PEERS / wanted], check=False).returncode != 0:
            raise InstallError(f"pip could not install bench/peers/{wanted}; check the network, or delete {venv}")
        stamp.write_text(text)
    return python
