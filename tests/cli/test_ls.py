"""sonde ls: every tag that TensorBoard's reader finds, and what a person sees."""

import os
import pathlib
import subprocess
import time
import unittest

import numpy as np
import safetensors.numpy

import logs
from command import Case

# The plugins whose kind has the same name here.
PLUGINS = ("scalars", "histograms", "images", "audio", "text", "pr_curves", "mesh", "hparams", "custom_scalars")


class Ls(Case):
    def listed(self, *arguments):
        """{(run, tag, kind): the entry}."""
        return {(run["run"], tag["tag"], tag["kind"]): tag
                for run in self.json("ls", *arguments)["runs"] for tag in run["tags"]}

    def test_finds_what_tensorboard_finds_in_the_logs_of_every_writer(self):
        self.assertGreaterEqual(len(logs.WRITERS), 2)
        for writer in logs.WRITERS:
            with self.subTest(writer):
                listed = self.listed(str(logs.GOLDEN / writer))
                expected = {(run, tag, plugin): points for (run, tag), (plugin, points)
                            in logs.read(logs.GOLDEN / writer).items() if plugin in PLUGINS and run != "restarted"}
                self.assertEqual({key for key in listed if key[0] != "restarted" and key[2] in PLUGINS},
                                 set(expected))
                for key, points in expected.items():
                    entry = listed[key]
                    steps = [point.step for point in points]
                    self.assertEqual((entry["points"], entry["first_step"], entry["last_step"]),
                                     (len(steps), min(steps), max(steps)), key)

    def test_counts_the_newest_history_of_a_restarted_run(self):
        entry = self.listed(str(logs.GOLDEN / "torch"))[("restarted", "loss/train", "scalars")]
        self.assertEqual((entry["points"], entry["first_step"], entry["last_step"]), (10, 0, 9))
        self.assertGreater(entry["written_again"], 0)
        text = self.output("ls", str(logs.GOLDEN / "torch"), "--runs", "restarted", "--tags", "loss/train")
        self.assertIn(f"! {entry['written_again']} of {10 + entry['written_again']} points were written again after a restart",
                      text)

    def test_the_keys_of_the_json(self):
        with logs.Writer(self.path("logs/a")) as writer:
            writer.scalar("x", 1, 5)
            writer.scalar("x", 2, 7)
        self.assertEqual(self.json("ls", "logs"), {"not_read": [], "runs": [{
            "run": "a", "damage": 0, "gaps": 0, "budget": [], "captures": 0, "checkpoints": 0, "tensors": [], "tables": [],
            "probes": [], "tags": [
                {"tag": "x", "kind": "scalars", "points": 2, "first_step": 5, "last_step": 7, "written_again": 0,
                 "plugin": "scalars"}]}]})

    def test_a_table_for_people_with_the_last_value(self):
        with logs.Writer(self.path("logs/a")) as writer:
            writer.scalar("loss", 4, 0)
            writer.scalar("loss", 0.25, 1200)
            writer.scalar("broken", float("nan"), 3)
        text = self.output("ls", "logs")
        self.assertIn("1 run, 2 tags, 3 points", text)
        self.assertRegex(text, r"(?m)^  loss +scalars +2  0 \.\. 1200  0\.25$")
        self.assertRegex(text, r"(?m)^  broken +scalars +1  3 +NaN$")

    def test_colours_and_cut_names_on_a_terminal_only(self):
        name = "a/very/long/name/" * 6 + "end"
        with logs.Writer(self.path("logs/a")) as writer:
            writer.scalar(name, 1, 0)
        self.assertIn(name, self.output("ls", "logs"))
        text = self.on_terminal("ls", "logs")
        self.assertIn("\x1b[", text)
        self.assertNotIn(name, text)
        self.assertIn("name/end", text)

    def test_names_cannot_write_to_the_terminal(self):
        with logs.Writer(self.path("logs/a")) as writer:
            writer.scalar("red\x1b[31m\n", 1, 0)
        self.assertNotIn("\x1b[31m", self.output("ls", "logs"))
        self.assertEqual([tag for _, tag, _ in self.listed("logs")], ["red\x1b[31m\n"])

    def test_chooses_runs_and_tags(self):
        for run in ("train", "train.eval", "test"):
            with logs.Writer(self.path(f"logs/{run}")) as writer:
                for tag in ("loss", "loss/a", "a[0]"):
                    writer.scalar(tag, 1, 0)

        def chosen(*arguments):
            return sorted((run, tag) for run, tag, _ in self.listed("logs", *arguments))

        self.assertEqual(chosen("--runs", "t.*t", "--tags", "loss.*"), [("test", "loss"), ("test", "loss/a")])
        self.assertEqual({run for run, _ in chosen("--runs", "train")}, {"train"})  # the whole name
        self.assertEqual({run for run, _ in chosen("--runs", "train.eval")}, {"train.eval"})
        self.assertEqual({tag for _, tag in chosen("--tags", "a[0]")}, {"a[0]"})  # as a pattern it would match a0
        self.assertEqual({tag for _, tag in chosen("--tags", "a\\[.\\]|loss")}, {"a[0]", "loss"})

    def test_a_choice_of_nothing_names_the_nearest(self):
        with logs.Writer(self.path("logs/train")) as writer:
            writer.scalar("loss", 1, 0)
        self.assertIn("did you mean 'train'?", self.error("ls", "logs", "--runs", "trian"))
        self.assertIn("no tag matches --tags 'accuracy'; there is 'loss'",
                      self.error("ls", "logs", "--tags", "accuracy"))
        self.assertIn("neither a tag nor a valid regular expression", self.error("ls", "logs", "--tags", "los("))

    def test_a_pattern_that_is_none_is_an_error_also_without_runs(self):
        os.mkdir(self.path("empty"))
        for option in ("--runs", "--tags"):
            self.assertIn("nor a valid regular expression", self.error("ls", "empty", option, "("))

    def test_mentions_damage_and_what_to_do(self):
        folder = logs.copy_of("torch", self.folder)
        path = logs.event_files(folder)["train"][0]
        content = bytearray(path.read_bytes())
        content[logs.records(content)[3][0] + 20] ^= 1
        path.write_bytes(content)
        self.assertIn("! 1 damaged place: 'sonde check torch/train' shows where", self.output("ls", "torch"))
        damage = {run["run"]: run["damage"] for run in self.json("ls", "torch")["runs"]}
        self.assertEqual({run: count for run, count in damage.items() if count}, {"train": 1})

    def test_mentions_captures_and_checkpoints(self):
        with logs.Writer(self.path("logs/a")) as writer:
            writer.scalar("x", 1, 5)
        for mode in ("nan", "manual"):
            subprocess.run([os.environ["SONDE_CAPTURE_TOOL"], mode, "logs/a"], cwd=self.folder, check=True, timeout=60,
                           stdout=subprocess.DEVNULL)
        os.makedirs(self.path("logs/a/checkpoints"))
        safetensors.numpy.save_file({"w": np.zeros(3)}, self.path("logs/a/checkpoints/model-7.safetensors"))
        self.assertTrue(self.output("ls", "logs").endswith(
            "\n  2 captures: 'sonde captures logs/a'\n  1 checkpoint: 'sonde checkpoints logs/a'\n"))
        (run,) = self.json("ls", "logs")["runs"]
        self.assertEqual((run["captures"], run["checkpoints"]), (2, 1))

    def test_lists_tables_and_tensors_that_were_kept_whole(self):
        values = np.arange(6, dtype=np.float32).reshape(3, 2)
        safetensors.numpy.save_file({'two\nlines, "quoted"': values}, self.path("values.safetensors"))
        subprocess.run([os.environ["SONDE_TABLE_RECORDER"], "logs/a", "val/outputs", "values.safetensors", "4"],
                       cwd=self.folder, check=True, timeout=60)
        (outputs,) = pathlib.Path(self.path("logs/a/tables/val")).glob("outputs.*.csv")
        (probe,) = pathlib.Path(self.path("logs/a/tables/activation")).glob("two*.csv")
        with open(self.path("logs/a/tables/else.csv"), "w", encoding="utf-8") as file:
            file.write("a,b\n1,2\n")  # of somebody else
        tables = [{"file": str(path.relative_to(self.path("logs/a"))), "rows": 12, "first_step": 0, "last_step": 3}
                  for path in (probe, outputs)]
        (run,) = self.json("ls", "logs")["runs"]
        self.assertEqual((run["tags"], run["tensors"], run["tables"]), ([], [], tables))
        text = self.output("ls", "logs")
        self.assertIn("1 run, 0 tags, 0 points, 2 tables\n", text)
        self.assertNotIn("nothing yet", text)
        self.assertRegex(text, r"(?m)^  tables/val/outputs\.\S+\.csv +table +12  0 \.\. 3$")

        kept = pathlib.Path(self.path("logs/a/tensors"))
        kept.mkdir()
        tensors = {"activation/out": values, "weight/w": values}
        safetensors.numpy.save_file(tensors, kept / "000000000005.w.safetensors")
        np.savez(kept / "000000000005.w.npz", **tensors)  # the same again
        safetensors.numpy.save_file({"activation/out": values}, kept / "000000000007.w.safetensors")
        (kept / "000000000009.w/activation").mkdir(parents=True)
        np.save(kept / "000000000009.w/activation/out.npy", values)
        np.save(kept / "000000000009.w/activation/a%3Ab.npy", values)
        (run,) = self.json("ls", "logs")["runs"]
        self.assertEqual(run["tables"], tables)
        self.assertEqual(run["tensors"], [
            {"tensor": "activation/a:b", "steps": 1, "first_step": 9, "last_step": 9},
            {"tensor": "activation/out", "steps": 3, "first_step": 5, "last_step": 9},
            {"tensor": "weight/w", "steps": 1, "first_step": 5, "last_step": 5}])
        text = self.output("ls", "logs")
        self.assertIn("1 run, 0 tags, 0 points, 3 whole tensors, 2 tables\n", text)
        self.assertRegex(text, r"(?m)^  activation/out +whole +3  5 \.\. 9$")
        for run, tag in (("a", "activation/out"), ("a", "activation/a:b")):  # what it lists can be shown
            self.output("show", "logs", run, tag)
        (run,) = self.json("ls", "logs", "--tags", "activation/o.*")["runs"]
        self.assertEqual(([one["tensor"] for one in run["tensors"]], run["tables"]), (["activation/out"], []))
        self.assertIn("'weight/w'", self.error("ls", "logs", "--tags", "weight/ww"))

    def test_lists_probes_in_the_order_of_execution(self):
        pathlib.Path(self.path("p.toml")).write_text("[[watch]]\nrecord = ['stats']\n", encoding="utf-8")
        subprocess.run([os.environ["SONDE_LIVE_RECORDER"], "logs/a", "p.toml", "3"],
                       cwd=self.folder, check=True, timeout=60, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        (run,) = self.json("ls", "logs")["runs"]
        self.assertEqual(run["probes"], [
            {"name": "dense_1/out", "kind": "activation", "tag": "activation/dense_1/out", "dtype": "f32",
             "shape": [8, 8], "inputs": ["images"], "order": 0},
            {"name": "dense_1/kernel", "kind": "gradient", "tag": "gradient/dense_1/kernel", "dtype": "f32",
             "shape": [64], "inputs": [], "order": 1}])
        (run,) = self.json("ls", "logs", "--tags", "gradient/.*")["runs"]
        self.assertEqual([probe["name"] for probe in run["probes"]], ["dense_1/kernel"])

    def test_reports_files_that_it_cannot_read(self):
        with logs.Writer(self.path("logs/a")) as writer:
            writer.scalar("x", 1, 5)
        os.makedirs(self.path("logs/a/tensors"))
        pathlib.Path(self.path("logs/a/tensors/000000000005.w.safetensors")).write_bytes(b"damaged")
        result = self.run_sonde("ls", "logs")
        self.assertEqual(result.returncode, 0)
        self.assertIn("000000000005.w.safetensors", result.stderr)
        self.assertIn("1 run, 1 tag, 1 point\n", result.stdout)

    def test_reports_gaps_one_line_per_reason(self):
        with logs.Writer(self.path("logs/a")) as writer:
            writer.scalar("x", 1, 5)
        subprocess.run([os.environ["SONDE_CAPTURE_TOOL"], "gaps", "logs/a"], cwd=self.folder, check=True, timeout=60)
        self.assertTrue(self.output("ls", "logs").endswith(
            "\n  ! 200 tensors not recorded, steps 10 .. 19: the buffer was full\n"
            "  ! 1 tensor not recorded, step 17: unusable tensor\n  ! budget at step 15: full -> x\n"))

    def test_reports_what_a_budget_turned_off_and_when(self):
        pathlib.Path(self.path("p.toml")).write_text("[budget]\ndisk = '1KB'\n", encoding="utf-8")
        with subprocess.Popen([os.environ["SONDE_LIVE_RECORDER"], "logs/a", "p.toml"], cwd=self.folder,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as job:
            self.assertEqual(job.stdout.readline(), "running\n")
            end = time.monotonic() + 60
            while not (budget := self.json("ls", "logs")["runs"][0]["budget"]) and time.monotonic() < end:
                time.sleep(0.05)
            job.communicate(timeout=60)
        self.assertRegex(budget[0]["change"], r"\Afull -> statistics: ")
        (run,) = self.json("ls", "logs")["runs"]
        self.assertEqual((run["budget"][0], run["gaps"]), (budget[0], 0))
        text = self.output("ls", "logs")
        self.assertIn(f"  ! budget at step {budget[0]['step']}: {budget[0]['change']}\n", text)
        self.assertNotIn("not recorded", text)

    def test_a_directory_without_runs(self):
        os.mkdir(self.path("empty"))
        self.assertEqual(self.output("ls", "empty"), "There are no runs in 'empty'.\n")
        self.assertEqual(self.json("ls", "empty"), {"runs": [], "not_read": []})

    def test_an_event_file_of_zero_bytes(self):
        os.mkdir(self.path("logs"))
        open(self.path("logs/events.out.tfevents.1.host.1.0"), "wb").close()
        self.assertEqual([run["tags"] for run in self.json("ls", "logs")["runs"]], [[]])
        self.assertIn("nothing yet", self.output("ls", "logs"))

    def test_unreadable_files(self):
        self.assertIn("No such file", self.error("ls", "nowhere"))
        with open(self.path("file"), "wb") as file:
            file.write(b"x")
        self.assertIn("'file' is a file", self.error("ls", "file"))


class NotRead(Case):
    def test_files_of_other_plugins_are_named(self):
        with logs.Writer(self.path("logs/train")) as writer:
            writer.scalar("x", 1, 0)
        self.assertEqual(self.json("ls", "logs")["not_read"], [])
        self.assertNotIn("not read", self.output("ls", "logs"))
        for name in ("metadata", "source_files", "stack_frames", "graphs", "execution", "graph_execution_traces"):
            pathlib.Path(self.path("logs/tfdbg_events.1700000000.host." + name)).write_bytes(b"")
        os.makedirs(self.path("logs/train/plugins/profile/2023_11_14"))
        for name in ("host.xplane.pb", "host.trace.json.gz"):
            pathlib.Path(self.path("logs/train/plugins/profile/2023_11_14/" + name)).write_bytes(b"")
        pathlib.Path(self.path("logs/train/projector_config.pbtxt")).write_text("", encoding="utf-8")
        self.assertEqual(self.json("ls", "logs")["not_read"],
                         [{"what": "tfdbg", "directory": ".", "files": 6},
                          {"what": "projector", "directory": "train", "files": 1},
                          {"what": "profile", "directory": "train", "files": 2}])
        text = self.output("ls", "logs")
        self.assertTrue(text.endswith("\n! not read: 6 files of TensorFlow's Debugger V2 (tfdbg) in logs\n"
                                      "! not read: 1 file of the embedding projector (projector_config.pbtxt) in logs/train\n"
                                      "! not read: 2 files of the plugin 'profile' in logs/train\n"), text)

    def test_also_without_runs(self):
        os.mkdir(self.path("logs"))
        pathlib.Path(self.path("logs/tfdbg_events.1.host.metadata")).write_bytes(b"")
        self.assertIn("There are no runs in 'logs'.\n\n! not read: 1 file", self.output("ls", "logs"))


if __name__ == "__main__":
    unittest.main()
