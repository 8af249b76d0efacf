"""tools/check_layers finds each kind of violation when one is planted, and none in the project as it is."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(os.environ["SONDE_SOURCE_DIR"])


def check(folder: pathlib.Path) -> subprocess.CompletedProcess:
    command = [sys.executable, PROJECT / "tools/check_layers", folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class TheProject(unittest.TestCase):
    def test_breaks_no_rule(self):
        done = check(PROJECT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class APlantedViolation(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("src", "include", "apps", "examples"):
            shutil.copytree(PROJECT / name, self.folder / name)
        shutil.copy(PROJECT / "CMakeLists.txt", self.folder)

    def plant(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(exist_ok=True)
        (self.folder / path).write_text(text)

    def replace(self, path: str, old: str, new: str) -> None:
        text = (self.folder / path).read_text()
        self.assertIn(old, text)
        (self.folder / path).write_text(text.replace(old, new))

    def assert_found(self, *parts: str) -> None:
        """One problem, and its line holds all the parts."""
        done = check(self.folder)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        problems = done.stderr.splitlines()
        self.assertEqual(len(problems), 1, done.stderr)
        for part in parts:
            self.assertIn(part, problems[0])

    def assert_clean(self) -> None:
        done = check(self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_nothing_planted_is_clean(self):
        self.assert_clean()

    def test_a_lower_room_includes_a_higher_one(self):
        self.plant("src/base/planted.h", '// first\n#include "tensor/copy.h"\n')
        self.assert_found("src/base/planted.h:2:", "tensor")

    def test_angle_brackets_are_no_way_around(self):
        self.plant("src/base/planted.h", "#include <tensor/copy.h>\n")
        self.assert_found("src/base/planted.h:1:", "tensor")

    def test_a_room_includes_a_lower_one_that_it_does_not_name(self):
        self.plant("src/policy/planted.h", '#include "render/array.h"\n')
        self.assert_found("src/policy/planted.h:1:", "render")

    def test_a_test_includes_a_higher_room(self):
        self.plant("src/tensor/planted_test.cc", '#include "record/recorder.h"\n')
        self.assert_found("src/tensor/planted_test.cc:1:", "record")

    def test_questions_include_the_index(self):
        self.plant("src/query/planted.cc", '#include "index/run_index.h"\n')
        self.assert_found("src/query/planted.cc:1:", "index")

    def test_tests_of_questions_may_include_the_index(self):
        self.plant("src/query/planted_test.cc", '#include "index/index_testing.h"\n')
        self.assert_clean()

    def test_questions_open_a_directory(self):
        self.plant("src/query/planted.cc", '#include "base/directory.h"\n')
        self.assert_found("src/query/planted.cc:1:", "store/source.h")

    def test_an_include_without_its_room(self):
        self.plant("src/base/planted.h", '#include "bytes.h"\n')
        self.assert_found("src/base/planted.h:1:", '"base/bytes.h"')

    def test_base_calls_the_system_beside_its_file_system(self):
        for call in ("::open(path, 0)", "::fdatasync(fd)", "::mmap(nullptr, 1, 1, 1, 3, 0)", "std::rename(a, b)"):
            self.plant("src/base/planted.cc", f"int x = {call};\n")
            self.assert_found("src/base/planted.cc:1:", call.split("(")[0], "only base/file_system.cc")

    def test_rooms_that_name_each_other(self):
        self.replace("src/tensor/CMakeLists.txt", "MODULES base", "MODULES base stats")
        self.assert_found("src/tensor/CMakeLists.txt", "stats", "not a lower module")

    def test_a_room_that_the_build_does_not_know(self):
        self.plant("src/attic/planted.cc", "")
        self.assert_found("CMakeLists.txt", "src/attic")

    def test_a_room_under_another_name(self):
        self.replace("src/policy/CMakeLists.txt", "sonde_module(policy", "sonde_module(rules")
        done = check(self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no sonde_module(policy ...)", done.stderr)

    def test_the_reading_side_names_the_writing_side(self):
        self.replace("src/index/CMakeLists.txt", "MODULES base", "MODULES sinks base")
        self.assert_found("src/index/CMakeLists.txt", "sinks", "meet only on disk")

    def test_a_public_header_includes_a_room(self):
        self.plant("include/sonde/planted.h", '#include "base/bytes.h"\n')
        self.assert_found("include/sonde/planted.h:1:", "base/bytes.h")

    def test_a_public_header_includes_another_library(self):
        self.plant("include/sonde/planted.h", "#include <protozero/pbf_writer.hpp>\n")
        self.assert_found("include/sonde/planted.h:1:", "protozero")

    def test_a_public_header_includes_an_optional_one(self):
        self.plant("include/sonde/planted.h", '#include "sonde/eigen.h"\n')
        self.assert_found("include/sonde/planted.h:1:", "sonde/eigen.h", "not every user")

    def test_a_public_header_includes_the_operating_system(self):
        self.plant("include/sonde/planted.h", "#include <unistd.h>\n")
        self.assert_found("include/sonde/planted.h:1:", "unistd.h")

    def test_files_opened_outside_base(self):
        for code in ('std::ifstream in("x");', "std::ofstream out;", 'std::fopen("x", "r");', 'int f = ::open("x", 0);',
                     'std::filesystem::remove("x");', "#include <fstream>"):
            with self.subTest(code):
                self.plant("src/formats/planted.cc", f"/* two\n   lines */\n{code}\n")
                self.assert_found("src/formats/planted.cc:3:", "only base opens files")

    def test_files_opened_by_an_app(self):
        self.plant("apps/sonde/planted.cc", 'std::ifstream in("x");\n')
        self.assert_found("apps/sonde/planted.cc:1:", "only base opens files")

    def test_an_app_that_lists_a_folder_is_clean(self):
        self.plant("apps/sonde/planted.cc", 'bool there = std::filesystem::exists("x");\n')
        self.assert_clean()

    def test_threads_started_outside_base(self):
        for code in ("std::thread t;", "std::jthread t;", "auto f = std::async(g);"):
            with self.subTest(code):
                self.plant("src/record/planted.cc", code)
                self.assert_found("src/record/planted.cc:1:", "threads come from base")

    def test_accepts_the_same_words_in_harmless_places(self):
        self.plant("src/base/planted.cc", 'std::ifstream in("x");\nstd::jthread t;\n')
        self.plant("src/formats/planted_test.cc", 'std::ifstream in("x");\nstd::thread t;\n')
        self.plant("src/record/planted.cc",
                   '// std::thread, ::open(\nauto r = Recorder::open("std::ofstream");\nstd::thread::id owner;\n')
        self.assert_clean()

    def test_a_module_declares_its_names_in_the_public_namespace(self):
        self.plant("src/base/planted.h", "// first\nnamespace sonde {\nvoid planted();\n}  // namespace sonde\n")
        self.assert_found("src/base/planted.h:2:", "include/sonde", "sonde::base")

    def test_a_module_declares_a_type_of_its_own_in_the_public_namespace(self):
        self.plant("src/base/planted.h", "namespace sonde {\nclass Planted;\n}  // namespace sonde\n")
        self.assert_found("src/base/planted.h:1:", "include/sonde")

    def test_public_types_may_be_declared_in_the_public_namespace(self):
        self.plant("src/base/planted.h", "namespace sonde {\nclass Recorder;\nenum class Kind : int;\n}\n"
                                         "namespace sonde::base {\nvoid planted();\n}  // namespace sonde::base\n")
        self.assert_clean()

    def test_a_name_in_a_run_directory_outside_its_one_file(self):
        for code in ('auto p = join_path(run, "captures");', 'if (entry.name == "tensors") return;',
                     'auto p = "tables/" + name;', 'bool r = name.ends_with(".ring");',
                     'auto p = "events.out.tfevents." + writer;', 'auto c = "control.toml";'):
            with self.subTest(code):
                self.plant("src/query/planted.cc", f"// one\n{code}\n")
                self.assert_found("src/query/planted.cc:2:", "src/formats/run_layout.h")

    def test_the_same_words_that_name_no_file(self):
        self.plant("src/query/planted.cc",
                   '// join_path(run, "captures")\n#include "formats/tfevents.h"\njson.key("tensors").text("a .ring b");\n')
        self.assert_clean()

    def test_an_example_includes_a_room(self):
        self.plant("examples/planted.cc", '#include "sonde/sonde.h"\n#include "base/bytes.h"\n')
        self.assert_found("examples/planted.cc:2:", "base/bytes.h")

    def test_a_folder_without_sources(self):
        shutil.rmtree(self.folder / "examples")
        self.assert_found("examples", "nothing to check")

    def test_a_project_without_modules(self):
        self.replace("CMakeLists.txt", "foreach(module", "foreach(chamber")
        done = check(self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing to check", done.stderr)


if __name__ == "__main__":
    unittest.main()
