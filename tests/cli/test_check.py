"""sonde check: all damage is found and named, and a repaired copy keeps every intact record."""

import filecmp
import os
import pathlib
import shutil
import signal
import struct
import unittest

from tensorboard.compat.proto import summary_pb2, tensor_pb2, types_pb2
from tensorboard.summary.writer.record_writer import RecordWriter, masked_crc32c

import logs
from command import Case

EVENTS = "events.out.tfevents.1700000000.host.1.0"


class Check(Case):
    def write(self, name, content):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def small_log(self):
        """The content of a log of one small file, and its records."""
        content = (logs.GOLDEN / "torch" / EVENTS).read_bytes()
        return content, logs.records(content)

    def record_with(self, payload):
        """The bytes of one intact record."""
        path = self.path("record")
        with open(path, "wb") as file:
            RecordWriter(file).write(payload)
            file.flush()
        with open(path, "rb") as file:
            return file.read()


class Sound(Check):
    def test_the_logs_of_every_writer_are(self):
        for writer in logs.WRITERS:
            files = [path for paths in logs.event_files(logs.GOLDEN / writer).values() for path in paths]
            answer = self.json("check", str(logs.GOLDEN / writer))
            self.assertEqual(answer, {
                "verdict": "sound", "files": len(files), "bytes": sum(path.stat().st_size for path in files),
                "records": sum(len(logs.records(path.read_bytes())) for path in files), "damage": [],
                "unreadable": []})

    def test_our_own_logs_with_statistics_are(self):
        self.run_sonde("demo", "--dir", "demo", "--steps", "20", "--no-serve")
        self.assertTrue(list(pathlib.Path(self.path("demo")).rglob("stats.*.tfrecord")))
        self.assertTrue(self.output("check", "demo").endswith("everything is intact\n"))

    def test_an_empty_event_file_is_and_is_named(self):
        self.write("logs/" + EVENTS, b"")
        self.assertEqual(self.json("check", "logs")["records"], 0)
        self.assertIn(f"\n'logs/{EVENTS}' is empty\neverything is intact\n", self.output("check", "logs"))

    def test_a_single_file_may_be_named(self):
        content, records = self.small_log()
        self.write(EVENTS, content)
        self.assertEqual(self.json("check", EVENTS)["records"], len(records))
        self.write("renamed", content)
        self.assertEqual(self.json("check", "renamed")["records"], len(records))

    def test_a_file_larger_than_the_read_buffer_is(self):
        with logs.Writer(self.path("logs")) as writer:
            for step in range(3):
                writer.scalar("x", 1, 2 * step)
                writer.image("large", os.urandom(9_000_000), 2 * step + 1)
        answer = self.json("check", "logs")
        self.assertEqual((answer["records"], answer["damage"]), (7, []))


