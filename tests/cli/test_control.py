"""sonde arm, trigger and policy: a job that runs is changed, or nothing is."""

import glob
import os
import pathlib
import subprocess
import threading
import time
import unittest

from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import crc32c

from command import SONDE, Case

RECORDER = os.environ["SONDE_LIVE_RECORDER"]
POLICY = '[[watch]]\ntensors = "dense_1/out"\nevery = 10\nrecord = ["stats", "whole"]\n'


class Job:
    """A recorder at work, with the loss at our command."""

    def __init__(self, case, *arguments):
        self._process = subprocess.Popen([RECORDER, *arguments], cwd=case.folder, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        case.addCleanup(self.end)
        case.assertEqual(self._process.stdout.readline(), "running\n")

    def jump(self):
        self._process.stdin.write("j")
        self._process.stdin.flush()

    def kill(self):
        self._process.kill()
        self._process.communicate(timeout=60)

    def end(self):
        """What it said on standard error."""
        if self._process.stdin.closed:
            return ""
        return self._process.communicate(timeout=60)[1]


def until(holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError("it did not come true")
        time.sleep(0.02)


class ControlCase(Case):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("run"))
        self.control = pathlib.Path(self.path("run/control.toml"))

    def write(self, name, text):
        pathlib.Path(self.path(name)).write_text(text, encoding="utf-8")

    def captures(self):
        return sorted(os.path.basename(path) for path in glob.glob(self.path("run/captures/*-*"))
                      if os.path.exists(path + "/capture.json"))


class Arm(ControlCase):
    def test_makes_a_running_job_save_a_capture(self):
        job = Job(self, "run")
        self.assertEqual(self.output("arm", "run", "--when", "loss > 50", "--name", "spike", "--before", "2",
                                     "--after", "1"),
                         "armed: spike, when loss > 50, with 2 steps before and 1 after (in force)\n")
        job.jump()
        until(lambda: self.captures() == ["1-spike"])
        text = self.output("captures", "run")
        self.assertIn("    when     loss > 50\n    values   loss = 100\n", text)
        (capture,) = self.json("captures", "run")["captures"]
        self.assertEqual((capture["reason"], capture["before"], capture["after"]), ("spike", 2, 1))
        self.assertEqual({tensor["key"] for step in capture["steps"] for tensor in step["tensors"]},
                         {"activation/dense_1/out", "gradient/dense_1/kernel"})
        self.assertEqual(job.end(), "")

    def test_adds_to_the_triggers_of_the_program(self):
        self.write("own.toml", '[[trigger]]\nname = "own"\nwhen = "loss > 50"\n')
        job = Job(self, "run", "own.toml")
        self.output("arm", "run", "--when", "loss > 60", "--name", "mine")
        job.jump()
        until(lambda: len(self.captures()) == 2)
        self.assertEqual({name[2:] for name in self.captures()}, {"own", "mine"})

    def test_adds_to_what_was_armed_before(self):
        self.output("arm", "run", "--when", "loss > 1", "--name", "a")
        self.output("arm", "run", "--rule", "dead_relu", "--tensors", "enc.*", "--hold-off", "7", "--max-captures", "3",
                    "--rearm", "always")
        text = self.control.read_text(encoding="utf-8")
        self.assertEqual((text.count("[[armed]]"), text.count("[control]")), (2, 0))
        for line in ('when = "loss > 1"', 'rule = "dead_relu"', 'tensors = "enc.*"',
                     "hold_off = 7", "max_captures = 3", 'rearm = "edge"', 'rearm = "always"'):
            self.assertIn(line + "\n", text)

    def test_takes_effect_when_the_next_job_begins(self):
        self.assertEqual(self.output("arm", "run", "--when", "loss > 50"),
                         "armed: loss > 50, with 5 steps before; no running recorder has read it yet; it takes "
                         "effect when one does\n")
        job = Job(self, "run")
        until(lambda: os.path.exists(self.path("run/control.state")))
        job.jump()
        until(lambda: self.captures() == ["1-trigger"])

    def test_holds_from_the_first_step_of_the_next_job_on(self):
        self.output("arm", "run", "--when", "step == 3", "--before", "1")
        self.write("own.toml", "[flight]\nsize = '1MiB'\n")
        done = subprocess.run([RECORDER, "run", "own.toml", "60"], cwd=self.folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60, check=True)
        self.assertEqual((done.stdout, done.stderr), ("running\n60 steps, 1 captures\n", ""))
        (capture,) = self.json("captures", "run")["captures"]
        self.assertEqual([step["step"] for step in capture["steps"]], [2, 3])

    def test_keeps_every_line_that_somebody_wrote(self):
        before = "# by hand\n[control] # mine\nfire = 3 # so far\n\n[budget]\noverhead = '1%'"
        self.control.write_text(before, encoding="utf-8")
        self.output("arm", "run", "--when", "loss > 1")
        text = self.control.read_text(encoding="utf-8")
        for line in before.splitlines():
            self.assertIn(line + "\n", text)

    def test_of_a_wrong_condition_names_the_column(self):
        self.assertIn("--when 'loss >', column 7: expected", self.error("arm", "run", "--when", "loss >"))
        self.assertIn("column 8: ", self.error("arm", "run", "--when", "loss > $"))
        self.assertEqual(os.listdir(self.path("run")), [])

    def test_of_an_invalid_condition_changes_nothing(self):
        self.assertIn("did you mean 'nonfinite'?", self.error("arm", "run", "--rule", "nonfinit"))
        self.assertIn("either 'when' or 'rule'", self.error("arm", "run", "--rule", "nonfinite", "--when", "loss > 1"))
        self.assertIn("--when EXPR or --rule NAME", self.error("arm", "run"))
        self.assertIn("before is -1", self.error("arm", "run", "--when", "loss > 1", "--before", "-1"))
        self.assertIn("'a/b'", self.error("arm", "run", "--when", "loss > 1", "--name", "a/b"))
        self.assertIn("--rearm is edge, always or never, not 'often'",
                      self.error("arm", "run", "--when", "loss > 1", "--rearm", "often"))
        self.assertEqual(os.listdir(self.path("run")), [])

    def test_needs_a_run(self):
        self.write("file", "")
        for name in ("nowhere", "file"):
            self.assertIn(f"'{name}'", self.error("arm", name, "--when", "loss > 1"))
        Job(self, "logs/train").end()
        self.assertIn("'logs' is not a run but a directory of runs: name 'logs/train'",
                      self.error("arm", "logs", "--when", "loss > 1"))
        self.assertEqual(os.listdir(self.path("logs")), ["train"])

    def test_leaves_a_broken_control_file_alone(self):
        self.control.write_text("[[trigger\n", encoding="utf-8")
        self.assertRegex(self.error("arm", "run", "--when", "loss > 1"),
                         r"run/control\.toml:1:\d+: .*; this is the file that exists already")
        self.assertEqual(self.control.read_text(encoding="utf-8"), "[[trigger\n")

    def test_says_where_it_cannot_write_into_the_file(self):
        for text in ("control = { fire = 3 }\n", "control.fire = 3\n"):
            self.control.write_text(text, encoding="utf-8")
            self.assertIn("this command cannot edit", self.error("trigger", "run"))
            self.assertEqual(self.control.read_text(encoding="utf-8"), text)

    def test_that_is_rejected_changes_nothing(self):
        def refuse():  # as a recorder of another version might
            until(lambda: "[[armed]]" in (self.control.read_text(encoding="utf-8") if self.control.exists() else ""))
            checksum = crc32c(self.control.read_bytes())
            self.write("run/control.state", f"refused {checksum:08x} control.toml:4:1: there is no key 'when'\n")
        for before in (None, "[control]\nfire = 3\n"):
            if before:
                self.control.write_text(before, encoding="utf-8")
            recorder = threading.Thread(target=refuse)
            recorder.start()
            self.assertEqual(self.error("arm", "run", "--when", "loss > 1"),
                             "sonde: the recorder rejected it, and nothing has changed: control.toml:4:1: there is no key "
                             "'when'\n")
            recorder.join()
            self.assertEqual(self.control.read_text(encoding="utf-8") if self.control.exists() else None, before)

    def test_reports_the_part_that_could_not_be_done(self):
        self.write("p.toml", "[flight]\nuse = true\nsize = '4000TiB'\n")
        Job(self, "run")
        self.assertRegex(self.output("policy", "run", "p.toml"),
                         r"^in force: a flight ring, from p.toml; recording continues, but .*\n$")

    def test_does_not_take_an_old_answer_for_one(self):
        self.write("p.toml", POLICY)
        self.write("run/control.state", f"applied {crc32c(POLICY.encode()):08x}\n")
        self.assertIn("no running recorder has read it yet", self.output("policy", "run", "p.toml"))


class Trigger(ControlCase):
    def test_saves_a_capture_now(self):
        self.write("own.toml", "[flight]\nuse = true\nsize = '1MiB'\n")
        job = Job(self, "run", "own.toml")
        for number in (1, 2):
            self.assertEqual(self.output("trigger", "run"),
                             f"a capture is being saved: run/captures/{number}-manual\n")
        (first, second) = self.json("captures", "run")["captures"]
        self.assertEqual((first["cause"], first["reason"], second["reason"]), ("manual", "manual", "manual"))
        self.assertGreater(second["step"], first["step"])
        self.assertEqual(len(second["steps"][-1]["tensors"]), 2)
        self.assertEqual(job.end(), "")

    def test_says_if_there_is_no_ring_to_save(self):
        Job(self, "run")
        self.assertRegex(self.output("trigger", "run"), r"\Aa capture is being saved: run/captures/1-manual, which holds no "
                                                        r"tensors: [^\n]+\n\Z")

    def test_that_does_not_fit_on_the_disk_says_why(self):
        self.write("run/old", "x" * 100_000)
        self.write("own.toml", "[flight]\nuse = true\nsize = '1MiB'\n[budget]\ndisk = 100_000\n")
        job = Job(self, "run", "own.toml")
        self.assertRegex(self.error("trigger", "run"), r"the capture 'manual' of step \d+ was not saved: it would take about")
        self.assertEqual(self.captures(), [])
        self.assertFalse(self.control.exists())
        self.assertIn("set a larger [budget] disk", job.end())

    def test_saves_one_after_the_file_was_removed(self):
        Job(self, "run")
        self.output("trigger", "run")
        self.output("policy", "run", "--clear")
        self.output("trigger", "run")
        self.assertEqual(self.captures(), ["1-manual", "2-manual"])

    def test_counts_on(self):
        self.control.write_text("[control]\nfire = 41\nkeep_triggers = true\n", encoding="utf-8")
        self.run_sonde("trigger", "run")
        self.assertEqual(self.control.read_text(encoding="utf-8"), "[control]\nfire = 42\nkeep_triggers = true\n")

    def test_of_no_job_is_an_error(self):
        self.assertIn("no running recorder in 'run' has answered", self.error("trigger", "run"))
        self.assertIn("'nowhere'", self.error("trigger", "nowhere"))

    def test_of_the_past_is_no_capture_of_the_next_job(self):
        self.run_sonde("trigger", "run")
        job = Job(self, "run")
        until(lambda: os.path.exists(self.path("run/control.state")))
        job.end()
        self.assertEqual(self.captures(), [])


class Policy(ControlCase):
    def test_changes_a_running_job(self):
        job = Job(self, "run")
        self.write("p.toml", POLICY)
        self.assertEqual(self.output("policy", "run", "p.toml"), "in force: 1 watch, from p.toml\n")
        until(lambda: glob.glob(self.path("run/tensors/*.safetensors")))
        self.assertEqual(self.control.read_text(encoding="utf-8"), POLICY)
        self.assertEqual(job.end(), "")

    def test_with_an_external_ring_is_recovered_after_a_kill(self):
        os.makedirs(self.path("rings"))
        self.write("new.toml", f"[flight]\nuse = true\nsize = '1MiB'\ndir = '{self.path('rings')}'\n")
        job = Job(self, "run")
        self.output("policy", "run", "new.toml")
        until(lambda: glob.glob(self.path("rings/*.ring")))
        self.assertIn("belongs to a running process", self.error("recover", "run"))
        job.kill()
        self.assertRegex(self.output("recover", "run"), r"\Arun/captures/1-crash  from /[^\n]+\.ring\n")
        self.assertEqual(glob.glob(self.path("rings/*")) + glob.glob(self.path("run/flight-*")), [])

    def test_gives_way_to_the_job_s_own(self):
        self.write("own.toml", '[[trigger]]\nname = "own"\nwhen = "loss > 50"\n')
        self.write("p.toml", '[[trigger]]\nname = "other"\nwhen = "loss > 60"\n')
        job = Job(self, "run", "own.toml")
        self.output("policy", "run", "p.toml")
        job.jump()
        until(lambda: self.captures() == ["1-other"])
        self.assertEqual(self.output("policy", "run", "--clear"), "cleared: the job's own policy applies again\n")
        self.assertFalse(self.control.exists())
        until(lambda: job.jump() or any(name.endswith("-own") for name in self.captures()))

    def test_keeps_armed_triggers(self):
        self.write("own.toml", '[[trigger]]\nname = "own"\nwhen = "loss > 50"\n')
        self.write("p.toml", '[[trigger]]\nname = "other"\nwhen = "loss > 60"\n')
        job = Job(self, "run", "own.toml")
        self.output("arm", "run", "--when", "loss > 70", "--name", "mine")
        self.assertEqual(self.output("policy", "run", "p.toml"),
                         "in force: 1 trigger, from p.toml; 1 armed trigger kept\n")
        self.output("policy", "run", "p.toml")
        job.jump()
        until(lambda: len(self.captures()) == 2)
        self.assertEqual({name[2:] for name in self.captures()}, {"other", "mine"})
        self.output("policy", "run", "--clear")
        self.assertFalse(self.control.exists())

    def test_keeps_triggers_that_an_earlier_version_armed(self):
        self.control.write_text("[control]\nkeep_triggers = true\n[[trigger]]\nname = 'old'\nwhen = 'loss > 70'\n",
                                encoding="utf-8")
        self.write("p.toml", POLICY)
        self.assertIn("1 armed trigger kept", self.output("policy", "run", "p.toml"))
        text = self.control.read_text(encoding="utf-8")
        self.assertTrue(text.startswith(POLICY + "\n[[armed]]\nname = \"old\"\n"), text)
        self.assertNotIn("keep_triggers", text)

    def test_without_a_file_prints_what_is_in_force(self):
        self.assertEqual(self.output("policy", "run"),
                         "in force: the program's own policy; there is no run/control.toml\n")
        self.output("arm", "run", "--when", "loss > 70", "--name", "mine")
        self.assertIn("not read by a recorder yet: 1 armed trigger, from run/control.toml\n",
                      self.output("policy", "run"))
        job = Job(self, "run")
        self.write("p.toml", POLICY)
        self.output("policy", "run", "p.toml")
        text = self.output("policy", "run")
        self.assertTrue(text.startswith("in force: 1 watch and 1 armed trigger, from run/control.toml\n"
                                        "  armed: mine, when loss > 70, with 5 steps before\n"), text)
        self.assertIn('  tensors = "dense_1/out"\n', text)
        self.assertIn('  [[armed]]\n  name = "mine"\n', text)
        self.assertEqual(job.end(), "")

    def test_whose_watch_names_a_tensor_leaves_it_to_the_other_watches_too(self):
        self.write("p.toml", '[[watch]]\ntensors = ".*"\nrecord = "stats"\n'
                             '[[watch]]\ntensors = "dense_1/out"\nevery = 50\nrecord = "whole"\n')
        subprocess.run([RECORDER, "run", "p.toml", "60"], cwd=self.folder, capture_output=True, check=True, timeout=60,
                       stdin=subprocess.DEVNULL)
        (run,) = self.json("ls", ".")["runs"]
        points = {tag["tag"]: tag["points"] for tag in run["tags"] if tag["kind"] == "statistics"}
        self.assertEqual(points["activation/dense_1/out"], 60)
        self.assertEqual(len(glob.glob(self.path("run/tensors/*.safetensors"))), 2)

    def test_that_is_wrong_changes_nothing(self):
        job = Job(self, "run")
        self.write("p.toml", POLICY)
        self.output("policy", "run", "p.toml")
        state = pathlib.Path(self.path("run/control.state")).read_bytes()
        for text, sentence in ((POLICY.replace("every", "evry"), "p.toml:3:1: [[watch]] has no key 'evry'; did you mean"),
                               ("[[watch]]\nwhen = 'loss >'\n", "p.toml:2:15: expected"),
                               ("[control]\nfire = 9\n", "p.toml:1:1: [control] belongs in the control.toml of a run"),
                               ("[[watch]\n", "p.toml:1:9: ")):
            self.write("p.toml", text)
            self.assertIn(sentence, self.error("policy", "run", "p.toml"))
            self.assertIn(sentence, self.error("policy", "--check", "p.toml"))
        self.assertIn("'none.toml'", self.error("policy", "run", "none.toml"))
        self.assertEqual(self.control.read_text(encoding="utf-8"), POLICY)
        self.assertEqual(pathlib.Path(self.path("run/control.state")).read_bytes(), state)
        self.assertEqual(job.end(), "")

    def test_does_not_fire_what_was_fired_before(self):
        Job(self, "run")
        self.write("p.toml", POLICY)
        self.output("trigger", "run")
        self.output("policy", "run", "p.toml")
        self.output("arm", "run", "--when", "loss > 1000")
        self.output("trigger", "run")
        self.assertEqual(self.captures(), ["1-manual", "2-manual"])

    def test_replaces_a_broken_one(self):
        self.control.write_text("[[trigger\n", encoding="utf-8")
        self.write("p.toml", POLICY)
        self.assertIn("written: 1 watch, from p.toml; no running recorder", self.output("policy", "run", "p.toml"))
        self.assertEqual(self.control.read_text(encoding="utf-8"), POLICY)

    def test_is_checked_without_a_run(self):
        self.write("p.toml", POLICY + "[[trigger]]\nrule = 'nonfinite'\n[flight]\nsteps = 9\n[budget]\ndisk = '1GB'\n")
        self.assertEqual(self.output("policy", "--check", "p.toml"),
                         "p.toml is right: 1 watch, 1 trigger, a flight ring and a budget\n")
        self.write("p.toml", "[flight]\nuse = false\n")
        self.assertEqual(self.output("policy", "--check", "p.toml"), "p.toml is right: no flight ring\n")
        self.write("p.toml", "")
        self.assertIn("is right: nothing, so the program", self.output("policy", "--check", "p.toml"))

    def test_lists_the_rules(self):
        text = self.output("policy", "--rules")
        self.assertIn("dead_relu  nearly all outputs of a ReLU are zero\n  any('activation/.*', ", text)
        conditions = [line.strip() for line in text.splitlines() if line.startswith("  ")]
        self.write("p.toml", "".join(f'[[trigger]]\nwhen = "{condition}"\n' for condition in conditions))
        self.assertIn(f"{len(conditions)} triggers", self.output("policy", "--check", "p.toml"))

    def test_comes_through_a_pipe_too(self):
        def run(*arguments):
            return subprocess.run([SONDE, *arguments], input=POLICY, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  cwd=self.folder, text=True, timeout=60, check=False)
        result = run("policy", "--check", "/dev/stdin")
        self.assertEqual((result.stdout, result.stderr), ("/dev/stdin is right: 1 watch\n", ""))
        result = run("policy", "run", "/dev/stdin")
        self.assertTrue(result.stdout.startswith("written: 1 watch, from /dev/stdin"), result)
        self.assertEqual(self.control.read_text(encoding="utf-8"), POLICY)

    def test_of_a_path_that_is_not_a_file_says_so(self):
        self.assertIn("'run': Is a directory", self.error("policy", "--check", "run"))
        self.assertIn("/dev/zero is larger than 1 MiB", self.error("policy", "--check", "/dev/zero"))

    def test_with_invalid_numbers_is_rejected_with_its_position(self):
        for text, place in (("[budget]\nmemory = 0\n", "p.toml:2:10: expected a size above 0, found 0"),
                            ("[flight]\nsize = '8191B'\n", "p.toml:2:8: expected a size from 8KiB"),
                            ("[flight]\nsize = 0\n", "p.toml:2:8: expected a size from 8KiB"),
                            ("[flight]\nsteps = -1\n", "p.toml:2:9: expected a number of steps, a whole number from 0"),
                            ("[[watch]]\nevery = -2\n", "p.toml:2:9: expected a number of steps from 1"),
                            ("[[watch]]\nfirst = -1\n", "p.toml:2:9: expected a number of steps, a whole number from 1"),
                            ("[[watch]]\nsteps = '20..10'\n", "p.toml:2:9: expected a range of steps whose end is not "
                                                             "before its beginning, found \"20..10\""),
                            ("[[watch]]\nsample = -8\n", "p.toml:2:10: expected a number of rows"),
                            ("[[trigger]]\nwhen = '1'\nbefore = -1\n", "p.toml:3:10: expected a number of steps"),
                            ("[[trigger]]\nwhen = '1'\nafter = -1\n", "p.toml:3:9: expected a number of steps"),
                            ("[[trigger]]\nwhen = '1'\nhold_off = -1\n", "p.toml:3:12: expected a number of steps"),
                            ("[budget]\noverhead = nan\n", "p.toml:2:12: expected a share of time above 0"),
                            ("[budget]\ndisk = -1\n", "p.toml:2:8: expected a size")):
            self.write("p.toml", text)
            self.assertIn(place, self.error("policy", "--check", "p.toml"))

    def test_may_have_the_smallest_possible_ring(self):
        self.write("p.toml", "[flight]\nuse = true\nsize = 8192\n")
        job = Job(self, "run", "p.toml")
        (ring,) = glob.glob(self.path("run/flight-*.ring"))
        self.assertEqual(os.path.getsize(ring), 8192)
        self.assertEqual(job.end(), "")

    def test_of_too_little_or_too_much_says_so(self):
        self.write("p.toml", POLICY)
        self.assertIn("name the directory of a run", self.error("policy"))
        self.assertIn("takes no file", self.error("policy", "run", "p.toml", "--clear"))
        self.assertIn("use one of them", self.error("policy", "--rules", "--check", "p.toml"))
        self.assertIn("do not take a run", self.error("policy", "run", "--rules"))
        self.assertIn("'nowhere'", self.error("policy", "nowhere", "p.toml"))
        self.assertIn("'nowhere'", self.error("policy", "nowhere", "--clear"))
        self.assertIn("There is nothing to clear in 'run'", self.output("policy", "run", "--clear"))


class Foreign(ControlCase):
    """Other things in the place of control.toml: they neither block nor take effect."""

    def test_pipes_are_rejected_at_once(self):
        os.mkfifo(self.control)
        self.write("p.toml", POLICY)
        sentence = "sonde: cannot read 'run/control.toml': it is not a regular file\n"
        self.assertEqual(self.error("arm", "run", "--when", "loss > 1"), sentence)
        self.assertEqual(self.error("trigger", "run"), sentence)
        self.assertEqual(self.error("policy", "run", "p.toml"), sentence)
        self.assertIn("cleared", self.output("policy", "run", "--clear"))
        self.assertEqual(os.listdir(self.path("run")), [])

    def test_pipes_do_not_stop_a_job(self):
        os.mkfifo(self.control)
        os.mkfifo(self.path("run/control.state"))
        self.write("p.toml", POLICY)
        job = Job(self, "run")
        self.assertIn("cleared", self.output("policy", "run", "--clear"))
        self.assertIn("in force", self.output("policy", "run", "p.toml"))
        job.end()

    def test_directories_are_rejected(self):
        os.mkdir(self.control)
        self.assertEqual(self.error("arm", "run", "--when", "loss > 1"),
                         "sonde: cannot read 'run/control.toml': it is a directory\n")

    def test_files_of_others_are_not_made_ours(self):
        other = 65533 if os.geteuid() == 65534 else 65534
        self.write("given.toml", POLICY)
        try:
            os.chown(self.path("given.toml"), other, other)
        except OSError:
            return  # not everybody may give files away
        self.write("theirs.toml", POLICY)
        self.write("mine.toml", POLICY)
        for make in (lambda: os.rename(self.path("theirs.toml"), self.control),
                     lambda: os.symlink("../mine.toml", self.control)):
            make()
            os.chown(self.control, other, other, follow_symlinks=False)
            self.assertEqual(self.error("arm", "run", "--when", "loss > 1"),
                             "sonde: 'run/control.toml' belongs to another user: your recorders ignore it, and "
                             "nothing is added to it: remove it with 'sonde policy run --clear'\n")
            self.assertIn("belongs to another user", self.error("trigger", "run"))
            self.assertEqual(self.control.read_text(encoding="utf-8"), POLICY)
            self.write("p.toml", "[budget]\ndisk = '1GB'\n")
            self.assertIn("written: a budget", self.output("policy", "run", "p.toml"))
            self.assertEqual((self.control.read_text(encoding="utf-8"), self.control.stat().st_uid),
                             ("[budget]\ndisk = '1GB'\n", os.geteuid()))
            self.output("policy", "run", "--clear")


if __name__ == "__main__":
    unittest.main()
