"""sonde tail: the table, and what comes in while it runs."""

import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

import logs
from command import SONDE, Case

PATIENCE = 60  # seconds, for a machine that has much else to do


class Once(Case):
    def test_a_line_for_each_scalar(self):
        with logs.Writer(self.path("logs/train")) as writer:
            for step in range(100):
                writer.scalar("loss", 1 / (step + 1), step, time.time() - 50 + step / 2)
            writer.scalar("rate", 0.5, 10)
        lines = self.output("tail", "logs", "--once").splitlines()
        self.assertRegex(lines[0], r"^run +tag +step +value +history +steps +ago$")
        self.assertRegex(lines[1], r"^train  loss +99 +0\.01  \S{24} +2/s +(now|[\d.]+ \w+)$")
        self.assertRegex(lines[2], r"^train  rate +10 +0\.5 ")
        self.assertEqual(len(lines), 3)

    def test_prints_all_digits_for_programs_and_three_for_people(self):
        with logs.Writer(self.path("logs")) as writer:
            writer.scalar("single", 1 / 3, 0)
            writer.double("double", 1 / 3, 0)
        text = self.output("tail", "logs", "--once")
        self.assertRegex(text, r"(?m)^\. +single +0 +0\.33333334 ")
        self.assertRegex(text, r"(?m)^\. +double +0 +0\.3333333333333333 ")
        self.assertRegex(self.on_terminal("tail", "logs", "--once", NO_COLOR="1"), r"single +0 +0\.333 ")

    def test_the_history_falls_where_the_values_do(self):
        with logs.Writer(self.path("logs")) as writer:
            for step in range(8):
                writer.scalar("loss", 8 - step, step)
        text = self.on_terminal("tail", "logs", "--once", LANG="C.UTF-8")
        self.assertIn("\u2588\u2587\u2586\u2585\u2584\u2583\u2582\u2581", text)
        self.assertTrue(self.on_terminal("tail", "logs", "--once", LANG="C").isascii())

    def test_values_that_are_not_finite_raise_the_alarm(self):
        with logs.Writer(self.path("logs")) as writer:
            for step in range(10):
                writer.scalar("loss", float("nan") if step in (4, 7) else 1, step)
            writer.scalar("end", float("-inf"), 3)
        text = self.output("tail", "logs", "--once")
        self.assertIn("NaN x 2, first at step 4", text)
        self.assertRegex(text, r"(?m)-Infinity .*!.* Inf at step 3$")
        self.assertIn("\x1b[31mNaN x 2 at step 4", self.on_terminal("tail", "logs", "--once"))

    def test_fits_the_terminal(self):
        with logs.Writer(self.path("logs/" + "run" * 20)) as writer:
            writer.scalar("tag" * 20, 1, 0)
        for line in self.on_terminal("tail", "logs", "--once", NO_COLOR="1").splitlines():
            self.assertLessEqual(len(line), 80)

    def test_a_long_alarm_leaves_the_names_readable(self):
        with logs.Writer(self.path("logs/train")) as writer:
            for step in range(1_000_000, 1_000_100):
                writer.scalar("validation/loss", float("nan") if step % 2 else float("inf"), step)
            writer.scalar("accuracy/top-5", 1, 0)
        lines = self.on_terminal("tail", "logs", "--once", NO_COLOR="1").splitlines()
        self.assertRegex(lines[1], r"^train  accuracy/top-5 ")
        self.assertRegex(lines[2], r"^train  validation/loss .* NaN, Inf$")
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertIn("NaN, Inf x 100, first at step 1000000", self.output("tail", "logs", "--once"))

    def test_says_what_is_damaged(self):
        with logs.Writer(self.path("logs/train")) as writer:
            for step in range(5):
                writer.scalar("loss", 1, step)
        logs.damage(writer.path, 2, 4)
        result = self.run_sonde("tail", "logs", "--once")
        self.assertEqual((result.returncode, result.stderr),
                         (0, "sonde: 2 damaged places left out: 'sonde check logs/train' shows where\n"))

    def test_says_what_cannot_be_read(self):
        with logs.Writer(self.path("logs/train")) as writer:
            writer.scalar("loss", 1, 0)
        os.chmod(writer.path, 0)
        listed = self.run_unprivileged("ls", "logs")
        for more in ((), ("--tags", "loss")):
            result = self.run_unprivileged("tail", "logs", "--once", *more)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("Permission denied", result.stderr)
            self.assertIn(listed.stderr, result.stderr)

    def test_chooses_runs_and_tags(self):
        text = self.output("tail", str(logs.GOLDEN / "torch"), "--once", "--runs", "train", "--tags", "loss/.*")
        self.assertEqual([line.split()[1] for line in text.splitlines()[1:]],
                         ["loss/eval", "loss/high", "loss/low", "loss/train"])
        self.assertIn("no tag matches", self.error("tail", str(logs.GOLDEN / "torch"), "--once", "--tags", "nothing"))

    def test_without_scalars(self):
        os.mkdir(self.path("empty"))
        self.assertEqual(self.output("tail", "empty", "--once"), "There are no scalars in 'empty'.\n")
        self.assertIn("No such file", self.error("tail", "nowhere", "--once"))
        self.assertIn("No such file", self.error("tail", "nowhere"))


