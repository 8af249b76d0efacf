"""Fork, spawn, signals and the end of the interpreter: nothing that was flushed is lost, and nothing hangs."""
import signal
import subprocess
import sys
import time
import unittest

from testing import InFolder, heed_ctrl_c

import sonde


class Processes(InFolder):
    def losses(self, run="."):
        return sonde.load(self.log, cache=False)[run].scalars("loss").values.tolist()

    def test_the_end_without_close_loses_nothing(self):
        self.run_python("import sonde, sys\nrec = sonde.Recorder(sys.argv[1])\nrec.scalar('loss', 1.0, 1)", self.log)
        self.assertEqual(self.losses(), [1])

    def test_nor_does_an_exception(self):
        done = self.run_python("import sonde, sys\nrec = sonde.Recorder(sys.argv[1])\nrec.scalar('loss', 1.0, 1)\n1/0",
                               self.log, check=False)
        self.assertEqual((done.returncode, self.losses()), (1, [1]))
        self.assertIn("ZeroDivisionError", done.stderr)

    def test_held_tensors_do_not_outlive_the_interpreter_badly(self):
        done = self.run_python("""
import numpy, sonde, sys
rec = sonde.Recorder(sys.argv[1])
probe = rec.probe("x", when=lambda values: True)
step = rec.step(1)
for n in range(100):
    probe.record(step, numpy.zeros(10000), hold=True)
""", self.log)
        self.assertEqual(done.stderr, "")
        tags = sonde.load(self.log, cache=False)["."].tags
        self.assertEqual(len([tag for tag in tags if tag.kind == "statistics"]), 100)

    def test_what_the_end_finds_wrong_is_a_warning(self):
        done = self.run_python("""
import sonde, sys
rec = sonde.Recorder(sys.argv[1])
rec.probe("x", when=lambda values: 1 / 0).record(rec.step(1), [1.0])
""", self.log)
        self.assertIn("RecordingWarning", done.stderr)

    def test_a_forked_child_writes_files_of_its_own(self):
        self.run_python("""
import os, sonde, sys
rec = sonde.Recorder(sys.argv[1])
rec.scalar("loss", 1.0, 1)
child = os.fork()
if child == 0:
    rec.scalar("child", 2.0, 1)
    rec.flush()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
rec.scalar("loss", 3.0, 2)
""", self.log)
        self.assertEqual(self.losses(), [1, 3])
        self.assertEqual(sonde.load(self.log, cache=False)["."].scalars("child").values.tolist(), [2])

    def test_workers_of_multiprocessing_record_beside_the_parent(self):
        program = self.folder / "program.py"
        program.write_text("""
import multiprocessing, sonde, sys

def work(path, number):
    with sonde.Recorder(f"{path}/{number}") as rec:
        rec.scalar("loss", number, 1)

if __name__ == "__main__":
    rec = sonde.Recorder(sys.argv[2])
    context = multiprocessing.get_context(sys.argv[1])
    workers = [context.Process(target=work, args=(sys.argv[2], number)) for number in range(3)]
    for worker in workers: worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    rec.scalar("loss", 9.0, 1)
""")
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method=method):
                self.log = self.folder / method
                done = subprocess.run([sys.executable, "-B", program, method, self.log], timeout=120, check=False,
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual([self.losses(run) for run in ("0", "1", "2", ".")], [[0], [1], [2], [9]])

    def test_interrupted_by_ctrl_c_it_keeps_what_was_recorded(self):
        process = subprocess.Popen([sys.executable, "-B", "-c", """
import sonde, sys, time
rec = sonde.Recorder(sys.argv[1])
rec.scalar("loss", 1.0, 1)
rec.flush()
print("ready", flush=True)
n = 1
while True:
    n += 1
    rec.scalar("loss", 1.0, n)
    rec.histogram("h", [1.0], n)
    if n % 100 == 0: rec.flush()
""", self.log], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c)
        self.assertEqual(process.stdout.readline(), "ready\n")
        time.sleep(0.2)  # anywhere in the loop
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", errors)
        self.assertGreaterEqual(len(self.losses()), 1)

    def test_killed_it_keeps_what_was_flushed(self):
        process = subprocess.Popen([sys.executable, "-B", "-c", """
import sonde, sys, time
rec = sonde.Recorder(sys.argv[1])
for n in range(1000): rec.scalar("loss", n, n)
rec.flush()
print("ready", flush=True)
time.sleep(60)
""", self.log], stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.kill()
        process.communicate()
        self.assertEqual(self.losses(), list(range(1000)))

    def test_threads_that_record_while_the_interpreter_ends_do_not_hang_it(self):
        self.run_python("""
import numpy, sonde, sys, threading
rec = sonde.Recorder(sys.argv[1])
def work():
    n = 0
    while True:
        n += 1
        try:
            rec.histogram("h", numpy.zeros(200000), n)
        except ValueError:
            return
threading.Thread(target=work, daemon=True).start()
rec.scalar("loss", 1.0, 1)
""", self.log)
        self.assertEqual(self.losses(), [1])


if __name__ == "__main__":
    unittest.main()
