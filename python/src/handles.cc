// Series, Step, Probe, Group and Statistics.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "convert.h"
#include "owner.h"
#include "state.h"
#include "tensor_import.h"

namespace sonde::python {
namespace {

using namespace nb::literals;

void record_tensor(const ProbeObject& self, const StepObject& step, const ImportedTensor& tensor, bool hold) {
  if (hold) return self.probe.record(step.step, tensor.shared());
  if (tensor.bytes() < kLargeCopy) return self.probe.record(step.step, tensor.view());
  const Unlocked unlocked;
  self.probe.record(step.step, tensor.view());
}

}  // namespace

const StepObject& to_step_object(nb::handle object) {
  if (!nb::isinstance<StepObject>(object)) raise_type_error("step", "what Recorder.step returns", object);
  return *nb::inst_ptr<StepObject>(object);
}

namespace {

void bind_series(nb::module_& module) {
  nb::class_<SeriesObject>(module, "Series", R"(A series of numbers: what `Recorder.series` returns.

>>> loss = rec.series("loss")
>>> loss.record(0.5, 1))")
      .def(
          "record",
          [](const SeriesObject& self, nb::handle value, nb::handle step) {
            (void)self.state->recorder();
            self.scalar.record(to_scalar(value, "value"), to_integer(step, "step"));
            self.state->report();
          },
          "value"_a.none(), "step"_a, nb::sig("def record(self, value: SupportsFloat, step: SupportsIndex) -> None"),
          R"(Record one number at a step.

>>> series = rec.series("accuracy")
>>> series.record(0.9, step=1))");
}

// A function that is called before the program ends a step, while it can still be recorded in; null: none.
PyObject* before_end = nullptr;

void end_step(StepObject& self) {
  if (before_end != nullptr && !self.ended) {
    const nb::object done = nb::steal(PyObject_CallNoArgs(before_end));
    if (!done.is_valid()) throw nb::python_error();
  }
  self.ended = true;
  self.step.end();
  self.state->report();
}

void bind_step(nb::module_& module) {
  nb::class_<StepObject>(module, "Step", nb::is_weak_referenceable(),
                         R"(One step of training, evaluation or inference, as a context manager.

>>> with rec.step(1) as step:
...     step.number
1)")
      .def_prop_ro(
          "number", [](const StepObject& self) { return self.step.number(); }, "The number of the step.")
      .def_prop_ro(
          "evaluation", [](const StepObject& self) { return self.step.evaluation(); },
          "Whether it is a pass of evaluation.")
      .def_prop_ro(
          "ended", [](const StepObject& self) { return self.ended; },
          "Whether `end` was called, or its `with` was left.")
      .def(
          "end", [](StepObject& self) { end_step(self); },
          R"(End the step. Its conditions are evaluated, and its statistics written as one record.

>>> step = rec.step(2)
>>> step.end())")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> Step"))
      .def(
          "__exit__", [](StepObject& self, nb::handle, nb::handle, nb::handle) { end_step(self); }, "type"_a.none(),
          "value"_a.none(), "traceback"_a.none(),
          nb::sig("def __exit__(self, type: object, value: object, traceback: object) -> None"));
}

void bind_before_end(nb::module_& module) {
  module.def(
      "_before_step_end",
      [](nb::handle function) {
        Py_XINCREF(function.ptr());
        Py_XDECREF(std::exchange(before_end, function.ptr()));
      },
      "function"_a);
}

