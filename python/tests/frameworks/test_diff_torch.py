"""sonde.diff with what torch exports: modules that correspond by the paths that the exporter wrote, and folded normalisations."""
import tempfile
import unittest

import onnx
import sonde
import torch


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.act = torch.nn.ReLU()
        self.head = torch.nn.Linear(8, 5)

    def forward(self, x):
        return self.head(self.act(self.norm(self.conv(x))).mean((2, 3)))


def renamed(path: str) -> str:
    """The same model in which no value and no node keeps its name."""
    model = onnx.load(path)
    graph = model.graph
    kept = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    names = {name: f"v{i}" for i, name in enumerate(name for node in graph.node for name in node.output) if name not in kept}
    for i, node in enumerate(graph.node):
        node.name = f"n{i}"
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    for value in graph.output:
        value.name = names.get(value.name, value.name)
    del graph.value_info[:]
    other = path.replace(".onnx", "_renamed.onnx")
    onnx.save(model, other)
    return other


class ExportTest(unittest.TestCase):
    def setUp(self) -> None:
        torch.manual_seed(0)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.net = Net()
        self.net.norm.running_mean.uniform_(-1, 1)
        self.net.norm.running_var.uniform_(0.5, 2)
        self.net.eval()
        self.x = torch.randn(2, 3, 8, 8)

    def export(self, name: str, **options) -> str:
        path = f"{self.folder}/{name}.onnx"
        torch.onnx.export(self.net, (self.x,), path, dynamo=True, verbose=False, external_data=False, **options)
        return path

    def test_operations_of_the_same_module_correspond_whatever_their_names(self):
        path = self.export("net", optimize=False)
        scopes = [prop.value for node in onnx.load(path).graph.node for prop in node.metadata_props if prop.key == "pkg.torch.onnx.name_scopes"]
        self.assertTrue(any("conv" in scope for scope in scopes), scopes)
        found = sonde.diff(path, renamed(path), self.x)
        self.assertFalse(found, str(found))
        by_module = [row for row in found.tensors if row.get("matched_by") == "module"]
        self.assertLessEqual({"Conv", "Relu", "Gemm"}, {row["op"] for row in by_module})
        self.assertTrue(all(row["tensor"] != row["tensor_b"] for row in by_module))

    def test_a_changed_module_is_the_culprit_in_the_export(self):
        path = self.export("net", optimize=False)
        with torch.no_grad():
            self.net.head.weight *= 1.001
        found = sonde.diff(path, renamed(self.export("changed", optimize=False)), self.x)
        self.assertTrue(found)
        self.assertEqual(found.answer["culprit"]["op"], "Gemm", str(found))

    def test_an_export_with_and_without_folded_normalisations_agree(self):
        plain, folded = self.export("plain", optimize=False), self.export("folded", optimize=True)
        self.assertIn("BatchNormalization", [node.op_type for node in onnx.load(plain).graph.node])
        found = sonde.diff(plain, folded, self.x)
        self.assertFalse(found, str(found))
        self.assertFalse(sonde.diff(self.net, folded, self.x), "the live module and its export")


if __name__ == "__main__":
    unittest.main()
