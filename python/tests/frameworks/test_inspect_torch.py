"""sonde.inspect of live torch modules, compared with hooks of torch itself; and of exported programs, in a worker."""
import tempfile
import unittest

import numpy
import sonde
import torch


class Block(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(width)
        self.fc = torch.nn.Linear(width, width)
        self.act = torch.nn.ReLU(inplace=True)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.act(self.fc(self.norm(x)))) + x


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(6), Block(6)])
        self.lstm = torch.nn.LSTM(6, 5, batch_first=True)
        self.head = torch.nn.Linear(5, 3)

    def forward(self, x, scale=None):
        for block in self.blocks:
            x = block(x)
        sequence, (hidden, _) = self.lstm(x[:, None])
        first = self.head(sequence[:, 0])
        return {"logits": first if scale is None else first * scale, "again": self.head(hidden[0])}


def hooked(module, *args, **kwargs):
    """What hooks of torch see, copied: relu here works in place."""
    found, handles = {}, []
    for path, each in module.named_modules():
        handles.append(each.register_forward_hook(
            lambda _, __, output, path=path: found.setdefault(path, []).append(
                output.clone() if isinstance(output, torch.Tensor) else output)))
    with torch.no_grad():
        module(*args, **kwargs)
    for handle in handles:
        handle.remove()
    return found


class LiveModuleTest(unittest.TestCase):
    def setUp(self) -> None:
        torch.manual_seed(0)
        self.net = Net()
        self.x = torch.randn(4, 6)

    def test_every_module_has_what_its_hook_sees_in_inference_mode(self):
        outputs = sonde.inspect(self.net, self.x)
        reference = hooked(self.net.eval(), self.x)
        for path in ("blocks.0.norm", "blocks.0.fc", "blocks.0.act", "blocks.1.drop", "blocks.1", "head"):
            numpy.testing.assert_array_equal(outputs[path], reference[path][0].numpy(), path)
        numpy.testing.assert_array_equal(outputs["head#1"], reference["head"][1].numpy())
        numpy.testing.assert_array_equal(outputs["lstm/0"], reference["lstm"][0][0].numpy())
        numpy.testing.assert_array_equal(outputs["lstm/1/1"], reference["lstm"][0][1][1].numpy())
        numpy.testing.assert_array_equal(outputs["Net/logits"], reference[""][0]["logits"].numpy())
        self.assertEqual(list(outputs)[:3], ["blocks.0.norm", "blocks.0.fc", "blocks.0.act"])
        self.assertEqual(list(outputs)[-1], "Net/again")
        self.assertTrue(outputs.runtime.startswith(f"torch {torch.__version__}"))

    def test_the_model_is_afterwards_as_it_was(self):
        self.net.blocks[0].eval()
        before = {name: value.clone() for name, value in self.net.state_dict().items()}
        modes = [each.training for each in self.net.modules()]
        sonde.inspect(self.net, self.x)
        self.assertEqual([each.training for each in self.net.modules()], modes)
        for name, value in self.net.state_dict().items():
            self.assertTrue(torch.equal(value, before[name]), name)
        self.assertFalse(any(each._forward_hooks for each in self.net.modules()))

    def test_layers_are_chosen_by_name_pattern_and_index(self):
        self.assertEqual(list(sonde.inspect(self.net, self.x, layers="head")), ["head", "head#1"])
        self.assertEqual(list(sonde.inspect(self.net, self.x, layers=r"blocks\.\d")), ["blocks.0", "blocks.1"])
        self.assertEqual(list(sonde.inspect(self.net, self.x, layers=["lstm"])), ["lstm/0", "lstm/1/0", "lstm/1/1"])
        self.assertEqual(list(sonde.inspect(self.net, self.x, layers=[0, "head#1", -1])), ["blocks.0.norm", "head#1", "Net/again"])

    def test_inputs_may_be_arrays_lists_and_names(self):
        array = self.x.numpy()
        expected = sonde.inspect(self.net, self.x, layers="Net/logits")["Net/logits"]
        numpy.testing.assert_array_equal(sonde.inspect(self.net, array, layers="Net/logits")["Net/logits"], expected)
        scaled = sonde.inspect(self.net, [array, 2.0], layers="Net/logits")["Net/logits"]
        numpy.testing.assert_allclose(scaled, 2 * expected, rtol=1e-6)
        named = sonde.inspect(self.net, {"x": array, "scale": 2.0}, layers="Net/logits")["Net/logits"]
        numpy.testing.assert_array_equal(named, scaled)

    def test_what_is_not_there_is_named(self):
        with self.assertRaisesRegex(ValueError, "Net has no layer 'blocks.0.fcc'; it has blocks.0.fc"):
            sonde.inspect(self.net, self.x, layers="blocks.0.fcc")
        with self.assertRaisesRegex(ValueError, "none has the index 99"):
            sonde.inspect(self.net, self.x, layers=99)
        with self.assertRaisesRegex(TypeError, "path of a file, a torch module or a Keras model"):
            sonde.inspect(3, self.x)
        with self.assertRaisesRegex(ValueError, "not in 'onnxruntime'"):
            sonde.inspect(self.net, self.x, runtime="onnxruntime")
        with self.assertRaisesRegex(KeyError, "no layer 'hea'; is it 'head'"):
            sonde.inspect(self.net, self.x, layers="head")["hea"]

    def test_a_module_that_fails_keeps_no_hooks(self):
        with self.assertRaises(RuntimeError):
            sonde.inspect(self.net, torch.randn(4, 7))
        self.assertFalse(any(each._forward_hooks for each in self.net.modules()))
        self.assertTrue(self.net.training)

    def test_compiled_modules_and_small_floats(self):
        compiled = torch.compile(self.net, backend="eager")
        expected = sonde.inspect(self.net, self.x)
        for name, array in sonde.inspect(compiled, self.x).items():
            numpy.testing.assert_array_equal(array, expected[name], name)
        half = torch.nn.Linear(6, 3).to(torch.bfloat16)
        (output,) = sonde.inspect(half, self.x.to(torch.bfloat16)).values()
        self.assertEqual(output.dtype.name, "bfloat16")
        numpy.testing.assert_array_equal(output.astype(numpy.float32), half(self.x.to(torch.bfloat16)).detach().float().numpy())


