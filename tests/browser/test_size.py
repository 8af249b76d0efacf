"""The data that a browser loads before the page shows anything stays small."""
import gzip
import json
import os
import pathlib
import unittest

DIST = pathlib.Path(os.environ["SONDE_BUILD_DIR"], "web", "dist")
MANIFEST = json.loads((DIST / "manifest.json").read_text())
MOST = 80_000  # bytes of JavaScript, compressed


def with_imports(names: list[str]) -> set[str]:
    """The chunks of these names and all that they import at once."""
    found: set[str] = set()
    while names:
        name = names.pop()
        if name not in found:
            found.add(name)
            names += MANIFEST[name].get("imports", [])
    return found


def compressed(names: set[str]) -> int:
    files = {MANIFEST[name]["file"] for name in names}
    return sum(len(gzip.compress((DIST / file).read_bytes(), 9)) for file in files if file.endswith(".js"))


class FirstView(unittest.TestCase):
    def test_needs_at_most_80_kB_of_javascript(self):
        entry = [name for name, chunk in MANIFEST.items() if chunk.get("isEntry")]
        self.assertEqual(len(entry), 1)
        # The opening view may be its own chunk, which the entry loads by name.
        opening = [name for name in MANIFEST if "views/overview/" in name]
        size = compressed(with_imports(entry + opening))
        self.assertLessEqual(size, MOST)
        print(f"first view: {size} bytes of JavaScript, compressed")


if __name__ == "__main__":
    unittest.main()
