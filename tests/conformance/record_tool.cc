// Records what standard input tells it to, through the public interface alone. The test that writes the script knows
// what the files must hold; tests/conformance/recording.py writes scripts.
//
// A script is fields, each "<length>:<bytes>"; numbers are text. A command is its name, the name of a recorder, and the
// arguments that the function of that name below reads. Lists begin with their length. A tensor is its dtype, "C" or
// "F" for the order of the elements, the sizes as a list, and the raw elements.
//
// Every "flush" and "close" is answered with a line on standard output: the recorder's counters as JSON. What goes
// wrong while recording is a line on standard error each.
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/sonde.h"

namespace {

class Input {
 public:
  explicit Input(std::istream& in) : in_(in) {}

  // False at the end of the script.
  bool next(std::string& field) {
    std::size_t length = 0;
    if (!(in_ >> length)) return false;
    in_.get();  // the colon
    field.resize(length);
    in_.read(field.data(), static_cast<std::streamsize>(length));
    return static_cast<bool>(in_);
  }
  std::string text() {
    std::string field;
    if (!next(field)) {
      std::cerr << "the script ends in the middle of a command\n";
      std::exit(2);
    }
    return field;
  }
  std::int64_t integer() { return std::strtoll(text().c_str(), nullptr, 10); }
  int small() { return static_cast<int>(integer()); }
  double number() { return std::strtod(text().c_str(), nullptr); }
  bool flag() { return integer() != 0; }
  template <class T>
  T choice() {  // an enumeration, by its number
    return static_cast<T>(integer());
  }
  template <class Read>
  auto list(Read&& read) {
    std::vector<decltype(read())> items;
    for (std::int64_t left = integer(); left > 0; --left) items.push_back(read());
    return items;
  }
  std::vector<std::string> texts() {
    return list([&] { return text(); });
  }
  sonde::Shape shape() {
    return sonde::Shape(list([&] { return integer(); }));
  }

 private:
  std::istream& in_;
};

struct Tensor {
  explicit Tensor(Input& in) {
    const std::string name = in.text();
    sonde::DType dtype{};
    for (int i = 0; i < sonde::kDTypeCount; ++i) {
      if (sonde::to_string(static_cast<sonde::DType>(i)) == name) dtype = static_cast<sonde::DType>(i);
    }
    const bool fortran = in.text() == "F";
    const sonde::Shape shape = in.shape();
    bytes = in.text();
    sonde::Shape strides = sonde::row_major(shape);
    if (fortran) {
      std::int64_t stride = 1;
      for (int axis = 0; axis < shape.rank(); ++axis) {
        strides[axis] = stride;
        stride *= shape[axis];
      }
    }
    view = sonde::view(bytes.data(), dtype, shape, strides);
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  std::string bytes;
  sonde::TensorView view;
};

// A recorder and the handles that a script uses.
struct Writer {
  sonde::Recorder recorder;
  std::map<std::string, sonde::Scalar> series;
  std::map<std::string, sonde::Probe> probes;
  std::optional<sonde::Step> step;
  std::optional<sonde::Step> evaluation;
  std::optional<sonde::Group> group;