class Live(Case):
    def start(self, output, *arguments):
        process = subprocess.Popen([SONDE, "tail", *arguments], stdout=output, stderr=subprocess.PIPE, cwd=self.folder,
                                   env={**self.environment, "TERM": "xterm", "NO_COLOR": "1"})
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, descriptor, pattern):
        """Everything that was printed up to the first match."""
        text, end = "", time.monotonic() + PATIENCE
        while not re.search(pattern, text):
            self.assertLess(time.monotonic(), end, f"no {pattern!r} in {text!r}")
            if select.select([descriptor], [], [], 0.1)[0]:
                text += os.read(descriptor, 65536).decode()
        return text

    def test_appends_a_line_for_each_new_point_if_there_is_no_terminal(self):
        with logs.Writer(self.path("logs/train")) as writer:
            writer.scalar("loss", 1, 1)
            writer.scalar("loss", 0.5, 2)
            process = self.start(subprocess.PIPE, "logs")
            self.addCleanup(process.stdout.close)
            output = process.stdout.fileno()
            first = self.wait_for(output, r"\n")
            self.assertEqual(first, "2023-11-14T22:13:22Z\ttrain\tloss\t2\t0.5\n")
            writer.scalar("loss", 0.25, 3)
            self.wait_for(output, r"\ttrain\tloss\t3\t0\.25\n")
            with logs.Writer(self.path("logs/later")) as other:  # a run that appears while it looks
                other.scalar("x", float("nan"), 0)
                self.wait_for(output, r"\tlater\tx\t0\tNaN\n")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertEqual(process.stderr.read(), b"")

    def test_points_with_the_same_time_are_all_appended(self):
        with logs.Writer(self.path("logs")) as writer:
            writer.scalar("loss", 0, 0, 1.7e9)
            process = self.start(subprocess.PIPE, "logs")
            self.addCleanup(process.stdout.close)
            output = process.stdout.fileno()
            self.wait_for(output, r"\tloss\t0\t0\n")
            for step in range(1, 4):
                writer.scalar("loss", step, step, 1.7e9)
                self.assertEqual(self.wait_for(output, r"\n"), f"2023-11-14T22:13:20Z\t.\tloss\t{step}\t{step}\n")
            writer.scalar("loss", 0.5, 1, 1.6e9)  # a restart, and a clock that went back
            self.wait_for(output, r"\tloss\t1\t0\.5\n")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_redraws_a_table_on_a_terminal_and_leaves_it_as_it_was(self):
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        with logs.Writer(self.path("logs/train")) as writer:
            writer.scalar("loss", 1, 1)
            process = self.start(follower, "logs")
            os.close(follower)
            text = self.wait_for(leader, r"train +loss +1 +1 ")
            self.assertIn("\x1b[?25l", text)
            writer.scalar("loss", 0.5, 2)
            self.assertRegex(self.wait_for(leader, r"train +loss +2 +0\.5 "), r"\x1b\[\dA")  # over the last one
        process.send_signal(signal.SIGINT)
        self.wait_for(leader, r"\x1b\[\?25h")
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_says_what_is_damaged(self):
        with logs.Writer(self.path("logs/train")) as writer:
            for step in range(5):
                writer.scalar("loss", 1, step)
        logs.damage(writer.path, 2)
        sentence = "1 damaged place left out: 'sonde check logs/train' shows where"
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        self.start(follower, "logs")
        os.close(follower)
        self.assertIn(sentence, self.wait_for(leader, "Ctrl-C stops it"))
        process = self.start(subprocess.PIPE, "logs")
        self.addCleanup(process.stdout.close)
        self.assertEqual(self.wait_for(process.stderr.fileno(), r"\n"), f"sonde: {sentence}\n")

    def test_waits_for_the_first_run(self):
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        os.mkdir(self.path("logs"))
        process = self.start(follower, "logs", "--runs", "late.*")
        os.close(follower)
        self.wait_for(leader, "waiting for scalars")
        with logs.Writer(self.path("logs/late")) as writer:
            writer.scalar("loss", 1, 1)
            self.wait_for(leader, r"late +loss +1 ")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE), 0)


if __name__ == "__main__":
    unittest.main()
