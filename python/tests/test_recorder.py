"""sonde.Recorder: what it records, what it refuses, and whose memory it holds for how long."""
import array
import gc
import threading
import unittest
import warnings
import weakref

import ml_dtypes
import numpy
from testing import InFolder, tensorboard_events

import sonde


class RecorderTest(InFolder):
    def setUp(self):
        super().setUp()
        self.rec = sonde.Recorder(self.log, console=False)
        self.addCleanup(self.rec.close)

    def record(self, tensor, **options):
        """Records one tensor, and gives back its statistics as read from the log."""
        with self.rec.step(1) as step:
            self.rec.probe("x").record(step, tensor, **options)
        self.rec.flush()
        run = sonde.load(self.log, cache=False)["."]
        return {name: column[0] for name, column in run.statistics("activation/x").columns.items()}, run.probes[0]


class Tensors(RecorderTest):
    def test_every_element_type_is_recorded_as_itself(self):
        types = {"bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
                 "uint32": "u32", "uint64": "u64", "float16": "f16", "float32": "f32", "float64": "f64",
                 ml_dtypes.bfloat16: "bf16", ml_dtypes.float8_e4m3fn: "f8_e4m3", ml_dtypes.float8_e5m2: "f8_e5m2"}
        with self.rec.step(1) as step:
            for number, dtype in enumerate(types):
                self.rec.probe(f"t{number:02}").record(step, numpy.array([0, 1, 1], dtype))
        self.rec.flush()
        run = sonde.load(self.log, cache=False)["."]
        probes = {probe["name"]: probe["dtype"] for probe in run.probes}
        self.assertEqual(probes, {f"t{number:02}": name for number, name in enumerate(types.values())})
        for probe in run.probes:
            self.assertEqual(run.statistics(probe["tag"])["zeros"].tolist(), [1], probe)
            self.assertAlmostEqual(run.statistics(probe["tag"])["mean"][0], 2 / 3, msg=probe)

    def test_strided_views_are_recorded_as_numpy_sees_them(self):
        base = numpy.arange(24, dtype=numpy.float32).reshape(4, 6)
        for number, view in enumerate((base.T, base[::2, 1::3], base[::-1], numpy.broadcast_to(base[:1], (3, 6)), base[:0],
                                       numpy.float32(7))):
            with self.rec.step(number) as step:
                self.rec.probe(f"v{number}").record(step, view)
            self.rec.flush()
            found = sonde.load(self.log, cache=False)["."].statistics(f"activation/v{number}")
            self.assertEqual(found["count"][0], numpy.size(view))
            if numpy.size(view):
                self.assertAlmostEqual(found["mean"][0], float(numpy.mean(view)), 5)
                self.assertEqual((found["min"][0], found["max"][0]), (numpy.min(view), numpy.max(view)))

    def test_fields_and_foreign_byte_orders_are_recorded_by_value(self):
        fields = numpy.array([(1, 2.0), (3, 5.0)], [("a", "i1"), ("b", "f4")])["b"]
        self.assertEqual(self.record(fields)[0]["mean"], 3.5)

    def test_big_endian_arrays_are_recorded_by_value(self):
        self.assertEqual(self.record(numpy.array([1, 2, 6], ">f8"))[0]["mean"], 3)

    def test_lists_numbers_and_buffers_are_tensors_too(self):
        for number, tensor in enumerate(([[1, 2], [3, 6]], (3.0,), 3, array.array("d", [1, 5]), memoryview(b"\x03\x03"))):
            with self.rec.step(number) as step:
                self.rec.probe(f"l{number}").record(step, tensor)
        self.rec.flush()
        run = sonde.load(self.log, cache=False)["."]
        self.assertEqual([run.statistics(f"activation/l{n}")["mean"][0] for n in range(5)], [3] * 5)

    def test_nan_and_infinities_are_data(self):
        found, _ = self.record([1.0, float("nan"), float("inf"), -float("inf")])
        self.assertEqual([found[name] for name in ("nan", "positive_infinity", "negative_infinity", "mean")], [1, 1, 1, 1])

    def test_what_is_no_tensor_is_refused_with_the_argument(self):
        probe = self.rec.probe("x")
        with self.rec.step(1) as step:
            for wrong in ("text", None, object(), [object()], [[1], [1, 2]], {}, numpy.array(["a"]), numpy.zeros([1] * 9)):
                with self.subTest(wrong=wrong), self.assertRaisesRegex((TypeError, ValueError), "^tensor "):
                    probe.record(step, wrong)

    def test_many_tensors_are_recorded_in_one_call(self):
        probes = [self.rec.probe(f"p{n}") for n in range(10)]
        with self.rec.step(1) as step:
            self.rec.record(step, [(probe, numpy.full(50_000, n, numpy.float32)) for n, probe in enumerate(probes)])
        self.rec.flush()
        run = sonde.load(self.log, cache=False)["."]
        self.assertEqual([run.statistics(f"activation/p{n}")["mean"][0] for n in range(10)], list(range(10)))

    def test_pairs_of_the_wrong_kind_are_refused(self):
        with self.rec.step(1) as step:
            for wrong in ([1], [(1, 2)], [(self.rec.probe("x"),)], 3):
                with self.assertRaises(TypeError):
                    self.rec.record(step, wrong)

    def test_statistics_computed_elsewhere_are_recorded(self):
        bins = [(sonde.histogram_key(1.0), 2), (sonde.histogram_key(3.0), 2)]
        found, probe = self.record(sonde.Statistics(shape=(2, 2), dtype="bf16", min=1, max=3, mean=2, m2=4, sum_abs=8,
                                                    histogram=bins))
        self.assertEqual((found["count"], found["mean"], found["std"], probe["dtype"]), (4, 2, 1, "bf16"))

    def test_statistics_that_contradict_each_other_are_refused(self):
        with self.assertRaises(ValueError):
            sonde.Statistics(shape=(2,), min=3, max=1, mean=2)


