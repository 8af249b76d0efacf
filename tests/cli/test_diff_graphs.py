"""sonde diff between models: several inputs, weights beside the model, graphs in operations, and what a model folds away."""

import os
import sys
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from command import Case
from test_diff_models import PLUGIN, Network, scaled


def constant(name, array, dtype=np.float32):
    return numpy_helper.from_array(np.asarray(array, dtype), name)


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(nodes, inputs, outputs, constants, opset=17, **more):
    graph = helper.make_graph(nodes, "net", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *more.pop("opsets", [])], ir_version=8, **more)


@unittest.skipUnless(PLUGIN.exists(), "this build has no OpenVINO")
class Graphs(Case):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(1)
        self.environment["SONDE_PYTHON"] = sys.executable

    def diff(self, a, b, *arguments, code):
        return self.json("diff", a, b, *(arguments or ("--input", "x.npy")), code=code)

    def numbers(self, *shape):
        return self.random.normal(size=shape).astype(np.float32)

    def statuses(self, answer):
        return {row["tensor"]: row["status"] for row in answer["tensors"]}


class SeveralInputs(Graphs):
    def setUp(self):
        super().setUp()
        self.model = Network().model()
        onnx.save(self.model, self.path("model.onnx"))
        onnx.save(scaled(self.model, "dense_3.weight", 1 + 1e-3), self.path("changed.onnx"))
        os.makedirs(self.path("inputs"))
        for i, size in enumerate((1, 100, 1e-3)):
            self.save(f"inputs/x_{i}.npy", self.numbers(2, 3, 8, 8) * np.float32(size))

    def test_of_each_tensor_the_input_with_the_largest_difference_counts(self):
        merged = self.diff("model.onnx", "changed.onnx", "--input", "inputs", code=1)
        alone = [self.diff("model.onnx", "changed.onnx", "--input", f"inputs/x_{i}.npy", code=1) for i in range(3)]
        self.assertEqual(merged["inputs"], ["x_0", "x_1", "x_2"])
        for number, row in enumerate(merged["tensors"]):
            each = [one["tensors"][number] for one in alone]
            worst = max(each, key=lambda one: one["norm_relative"])
            self.assertEqual((row["norm_relative"], row["max_abs"]), (worst["norm_relative"], worst["max_abs"]), row["tensor"])
            self.assertEqual(row["inputs_differ"], sum(one["status"] == "different" for one in each))
        self.assertEqual((merged["first"]["tensor"], merged["culprit"]["tensor"]), ("dense_3", "dense_3"))
        self.assertEqual(merged["first"]["input"], merged["culprit"]["input"])
        text = self.run_sonde("diff", "model.onnx", "changed.onnx", "--input", "inputs").stdout
        self.assertIn("3 inputs: of each tensor the one with the largest difference is shown", text)

    def test_inputs_that_agree_do_not_hide_one_that_differs(self):
        # A bias of the first convolution's input range: only large inputs reach the clipped part.
        clip = lambda limit: model_of([helper.make_node("Clip", ["x", "", "limit"], ["y"])], [value("x", [2, 3, 8, 8])],
                                      [value("y", [2, 3, 8, 8])], [constant("limit", limit)])
        onnx.save(clip(20), self.path("a.onnx"))
        onnx.save(clip(10), self.path("b.onnx"))
        answer = self.diff("a.onnx", "b.onnx", "--input", "inputs", code=1)
        self.assertEqual((answer["first"]["input"], answer["tensors"][0]["inputs_differ"]), ("x_1", 1))
        self.assertEqual(answer["culprit"]["input"], "x_1")

    def test_a_dump_of_the_same_inputs_is_compared_input_by_input(self):
        for form in "npy", "safetensors":
            self.output("inspect", "model.onnx", "--input", "inputs", "--save", f"dump-{form}", "--format", form)
            self.assertEqual(self.diff(f"dump-{form}", "model.onnx", "--input", "inputs", code=0)["inputs"], ["x_0", "x_1", "x_2"])
        os.remove(self.path("dump-safetensors/x_1.safetensors"))
        self.assertIn("has no folder or file 'x_1'", self.error("diff", "dump-safetensors", "model.onnx", "--input", "inputs"))

    def test_models_with_two_inputs_get_both(self):
        nodes = [helper.make_node("Sub", ["p", "q"], ["y"])]
        onnx.save(model_of(nodes, [value("p", [4]), value("q", [4])], [value("y", [4])], []), self.path("a.onnx"))
        turned = [helper.make_node("Sub", ["q", "p"], ["y"])]
        onnx.save(model_of(turned, [value("p", [4]), value("q", [4])], [value("y", [4])], []), self.path("b.onnx"))
        self.save("p.npy", self.numbers(4))
        self.save("q.npy", self.numbers(4))
        inputs = "--input", "p=p.npy", "--input", "q=q.npy"
        self.diff("a.onnx", "a.onnx", *inputs, code=0)
        self.assertEqual(self.diff("a.onnx", "b.onnx", *inputs, code=1)["culprit"]["tensor"], "y")
        self.assertIn("needs an input 'q'", self.error("diff", "a.onnx", "b.onnx", "--input", "p=p.npy"))
        self.assertIn("'a.onnx' has 2 inputs, but 'model.onnx' has 1", self.error("diff", "a.onnx", "model.onnx", *inputs))

    def test_a_second_model_that_cannot_take_the_input_is_named(self):
        onnx.save(model_of([helper.make_node("Relu", ["x"], ["y"])], [value("x", [7])], [value("y", [7])], []), self.path("other.onnx"))
        self.assertIn("input 'x' of 'other.onnx' is f32[7], but 'model.onnx' gets f32[2,3,8,8]",
                      self.error("diff", "model.onnx", "other.onnx", "--input", "inputs/x_0.npy"))


