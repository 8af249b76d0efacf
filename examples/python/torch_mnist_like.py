#!/usr/bin/env python3
"""Train a small convolutional network on drawn digits, with every layer recorded, and show what was recorded.

    python examples/python/torch_mnist_like.py [logs/digits]
    sonde serve logs

Needs torch. The digits are drawn here: nothing is downloaded.
"""
import argparse

import torch
from torch import nn

import sonde

# Ten digits of 5 x 3 pixels, a row of which is a number of three bits.
FONT = ("75557", "26227", "71747", "71717", "55711", "74717", "74757", "71111", "75757", "75717")


def draw(count: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures of 16 x 16 with a digit of random size, place and brightness, and noise; and which digit it is."""
    labels = torch.randint(0, 10, (count,), generator=generator)
    glyphs = torch.tensor([[[int(row) >> bit & 1 for bit in (2, 1, 0)] for row in digit] for digit in FONT], dtype=torch.float32)
    pictures = torch.zeros(count, 1, 16, 16)
    for picture, label in zip(pictures, labels):
        scale = int(torch.randint(2, 4, (), generator=generator))
        digit = glyphs[label].repeat_interleave(scale, 0).repeat_interleave(scale, 1)
        height, width = digit.shape
        top = int(torch.randint(0, 17 - height, (), generator=generator))
        left = int(torch.randint(0, 17 - width, (), generator=generator))
        picture[0, top:top + height, left:left + width] = digit * (0.5 + 0.5 * torch.rand((), generator=generator))
    return pictures + 0.2 * torch.randn(pictures.shape, generator=generator), labels


class Digits(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.classify = nn.Sequential(nn.Flatten(), nn.Linear(32 * 4 * 4, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        return self.classify(self.features(pictures))


def accuracy(model: nn.Module, pictures: torch.Tensor, labels: torch.Tensor) -> float:
    model.eval()
    with torch.no_grad():
        found = (model(pictures).argmax(1) == labels).float().mean().item()
    model.train()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="?", default="logs/digits")
    arguments, steps = parser.parse_args(), 200
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    test = draw(500, generator)
    model = Digits()
    optimizer = torch.optim.Adam(model.parameters(), 2e-3)
    policy = '''
        [[watch]]                       # every layer, its weights and gradients
        record = ["stats", "histogram"]
        every  = 10

        [[trigger]]                     # and everything around a NaN
        rule = "nonfinite"
    '''
    with sonde.Recorder(arguments.log, policy=policy) as rec, sonde.watch(model, rec, gradients=True, weights=True, updates=True):
        for step in range(steps):
            pictures, labels = draw(64, generator)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(pictures), labels)
            loss.backward()
            optimizer.step()
            rec.scalar("loss", loss.item(), step)
            if step % 50 == 49:
                rec.scalar("test/accuracy", accuracy(model, *test), step)
                rec.image("digits", pictures[:8, 0], step, "NHW")

    run = sonde.load(arguments.log, cache=False)["."]
    for name in ("activation/features.0", "gradient/features.0.weight", "update/features.0.weight"):
        table = run.statistics(name)
        print(f"{name:28} std {table['std'][0]:.2e} at step {table.steps[0]}, {table['std'][-1]:.2e} at step {table.steps[-1]}")
    print(f"the page: sonde serve {arguments.log}")
    print(f"accuracy {run.scalars('test/accuracy').values[-1]:.3f}")


if __name__ == "__main__":
    main()