class Held(RecorderTest):
    def test_held_tensors_are_shared_and_then_released(self):
        tensor = numpy.full(100_000, 2.0)
        gone = weakref.ref(tensor)
        with self.rec.step(1) as step:
            self.rec.probe("x").record(step, tensor, hold=True)
        del tensor
        self.rec.flush()
        sonde.release_owners()
        gc.collect()
        self.assertIsNone(gone())
        self.assertEqual(sonde.load(self.log, cache=False)["."].statistics("activation/x")["mean"][0], 2)

    def test_a_batch_is_held_and_then_released(self):
        tensors = [numpy.full(1000, n) for n in range(20)]
        gone = [weakref.ref(tensor) for tensor in tensors]
        with self.rec.step(1) as step:
            self.rec.record(step, [(self.rec.probe(f"p{n}"), tensor) for n, tensor in enumerate(tensors)], hold=True)
        tensor = tensors = None
        self.rec.close()
        gc.collect()
        self.assertEqual([ref() for ref in gone], [None] * 20)

    def test_a_copied_tensor_may_change_at_once(self):
        tensor = numpy.full(1_000_000, 2.0)
        with self.rec.step(1) as step:
            self.rec.probe("x").record(step, tensor)
            tensor[:] = 9
        self.rec.flush()
        self.assertEqual(sonde.load(self.log, cache=False)["."].statistics("activation/x")["max"][0], 2)