void bind_statistics(nb::module_& module) {
  nb::class_<Statistics>(module, "Statistics",
                         R"(Statistics of a tensor that were computed elsewhere, such as on a device.

Counts are over all elements; min, max, mean, m2 (the sum of (x - mean)^2) and sum_abs over the finite ones. `histogram`
is a sequence of (key, count), with the keys of `histogram_key`.

>>> found = sonde.Statistics(shape=(2, 2), min=1, max=4, mean=2.5, m2=5, sum_abs=10)
>>> with rec.step(3) as step:
...     rec.probe("device/out").record(step, found))")
      .def(
          "__init__",
          [](Statistics* self, nb::handle shape, nb::handle dtype, std::uint64_t nan, std::uint64_t positive_infinity,
             std::uint64_t negative_infinity, std::uint64_t zeros, std::uint64_t negatives, double min, double max,
             double mean, double m2, double sum_abs, nb::handle histogram) {
            Statistics made;
            made.dtype = to_dtype(dtype, "dtype");
            made.shape = to_shape(shape, "shape");
            made.count = static_cast<std::uint64_t>(std::max<std::int64_t>(0, element_count(made.shape)));
            made.nan = nan;
            made.positive_infinity = positive_infinity;
            made.negative_infinity = negative_infinity;
            made.zeros = zeros;
            made.negatives = negatives;
            made.min = min;
            made.max = max;
            made.mean = mean;
            made.m2 = m2;
            made.sum_abs = sum_abs;
            for (const nb::object& bin : to_items(histogram, "histogram", "a sequence of (key, count)")) {
              const std::vector<nb::object> pair = to_items(bin, "histogram", "a sequence of (key, count)");
              if (pair.size() != 2) raise_value_error("histogram must be a sequence of (key, count)");
              made.histogram.push_back({static_cast<std::int32_t>(to_integer(pair[0], "a key of histogram")),
                                        static_cast<std::uint64_t>(to_integer(pair[1], "a count of histogram"))});
            }
            check(made.check());
            new (self) Statistics(std::move(made));
          },
          nb::kw_only(), "shape"_a, "dtype"_a = "f32", "nan"_a = 0, "positive_infinity"_a = 0,
          "negative_infinity"_a = 0, "zeros"_a = 0, "negatives"_a = 0,
          "min"_a = std::numeric_limits<double>::quiet_NaN(), "max"_a = std::numeric_limits<double>::quiet_NaN(),
          "mean"_a = std::numeric_limits<double>::quiet_NaN(), "m2"_a = 0.0, "sum_abs"_a = 0.0,
          "histogram"_a = nb::make_tuple(),
          nb::sig("def __init__(self, *, shape: Sequence[int], dtype: str = 'f32', nan: int = 0, positive_infinity: "
                  "int = 0, negative_infinity: int = 0, zeros: int = 0, negatives: int = 0, min: float = ..., max: "
                  "float = ..., mean: float = ..., m2: float = 0.0, sum_abs: float = 0.0, histogram: "
                  "Iterable[tuple[int, int]] = ()) -> None"))
      .def_prop_ro("shape",
                   [](const Statistics& self) {
                     nb::list shape;
                     for (const std::int64_t size : self.shape) shape.append(size);
                     return nb::tuple(shape);
                   })
      .def_ro("count", &Statistics::count)
      .def_ro("nan", &Statistics::nan)
      .def_ro("positive_infinity", &Statistics::positive_infinity)
      .def_ro("negative_infinity", &Statistics::negative_infinity)
      .def_ro("zeros", &Statistics::zeros)
      .def_ro("negatives", &Statistics::negatives)
      .def_ro("min", &Statistics::min)
      .def_ro("max", &Statistics::max)
      .def_ro("mean", &Statistics::mean)
      .def_ro("m2", &Statistics::m2)
      .def_ro("sum_abs", &Statistics::sum_abs);
  module.def("histogram_key", &histogram_key, "value"_a.none(),
             R"(The bin of a finite value in the histograms of `Statistics`.

>>> sonde.histogram_key(0.0), sonde.histogram_key(1.0), sonde.histogram_key(-1.0)
(0, 17185, -17185))");
}

