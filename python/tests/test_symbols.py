"""What the compiled module takes from other libraries. A C++ name that two libraries of a process define belongs to
whichever was loaded first: such names are few, known, and looked up in our own libraries first (sonde/_load.py)."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

import sonde._core

PACKAGE = pathlib.Path(sonde._core.__file__).parent
# Debian has no static archive of hwy and simdjson, and none of RE2 that a shared library can be linked with.
SHARED = {"re2", "hwy", "simdjson"}


def undefined(path: pathlib.Path) -> set[str]:
    told = subprocess.run(["nm", "--dynamic", "--undefined-only", "--format=just-symbols", path], capture_output=True,
                          text=True, check=True).stdout
    return {name.partition("@")[0] for name in told.split()}


def defined(library: str) -> set[str]:
    told = subprocess.run(["nm", "--dynamic", "--defined-only", "--format=just-symbols", library], capture_output=True,
                          text=True, check=True).stdout
    return {name.partition("@")[0] for name in told.split()}


def standard_library() -> str:
    told = subprocess.run(["ldd", sonde._core.__file__], capture_output=True, text=True, check=True).stdout
    return re.search(r"libstdc\+\+\S* => (\S+)", told).group(1)


class Symbols(unittest.TestCase):
    def test_names_of_other_libraries_are_only_the_known_ones(self):
        (library,) = PACKAGE.glob("libsonde.so.*")
        ours = defined(str(library)) | defined(standard_library())
        for path in (library, pathlib.Path(sonde._core.__file__)):
            names = undefined(path)
            self.assertGreater(len(names), 50, path)
            foreign = {name for name in names - ours if name.startswith("_Z")}
            unknown = [name for name in foreign if not any(f"{len(space)}{space}" in name for space in SHARED)]
            self.assertEqual(unknown, [], path)

    def test_the_module_itself_takes_names_of_sonde_only(self):
        (library,) = PACKAGE.glob("libsonde.so.*")
        foreign = undefined(pathlib.Path(sonde._core.__file__)) - defined(str(library)) - defined(standard_library())
        self.assertEqual([name for name in foreign if name.startswith("_Z")], [])

    def test_a_library_that_exports_the_same_names_does_not_come_between(self):
        # What TensorFlow does: a library that is visible to the whole process, with an RE2 of its own.
        program = f"""
import ctypes, sys
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
import sonde
with sonde.Recorder(sys.argv[2], policy={{"watch": [{{"tensors": "dense.*"}}]}}) as rec, rec.step(1) as step:
    assert rec.probe("dense/out").wanted(step) and not rec.probe("conv").wanted(step)
"""
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            names = [name for name in undefined(next(PACKAGE.glob("libsonde.so.*"))) if "3re2" in name]
            self.assertGreater(len(names), 2)
            source = pathlib.Path(folder) / "wrong.c"
            source.write_text("#include <stdlib.h>\n" + "".join(f"void {name}(void) {{ abort(); }}\n" for name in names))
            library = pathlib.Path(folder) / "libwrong.so"
            subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
            done = subprocess.run([sys.executable, "-B", "-c", program, library, folder + "/log"], capture_output=True,
                                  text=True, check=False, env=os.environ)
            self.assertEqual((done.returncode, done.stderr), (0, ""))


class Import(unittest.TestCase):
    def test_no_framework_is_imported_before_it_is_used(self):
        program = "import sonde, sys; print(*{name.partition('.')[0] for name in sys.modules})"
        loaded = set(subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True,
                                    check=True).stdout.split())
        self.assertIn("sonde", loaded)
        self.assertFalse(loaded & {"numpy", "pandas", "torch", "tensorflow", "jax", "keras", "matplotlib", "PIL", "ml_dtypes"})


if __name__ == "__main__":
    unittest.main()
