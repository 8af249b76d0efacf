"""sonde.watch and processes: forked and spawned ones, threads, signals and the end of the interpreter. Nothing that was flushed is
lost, and nothing hangs: every program has a time limit."""
import signal
import subprocess
import sys
import unittest

from watching import Watching, heed_ctrl_c

HEAD = """
import os, sys, threading, torch, sonde
def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 2))
def train(net, steps, batches=None):
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(steps):
        optimizer.zero_grad()
        net(torch.ones(5, 4) if batches is None else next(batches)).sum().backward()
        optimizer.step()
"""


class Processes(Watching):
    def run_watched(self, program, **options):
        return self.run_python(HEAD + program, self.log, timeout=240, **options)

    def assert_steps(self, steps):
        self.assertEqual([step for step, _ in self.column("activation/2")], list(steps))

    def test_the_end_of_the_interpreter_without_close(self):
        for hold in (False, True):
            with self.subTest(hold=hold):
                self.log = self.folder / str(hold)
                done = self.run_watched(f"""
net = model()
sonde.watch(net, sonde.Recorder(sys.argv[1]), gradients=True, weights=True, updates=True, hold={hold})
train(net, 20)
""")
                self.assertEqual(done.stdout + done.stderr, "")
                self.assert_steps(range(20))

    def test_an_error_of_the_script(self):
        done = self.run_watched("""
net = model()
sonde.watch(net, sonde.Recorder(sys.argv[1]))
train(net, 5)
raise ValueError("the script's own")
""", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the script's own", done.stderr)
        self.assert_steps(range(5))

    def test_workers_of_a_data_loader(self):
        for method in ("fork", "spawn"):
            with self.subTest(method=method):
                self.log = self.folder / method
                script = self.folder / f"{method}.py"
                script.write_text(HEAD + f"""
class Data(torch.utils.data.Dataset):
    def __len__(self): return 24
    def __getitem__(self, index):
        assert 0 <= index < 24
        return torch.ones(4) * index
if __name__ == "__main__":
    net = model()
    rec = sonde.Recorder(sys.argv[1])
    with sonde.watch(net, rec, weights=True):
        for _ in range(2):
            loader = torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=2, multiprocessing_context="{method}")
            train(net, 6, iter(loader))
    rec.close()
""")
                done = subprocess.run([sys.executable, str(script), str(self.log)], capture_output=True, text=True, timeout=240, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assert_steps(range(12))
                self.assertEqual(len(list(self.log.glob("events*"))), 1, "the workers record nothing")

    def test_a_forked_child_may_train_the_watched_model(self):
        self.run_watched("""
net = model()
rec = sonde.Recorder(sys.argv[1])
watched = sonde.watch(net, rec, hold=True)
torch.set_num_threads(1)
train(net, 3)
rec.flush()
child = os.fork()
if child == 0:
    train(net, 2)
    rec.flush()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
train(net, 3)
watched.remove()
rec.close()
""")
        steps = [step for step, _ in self.column("activation/2")]
        self.assertEqual(sorted(set(steps)), list(range(6)))

    def test_threads_that_call_the_model_up_to_the_end_of_the_interpreter(self):
        # Not daemons: torch itself aborts where one of those is in an operation when the interpreter ends.
        self.run_watched("""
net = model()
sonde.watch(net, sonde.Recorder(sys.argv[1]), inference=True, hold=True)
def serve():
    with torch.no_grad():
        for _ in range(200): net(torch.ones(64, 4))
for _ in range(3): threading.Thread(target=serve).start()
""")
        self.assertEqual(len(self.column("activation/2")), 600)

    def test_ctrl_c_in_a_watched_step(self):
        process = subprocess.Popen([sys.executable, "-c", HEAD + """
net = model()
rec = sonde.Recorder(sys.argv[1])
sonde.watch(net, rec, gradients=True, hold=True)
train(net, 10)
rec.flush()
print("ready", flush=True)
train(net, 10**9)
""", str(self.log)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        self.assertIn("KeyboardInterrupt", errors)
        self.assertNotIn("Fatal", errors)
        self.assertGreaterEqual(len(self.column("activation/2")), 10)

    def test_held_tensors_are_released_with_the_interpreters_lock(self):
        # A finalizer in Python says on which thread; without the lock it would crash the process.
        done = self.run_watched("""
import weakref
net = model()
rec = sonde.Recorder(sys.argv[1])
released = []
def remember(module, args, output):
    weakref.finalize(output, lambda: released.append(threading.current_thread().name))
net[2].register_forward_hook(remember)
with sonde.watch(net, rec, hold=True):
    train(net, 50)
rec.close()
sonde.release_owners()
assert len(released) == 50, len(released)
assert set(released) == {"MainThread"}, set(released)
""")
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