class ExportedTest(unittest.TestCase):
    """Files that torch writes, in other runtimes and in the worker."""

    def setUp(self) -> None:
        torch.manual_seed(0)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.net = torch.nn.Sequential(Block(6), Block(6), torch.nn.Linear(6, 3)).eval()
        self.x = torch.randn(4, 6)

    def test_an_exported_program_gives_what_hooks_see_and_every_operation(self):
        path = f"{self.folder}/net.pt2"
        torch.export.save(torch.export.export(self.net, (self.x,)), path)
        outputs = sonde.inspect(path, self.x)
        for name, values in hooked(self.net, self.x).items():
            if name in outputs:
                numpy.testing.assert_allclose(outputs[name], values[0].numpy(), rtol=1e-6, atol=1e-7, err_msg=name)
        self.assertLessEqual({"0.norm", "0.fc", "0.act", "0", "1.fc", "1", "2", "linear", "add_1"}, set(outputs))
        self.assertTrue(outputs.runtime.startswith(f"torch {torch.__version__}"))

    def test_a_module_and_its_onnx_export_correspond_by_the_paths_of_modules(self):
        path = f"{self.folder}/net.onnx"
        torch.onnx.export(self.net, (self.x,), path, dynamo=True, verbose=False)
        same = sonde.diff(self.net, path, self.x)
        self.assertFalse(same, str(same))
        self.assertLessEqual({"0.fc", "0", "1.fc", "1", "2"}, {each["tensor"] for each in same.tensors})
        with torch.no_grad():
            self.net[1].fc.weight.mul_(1.001)
        self.assertEqual(sonde.diff(self.net, path, self.x).first["tensor"], "1.fc")


if __name__ == "__main__":
    unittest.main()
