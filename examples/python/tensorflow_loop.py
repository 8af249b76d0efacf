"""A training loop of TensorFlow, recorded: summaries as tf.summary has them, activations and gradients with taps.

    python tensorflow_loop.py logs/tensorflow
    sonde logs
"""
import sys

import numpy
import tensorflow as tf

import sonde
from sonde import tf_summary


def spirals(rows: int, seed: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Points on two spirals in the plane, and which of the two each is on."""
    random = numpy.random.default_rng(seed)
    label = random.integers(0, 2, rows)
    turn = random.uniform(0.5, 3, rows)
    angle = turn * 2.5 + label * numpy.pi
    points = numpy.stack([turn * numpy.cos(angle), turn * numpy.sin(angle)], axis=1)
    return points.astype("float32"), label.astype("int32")


def main(log_dir: str, steps: int = 400) -> float:
    tf.random.set_seed(1)
    sizes = [2, 32, 32, 2]
    weights = [tf.Variable(tf.random.normal([a, b], stddev=(2 / a) ** 0.5)) for a, b in zip(sizes, sizes[1:])]
    biases = [tf.Variable(tf.zeros([size])) for size in sizes[1:]]
    variables = weights + biases
    speeds = [tf.Variable(tf.zeros_like(variable)) for variable in variables]
    x, y = spirals(512, seed=1)
    test_x, test_y = spirals(256, seed=2)
    step = tf.Variable(0, dtype=tf.int64)

    def network(values, recorded=True):
        for n in range(2):
            values = tf.nn.relu(values @ weights[n] + biases[n])
            values = sonde.tap_grad(f"hidden_{n}", sonde.tap(f"hidden_{n}", values, enabled=recorded), enabled=recorded)
        return values @ weights[2] + biases[2]

    @tf.function
    def train():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, network(x, step % 20 == 0)))
        tf_summary.scalar("loss", loss)
        with tf_summary.record_if(step % 50 == 0):
            for n, weight in enumerate(weights):
                tf_summary.histogram(f"weights/{n}", weight)
        for variable, speed, gradient in zip(variables, speeds, tape.gradient(loss, variables)):
            speed.assign(0.9 * speed + gradient)
            variable.assign_sub(0.05 * speed)

    @tf.function
    def accuracy():
        found = tf.argmax(network(test_x, recorded=False), axis=1, output_type=tf.int32)
        return tf.reduce_mean(tf.cast(found == test_y, tf.float32))

    writer = tf_summary.create_file_writer(log_dir)
    with writer.as_default(step=step):
        tf_summary.text("task", "Which of two spirals is a point on?")
        for _ in range(steps):
            train()
            step.assign_add(1)
        tf_summary.scalar("test/accuracy", accuracy())
        tf_summary.image("points", drawn(x, y)[None])
    result = float(accuracy())
    writer.close()
    return result


def drawn(points: numpy.ndarray, labels: numpy.ndarray, size: int = 64) -> numpy.ndarray:
    """The points as a picture, each spiral in its own colour."""
    picture = numpy.zeros((size, size, 3), "float32")
    places = ((points / 6.5 + 0.5) * size).astype(int).clip(0, size - 1)
    picture[places[:, 1], places[:, 0], labels] = 1
    return picture


if __name__ == "__main__":
    print(f"test accuracy {main(sys.argv[1] if len(sys.argv) > 1 else 'logs/tensorflow'):.3f}")