class Calls(RecorderTest):
    def test_all_kinds_of_values_are_read_back(self):
        self.rec.scalar("loss", 0.5, 3)
        self.rec.series("rate").record(numpy.float32(0.25), numpy.int64(4))
        self.rec.histogram("weights", numpy.arange(10.0), 1)
        self.rec.image("picture", numpy.zeros((2, 8, 8, 3), numpy.uint8), 1, "NHWC")
        self.rec.audio("sound", numpy.zeros(100, numpy.float32), 1)
        self.rec.text("note", "*hello*", 1)
        self.rec.pr_curve("curve", [0, 1], [0.2, 0.7], 1)
        self.rec.mesh("points", numpy.zeros((4, 3), numpy.float32), 1)
        self.rec.hparams({"lr": 0.1, "on": True, "n": 3, "name": "x"}, metrics=["loss"])
        with self.rec.group(7, wall_time=1000.5) as group:
            group.scalar("grouped", 1)
        self.rec.close()
        found = tensorboard_events(self.log)
        self.assertEqual(found["scalars", "loss"][0][0::2], (3, 0.5))
        self.assertEqual(found["scalars", "rate"][0][0::2], (4, 0.25))
        self.assertEqual(found["scalars", "grouped"][0], (7, 1000.5, 1.0))
        self.assertEqual(found["histograms", "weights"][0][2][:, 2].sum(), 10)
        self.assertEqual(found["text", "note"][0][2].item(), b"*hello*")
        self.assertLessEqual({("images", "picture"), ("audio", "sound"), ("pr_curves", "curve"), ("mesh", "points_VERTEX"),
                              ("hparams", "_hparams_/session_start_info")}, set(found))

    def test_tables_and_checkpoints_are_files_of_the_run(self):
        self.rec.table("validation", {"label": numpy.array([0, 1]), "prediction": numpy.array([0.25, 0.75])}, 1)
        self.rec.checkpoint("model", 1, {"kernel": numpy.eye(2)}, metadata={"epoch": "3"})
        self.rec.flush()
        (table,) = self.log.glob("tables/validation.*.csv")
        self.assertEqual(len(table.read_text().splitlines()), 3)
        file = sonde.open_tensors(self.log / "checkpoints/model-1.safetensors")
        numpy.testing.assert_array_equal(file["kernel"], numpy.eye(2))
        self.assertEqual(file.metadata["epoch"], "3")

    def test_wrong_arguments_are_named(self):
        rec = self.rec
        for call, error, words in (
                (lambda: rec.scalar(3, 1.0, 1), TypeError, "name must be a str, not int"),
                (lambda: rec.scalar("x", "y", 1), TypeError, "value must be a number, not str"),
                (lambda: rec.scalar("x", 1.0, 1.5), TypeError, "step must be an int, not float"),
                (lambda: rec.scalar("x", 1.0, 2**70), ValueError, "step does not fit into 64 bits"),
                (lambda: rec.scalar("x", numpy.zeros(2), 1), ValueError, "value must have one element, not 2"),
                (lambda: rec.image("x", numpy.zeros((2, 2)), 1, "NHWC"), ValueError, "4 dimensions for layout 'NHWC', not 2"),
                (lambda: rec.image("x", numpy.zeros((2, 2)), 1, "WH"), ValueError, "layout must be one of 'HW'"),
                (lambda: rec.audio("x", numpy.zeros((2, 2, 2)), 1), ValueError, r"\[frames\]"),
                (lambda: rec.histogram("x", numpy.zeros(2, complex), 1), TypeError, "real numbers"),
                (lambda: rec.pr_curve("x", [0, 1], [0.5], 1), ValueError, "same number of elements, not 2 and 1"),
                (lambda: rec.probe("x", kind="gradients"), ValueError, "kind must be one of 'activation'"),
                (lambda: rec.probe("x", keep=["all"]), ValueError, "keep must be one of"),
                (lambda: rec.probe("x", every=-1), ValueError, "every"),
                (lambda: rec.probe("x", when=3), TypeError, "when must be a function"),
                (lambda: rec.probe(""), ValueError, "name must not be empty"),
                (lambda: rec.probe("x", every="10"), TypeError, "every must be an int, not str"),
                (lambda: rec.probe("x", max_cells=2**40), ValueError, "max_cells does not fit into 32 bits"),
                (lambda: rec.probe("x", low="dark"), TypeError, "low must be a number, not str"),
                (lambda: rec.probe("x").record(3, [1.0]), TypeError, "step must be what Recorder.step returns, not int"),
                (lambda: rec.probe("x").wanted(None), TypeError, "step must be what Recorder.step returns, not NoneType"),
                (lambda: rec.probe("x").record(rec.step(1), [1.0], hold="yes"), TypeError, "hold must be True or False, not str"),
                (lambda: rec.record(1, []), TypeError, "step must be what Recorder.step returns, not int"),
                (lambda: rec.record(rec.step(1), [], hold=1), TypeError, "hold must be True or False, not int"),
                (lambda: rec.image("x", numpy.zeros((2, 2)), 1, "HW", high="bright"), TypeError, "high must be a number"),
                (lambda: rec.audio("x", [0.0], 1, sample_rate=8e3), TypeError, "sample_rate must be an int, not float"),
                (lambda: rec.pr_curve("x", [0, 1], [0, 1], 1, thresholds=None), TypeError, "thresholds"),
                (lambda: rec.table("x", {"a": [1]}, 1, rows="all"), TypeError, "rows must be an int, not str"),
                (lambda: rec.table("x", {"a": [1]}, 1, random=1), TypeError, "random must be True or False, not int"),
                (lambda: rec.checkpoint("x", 1, {"a": [1.0]}, metric="best"), TypeError, "metric must be a number, not str"),
                (lambda: rec.checkpoint("x", 1, {"a": [1.0]}, keep_last="3"), TypeError, "keep_last must be an int, not str"),
                (lambda: rec.print("x", [1.0], 1, full=1), TypeError, "full must be True or False, not int"),
                (lambda: rec.trigger("x", before="5"), TypeError, "before must be an int, not str"),
                (lambda: rec.trigger(3), TypeError, "reason must be a str, not int"),
                (lambda: rec.group("1"), TypeError, "step must be an int, not str"),
                (lambda: rec.group(1, wall_time="now"), TypeError, "wall_time must be a number, not str"),
                (lambda: rec.step("first"), TypeError, "number must be an int, not str"),
                (lambda: rec.set_policy(3), TypeError, "policy must be a path, TOML as a str, or a dict, not int"),
                (lambda: rec.set_policy({"watch": 3}), TypeError, r"policy\['watch'\] must be a dict"),
                (lambda: sonde.Recorder(3), TypeError, "directory must be a str or a path, not int"),
                (lambda: sonde.Recorder(b"log"), TypeError, "directory must be a str or a path, not bytes"),
                (lambda: sonde.Recorder(""), ValueError, "directory"),
                (lambda: sonde.Recorder(self.folder / "y", memory=-1), ValueError, "memory must be a number of bytes"),
                (lambda: sonde.Recorder(self.folder / "y", memory=None), TypeError, "memory must be a number of bytes"),
                (lambda: sonde.Recorder(self.folder / "y", max_wait="1s"), TypeError, "max_wait must be a number of seconds"),
                (lambda: sonde.Recorder(self.folder / "y", flush_interval=-1), ValueError, "flush_interval must be a number of seconds"),
                (lambda: sonde.Recorder(self.folder / "y", threads="two"), TypeError, "threads must be an int"),
                (lambda: sonde.Recorder(self.folder / "y", histogram_buckets=0), ValueError, "histogram_buckets must be a number of buckets"),
                (lambda: sonde.Recorder(self.folder / "y", console="yes"), TypeError, "console must be True or False"),
                (lambda: sonde.Recorder(self.folder / "y", trigger_signal="USR1"), TypeError, "trigger_signal must be an int"),
                (lambda: sonde.Recorder(self.folder / "y", purge_step=1.5), TypeError, "purge_step must be the number of a step"),
                (lambda: sonde.Recorder(self.folder / "y", scalars="never"), ValueError, "scalars must be one of"),
                (lambda: sonde.Recorder(self.folder / "y", precision="f16"), ValueError, "precision must be one of"),
                (lambda: sonde.Recorder(self.folder / "y", polcy={}), TypeError, "polcy"),
                (lambda: rec.table("x", {"a": [1], "b": [1, 2]}, 1), ValueError, "different numbers of rows"),
                (lambda: rec.checkpoint("x", 1, [1]), TypeError, "tensors must be a dict"),
                (lambda: rec.graph([{"name": "a", "inputs": ["b"]}]), ValueError, "b"),
                (lambda: rec.set_policy("[[watch]]\nevery = 'x'"), ValueError, "policy:2"),
                (lambda: rec.set_policy({"watch": [{"evry": 1}]}), ValueError, "every"),
                (lambda: sonde.Recorder(self.folder / "y", memory="much"), ValueError, "memory"),
                (lambda: sonde.Recorder(self.folder / "y", on_error=3), TypeError, "on_error"),
                (lambda: sonde.Recorder(self.folder / "y", policy=self.folder / "none.toml"), FileNotFoundError, "none.toml"),
                (lambda: sonde.Recorder("/proc/none"), OSError, "/proc/none")):
            with self.subTest(words=words), self.assertRaisesRegex(error, words):
                call()

    def test_a_closed_recorder_refuses_everything_but_close(self):
        series, probe, step = self.rec.series("x"), self.rec.probe("y"), self.rec.step(1)
        self.rec.close()
        self.rec.close()
        for call in (lambda: self.rec.scalar("x", 1, 1), lambda: series.record(1, 1), lambda: probe.record(step, [1.0]),
                     lambda: self.rec.step(2), self.rec.flush, lambda: self.rec.record(step, [])):
            with self.assertRaisesRegex(ValueError, "the recorder is closed"):
                call()
        self.assertTrue(self.rec.closed)

    def test_a_recorder_that_goes_away_is_closed(self):
        sonde.Recorder(self.folder / "other").scalar("loss", 1.0, 1)
        self.assertEqual(sonde.load(self.folder / "other", cache=False)["."].scalars("loss").values.tolist(), [1])

    def test_steps_are_committed_and_calls_counted(self):
        for n in range(3):
            with self.rec.step(n):
                self.rec.scalar("loss", n, n)
        self.rec.flush()
        self.assertEqual((self.rec.committed_step, self.rec.counters.scalars), (2, 3))

    def test_passes_and_evaluations_are_open_side_by_side(self):
        probe = self.rec.probe("x")
        with self.rec.pass_(1) as one, self.rec.pass_(2) as two, self.rec.evaluation(7) as held_out:
            probe.record(two, [2.0])
            probe.record(one, [1.0])
            probe.record(held_out, [7.0])
        self.rec.flush()
        run = sonde.load(self.log, cache=False)["."]
        self.assertEqual(run.statistics("activation/x")["mean"].tolist(), [1, 2])
        self.assertEqual({tag.name for tag in run.tags}, {"activation/x", "eval/activation/x"})


