"""Makes models/digits.onnx and models/clean.onnx, the trained models that the programs about saved models read.

Both learn from the handwritten digits of ../digits (origin and licence: ../digits/DATA.md), with NumPy alone, and are
written with the package `onnx`:

    build/venv/bin/python examples/seeds/make_models.py

digits.onnx   x f32[N,8,8,1] -> flat -> dense_1 -> relu_1 -> dense_2 -> relu_2 -> dense_3 -> output f32[N,10]
clean.onnx    x f32[N,1,8,8], noisy digits -> features -> relu -> picture -> output f32[N,1,8,8], from 0 to 1
"""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent


class Adam:
    def __init__(self, parameters, rate):
        self.parameters, self.rate, self.n = parameters, rate, 0
        self.first = [np.zeros_like(p) for p in parameters]
        self.second = [np.zeros_like(p) for p in parameters]

    def step(self, gradients):
        self.n += 1
        for p, g, m, v in zip(self.parameters, gradients, self.first, self.second):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            p -= self.rate * (m / (1 - 0.9**self.n)) / (np.sqrt(v / (1 - 0.999**self.n)) + 1e-8)


def dense(rng, rows, columns):
    return [rng.normal(0, np.sqrt(2 / rows), (rows, columns)).astype(np.float32), np.zeros(columns, np.float32)]


def forward(parameters, x):
    """The outputs of all layers, ReLU after each but the last."""
    outputs = [x]
    for i in range(0, len(parameters), 2):
        outputs.append(outputs[-1] @ parameters[i] + parameters[i + 1])
        if i + 2 < len(parameters):
            outputs.append(np.maximum(outputs[-1], 0))
    return outputs


def backward(parameters, outputs, gradient):
    gradients = []
    for i in range(len(parameters) - 2, -1, -2):
        x = outputs[i]
        gradients[:0] = [x.T @ gradient, gradient.sum(0)]
        gradient = (gradient @ parameters[i].T) * (x > 0)
    return gradients


def classifier(rng, images, labels):
    parameters = dense(rng, 64, 32) + dense(rng, 32, 16) + dense(rng, 16, 10)
    adam = Adam(parameters, 0.01)
    x = images.reshape(len(images), 64)
    for _ in range(600):
        chosen = rng.integers(0, len(x), 128)
        outputs = forward(parameters, x[chosen])
        exponents = np.exp(outputs[-1] - outputs[-1].max(1, keepdims=True))
        gradient = exponents / exponents.sum(1, keepdims=True)
        gradient[np.arange(128), labels[chosen]] -= 1
        adam.step(backward(parameters, outputs, gradient / 128))
    right = forward(parameters, x)[-1].argmax(1) == labels
    print(f"digits: reads {right.mean():.1%}")
    return parameters


def neighbourhoods(images):
    """The 3x3 pixels around each pixel, [n * 64, 9]: what a convolution sees."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    parts = [padded[:, i:i + 8, j:j + 8] for i in range(3) for j in range(3)]
    return np.stack(parts, -1).reshape(-1, 9)


def cleaner(rng, images):
    parameters = dense(rng, 9, 8) + dense(rng, 8, 1)
    adam = Adam(parameters, 0.01)
    for _ in range(400):
        clean = images[rng.integers(0, len(images), 32)]
        noisy = np.clip(clean + rng.normal(0, 0.3, clean.shape).astype(np.float32), 0, 1)
        outputs = forward(parameters, neighbourhoods(noisy))
        made = 1 / (1 + np.exp(-outputs[-1]))
        error = made - clean.reshape(-1, 1)
        adam.step(backward(parameters, outputs, 2 * error * made * (1 - made) / len(error)))
    print(f"clean: mean squared error {np.mean(error**2):.4f} of noise {np.mean((noisy - clean)**2):.4f}")
    return parameters


def save(name, nodes, x, output, constants):
    graph = helper.make_graph(nodes, name, [x], [output],
                              [numpy_helper.from_array(value, key) for key, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9, producer_name="make_models.py")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, HERE / "models" / f"{name}.onnx")


def main():
    rng = np.random.default_rng(7)
    images = np.load(HERE.parent / "digits" / "images.npy").astype(np.float32) / 16
    labels = np.load(HERE.parent / "digits" / "labels.npy").astype(np.int64)
    (HERE / "models").mkdir(exist_ok=True)

    parameters = classifier(rng, images, labels)
    nodes, value, constants = [helper.make_node("Flatten", ["x"], ["flat"])], "flat", {}
    for i in range(3):
        name = f"dense_{i + 1}"
        constants |= {f"{name}/kernel": parameters[2 * i], f"{name}/bias": parameters[2 * i + 1]}
        nodes.append(helper.make_node("Gemm", [value, f"{name}/kernel", f"{name}/bias"], [name]))
        value = name
        if i < 2:
            value = f"relu_{i + 1}"
            nodes.append(helper.make_node("Relu", [name], [value]))
    nodes.append(helper.make_node("Softmax", ["dense_3"], ["output"]))
    save("digits", nodes, helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 8, 8, 1]),
         helper.make_tensor_value_info("output", TensorProto.FLOAT, ["N", 10]), constants)

    kernel, bias, mix, offset = cleaner(rng, images)
    constants = {"features/kernel": np.ascontiguousarray(kernel.T.reshape(8, 1, 3, 3)), "features/bias": bias,
                 "picture/kernel": np.ascontiguousarray(mix.T.reshape(1, 8, 1, 1)), "picture/bias": offset}
    nodes = [helper.make_node("Conv", ["x", "features/kernel", "features/bias"], ["features"], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["features"], ["relu"]),
             helper.make_node("Conv", ["relu", "picture/kernel", "picture/bias"], ["picture"]),
             helper.make_node("Sigmoid", ["picture"], ["output"])]
    save("clean", nodes, helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1, 8, 8]),
         helper.make_tensor_value_info("output", TensorProto.FLOAT, ["N", 1, 8, 8]), constants)


if __name__ == "__main__":
    main()
