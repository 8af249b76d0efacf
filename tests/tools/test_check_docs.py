"""tools/check_docs finds each kind of mistake when one is planted, and none in the project as it is."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(os.environ["SONDE_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["SONDE_BUILD_DIR"])

# Cheap to compile, as most tests here are not about it.
SMALL = """# A document
```cpp
int main() { return 0; }
```
"""
GOOD = """# A document
<!-- given: sonde::Recorder& rec -->
```cpp
rec.scalar("loss", 0.5, 3);
if (!rec.flush()) return 1;
```
<!-- given: sonde::Recorder& other, int n -->
```cpp
other.scalar("loss", 0.5, n);
```
```sh
make demo ARGS="--steps 10" && build/bin/sonde --version   # words
tools/setup build
```
"""


def check(folder: pathlib.Path) -> subprocess.CompletedProcess:
    command = [sys.executable, PROJECT / "tools/check_docs", "--build", BUILD, folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class TheProject(unittest.TestCase):
    def test_shows_only_what_works(self):
        done = check(PROJECT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class APlantedMistake(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        shutil.copytree(PROJECT / "include", self.folder / "include")
        shutil.copytree(PROJECT / "tools", self.folder / "tools")
        shutil.copy(PROJECT / "Makefile", self.folder)
        (self.folder / "README.md").write_text(SMALL)

    def assert_found(self, text: str, *parts: str) -> None:
        """With `text` in a second document, one problem is reported, in its second line."""
        (self.folder / "docs").mkdir(exist_ok=True)
        (self.folder / "docs/planted.md").write_text(f"# Planted\n{text}\n")
        done = check(self.folder)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("1 problems", done.stdout, done.stderr)
        self.assertRegex(done.stderr, r"\Adocs/planted.md:[23]:")
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_nothing_planted_is_clean(self):
        (self.folder / "README.md").write_text(SMALL + GOOD)
        done = check(self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_cpp_that_does_not_compile(self):
        self.assert_found("```cpp\nsonde::Recorder rec = 3;\n```", "does not compile")

    def test_a_name_that_nothing_gives(self):
        self.assert_found('```cpp\nrec.scalar("loss", 0.5, 3);\n```', "does not compile", "rec")

    def test_a_program_that_fails(self):
        self.assert_found("```cpp\n#include <sonde/sonde.h>\nint main() { return 3; }\n```", "ended with 3")

    def test_shell_that_bash_cannot_read(self):
        self.assert_found("```sh\nmake test)\n```", "bash cannot read")

    def test_a_goal_that_make_does_not_have(self):
        self.assert_found("```sh\nmake tea\n```", "no goal tea")

    def test_a_script_that_does_not_exist(self):
        self.assert_found("```sh\ntools/brew --now\n```", "tools/brew")

    def test_a_subcommand_that_sonde_does_not_have(self):
        self.assert_found("```sh\nsonde brew\n```", "no subcommand brew")

    def test_an_option_that_sonde_does_not_have(self):
        self.assert_found("```sh\nsonde demo --tea\n```", "no option --tea")

    # Concatenated here, since this file is checked as well.
    def test_a_path_of_a_machine(self):
        self.assert_found("See " + "/".join(("", "home", "somebody", "sonde")) + " for more.", "path of one machine")

    def test_an_address_of_a_registry(self):
        self.assert_found("See " + "https:/" + "/registry.example.org/simple for more.", "package registry")

    def test_documents_without_cpp(self):
        (self.folder / "README.md").write_text("# Nothing\n")
        done = check(self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing to check", done.stderr)


if __name__ == "__main__":
    unittest.main()
