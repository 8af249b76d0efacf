"""An intermediate tensor of a PyTorch module as a .npy file every 100 steps.

The file is tensors/<step>.<writer>/activation/layer2.npy in the run's directory; another thread writes it while the module
trains. sonde.load(logs)["."].tensors["activation/layer2"][100] reads it.
"""
import sys

import torch
from task import batches, digits

import sonde


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 32), torch.nn.ReLU())
        self.layer2 = torch.nn.Sequential(torch.nn.Linear(32, 16), torch.nn.ReLU())
        self.out = torch.nn.Linear(16, 10)

    def forward(self, images):
        return self.out(sonde.tap("layer2", self.layer2(self.layer1(images))))


def main(logs):
    torch.manual_seed(7)
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), 0.003)
    (images, labels), _ = digits()
    with sonde.Recorder(logs, policy={"watch": [{"tensors": "layer2", "every": 100, "record": "npy"}]}) as rec:
        for n, (x, y) in enumerate(batches(images, labels, count=301)):
            with rec.step(n):
                loss = torch.nn.functional.cross_entropy(network(torch.from_numpy(x)), torch.from_numpy(y).long())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/001_2")
