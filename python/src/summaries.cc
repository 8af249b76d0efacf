// The calls of Recorder that record a value by its name.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <vector>

#include "convert.h"
#include "owner.h"
#include "state.h"
#include "tensor_import.h"

namespace sonde::python {
namespace {

using namespace nb::literals;

// Where the axes of the layout do not fit the tensor, here and not in the log.
void check_layout(nb::handle layout, const TensorView& view) {
  const std::string_view text = to_text(layout, "layout");
  if (static_cast<int>(text.size()) == view.shape.rank()) return;
  raise_value_error("tensor must have " + std::to_string(text.size()) + " dimensions for layout '" + std::string(text) +
                    "', not " + std::to_string(view.shape.rank()));
}

void check_order(const TensorView& view, const char* argument) {
  if (view.dtype != DType::c64 && view.dtype != DType::c128) return;
  PyErr_Format(PyExc_TypeError, "%s must hold real numbers, not complex ones", argument);
  throw nb::python_error();
}

// Runs the call with the tensor, without the interpreter's lock where that copies much.
template <class Call>
void with_tensor(RecorderObject& self, nb::handle tensor, Call&& call) {
  Recorder& to = self.state->recorder();
  const ImportedTensor imported(tensor, "tensor");
  check_order(imported.view(), "tensor");
  if (imported.bytes() < kLargeCopy) {
    call(to, imported.view());
  } else {
    const Unlocked unlocked;
    call(to, imported.view());
  }
  self.state->report();
}

HParam to_hparam(nb::handle value, const std::string& name) {
  if (PyBool_Check(value.ptr())) return value.ptr() == Py_True;
  if (PyUnicode_Check(value.ptr())) return std::string(to_text(value, "value"));
  if (PyLong_Check(value.ptr())) return to_integer(value, ("hparams['" + name + "']").c_str());
  return to_scalar(value, ("hparams['" + name + "']").c_str());
}

// Tensors by name; the names live in the keys of the dict.
struct NamedTensors {
  std::vector<ImportedTensor> tensors;
  std::vector<NamedView> views;
};

NamedTensors named_tensors(nb::handle mapping, const char* argument) {
  if (PyDict_Check(mapping.ptr()) == 0) raise_type_error(argument, "a dict of names and tensors", mapping);
  NamedTensors found;
  for (const auto& [name, tensor] : nb::borrow<nb::dict>(mapping)) {
    const std::string_view text = to_text(name, "a name");
    found.tensors.emplace_back(tensor, ("'" + std::string(text) + "'").c_str());
    found.views.push_back({text, found.tensors.back().view()});
  }
  return found;
}

void table(RecorderObject& self, nb::handle name, nb::handle columns, nb::handle step, nb::handle rows,
           nb::handle random, nb::handle print) {
  Recorder& to = self.state->recorder();
  const NamedTensors found = named_tensors(columns, "columns");
  std::vector<TableColumn> all;
  for (const NamedView& view : found.views) {
    if (view.tensor.shape.rank() == 0) raise_value_error("the column '" + std::string(view.name) + "' has no rows");
    if (view.tensor.shape[0] != found.views.front().tensor.shape[0]) {
      raise_value_error("the columns '" + std::string(found.views.front().name) + "' and '" + std::string(view.name) +
                        "' have different numbers of rows");
    }
    all.push_back({view.name, view.tensor});
  }
  if (all.empty()) raise_value_error("columns must not be empty");
  to.table(to_text(name, "name"), all, to_integer(step, "step"),
           {.sample = {.rows = to_integer(rows, "rows"), .random = to_flag(random, "random")},
            .print = to_flag(print, "print")});
  self.state->report();
}

void checkpoint(RecorderObject& self, nb::handle name, nb::handle step, nb::handle tensors, nb::handle keep_last,
                nb::handle keep_best, nb::handle metric, nb::handle lower_is_better, nb::handle metadata) {
  Recorder& to = self.state->recorder();
  const std::string_view text = to_text(name, "name");
  const std::int64_t number = to_integer(step, "step");
  const NamedTensors found = named_tensors(tensors, "tensors");
  CheckpointOptions options = {.keep_last = to_int(keep_last, "keep_last"),
                               .keep_best = to_int(keep_best, "keep_best"),
                               .lower_is_better = to_flag(lower_is_better, "lower_is_better")};
  if (!metric.is_none()) options.metric = to_double(metric, "metric");
  if (!metadata.is_none()) {
    if (PyDict_Check(metadata.ptr()) == 0) raise_type_error("metadata", "a dict of str", metadata);
    for (const auto& [key, value] : nb::borrow<nb::dict>(metadata)) {
      options.metadata.emplace_back(to_text(key, "a key of metadata"), to_text(value, "a value of metadata"));
    }
  }
  Status status;
  {
    const Unlocked unlocked;
    status = to.checkpoint(text, number, found.views, options);
  }
  self.state->report();
  check(status);
}

Node::Attribute to_attribute(nb::handle value, const char* argument) {
  if (PyBool_Check(value.ptr())) return value.ptr() == Py_True;
  if (PyLong_Check(value.ptr())) return to_integer(value, argument);
  if (PyFloat_Check(value.ptr())) return to_double(value, argument);
  if (PyUnicode_Check(value.ptr())) return std::string(to_text(value, argument));
  std::vector<std::int64_t> numbers;
  for (const nb::object& item : to_items(value, argument, "a bool, an int, a float, a str or a sequence of int")) {
    numbers.push_back(to_integer(item, argument));
  }
  return numbers;
}

void graph(RecorderObject& self, nb::handle nodes) {
  Recorder& to = self.state->recorder();
  Graph made;
  for (const nb::object& item : to_items(nodes, "nodes", "a sequence of dicts")) {
    if (PyDict_Check(item.ptr()) == 0) raise_type_error("a node", "a dict", item);
    Node node;
    for (const auto& [key, value] : nb::borrow<nb::dict>(item)) {
      const std::string_view field = to_text(key, "a key of a node");
      if (field == "name") {
        node.name = to_text(value, "name");
      } else if (field == "op") {
        node.op = to_text(value, "op");
      } else if (field == "inputs") {
        node.inputs = to_texts(value, "inputs");
      } else if (field == "shapes") {
        for (const nb::object& shape : to_items(value, "shapes", "a sequence of shapes")) {
          node.shapes.push_back(to_shape(shape, "shapes"));
        }
      } else if (field == "dtype") {
        node.dtype = to_dtype(value, "dtype");
      } else if (field == "device") {
        node.device = to_text(value, "device");
      } else if (field == "attributes") {
        if (PyDict_Check(value.ptr()) == 0) raise_type_error("attributes", "a dict", value);
        for (const auto& [name, attribute] : nb::borrow<nb::dict>(value)) {
          node.attributes.emplace_back(to_text(name, "a key of attributes"), to_attribute(attribute, "attributes"));
        }
      } else {
        raise_value_error("a node has no '" + std::string(field) + "'");
      }
    }
    made.add(std::move(node));
  }
  check(made.check());
  to.graph(made);
  self.state->report();
}

void custom_scalars(RecorderObject& self, nb::handle layout) {
  Recorder& to = self.state->recorder();
  if (PyDict_Check(layout.ptr()) == 0) raise_type_error("layout", "a dict of categories", layout);
  std::vector<ChartCategory> categories;
  for (const auto& [title, charts] : nb::borrow<nb::dict>(layout)) {
    ChartCategory category = {std::string(to_text(title, "a category")), {}};
    if (PyDict_Check(charts.ptr()) == 0) raise_type_error("a category", "a dict of charts", charts);
    for (const auto& [name, chart] : nb::borrow<nb::dict>(charts)) {
      const std::vector<nb::object> pair = to_items(chart, "a chart", "a pair of kind and tags");
      if (pair.size() != 2) raise_value_error("a chart must be a pair of kind and tags");
      const bool margin = to_text(pair[0], "the kind of a chart") == "Margin";
      category.charts.push_back(
          {std::string(to_text(name, "the title of a chart")), to_texts(pair[1], "the tags of a chart"), margin});
      if (margin && category.charts.back().tags.size() != 3) {
        raise_value_error("a chart of kind 'Margin' must have three tags: value, lower and upper");
      }
    }
    categories.push_back(std::move(category));
  }
  to.custom_scalars(categories);
  self.state->report();
}

}  // namespace

void bind_summaries(nb::class_<RecorderObject>& type) {
  type.def(
          "scalar",
          [](RecorderObject& self, nb::handle name, nb::handle value, nb::handle step) {
            Recorder& to = self.state->recorder();
            to.scalar(to_text(name, "name"), to_scalar(value, "value"), to_integer(step, "step"));
            self.state->report();
          },
          "name"_a.none(), "value"_a.none(), "step"_a,
          nb::sig("def scalar(self, name: str, value: SupportsFloat, step: SupportsIndex) -> None"),
          R"(Record a number.

>>> rec.scalar("accuracy", 0.75, 1))")
      .def(
          "histogram",
          [](RecorderObject& self, nb::handle name, nb::handle tensor, nb::handle step) {
            const std::string_view text = to_text(name, "name");
            const std::int64_t number = to_integer(step, "step");
            with_tensor(self, tensor, [&](Recorder& to, const TensorView& view) { to.histogram(text, view, number); });
          },
          "name"_a.none(), "tensor"_a.none(), "step"_a,
          nb::sig("def histogram(self, name: str, tensor: TensorLike, step: SupportsIndex) -> None"),
          R"(Record the histogram of a tensor. NaN and infinities are counted apart.

>>> rec.histogram("kernel", [0.5, 1.0, float("nan")], 1))")
      .def(
          "image",
          [](RecorderObject& self, nb::handle name, nb::handle tensor, nb::handle step, nb::handle layout,
             nb::handle colors, nb::handle max_cells, nb::handle low, nb::handle high) {
            const std::string_view text = to_text(name, "name");
            const std::int64_t number = to_integer(step, "step");
            const Layout axes = to_layout(layout, "layout");
            const ImageOptions options = to_image_options(colors, max_cells, low, high);
            check_layout(layout, ImportedTensor(tensor, "tensor").view());
            with_tensor(self, tensor,
                        [&](Recorder& to, const TensorView& view) { to.image(text, view, number, axes, options); });
          },
          "name"_a.none(), "tensor"_a.none(), "step"_a, "layout"_a, nb::kw_only(), "colors"_a = "automatic",
          "max_cells"_a = 64, "low"_a = 0.0, "high"_a = 0.0,
          nb::sig("def image(self, name: str, tensor: TensorLike, step: SupportsIndex, layout: str, *, colors: str = "
                  "'automatic', max_cells: int = 64, low: float = 0.0, high: float = 0.0) -> None"),
          R"(Record a tensor as a picture. The letters of `layout` name its axes.

>>> import numpy
>>> rec.image("conv/out", numpy.zeros((1, 24, 24, 32)), 1, "NHWC"))")
      .def(
          "audio",
          [](RecorderObject& self, nb::handle name, nb::handle tensor, nb::handle step, nb::handle sample_rate,
             nb::handle label) {
            const std::string_view text = to_text(name, "name");
            const std::int64_t number = to_integer(step, "step");
            const AudioOptions options = {.sample_rate = to_int(sample_rate, "sample_rate"),
                                          .label = std::string(to_text(label, "label"))};
            const int rank = ImportedTensor(tensor, "tensor").view().shape.rank();
            if (rank != 1 && rank != 2) raise_value_error("tensor must have the shape [frames] or [frames, channels]");
            with_tensor(self, tensor,
                        [&](Recorder& to, const TensorView& view) { to.audio(text, view, number, options); });
          },
          "name"_a.none(), "tensor"_a.none(), "step"_a, nb::kw_only(), "sample_rate"_a = 44100, "label"_a = "",
          nb::sig("def audio(self, name: str, tensor: TensorLike, step: SupportsIndex, *, sample_rate: int = 44100, "
                  "label: str = '') -> None"),
          R"(Record a clip of sound, [frames] or [frames, channels], floats from -1 to 1 or int16.

>>> rec.audio("sine", [0.0, 0.5, 0.0, -0.5], 1, sample_rate=8000))")
      .def(
          "text",
          [](RecorderObject& self, nb::handle name, nb::handle markdown, nb::handle step) {
            Recorder& to = self.state->recorder();
            to.text(to_text(name, "name"), to_text(markdown, "markdown"), to_integer(step, "step"));
            self.state->report();
          },
          "name"_a.none(), "markdown"_a.none(), "step"_a,
          nb::sig("def text(self, name: str, markdown: str, step: SupportsIndex) -> None"),
          R"(Record a text in Markdown.

>>> rec.text("note", "learning rate *halved*", 1))")
      .def(
          "pr_curve",
          [](RecorderObject& self, nb::handle name, nb::handle labels, nb::handle predictions, nb::handle step,
             nb::handle thresholds) {
            Recorder& to = self.state->recorder();
            const ImportedTensor truth(labels, "labels");
            const ImportedTensor guess(predictions, "predictions");
            if (truth.view().size() != guess.view().size()) {
              raise_value_error("labels and predictions must have the same number of elements, not " +
                                std::to_string(truth.view().size()) + " and " + std::to_string(guess.view().size()));
            }
            to.pr_curve(to_text(name, "name"), truth.view(), guess.view(), to_integer(step, "step"),
                        to_int(thresholds, "thresholds"));
            self.state->report();
          },
          "name"_a.none(), "labels"_a.none(), "predictions"_a.none(), "step"_a, nb::kw_only(), "thresholds"_a = 127,
          nb::sig("def pr_curve(self, name: str, labels: TensorLike, predictions: TensorLike, step: SupportsIndex, *, "
                  "thresholds: int = 127) -> None"),
          R"(Record a precision-recall curve: labels of 0 or 1, predictions from 0 to 1.

>>> rec.pr_curve("spam", [0, 1, 1], [0.1, 0.8, 0.6], 1))")
      .def(
          "mesh",
          [](RecorderObject& self, nb::handle name, nb::handle vertices, nb::handle step, nb::handle colors,
             nb::handle faces) {
            Recorder& to = self.state->recorder();
            const ImportedTensor points(vertices, "vertices");
            std::optional<ImportedTensor> paint;
            std::optional<ImportedTensor> triangles;
            if (!colors.is_none()) paint.emplace(colors, "colors");
            if (!faces.is_none()) triangles.emplace(faces, "faces");
            to.mesh(to_text(name, "name"), points.view(), to_integer(step, "step"),
                    {.colors = paint ? &paint->view() : nullptr, .faces = triangles ? &triangles->view() : nullptr});
            self.state->report();
          },
          "name"_a.none(), "vertices"_a.none(), "step"_a, nb::kw_only(), "colors"_a = nb::none(),
          "faces"_a = nb::none(),
          nb::sig("def mesh(self, name: str, vertices: TensorLike, step: SupportsIndex, *, colors: TensorLike | None "
                  "= None, faces: TensorLike | None = None) -> None"),
          R"(Record points in space, [points, 3], with colours and faces where there are some.

>>> rec.mesh("cloud", [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], 1))")
      .def(
          "hparams",
          [](RecorderObject& self, nb::handle values, nb::handle metrics, nb::handle group, nb::handle domains) {
            Recorder& to = self.state->recorder();
            HParams made;
            if (PyDict_Check(values.ptr()) == 0) raise_type_error("values", "a dict", values);
            for (const auto& [key, value] : nb::borrow<nb::dict>(values)) {
              std::string text(to_text(key, "a key of values"));
              HParam each = to_hparam(value, text);
              made.values.emplace_back(std::move(text), std::move(each));
            }
            made.metrics = to_texts(metrics, "metrics");
            made.group = to_text(group, "group");
            if (PyDict_Check(domains.ptr()) == 0) raise_type_error("domains", "a dict of lists", domains);
            for (const auto& [key, list] : nb::borrow<nb::dict>(domains)) {
              std::string text(to_text(key, "a key of domains"));
              std::vector<HParam> domain;
              for (const nb::object& item : to_items(list, "domains", "a dict of lists")) {
                domain.push_back(to_hparam(item, text));
              }
              made.domains.emplace_back(std::move(text), std::move(domain));
            }
            to.hparams(made);
            self.state->report();
          },
          "values"_a, nb::kw_only(), "metrics"_a = nb::make_tuple(), "group"_a = "", "domains"_a = nb::dict(),
          nb::sig("def hparams(self, values: dict[str, bool | int | float | str], *, metrics: Sequence[str] = (), "
                  "group: str = '', domains: dict[str, list[Any]] = {}) -> None"),
          R"(Record the hyper-parameters of the run, and which scalars its table of runs shows.

>>> rec.hparams({"lr": 0.1, "optimizer": "adam"}, metrics=["accuracy"]))")
      .def(
          "graph", &graph, "nodes"_a, nb::sig("def graph(self, nodes: Iterable[dict[str, Any]]) -> None"),
          R"(Record the graph of a network. A node is a dict with name, op, inputs, shapes, dtype, device and attributes; only
the name is needed.

>>> rec.graph([{"name": "x", "op": "Placeholder"}, {"name": "y", "op": "Relu", "inputs": ["x"]}]))")
      .def(
          "custom_scalars", &custom_scalars, "layout"_a,
          nb::sig("def custom_scalars(self, layout: dict[str, dict[str, tuple[str, Sequence[str]]]]) -> None"),
          R"(Record the layout of TensorBoard's custom scalars: categories of charts, each "Multiline" or "Margin" and tags.

>>> rec.custom_scalars({"losses": {"both": ("Multiline", ["train/loss", "test/loss"])}}))")
      .def(
          "event",
          [](RecorderObject& self, nb::handle event) {
            Recorder& to = self.state->recorder();
            if (PyBytes_Check(event.ptr()) == 0) raise_type_error("event", "bytes", event);
            const auto bytes = nb::borrow<nb::bytes>(event);
            to.event({bytes.c_str(), bytes.size()});
            self.state->report();
          },
          "event"_a.none(), nb::sig("def event(self, event: bytes) -> None"),
          R"(Record an Event message of TensorBoard that another library encoded, as its bytes. It has its own step, and its own
time unless that is 0.

>>> rec.event(bytes.fromhex("10032a0b0a090a026c72150000003f")))")
      .def("table", &table, "name"_a.none(), "columns"_a.none(), "step"_a, nb::kw_only(), "rows"_a = 0,
           "random"_a = false, "print"_a = false,
           nb::sig("def table(self, name: str, columns: dict[str, TensorLike], step: SupportsIndex, *, rows: int = 0, "
                   "random: bool = False, print: bool = False) -> None"),
           R"(Append rows to a table, tables/<name>.<writer>.csv; `rows` of them, all where it is 0.

>>> rec.table("validation", {"label": [0, 1], "prediction": [0.2, 0.9]}, 1))")
      .def("checkpoint", &checkpoint, "name"_a.none(), "step"_a, "tensors"_a.none(), nb::kw_only(), "keep_last"_a = 0,
           "keep_best"_a = 1, "metric"_a = nb::none(), "lower_is_better"_a = true, "metadata"_a = nb::none(),
           nb::sig("def checkpoint(self, name: str, step: SupportsIndex, tensors: dict[str, TensorLike], *, keep_last: "
                   "int = 0, keep_best: int = 1, metric: float | None = None, lower_is_better: bool = True, metadata: "
                   "dict[str, str] | None = None) -> None"),
           R"(Save tensors as checkpoints/<name>-<step>.safetensors before it returns: synced, and whole or not there.

>>> rec.checkpoint("model", 1, {"kernel": [[1.0, 2.0]]}, metric=0.5, keep_last=3))")
      .def(
          "print",
          [](RecorderObject& self, nb::handle name, nb::handle tensor, nb::handle step, nb::handle full) {
            const bool values = to_flag(full, "full");
            const std::string_view text = to_text(name, "name");
            const std::int64_t number = to_integer(step, "step");
            with_tensor(self, tensor, [&](Recorder& to, const TensorView& view) {
              if (values) return to.print_full(text, view, number);
              to.print(text, view, number);
            });
          },
          "name"_a.none(), "tensor"_a.none(), "step"_a, nb::kw_only(), "full"_a = false,
          nb::sig("def print(self, name: str, tensor: TensorLike, step: SupportsIndex, *, full: bool = False) -> None"),
          R"(Print one line about a tensor on the console, or its values with `full`. It has appeared after `flush`.

>>> rec.print("dense/out", [1.0, 2.0], 1))");
}

}  // namespace sonde::python
