"""For the tests of the worker: makes packages look as if they were not installed, those that SONDE_TEST_HIDE names."""
import os
import sys

from fake_runtime import open_model  # noqa: F401: what the worker calls


class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in os.environ["SONDE_TEST_HIDE"].split(","):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return None


if not any(isinstance(each, Hide) for each in sys.meta_path):
    sys.meta_path.insert(0, Hide())