  void report() const {
    const sonde::Counters counters = recorder.counters();
    std::cout << "{\"scalars\": " << counters.scalars << ", \"tensors\": " << counters.tensors
              << ", \"dropped_scalars\": " << counters.dropped_scalars
              << ", \"dropped_tensors\": " << counters.dropped_tensors << ", \"rejected\": " << counters.rejected
              << ", \"write_errors\": " << counters.write_errors << ", \"lost_records\": " << counters.lost_records
              << "}\n"
              << std::flush;  // somebody waits for it
  }
};

std::optional<Writer> open(Input& in) {
  const std::string directory = in.text();
  sonde::RecorderOptions options;
  options.precision = in.choice<sonde::Precision>();
  options.histogram_buckets = in.small();
  options.file_suffix = in.text();
  options.tensors = sonde::Overflow::wait;  // a slow machine must not cost a record
  options.console = nullptr;
  options.on_error = [](const sonde::Status& status) { std::cerr << status.message() << '\n'; };
  auto opened = sonde::Recorder::open(directory, options);
  if (!opened) {
    std::cerr << opened.error().message() << '\n';
    return std::nullopt;
  }
  return Writer{.recorder = std::move(*opened), .series = {}, .probes = {}, .step = {}, .evaluation = {}, .group = {}};
}

sonde::ImageOptions image_options(Input& in) {
  sonde::ImageOptions options;
  options.colors = in.choice<sonde::ColorMap>();
  options.max_cells = in.small();
  options.low = in.number();
  options.high = in.number();
  return options;
}

// ---- Commands.

void scalar(Writer& to, Input& in) {
  const std::string tag = in.text();
  const double value = in.number();
  to.recorder.scalar(tag, value, in.integer());
}

void series(Writer& to, Input& in) {
  const std::string tag = in.text();
  const double value = in.number();
  const auto [entry, added] = to.series.try_emplace(tag);
  if (added) entry->second = to.recorder.series(tag);
  entry->second.record(value, in.integer());
}

void histogram(Writer& to, Input& in) {
  const std::string tag = in.text();
  const Tensor tensor(in);
  to.recorder.histogram(tag, tensor.view, in.integer());
}

void image(Writer& to, Input& in) {
  const std::string tag = in.text();
  const Tensor tensor(in);
  const std::int64_t step = in.integer();
  const auto layout = in.choice<sonde::Layout>();
  to.recorder.image(tag, tensor.view, step, layout, image_options(in));
}

void audio(Writer& to, Input& in) {
  const std::string tag = in.text();
  const Tensor tensor(in);
  const std::int64_t step = in.integer();
  sonde::AudioOptions options;
  options.sample_rate = in.small();
  options.encoding = in.choice<sonde::AudioOptions::Encoding>();
  options.label = in.text();
  to.recorder.audio(tag, tensor.view, step, options);
}

void text(Writer& to, Input& in) {
  const std::string tag = in.text();
  const std::string markdown = in.text();
  to.recorder.text(tag, markdown, in.integer());
}

void pr_curve(Writer& to, Input& in) {
  const std::string tag = in.text();
  const Tensor labels(in);
  const Tensor predictions(in);
  const std::int64_t step = in.integer();
  to.recorder.pr_curve(tag, labels.view, predictions.view, step, in.small());
}

void mesh(Writer& to, Input& in) {
  const std::string tag = in.text();
  const Tensor vertices(in);
  const std::int64_t step = in.integer();
  sonde::MeshOptions options;
  std::unique_ptr<Tensor> faces;
  std::unique_ptr<Tensor> colors;
  if (in.flag()) {
    faces = std::make_unique<Tensor>(in);
    options.faces = &faces->view;
  }
  if (in.flag()) {
    colors = std::make_unique<Tensor>(in);
    options.colors = &colors->view;
  }
  to.recorder.mesh(tag, vertices.view, step, options);
}

void hparams(Writer& to, Input& in) {
  sonde::HParams params;
  params.values = in.list([&] {
    const std::string name = in.text();
    const std::string type = in.text();
    if (type == "bool") return std::pair(name, sonde::HParam(in.flag()));
    if (type == "int") return std::pair(name, sonde::HParam(in.integer()));
    if (type == "float") return std::pair(name, sonde::HParam(in.number()));
    return std::pair(name, sonde::HParam(in.text()));
  });
  params.metrics = in.texts();
  params.group = in.text();
  to.recorder.hparams(params);
}

sonde::Node::Attribute attribute(Input& in) {
  const std::string type = in.text();
  if (type == "bool") return in.flag();
  if (type == "int") return in.integer();
  if (type == "float") return in.number();
  if (type == "ints") return in.list([&] { return in.integer(); });
  if (type == "shape") return in.shape();
  if (type == "dtype") return in.choice<sonde::DType>();
  return in.text();
}

void graph(Writer& to, Input& in) {
  sonde::Graph graph;
  for (std::int64_t left = in.integer(); left > 0; --left) {
    sonde::Node node;
    node.name = in.text();
    node.op = in.text();
    node.inputs = in.texts();
    node.attributes = in.list([&] {
      std::string key = in.text();
      return std::pair(std::move(key), attribute(in));
    });
    node.shapes = in.list([&] { return in.shape(); });
    node.dtype = in.choice<sonde::DType>();
    node.device = in.text();
    graph.add(std::move(node));
  }
  to.recorder.graph(graph);
}

void custom_scalars(Writer& to, Input& in) {
  to.recorder.custom_scalars(in.list([&] {
    sonde::ChartCategory category;
    category.title = in.text();
    category.charts = in.list([&] {
      sonde::Chart chart;
      chart.title = in.text();
      chart.tags = in.texts();
      chart.margin = in.flag();
      return chart;
    });
    return category;
  }));
}

void define_probe(Writer& to, Input& in) {
  const std::string key = in.text();  // what the script calls the handle
  const std::string name = in.text();
  sonde::ProbeOptions options;
  options.kind = in.choice<sonde::Kind>();
  options.inputs = in.texts();
  options.keep = in.choice<sonde::Keep>();
  options.layout = in.choice<sonde::Layout>();
  options.image = image_options(in);
  to.probes[key] = to.recorder.probe(name, options);
}

void probe(Writer& to, Input& in) {
  const sonde::Probe& probe = to.probes[in.text()];
  const Tensor tensor(in);
  const sonde::Step& step = to.evaluation ? *to.evaluation : *to.step;
  if (probe.wanted(step)) probe.record(step, tensor.view);
}

void begin_step(Writer& to, Input& in) { to.step = to.recorder.step(in.integer()); }
void end_step(Writer& to, Input&) { to.step.reset(); }
void begin_evaluation(Writer& to, Input& in) { to.evaluation = to.recorder.evaluation(in.integer()); }
void end_evaluation(Writer& to, Input&) { to.evaluation.reset(); }

void begin_group(Writer& to, Input& in) { to.group = to.recorder.group(in.integer()); }
void end_group(Writer& to, Input&) { to.group.reset(); }

void group_scalar(Writer& to, Input& in) {
  const std::string tag = in.text();
  to.group->scalar(tag, in.number());
}

void group_histogram(Writer& to, Input& in) {
  const std::string tag = in.text();
  const Tensor tensor(in);
  to.group->histogram(tag, tensor.view);
}

void group_image(Writer& to, Input& in) {
  const std::string tag = in.text();
  const Tensor tensor(in);
  const auto layout = in.choice<sonde::Layout>();
  to.group->image(tag, tensor.view, layout, image_options(in));
}

void group_text(Writer& to, Input& in) {
  const std::string tag = in.text();
  to.group->text(tag, in.text());
}

void say(Writer& to, const sonde::Status& status) {
  if (!status.ok()) std::cerr << status.message() << '\n';
  to.report();
}
void flush(Writer& to, Input&) { say(to, to.recorder.flush()); }
void close(Writer& to, Input&) { say(to, to.recorder.close()); }

const std::map<std::string, void (*)(Writer&, Input&)> kCommands = {
    {"scalar", scalar},
    {"series", series},
    {"histogram", histogram},
    {"image", image},
    {"audio", audio},
    {"text", text},
    {"pr_curve", pr_curve},
    {"mesh", mesh},
    {"hparams", hparams},
    {"graph", graph},
    {"custom_scalars", custom_scalars},
    {"define_probe", define_probe},
    {"probe", probe},
    {"begin_step", begin_step},
    {"end_step", end_step},
    {"begin_evaluation", begin_evaluation},
    {"end_evaluation", end_evaluation},
    {"begin_group", begin_group},
    {"end_group", end_group},
    {"group_scalar", group_scalar},
    {"group_histogram", group_histogram},
    {"group_image", group_image},
    {"group_text", group_text},
    {"flush", flush},
    {"close", close},
};

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  Input in(std::cin);
  std::map<std::string, Writer> writers;
  for (std::string command; in.next(command);) {
    const std::string name = in.text();
    if (command == "open") {
      auto writer = open(in);
      if (!writer) return 1;
      writers.insert_or_assign(name, std::move(*writer));
      continue;
    }
    const auto run = kCommands.find(command);
    const auto writer = writers.find(name);
    if (run == kCommands.end() || writer == writers.end()) {
      std::cerr << "no command '" << command << "', or no recorder '" << name << "'\n";
      return 2;
    }
    run->second(writer->second, in);
  }
  return 0;
}
