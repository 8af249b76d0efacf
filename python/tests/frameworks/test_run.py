"""sonde run: a script is watched, and otherwise behaves as it does without."""
import os
import signal
import subprocess
import sys
import textwrap
import unittest

from watching import Watching, heed_ctrl_c

import sonde

TRAINING = """
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
criterion = torch.nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(4):
    optimizer.zero_grad()
    loss = criterion(net(torch.ones(2, 4)), torch.zeros(2, 1))
    loss.backward()
    optimizer.step()
print("loss", loss.item())
"""


class Run(Watching):
    def run_script(self, program, *options, arguments=(), command=("-m", "sonde", "run"), check=True):
        self.script = self.folder / "script.py"
        self.script.write_text(textwrap.dedent(program))
        done = subprocess.run([sys.executable, *command, *options, str(self.script), *arguments], capture_output=True, text=True,
                              cwd=self.folder, timeout=300, check=False)
        if check:
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def plain(self, *arguments):
        return subprocess.run([sys.executable, str(self.script), *arguments], capture_output=True, text=True, cwd=self.folder,
                              timeout=300, check=False)

    def test_a_training_script(self):
        done = self.run_script(TRAINING, "--log", str(self.log))
        self.assertEqual(done.stdout, self.plain().stdout)
        self.assertEqual(done.stderr, f"sonde: recording into {self.log}\nsonde: watching 4 modules of Sequential into {self.log}\n")
        self.assertEqual(self.tags(), {"activation/0", "activation/1", "activation/2", "input/input"})
        for tag in self.tags():
            self.assertEqual([step for step, _ in self.column(tag)], [0, 1, 2, 3])

    def test_selected_modules_and_steps(self):
        self.run_script(TRAINING, "--watch", "2", "--every=2", "--log", str(self.log))
        self.assertEqual({tag for tag in self.tags() if tag.startswith("activation")}, {"activation/2"})
        self.assertEqual([step for step, _ in self.column("activation/2")], [0, 2])

    def test_a_policy_records_every_kind(self):
        policy = self.folder / "policy.toml"
        policy.write_text('[[watch]]\nkind = ["gradient", "weight", "update"]\nsteps = "1..1"\nrecord = "stats"\n')
        self.run_script(TRAINING, "--policy", str(policy), "--log", str(self.log))
        self.assertLessEqual({"gradient/0.weight", "weight/0.weight", "update/0.weight", "gradient/2"}, self.tags())
        self.assertEqual([step for step, _ in self.column("update/0.weight")], [1])

    def test_without_a_place_for_the_log(self):
        done = self.run_script(TRAINING)
        run, = (self.folder / "runs").iterdir()
        self.assertIn(f"sonde: recording into runs/{run.name}\n", done.stderr)

    def test_dry_says_what_it_would_watch(self):
        done = self.run_script(TRAINING, "--dry")
        self.assertEqual(done.stderr, "sonde: would watch 4 modules of Sequential: Sequential, 0, 1, 2\n")
        self.assertFalse((self.folder / "runs").exists())

    def test_ctrl_c_ends_it_as_it_would_without(self):
        self.script = self.folder / "script.py"
        self.script.write_text(TRAINING + "\nprint('ready', flush=True)\nimport time\ntime.sleep(60)\n")
        process = subprocess.Popen([sys.executable, "-m", "sonde", "run", "--log", str(self.log), str(self.script)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c)
        while "ready" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertIn("KeyboardInterrupt", errors)
        self.assertEqual([step for step, _ in self.column("activation/2")], [0, 1, 2, 3])

    def test_the_writers_of_torch_and_tensorboardx_are_ours(self):
        done = self.run_script(f"""
            from torch.utils.tensorboard import SummaryWriter
            import tensorboardX
            with SummaryWriter({str(self.folder / "torch")!r}) as writer:
                writer.add_scalar("loss", 0.5, 1)
            with tensorboardX.SummaryWriter(logdir={str(self.folder / "x")!r}) as writer:
                writer.add_scalar("loss", 0.25, 1)
            print(type(writer).__mro__[1].__module__)
        """, "--log", str(self.log))
        self.assertEqual(done.stdout, "sonde._writer\n")
        runs = sonde.load(self.folder, cache=False)
        self.assertEqual([runs[name].scalars("loss").values.tolist() for name in ("torch", "x")], [[0.5], [0.25]])

    def test_keras_models_and_the_writers_of_tensorflow(self):
        done = self.run_script(f"""
            import numpy, tensorflow as tf, keras
            keras.utils.set_random_seed(0)
            writer = tf.summary.create_file_writer({str(self.folder / "tf")!r})
            with writer.as_default():
                tf.summary.scalar("loss", 0.5, step=1)
            writer.close()
            model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, name="dense_1"), keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            history = model.fit(numpy.ones((32, 3)), numpy.zeros((32, 1)), batch_size=8, epochs=2, verbose=0)
            print(sorted(history.history), type(writer).__module__)
        """, "--log", str(self.log), "--every", "2")
        self.assertEqual(done.stdout, "['loss'] sonde.tf_summary\n")
        self.assertIn("sonde: watching the Keras model sequential into", done.stderr)
        runs = sonde.load(self.folder, cache=False)
        self.assertEqual(runs["tf"].scalars("loss").values.tolist(), [0.5])
        self.assertEqual(runs["log"].scalars("loss").steps.tolist(), list(range(8)))
        self.assertIn("weight/dense_1/kernel", self.tags())

    def test_a_script_may_look_for_a_package_before_it_imports_it(self):
        self.run_script("import importlib.util\nassert importlib.util.find_spec('torch')\n" + TRAINING, "--log", str(self.log))
        self.assertIn("activation/0", self.tags())

    def test_a_second_model_has_a_folder_of_its_own(self):
        self.run_script(TRAINING + textwrap.dedent("""
            other = torch.nn.Bilinear(2, 2, 1)
            other(torch.ones(1, 2), torch.ones(1, 2))
        """), "--log", str(self.log))
        runs = sonde.load(self.log, cache=False)
        self.assertEqual(sorted(runs), [".", "Bilinear"])
        self.assertEqual(len(runs["Bilinear"].statistics("activation/Bilinear")), 1)

    def test_the_command_starts_the_interpreter(self):
        program = os.path.join(os.path.dirname(sonde.__file__), "bin", "sonde")
        self.script = self.folder / "script.py"
        self.script.write_text(TRAINING)

        def command(*arguments, **environment):
            return subprocess.run([program, "run", *arguments], capture_output=True, text=True, cwd=self.folder, check=False,
                                  env=os.environ | {"SONDE_PYTHON": sys.executable} | environment)

        done = command("--log", str(self.log), str(self.script))
        self.assertEqual((done.returncode, done.stdout), (0, self.plain().stdout))
        self.assertEqual(len(self.column("activation/0")), 4)
        done = command(str(self.script), SONDE_PYTHON="no-such-python")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot start 'no-such-python': No such file or directory; name a Python interpreter in SONDE_PYTHON", done.stderr)
        done = command(str(self.script), PYTHONPATH="", SONDE_PYTHON="/usr/bin/python3")
        self.assertIn("has no Python package sonde", done.stderr)
        self.assertEqual(done.returncode, 1)
        self.assertIn("sonde run [options] SCRIPT.py", command("--help").stdout)

    def test_the_page_is_served(self):
        done = self.run_script(TRAINING, "--serve", "--log", str(self.log))
        self.assertRegex(done.stderr, r"Page  http://127\.0\.0\.1:\d+")
        self.assertEqual(done.stdout, self.plain().stdout)


if __name__ == "__main__":
    unittest.main()
