"""run_frameworks counts and names what happened to every test of a file, also if its process dies."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import re
import sys
import textwrap
import unittest
import unittest.mock

from testing import InFolder

PROGRAM = pathlib.Path(__file__).with_name("run_frameworks")


def load():
    loader = importlib.machinery.SourceFileLoader("run_frameworks", str(PROGRAM))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_frameworks", loader))
    loader.exec_module(module)
    module.PYTHON = sys.executable
    return module


class RunFrameworks(InFolder):
    def results(self, program: str, test: str | None = None) -> dict[str, str]:
        """What failed of each test: nothing if it passed."""
        file = self.folder / "test_file.py"
        file.write_text("import os, unittest\n" + textwrap.dedent(program) + "\nunittest.main()\n")
        done, _ = load().run(file, {"SONDE_TEST_VALUE": "7"}, test)
        return {one["name"]: one["failure"] for one in done}

    def test_each_test_is_counted_once(self):
        found = self.results("""
            class Cases(unittest.TestCase):
                def test_good(self): self.assertEqual(os.environ["SONDE_TEST_VALUE"], "7")
                def test_bad(self): self.assertEqual(1, 2)
                def test_parts(self):
                    for part in range(3):
                        with self.subTest(part=part): self.assertEqual(part, 0)
        """)
        self.assertEqual({name: bool(failure) for name, failure in found.items()},
                         {"Cases.test_good": False, "Cases.test_bad": True, "Cases.test_parts": True})
        self.assertIn("1 != 2", found["Cases.test_bad"])
        self.assertIn("2 != 0", found["Cases.test_parts"])

    def test_one_test_of_a_file(self):
        program = """
            class Cases(unittest.TestCase):
                def test_one(self): pass
                def test_other(self): pass
        """
        self.assertEqual(self.results(program, "Cases.test_other"), {"Cases.test_other": ""})

    def test_a_process_that_dies_fails_the_test_that_it_was_in(self):
        found = self.results("""
            class Cases(unittest.TestCase):
                def test_a(self): pass
                def test_b(self):
                    print("about to die", flush=True)
                    os.abort()
        """)
        self.assertEqual(found["Cases.test_a"], "")
        self.assertRegex(found["Cases.test_b"], r"the process ended with -6\n[^$]*about to die")

    def test_a_file_that_cannot_be_read_and_a_class_that_cannot_be_set_up_fail(self):
        self.assertIn("no_such_module", "".join(self.results("import no_such_module").values()))
        found = self.results("""
            class Cases(unittest.TestCase):
                @classmethod
                def setUpClass(cls): raise OSError("no room")
                def test_a(self): pass
        """)
        self.assertIn("no room", "".join(found.values()))

    def test_the_lines_are_those_that_run_again_reads(self):
        run_again = PROGRAM.parents[2] / "tools/run_again"
        pattern = re.compile(re.search(r'RESULT = re.compile\(r"(.*)"\)', run_again.read_text()).group(1))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            failed = load().show("keras@jax", [{"name": "A.test_b", "seconds": 1.25, "failure": "1 != 2\n"},
                                               {"name": "A.test_c", "seconds": 0, "failure": ""}])
        lines = out.getvalue().splitlines()
        self.assertEqual((failed, lines[1]), (1, "1 != 2"))
        self.assertEqual([pattern.match(lines[row]).groups() for row in (0, 2)],
                         [("keras@jax", "A.test_b", "***Failed"), ("keras@jax", "A.test_c", " Passed")])

    def test_a_machine_without_room_is_refused_with_a_sentence(self):
        module = load()
        for name, sentence in (("MEMORY", r"need \d+ GiB of free memory, and this machine has [\d.]+; end other programs"),
                               ("DISK", r"the tests need \d+ GiB in \S+, which has [\d.]+ free; delete files there")):
            with self.subTest(name), unittest.mock.patch.object(module, name, 1 << 60), self.assertRaisesRegex(SystemExit, sentence):
                module.check_machine(2)


if __name__ == "__main__":
    unittest.main()