class Policies(RecorderTest):
    def test_a_policy_is_a_file_a_text_or_a_dict(self):
        path = self.folder / "policy.toml"
        path.write_text('[[watch]]\ntensors = "a"\n')
        for policy in (path, str(path), path.read_text(), {"watch": [{"tensors": "a"}]}):
            with sonde.Recorder(self.folder / "policy", policy=policy) as rec, rec.step(1) as step:
                self.assertEqual([rec.probe(name).wanted(step) for name in "ab"], [True, False])

    def test_a_condition_sees_the_step_and_decides(self):
        asked = []

        def large(values):
            asked.append((values.step, values.scalar("loss")))
            return values.scalar("loss") > 1

        probe = self.rec.probe("x", when=large)
        for n, loss in enumerate((0.5, 2.0)):
            with self.rec.step(n) as step:
                probe.record(step, [1.0])
                self.rec.scalar("loss", loss, n)
        self.rec.flush()
        self.assertEqual(asked, [(0, 0.5), (1, 2.0)])
        self.assertEqual(sonde.load(self.log, cache=False)["."].statistics("activation/x").steps.tolist(), [1])

    def test_a_condition_that_raises_keeps_the_tensor_and_is_told(self):
        errors = []
        with sonde.Recorder(self.folder / "raises", on_error=errors.append) as rec:
            with rec.step(1) as step:
                rec.probe("x", when=lambda values: 1 / 0).record(step, [1.0])
            rec.flush()
        self.assertRegex("\n".join(errors), "condition of the probe 'x' raised ZeroDivisionError: division by zero")
        self.assertEqual(len(sonde.load(self.folder / "raises", cache=False)["."].statistics("activation/x")), 1)

    def test_values_of_a_step_are_gone_after_its_condition(self):
        kept = []
        with self.rec.step(1) as step:
            self.rec.probe("x", when=lambda values: kept.append(values) or True).record(step, [1.0])
        self.rec.flush()
        with self.assertRaises(ValueError):
            kept[0].scalar("loss")


