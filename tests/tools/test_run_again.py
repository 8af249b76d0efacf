"""tools/run_again excuses a test that fails once, and nothing else: seen with ctest itself, and with tests of the page."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(os.environ["SONDE_SOURCE_DIR"])

# Fails and prints as often as requested.
FAKE = """import pathlib, sys
count = pathlib.Path(sys.argv[1])
times = int(count.read_text()) if count.exists() else 0
count.write_text(str(times + 1))
if times < int(sys.argv[2]):
    print(sys.argv[3])
    sys.exit(1)
"""
REPORTS = {
    "race": "WARNING: ThreadSanitizer: data race (pid=1)",
    "memory": "==1==ERROR: AddressSanitizer: heap-use-after-free",
    "leak": "==1==ERROR: LeakSanitizer: detected memory leaks",
    "undefined": "a.cc:3:5: runtime error: signed integer overflow",
}


class WithCtest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "fake.py").write_text(FAKE)
        self.tests = []

    def add(self, name: str, failures: int, output: str = "it went wrong") -> None:
        """A test that fails this many times, then passes."""
        count = self.folder / f"count{len(self.tests)}"
        self.tests.append(f'add_test([=[{name}]=] "{sys.executable}" "{self.folder}/fake.py" "{count}" "{failures}" "{output}")')

    def run_again(self, *arguments: str) -> subprocess.CompletedProcess:
        (self.folder / "CTestTestfile.cmake").write_text("\n".join(self.tests))
        command = [PROJECT / "tools/run_again", "ctest", "--output-on-failure", "--parallel", "2", *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def times(self, number: int) -> int:
        """How often a test was run."""
        return int((self.folder / f"count{number}").read_text())

    def test_passes_on_what_ctest_says_if_nothing_fails(self):
        self.add("Good", 0)
        self.add("Better", 0)
        done = self.run_again()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("100% tests passed, 0 tests failed out of 2", done.stdout)
        self.assertNotIn("flaky", done.stdout)
        self.assertEqual((self.times(0), self.times(1)), (1, 1))

    def test_a_test_that_fails_once_is_flaky(self):
        self.add("Good", 0)
        self.add("Suite/Flaky.Test/0", 1, "it went wrong (once) [here]")
        done = self.run_again()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("flaky: Suite/Flaky.Test/0\nit went wrong (once) [here]\n", done.stdout)
        self.assertEqual(done.stdout.count("tests failed out of"), 1, "it would be counted twice")
        self.assertIn("100% tests passed, 0 tests failed out of 2", done.stdout)
        self.assertEqual((self.times(0), self.times(1)), (1, 3))

    def test_a_name_that_begins_like_another_is_another_test(self):
        self.add("Flaky", 1)
        self.add("FlakyToo", 1000)
        done = self.run_again()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("flaky: Flaky\n", done.stdout)
        self.assertIn("not excused: FlakyToo", done.stdout)
        self.assertIn("50% tests passed, 1 tests failed out of 2", done.stdout)

    def test_a_test_that_fails_again_has_failed(self):
        for failures in (2, 3, 1000):
            self.add(f"Bad{failures}", failures)
        self.add("Good", 0)
        done = self.run_again()
        self.assertEqual(done.returncode, 8, done.stdout + done.stderr)  # ctest's own
        self.assertNotIn("\nflaky:", done.stdout)
        for failures in (2, 3, 1000):
            self.assertIn(f"not excused: Bad{failures}, which failed again", done.stdout)
        self.assertIn("25% tests passed, 3 tests failed out of 4", done.stdout)

    def test_a_report_of_a_sanitizer_is_never_excused(self):
        for name, report in REPORTS.items():
            self.add(name, 1, report)
        done = self.run_again()
        self.assertNotEqual(done.returncode, 0)
        for number, name in enumerate(REPORTS):
            self.assertIn(f"not excused: {name}, which printed the report of a sanitizer", done.stdout)
            self.assertEqual(self.times(number), 1)
        self.assertIn("0% tests passed, 4 tests failed out of 4", done.stdout)

    def test_a_report_at_the_end_of_much_output_is_seen(self):
        self.add("Long", 1, "x" * 60_000 + REPORTS["race"])
        self.assertIn("not excused: Long", self.run_again().stdout)

    def test_many_failures_are_no_chance(self):
        for number in range(11):
            self.add(f"Bad{number}", 1)
        done = self.run_again()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("not excused: 11 tests failed", done.stdout)
        self.assertIn("0% tests passed, 11 tests failed out of 11", done.stdout)

    def test_arguments_hold_for_the_second_time_as_well(self):
        self.add("Flaky", 1)
        self.add("Excluded", 1000)
        done = self.run_again("--exclude-regex", "^Excluded$")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("100% tests passed, 0 tests failed out of 1", done.stdout)

    def test_no_tests_at_all_is_a_failure(self):
        self.assertNotEqual(self.run_again("--no-tests=error").returncode, 0)

    def test_a_program_that_does_not_exist_is_a_failure(self):
        self.tests.append('add_test(Missing "/does/not/exist")')
        done = self.run_again()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("1 tests failed out of 1", done.stdout)


# As tests/browser/reporter.ts prints; takes --test NAME FILE, as tests/browser/run does.
FAKE_BROWSER = """#!/usr/bin/env python3
import pathlib, sys
arguments = sys.argv[1:]
alone = arguments[1] if arguments[:1] == ["--test"] else None
good, failed = 0, 0
for file, name, failures in [("live", "shows what is (new)", 0), ("live", "follows: a run", 1), ("cards", "always wrong", 9)]:
    if alone not in (None, name) or (alone and arguments[2] != file):
        continue
    count = pathlib.Path(__file__).with_name(name.replace(" ", "_") + ".count")
    times = int(count.read_text()) if count.exists() else 0
    count.write_text(str(times + 1))
    if times < failures:
        failed += 1
        print(f"      Test {file}: {name} ...***Failed 0.10 sec\\nError: expected 3, got 4\\n    at live.test.ts")
    else:
        good += 1
        print(f"      Test {file}: {name} ... Passed 0.10 sec")
print(f"\\n{100 * good // max(1, good + failed)}% tests passed, {failed} tests failed out of {good + failed}")
sys.exit(1 if failed else 0)
"""


class WithTheBrowser(unittest.TestCase):
    def test_a_flaky_test_is_excused_and_one_that_fails_is_not(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        program = folder / "run"
        program.write_text(FAKE_BROWSER)
        program.chmod(0o755)
        done = subprocess.run([PROJECT / "tools/run_again", program], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("flaky: live: follows: a run\nError: expected 3, got 4\n    at live.test.ts\n", done.stdout)
        self.assertIn("not excused: cards: always wrong", done.stdout)
        self.assertIn("66% tests passed, 1 tests failed out of 3", done.stdout)
        self.assertEqual(done.stdout.count("tests failed out of"), 1)


if __name__ == "__main__":
    unittest.main()
