"""What `import sonde` loads: only what recording needs, so that it takes little time in every process of a job."""
import unittest

from testing import InFolder

import sonde

LATER = ("numpy", "pandas", "matplotlib", "torch", "tensorflow", "dataclasses", "datetime", "socket", "subprocess", "sonde._log",
         "sonde._serve", "sonde._show")


class Import(InFolder):
    def test_imports_only_what_recording_needs(self):
        found = self.run_python(f"import sonde, sys\nprint([name for name in {LATER} if name in sys.modules])")
        self.assertEqual(found.stdout, "[]\n")

    def test_every_name_is_there_when_it_is_asked_for(self):
        self.run_python("import sonde\nfor name in sonde.__all__: getattr(sonde, name)\nfrom sonde import *")
        self.assertLessEqual(set(sonde.__all__), set(dir(sonde)))
        with self.assertRaisesRegex(AttributeError, "no attribute 'laod'"):
            sonde.laod  # noqa: B018


if __name__ == "__main__":
    unittest.main()
