"""sonde.tap and sonde.tap_grad with torch. TensorFlow is not imported: its LLVM and that of torch's compiler do not go together."""
import pathlib
import sys
import unittest

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from taps import Taps  # noqa: E402

import sonde  # noqa: E402


class Torch(Taps):
    def test_returns_the_tensor_and_records_it(self):
        x = torch.arange(4.0, requires_grad=True)
        with self.rec.step(1):
            self.assertIs(sonde.tap("x", x), x)
            sonde.tap("half", x.detach().bfloat16())
            with torch.inference_mode():
                sonde.tap("inference", torch.ones(2))
        self.assertEqual(self.found(), [(1, 1.5)])
        self.assertEqual(self.found("activation/half") + self.found("activation/inference"), [(1, 1.5), (1, 1)])

    def test_gradients(self):
        x = torch.arange(4.0, requires_grad=True)
        with self.rec.step(2):
            y = sonde.tap_grad("y", x * 2)
            (y ** 2).sum().backward()
            sonde.tap_grad("none", torch.ones(2))
        self.assertEqual(x.grad.tolist(), [0, 8, 16, 24])
        self.assertEqual(self.found("gradient/y"), [(2, 6)])

    def test_inside_of_a_compiled_function(self):
        @torch.compile(backend="eager")
        def work(x):
            return sonde.tap("x", x * 2) + 1

        with self.rec.step(3):
            self.assertEqual(work(torch.ones(2)).tolist(), [3, 3])
        self.assertEqual(self.found(), [(3, 2)])


if __name__ == "__main__":
    unittest.main()
