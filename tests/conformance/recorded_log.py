"""A log directory with every kind of summary, recorded by the C++ library, and what readers must find in it."""

import collections
import dataclasses
import time

import numpy as np

from recording import ColorMap, DTYPES, DTYPE_NUMBERS, Encoding, Keep, Kind, Layout, Precision, Script

END = "end"  # a text, the last record of each run: a reader that sees it has seen the whole run
# A finite number that f32 cannot hold causes an error, and a text in the log.
OVERFLOW = ("the scalar 'overflow' was 1e+300, which is infinite in the log, since scalars are written as f32: set "
            "RecorderOptions::precision to f64, or record it in another unit")

MARKDOWN = "* *emphasis* & <script>alert(1)</script>\n\n| a | b |\n|---|---|\n| 1 | ü |\n"
SPECIAL_TAGS = [
    "a/b/c", "/leading", "trailing/", "a//b", "blanks in a tag", "\ttab", "new\nline", "Größe/損失/🙂", "naïve",
    "per cent %20 & ampersand + plus = equals ? # ; , ' \" \\ <b>", "..", ".", "x" * 10_000, "é" * 5_000,
]
SPECIAL_VALUES = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-45, 1.17549435e-38, 3.4028235e38, -3.4028235e38, 0.1, 1 / 3]
SPECIAL_STEPS = [-2**63, -10**12, -1, 0, 1, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1]


def series():
    """{run: {tag: [(step, ...)]}}"""
    return collections.defaultdict(lambda: collections.defaultdict(list))


@dataclasses.dataclass
class Expected:
    scalars: dict = dataclasses.field(default_factory=series)  # value
    histograms: dict = dataclasses.field(default_factory=series)  # array, number of buckets
    images: dict = dataclasses.field(default_factory=series)  # pixels (NaN: any), tolerance
    audio: dict = dataclasses.field(default_factory=series)  # samples [frames, channels], rate
    text: dict = dataclasses.field(default_factory=series)  # text
    pr_curves: dict = dataclasses.field(default_factory=series)  # labels, predictions, thresholds
    meshes: dict = dataclasses.field(default_factory=series)  # {"VERTEX": array, ...}; by the mesh's name
    graphs: dict = dataclasses.field(default_factory=dict)  # {run: nodes}
    hparams: dict = dataclasses.field(default_factory=dict)  # {run: (values, metrics, group)}
    layouts: dict = dataclasses.field(default_factory=dict)  # {run: categories}
    counters: dict = dataclasses.field(default_factory=dict)  # {recorder: counters at the end}
    complaints: list = dataclasses.field(default_factory=list)
    begin: float = 0
    end: float = 0

    def runs(self):
        return set(self.text)  # every run has its END

    def mesh_tags(self):
        return {run: {f"{name}_{part}": [(step, parts[part]) for step, parts in points]
                      for name, points in meshes.items() for part in points[0][1]}
                for run, meshes in self.meshes.items()}


