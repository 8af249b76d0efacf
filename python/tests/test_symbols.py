"""What the compiled module takes from other libraries. A C++ name that two libraries of a process define belongs to
whichever was loaded first, so the library takes such names from the standard library and from few others."""
import pathlib
import re
import subprocess
import sys
import unittest

import sonde._core

MODULE = pathlib.Path(sonde._core.__file__)
PACKAGE = MODULE.parent
(LIBRARY,) = PACKAGE.glob("libsonde.so.*")
# Debian has no static archives of Highway and simdjson, which could be linked without their names being visible. No
# framework defines these names (tests/frameworks/test_import_order.py).
SHARED = {"hwy::GetChosenTarget()", "hwy::SupportedTargets()", "simdjson::get_active_implementation()",
          "simdjson::internal::error_codes", "simdjson::validate_utf8(char const*, unsigned long)"}


def names(path: pathlib.Path, which: str) -> set[str]:
    told = subprocess.run(["nm", "--dynamic", which, "--format=just-symbols", path], capture_output=True, text=True,
                          check=True).stdout
    return {name.partition("@")[0] for name in told.split()}


def standard_library() -> pathlib.Path:
    told = subprocess.run(["ldd", MODULE], capture_output=True, text=True, check=True).stdout
    return pathlib.Path(re.search(r"libstdc\+\+\S* => (\S+)", told).group(1))


def foreign(path: pathlib.Path, *others: pathlib.Path) -> set[str]:
    """The C++ names that a file needs and that neither the standard library nor the other files define."""
    needed = {name for name in names(path, "--undefined-only") if name.startswith("_Z")}
    assert len(needed) > 20, f"{path} needs hardly any names: {needed}"
    found = needed.difference(*(names(other, "--defined-only") for other in (standard_library(), *others)))
    told = subprocess.run(["c++filt", *sorted(found)], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    return set(told.stdout.splitlines())


class Symbols(unittest.TestCase):
    def test_the_library_takes_only_known_names_of_other_libraries(self):
        self.assertLessEqual(foreign(LIBRARY), SHARED)

    def test_the_module_takes_names_of_sonde_only(self):
        self.assertEqual(foreign(MODULE, LIBRARY), set())

    def test_the_command_takes_only_known_names_of_other_libraries(self):
        self.assertLessEqual(foreign(PACKAGE / "bin" / "sonde"), SHARED)


class Import(unittest.TestCase):
    def test_no_framework_is_imported_before_it_is_used(self):
        program = "import sonde, sys; print(*{name.partition('.')[0] for name in sys.modules})"
        loaded = set(subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True,
                                    check=True).stdout.split())
        self.assertIn("sonde", loaded)
        self.assertFalse(loaded & {"numpy", "pandas", "torch", "tensorflow", "jax", "keras", "matplotlib", "PIL", "ml_dtypes"})


if __name__ == "__main__":
    unittest.main()
