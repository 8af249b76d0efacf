"""sonde run: the script's own behaviour stays its own, and wrong options are refused before it starts. No framework is needed."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import unittest

from testing import InFolder

import sonde
from sonde import _run


class RunScript(InFolder):
    def setUp(self):
        super().setUp()
        self.script = self.folder / "script.py"

    def run_script(self, program, *options, arguments=()):
        self.script.write_bytes(program if isinstance(program, bytes) else textwrap.dedent(program).encode())
        return self.run_options(*options, self.script, *arguments)

    def run_options(self, *words):
        return self.python("-m", "sonde", "run", *words)

    def python(self, *words):
        return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, cwd=self.folder, timeout=120,
                              check=False)

    def assert_refused(self, done, message):
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, f"^sonde: {message}.*\n$")

    def test_the_script_is_main_and_has_its_arguments(self):
        program = """
            import sys, os
            import beside
            if __name__ == "__main__":
                print(sys.argv[1:], os.path.basename(sys.argv[0]), os.path.basename(__file__), beside.x, sys.modules["__main__"].__file__ == __file__)
                print(open(__file__).read() != "")
            sys.exit(7)
        """
        (self.folder / "beside.py").write_text("x = 5\n")
        arguments = ("--help", "--every", "x")
        done = self.run_script(program, arguments=arguments)
        self.assertEqual((done.returncode, done.stdout), (7, self.python(self.script, *arguments).stdout))

    def test_an_error_has_its_own_traceback_and_exit_code(self):
        for program in ("def f():\n    raise ValueError('no')\nf()\n", "x = (\n", "x = 1\n  y = 2\n", "import sys\nsys.exit('ended')\n",
                        "raise SystemExit\n", "raise SystemExit(3)\n", "import no_such_package\n",
                        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise OSError('second') from error\n"):
            with self.subTest(program=program):
                done, plain = self.run_script(program), self.python(self.script)
                self.assertEqual(done.returncode, plain.returncode)
                self.assertEqual(done.stderr.split("\n", 1)[1], plain.stderr)

    def test_a_file_that_is_no_python_ends_as_it_does_without(self):
        for content in (b"\x7fELF\x02\x01\x01\x00\x00", b"\xff\xfe\xfd", b"# coding: no-such-coding\n"):
            with self.subTest(content=content):
                done, plain = self.run_script(content), self.python(self.script)
                self.assertEqual(done.returncode, plain.returncode)
                self.assertRegex(plain.stderr, "(SyntaxError|ValueError): ")
                self.assertRegex(done.stderr, "(SyntaxError|ValueError): ")
                self.assertNotIn("_run.py", done.stderr)

    def test_a_script_that_a_signal_ends(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGABRT):
            done = self.run_script(f"import os\nprint('last words', flush=True)\nos.kill(os.getpid(), {int(number)})\n")
            self.assertEqual((done.returncode, done.stdout), (-number, "last words\n"))

    def test_what_was_flushed_before_a_signal_is_there(self):
        done = self.run_script(f"""
            import os, signal, sonde
            rec = sonde.Recorder({str(self.log)!r})
            rec.scalar("loss", 0.5, 1)
            rec.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        """)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertEqual(sonde.load(self.log, cache=False)["."].scalars("loss").values.tolist(), [0.5])

    def test_a_script_that_is_not_there(self):
        self.assert_refused(self.run_options("none.py"), "there is no file 'none.py'")
        self.assert_refused(self.run_options(self.folder), "'.*' is a folder; name the script in it")
        self.assert_refused(self.run_options(), "SCRIPT.py is missing; usage: sonde run ")
        self.assert_refused(self.run_options("--dry"), "SCRIPT.py is missing")
        self.assert_refused(self.run_options("--"), "SCRIPT.py is missing")

    def test_wrong_options_are_refused(self):
        for options, message in (
                (["--evry", "1"], r"there is no option '--evry'; did you mean --every\?"),
                (["-v"], "there is no option '-v'; there are --watch"),
                (["--serve=yes"], "--serve takes no value"),
                (["--watch="], "--watch needs a value: --watch RE"),
                (["--watch", "(["], r"--watch: '\(\[' is no regular expression: "),
                (["--every", "0"], "--every needs a whole number from 1, not '0'"),
                (["--every", "²"], "--every needs a whole number from 1, not '²'"),
                (["--every=-3"], "--every needs a whole number from 1, not '-3'")):
            with self.subTest(options=options):
                self.assert_refused(self.run_script("print('ran')", *options), message)
        self.assert_refused(self.run_options("--watch"), "--watch needs a value")

    def test_a_policy_that_is_wrong_is_refused_before_the_script_runs(self):
        policy = self.folder / "policy.conf"
        for content, message in ((b"[[watch]]\nevry = 3\n", "policy.conf"), (b"[[watch\n", "policy.conf"),
                                 (b"[[trigger]]\nwhen = 'loss >'\n", "policy.conf"), (b"\xff\xfe", "policy.conf' cannot be read: it is no text")):
            policy.write_bytes(content)
            with self.subTest(content=content):
                self.assert_refused(self.run_script("print('ran')", "--policy", policy), f".*{message}")
        self.assert_refused(self.run_script("print('ran')", "--policy", "none.toml"), "there is no file 'none.toml'")
        policy.write_text("[[watch]]\nevery = 3\n")
        self.assertEqual(self.run_script("print('ran')", "--policy", policy).stdout, "ran\n")

    def test_a_log_that_cannot_be_written_is_refused_before_the_script_runs(self):
        file = self.folder / "file"
        file.write_text("")
        self.assert_refused(self.run_script("print('ran')", "--log", file), "--log: '.*file' cannot be a folder, since '.*file' is a file")
        self.assert_refused(self.run_script("print('ran')", "--log", file / "log"), "--log: '.*log' cannot be a folder")
        if os.getuid() != 0:  # whom nothing is refused
            locked = self.folder / "locked"
            locked.mkdir(mode=0o500)
            self.assert_refused(self.run_script("print('ran')", "--log", locked / "log"), "--log: '.*locked' cannot be written to")
        self.assertEqual(self.run_script("print('ran')", "--log", file, "--dry").stdout, "ran\n")

    def test_nothing_is_made_where_nothing_is_recorded(self):
        self.run_script("print('ran')", "--log", self.log)
        self.run_script("print('ran')")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["script.py"])

    def test_the_options_are_those_of_the_commands_help(self):
        command = os.environ.get("SONDE_BUILD_DIR") and pathlib.Path(os.environ["SONDE_BUILD_DIR"], "bin/sonde")
        shown = subprocess.run([command or self.command(), "run", "--help"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(set(re.findall(r"^ +(--[a-z]+)", shown, re.MULTILINE)) - {"--help"}, set(_run.known_options()))

    @staticmethod
    def command():
        return pathlib.Path(sonde.__file__).parent / "bin/sonde"


if __name__ == "__main__":
    unittest.main()