class Recorder:
    """One recorder of the script. What it records is also noted as expected."""

    def __init__(self, script, expected, logdir, run, **options):
        self.run = run
        self.name = f"{run}{options.get('suffix', '')}"
        self.buckets = options.get("buckets", 30)
        self.script, self.expected = script, expected
        self.number = np.float64 if options.get("precision") == Precision.f64 else np.float32
        script.open(self.name, f"{logdir}/{run}", **options)

    def __call__(self, command, *arguments):
        self.script(command, self.name, *arguments)

    def scalar(self, tag, value, step):
        self("series" if step % 2 else "scalar", tag, float(value), step)
        self.expect_scalar(tag, value, step)

    def expect_scalar(self, tag, value, step):
        with np.errstate(over="ignore"):
            self.expected.scalars[self.run][tag].append((step, self.number(value)))

    def histogram(self, tag, array, step):
        self("histogram", tag, array, step)
        self.expect_histogram(tag, array, step)

    def expect_histogram(self, tag, array, step):
        self.expected.histograms[self.run][tag].append((step, array, self.buckets))

    def image(self, tag, array, step, layout, pixels, tolerance=0, colors=ColorMap.automatic, low=0, high=0):
        self("image", tag, array, step, layout, colors, 64, low, high)
        self.expect_image(tag, pixels, step, tolerance)

    def expect_image(self, tag, pixels, step, tolerance):
        self.expected.images[self.run][tag].append((step, np.asarray(pixels), tolerance))

    def audio(self, tag, array, step, rate, encoding, samples, label=""):
        self("audio", tag, array, step, rate, encoding, label)
        self.expected.audio[self.run][tag].append((step, samples.reshape(len(samples), -1), rate))

    def text(self, tag, text, step):
        self("text", tag, text, step)
        self.expect_text(tag, text, step)

    def expect_text(self, tag, text, step):
        self.expected.text[self.run][tag].append((step, text))

    def pr_curve(self, tag, labels, predictions, step, thresholds):
        self("pr_curve", tag, labels, predictions, step, thresholds)
        self.expected.pr_curves[self.run][tag].append((step, labels, predictions, thresholds))

    def mesh(self, name, step, vertices, faces=None, colors=None):
        optional = [field for part in (faces, colors) for field in ([False] if part is None else [True, part])]
        self("mesh", name, vertices, step, *optional)
        parts = {"VERTEX": (vertices, np.float32), "FACE": (faces, np.int32), "COLOR": (colors, np.uint8)}
        batched = {part: np.asarray(array if array.ndim == 3 else array[None], dtype)
                   for part, (array, dtype) in parts.items() if array is not None}
        self.expected.meshes[self.run][name].append((step, batched))

    def hparams(self, values, metrics, group):
        typed = [[name, {bool: "bool", int: "int", float: "float", str: "str"}[type(value)], value]
                 for name, value in values.items()]
        self("hparams", len(typed), *[field for entry in typed for field in entry], metrics, group)
        self.expected.hparams[self.run] = (values, metrics, group)

    def graph(self, nodes):
        def attributes(node):
            return [field for key, (kind, value) in node["attributes"].items() for field in (key, kind, value)]
        self("graph", len(nodes), *[field for node in nodes for field in (
            node["name"], node["op"], node["inputs"], len(node["attributes"]), *attributes(node), node["shapes"],
            DTYPE_NUMBERS[node["dtype"]], node["device"])])
        self.expected.graphs[self.run] = nodes

    def custom_scalars(self, categories):
        self("custom_scalars", len(categories), *[field for title, charts in categories for field in (
            title, len(charts), *[part for chart in charts for part in chart])])
        self.expected.layouts[self.run] = categories

    def define_probe(self, name, kind, keep, inputs=(), layout=Layout.NHWC):
        self("define_probe", f"{kind.name}/{name}", name, kind, list(inputs), keep, layout, ColorMap.grey, 64, 0, 0)

    def close(self):
        self.text(END, "", 0)
        self.expected.counters[self.name] = self.script.close(self.name)


def write(logdir):
    """Records everything into `logdir` and says what is in it."""
    expected = Expected(begin=time.time())
    with Script() as script:
        for part in (train, test, special, double_precision, out_of_order, several_writers, root, repetitions, metadata_again):
            part(script, expected, logdir)
    expected.complaints = script.complaints
    expected.end = time.time()
    return expected


def train(script, expected, logdir):
    recorder = Recorder(script, expected, logdir, "train")
    rng = np.random.default_rng(1)
    for step in range(20):
        recorder.scalar("loss", np.exp(-step / 5) + 0.01 * rng.random(), step)
        recorder.scalar("accuracy", 1 - np.exp(-step / 7), step)
    recorder.hparams({"learning rate": 0.1, "layers": 3, "dropout": False, "augment": True, "optimizer": "Adam Ü",
                      "empty": "", "zero": 0}, ["loss", "accuracy"], "baseline")
    recorder.graph(NODES)
    recorder.custom_scalars(LAYOUT)
    for step in range(3):
        recorder.text("notes", f"# Step {step}\n\n{MARKDOWN}", step)
    histograms(recorder, rng)
    images(recorder, rng)
    sounds(recorder, rng)
    curves(recorder, rng)
    meshes(recorder, rng)
    probes(recorder, rng)
    groups(recorder, rng)
    one_tensor(recorder, rng)
    recorder.close()


