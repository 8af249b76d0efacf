"""A training loop of JAX, recorded: activations and gradients inside jit, switched on and off without compiling again.

    python jax_loop.py logs/jax
    sonde logs
"""
import sys

import jax
import jax.numpy as jnp
import numpy

import sonde


def waves(rows: int, seed: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Pieces of sines with noise, and the frequency of each."""
    random = numpy.random.default_rng(seed)
    frequency = random.uniform(1, 5, rows)
    phase = random.uniform(0, 2 * numpy.pi, rows)
    time = numpy.linspace(0, 1, 64)
    signal = numpy.sin(2 * numpy.pi * frequency[:, None] * time + phase[:, None]) + random.normal(0, 0.1, (rows, 64))
    return signal.astype("float32"), frequency.astype("float32")


def network(params, signal, step, record):
    """The frequency of one signal; vmap makes a batch of it, which is recorded as one tensor."""
    for n, (weight, bias) in enumerate(params[:-1]):
        signal = jnp.tanh(signal @ weight + bias)
        signal = sonde.tap(f"hidden_{n}", signal, step, enabled=record)
        signal = sonde.tap_grad(f"hidden_{n}", signal, step, enabled=record)
    weight, bias = params[-1]
    return (signal @ weight + bias)[0]


def loss_of(params, x, y, step, record):
    found = jax.vmap(network, (None, 0, None, None))(params, x, step, record)
    return jnp.mean((found - y) ** 2)


@jax.jit
def train(params, x, y, step, record):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y, step, record)
    return jax.tree.map(lambda value, gradient: value - 0.05 * gradient, params, gradients), loss


def main(log_dir: str, steps: int = 600) -> float:
    x, y = waves(512, seed=1)
    test_x, test_y = waves(256, seed=2)
    keys = jax.random.split(jax.random.key(1), 3)
    sizes = [64, 64, 32, 1]
    params = [(jax.random.normal(key, (a, b)) / a ** 0.5, jnp.zeros(b)) for key, a, b in zip(keys, sizes, sizes[1:])]
    with sonde.Recorder(log_dir) as rec:
        series = rec.series("loss")
        for step in range(steps):
            params, loss = train(params, x, y, step, step % 100 == 0)
            series.record(loss, step)
            if step % 100 == 0:
                for n, (weight, _) in enumerate(params):
                    rec.histogram(f"weights/{n}", weight, step)
        error = float(loss_of(params, test_x, test_y, 0, False))
        rec.scalar("test/error", error, steps)
    return error


if __name__ == "__main__":
    print(f"test error {main(sys.argv[1] if len(sys.argv) > 1 else 'logs/jax'):.3f}")
