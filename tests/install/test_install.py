"""`cmake --install` installs exactly what a user needs, and the user's projects build with it."""
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

PROJECT = pathlib.Path(os.environ["SONDE_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["SONDE_BUILD_DIR"])
CONSUMER = PROJECT / "tests/install/consumer"
VERSION = (PROJECT / "VERSION").read_text().strip()


def cached(name: str) -> str:
    """A setting of the build under test."""
    found = re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)
    return found.group(1) if found else ""


COMPILER = cached("CMAKE_CXX_COMPILER")


def run(*command, **environment) -> str:
    done = subprocess.run([str(word) for word in command], env=os.environ | environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="sonde install ")))
        run("cmake", "--install", BUILD, "--prefix", cls.folder / "first place")
        # Moved, so that nothing can depend on where it was installed.
        cls.prefix = cls.folder / "prefix"
        (cls.folder / "first place").rename(cls.prefix)

    def assert_records(self, program: pathlib.Path, **environment) -> None:
        with tempfile.TemporaryDirectory() as logs:
            run(program, logs, **environment)
            written = [path for path in pathlib.Path(logs).glob("events.out.tfevents.*") if path.stat().st_size > 0]
            self.assertEqual(len(written), 1)

    def build_consumer(self, name: str, *options) -> pathlib.Path:
        run("cmake", "-S", CONSUMER, "-B", self.folder / name, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={COMPILER}",
            f"-DCMAKE_BUILD_TYPE={cached('CMAKE_BUILD_TYPE')}", *options)
        run("cmake", "--build", self.folder / name)
        return self.folder / name / "consumer"

    def test_holds_these_files_and_no_other(self):
        headers = {f"include/sonde/{path.name}" for path in (PROJECT / "include/sonde").glob("*.h")}
        self.assertGreater(len(headers), 5)
        minor = VERSION.rpartition(".")[0]
        expected = headers | {
            "bin/sonde", "libexec/sonde/sonde-data-server",
            "lib/libsonde.so", f"lib/libsonde.so.{minor}", f"lib/libsonde.so.{VERSION}",
            "lib/cmake/Sonde/SondeConfig.cmake", "lib/cmake/Sonde/SondeConfigVersion.cmake",
            f"lib/cmake/Sonde/SondeConfig-{cached('CMAKE_BUILD_TYPE').lower()}.cmake",
            "lib/pkgconfig/sonde.pc",
            "share/doc/sonde/LICENSE", "share/doc/sonde/README.md",
        }
        if (BUILD / "lib/sonde/libsonde_openvino.so").exists():  # a build without OpenVINO has none
            expected |= {"lib/sonde/libsonde_openvino.so"}
        expected |= {f"share/doc/sonde/{path.relative_to(PROJECT)}" for path in (PROJECT / "docs").rglob("*.*")}
        expected |= {"share/man/man1/sonde.1"} | {f"share/man/man1/sonde-{name}.1" for name in self.commands()}
        found = {str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if not path.is_dir()}
        self.assertEqual(found, expected)

    def test_names_nothing_private(self):
        for path in [*self.prefix.glob("lib/cmake/Sonde/*"), self.prefix / "lib/pkgconfig/sonde.pc"]:
            text = path.read_text()
            for word in (str(PROJECT), "first place", "simdjson", "isal", "hwy", "PkgConfig", "sonde_options"):
                self.assertNotIn(word, text, path)

    def test_library_shows_only_names_of_sonde(self):
        symbols = run("nm", "-D", "--defined-only", "--format=just-symbols", self.prefix / "lib/libsonde.so").split()
        self.assertGreater(len(symbols), 20)
        own = re.compile(r"_Z(T[VTIS])?N[KRO]*5sonde")
        self.assertEqual([name for name in symbols if not own.match(name)], [])
        modules = "|".join(f"{len(path.name)}{path.name}" for path in (PROJECT / "src").iterdir())
        inside = re.compile(rf"_Z(T[VTIS])?N[KRO]*5sonde({modules})")
        self.assertEqual([name for name in symbols if inside.match(name)], [])

    def test_library_stays_when_a_program_closes_it(self):
        dynamic = run("readelf", "--dynamic", self.prefix / "lib/libsonde.so")
        self.assertIn("NODELETE", dynamic)

    def commands(self) -> list[str]:
        text = run(self.prefix / "bin/sonde", "help")
        table = re.search(r"^Commands\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL).group(1)
        names = [name for name in re.findall(r"^  (\S+)", table, re.MULTILINE) if name != "help"]
        self.assertGreater(len(names), 10)
        return names

    def test_every_command_has_a_manual_page_with_all_its_options(self):
        main = (self.prefix / "share/man/man1/sonde.1").read_text().replace("\\-", "-")
        for name in self.commands():
            self.assertIn(f"\\fBsonde-{name}\\fR(1)", main)
            text = (self.prefix / f"share/man/man1/sonde-{name}.1").read_text().replace("\\-", "-")
            told = run(self.prefix / "bin/sonde", "help", name)
            for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"):
                self.assertIn(f".SH {heading}\n", text, name)
            table = told.partition("\nOptions\n")[2].partition("\nExamples\n")[0]
            options = re.findall(r"^ {2,6}(?:-\w, )?(--[a-z-]+)", table, re.MULTILINE)
            self.assertIn("--help", options)
            for option in options:
                self.assertRegex(text, rf"\\fB(-\w, )?{option}\b", name)

    def test_links_of_the_readme_lead_somewhere(self):
        readme = (self.prefix / "share/doc/sonde/README.md").read_text()
        links = re.findall(r"\]\((docs/[^)#]+)\)", readme)
        self.assertGreater(len(links), 1)
        for link in links:
            self.assertTrue((self.prefix / "share/doc/sonde" / link).exists(), link)

    def test_command_runs(self):
        self.assertIn(VERSION, run(self.prefix / "bin/sonde", "--version"))

    def test_is_found_by_find_package(self):
        self.assert_records(self.build_consumer("find_package", f"-DCMAKE_PREFIX_PATH={self.prefix}"))

    def test_is_found_by_pkg_config(self):
        where = {"PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")}
        self.assertEqual(run("pkg-config", "--modversion", "sonde", **where).strip(), VERSION)
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "sonde", **where))
        run(COMPILER, "-std=c++20", CONSUMER / "main.cc", *flags, "-o", self.folder / "by_pkg_config")
        self.assert_records(self.folder / "by_pkg_config", LD_LIBRARY_PATH=str(self.prefix / "lib"))

    def test_disabled_records_nothing_and_needs_no_library(self):
        for source in (CONSUMER / "main.cc", CONSUMER / "with_policy.cc", CONSUMER / "disabled.cc"):
            for optimization in ("-O0", "-O2"):
                program = self.folder / "disabled"
                run(COMPILER, "-std=c++20", optimization, "-DSONDE_DISABLED", "-I", self.prefix / "include", source,
                    "-o", program)
                with tempfile.TemporaryDirectory() as logs:
                    run(program, logs)
                    self.assertEqual(list(pathlib.Path(logs).iterdir()), [])

    def test_a_part_that_is_disabled_leaves_the_others_alone(self):
        # The library's own functions must not be replaced by the empty ones.
        disabled = ["-DSONDE_DISABLED"]
        for define, source in (([*disabled, "-Dmain=policy_main"], "with_policy"),
                               ([*disabled, "-Dmain=disabled_main"], "disabled"), ([], "with_policy")):
            run(COMPILER, "-std=c++20", *define, "-c", "-I", self.prefix / "include", CONSUMER / f"{source}.cc",
                "-o", self.folder / f"{source}{len(define)}.o")
        program = self.folder / "both"
        run(COMPILER, self.folder / "with_policy2.o", self.folder / "disabled2.o", self.folder / "with_policy0.o",
            "-L", self.prefix / "lib", "-lsonde", "-o", program)
        with tempfile.TemporaryDirectory() as logs:
            run(program, logs, LD_LIBRARY_PATH=str(self.prefix / "lib"))
            self.assertEqual(len(list(pathlib.Path(logs).glob("events.out.tfevents.*"))), 1)

    def compile(self, *options) -> str:
        """What the compiler says about it; it has no need to succeed."""
        return subprocess.run([COMPILER, "-fsyntax-only", "-I", self.prefix / "include", *options], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False).stderr

    def test_an_older_cpp_gets_one_clear_error(self):
        source = self.folder / "older.cc"
        for header in ("sonde.h", "recorder.h", "log.h", "tensor_io.h"):
            source.write_text(f"#include <sonde/{header}>\n")
            errors = [line for line in self.compile("-std=c++17", source).splitlines() if "error:" in line]
            self.assertIn("Sonde needs C++20: compile with -std=c++20", errors[0])
            if header == "sonde.h":
                self.assertEqual(len(errors), 1, errors)

    def test_sonde_h_brings_the_reader(self):
        source = self.folder / "reader.cc"
        source.write_text("#include <sonde/sonde.h>\n"
                          "auto open_log = &sonde::Log::open;\n"
                          "auto load_tensor = &sonde::load_npy;\n"
                          "auto open_capture = &sonde::Capture::open;\n")
        self.assertEqual(self.compile("-std=c++20", source), "")

    def test_eigen_expressions_with_storage_are_recorded(self):
        eigen = shlex.split(run("pkg-config", "--cflags", "eigen3").replace("-I", "-isystem"))
        program = self.folder / "eigen"
        run(COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I", self.prefix / "include", *eigen,
            CONSUMER / "eigen.cc", "-L", self.prefix / "lib", "-lsonde", "-o", program)
        self.assert_records(program, LD_LIBRARY_PATH=str(self.prefix / "lib"))
        errors = [line for line in self.compile("-std=c++20", *eigen, "-DCOMPUTED", CONSUMER / "eigen.cc").splitlines()
                  if "error:" in line]
        self.assertEqual(len(errors), 1, errors)
        self.assertIn("has no storage of its own. Evaluate it", errors[0])

    def test_sources_are_taken_by_add_subdirectory(self):
        # The same sources with the same flags as the build under test: the compiler's cache holds them already.
        launcher = shutil.which("ccache") or ""
        program = self.build_consumer("subdirectory", f"-DSONDE_SUBDIRECTORY={PROJECT}",
                                      f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}")
        self.assert_records(program)
        self.assertFalse((self.folder / "subdirectory/bin/sonde").exists())
        self.assertFalse((self.folder / "subdirectory/sonde/bin/sonde").exists())
        self.assertIn("Total Tests: 0", run("ctest", "--test-dir", self.folder / "subdirectory", "-N"))

    def test_each_header_compiles_alone(self):
        compilers = [COMPILER, *filter(None, [shutil.which("clang++-19")])]
        headers = sorted(path.name for path in (self.prefix / "include/sonde").iterdir())
        self.assertGreater(len(headers), 5)

        def compile_alone(compiler: str, header: str, define: list[str]) -> None:
            source = self.folder / f"{pathlib.Path(compiler).name}-{header}{''.join(define)}.cc"
            source.write_text(f"#include <sonde/{header}>\n")
            eigen = shlex.split(run("pkg-config", "--cflags", "eigen3").replace("-I", "-isystem"))
            run(compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *define,
                "-I", self.prefix / "include", *(eigen if header == "eigen.h" else []), source)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = [pool.submit(compile_alone, compiler, header, define) for compiler in compilers
                    for header in headers for define in ([], ["-DSONDE_DISABLED"])]
            for job in jobs:
                job.result()


if __name__ == "__main__":
    unittest.main()