def test(script, expected, logdir):
    recorder = Recorder(script, expected, logdir, "test", buckets=7)
    rng = np.random.default_rng(2)
    for step in range(0, 20, 5):
        recorder.scalar("loss", np.exp(-step / 6) + 0.1, step)
        recorder.scalar("accuracy", 1 - np.exp(-step / 9), step)
        recorder.histogram("errors", rng.standard_normal(100), step)
    recorder.close()


def special(script, expected, logdir):
    recorder = Recorder(script, expected, logdir, "special")
    for tag in SPECIAL_TAGS:
        recorder.scalar(tag, len(tag), 1)
        recorder.histogram("histogram " + tag, np.arange(5.0), 1)
        recorder.text("text " + tag, tag, 1)
        recorder.image("image " + tag, np.full((2, 3), 7, np.uint8), 1, Layout.HW, np.full((2, 3), 7))
    for step, value in enumerate(SPECIAL_VALUES):
        recorder.scalar("values", value, step)
    recorder.scalar("overflow", 1e300, 0)
    recorder.expect_text("sonde/warnings", OVERFLOW, 0)
    for step in SPECIAL_STEPS:
        recorder.scalar("steps", 1.5, step)
        recorder.histogram("steps of a histogram", np.arange(3.0), step)
        recorder.text("steps of a text", f"step {step}", step)
        recorder.image("steps of an image", np.full((1, 1), 9, np.uint8), step, Layout.HW, np.full((1, 1), 9))
    # Invalid UTF-8 is replaced, byte by byte: readers reject it.
    for tag, readable in [(b"bad \xff\xfe bytes", "bad \ufffd\ufffd bytes"), (b"cut \xe6\x90", "cut \ufffd\ufffd")]:
        recorder("scalar", tag, 1, 1)
        recorder.expect_scalar(readable, 1, 1)
        recorder("text", b"text " + tag, tag, 1)
        recorder.expect_text("text " + readable, readable, 1)
    recorder.close()


def double_precision(script, expected, logdir):
    recorder = Recorder(script, expected, logdir, "double", precision=Precision.f64)
    for step, value in enumerate([1 / 3, 1e300, 5e-324, np.nan, -np.inf, 0.1]):
        recorder.scalar("precise", value, step)
    recorder.close()


def out_of_order(script, expected, logdir):
    recorder = Recorder(script, expected, logdir, "out of order")
    for step in [*range(10), *range(5, 13)]:
        recorder.scalar("loss", len(expected.scalars["out of order"]["loss"]), step)
    recorder.close()


def several_writers(script, expected, logdir):
    first = Recorder(script, expected, logdir, "several", suffix=".rank0")
    second = Recorder(script, expected, logdir, "several", suffix=".rank1")
    for step in range(10):
        (first if step < 5 else second).scalar("shared", step / 2, step)
        first.scalar("rank 0", step, step)
        second.scalar("rank 1", -step, step)
    expected.counters[first.name] = script.close(first.name)
    second.close()


def root(script, expected, logdir):
    recorder = Recorder(script, expected, logdir, ".")
    recorder.scalar("loss", 1, 0)
    recorder.close()


def repetitions(script, expected, logdir):
    """Two runs of one group of hyper-parameters, below a folder of their own."""
    for seed in range(2):
        recorder = Recorder(script, expected, logdir, f"sweep/seed {seed}")
        recorder.hparams({"learning rate": 0.5, "layers": 2, "dropout": True, "augment": True, "optimizer": "SGD",
                          "empty": "", "zero": 0}, ["loss", "accuracy"], "sweep")
        recorder.scalar("loss", 0.25 + seed, 0)
        recorder.scalar("accuracy", 0.5 + seed / 4, 0)
        recorder.close()


