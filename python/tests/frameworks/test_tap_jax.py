"""sonde.tap in JAX: under every transformation a value is recorded once, at its step, and switching compiles nothing."""
import pathlib
import sys
import time
import unittest
import warnings

import jax
import jax.numpy as jnp
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from testing import InFolder  # noqa: E402

import sonde  # noqa: E402

X = jnp.arange(4.0)


def net(x, step=None, enabled=True):
    return jnp.sin(sonde.tap("hidden", jnp.sin(x), step, enabled=enabled)).sum()


HIDDEN = float(jnp.sin(X).mean())


class Tap(InFolder):
    def setUp(self):
        super().setUp()
        self.rec = sonde.Recorder(self.log, console=False)
        self.addCleanup(self.rec.close)

    def found(self, tag="activation/hidden"):
        """The steps and means of a tensor."""
        self.rec.flush()
        run = sonde.load(self.log, cache=False)["."]
        try:
            table = run.statistics(tag)
        except KeyError:
            return []
        return [(int(step), round(float(mean), 4)) for step, mean in zip(table.steps, table["mean"])]

    def assert_once(self, function, *arguments):
        """The function records the hidden values at step 3, once; returns what it returns."""
        result = jax.block_until_ready(function(*arguments, 3))
        self.assertEqual(self.found(), [(3, round(HIDDEN, 4))])
        return result

    def test_outside_of_any_trace(self):
        self.assert_once(net, X)

    def test_jit(self):
        self.assertAlmostEqual(float(self.assert_once(jax.jit(net), X)), float(jnp.sin(jnp.sin(X)).sum()), 5)

    def test_grad(self):
        gradient = self.assert_once(jax.jit(jax.grad(net)), X)
        numpy.testing.assert_allclose(gradient, jnp.cos(jnp.sin(X)) * jnp.cos(X), rtol=1e-5)

    def test_grad_without_jit(self):
        self.assert_once(jax.grad(net), X)

    def test_second_derivatives(self):
        self.assertEqual(self.assert_once(jax.jit(jax.hessian(net)), X).shape, (4, 4))

    def test_remat_records_the_forward_pass_only(self):
        for number, wrapped in enumerate((jax.jit(jax.grad(jax.checkpoint(net))), jax.grad(jax.checkpoint(net)))):
            wrapped(X, number)
        self.assertEqual(self.found(), [(0, round(HIDDEN, 4)), (1, round(HIDDEN, 4))])

    def test_vmap_records_the_batch_as_one_tensor(self):
        batch = jnp.stack([X, X + 1, X + 2])
        jax.jit(jax.vmap(net, (0, None)))(batch, 3)
        self.assertEqual(self.found(), [(3, round(float(jnp.sin(batch).mean()), 4))])
        self.assertEqual(sonde.load(self.log, cache=False)["."].statistics("activation/hidden")["count"].tolist(), [12])

    def test_vmap_of_grad_and_grad_of_vmap_and_remat(self):
        batch = jnp.stack([X, X + 1, X + 2])
        jax.jit(jax.vmap(jax.grad(net), (0, None)))(batch, 1)
        jax.jit(jax.grad(lambda x, step: jax.vmap(net, (0, None))(x, step).sum()))(batch, 2)
        jax.jit(jax.vmap(jax.grad(jax.checkpoint(net)), (0, None)))(batch, 3)
        mean = round(float(jnp.sin(batch).mean()), 4)
        self.assertEqual(self.found(), [(1, mean), (2, mean), (3, mean)])

    def test_vmap_over_the_step_is_refused(self):
        with self.assertRaisesRegex(ValueError, "must be the same for the whole batch"):
            jax.vmap(net)(jnp.stack([X, X]), jnp.arange(2))

    def test_scan_records_every_iteration_in_order(self):
        @jax.jit
        def work(x, step):
            return jax.lax.scan(lambda c, _: (sonde.tap("hidden", c + 1, step), None), x, None, length=3)[0]

        work(jnp.zeros(2), 5)
        self.assertEqual(self.found(), [(5, 1)])
        self.assertEqual(self.found("activation/hidden#1") + self.found("activation/hidden#2"), [(5, 2), (5, 3)])

    def test_scan_of_remat_under_grad(self):
        def work(x, step):
            body = jax.checkpoint(lambda c, _: (jnp.sin(sonde.tap("hidden", c * 2, step)), None))
            return jax.lax.scan(body, x, None, length=2)[0].sum()

        jax.jit(jax.grad(work))(X, 1)
        self.assertEqual(len(self.found()), 1)
        self.assertEqual(len(self.found("activation/hidden#1")), 1)
        self.assertEqual(self.found("activation/hidden#2"), [])

    def test_a_branch_that_is_not_taken_records_nothing(self):
        @jax.jit
        def work(x):
            return jax.lax.cond(x[0] > 0, lambda x: sonde.tap("hidden", x, 1), lambda x: sonde.tap("other", x, 1), x)

        work(X)
        self.assertEqual((self.found(), self.found("activation/other")), ([], [(1, 1.5)]))

    def test_a_value_that_nobody_uses_is_recorded(self):
        jax.jit(lambda x: (sonde.tap("hidden", x, 2), x)[1])(X)
        self.assertEqual(self.found(), [(2, 1.5)])

    def test_values_of_a_step_are_in_the_order_of_the_program(self):
        @jax.jit
        def work(x, step):
            for name in ("c", "a", "b", "a"):
                x = sonde.tap(name, x + 1, step)
            return x

        for n in range(20):
            work(X, n)
        self.rec.flush()
        run = sonde.load(self.log, cache=False)["."]
        self.assertEqual([probe["tag"].removeprefix("activation/") for probe in run.probes], ["c", "a", "b"])
        for tag, mean in (("c", 2.5), ("a", 3.5), ("b", 4.5), ("a#1", 5.5)):
            table = run.statistics(f"activation/{tag}")
            self.assertEqual((table.steps.tolist(), set(table["mean"].tolist())), (list(range(20)), {mean}))

    def test_without_a_step_it_is_the_step_that_is_open(self):
        work = jax.jit(lambda x: jnp.sin(sonde.tap("hidden", x)).sum())
        for n in range(10, 15):
            with self.rec.step(n):
                work(X + n)
        self.assertEqual(self.found(), [(n, n + 1.5) for n in range(10, 15)])

    def test_a_condition_on_the_loss_sees_the_value_of_the_same_step(self):
        rec = sonde.Recorder(self.folder / "condition", console=False, policy={"watch": [{"tensors": "hidden", "when": "loss > 1"}]})
        work = jax.jit(lambda x: jnp.sin(sonde.tap("hidden", x, recorder=rec)).sum())
        for n in range(4):
            with rec.step(n):
                work(X)
                rec.scalar("loss", 2.0 if n == 2 else 0.5, n)
        rec.close()
        table = sonde.load(self.folder / "condition", cache=False)["."].statistics("activation/hidden")
        self.assertEqual(table.steps.tolist(), [2])

    def test_in_an_evaluation_it_goes_under_eval(self):
        work = jax.jit(lambda x: jnp.sin(sonde.tap("hidden", x)).sum())
        with self.rec.evaluation(7):
            work(X)
        self.assertEqual(self.found("eval/activation/hidden"), [(7, 1.5)])

    def test_without_any_step_they_are_counted(self):
        work = jax.jit(lambda x: sonde.tap("other", sonde.tap("hidden", x) * 2))
        for n in range(3):
            jax.block_until_ready(work(X + n))
        self.assertEqual(self.found(), [(0, 1.5), (1, 2.5), (2, 3.5)])
        self.assertEqual(self.found("activation/other"), [(0, 3), (1, 5), (2, 7)])

    def test_switching_compiles_nothing(self):
        compiled = []
        jax.monitoring.register_event_duration_secs_listener(
            lambda event, *_, **__: compiled.append(event) if event.endswith("backend_compile_duration") else None)
        traced = []
        work = jax.jit(lambda *arguments: (traced.append(1), net(*arguments))[1])
        jax.block_until_ready(work(X, 0, False))
        before = len(compiled)
        self.assertGreater(before, 0, "compilations are not counted")
        for n in range(10):
            jax.block_until_ready(work(X, n, n % 3 == 0))
        self.assertEqual((len(compiled), len(traced)), (before, 1))
        self.assertEqual([step for step, _ in self.found()], [0, 3, 6, 9])

    def test_the_policy_decides_what_is_copied(self):
        rec = sonde.Recorder(self.folder / "policy", console=False, policy={"watch": [{"tensors": "hidden", "every": 5}]})
        work = jax.jit(lambda x, step: sonde.tap("hidden", x, step, recorder=rec))
        for n in range(11):
            work(X, n)
        rec.close()
        self.assertEqual(sonde.load(self.folder / "policy", cache=False)["."].statistics("activation/hidden").steps.tolist(), [0, 5, 10])

    def test_tap_grad(self):
        def work(x, step, enabled=True):
            return (sonde.tap_grad("hidden", x * 2, step, enabled=enabled) ** 2).sum()

        expected = 8 * X
        for n, function in enumerate((jax.grad(work), jax.jit(jax.grad(work)), jax.jit(jax.grad(jax.checkpoint(work))))):
            numpy.testing.assert_allclose(function(X, n), expected)
        numpy.testing.assert_allclose(jax.jit(jax.vmap(jax.grad(work), (0, None)))(jnp.stack([X, X]), 3), jnp.stack([expected] * 2))
        jax.jit(jax.grad(work))(X, 4, False)
        self.assertEqual(self.found("gradient/hidden"), [(n, 6) for n in range(4)])

    def test_half_precision_and_nested_values(self):
        work = jax.jit(lambda x: sonde.tap("out", {"half": x.astype(jnp.bfloat16), "pair": (x, x + 1)}, 1))
        result = work(X)
        self.assertEqual(result["half"].dtype, jnp.bfloat16)
        self.rec.flush()
        probes = {probe["name"]: probe["dtype"] for probe in sonde.load(self.log, cache=False)["."].probes}
        self.assertEqual(probes, {"out/half": "bf16", "out/pair/0": "f32", "out/pair/1": "f32"})

    def test_wrong_arguments_raise(self):
        for call in (lambda: sonde.tap(3, X), lambda: sonde.tap("x", X, recorder="logs"), lambda: sonde.tap("x", X, 1.5),
                     lambda: jax.jit(lambda x: sonde.tap("x", x, x[0]))(X)):
            self.assertRaises(TypeError, call)
        self.assertRaises(ValueError, sonde.tap, "", X)

    def test_a_closed_recorder_is_told(self):
        rec = sonde.Recorder(self.folder / "closed")
        work = jax.jit(lambda x: sonde.tap("hidden", x, 1, recorder=rec))
        rec.close()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            jax.block_until_ready(work(X))
            jax.effects_barrier()
        self.assertIn("its recorder is closed", str([str(each.message) for each in told]))

    def test_at_the_end_of_the_process_nothing_is_lost(self):
        self.run_python("""
import jax, jax.numpy as jnp, sonde, sys
rec = sonde.Recorder(sys.argv[1])
work = jax.jit(lambda x, n: sonde.tap("hidden", x, n))
for n in range(50): work(jnp.ones(1000), n)
""", self.folder / "exit")
        self.assertEqual(sonde.load(self.folder / "exit", cache=False)["."].statistics("activation/hidden").steps.tolist(),
                         list(range(50)))


class Cost(InFolder):
    def test_off_costs_about_nothing(self):
        """Reported, and judged only by a wide margin: machines differ."""
        def work(x, step, enabled, taps):
            for n in range(20):
                x = jnp.tanh(x @ x)
                if taps:
                    x = sonde.tap(f"layer{n}", x, step, enabled=enabled)
            return x

        x = jnp.eye(256) * 0.5
        bare, off = jax.jit(lambda x, n, e: work(x, n, e, False)), jax.jit(lambda x, n, e: work(x, n, e, True))
        times = {}
        with sonde.Recorder(self.log):
            for _ in range(5):
                for name, function in (("bare", bare), ("off", off)):
                    jax.block_until_ready(function(x, 0, False))
                    begin = time.perf_counter()
                    for n in range(20):
                        jax.block_until_ready(function(x, n, False))
                    times.setdefault(name, []).append(time.perf_counter() - begin)
        ratio = min(times["off"]) / min(times["bare"])
        print(f"20 taps that are off: {ratio:.3f} times the bare step of {min(times['bare']) / 20 * 1e6:.0f} us")
        self.assertLess(ratio, 3)


if __name__ == "__main__":
    unittest.main()