class Culprits(Graphs):
    def test_weights_in_a_file_beside_the_model_are_used_again(self):
        model = Network().model()
        self.save("x.npy", self.numbers(2, 3, 8, 8))
        for name, each in ("model", model), ("changed", scaled(model, "dense_5.weight", 1 + 1e-3)):
            onnx.save_model(each, self.path(f"{name}.onnx"), save_as_external_data=True, location=f"{name}.data", size_threshold=0)
        self.assertLess(os.path.getsize(self.path("changed.onnx")), os.path.getsize(self.path("changed.data")) / 10)
        self.assertEqual(self.diff("model.onnx", "changed.onnx", code=1)["culprit"]["tensor"], "dense_5")
        answer = self.diff("model.onnx", "changed.onnx@onnxruntime", code=1)
        self.assertEqual(answer["culprit"]["tensor"], "dense_5")
        self.assertAlmostEqual(answer["culprit"]["local_error"], 1e-3, delta=1e-4)

    def branches(self, factor):
        """h = x * a; y = h if first else the sum over h of what only the branch sees; z = y + 1."""
        branch = lambda name, node: helper.make_graph([node], name, [], [value(name, [4])])
        nodes = [helper.make_node("Mul", ["x", "a"], ["h"]),
                 helper.make_node("If", ["first"], ["y"], then_branch=branch("t", helper.make_node("Mul", ["h", "k"], ["t"])),
                                  else_branch=branch("e", helper.make_node("Add", ["h", "k"], ["e"]))),
                 helper.make_node("Add", ["y", "one"], ["z"])]
        return model_of(nodes, [value("x", [4])], [value("z", [4])],
                        [constant("a", [1, 2, 3, 4]), constant("k", np.float32(3) * factor), constant("one", 1.0), constant("first", True, np.bool_)])

    def test_an_operation_with_graphs_inside_is_run_again(self):
        onnx.save(self.branches(1), self.path("model.onnx"))
        onnx.save(self.branches(1 + 1e-3), self.path("changed.onnx"))
        self.save("x.npy", self.numbers(4))
        answer = self.diff("model.onnx@onnxruntime", "changed.onnx@onnxruntime", code=1)
        self.assertEqual(answer["culprit"]["tensor"], "y")
        answer = self.diff("model.onnx", "changed.onnx@onnxruntime", code=1)
        self.assertEqual((answer["culprit"]["tensor"], answer["culprit"]["op"]), ("y", "If"), answer)


class BadInput(Graphs):
    def test_is_one_sentence_that_names_the_file_or_the_argument(self):
        onnx.save(model_of([helper.make_node("Relu", ["x"], ["y"])], [value("x", [2, 3])], [value("y", [2, 3])], [constant("w", self.numbers(600))]),
                  self.path("model.onnx"))
        with open(self.path("model.onnx"), "rb") as whole, open(self.path("cut.onnx"), "wb") as cut:
            cut.write(whole.read()[:1000])
        x = self.numbers(2, 3)
        self.save("x.npy", x)
        self.save("shape.npy", x.T.copy())
        self.save("type.npy", x.astype(np.float64))
        os.makedirs(self.path("empty"))
        for expected, *arguments in (
                ("'cut.onnx' is not a valid ONNX model: it is damaged or truncated", "cut.onnx", "model.onnx", "--input", "x.npy"),
                ("input 'x' of 'model.onnx' is f32[2,3], but 'shape.npy' holds f32[3,2]", "model.onnx", "model.onnx", "--input", "shape.npy"),
                ("input 'x' of 'model.onnx' is f32[2,3], but 'type.npy' holds f64[2,3]", "model.onnx", "model.onnx", "--input", "type.npy"),
                ("the folder 'empty' has no npy", "model.onnx", "model.onnx", "--input", "empty"),
                ("has no input 'z'; it has x", "model.onnx", "model.onnx", "--input", "z=x.npy"),
                ("was given twice", "model.onnx", "model.onnx", "--input", "x.npy", "--input", "x.npy"),
                ("there is no runtime 'nothing'", "model.onnx@nothing", "model.onnx", "--random", "1"),
                ("--input and --random exclude each other", "model.onnx", "model.onnx", "--random", "1", "--input", "x.npy"),
                ("--range is '5', but must be LOW,HIGH", "model.onnx", "model.onnx", "--random", "1", "--range", "5"),
                ("A and B have no tensor in common", "x.npy", "model.onnx", "--random", "1")):
            self.assertIn(expected, self.error("diff", *arguments))


