"""The worker process of `sonde inspect`, asked as the command asks it, with a runtime that needs no framework."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy
from sonde._tensor_bytes import Bits, decode, encode

HERE = pathlib.Path(__file__).resolve().parent


class Client:
    """The command's side of the pipes."""

    def __init__(self, **environment: str) -> None:
        path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(HERE)])
        self.process = subprocess.Popen([sys.executable, "-B", "-m", "sonde._worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path, **environment})
        self.hello = self.line()

    def line(self) -> dict:
        answer = json.loads(self.process.stdout.readline())
        if "bytes" in answer:
            answer["tensor"] = decode(self.process.stdout.read(answer.pop("bytes")))[""]
        return answer

    def send(self, call: str, tensors=None, **fields) -> None:
        payload = b"".join(encode(tensors)) if tensors is not None else b""
        request = {"call": call, **fields, **({"bytes": len(payload)} if payload else {})}
        self.process.stdin.write(json.dumps(request).encode() + b"\n" + payload)
        self.process.stdin.flush()

    def ask(self, call: str, tensors=None, **fields) -> list[dict]:
        self.send(call, tensors, **fields)
        answers = [self.line()]
        while not {"done", "error"} & set(answers[-1]):
            answers.append(self.line())
        return answers

    def open(self, runtime: str = "module:fake_runtime", path: str = "model") -> list[dict]:
        return self.ask("open", path=path, runtime=runtime, precision="f32", signature="", profile=False)

    def close(self) -> int:
        self.process.stdin.close()
        code = self.process.wait(60)
        self.process.stdout.close()
        self.process.stderr.close()
        return code


class WorkerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client()
        self.addCleanup(lambda: self.client.process.poll() is None and self.client.close())

    def test_says_which_interpreter_and_package_it_is(self):
        import sonde
        self.assertEqual(self.client.hello["hello"], 1)
        self.assertEqual(self.client.hello["interpreter"], sys.executable)
        self.assertEqual(self.client.hello["sonde"], sonde.__version__)

    def test_opens_selects_and_runs_a_model(self):
        (opened,) = self.client.open()
        self.assertEqual(opened["done"]["info"]["name"], "fake")
        self.assertEqual([layer["name"] for layer in opened["done"]["description"]["layers"]], ["double", "text", "bits"])
        self.assertEqual(self.client.ask("select", model=0, layers=["double", "text", "bits"]), [{"done": {}}])
        x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        double, text, bits, result, done = self.client.ask("run", {"x": x}, model=0)
        numpy.testing.assert_array_equal(double["tensor"], 2 * x)
        self.assertEqual(double["layer"], 0)
        self.assertEqual(text, {"layer": 1, "missing": "its elements are of type string, which Sonde has no tensors of"})
        self.assertEqual(bits["tensor"].dtype, "BF16")
        self.assertEqual(bits["tensor"].array.tolist(), [16256])
        self.assertEqual(result["result"], "sum")
        self.assertEqual(result["tensor"].item(), 15)
        self.assertEqual(done, {"done": {}})

    def test_what_a_framework_prints_does_not_mix_with_the_answers(self):
        self.client.open()
        answers = self.client.ask("run", {"x": numpy.ones(1, numpy.float32)}, model=0)
        self.assertEqual(answers[-1], {"done": {}})
        self.client.process.stdin.close()
        self.client.process.wait(60)
        errors = self.client.process.stderr.read().decode()
        self.assertIn("printed in Python", errors)
        self.assertIn("printed in C", errors)
        self.client.process.stdout.close()
        self.client.process.stderr.close()

    def test_models_are_closed_and_others_stay(self):
        self.client.open()
        self.client.open()
        self.assertEqual(self.client.ask("close", model=0), [{"done": {}}])
        self.assertEqual(self.client.ask("run", {"x": numpy.ones(1, numpy.float32)}, model=1)[-1], {"done": {}})

    def test_errors_are_one_sentence_with_a_code(self):
        for runtime, code, words in (("module:fake_runtime", "corrupt", "the file is broken"), ("caffe", "invalid_argument", "caffe"),
                                     ("module:no_such_module", "invalid_argument", "No module named")):
            (answer,) = self.client.open(runtime, path="broken")
            self.assertEqual(answer["error"]["code"], code)
            self.assertIn(words, answer["error"]["message"])
            self.assertNotIn("\n", answer["error"]["message"])

    def test_a_missing_package_is_named_with_the_command_that_installs_it(self):
        client = Client(SONDE_TEST_HIDE="onnxruntime,torch,keras,tensorflow")
        try:
            for runtime, package in (("onnxruntime", "onnxruntime"), ("torch", "torch"), ("keras", "keras"), ("tensorflow", "tensorflow-cpu")):
                client.ask("open", path="", runtime="module:hidden_packages", precision="f32", signature="", profile=False)
                (answer,) = client.open(runtime)
                self.assertEqual(answer["error"]["code"], "unsupported")
                self.assertIn(f"{sys.executable} -m pip install {package}", answer["error"]["message"])
        finally:
            client.close()

    def test_ends_with_its_input_even_while_a_model_runs(self):
        self.client.open()
        self.client.send("run", {"x": numpy.full(1, -1, numpy.float32)}, model=0)  # runs for ever
        self.assertEqual(self.client.close(), 0)

    def test_an_interrupt_at_the_terminal_is_for_the_command(self):
        self.client.open()
        self.client.process.send_signal(signal.SIGINT)
        self.assertEqual(self.client.ask("select", model=0, layers=[]), [{"done": {}}])


class TensorBytesTest(unittest.TestCase):
    def test_the_safetensors_package_reads_them(self):
        from safetensors.numpy import load
        tensors = {"a": numpy.arange(3, dtype=numpy.int8), "b": numpy.float64(2.5), "c": numpy.ones((2, 0, 3), numpy.float16),
                   "d": numpy.arange(12, dtype=numpy.float32).reshape(3, 4).T, "e": numpy.array([True, False])}
        read = load(b"".join(encode(tensors)))
        for name, tensor in tensors.items():
            numpy.testing.assert_array_equal(read[name], tensor)
            self.assertEqual(read[name].dtype, numpy.asarray(tensor).dtype)

    def test_it_reads_those_of_the_safetensors_package(self):
        import ml_dtypes
        from safetensors.numpy import save
        tensors = {"a": numpy.arange(5, dtype=numpy.uint16), "b": numpy.ones((2, 2), ml_dtypes.bfloat16)}
        read = decode(save(tensors))
        numpy.testing.assert_array_equal(read["a"], tensors["a"])
        self.assertEqual(read["b"].dtype, "BF16")
        numpy.testing.assert_array_equal(read["b"].array, tensors["b"].view(numpy.uint16))

    def test_small_floats_keep_their_bits(self):
        import ml_dtypes
        for name, short in (("bfloat16", "BF16"), ("float8_e4m3fn", "F8_E4M3"), ("float8_e5m2", "F8_E5M2")):
            values = numpy.array([1, -2, 0.5], getattr(ml_dtypes, name))
            bits = decode(b"".join(encode({"x": values})))["x"]
            self.assertEqual(bits.dtype, short)
            numpy.testing.assert_array_equal(bits.array, values.view(bits.array.dtype))
            self.assertEqual(b"".join(encode({"x": bits})), b"".join(encode({"x": values})))

    def test_big_endian_arrays_are_turned(self):
        read = decode(b"".join(encode({"x": numpy.arange(3, dtype=">i4")})))
        numpy.testing.assert_array_equal(read["x"], [0, 1, 2])

    def test_types_without_a_name_are_errors(self):
        for value in (numpy.array(["text"]), numpy.ones(1, numpy.complex128), numpy.array([None])):
            with self.assertRaises(TypeError):
                encode({"x": value})
        self.assertIsInstance(Bits("BF16", numpy.ones(1, numpy.uint16)), tuple)


if __name__ == "__main__":
    unittest.main()
