"""The command from a user's view: what it prints, where, and how it exits."""

import json
import os
import pty
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

SONDE = os.environ["SONDE_BIN"]


def may_become_others():
    """Whether the system lets us run programs as another user: not even the superuser may in some containers."""
    with open("/proc/self/status", encoding="ascii") as status:
        capabilities = next(int(line.split()[1], 16) for line in status if line.startswith("CapEff:"))
    set_group, set_user = 1 << 6, 1 << 7
    return capabilities & (set_group | set_user) == set_group | set_user


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        cache = tempfile.TemporaryDirectory()
        self.addCleanup(cache.cleanup)
        self.environment = {**os.environ, "XDG_CACHE_HOME": cache.name}

    def path(self, name):
        return os.path.join(self.folder, name)

    def save(self, name, array):
        np.save(self.path(name), array)
        return self.path(name)

    def run_sonde(self, *arguments, **environment):
        return subprocess.run([SONDE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                              env={**self.environment, **environment}, text=True, timeout=60)

    def run_unprivileged(self, *arguments):
        """Runs as a user without root's permissions: root may read everything, so it becomes another user here."""
        user = {"user": 65534, "group": 65534, "extra_groups": []} if may_become_others() else {}
        command = self.path("sonde")
        if not os.path.exists(command):
            shutil.copy(SONDE, command)
        os.chmod(self.folder, 0o777)
        return subprocess.run([command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              cwd=self.folder, env={**os.environ, "XDG_CACHE_HOME": "/nonexistent"}, timeout=60,
                              check=False, **user)

    def interrupt(self, signal, *arguments):
        """Sends the signal once something was begun beside its place; returns the exit code."""
        with subprocess.Popen([SONDE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                              env=self.environment) as process:
            while process.poll() is None and not any(".part-" in name for name in os.listdir(self.folder)):
                pass
            process.send_signal(signal)
            process.communicate(timeout=60)
        return process.returncode

    def output(self, *arguments):
        result = self.run_sonde(*arguments)
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.returncode, 0)
        return result.stdout

    def json(self, *arguments, code=0):
        result = self.run_sonde(*arguments, "--json")
        self.assertEqual((result.returncode, result.stderr), (code, ""))
        return json.loads(result.stdout)

    def error(self, *arguments):
        """The sentence of a command that fails."""
        result = self.run_sonde(*arguments)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"\Asonde: [^\n]+\n\Z")
        return result.stderr

    def on_terminal(self, *arguments, code=0, **environment):
        """What a person sees: the output on a pseudo-terminal, with escape sequences."""
        leader, follower = pty.openpty()
        clean = {key: value for key, value in self.environment.items()
                 if key not in ("NO_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG")}
        with subprocess.Popen([SONDE, *arguments], stdout=follower, cwd=self.folder,
                              env={**clean, "TERM": "xterm", **environment}) as process:
            os.close(follower)
            text = b""
            while True:
                try:
                    part = os.read(leader, 65536)
                except OSError:  # the other end is closed
                    break
                if not part:
                    break
                text += part
            os.close(leader)
        self.assertEqual(process.returncode, code)
        return text.decode()