void bind_probe(nb::module_& module) {
  nb::class_<ProbeObject>(module, "Probe", R"(A place in the network: what `Recorder.probe` returns.

>>> out = rec.probe("dense/out")
>>> out.name
'dense/out')")
      .def_ro("name", &ProbeObject::name, "The name that it was made with.")
      .def(
          "wanted",
          [](const ProbeObject& self, nb::handle step) { return self.probe.wanted(to_step_object(step).step); },
          "step"_a.none(), nb::sig("def wanted(self, step: Step) -> bool"),
          R"(Whether `record` would keep anything of this step. Ask before computing or fetching the values.

>>> out = rec.probe("rare", every=1000)
>>> with rec.step(4) as step:
...     out.wanted(step)
False)")
      .def(
          "needs",
          [](const ProbeObject& self, nb::handle step) {
            return to_names(self.probe.needs(to_step_object(step).step));
          },
          "step"_a.none(), nb::sig("def needs(self, step: Step) -> tuple[str, ...]"),
          R"(What `record` would make of the tensor. Statistics that were computed elsewhere can replace it if this is at most
"stats" and "histogram". The flight ring counts as "whole".

>>> with rec.step(4) as step:
...     rec.probe("dense/out").needs(step)
('stats', 'histogram'))")
      .def(
          "record",
          [](const ProbeObject& self, nb::handle step, nb::handle tensor, nb::handle hold) {
            (void)self.state->recorder();
            const StepObject& to = to_step_object(step);
            const bool held = to_flag(hold, "hold");
            if (nb::isinstance<Statistics>(tensor)) {
              self.probe.record(to.step, *nb::inst_ptr<Statistics>(tensor));
            } else {
              record_tensor(self, to, ImportedTensor(tensor, "tensor"), held);
            }
            self.state->report();
          },
          "step"_a.none(), "tensor"_a.none(), nb::kw_only(), "hold"_a = false,
          nb::sig("def record(self, step: Step, tensor: TensorLike | Statistics, *, hold: bool = False) -> None"),
          R"(Record a tensor, or statistics of one. The policy decides what is kept of it.

With `hold` its memory is shared instead of copied: nothing may write to it until the recorder has let go of it.

>>> import numpy
>>> with rec.step(5) as step:
...     rec.probe("dense/out").record(step, numpy.zeros((32, 128))))");
}

