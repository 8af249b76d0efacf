"""sonde.tap with NumPy: which recorder and which step a value goes to."""
import os
import pathlib
import threading
import unittest

import numpy
from taps import Taps

import sonde
from sonde import _current


class Steps(Taps):
    def test_returns_the_value_itself(self):
        x = numpy.ones(3)
        with self.rec.step(1):
            self.assertIs(sonde.tap("x", x), x)
            self.assertEqual(sonde.tap("list", [1.0, 2.0]), [1.0, 2.0])
        self.assertEqual(self.found(), [(1, 1)])

    def test_the_step_that_is_open(self):
        for n in range(3):
            with self.rec.step(n):
                sonde.tap("x", numpy.full(2, n))
        self.assertEqual(self.found(), [(0, 0), (1, 1), (2, 2)])

    def test_a_step_that_was_begun_without_with(self):
        for n in range(3):
            step = self.rec.step(n)
            sonde.tap("x", numpy.full(2, n))
        step.end()
        self.assertEqual(self.found(), [(0, 0), (1, 1), (2, 2)])

    def test_evaluation_and_passes(self):
        with self.rec.step(4):
            sonde.tap("x", [1.0])
            with self.rec.evaluation(4):
                sonde.tap("x", [2.0])
            sonde.tap("y", [3.0])
        with self.rec.pass_(9):
            sonde.tap("x", [4.0])
        self.assertEqual(self.found(), [(4, 1), (9, 4)])
        self.assertEqual(self.found("eval/activation/x"), [(4, 2)])
        self.assertEqual(self.found("activation/y"), [(4, 3)])

    def test_after_a_step_it_belongs_to_that_one(self):
        with self.rec.step(5):
            pass
        sonde.tap("x", [1.0])
        self.assertEqual(self.found(), [(5, 1)])

    def test_a_number_of_its_own(self):
        for n in (3, 4):
            sonde.tap("x", [n], n)
            sonde.tap("y", [n], step=numpy.int32(n))
        with self.rec.step(7) as step:
            sonde.tap("x", [7.0], 7)
            sonde.tap("x", [20.0], 20)
            self.assertFalse(step.ended)
        self.assertEqual(sorted(self.found()), [(3, 3), (4, 4), (7, 7), (20, 20)])
        self.assertEqual(self.found("activation/y"), [(3, 3), (4, 4)])

    def test_without_any_step_they_are_counted_by_names_that_come_again(self):
        for n in range(3):
            sonde.tap("x", [n])
            sonde.tap("y", [n])
            if n == 1:
                self.rec.flush()
        self.assertEqual(self.found(), [(0, 0), (1, 1), (2, 2)])
        self.assertEqual(self.found("activation/y"), [(0, 0), (1, 1), (2, 2)])

    def test_a_name_twice_in_a_step_is_another_occurrence(self):
        with self.rec.step(1):
            for n in range(3):
                sonde.tap("x", [n])
        self.assertEqual([self.found(f"activation/x{which}") for which in ("", "#1", "#2")], [[(1, 0)], [(1, 1)], [(1, 2)]])

    def test_off_and_kinds_and_parts(self):
        with self.rec.step(1):
            sonde.tap("x", [1.0], enabled=False)
            sonde.tap("w", [1.0], kind="weight")
            result = sonde.tap("out", {"a": numpy.ones(2), "b": (numpy.zeros(2), [1.0, 2.0])})
        self.assertEqual(list(result), ["a", "b"])
        self.rec.flush()
        tags = {probe["tag"] for probe in sonde.load(self.log, cache=False)["."].probes}
        self.assertEqual(tags, {"weight/w", "activation/out/a", "activation/out/b/0", "activation/out/b/1"})

    def test_wrong_arguments_raise(self):
        for call in (lambda: sonde.tap(3, [1.0]), lambda: sonde.tap("x", [1.0], recorder="logs"), lambda: sonde.tap("x", [1.0], 1.5),
                     lambda: sonde.tap("x", [1.0], "one"), lambda: sonde.tap_grad("x", [1.0]), lambda: sonde.tap("x", "text")):
            self.assertRaises(TypeError, call)
        self.assertRaises(ValueError, sonde.tap, "", [1.0])
        for call, message in ((lambda: sonde.tap("x", [1.0], 1.5), "step must be an integer, not 1.5"),
                              (lambda: sonde.tap("x", [1.0], "1"), "step must be an integer, not '1'"),
                              (lambda: sonde.tap("x", None), "x, tapped as 'x': tensor must be a tensor"),
                              (lambda: sonde.tap("x", "text"), "x, tapped as 'x'"),
                              (lambda: sonde.tap("x", [1.0], recorder="logs"), "recorder must be a sonde.Recorder, not str")):
            self.assertRaisesRegex(TypeError, message, call)
        self.assertRaises(ValueError, sonde.tap, "x", [1.0], kind="colour")
        closed = sonde.Recorder(self.folder / "closed")
        closed.close()
        self.assertRaisesRegex(ValueError, "the recorder is closed", sonde.tap, "x", [1.0], 1, recorder=closed)


class Recorders(Taps):
    def test_the_recorder_of_the_innermost_step(self):
        with sonde.Recorder(self.folder / "other") as other:
            with self.rec.step(1):
                with other.step(2):
                    sonde.tap("x", [2.0])
                sonde.tap("x", [1.0])
            self.assertEqual((self.found(), self.found(rec=other)), ([(1, 1)], [(2, 2)]))

    def test_the_one_that_was_opened_last_and_is_open(self):
        other = sonde.SummaryWriter(self.folder / "other")
        sonde.tap("x", [2.0], 2)
        other.close()
        sonde.tap("x", [1.0], 1)
        self.assertEqual((self.found(), self.found(rec=other)), ([(1, 1)], [(2, 2)]))

    def test_a_given_one(self):
        with sonde.Recorder(self.folder / "other") as other, other.step(2):
            sonde.tap("x", [1.0], 1, recorder=self.rec)
        self.assertEqual((self.found(), self.found(rec=other)), ([(1, 1)], []))

    def test_another_thread_records_in_the_step_that_is_open(self):
        with self.rec.step(3):
            thread = threading.Thread(target=sonde.tap, args=("x", [1.0]))
            thread.start()
            thread.join()
        self.assertEqual(self.found(), [(3, 1)])

    def test_each_thread_has_the_step_that_it_began(self):
        ready, done = threading.Barrier(2), []

        def work(n):
            with self.rec.pass_(n):
                ready.wait()
                sonde.tap(f"x{n}", [float(n)])
                ready.wait()
            done.append(n)

        threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(done), [1, 2])
        self.assertEqual((self.found("activation/x1"), self.found("activation/x2")), ([(1, 1)], [(2, 2)]))

    def test_where_there_is_none_one_is_opened_below_runs(self):
        self.run_python("import os, sys, sonde; os.chdir(sys.argv[1]); sonde.tap('x', [1.0]); sonde.tap('x', [3.0])", self.folder)
        [run] = (self.folder / "runs").iterdir()
        self.assertRegex(run.name, r"^\d{8}-\d{6}-")
        self.assertEqual(sonde.load(run, cache=False)["."].statistics("activation/x")["mean"].tolist(), [1, 3])

    def test_a_recorder_that_nobody_holds_is_forgotten(self):
        other = sonde.Recorder(self.folder / "other")
        other.step(1)
        del other
        self.assertIs(_current.recorder(), self.rec)


if __name__ == "__main__":
    os.chdir(pathlib.Path(__file__).parent)
    unittest.main()