class Errors(RecorderTest):
    def test_what_cannot_be_recorded_is_a_warning(self):
        with self.assertWarnsRegex(sonde.RecordingWarning, "loss"):
            self.rec.scalar("loss", 1.0, 1)
            self.rec.text("loss", "a second kind under one name", 1)

    def test_or_goes_to_on_error(self):
        errors = []
        with warnings.catch_warnings(), sonde.Recorder(self.folder / "told", on_error=errors.append) as rec:
            warnings.simplefilter("error")
            rec.scalar("loss", 1.0, 1)
            rec.text("loss", "a second kind under one name", 1)
        self.assertEqual(len(errors), 1)

    def test_what_on_error_raises_comes_out_of_the_call(self):
        def refuse(sentence):
            raise LookupError(sentence)

        rec = sonde.Recorder(self.folder / "raised", on_error=refuse)
        rec.scalar("loss", 1.0, 1)
        with self.assertRaisesRegex(LookupError, "loss"):
            rec.text("loss", "a second kind under one name", 1)

    def test_a_cycle_through_on_error_is_collected(self):
        class Owner:
            def __init__(self, path):
                self.rec = sonde.Recorder(path, on_error=self.tell)

            def tell(self, sentence):
                pass

        gone = weakref.ref(Owner(self.folder / "cycle"))
        gc.collect()
        self.assertIsNone(gone())


class Threads(RecorderTest):
    def test_many_threads_record_into_one_recorder(self):
        def work(number):
            for n in range(500):
                self.rec.scalar(f"s{number}", n, n)
                self.rec.histogram(f"h{number}", numpy.full(100, n), n)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.rec.flush()
        run = sonde.load(self.log, cache=False)["."]
        for number in range(4):
            self.assertEqual(run.scalars(f"s{number}").values.tolist(), list(range(500)))
        counters = self.rec.counters
        self.assertEqual(counters.tensors + counters.dropped_tensors, 2000)

    def test_large_copies_let_other_threads_run(self):
        ran = threading.Event()
        big = numpy.zeros(20_000_000, numpy.float32)

        def work():
            ran.set()

        with self.rec.step(1) as step:
            threading.Thread(target=work).start()
            self.rec.probe("x").record(step, big)
        self.assertTrue(ran.wait(60))


if __name__ == "__main__":
    unittest.main()
