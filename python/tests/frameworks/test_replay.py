"""Captures as torch tensors, and the module run once more on what they hold."""
import unittest

import numpy
import torch

from watching import Watching, model, train

import sonde


class Replay(Watching):
    def capture(self, **options):
        net, rec = model(), self.recorder(policy='[flight]\nuse = true\nsize = "1MiB"')
        with sonde.watch(net, rec, **options) as watched:
            self.batches = train(net, 3)
            rec.trigger("here", before=2)
            self.before = [parameter.detach().clone() for parameter in net.parameters()]
            self.batches += train(net, 1, micro_batches=2)
            watched.remove()
        rec.close()
        found, = self.run_().captures
        return net, sonde.load_capture(found.path)

    def test_tensors_of_torch_and_numpy(self):
        net, capture = self.capture()
        step = capture.steps[-1]
        arrays, tensors = capture.tensors(step), capture.tensors(step, "torch")
        self.assertIsInstance(tensors["activation/3"], torch.Tensor)
        numpy.testing.assert_array_equal(arrays["activation/3"], tensors["activation/3"].numpy())
        self.assertTrue(any(torch.equal(tensors["input/input"], batch) for batch in self.batches))
        with self.assertRaisesRegex(ValueError, "framework must be"):
            capture.tensors(step, "jax")

    def test_the_same_weights_give_the_same_tensors(self):
        net, capture = self.capture(weights=True)
        before = [parameter.detach().clone() for parameter in net.parameters()]
        for step in capture.steps:
            found = capture.replay(net, step)
            self.assertTrue(found.same, str(found))
            self.assertIn("all", str(found))
            self.assertIn("activation/2.norm", [each.name for each in found.tensors])
        for mine, theirs in zip(before, net.parameters()):
            self.assertTrue(torch.equal(mine, theirs))

    def test_another_weight_is_found(self):
        net, capture = self.capture(weights=True)
        step = capture.steps[0]
        tensors = capture.tensors(step, "torch")
        with torch.no_grad():
            for name, parameter in net.named_parameters():
                parameter.copy_(tensors[f"weight/{name}"])
            net[2].linear.weight[0, 0] += 1
        found = capture.replay(net, step, weights=False)
        self.assertFalse(found.same)
        self.assertEqual(found.first.name, "activation/2.linear")
        self.assertEqual([each.name for each in found.tensors if each.status == "same"],
                         ["activation/0", "activation/1", "activation/2.norm"])
        self.assertGreater(found.first.max_abs, 0.01)
        self.assertIn("activation/2.linear  different", str(found))

    def test_what_a_capture_lacks_is_said(self):
        net, capture = self.capture(activations=False, weights=True)
        with self.assertRaisesRegex(ValueError, "has no inputs of the module"):
            capture.replay(net)
        with self.assertRaisesRegex(TypeError, "module must be a torch module"):
            capture.replay(3)


if __name__ == "__main__":
    unittest.main()
