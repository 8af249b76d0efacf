"""The examples in the docstrings, and that every public name has one."""
import array
import doctest
import importlib
import inspect
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import sonde

MODULES = ("_arrays", "_policy", "_wire")
# Plain values, which say what they are.
WITHOUT_EXAMPLE = {"Counters", "StepValues", "RecordingWarning", "Capture"}


def documented() -> dict[str, str]:
    """The docstrings of all that the package offers."""
    found = {"sonde": sonde.__doc__}
    for name in sonde.__all__:
        item = getattr(sonde, name)
        found[name] = inspect.getdoc(item) or ""
        if inspect.isclass(item):
            for base in reversed(item.__mro__):
                for member, value in vars(base).items():
                    text = inspect.getdoc(value)
                    if base.__module__.startswith("sonde") and not member.startswith("_") and (callable(value) or text):
                        found[f"{name}.{member}"] = text or ""
    return found


class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        log = pathlib.Path(self.folder) / "log"
        with sonde.Recorder(log / "train") as rec:
            rec.scalar("loss", 1.0, 1)
            rec.scalar("loss", 0.5, 2)
            rec.text("note", "halved", 1)
            with rec.step(1) as step:
                rec.probe("dense/out").record(step, [[1.0, 2.0], [3.0, 4.0]])
                rec.probe("kept", keep="whole").record(step, array.array("f", [1.0, 2.0]))
            rec.checkpoint("model", 1, {"kernel": [[1.0, 2.0]]})
        self.known = {"sonde": sonde, "log": str(log),
                      "checkpoint": str(log / "train/checkpoints/model-1.safetensors")}

    def test_every_name_has_a_docstring(self):
        self.assertEqual([name for name, text in documented().items() if not text], [])

    def test_every_function_and_class_has_an_example(self):
        lacking = [name for name, text in documented().items() if ">>>" not in text and name not in WITHOUT_EXAMPLE]
        # Properties and values say what they are; what is called has an example.
        self.assertEqual([name for name in lacking if "." not in name], [])

    def test_the_examples_do_what_they_say(self):
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        for number, (name, text) in enumerate(documented().items()):
            if ">>>" not in text:
                continue
            folder = f"{self.folder}/{number}"
            with sonde.Recorder(folder + "/rec", console=False) as rec, sonde.SummaryWriter(folder + "/writer") as writer:
                known = self.known | {"rec": rec, "writer": writer, "directory": folder}
                runner.run(doctest.DocTestParser().get_doctest(text, known, name, None, 0))
        for name in MODULES:
            for test in doctest.DocTestFinder().find(importlib.import_module(f"sonde.{name}")):
                runner.run(test)
        results = runner.summarize(verbose=False)
        self.assertGreater(results.attempted, 50)
        self.assertEqual(results.failed, 0)

    def test_the_programs_in_the_documents_run(self):
        project = pathlib.Path(os.environ["SONDE_SOURCE_DIR"])
        programs = 0
        for path in (project / "README.md", *(project / "docs").glob("*.md")):
            for program in re.findall(r"^```py\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL):
                programs += 1
                done = subprocess.run([sys.executable, "-B", "-c", program], cwd=self.folder, capture_output=True, text=True,
                                      check=False)
                self.assertEqual(done.returncode, 0, f"{path}:\n{program}\n{done.stderr}")
        self.assertGreater(programs, 3)


if __name__ == "__main__":
    unittest.main()