def metadata_again(script, expected, logdir):
    """A run that is long enough for every tag to repeat its metadata."""
    recorder = Recorder(script, expected, logdir, "again")
    rng = np.random.default_rng(3)
    for step in range(8):
        recorder.scalar("loss", 1 / (1 + step), step)
        recorder.text("notes", f"{step} " + "x" * 40_000, step)
        recorder.histogram("kernel", rng.standard_normal(50), step)
        recorder.image("picture", np.full((2, 3), step, np.uint8), step, Layout.HW, np.full((2, 3), step))
        script.flush("again")  # pictures are encoded on another thread, and would all follow at the end
    recorder.close()


# ---- The kinds.


def numbers(rng, dtype, shape):
    """Ordinary values of any dtype."""
    if dtype == np.bool_:
        return rng.random(shape) < 0.3
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0 if np.dtype(dtype).kind == "u" else -100, 100, shape).astype(dtype)
    return (rng.standard_normal(shape) * 3).astype(dtype)


def histograms(recorder, rng):
    for step in range(5):
        recorder.histogram("weights", rng.normal(step, 1 + step, (30, 40)).astype(np.float32), step)
    for name, dtype in DTYPES.items():
        recorder.histogram(f"dtypes/{name}", numbers(rng, dtype, (7, 5, 11)), 1)
    holes = rng.standard_normal(1000)
    holes[:400] = np.nan
    holes[400:500] = np.inf
    holes[500:550] = -np.inf
    cases = {
        "with holes": holes,
        "nothing finite": np.array([np.nan, np.inf]),
        "empty": np.zeros((0, 3), np.float32),
        "one value": np.float64([2.5]),
        "all equal": np.full(100, -3.25),
        "all zero": np.zeros(64),
        "two values": np.repeat([1.0, 2.0], [1, 99]),
        "sparse": np.where(rng.random(1000) < 0.9, 0, rng.standard_normal(1000)),
        "far away": rng.normal(1000, 0.01, 5000),
        "many magnitudes": 10.0 ** rng.uniform(-30, 30, 2000) * rng.choice([-1, 1], 2000),
        "largest": np.array([-1.7976931348623157e308, 0, 1.7976931348623157e308]),
        "subnormal": np.arange(-50, 50) * 5e-324,
        "rank 0": np.array(4.0),
        "Fortran order": np.asfortranarray(rng.standard_normal((17, 9))),
    }
    for name, array in cases.items():
        recorder.histogram(f"cases/{name}", array, 3)


def as_bytes(values):
    """What a picture shows of values whose full range is 0 to 1."""
    return np.floor(np.clip(np.asarray(values, np.float64), 0, 1) * 255 + 0.5)