void bind_group(nb::module_& module) {
  nb::class_<GroupObject>(module, "Group", R"(Many values of one step, written as one event when it ends.

>>> with rec.group(6) as group:
...     group.scalar("loss", 0.25)
...     group.text("note", "halved"))")
      .def(
          "scalar",
          [](GroupObject& self, nb::handle name, nb::handle value) {
            (void)self.state->recorder();
            self.group.scalar(to_text(name, "name"), to_scalar(value, "value"));
            self.state->report();
          },
          "name"_a.none(), "value"_a.none(), nb::sig("def scalar(self, name: str, value: SupportsFloat) -> None"),
          "Add a number.")
      .def(
          "histogram",
          [](GroupObject& self, nb::handle name, nb::handle tensor) {
            (void)self.state->recorder();
            self.group.histogram(to_text(name, "name"), ImportedTensor(tensor, "tensor").view());
            self.state->report();
          },
          "name"_a.none(), "tensor"_a.none(), nb::sig("def histogram(self, name: str, tensor: TensorLike) -> None"),
          "Add the histogram of a tensor.")
      .def(
          "_buckets",
          [](GroupObject& self, nb::handle name, nb::handle left, nb::handle right, nb::handle counts) {
            (void)self.state->recorder();
            const std::vector<double> columns[] = {to_doubles(left, "left"), to_doubles(right, "right"),
                                                   to_doubles(counts, "counts")};
            std::vector<Bucket> buckets;
            for (std::size_t i = 0; i < columns[0].size(); ++i) {
              buckets.push_back({columns[0][i], columns[1].at(i), columns[2].at(i)});
            }
            self.group.histogram(to_text(name, "name"), buckets);
            self.state->report();
          },
          "name"_a.none(), "left"_a, "right"_a, "counts"_a)
      .def(
          "_images",
          [](GroupObject& self, nb::handle name, std::int64_t width, std::int64_t height, nb::bytes file) {
            (void)self.state->recorder();
            self.group.images(to_text(name, "name"), {width, height, {std::string(file.c_str(), file.size())}});
            self.state->report();
          },
          "name"_a.none(), "width"_a, "height"_a, "file"_a)
      .def(
          "image",
          [](GroupObject& self, nb::handle name, nb::handle tensor, nb::handle layout) {
            (void)self.state->recorder();
            const ImportedTensor imported(tensor, "tensor");
            self.group.image(to_text(name, "name"), imported.view(), to_layout(layout, "layout"));
            self.state->report();
          },
          "name"_a.none(), "tensor"_a.none(), "layout"_a,
          nb::sig("def image(self, name: str, tensor: TensorLike, layout: str) -> None"), "Add a picture of a tensor.")
      .def(
          "audio",
          [](GroupObject& self, nb::handle name, nb::handle tensor, nb::handle sample_rate) {
            (void)self.state->recorder();
            self.group.audio(to_text(name, "name"), ImportedTensor(tensor, "tensor").view(),
                             {.sample_rate = to_int(sample_rate, "sample_rate")});
            self.state->report();
          },
          "name"_a.none(), "tensor"_a.none(), nb::kw_only(), "sample_rate"_a = 44100,
          nb::sig("def audio(self, name: str, tensor: TensorLike, *, sample_rate: int = 44100) -> None"),
          "Add a clip of sound.")
      .def(
          "mesh",
          [](GroupObject& self, nb::handle name, nb::handle vertices, nb::handle colors, nb::handle faces,
             nb::handle config) {
            (void)self.state->recorder();
            const ImportedTensor points(vertices, "vertices");
            std::optional<ImportedTensor> paint;
            std::optional<ImportedTensor> triangles;
            if (!colors.is_none()) paint.emplace(colors, "colors");
            if (!faces.is_none()) triangles.emplace(faces, "faces");
            self.group.mesh(to_text(name, "name"), points.view(),
                            {.colors = paint ? &paint->view() : nullptr,
                             .faces = triangles ? &triangles->view() : nullptr,
                             .config = std::string(to_text(config, "config"))});
            self.state->report();
          },
          "name"_a.none(), "vertices"_a.none(), nb::kw_only(), "colors"_a = nb::none(), "faces"_a = nb::none(),
          "config"_a = "",
          nb::sig("def mesh(self, name: str, vertices: TensorLike, *, colors: TensorLike | None = None, faces: "
                  "TensorLike | None = None, config: str = '') -> None"),
          "Add points in space; `config` is JSON for TensorBoard's viewer.")
      .def(
          "pr_curve",
          [](GroupObject& self, nb::handle name, nb::handle labels, nb::handle predictions, nb::handle thresholds) {
            (void)self.state->recorder();
            self.group.pr_curve(to_text(name, "name"), ImportedTensor(labels, "labels").view(),
                                ImportedTensor(predictions, "predictions").view(), to_int(thresholds, "thresholds"));
            self.state->report();
          },
          "name"_a.none(), "labels"_a.none(), "predictions"_a.none(), nb::kw_only(), "thresholds"_a = 127,
          nb::sig("def pr_curve(self, name: str, labels: TensorLike, predictions: TensorLike, *, thresholds: int = "
                  "127) -> None"),
          "Add a precision-recall curve.")
      .def(
          "tensor",
          [](GroupObject& self, nb::handle name, nb::handle tensor, nb::handle plugin, nb::bytes content) {
            (void)self.state->recorder();
            self.group.tensor(to_text(name, "name"), ImportedTensor(tensor, "tensor").view(), to_text(plugin, "plugin"),
                              {content.c_str(), content.size()});
            self.state->report();
          },
          "name"_a.none(), "tensor"_a.none(), nb::kw_only(), "plugin"_a = "tensor", "content"_a = nb::bytes("", 0),
          nb::sig("def tensor(self, name: str, tensor: TensorLike, *, plugin: str = 'tensor', content: bytes = b'') -> "
                  "None"),
          "Add the elements of a tensor, for a plugin of TensorBoard.")
      .def(
          "text",
          [](GroupObject& self, nb::handle name, nb::handle markdown) {
            (void)self.state->recorder();
            self.group.text(to_text(name, "name"), to_text(markdown, "markdown"));
            self.state->report();
          },
          "name"_a.none(), "markdown"_a.none(), nb::sig("def text(self, name: str, markdown: str) -> None"),
          "Add a text.")
      .def(
          "end",
          [](GroupObject& self) {
            self.group.end();
            self.state->report();
          },
          "Write what was added. A group that ends twice does nothing the second time.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> Group"))
      .def(
          "__exit__",
          [](GroupObject& self, nb::handle, nb::handle, nb::handle) {
            self.group.end();
            self.state->report();
          },
          "type"_a.none(), "value"_a.none(), "traceback"_a.none(),
          nb::sig("def __exit__(self, type: object, value: object, traceback: object) -> None"));
}

}  // namespace

void bind_handles(nb::module_& module) {
  bind_series(module);
  bind_step(module);
  bind_before_end(module);
  bind_statistics(module);
  bind_probe(module);
  bind_group(module);
}

}  // namespace sonde::python
