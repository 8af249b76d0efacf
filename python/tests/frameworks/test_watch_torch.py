"""sonde.watch: what is recorded of a torch module, compared with what torch computes."""
import collections
import copy
import dataclasses
import gc
import io
import subprocess
import sys
import threading
import unittest
import warnings
import weakref
from unittest import mock

import numpy
import torch
from torch import nn

from watching import Residual, Watching, model, train

import sonde
from sonde import _torch_device, _torch_steps, _torch_tensors, _torch_watch


class Activations(Watching):
    def test_every_module_at_every_step(self):
        net, rec = model(), self.recorder()
        seen = collections.defaultdict(list)
        for name in ("0", "1", "2.norm", "2.linear", "2", "3"):
            net.get_submodule(name).register_forward_hook(
                lambda module, args, output, name=name: seen[name].append(output.detach().clone()))
        with sonde.watch(net, rec) as watched:
            batches = train(net, 3)
        rec.close()
        self.assertEqual(watched.layers, ["Sequential", "0", "1", "2", "2.norm", "2.linear", "3"])
        for name, outputs in seen.items():
            self.assert_is(f"activation/{name}", list(enumerate(outputs)))
        self.assert_is("input/input", list(enumerate(batches)))
        # The container returns what its last module has returned: it is recorded once.
        self.assertEqual(self.tags(), {f"activation/{name}" for name in seen} | {"input/input"})

    def test_selected_by_pattern_name_list_and_function(self):
        net = model()
        for layers, expected in (("2.*", ["2", "2.norm", "2.linear"]), ("2", ["2"]), (["0", "2\\..*"], ["0", "2.norm", "2.linear"]),
                                 ([net[3]], ["3"]), (lambda path, module: isinstance(module, nn.Linear), ["0", "2.linear", "3"])):
            with sonde.watch(net, self.recorder(), layers=layers) as watched:
                self.assertEqual(watched.layers, expected)
                net(torch.randn(2, 4))

    def test_every_and_record(self):
        net, rec = model(), self.recorder()
        with sonde.watch(net, rec, layers="0", every=2, record=("stats", "whole")):
            train(net, 5)
        rec.close()
        self.assertEqual([step for step, _ in self.column("activation/0")], [0, 2, 4])
        self.assertEqual(len(list((self.log / "tensors").iterdir())), 3)

    def test_a_policy_decides(self):
        net, rec = model(), self.recorder()
        with sonde.watch(net, rec, policy='[[watch]]\ntensors = "2.*"\nsteps = "1..1"\nrecord = "stats"'):
            train(net, 3)
        rec.close()
        self.assertEqual(self.tags(), {"activation/2", "activation/2.norm", "activation/2.linear"})
        self.assertEqual([step for step, _ in self.column("activation/2")], [1])

    def test_nested_outputs(self):
        Pair = collections.namedtuple("Pair", "left right")

        @dataclasses.dataclass
        class Output:
            logits: torch.Tensor
            rest: object

        class Nested(nn.Module):
            def forward(self, x):
                return Output(x + 1, {"pair": Pair(x * 2, [x * 3, None, "text"])})

        net, rec, x = nn.Sequential(Nested()), self.recorder(), torch.randn(3, 2)
        with sonde.watch(net, rec):
            net(x)
        rec.close()
        self.assert_is("activation/0/logits", [(0, x + 1)])
        self.assert_is("activation/0/rest/pair/left", [(0, x * 2)])
        self.assert_is("activation/0/rest/pair/right/0", [(0, x * 3)])
        self.assertEqual(len(self.tags()), 4)

    def test_a_recurrent_network(self):
        net, rec, x = nn.Sequential(nn.LSTM(3, 4)), self.recorder(), torch.randn(5, 2, 3)
        with sonde.watch(net, rec):
            output, (hidden, cell) = net(x)
        rec.close()
        self.assert_is("activation/0/0", [(0, output)])
        self.assert_is("activation/0/1/0", [(0, hidden)])
        self.assert_is("activation/0/1/1", [(0, cell)])

    def test_values_before_an_operation_in_place(self):
        net, rec, x = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True)), self.recorder(), torch.randn(3, 4)
        with sonde.watch(net, rec):
            for _ in range(2):
                net(x)
        rec.close()
        expected = net[0](x)
        self.assert_is("activation/0", [(0, expected)])
        self.assert_is("activation/1", [(0, expected.relu())])
        self.assert_is("activation/0#1", [(0, expected)])

    def test_under_autocast_no_grad_and_inference_mode(self):
        net, x = model(), torch.randn(3, 4)
        for number, (mode, dtype) in enumerate(((torch.autocast("cpu", torch.bfloat16), "bf16"), (torch.autocast("cpu", torch.float16), "f16"),
                                                (torch.no_grad(), "f32"), (torch.inference_mode(), "f32"))):
            self.log = self.folder / str(number)
            rec = self.recorder()
            with sonde.watch(net, rec), mode:
                output = net(x)
                net(x)
            rec.close()
            self.assert_is("activation/3", [(0, output)])
            self.assertEqual({probe["name"]: probe["dtype"] for probe in self.run_().probes}["0"], dtype)

    def test_held_outputs(self):
        net, rec = model(), self.recorder()
        with sonde.watch(net, rec, hold=True):
            x, = train(net, 1)
            before = copy.deepcopy(net.state_dict())
            y, = train(net, 1)
        net.load_state_dict(before)
        rec.close()
        self.assertEqual(rec.counters.tensors, 2 * 7)
        self.assertEqual([step for step, _ in self.column("activation/3")], [0, 1])
        numpy.testing.assert_allclose(self.column("activation/3")[1][1], net(y).mean().item(), rtol=1e-5)

    def test_a_held_output_that_is_written_to_is_reported(self):
        net, rec = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True)), self.recorder()
        with sonde.watch(net, rec, hold=True):
            with self.assertWarnsRegex(sonde.RecordingWarning, "'0' was written to after it was lent"):
                net(torch.randn(2, 4))
            net(torch.randn(2, 4))  # it is said once

    def test_attention_masks_and_modules_called_with_keywords(self):
        class Attending(nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

            def forward(self, x, mask=None):
                return self.attention(query=x, key=x, value=x, key_padding_mask=mask)[0]

        net, rec, x = Attending(), self.recorder(), torch.randn(2, 3, 4)
        mask = torch.tensor([[False, False, True], [False, False, False]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sonde.RecordingWarning)
            with sonde.watch(net, rec):
                output = net(x=x, mask=mask)
        rec.close()
        self.assert_is("activation/attention/0", [(0, output)])
        self.assert_is("input/x", [(0, x)])
        self.assertIn("input/mask", self.tags())


class Steps(Watching):
    def test_micro_batches_are_occurrences_of_one_step(self):
        net, rec = model(), self.recorder()
        with sonde.watch(net, rec, layers="0"):
            train(net, 2, micro_batches=3)
        rec.close()
        self.assertEqual({tag for tag in self.tags() if "activation" in tag}, {"activation/0", "activation/0#1", "activation/0#2"})
        for tag in ("activation/0", "activation/0#1", "activation/0#2"):
            self.assertEqual([step for step, _ in self.column(tag)], [0, 1])

    def test_a_loss_recorded_after_the_optimizer_belongs_to_the_step(self):
        net, rec = model(), self.recorder(policy='[[watch]]\nwhen = "loss > 1"\nrecord = "stats"')
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        with sonde.watch(net, rec, layers="0"):
            for n in range(4):
                train(net, 1, optimizer=optimizer)
                rec.scalar("loss", n, n)
        rec.close()
        self.assertEqual([step for step, _ in self.column("activation/0")], [2, 3])

    def test_numbers_that_the_program_sets(self):
        net, rec = model(), self.recorder()
        with sonde.watch(net, rec, layers="0") as watched:
            watched.step = 100
            train(net, 2)
            self.assertEqual(watched.step, 102)
            watched.step = 500
            train(net, 1)
        rec.close()
        self.assertEqual([step for step, _ in self.column("activation/0")], [100, 101, 500])
        for wrong in ("5", 1.5, True):
            with self.assertRaisesRegex(TypeError, "step must be an int"):
                watched.step = wrong

    def test_evaluation_passes_belong_to_the_training_step(self):
        net, rec = model(), self.recorder()
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        with sonde.watch(net, rec, layers="0"):
            train(net, 3, optimizer=optimizer)
            net.eval()
            with torch.no_grad():
                for _ in range(2):
                    net(torch.randn(5, 4))
            net.train()
            train(net, 1, optimizer=optimizer)
        rec.close()
        self.assertEqual([step for step, _ in self.column("activation/0")], [0, 1, 2, 3])
        evaluation = next(tag for tag in self.tags() if tag.startswith("eval/") and "activation" in tag)
        self.assertEqual([step for step, _ in self.column(evaluation)], [2, 2])

    def test_inference_passes_are_numbered(self):
        net, rec = model().eval(), self.recorder()
        with sonde.watch(net, rec, layers="0", inference=True) as watched:
            for _ in range(3):
                net(torch.randn(5, 4))
            with watched.pass_(77):
                net(torch.randn(5, 4))
        rec.close()
        self.assertEqual([step for step, _ in self.column("activation/0")], [0, 1, 2, 77])

    def test_passes_of_several_threads_are_separate(self):
        net, rec, inside = model().eval(), self.recorder(), threading.Barrier(3)
        net[1].register_forward_pre_hook(lambda *_: inside.wait(30) * 0 or None)
        with sonde.watch(net, rec, layers="[03]") as watched:
            def request(number):
                with watched.pass_(number):
                    net(torch.full((1, 4), float(number)))
            threads = [threading.Thread(target=request, args=[n]) for n in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        rec.close()
        expected = [(n, net[0](torch.full((1, 4), float(n))).mean().item()) for n in range(3)]
        self.assertEqual(sorted(self.column("activation/0")), [(n, mock.ANY) for n in range(3)])
        numpy.testing.assert_allclose([mean for _, mean in sorted(self.column("activation/0"))], [mean for _, mean in expected], rtol=1e-5)

    def test_checkpoints_that_are_computed_again_are_recorded_once(self):
        from torch.utils.checkpoint import checkpoint

        class Checkpointed(nn.Module):
            def __init__(self, reentrant):
                super().__init__()
                self.inner, self.reentrant = Residual(), reentrant

            def forward(self, x):
                return checkpoint(self.inner, x, use_reentrant=self.reentrant)

        for reentrant in (False, True):
            self.log = self.folder / str(reentrant)
            net, rec = nn.Sequential(nn.Linear(4, 6), Checkpointed(reentrant)), self.recorder()
            with sonde.watch(net, rec, gradients=True):
                train(net, 2)
            rec.close()
            self.assertEqual([tag for tag in self.tags() if "#" in tag], [])
            self.assertEqual([step for step, _ in self.column("activation/1.inner.norm")], [0, 1])
            self.assertEqual([step for step, _ in self.column("gradient/1.inner.norm")], [0, 1])

    def test_modules_that_the_program_calls_on_their_own(self):
        class Uncalled(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Linear(4, 6), nn.Linear(6, 2)

        net, rec = Uncalled(), self.recorder()
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sonde.RecordingWarning)  # the root never runs
            with sonde.watch(net, rec, every=2):
                for _ in range(4):
                    optimizer.zero_grad()
                    net.second(net.first(torch.randn(5, 4)).relu()).sum().backward()
                    optimizer.step()
                net.eval()
                for _ in range(2):
                    net.second(net.first(torch.randn(5, 4)))
        rec.close()
        self.assertEqual([step for step, _ in self.column("activation/first")], [0, 2])
        self.assertEqual([step for step, _ in self.column("activation/second")], [0, 2])
        self.assertIn("eval/activation/first", self.tags())
        self.assertFalse([tag for tag in self.tags() if "#" in tag])

    def test_two_optimizers_of_one_step(self):
        net, rec = model(), self.recorder()
        first, second = torch.optim.SGD(net[0].parameters(), 0.1), torch.optim.SGD(net[3].parameters(), 0.1)
        other = torch.optim.SGD(nn.Linear(2, 2).parameters(), 0.1)
        with sonde.watch(net, rec, weights=True) as watched:
            for _ in range(3):
                net(torch.randn(2, 4)).sum().backward()
                first.step()
                other.step()
                second.step()
            self.assertEqual(watched.step, 3)
        rec.close()
        for tag in ("activation/0", "weight/0.weight", "weight/3.weight"):
            self.assertEqual([step for step, _ in self.column(tag)], [0, 1, 2])

    def test_many_passes_without_an_optimizer_become_steps(self):
        net, rec = nn.Sequential(nn.Linear(1, 1)), self.recorder()
        with mock.patch.object(_torch_steps, "_MOST_PASSES", 4), sonde.watch(net, rec):
            for _ in range(4):
                net(torch.ones(1, 1))
            with self.assertWarnsRegex(sonde.RecordingWarning, "4 forward passes came without an optimizer step"):
                net(torch.ones(1, 1))
            net(torch.ones(1, 1))
        rec.close()
        self.assertEqual([step for step, _ in self.column("activation/0")], [0, 1, 2])


class Parameters(Watching):
    def test_weights_gradients_and_updates(self):
        net, rec = model(), self.recorder()
        optimizer = torch.optim.Adam(net.parameters(), 0.01)
        seen = collections.defaultdict(list)
        outputs = []
        net[2].register_forward_hook(lambda module, args, output: output.requires_grad and output.register_hook(
            lambda gradient: outputs.append((len(outputs), gradient.clone()))) and None)
        with sonde.watch(net, rec, gradients=True, weights=True, updates=True):
            for step in range(3):
                optimizer.zero_grad()
                net(torch.randn(5, 4)).square().mean().backward()
                torch.nn.utils.clip_grad_norm_(net.parameters(), 0.1)
                before = {name: parameter.detach().clone() for name, parameter in net.named_parameters()}
                gradients = {name: parameter.grad.clone() for name, parameter in net.named_parameters()}
                optimizer.step()
                for name, parameter in net.named_parameters():
                    seen["weight", name].append((step, before[name]))
                    seen["gradient", name].append((step, gradients[name]))
                    seen["update", name].append((step, parameter.detach() - before[name]))
        rec.close()
        for (kind, name), tensors in seen.items():
            self.assert_is(f"{kind}/{name}", tensors)
        self.assert_is("gradient/2", outputs)

    def test_gradients_of_outputs_or_parameters_alone(self):
        for which, expected in (("outputs", {"gradient/0"}), ("parameters", {"gradient/0.weight", "gradient/0.bias"})):
            self.log = self.folder / which
            net, rec = model(), self.recorder()
            with sonde.watch(net, rec, layers="0", activations=False, gradients=which):
                train(net, 2)
            rec.close()
            self.assertEqual(self.tags(), expected)

    def test_an_optimizer_with_a_closure(self):
        net, rec = nn.Linear(2, 1), self.recorder()
        optimizer = torch.optim.LBFGS(net.parameters(), max_iter=2)
        x = torch.randn(8, 2)
        gradients = []

        def closure():
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            gradients.append(net.weight.grad.clone())
            return loss

        with sonde.watch(net, rec, gradients="parameters", weights=True):
            optimizer.step(closure)
            first = len(gradients)
            optimizer.step(closure)
        rec.close()
        self.assert_is("gradient/weight", [(0, gradients[0]), (1, gradients[first])])
        self.assert_is("gradient/weight#1", [(0, gradients[1])] + [(1, each) for each in gradients[first + 1:first + 2]])

    def test_running_statistics_count_as_weights(self):
        net, rec = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)), self.recorder()
        with sonde.watch(net, rec, weights=True):
            train(net, 1)
        rec.close()
        self.assert_is("weight/1.running_mean", [(0, net[1].running_mean)])

    def test_the_results_of_training_do_not_change(self):
        results = []
        for options in ({}, {"gradients": True, "weights": True, "updates": True}, {"hold": True, "gradients": True}):
            net = model()
            torch.manual_seed(5)
            if options:
                with sonde.watch(net, self.recorder(), **options):
                    train(net, 4)
            else:
                train(net, 4)
            results.append([parameter.detach().clone() for parameter in net.parameters()])
        for other in results[1:]:
            for mine, theirs in zip(results[0], other):
                self.assertTrue(torch.equal(mine, theirs))


class Origin(Watching):
    def capture(self, net, x, policy='[[trigger]]\nrule = "nonfinite"', **options):
        rec = self.recorder(policy=policy)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        with sonde.watch(net, rec, weights=True, **options):
            net(torch.ones_like(x)).sum().backward()
            optimizer.step()
            with torch.no_grad():
                for parameter in net.parameters():
                    parameter.copy_(parameter.nan_to_num())
            net(x).sum().backward()
            optimizer.step()
        rec.close()
        capture, = self.run_().captures
        return capture

    def test_names_the_module_that_made_the_first_nan(self):
        class Log(nn.Module):
            def forward(self, x):
                return x.log()

        net = nn.Sequential(nn.Linear(4, 4), nn.Softplus(), nn.Sequential(nn.Identity(), Log()), nn.Linear(4, 2))
        capture = self.capture(net, torch.full((2, 4), -1e30))
        first = capture.origin.splitlines()[0]
        self.assertRegex(first, r"^step 1: activation/2\.1 was the first to hold non-finite values \(.*\), although all of its "
                                r"inputs were finite: activation/2\.0$")
        command = subprocess.run([sys.executable, "-m", "sonde", "captures", str(self.log)], capture_output=True, text=True, check=True)
        self.assertIn("activation/2.1 was the first to hold non-finite values", command.stdout)

    def test_says_what_functions_between_modules_hide(self):
        class Functional(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 2)

            def forward(self, x):
                return self.second(torch.log(self.first(x).abs() * 0 - x[:, :1].abs()))

        capture = self.capture(Functional(), torch.ones(2, 4) * 3)
        self.assertIn("activation/second was the first tensor in the capture to hold non-finite values", capture.origin)
        self.assertIn("finite: activation/first", capture.origin)
        self.assertIn("not seen: argument 0 of second", capture.origin)

    def test_inputs_of_residual_connections(self):
        net, rec = model(), self.recorder()
        with sonde.watch(net, rec):
            train(net, 1)
        rec.close()
        inputs = {probe["name"]: set(probe["inputs"]) for probe in self.run_().probes}
        self.assertEqual(inputs["2"], {"activation/1", "activation/2.norm", "activation/2.linear"})
        self.assertEqual(inputs["2.norm"], {"activation/1", "weight/2.norm.weight", "weight/2.norm.bias"})
        self.assertEqual(inputs["3"], {"activation/2", "weight/3.weight", "weight/3.bias"})
        self.assertEqual(inputs["0"], {"input/input", "weight/0.weight", "weight/0.bias"})


class Devices(Watching):
    def test_statistics_computed_by_torch_are_those_of_the_library(self):
        values = torch.cat([torch.randn(1000) * 10.0 ** torch.randint(-40, 38, (1000,)), torch.tensor(
            [0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e-45, -1e-42, 3.4e38, 1 - 2**-24])])
        tensors = {"f32": values, "f64": values.double() * 1e-290, "f16": torch.randn(500).half() * 1e-4, "bf16": values.bfloat16(),
                   "i64": torch.randint(-9, 9, (50,)), "bool": torch.tensor([True, False]), "empty": torch.zeros(0),
                   "nan": torch.full((3,), float("nan")), "u8": torch.arange(9, dtype=torch.uint8), "view": values[:1000].reshape(20, 50).T,
                   "f8_e4m3": torch.randn(50).to(torch.float8_e4m3fn), "number": torch.tensor(2.5)}
        for name, tensor in tensors.items():
            self.log = self.folder / name
            with self.recorder() as rec, rec.step(1) as step:
                rec.probe("library").record(step, tensor)
                rec.probe("device").record(step, _torch_device.statistics(tensor))
            run = self.run_()
            ours, theirs = run.statistics("activation/device"), run.statistics("activation/library")
            for column in ours.columns:
                numpy.testing.assert_allclose(ours[column], theirs[column], rtol=2e-6, err_msg=f"{name} {column}")
            wide = _torch_device._wide(tensor).reshape(-1)
            finite = wide[wide.isfinite()]
            self.assertEqual(_torch_device._keys(finite).tolist(), [sonde.histogram_key(value) for value in finite.tolist()], name)

    def test_on_a_device_only_statistics_leave_it(self):
        net = model()
        for number, record in enumerate((("stats",), ("stats", "histogram"), ("stats", "whole"))):
            self.log = self.folder / str(number)
            rec, fetched = self.recorder(), []
            own = torch.Tensor.cpu
            with mock.patch.object(_torch_tensors, "on_device", lambda tensor: True), \
                    mock.patch.object(torch.Tensor, "cpu", lambda tensor: fetched.append(tensor) or own(tensor)), \
                    mock.patch.object(sonde._core, "_Taps", Elsewhere):
                with sonde.watch(net, rec, record=record, gradients=True, weights=True, updates=True):
                    batches = train(net, 2)
            rec.close()
            self.assert_is("input/input", list(enumerate(batches)))
            self.assertEqual(bool(fetched), "whole" in record)
            self.assertIn("update/3.bias", self.tags())
            self.assertIn("gradient/0", self.tags())


class Elsewhere:
    """Taps that see no tensor, as if all were on a device."""
    def __init__(self, *arguments):
        self._taps = _torch_watch._core_taps(*arguments)

    def __getattr__(self, name):
        return getattr(self._taps, name)

    def tap(self, probe, container=False):
        tap = self._taps.tap(probe, container)
        return mock.Mock(record=lambda tensor: False, spec=tap)


class Removal(Watching):
    def test_nothing_stays_behind(self):
        net = model()
        calls = {id(module): module._call_impl for module in net.modules()}
        from torch.optim.optimizer import _global_optimizer_pre_hooks as hooks
        before, compiler = len(hooks), torch.compile
        watched = sonde.watch(net, self.recorder(), gradients=True, weights=True)
        train(net, 2)
        watched.remove()
        watched.remove()
        for module in net.modules():
            self.assertFalse(module._forward_hooks or module._forward_pre_hooks or module._compiled_call_impl)
            self.assertEqual(calls[id(module)], module._call_impl)
        self.assertEqual(len(hooks), before)
        self.assertIs(torch.compile, compiler)

    def test_after_remove_nothing_is_recorded(self):
        net, rec = model(), self.recorder()
        with sonde.watch(net, rec):
            train(net, 2)
        rec.flush()
        tensors = rec.counters.tensors
        train(net, 2)
        rec.flush()
        self.assertEqual(rec.counters.tensors, tensors)

    def test_a_closed_recorder_does_not_disturb_training(self):
        net, rec = model(), self.recorder()
        with sonde.watch(net, rec, gradients=True, weights=True, updates=True):
            train(net, 2)
            rec.close()
            train(net, 2)
        self.assertEqual([step for step, _ in self.column("activation/0")], [0, 1])

    def test_a_module_that_fails(self):
        class Failing(nn.Module):
            def forward(self, x):
                if x[0, 0] > 0:
                    raise ValueError("no")
                return x

        net, rec = nn.Sequential(nn.Linear(4, 4), Failing()), self.recorder()
        net[0].requires_grad_(False).weight.copy_(torch.eye(4))
        net[0].bias.zero_()
        with sonde.watch(net, rec, inference=True):
            for value in (-1, 1, -1, 1, -1):
                with self.subTest(value):
                    if value > 0:
                        self.assertRaisesRegex(ValueError, "no", net, torch.full((1, 4), float(value)))
                    else:
                        net(torch.full((1, 4), float(value)))
        rec.close()
        self.assertEqual([step for step, _ in self.column("activation/1")], [0, 2, 4])

    def test_copies_of_the_module_are_not_watched(self):
        net, rec = model(), self.recorder()
        with sonde.watch(net, rec):
            train(net, 2)
            rec.flush()
            tensors = rec.counters.tensors
            copied, replica = copy.deepcopy(net), net[0]._replicate_for_data_parallel()
            file = io.BytesIO()
            torch.save(net[0].state_dict(), file)
            with torch.no_grad():
                copied[0].weight.zero_()
                x = torch.randn(2, 4)
                self.assertTrue(torch.equal(copied[0](x), copied[0].bias.expand(2, 6)))
                copied(x)
                replica._parameters = {"weight": torch.zeros(6, 4), "bias": torch.ones(6)}
                self.assertTrue(torch.equal(replica(x), torch.ones(2, 6)))
            rec.flush()
        self.assertEqual(rec.counters.tensors, tensors)

    def test_a_watched_module_is_garbage_when_nobody_has_it(self):
        net = model()
        gone = weakref.ref(net)
        sonde.watch(net, self.recorder())
        train(net, 2)
        del net
        gc.collect()
        self.assertIsNone(gone())

    def test_modules_that_never_ran_are_named(self):
        class Unused(nn.Module):
            def __init__(self):
                super().__init__()
                self.used, self.unused, self.listed = nn.Linear(4, 2), nn.Linear(4, 2), nn.ModuleList([nn.Linear(1, 1)])

            def forward(self, x):
                return self.used(x)

        net, rec = Unused(), self.recorder()
        watched = sonde.watch(net, rec)
        train(net, 2)
        with self.assertWarnsRegex(sonde.RecordingWarning, "watched, but never called: unused, listed.0$"):
            watched.remove()
        rec.close()
        self.assertIn("never called", [value.data[0] for value in self.run_().values("sonde/watch", "text")][0])


class Arguments(Watching):
    def test_wrong_ones_are_named(self):
        net, rec = model(), self.recorder()
        closed = sonde.Recorder(self.folder / "closed")
        closed.close()
        for error, message, call in (
                (TypeError, "module must be a torch module, not list", lambda: sonde.watch([])),
                (TypeError, "recorder must be a sonde.Recorder, not str", lambda: sonde.watch(net, "logs")),
                (TypeError, "layers must be", lambda: sonde.watch(net, rec, layers=5)),
                (ValueError, "layers: 'nothing' matches no module", lambda: sonde.watch(net, rec, layers="nothing")),
                (ValueError, r"layers: '\(' is no regular expression", lambda: sonde.watch(net, rec, layers="(")),
                (ValueError, "record must be of", lambda: sonde.watch(net, rec, record="mean")),
                (ValueError, "every must be a number of steps, at least 1, not 0", lambda: sonde.watch(net, rec, every=0)),
                (TypeError, "every must be a number of steps, an int, not 1.5", lambda: sonde.watch(net, rec, every=1.5)),
                (TypeError, "every must be", lambda: sonde.watch(net, rec, every=True)),
                (TypeError, "record must be a str or a sequence of str, not 3", lambda: sonde.watch(net, rec, record=3)),
                (TypeError, "record must be a str or a sequence of str", lambda: sonde.watch(net, rec, record=[1])),
                (ValueError, "record must name at least one", lambda: sonde.watch(net, rec, record=())),
                (TypeError, "gradients must be", lambda: sonde.watch(net, rec, gradients=["outputs"])),
                (TypeError, "hold must be True or False, not 'yes'", lambda: sonde.watch(net, rec, hold="yes")),
                (TypeError, "weights must be True or False, not 3", lambda: sonde.watch(net, rec, weights=3)),
                (TypeError, "updates must be", lambda: sonde.watch(net, rec, updates=None)),
                (TypeError, "activations must be", lambda: sonde.watch(net, rec, activations="no")),
                (TypeError, "inference must be", lambda: sonde.watch(net, rec, inference=1)),
                (TypeError, "policy must be", lambda: sonde.watch(net, rec, policy=3)),
                (ValueError, "policy:1:", lambda: sonde.watch(net, rec, policy="[[watch]")),
                (ValueError, "layers selects no module", lambda: sonde.watch(net, rec, layers=[])),
                (TypeError, "layers must hold str or modules, not int", lambda: sonde.watch(net, rec, layers=[3])),
                (ValueError, "the recorder is closed", lambda: sonde.watch(net, closed)),
                (ValueError, "gradients must be", lambda: sonde.watch(net, rec, gradients="all"))):
            with self.assertRaisesRegex(error, message):
                call()
        for module in net.modules():
            self.assertFalse(module._forward_hooks)

    def test_without_a_recorder_it_opens_one(self):
        done = self.run_python(f"""
import os, torch, sonde
os.chdir({str(self.folder)!r})
net = torch.nn.Sequential(torch.nn.Linear(2, 2))
sonde.watch(net)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
""")
        self.assertEqual(done.stdout + done.stderr, "")
        run, = (self.folder / "runs").iterdir()
        self.assertRegex(run.name, r"^\d{8}-\d{6}-.")
        self.log = run
        self.assertEqual([step for step, _ in self.column("activation/0")], [0, 1, 2])


if __name__ == "__main__":
    unittest.main()