def grid(cells, columns):
    """Cells [n, height, width, channels], one pixel apart, in rows. The pixels between them, of any colour, are NaN."""
    n, height, width, channels = cells.shape
    rows = -(-n // columns)
    picture = np.full((rows * (height + 1) - 1, columns * (width + 1) - 1, channels), np.nan)
    for i, cell in enumerate(cells):
        top, left = i // columns * (height + 1), i % columns * (width + 1)
        picture[top:top + height, left:left + width] = cell
    return picture


def images(recorder, rng):
    for step in range(3):
        rgb = rng.integers(0, 256, (5, 7, 3), np.uint8)
        recorder.image("rgb", rgb, step, Layout.HWC, rgb)
    rgba = rng.integers(0, 256, (4, 6, 4), np.uint8)
    recorder.image("rgba", rgba, 0, Layout.HWC, rgba)
    grey = rng.integers(0, 256, (6, 5), np.uint8)
    recorder.image("grey", grey, 0, Layout.HW, grey)
    planes = np.asfortranarray(rng.integers(0, 256, (3, 4, 6), np.uint8))
    recorder.image("planes", planes, 0, Layout.CHW, planes.transpose(1, 2, 0))
    for name in ("f8_e4m3", "f8_e5m2", "f16", "bf16", "f32", "f64"):
        values = rng.uniform(-0.2, 1.2, (5, 4, 3)).astype(DTYPES[name])
        recorder.image(f"floats/{name}", values, 0, Layout.HWC, as_bytes(values), tolerance=1)
    deep = rng.integers(0, 65536, (3, 3, 1)).astype(np.uint16)
    recorder.image("16 bits", deep, 0, Layout.HWC, as_bytes(deep / 65535)[..., 0], tolerance=1)
    mask = rng.random((4, 4)) < 0.5
    recorder.image("mask", mask, 0, Layout.HW, mask * 255)
    bounded = rng.normal(0, 5, (6, 6)).astype(np.float32)
    recorder.image("bounds", bounded, 0, Layout.HW, as_bytes((bounded + 4) / 12), 1, low=-4, high=8)
    batch = rng.integers(0, 256, (4, 5, 5, 3), np.uint8)
    recorder.image("batch", batch, 0, Layout.NHWC, grid(batch, 2))
    channels = rng.random((1, 9, 6, 6)).astype(np.float32)
    scaled = (channels - channels.min()) / (channels.max() - channels.min())
    recorder.image("channels", channels, 0, Layout.NCHW, grid(as_bytes(scaled)[0, ..., None], 3)[..., 0], 1,
                   colors=ColorMap.grey)


def sounds(recorder, rng):
    wave = np.sin(np.arange(800) / 20).astype(np.float32)
    for step in range(2):
        recorder.audio("mono", wave * (step + 1), step, 8000, Encoding.pcm16,
                       np.rint(np.clip(wave.astype(np.float64) * (step + 1), -1, 1) * 32767).astype(np.int16),
                       "*a* label")
    stereo = rng.integers(-32768, 32768, (300, 2)).astype(np.int16)
    recorder.audio("stereo", stereo, 0, 44100, Encoding.pcm16, stereo)
    floats = rng.uniform(-1, 1, (100, 2)).astype(np.float32)
    recorder.audio("floats", floats, 0, 48000, Encoding.float32, floats)


def curves(recorder, rng):
    for step in range(3):
        labels = rng.random(500) < 0.4
        predictions = np.clip(rng.normal(0.3 + 0.3 * labels, 0.25), 0, 1)
        recorder.pr_curve("classes/cat", labels, predictions.astype(np.float32), step, 127)
        recorder.pr_curve("classes/dog", labels.astype(np.uint8), predictions, step, 11)
    recorder.pr_curve("only edges", np.array([True, False, True, False]), np.float32([0, 0, 1, 1]), 0, 2)
    recorder.pr_curve("never true", np.zeros(10, np.bool_), rng.random(10).astype(np.float32), 0, 5)


def meshes(recorder, rng):
    for step in range(2):
        corners = rng.standard_normal((4, 3)).astype(np.float32)
        faces = np.int32([[0, 1, 2], [0, 2, 3], [0, 1, 3], [1, 2, 3]])
        colors = rng.integers(0, 256, (4, 3), np.uint8)
        recorder.mesh("solid", step, corners, faces, colors)
        recorder.mesh("points", step, rng.standard_normal((2, 6, 3)))
        recorder.mesh("colours", step, corners, None, colors.astype(np.int64))
        recorder.mesh("faces", step, corners, faces.astype(np.int64))


def probes(recorder, rng):
    """Probes keep histograms and pictures under tags made from kind, name and occurrence."""
    everything = Keep.stats | Keep.histogram | Keep.image
    recorder.define_probe("conv/out", Kind.activation, everything)
    recorder.define_probe("conv/out", Kind.gradient, Keep.stats | Keep.histogram, inputs=["dense/out"])
    recorder.define_probe("quiet", Kind.weight, Keep.stats)

    def pass_over(step, prefix, occurrences):
        for occurrence in range(occurrences):
            suffix = f"#{occurrence}" if occurrence else ""
            values = rng.standard_normal((1, 4, 4, 1)).astype(np.float32)
            recorder("probe", "activation/conv/out", values)
            recorder.expect_histogram(f"{prefix}activation/conv/out{suffix}", values, step)
            scaled = (values[0, ..., 0] - values.min()) / (values.max() - values.min())
            recorder.expect_image(f"{prefix}activation/conv/out{suffix}/image", as_bytes(scaled), step, 1)
            recorder("probe", "gradient/conv/out", values * 2)
            recorder.expect_histogram(f"{prefix}gradient/conv/out{suffix}", values * 2, step)
            recorder("probe", "weight/quiet", values)

    for step in range(3):
        recorder("begin_step", step)
        pass_over(step, "", occurrences=1 + step % 2)
        recorder("end_step")
    for evaluation in range(2):
        recorder("begin_evaluation", evaluation)
        pass_over(evaluation, "eval/", occurrences=1)
        recorder("end_evaluation")


def groups(recorder, rng):
    for step in range(2):
        recorder("begin_group", step)
        for name in ("x", "y"):
            value = rng.random()
            recorder("group_scalar", f"group/{name}", value)
            recorder.expect_scalar(f"group/{name}", value, step)
        values = rng.standard_normal(50)
        recorder("group_histogram", "group/histogram", values)
        recorder.expect_histogram("group/histogram", values, step)
        pixels = rng.integers(0, 256, (3, 3, 3), np.uint8)
        recorder("group_image", "group/image", pixels, Layout.HWC, ColorMap.automatic, 64, 0, 0)
        recorder.expect_image("group/image", pixels, step, 0)
        recorder("group_text", "group/text", f"group {step}")
        recorder.expect_text("group/text", f"group {step}", step)
        recorder("end_group")


def one_tensor(recorder, rng):
    """Many kinds of one tensor, under tags of one stem."""
    for step in range(3):
        values = rng.random((8, 6)).astype(np.float32)
        recorder.scalar("one/tensor/mean", values.mean(), step)
        recorder.histogram("one/tensor", values, step)
        recorder.image("one/tensor/image", values, step, Layout.HW, as_bytes(values), 1)
        recorder.audio("one/tensor/audio", values[:, 0], step, 100, Encoding.pcm16,
                       np.rint(values[:, 0].astype(np.float64) * 32767).astype(np.int16))
        recorder.text("one/tensor/text", str(values[0]), step)
        recorder.pr_curve("one/tensor/curve", values[:, :3] > 0.5, values[:, 3:], step, 9)


def node(name, op, inputs=(), shapes=(), dtype="f32", device="", **attributes):
    return {"name": name, "op": op, "inputs": list(inputs), "shapes": [list(shape) for shape in shapes], "dtype": dtype,
            "device": device, "attributes": attributes}


NODES = [
    node("input", "Placeholder", shapes=[[-1, 28, 28, 1]]),
    node("conv/kernel", "Variable", shapes=[[3, 3, 1, 8]], trainable=("bool", True), frozen=("bool", False)),
    node("conv/out", "Conv2D", ["input", "conv/kernel"], [[-1, 26, 26, 8]], device="/device:GPU:0",
         strides=("ints", [1, 1, 1, 1]), padding=("str", "VALID"), groups=("int", 1), dilation=("int", -3),
         epsilon=("float", 0.1), none=("ints", [])),
    node("split", "Split", ["conv/out"], [[-1, 26, 26, 4], [-1, 26, 26, 4]], dtype="bf16",
         out_type=("dtype", DTYPE_NUMBERS["u8"]), window=("shape", [2, 3])),
    node("sum/größe", "Add", ["split", "split:1", "^input"], [[]], dtype="f64"),
]

LAYOUT = [
    ("Learning", [("both losses", ["loss", "accuracy"], False), ("Größe", ["group/.*"], False)]),
    ("Margins", [("margin", ["group/x", "group/y", "group/x", "loss", "accuracy", "loss"], True)]),
    ("Empty", []),
]