class Damaged(Check):
    def test_every_single_byte_is_found_and_costs_its_record_only(self):
        content, records = self.small_log()
        for position in range(len(content)):
            damaged = bytearray(content)
            damaged[position] ^= 0x55
            self.write("logs/" + EVENTS, damaged)
            answer = self.json("check", "logs", "--repair", "out", code=1)
            hit = [(offset, size) for offset, size in records if offset <= position < offset + size]
            self.assertEqual([(place["offset"], place["size"]) for place in answer["damage"]], hit)
            rest = b"".join(content[offset:offset + size] for offset, size in records if (offset, size) not in hit)
            self.assertEqual(self.read("out/" + EVENTS), rest)
            shutil.rmtree(self.path("out"))

    def test_every_truncation_is_found_and_may_be_a_record_that_is_being_written(self):
        content, records = self.small_log()
        ends = {offset for offset, _ in records}
        for length in range(1, len(content)):
            path = self.write("logs/" + EVENTS, content[:length])
            answer = self.json("check", "logs", code=0 if length in ends else 1)
            begin = max(offset for offset in ends if offset <= length)
            expected = [] if length in ends else [
                {"file": os.path.relpath(path, self.folder), "offset": begin, "size": length - begin,
                 "reason": "the file ends in the middle of a record: cut off, or still being written",
                 "unfinished": True}]
            self.assertEqual(answer["damage"], expected)

    def test_a_length_of_petabytes_allocates_nothing(self):
        content, records = self.small_log()
        length = (2**63 - 1).to_bytes(8, "little")
        for checksum in (b"\0" * 4, struct.pack("<I", masked_crc32c(length))):
            self.write("logs/" + EVENTS, content + length + checksum + content)
            answer = self.json("check", "logs", code=1)
            self.assertEqual([(place["offset"], place["size"]) for place in answer["damage"]], [(len(content), 12)])
            self.assertEqual(answer["records"], 2 * len(records))

    def test_a_payload_that_is_no_event(self):
        content, records = self.small_log()
        bad = self.record_with(b"\xff\xff\xff")
        self.write("logs/" + EVENTS, content + bad + content)
        answer = self.json("check", "logs", code=1)
        self.assertEqual(answer["records"], 2 * len(records))
        self.assertEqual([(place["offset"], place["size"]) for place in answer["damage"]], [(len(content), len(bad))])
        self.assertIn("the event cannot be decoded", answer["damage"][0]["reason"])

    def test_a_scalar_that_is_no_number(self):
        metadata = summary_pb2.SummaryMetadata(plugin_data={"plugin_name": "scalars"})
        tensor = tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, string_val=[b"x"])
        with logs.Writer(self.path("logs")) as writer:
            writer.scalar("good", 1, 0)
            writer.summary(summary_pb2.Summary.Value(tag="bad", metadata=metadata, tensor=tensor), 1)
        self.assertIn("the value of the scalar 'bad'", self.json("check", "logs", code=1)["damage"][0]["reason"])

    def test_statistics(self):
        self.run_sonde("demo", "--dir", "demo", "--steps", "20", "--no-serve")
        path = next(pathlib.Path(self.path("demo")).rglob("stats.*.tfrecord"))
        content = bytearray(path.read_bytes())
        offset, size = logs.records(content)[5]
        content[offset + 30] ^= 4
        wrong = self.record_with(b"\1\1\2\0")  # a step that ends too early
        path.write_bytes(content + wrong)
        answer = self.json("check", "demo", code=1)
        self.assertEqual([(place["offset"], place["size"]) for place in answer["damage"]],
                         [(offset, size), (len(content), len(wrong))])
        self.assertIn("the statistics cannot be decoded", answer["damage"][1]["reason"])

    def test_is_printed_with_file_offset_size_and_reason(self):
        content, records = self.small_log()
        damaged = bytearray(content)
        damaged[records[2][0] + 14] ^= 1
        self.write("logs/a/" + EVENTS, damaged)
        self.write("logs/b/" + EVENTS, content)
        result = self.run_sonde("check", "logs")
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        self.assertIn(f"\nlogs/a/{EVENTS}\n  at {records[2][0]}  {records[2][1]} bytes  "
                      "the checksum of the payload is wrong\n", result.stdout)
        self.assertIn("1 damaged place in 1 file", result.stdout)
        self.assertNotIn("logs/b", result.stdout)
        self.assertIn("\x1b[31m", self.on_terminal("check", "logs", code=1))


class Repair(Check):
    def damaged_copy(self):
        folder = logs.copy_of("torch", self.folder)
        path = logs.event_files(folder)["train"][0]
        content = bytearray(path.read_bytes())
        records = logs.records(content)
        for number in (4, 30, 90):
            content[records[number][0] + 20] ^= 0x80
        path.write_bytes(content[:-7])
        return folder, path.relative_to(folder), content, records

    def test_is_sound_and_keeps_every_sound_record(self):
        folder, name, content, records = self.damaged_copy()
        result = self.run_sonde("check", "torch", "--repair", "clean")
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        self.assertIn("4 damaged places in 1 file", result.stdout)
        self.assertEqual(self.json("check", "clean")["verdict"], "sound")
        kept = [record for number, record in enumerate(records[:-1]) if number not in (4, 30, 90)]
        self.assertEqual(self.read(f"clean/{name}"), b"".join(content[at:at + size] for at, size in kept))
        self.assertEqual(self.json("ls", "clean")["runs"][0]["damage"], 0)
        self.assertEqual(sorted(os.listdir(self.folder)), ["clean", "torch"])
        self.assertEqual((pathlib.Path(folder) / name).read_bytes(), content[:-7], "the log is not touched")

    def test_copies_all_other_files_as_they_are(self):
        _, name, _, _ = self.damaged_copy()
        self.write("torch/train/checkpoints/a.safetensors", os.urandom(1000))
        self.write("torch/notes.txt", b"hello")
        self.run_sonde("check", "torch", "--repair", "clean")
        comparison = filecmp.dircmp(self.path("torch"), self.path("clean"))
        different = []

        def compare(node):
            self.assertEqual((node.left_only, node.right_only), ([], []))
            _, mismatch, errors = filecmp.cmpfiles(node.left, node.right, node.common_files, shallow=False)
            different.extend(os.path.relpath(os.path.join(node.left, one), self.path("torch"))
                             for one in mismatch + errors)
            for below in node.subdirs.values():
                compare(below)

        compare(comparison)
        self.assertEqual(different, [str(name)])

    def test_of_a_sound_log_is_a_copy(self):
        text = self.output("check", str(logs.GOLDEN / "keras"), "--repair", "copy")
        self.assertIn("nothing left out", text)
        self.assertEqual(self.json("ls", "copy"), self.json("ls", str(logs.GOLDEN / "keras")))

    def test_of_a_single_file(self):
        content, records = self.small_log()
        self.write(EVENTS, content[:-1])
        self.json("check", EVENTS, "--repair", "clean", code=1)
        self.assertEqual(self.read("clean"), content[:records[-1][0]])

    def test_writes_something_new_only(self):
        content, _ = self.small_log()
        self.write("logs/" + EVENTS, content)
        self.write("full/x", b"x")
        self.assertIn("'full' already exists", self.error("check", "logs", "--repair", "full"))
        self.assertIn("'full/x' already exists", self.error("check", "logs/" + EVENTS, "--repair", "full/x"))
        self.assertIn("'logs/out' is inside 'logs'", self.error("check", "logs", "--repair", "logs/out"))
        os.symlink("logs", self.path("link"))
        self.assertIn("is inside", self.error("check", "logs", "--repair", "link/out"))
        os.mkdir(self.path("empty"))
        self.output("check", "logs", "--repair", "empty")
        self.assertEqual(os.listdir(self.path("empty")), [EVENTS])
        self.assertIn("--repair needs a value", self.error("check", "logs", "--repair", ""))
        self.output("check", "logs", "--repair", "logs-clean")  # begins with the same letters, but is beside it

    def test_continues_if_another_file_cannot_be_read(self):
        content, records = self.small_log()
        self.write("logs/" + EVENTS, content)
        self.write("logs/a-secret", b"x")
        os.chmod(self.write("logs/program", b"y"), 0o755)
        os.chmod(self.path("logs/a-secret"), 0)
        result = self.run_unprivileged("check", "logs", "--repair", "clean")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"\Asonde: [^\n]*'logs/a-secret'[^\n]*Permission denied\n\Z")
        self.assertIn("a copy, without what cannot be read", result.stdout)
        self.assertEqual(sorted(os.listdir(self.path("clean"))), [EVENTS, "program"])
        self.assertEqual(self.read("clean/" + EVENTS), content)
        self.assertEqual(os.stat(self.path("clean/program")).st_mode & 0o777, 0o755)

    def test_leaves_nothing_behind_when_it_is_interrupted(self):
        content, _ = self.small_log()
        self.write("logs/" + EVENTS, content)
        with open(self.path("logs/large"), "wb") as file:
            file.truncate(1 << 28)
        for number in (signal.SIGINT, signal.SIGTERM):
            code = self.interrupt(number, "check", "logs", "--repair", "clean")
            self.assertIn(code, (0, -number))  # a fast machine may be done before
            self.assertEqual(sorted(os.listdir(self.folder)), ["clean", "logs"] if code == 0 else ["logs"])
            shutil.rmtree(self.path("clean"), ignore_errors=True)


