"""sonde.watch and torch.compile: no graph breaks, no recompilation, and the values that the compiled code computed."""
import unittest
import warnings

import torch
from torch import nn

from watching import Residual, Watching, model, train

import sonde


class Compiled(Watching):
    def setUp(self):
        super().setUp()
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        self.graphs = []
        self.addCleanup(torch._dynamo.reset)

    def backend(self, graph, inputs):
        """Counts graphs, and runs them as they are."""
        self.graphs.append(graph)
        return graph.forward

    def compiled(self, module, **options):
        return torch.compile(module, backend=self.backend, **options)

    def expect(self, net, tags=("activation/0", "activation/1", "activation/2", "activation/2.norm", "activation/2.linear", "activation/3")):
        self.assertLessEqual(set(tags), self.tags())
        self.assertEqual(torch._dynamo.utils.counters["graph_break"], {})

    def test_every_way_to_compile(self):
        ways = {}

        def first(net, rec):
            net = self.compiled(net, fullgraph=True)
            return net, sonde.watch(net, rec)

        def afterwards(net, rec):
            watched = sonde.watch(net, rec)
            return self.compiled(net, fullgraph=True), watched

        def in_place(net, rec):
            net.compile(backend=self.backend, fullgraph=True)
            return net, sonde.watch(net, rec)

        def in_place_afterwards(net, rec):
            watched = sonde.watch(net, rec)
            net.compile(backend=self.backend, fullgraph=True)
            return net, watched

        for way in (first, afterwards, in_place, in_place_afterwards):
            with self.subTest(way.__name__):
                torch._dynamo.reset()
                torch._dynamo.utils.counters.clear()
                self.graphs.clear()
                self.log = self.folder / way.__name__
                plain, rec = model(), self.recorder()
                net, watched = way(plain, rec)
                with watched:
                    batches = train(net, 5)
                rec.close()
                self.expect(net)
                self.assertEqual(len(self.graphs), 1)
                for tag in ("activation/0", "activation/2", "activation/3"):
                    self.assertEqual([step for step, _ in self.column(tag)], list(range(5)))
                self.assert_is("input/input", list(enumerate(batches)))
                # The first step of the same training, without a compiler.
                reference = model()
                self.assertAlmostEqual(self.column("activation/2")[0][1], reference[:3](batches[0]).mean().item(), places=5)

    def test_micro_batches_and_evaluation_do_not_compile_again(self):
        net, rec = self.compiled(model(), fullgraph=True), self.recorder()
        with sonde.watch(net, rec):
            train(net, 3, micro_batches=12)
            before = len(self.graphs)
            net.eval()
            with torch.no_grad():
                for _ in range(20):
                    net(torch.randn(5, 4))
        rec.close()
        self.assertEqual(before, 1)
        self.assertLessEqual(len(self.graphs), 2)
        self.assertIn("activation/0#11", self.tags())
        self.assertEqual(len(self.column("eval/activation/0")), 20)

    def test_steps_that_are_not_selected_use_a_graph_without_outputs(self):
        net, rec = self.compiled(model(), fullgraph=True), self.recorder()
        with sonde.watch(net, rec, every=4):
            train(net, 9)
        rec.close()
        self.assertEqual([step for step, _ in self.column("activation/2")], [0, 4, 8])
        self.assertEqual(len(self.graphs), 2)
        outputs = [len(list(graph.graph.output_node().args[0])) for graph in self.graphs]
        self.assertGreater(max(outputs), min(outputs))

    def test_gradients_weights_and_updates(self):
        net, rec = self.compiled(model(), fullgraph=True), self.recorder()
        with sonde.watch(net, rec, gradients="parameters", weights=True, updates=True):
            train(net, 2)
        rec.close()
        self.expect(net, ("gradient/0.weight", "weight/2.linear.bias", "update/3.weight"))

    def test_gradients_of_outputs_are_not_seen_in_compiled_code_and_it_is_said(self):
        net, rec = self.compiled(model(), fullgraph=True), self.recorder()
        with self.assertWarnsRegex(sonde.RecordingWarning, "gradients of outputs are not recorded in compiled code"):
            sonde.watch(net, rec, gradients=True)

    def test_a_module_that_already_ran_is_compiled_again(self):
        net, rec = self.compiled(model()), self.recorder()
        train(net, 1)
        with self.assertWarnsRegex(sonde.RecordingWarning, "the compiler was reset"):
            watched = sonde.watch(net, rec)
        with watched:
            train(net, 2)
        rec.close()
        self.assertEqual([step for step, _ in self.column("activation/0")], [0, 1])

    def test_a_compiled_part_of_a_module(self):
        net, rec = nn.Sequential(nn.Linear(4, 6), self.compiled(Residual(), fullgraph=True), nn.Linear(6, 2)), self.recorder()
        with sonde.watch(net, rec):
            train(net, 3)
        rec.close()
        self.expect(net, ("activation/0", "activation/1", "activation/1.norm", "activation/2"))
        self.assertLessEqual(len(self.graphs), 2)  # the hook of the compiled module itself may be a graph of its own

    def test_a_compiled_function(self):
        net, rec = model(), self.recorder()
        with sonde.watch(net, rec):
            run = torch.compile(lambda x: net(x).square().mean(), backend=self.backend, fullgraph=True)
            optimizer = torch.optim.SGD(net.parameters(), 0.1)
            for _ in range(3):
                optimizer.zero_grad()
                run(torch.randn(5, 4)).backward()
                optimizer.step()
        rec.close()
        self.expect(net)
        self.assertEqual([step for step, _ in self.column("activation/0")], [0, 1, 2])
        self.assertEqual(len(self.graphs), 1)

    def test_values_before_an_operation_in_place(self):
        net, rec, x = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True)), self.recorder(), torch.randn(3, 4)
        with sonde.watch(self.compiled(net, fullgraph=True), rec) as watched:
            watched.module(x)
        rec.close()
        expected = net[0](x)
        self.assert_is("activation/0", [(0, expected)])
        self.assert_is("activation/1", [(0, expected.relu())])

    def test_with_a_backend_that_rewrites_the_graph(self):
        net, rec = torch.compile(model(), backend="aot_eager", fullgraph=True), self.recorder()
        with sonde.watch(net, rec, hold=True):
            batches = train(net, 2)
        rec.close()
        self.expect(net)
        reference = model()
        self.assertAlmostEqual(self.column("activation/2.norm")[0][1], reference[2].norm(reference[:2](batches[0])).mean().item(), places=5)


if __name__ == "__main__":
    unittest.main()
