"""sonde.watch in jobs of two processes: DistributedDataParallel and FSDP over gloo, on this machine."""
import pathlib
import socket
import subprocess
import sys
import unittest

import torch

from watching import Watching

import sonde

JOB = """
import os, sys, torch, warnings
sys.path.insert(0, {tests!r})
import torch.distributed as dist
from watching import model, train
import sonde
rank, way = int(sys.argv[1]), sys.argv[2]
os.chdir({folder!r})
dist.init_process_group("gloo", init_method="tcp://127.0.0.1:{port}", rank=rank, world_size=2)
net = model()
if way == "ddp":
    net = torch.nn.parallel.DistributedDataParallel(net)
else:
    from torch.distributed.fsdp import fully_shard
    mesh = dist.init_device_mesh("cpu", (2,))
    fully_shard(net, mesh=mesh)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    with sonde.watch(net, gradients="parameters", weights=True, updates=True) as watched:
        torch.manual_seed(rank)
        train(net, 3)
        print(watched.layers)
print([str(each.message) for each in said if issubclass(each.category, sonde.RecordingWarning)])
weight = (net.module if way == "ddp" else net)[0].weight
print("shape", tuple(weight.shape if way == "ddp" else weight.to_local().shape))
dist.barrier()
dist.destroy_process_group()
"""


class Distributed(Watching):
    def job(self, way):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        program = JOB.format(tests=str(pathlib.Path(__file__).parent), folder=str(self.folder), port=port)
        ranks = [subprocess.Popen([sys.executable, "-c", program, str(rank), way], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) for rank in range(2)]
        told = [rank.communicate(timeout=240) for rank in ranks]
        self.assertEqual([rank.returncode for rank in ranks], [0, 0], told)
        run, = (self.folder / "runs").iterdir()
        self.assertEqual(sorted(each.name for each in run.iterdir()), ["rank-0000", "rank-0001"])
        return run, [output.splitlines() for output, _ in told]

    def test_data_parallel(self):
        run, told = self.job("ddp")
        self.assertEqual(told[0][0], "['Sequential', '0', '1', '2', '2.norm', '2.linear', '3']")
        self.assertEqual(told[0][1], "[]")
        gradients = []
        for rank in range(2):
            self.log = run / f"rank-{rank:04d}"
            self.assertEqual([step for step, _ in self.column("activation/2.linear")], [0, 1, 2])
            gradients.append(self.column("gradient/2.linear.weight"))
        self.assertEqual(*gradients)  # they were averaged before they were read
        self.log = run / "rank-0000"
        first = self.column("activation/0")
        self.log = run / "rank-0001"
        self.assertNotEqual(first, self.column("activation/0"))  # each has its own data

    def test_fully_sharded(self):
        run, told = self.job("fsdp")
        self.assertIn("this process records its own shards", told[0][1])
        self.assertEqual(told[0][2], "shape (3, 4)")
        self.log = run / "rank-0001"
        shapes = {probe["tag"]: tuple(probe["shape"]) for probe in self.run_().probes}
        for kind in ("weight", "gradient", "update"):
            self.assertEqual(shapes[f"{kind}/0.weight"], (3, 4))
            self.assertEqual([step for step, _ in self.column(f"{kind}/0.weight")], [0, 1, 2])
        self.assertEqual(shapes["activation/0"], (5, 6))


if __name__ == "__main__":
    unittest.main()
