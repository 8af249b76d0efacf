"""Runs a file of tests for run_frameworks, and reports every test: a line when it starts, another when it ends.

    python report.py FILE [CLASS.test_name]     SONDE_TEST_RESULTS names the file that the lines are appended to
"""
import json
import os
import pathlib
import runpy
import sys
import time
import unittest


class Result(unittest.TestResult):
    """One JSON object for each event; a test with failing parts (subTest) has failed once."""

    def __init__(self, *_, **__):
        super().__init__()
        self._file = open(os.environ["SONDE_TEST_RESULTS"], "a", encoding="utf-8")  # noqa: SIM115: as long as the process
        self._failure, self._begin = "", 0.0

    def _write(self, **what):
        self._file.write(json.dumps(what) + "\n")
        self._file.flush()

    def _name(self, test) -> str:
        return ".".join(test.id().split(".")[-2:])

    def startTest(self, test):
        super().startTest(test)
        self._failure, self._begin = "", time.monotonic()
        self._write(name=self._name(test))

    def stopTest(self, test):
        super().stopTest(test)
        self._write(name=self._name(test), seconds=time.monotonic() - self._begin, failure=self._failure)

    def _fail(self, test, error):
        text = self._exc_info_to_string(error, test)
        if isinstance(test, unittest.TestCase) or hasattr(test, "test_case"):
            self._failure += text
        else:  # setUpClass, or setUpModule
            self._write(name=str(test))
            self._write(name=str(test), seconds=0, failure=text)

    def addError(self, test, err):
        super().addError(test, err)
        self._fail(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._fail(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._fail(subtest, err)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._failure += "passed, and was expected to fail\n"

    # What unittest's own runner expects of a result that prints.
    def printErrors(self):
        pass


def main() -> None:
    file = pathlib.Path(sys.argv[1]).resolve()
    sys.argv = [str(file), *sys.argv[2:]]
    sys.path[0] = str(file.parent)
    unittest.TextTestRunner.resultclass = Result
    runpy.run_path(str(file), run_name="__main__")


if __name__ == "__main__":
    main()
