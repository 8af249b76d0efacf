"""Tensors of torch, TensorFlow and JAX, recorded in place."""
import pathlib
import sys
import unittest

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from testing import InFolder  # noqa: E402

import sonde  # noqa: E402


class Tensors(InFolder):
    def recorded(self, **tensors):
        """{name: (dtype, shape, mean)} as read back."""
        with sonde.Recorder(self.log) as rec:
            with rec.step(1) as step:
                for name, tensor in tensors.items():
                    rec.probe(name).record(step, tensor)
        run = sonde.load(self.log, cache=False)["."]
        return {probe["name"]: (probe["dtype"], probe["shape"], float(run.statistics(probe["tag"])["mean"][0]))
                for probe in run.probes}

    def test_every_type_of_torch(self):
        types = {"bool": torch.bool, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8,
                 "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
                 "f8_e4m3": torch.float8_e4m3fn, "f8_e5m2": torch.float8_e5m2}
        found = self.recorded(**{name: torch.ones(2, 3).to(dtype) for name, dtype in types.items()})
        self.assertEqual(found, {name: (name, (2, 3), 1.0) for name in types})

    def test_views_parameters_and_tensors_that_need_gradients(self):
        base = torch.arange(12.0).reshape(3, 4)
        grad = base.clone().requires_grad_()
        found = self.recorded(transposed=base.T, sliced=base[:, ::2], expanded=base[:1].expand(5, 4), grad=grad, result=grad * 2,
                              parameter=torch.nn.Parameter(base), empty=base[:0], number=torch.tensor(3.0))
        self.assertEqual(found["transposed"], ("f32", (4, 3), 5.5))
        self.assertEqual(found["sliced"], ("f32", (3, 2), 5.0))
        self.assertEqual(found["expanded"], ("f32", (5, 4), 1.5))
        self.assertEqual([found[name][2] for name in ("grad", "result", "parameter", "number")], [5.5, 11, 5.5, 3])

    def test_in_inference_mode(self):
        with torch.inference_mode():
            self.assertEqual(self.recorded(x=torch.ones(2))["x"][2], 1)

    def test_tensors_that_are_not_here_are_refused(self):
        with sonde.Recorder(self.log) as rec, rec.step(1) as step:
            for wrong in (torch.ones(2, device="meta"), torch.ones(2, 2).to_sparse()):
                with self.assertRaisesRegex(TypeError, "^tensor "):
                    rec.probe("x").record(step, wrong)

    def test_scalars_of_torch(self):
        with sonde.SummaryWriter(self.log) as writer:
            for n, value in enumerate((torch.tensor(2.0), torch.tensor([2]), torch.tensor(2, dtype=torch.bfloat16),
                                       torch.tensor(2.0, requires_grad=True), torch.tensor(2.0, dtype=torch.float16))):
                writer.add_scalar("x", value, torch.tensor(n))
        self.assertEqual(sonde.load(self.log, cache=False)["."].scalars("x").values.tolist(), [2] * 5)

    def test_jax(self):
        import jax.numpy as jnp
        found = self.recorded(f32=jnp.arange(4.0), bf16=jnp.ones(3, jnp.bfloat16), i32=jnp.arange(3))
        self.assertEqual(found, {"f32": ("f32", (4,), 1.5), "bf16": ("bf16", (3,), 1.0), "i32": ("i32", (3,), 1.0)})

    def test_tensorflow(self):
        import tensorflow as tf
        found = self.recorded(f32=tf.constant([[1.0, 3.0]]), variable=tf.Variable([2.0]), bf16=tf.ones(3, tf.bfloat16))
        self.assertEqual(found["f32"], ("f32", (1, 2), 2.0))
        self.assertEqual((found["variable"][2], found["bf16"][2]), (2.0, 1.0))

    def test_held_tensors_of_torch_are_released(self):
        import weakref
        tensor = torch.ones(100_000)
        gone = weakref.ref(tensor)
        with sonde.Recorder(self.log) as rec:
            with rec.step(1) as step:
                rec.record(step, [(rec.probe("x"), tensor)], hold=True)
            del tensor
            rec.flush()
        self.assertIsNone(gone())


if __name__ == "__main__":
    unittest.main()
