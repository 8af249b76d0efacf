"""The wheel is whole: in an empty environment it records, reads and serves, with no library of the system but those that
every Linux has. SONDE_WHEEL names the wheel, SONDE_BARE_ROOT a system without our packages. `.ci/run wheel` runs it so."""
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
            missing = re.findall(r"(\S+) => not found", told)
            # OpenVINO comes from its own package, and is loaded before the library that uses it.
            self.assertEqual([name for name in missing if not name.startswith("libopenvino.so")], [])
            for found in re.findall(r"=> (/\S+)", told):
                self.assertTrue(EVERYWHERE.search(found) or pathlib.Path(found).resolve().is_relative_to(packages.resolve()),
                                f"{path.name} needs {found}")

    def test_runs_a_saved_model_if_openvino_is_there_and_says_what_to_install_if_not(self):
        project = pathlib.Path(__file__).resolve().parents[2]
        command = [self.venv / "bin/sonde", "inspect", project / "examples/seeds/models/digits.onnx", "--random", "1"]
        done = subprocess.run(command, env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("pip install openvino==", done.stderr)
        found = {"SONDE_OPENVINO": str(project / "build/openvino")}
        done = subprocess.run(command, env=self.environment | found, cwd=self.folder, capture_output=True, text=True, check=False,
                              timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("openvino", done.stdout)

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


class BareRoot(unittest.TestCase):
    """In a system of its own with Python and without any package of ours, as somebody has it who never built Sonde."""

    @classmethod
    def setUpClass(cls):
        given = os.environ.get("SONDE_BARE_ROOT")
        if not given:
            raise unittest.SkipTest("SONDE_BARE_ROOT names no root; .ci/run wheel makes one")
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can enter another root")
        cls.root = pathlib.Path(given).resolve()
        done = subprocess.run([*cls.enter(), "python3", "-c", "import sys; print('cp%d%d' % sys.version_info[:2])"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0 and re.search("Operation not permitted|Permission denied", done.stderr):
            raise unittest.SkipTest(f"this system allows no root of its own: {done.stderr.strip()}")
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        version = done.stdout.strip()
        if f"-{version}-" not in WHEEL.name and "abi3" not in WHEEL.name:
            raise unittest.SkipTest(f"the root has {version}, and the wheel is {WHEEL.name}")
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(dir=cls.root / "tmp")))
        cls.inside = pathlib.Path("/") / cls.folder.relative_to(cls.root)
        wheels = cls.folder / "wheels"
        # The network is outside: what pip finds there is brought in as files.
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:",
                        "--python-version", version[2] + "." + version[3:], "--dest", wheels, "numpy"], check=True)
        shutil.copy2(WHEEL, wheels)
        cls.run_inside("python3", "-m", "venv", cls.inside / "venv")
        cls.run_inside(cls.inside / "venv/bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--find-links",
                       cls.inside / "wheels", "sonde")

    @classmethod
    def enter(cls) -> list[str]:
        """What goes before a command to run it in the root. The loader finds the libraries beside a program only with /proc,
        which is mounted for this command alone."""
        mount = 'mount --bind /proc "$0/proc" && exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp "$@"'
        return ["unshare", "--mount", "sh", "-c", mount, str(cls.root)]

    @classmethod
    def run_inside(cls, *command) -> str:
        done = subprocess.run([*cls.enter(), *map(str, command)], capture_output=True, text=True, check=False, timeout=300)
        if done.returncode != 0:
            raise AssertionError(f"{command}: {done.stdout[-2000:]}{done.stderr}")
        return done.stdout

    def test_the_root_has_none_of_our_libraries(self):
        known = self.run_inside("ldconfig", "-p")
        self.assertIn("libc.so", known)
        self.assertEqual(re.findall(r"lib(?:re2|isal|hwy|simdjson|cmark|sqlite3|sonde)\S*", known.replace("libsqlite3.so.0", "")), [])

    def test_records_and_reads(self):
        program = PROGRAM.replace('print(open("/proc/self/maps").read())', "")
        self.run_inside(self.inside / "venv/bin/python", "-c", program, self.inside / "log")
        self.assertTrue(list((self.folder / "log").glob("events.*")))

    def test_the_readme_works_as_it_is_written(self):
        readme = (pathlib.Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
        programs = re.findall(r"```py\n(.*?)```", readme, re.DOTALL)
        self.assertGreater(len(programs), 0)
        script = self.folder / "readme.py"
        for number, program in enumerate(programs):
            script.write_text(f"import os\nos.chdir({str(self.inside)!r})\n{program}", encoding="utf-8")
            self.run_inside(self.inside / "venv/bin/python", self.inside / "readme.py")
            self.run_inside(self.inside / "venv/bin/sonde", "run", "--log", self.inside / f"run-{number}", self.inside / "readme.py")
        self.assertIn("loss", self.run_inside(self.inside / "venv/bin/sonde", "ls", self.inside / "logs"))

    def test_serves_the_page(self):
        program = PROGRAM.replace('print(open("/proc/self/maps").read())', "")
        self.run_inside(self.inside / "venv/bin/python", "-c", program, self.inside / "served")
        server = subprocess.Popen([*self.enter(), str(self.inside / "venv/bin/sonde"), "serve", str(self.inside / "served"), "--port", "0"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(server.communicate)
        self.addCleanup(server.terminate)
        for line in server.stdout:
            found = re.search(r"http://127\.0\.0\.1:\d+\S*", line)
            if found:
                break
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
        with opener.open(found.group(), timeout=60) as answer:
            self.assertIn(b"<script", answer.read())
        with opener.open(found.group().partition("?")[0] + "api/runs", timeout=60) as answer:
            self.assertIn(b'"run":"."', answer.read())


if __name__ == "__main__":
    unittest.main()
