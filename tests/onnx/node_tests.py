"""The node tests of the onnx package - a model of one operation, inputs and expected outputs each - through a runtime.

    node_tests.py                     through `inspect` of Sonde; compares the failures with node_failures.txt
    node_tests.py --with openvino     through OpenVINO's own Python interface: none of the listed tests may pass
    node_tests.py --with onnxruntime  through onnxruntime's
    node_tests.py --print             prints the failures instead of comparing them

Exit status: 0 if exactly the listed tests fail; those that depend on the processor may pass. The list may only get shorter.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import sys
import tempfile
import warnings

import ml_dtypes  # noqa: F401 - its types get their names in NumPy
import numpy
import onnx
from onnx.backend.test.case.node import collect_testcases

LIST = pathlib.Path(__file__).resolve().parent / "node_failures.txt"
_SMALL_FLOATS = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


class NotATensor(Exception):
    """The test has values that are no tensors of numbers: sequences, optional values, strings, integers of 4 bits."""


def array(value):
    """A value of a test as an array."""
    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    if value is None or isinstance(value, (list, onnx.SequenceProto, onnx.OptionalProto)):
        raise NotATensor("a sequence or an optional value")
    value = numpy.asarray(value)
    if value.dtype.kind in "OSU":
        raise NotATensor("strings")
    if value.dtype.kind not in "biufc" and value.dtype.name not in _SMALL_FLOATS:
        raise NotATensor(f"elements of type {value.dtype.name}")
    return value


def cases():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sorted(collect_testcases(None), key=lambda case: case.name)


def difference(case, name, expected, given):
    """What is wrong with an output; empty if nothing is. Tolerances are the test's own."""
    given = numpy.asarray(given)
    if given.dtype != expected.dtype:
        return f"{name} is {given.dtype}, expected {expected.dtype}"
    if given.shape != expected.shape:
        return f"{name} has the shape {list(given.shape)}, expected {list(expected.shape)}"
    wide = numpy.complex128 if expected.dtype.kind == "c" else numpy.float64
    if expected.dtype.kind in "biu":
        equal = numpy.array_equal(given, expected)
    else:
        equal = numpy.allclose(given.astype(wide), expected.astype(wide), rtol=case.rtol, atol=case.atol, equal_nan=True)
    return "" if equal else f"{name} has other values"


def run_case(case, folder, run):
    """Empty if the test passes, otherwise why not."""
    path = os.path.join(folder, "model.onnx")
    onnx.save(case.model, path)
    inputs, outputs = case.data_sets[0]
    try:
        fed = {value.name: array(given) for value, given in zip(case.model.graph.input, inputs)}
        expected = {value.name: array(given) for value, given in zip(case.model.graph.output, outputs)}
    except NotATensor as error:
        return f"no tensors: {error}"
    try:
        found = run(path, fed, list(expected))
    except Exception as error:
        lines = str(error).strip().splitlines()
        return f"{type(error).__name__}: {lines[0][:600] if lines else ''}"
    for name, value in expected.items():
        if name not in found:
            return f"there is no output {name}"
        if why := difference(case, name, value, found[name]):
            return why
    return ""


# ---- The runtimes

@contextlib.contextmanager
def with_sonde():
    from models import Models  # needs the Python package
    used = collections.Counter()
    with Models() as models, tempfile.TemporaryDirectory() as folder:
        def run(path, inputs, outputs):
            _, found, runtime = models.run(path, inputs, folder)
            used[runtime] += 1
            return found

        yield run
    print("runtimes: " + ", ".join(f"{name} {count}" for name, count in used.most_common()))


@contextlib.contextmanager
def with_openvino():
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
    import openvino
    core = openvino.Core()

    # NumPy has no such types of its own: their bits go in and out.
    kinds = {"bfloat16": openvino.Type.bf16, "float8_e4m3fn": openvino.Type.f8e4m3, "float8_e5m2": openvino.Type.f8e5m2}
    names = {kind: numpy.dtype(name) for name, kind in kinds.items()}

    def given(value):
        if value.dtype.name not in kinds:
            return value
        tensor = openvino.Tensor(kinds[value.dtype.name], openvino.Shape(value.shape))
        if value.size > 0:
            tensor.data.reshape(-1).view(numpy.uint8)[:] = numpy.frombuffer(value.tobytes(), numpy.uint8)
        return tensor

    def taken(tensor):
        array = numpy.array(tensor.data)
        return array.view(names[tensor.element_type]) if tensor.element_type in names else array

    def run(path, inputs, outputs):
        compiled = core.compile_model(core.read_model(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        request = compiled.create_infer_request()
        request.infer({name: given(value) for name, value in inputs.items()})
        return {name: taken(request.get_output_tensor(place)) for place, name in enumerate(outputs)}

    yield run


@contextlib.contextmanager
def with_onnxruntime():
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)

    def run(path, inputs, outputs):
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        return dict(zip(outputs, session.run(outputs, inputs)))

    yield run


def listed():
    """The tests that are known to fail, by name, with the reason."""
    lines = (line.strip() for line in LIST.read_text().splitlines())
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def varies(why):
    """Whether a listed test may pass: its result depends on the instructions of the processor."""
    return why.startswith("depends on the processor: ")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--with", dest="runtime", choices=("sonde", "openvino", "onnxruntime"), default="sonde")
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    chosen = [case for case in cases() if options.only in case.name]
    failures = {}
    with globals()[f"with_{options.runtime}"]() as run, tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            if why := run_case(case, folder, run):
                failures[case.name] = why
    print(f"node tests of onnx {onnx.__version__} through {options.runtime}: {len(chosen) - len(failures)} of {len(chosen)} pass")
    known = listed()
    names = {case.name for case in chosen}
    if options.print:
        for name, why in failures.items():
            print(f"{name}: {why}")
        return 0
    if options.runtime == "openvino":
        better = sorted(name for name in names & known.keys() - failures.keys() if not varies(known[name]))
        for name in better:
            print(f"{name} passes through OpenVINO's own interface, but fails through inspect", file=sys.stderr)
        return 1 if better else 0
    if options.runtime == "onnxruntime":
        return 0
    new = {name: why for name, why in failures.items() if name not in known}
    gone = [name for name, why in known.items()
            if name not in failures and (name in names or not options.only) and not varies(why)]
    for name, why in new.items():
        print(f"{name} fails, and is not in {LIST.name}: {why}", file=sys.stderr)
    for name in gone:
        print(f"{name} passes: take it out of {LIST.name}", file=sys.stderr)
    return 1 if new or gone else 0


if __name__ == "__main__":
    sys.exit(main())
