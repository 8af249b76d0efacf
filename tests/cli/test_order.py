"""Points that are not in the order of their steps: what was recorded is what every command shows."""

import collections
import csv
import io
import os
import subprocess
import unittest

from command import Case

RECORDER = os.environ["SONDE_ORDER_RECORDER"]


class Order(Case):
    def record(self, *arguments):
        subprocess.run([RECORDER, *map(str, arguments)], cwd=self.folder, check=True, timeout=60)

    def entry(self):
        return self.json("ls", "logs")["runs"][0]["tags"][0]

    def exported(self, *arguments):
        """(step, value) of every row."""
        rows = csv.DictReader(io.StringIO(self.output("export", "logs", "--format", "csv", *arguments)))
        return [(int(row["step"]), float(row["value"])) for row in rows]

    def test_eight_threads_lose_no_point(self):
        count = 80_000
        self.record("threads", "logs/a", count)
        entry = self.entry()
        self.assertEqual((entry["points"], entry["first_step"], entry["last_step"], entry["written_again"]),
                         (count, 0, count - 1, 0))
        self.assertEqual(self.exported(), [(step, float(step)) for step in range(count)])
        self.assertNotIn("restart", self.output("ls", "logs"))

    def test_children_of_a_fork_are_no_restarts(self):
        self.record("fork", "logs/a", 100)
        entry = self.entry()
        self.assertEqual((entry["points"], entry["written_again"]), (500, 0))
        steps = [step for step, _ in self.exported()]
        self.assertEqual(steps, sorted(steps))
        self.assertEqual(collections.Counter(steps),
                         collections.Counter([*range(100)] * 4 + [*range(100, 200)]))

    def test_a_restart_replaces_repeated_steps_and_ls_says_so(self):
        self.record("steps", "logs/a", 0, 799)
        self.record("steps", "logs/a", 460, 499)
        entry = self.entry()
        self.assertEqual((entry["points"], entry["last_step"], entry["written_again"]), (500, 499, 340))
        self.assertIn("! 340 of 840 points were written again after a restart", self.output("ls", "logs"))
        self.assertEqual([step for step, _ in self.exported()], [*range(500)])
        self.assertEqual(len(self.exported("--history", "all")), 840)


if __name__ == "__main__":
    unittest.main()