class Folded(Graphs):
    def setUp(self):
        super().setUp()
        self.model = Network().model()
        onnx.save(self.model, self.path("model.onnx"))
        self.save("x.npy", self.numbers(2, 3, 8, 8))

    def test_batch_normalisations_that_onnxruntime_folds_into_convolutions(self):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = self.path("folded.onnx")
        onnxruntime.InferenceSession(self.path("model.onnx"), options, providers=["CPUExecutionProvider"])
        kinds = [node.op_type for node in onnx.load(self.path("folded.onnx")).graph.node]
        self.assertNotIn("BatchNormalization", kinds)
        answer = self.diff("model.onnx", "folded.onnx", code=0)
        # It also makes one operation of a product and the sum behind it.
        folded = {name for name, status in self.statuses(answer).items() if status == "folded"}
        self.assertEqual(folded, {f"conv_{i}" for i in range(10)} | {f"dense_{i}" for i in range(20)})
        self.assertEqual(answer["counts"]["only in A"] + answer["counts"]["unresolved"], 0, self.statuses(answer))
        self.assertIn("30 folded", self.run_sonde("diff", "model.onnx", "folded.onnx", "--input", "x.npy").stdout)

    def folded_by_hand(self):
        """Every batch normalisation in the weights of the convolution before it, which keeps its name."""
        folded = onnx.ModelProto()
        folded.CopyFrom(self.model)
        weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in folded.graph.initializer}
        for i in range(10):
            scale, bias, mean, var = (weights[f"batch_norm_{i}.{part}"] for part in ("weight", "bias", "mean", "var"))
            gain = scale / np.sqrt(var + np.float32(1e-5))
            weights[f"conv_{i}.weight"] = weights[f"conv_{i}.weight"] * gain[:, None, None, None]
            weights[f"conv_{i}.bias"] = bias - mean * gain
        nodes = [node for node in folded.graph.node if node.op_type != "BatchNormalization"]
        for node in nodes:
            if node.op_type == "Conv":
                node.input.append(node.name + ".bias")
            node.input[:] = [name.replace("batch_norm_", "conv_") if name in {f"batch_norm_{i}" for i in range(10)} else name for name in node.input]
        return model_of(nodes, folded.graph.input, folded.graph.output, [constant(name, array) for name, array in weights.items()])

    def test_batch_normalisations_in_the_weights_of_convolutions_of_the_same_name(self):
        onnx.save(self.folded_by_hand(), self.path("folded.onnx"))
        for a, b in ("model.onnx", "folded.onnx"), ("folded.onnx", "model.onnx"):
            answer = self.diff(a, b, code=0)
            self.assertEqual((answer["counts"]["folded"], answer["counts"]["different"]), (10, 0))
        changed = onnx.load(self.path("folded.onnx"))
        onnx.save(scaled(changed, "dense_4.weight", 1 + 1e-3), self.path("changed.onnx"))
        self.assertEqual(self.diff("model.onnx", "changed.onnx", code=1)["first"]["tensor"], "dense_4")

    def test_what_is_computed_from_constants_and_a_constant_in_the_other_model(self):
        nodes = [helper.make_node("Exp", ["k"], ["e"]), helper.make_node("Mul", ["e", "k"], ["scale"]), helper.make_node("Mul", ["x", "scale"], ["y"])]
        ends = [value("x", [2, 3, 8, 8])], [value("y", [2, 3, 8, 8])]
        onnx.save(model_of(nodes, *ends, [constant("k", 0.5)]), self.path("a.onnx"))
        onnx.save(model_of(nodes[2:], *ends, [constant("scale", 0.5 * np.exp(0.5))]), self.path("b.onnx"))
        answer = self.diff("a.onnx", "b.onnx", code=0)
        self.assertEqual({name: status for name, status in self.statuses(answer).items() if name != "y"}, {"e": "folded", "scale": "folded"})

    def test_an_operation_that_one_model_lacks_is_only_in_the_other(self):
        ends = [value("x", [4])], [value("y", [4])]
        self.save("x.npy", self.numbers(4))
        more = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Exp", ["x"], ["extra"]), helper.make_node("Softmax", ["extra"], ["p"])]
        onnx.save(model_of(more, ends[0], [*ends[1], value("p", [4])], []), self.path("a.onnx"))
        onnx.save(model_of(more[:1], *ends, []), self.path("b.onnx"))
        self.assertEqual(self.statuses(self.diff("a.onnx", "b.onnx", code=0)), {"y": "same", "extra": "only in A", "p": "only in A"})
        self.assertEqual(self.statuses(self.diff("b.onnx", "a.onnx", code=0)), {"y": "same", "extra": "only in B", "p": "only in B"})


if __name__ == "__main__":
    unittest.main()
