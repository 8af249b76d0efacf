"""`sonde inspect` of a network of 40 convolutions and of a model of 100 MB, against Polygraphy and against OpenVINO itself.

    layers.py SONDE DIRECTORY OPENVINO    the command, a folder for the models and dumps, the folder with the package openvino

Prints lines of name, value and unit. Runs in the environment of the peers, which has onnx and Polygraphy.
"""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

PASSES, LAYERS, CHANNELS, SIZE = 5, 40, 8, 256
RAW = PASSES * LAYERS * CHANNELS * SIZE * SIZE * 4  # bytes of all activations: 84 MB a pass


def report(name, value, unit):
    print(f"{name}\t{value:.6g}\t{unit}", flush=True)


def save_model(path, nodes, weights, shapes):
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes]
    graph = helper.make_graph(nodes, "graph", values[:1], values[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)


def make_convolutions(path):
    random = numpy.random.default_rng(0)
    nodes, weights, before = [], [], "x"
    for layer in range(LAYERS):
        kernel = random.normal(size=(CHANNELS, CHANNELS, 3, 3)).astype(numpy.float32) / (3 * CHANNELS**0.5)
        weights.append(numpy_helper.from_array(kernel, f"kernel_{layer}"))
        nodes.append(helper.make_node("Conv", [before, f"kernel_{layer}"], [f"conv_{layer}"], pads=[1, 1, 1, 1]))
        before = f"conv_{layer}"
    shape = [1, CHANNELS, SIZE, SIZE]
    save_model(path, nodes, weights, [("x", shape), (before, shape)])


def make_large(path):
    """25 matrices of 1000 x 1000: 100 MB."""
    random = numpy.random.default_rng(0)
    nodes, weights, before = [], [], "x"
    for layer in range(25):
        weights.append(numpy_helper.from_array(random.normal(size=(1000, 1000)).astype(numpy.float32) / 32, f"matrix_{layer}"))
        nodes.append(helper.make_node("MatMul", [before, f"matrix_{layer}"], [f"product_{layer}"]))
        nodes.append(helper.make_node("Relu", [f"product_{layer}"], [f"relu_{layer}"]))
        before = f"relu_{layer}"
    save_model(path, nodes, weights, [("x", [1, 1000]), (before, [1, 1000])])


def seconds(command, **options):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    return time.perf_counter() - begin


def size_of(path):
    path = pathlib.Path(path)
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) if path.is_dir() else path.stat().st_size


def check_dump(path):
    """Every layer of the first pass is there and finite."""
    from safetensors.numpy import load_file
    layers = load_file(path)
    if len(layers) != LAYERS or not all(numpy.isfinite(array).all() for array in layers.values()):
        sys.exit("bench/inspect: the dump is not complete")


OWN_LOAD = """
import sys, time
sys.path.insert(0, sys.argv[2])
import numpy, openvino
begin = time.perf_counter()
core = openvino.Core()
compiled = core.compile_model(core.read_model(sys.argv[1]), "CPU", {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"})
compiled(numpy.ones((1, 1000), numpy.float32))
print(time.perf_counter() - begin)
"""


def main():
    sonde, folder, openvino = sys.argv[1], pathlib.Path(sys.argv[2]) / "inspect", sys.argv[3]
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": os.environ.get("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")}
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "inputs").mkdir(parents=True)
    network, large = folder / "convolutions.onnx", folder / "large.onnx"
    make_convolutions(network)
    make_large(large)
    random = numpy.random.default_rng(1)
    for number in range(PASSES):
        numpy.save(folder / "inputs" / f"{number}.npy", random.normal(size=(1, CHANNELS, SIZE, SIZE)).astype(numpy.float32))
    numpy.save(folder / "x.npy", numpy.ones((1, 1000), numpy.float32))

    # In turns, so that both meet the same machine.
    polygraphy = pathlib.Path(sys.executable).parent / "polygraphy"
    dump, saved = folder / "dump", folder / "polygraphy.json"
    times, peers = [], []
    for _ in range(3):
        shutil.rmtree(dump, ignore_errors=True)
        times.append(seconds([sonde, "inspect", network, "--input", folder / "inputs", "--save", dump, "--format", "safetensors"]))
        peers.append(seconds([polygraphy, "run", network, "--onnxrt", "--onnx-outputs", "mark", "all", "--iterations", str(PASSES),
                              "--save-outputs", saved]))
    check_dump(dump / "0.safetensors")
    report("all_layers/time", statistics.median(times), "s")
    report("all_layers/bytes", size_of(dump) / RAW, "times the raw bytes")
    report("polygraphy/time", statistics.median(peers), "s")
    report("polygraphy/bytes", size_of(saved) / RAW, "times the raw bytes")
    report("polygraphy/ratio", statistics.median(peer / own for own, peer in zip(times, peers)), "times")

    one = min(seconds([sonde, "inspect", large, "--input", folder / "x.npy", "--layers", "relu_12"], env=environment) for _ in range(3))
    own = min(float(subprocess.run([sys.executable, "-c", OWN_LOAD, large, openvino], check=True, capture_output=True, text=True,
                                   env=environment).stdout) for _ in range(3))
    report("one_layer/time", one, "s")
    report("one_layer/runtime", own, "s")
    report("one_layer/ratio", one / own, "times")
    report("list/time", min(seconds([sonde, "inspect", large, "--list"]) for _ in range(3)), "s")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