class Cannot(Check):
    def test_reading_a_missing_directory(self):
        self.assertIn("there is no file or directory 'nowhere'", self.error("check", "nowhere"))
        os.mkdir(self.path("empty"))
        self.assertIn("no event or statistics files", self.error("check", "empty"))
        self.write("other", b"something else")
        self.assertIn("'other' is not an event or statistics file", self.error("check", "other"))

    def test_send_control_characters_to_the_terminal(self):
        content, records = self.small_log()
        name = "logs\x1b[31m\n/run\x9b/" + EVENTS
        path = self.write(name, content)
        logs.damage(path, 1)
        for arguments in (("check", "logs\x1b[31m\n"), ("ls", "logs\x1b[31m\n"), ("export", "logs\x1b[31m\n"),
                          ("tail", "--once", "logs\x1b[31m\n"), ("ls", "no\x1b]0;x\a\n"), ("no\x1b", ),
                          ("ls", "logs\x1b[31m\n", "--runs", "run\x9c")):
            result = self.run_sonde(*arguments)
            seen = result.stderr + ("" if arguments[0] == "export" else result.stdout)
            self.assertIn("\\x", seen)
            self.assertNotRegex(seen, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
            self.assertRegex(result.stderr, r"\A(sonde: [^\n]+\n)*\Z")

    def test_follow_links_in_circles(self):
        content, records = self.small_log()
        self.write("logs/a/" + EVENTS, content)
        os.symlink("..", self.path("logs/a/up"))
        self.assertEqual(self.json("check", "logs")["records"], len(records))

    def test_look_into_a_directory_without_permission(self):
        content, _ = self.small_log()
        self.write("logs/open/" + EVENTS, content)
        self.write("logs/closed/" + EVENTS, content)
        os.chmod(self.path("logs/closed"), 0)
        self.addCleanup(os.chmod, self.path("logs/closed"), 0o755)

        def run(*arguments):
            result = self.run_unprivileged(*arguments)
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, r"\Asonde: [^\n]*'[^\n]*closed'[^\n]*Permission denied\n\Z")
            return result.stdout

        self.assertIn("intact record", run("check", "logs"))  # readable files are still checked
        self.assertIn("at the root", run("ls", "logs"))
        self.assertIn("open,at the root", run("export", "logs"))
        for arguments in (("check",), ("ls",), ("export",), ("tail", "--once")):
            self.assertEqual(run(*arguments, "logs/closed"), "")


if __name__ == "__main__":
    unittest.main()
