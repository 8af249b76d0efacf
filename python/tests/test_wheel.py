"""The wheel is whole: in an empty environment it records, reads and serves, with no library of the system but those that
every Linux has. Run by `make test-frameworks`; SONDE_WHEEL names the wheel."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request
import zipfile

WHEEL = pathlib.Path(os.environ["SONDE_WHEEL"]).resolve()
# What the manylinux policy lets a wheel expect.
EVERYWHERE = re.compile(r"/(ld-linux|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libutil|libpython3)[-.\w+]*\.so[.\d]*$")

PROGRAM = """
import array, sonde, sys
with sonde.Recorder(sys.argv[1], policy={"watch": [{"tensors": "dense.*"}]}) as rec:
    rec.scalar("loss", 0.5, 1)
    with rec.step(1) as step:
        rec.probe("dense/out").record(step, array.array("f", [1, 2, 3]))
run = sonde.load(sys.argv[1], cache=False)["."]
assert run.scalars("loss").values.tolist() == [0.5] and run.statistics("activation/dense/out")["mean"].tolist() == [2]
print(open("/proc/self/maps").read())
"""


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.venv = cls.folder / "venv"
        subprocess.run([sys.executable, "-m", "venv", cls.venv], check=True)
        subprocess.run([cls.venv / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", WHEEL], check=True)
        # Nothing of where it was built.
        cls.environment = {"PATH": f"{cls.venv}/bin:/usr/bin:/bin", "HOME": str(cls.folder)}

    def run_in(self, *command) -> str:
        done = subprocess.run([str(word) for word in command], env=self.environment, cwd=self.folder, capture_output=True,
                              text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr)
        return done.stdout

    def test_records_and_reads_with_its_own_libraries(self):
        maps = self.run_in(self.venv / "bin/python", "-c", PROGRAM, self.folder / "log")
        loaded = {line.split()[-1] for line in maps.splitlines() if ".so" in line}
        self.assertTrue(any("libsonde" in path for path in loaded))
        base = pathlib.Path(sys.base_prefix).resolve()
        foreign = [path for path in loaded if not EVERYWHERE.search(path) and not path.startswith(str(self.venv))
                   and "lib-dynload" not in path and not path.startswith(str(base / "lib"))]
        # What Python's own modules need, such as libssl and libffi, is not ours.
        ours = [path for path in foreign if re.search(r"re2|isal|hwy|simdjson|cmark|sqlite", path)]
        self.assertEqual(ours, [])

    def test_every_library_inside_is_found_inside(self):
        packages = next(self.venv.glob("lib/python3*/site-packages"))
        for path in [*(packages / "sonde").glob("*.so*"), packages / "sonde/bin/sonde"]:
            told = self.run_in("ldd", path)
            self.assertNotIn("not found", told)
            for found in re.findall(r"=> (/\S+)", told):
                self.assertTrue(EVERYWHERE.search(found) or pathlib.Path(found).resolve().is_relative_to(packages.resolve()),
                                f"{path.name} needs {found}")

    def test_the_command_is_there_with_its_page(self):
        version = (pathlib.Path(__file__).resolve().parents[2] / "VERSION").read_text().strip()
        self.assertIn(version, self.run_in(self.venv / "bin/sonde", "--version"))
        self.assertIn(version, self.run_in(self.venv / "bin/python", "-m", "sonde", "--version"))
        self.run_in(self.venv / "bin/python", "-c", PROGRAM, self.folder / "served")
        server = subprocess.Popen([self.venv / "bin/sonde", "serve", self.folder / "served", "--port", "0"], env=self.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(server.communicate)
        self.addCleanup(server.terminate)
        for line in server.stdout:
            found = re.search(r"http://127\.0\.0\.1:\d+\S*", line)
            if found:
                break
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())  # the token becomes a cookie
        with opener.open(found.group(), timeout=60) as answer:
            self.assertIn(b"<script", answer.read())

    def test_holds_what_a_type_checker_needs_and_no_test(self):
        names = zipfile.ZipFile(WHEEL).namelist()
        for name in ("sonde/py.typed", "sonde/_core.pyi", "sonde/__init__.py", "sonde/bin/sonde"):
            self.assertIn(name, names)
        self.assertEqual([name for name in names if "test" in name or name.endswith((".cc", ".h"))], [])

    def test_in_a_root_without_our_packages(self):
        """Python and its libraries alone, in a root of their own; where the system does not allow one, it says so."""
        root = self.folder / "root"
        root.mkdir()
        enter = [shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin"), root]
        if os.geteuid() != 0:
            enter = ["unshare", "--user", "--map-root-user", "--mount", *enter]
        for part in ("proc", "tmp", "dev"):
            (root / part).mkdir()
        shutil.copytree(self.venv, root / str(self.venv).lstrip("/"), symlinks=True)
        needed = {pathlib.Path(sys.executable).resolve(), pathlib.Path("/bin/true").resolve()}
        libraries = set()
        base = pathlib.Path(sys.base_prefix)
        for path in [*needed, *base.glob("lib/python3*/lib-dynload/*.so"), *self.venv.rglob("*.so*")]:
            told = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
            libraries.update(found for found in re.findall(r"(?:=> )?(/\S+) \(0x", told) if not found.startswith(str(self.venv)))
        for path in libraries:
            if re.search(r"re2|isal|hwy|simdjson|cmark", path):
                self.fail(f"the package reaches for {path}")
            place = root / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, place)
        version = f"python3.{sys.version_info[1]}"
        (root / str(base).lstrip("/") / "bin").mkdir(parents=True, exist_ok=True)
        for name in ("python", "python3", version):  # whichever the environment's own links to
            shutil.copy2(pathlib.Path(sys.executable).resolve(), root / str(base).lstrip("/") / "bin" / name)
        shutil.copytree(base / "lib" / version, root / str(base).lstrip("/") / "lib" / version, symlinks=True,
                        ignore=shutil.ignore_patterns("test", "site-packages", "dist-packages", "__pycache__"), dirs_exist_ok=True)
        resolved = pathlib.Path(sys.executable).resolve()
        target = root / str(resolved).lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            shutil.copy2(resolved, target)
        program = PROGRAM.replace('print(open("/proc/self/maps").read())', "")
        done = subprocess.run([*enter, self.venv / "bin/python", "-c", program, "/tmp/log"], env=self.environment,
                              capture_output=True, text=True, check=False, timeout=120)
        if "Operation not permitted" in done.stderr or "unshare failed" in done.stderr:
            self.skipTest("this system allows no root of one's own")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(list((root / "tmp/log").glob("events.*")))


if __name__ == "__main__":
    unittest.main()
