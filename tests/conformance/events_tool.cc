// Writes and dumps event and statistics files with src/formats only, for test_events_format.py.
//
//   events_tool write FILE        an event file with a value of every kind
//   events_tool dump FILE         any event file, one JSON object per line, as our decoder reads it
//   events_tool write_stats FILE  a statistics file; prints its content, one JSON object per line
//
// In the JSON, bytes and texts are hexadecimal, numbers "%a" or integers.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "formats/graph_def.h"
#include "formats/stats_record.h"
#include "formats/tfevents.h"
#include "formats/tfevents_decode.h"
#include "formats/tfrecord.h"
#include "stats/summary.h"

namespace sonde {
namespace {

// ---- JSON.

std::string hex(std::string_view bytes) {
  std::string text = "\"";
  for (const char byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text + '"';
}
std::string hex(base::Bytes bytes) { return hex(base::as_text(bytes)); }

std::string number(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "\"%a\"", value);
  return text;
}
template <std::integral T>
std::string number(T value) {
  return std::to_string(value);
}
std::string boolean(bool value) { return value ? "true" : "false"; }

template <class Range, class Text>
std::string list(const Range& items, Text text) {
  std::string result = "[";
  for (const auto& item : items) {
    if (result.size() > 1) result += ',';
    result += text(item);
  }
  return result + ']';
}
std::string pair(const std::string& first, const std::string& second) {
  std::string result = "[";
  result += first;
  result += ',';
  result += second;
  result += ']';
  return result;
}
std::string quoted(std::string_view name) {
  std::string result = "\"";
  result += name;
  result += '"';
  return result;
}
std::string shape_json(const Shape& shape) {
  return shape.valid() ? list(shape, [](std::int64_t size) { return number(size); }) : "null";
}

class Object {
 public:
  Object& add(std::string_view key, const std::string& json) {
    text_ += text_.size() > 1 ? ",\"" : "\"";
    text_ += key;
    text_ += "\":";
    text_ += json;
    return *this;
  }
  std::string end() const { return text_ + '}'; }

 private:
  std::string text_ = "{";
};

// ---- dump

std::string value_json(const tfevents::Value& value) {
  using Form = tfevents::Value::Form;
  constexpr const char* kForms[] = {"none", "tensor", "simple_value", "image", "histo", "audio"};
  Object object;
  object.add("tag", hex(value.tag)).add("node_name", hex(value.node_name));
  object.add("form", quoted(kForms[static_cast<int>(value.form)]));
  object.add("plugin", hex(value.plugin_name()));
  if (value.has_metadata) {
    object.add("metadata", Object()
                               .add("plugin_name", hex(value.metadata.plugin_name))
                               .add("content", hex(value.metadata.plugin_content))
                               .add("display_name", hex(value.metadata.display_name))
                               .add("description", hex(value.metadata.description))
                               .add("data_class", number(static_cast<int>(value.metadata.data_class)))
                               .end());
  }
  if (value.form == Form::tensor) {
    object.add("dtype", number(value.tensor.tf_dtype)).add("shape", shape_json(value.tensor.shape));
    if (const auto numbers = tfevents::as_doubles(value.tensor)) {
      object.add("numbers", list(*numbers, [](double each) { return number(each); }));
    }
    if (const auto strings = tfevents::as_strings(value.tensor)) {
      object.add("strings", list(*strings, [](std::string_view each) { return hex(each); }));
    }
  }
  if (const auto scalar = tfevents::as_scalar(value)) object.add("scalar", number(*scalar));
  if (const auto buckets = tfevents::as_histogram(value)) {
    object.add("histogram", list(*buckets, [](const stats::Bucket& bucket) {
                 return list(std::vector{bucket.left, bucket.right, bucket.count}, [](double x) { return number(x); });
               }));
  }
  if (const auto images = tfevents::as_images(value)) {
    object.add("images", Object()
                             .add("width", number(images->width))
                             .add("height", number(images->height))
                             .add("encoded", list(images->encoded, [](base::Bytes each) { return hex(each); }))
                             .end());
  }
  if (const auto clips = tfevents::as_audio(value)) {
    object.add("audio",
               list(*clips, [](const tfevents::Clip& clip) { return pair(hex(clip.encoded), hex(clip.label)); }));
  }
  return object.end();
}

std::string node_json(const formats::NodeInfo& node) {
  return Object()
      .add("name", hex(node.name))
      .add("op", hex(node.op))
      .add("device", hex(node.device))
      .add("inputs", list(node.inputs, [](std::string_view input) { return hex(input); }))
      .add("attributes",
           list(node.attributes, [](const auto& each) { return pair(hex(each.first), hex(each.second)); }))
      .end();
}

std::string event_json(const tfevents::Event& event) {
  constexpr const char* kWhats[] = {"nothing",     "file_version", "graph_def",           "summary",
                                    "log_message", "session_log",  "tagged_run_metadata", "meta_graph_def"};
  Object object;
  object.add("what", quoted(kWhats[static_cast<int>(event.what)]));
  object.add("wall_time", number(event.wall_time)).add("step", number(event.step));
  object.add("text", hex(event.text)).add("bytes", hex(event.bytes)).add("number", number(event.number));
  object.add("checkpoint_path", hex(event.checkpoint_path)).add("writer", hex(event.source_writer));
  object.add("values", list(event.values, value_json));
  if (event.what == tfevents::Event::What::graph_def) {
    if (const auto nodes = formats::decode_graph_def(event.bytes)) object.add("nodes", list(*nodes, node_json));
  }
  return object.end();
}

int dump(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  tfrecord::RecordReader reader(base::as_bytes(file), tfrecord::RecordReader::Tail::complete);
  for (auto found = reader.next(); found != tfrecord::RecordReader::Found::end; found = reader.next()) {
    if (found != tfrecord::RecordReader::Found::record) {
      std::printf("%s\n", Object().add("damage", hex(reader.reason())).end().c_str());
      continue;
    }
    const auto event = tfevents::decode_event(reader.payload());
    const std::string json = event ? event_json(*event) : Object().add("corrupt", hex(event.error().message())).end();
    std::printf("%s\n", json.c_str());
  }
  return 0;
}

// ---- write

constexpr double kTime = 1.75e9;

Graph network() {
  Graph graph;
  graph.add({.name = "input", .op = "Placeholder", .shapes = {{-1, 8, 8, 1}}});
  graph.add({.name = "conv/out",
             .op = "Conv2D",
             .inputs = {"input"},
             .attributes = {{"strides", std::vector<std::int64_t>{1, 2, 2, 1}},
                            {"padding", std::string("SAME")},
                            {"groups", std::int64_t{-3}},
                            {"bias", true},
                            {"alpha", 0.25},
                            {"kernel", Shape({3, 3})},
                            {"accumulate", DType::bf16}},
             .shapes = {{-1, 4, 4, 8}, {}},
             .dtype = DType::f16,
             .device = "/device:CPU:0"});
  graph.add({.name = "relu", .op = "Relu", .inputs = {"conv/out:1"}});
  return graph;
}

void put_steps(std::string& file) {
  for (std::int64_t step = 0; step < 3; ++step) {
    const bool first = step == 0;
    const double time = kTime + static_cast<double>(step);
    const double value = 0.1 * static_cast<double>(step + 1);
    tfevents::put_scalar_event(file, time, step, "loss", value, Precision::f32, first);
    tfevents::put_scalar_event(file, time, step, "exact loss", value, Precision::f64, first);

    std::string summary;
    tfevents::put_scalar(summary, "group/x", -value, Precision::f32, first);
    std::vector<stats::Bucket> buckets(30);
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      const auto left = static_cast<double>(i);
      buckets[i] = {
          .left = left, .right = left + 1, .count = static_cast<double>(1 + (i + static_cast<std::size_t>(step)) % 5)};
    }
    tfevents::put_histogram(summary, "histogram", buckets, first);
    const std::vector<std::string_view> pngs = {"\x89PNG first", "\x89PNG second"};
    tfevents::put_images(summary, "images", 12, 34, pngs, first);
    const std::vector<tfevents::AudioClip> clips = {{"RIFF first", "*label*"}, {"RIFF second", ""}};
    tfevents::put_audio(summary, "audio", clips, first);
    const std::string text = "step " + std::to_string(step);
    tfevents::put_text(summary, "text", std::string_view(text), first);
    const std::vector<std::string_view> lines = {"# a", text};
    tfevents::put_text(summary, "table", std::span(lines), first);
    tfevents::put_summary_event(file, time, step, summary);
  }
}

Status put_others(std::string& file) {
  std::string summary;
  const std::vector<std::uint8_t> labels = {1, 0, 1, 1, 0, 0, 1, 0};
  const std::vector<float> predictions = {0.9f, 0.7f, 0.7f, 0.3f, 0.2f, 0.6f, 1.0f, 0.0f};
  const auto curve = tfevents::pr_curve(view(labels), view(predictions), 11);
  if (!curve) return curve.error();
  tfevents::put_pr_curve(summary, "pr", *curve, true);

  const std::vector<float> vertices = {0, 0, 0, 1, 0, 0, 0, 1, 0.5f};
  const std::vector<std::int64_t> faces = {0, 1, 2};
  const std::vector<std::uint8_t> colors = {255, 0, 0, 0, 255, 0, 0, 0, 255};
  const TensorView face_view = view(faces, {1, 3});
  const TensorView color_view = view(colors, {1, 3, 3});
  const MeshOptions options{.colors = &color_view, .faces = &face_view};
  using tfevents::MeshPart;
  for (const auto& [part, data] : {std::pair(MeshPart::vertices, view(vertices, {1, 3, 3})),
                                   std::pair(MeshPart::faces, face_view), std::pair(MeshPart::colors, color_view)}) {
    if (Status status = tfevents::put_mesh_part(summary, "mesh", part, data, options, true); !status) return status;
  }
  const std::vector<ChartCategory> layout = {
      {.title = "losses",
       .charts = {{.title = "all", .tags = {"loss.*", "exact.*"}},
                  {.title = "band", .tags = {"loss", "low", "high", "x", "y", "z"}, .margin = true}}},
      {.title = "empty", .charts = {}}};
  if (Status status = tfevents::put_custom_scalars(summary, layout, true); !status) return status;

  const HParams hparams{.values = {{"optimizer", std::string("adam")},
                                   {"learning rate", 0.001},
                                   {"layers", std::int64_t{3}},
                                   {"bias", false}},
                        .metrics = {"loss", "exact loss"},
                        .group = "a group"};
  tfevents::put_hparams_experiment(summary, hparams, kTime);
  tfevents::put_hparams_session_start(summary, hparams, kTime + 1);
  tfevents::put_hparams_session_end(summary, tfevents::SessionStatus::success, kTime + 2);

  const std::vector<std::int16_t> numbers = {1, -2, 3, -4, 5, -6};
  if (Status status = tfevents::put_tensor(summary, "unknown", view(numbers, {2, 3}), "a plugin", "its content",
                                           tfevents::DataClass::tensor, true);
      !status) {
    return status;
  }
  tfevents::put_summary_event(file, kTime, 0, summary);
  return {};
}

bool save(const char* path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) std::fprintf(stderr, "cannot write %s\n", path);
  return out.good();
}

int write(const char* path) {
  std::string file;
  tfevents::put_version_event(file, kTime);
  tfevents::put_graph_event(file, kTime, formats::encode_graph_def(network()));
  put_steps(file);
  if (Status status = put_others(file); !status) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  return save(path, file) ? 0 : 1;
}

// ---- write_stats

std::string form_json(const stats_record::Form& form) {
  return Object().add("dtype", hex(to_string(form.dtype))).add("shape", shape_json(form.shape)).end();
}

std::string summary_json(const stats::Summary& summary) {
  return Object()
      .add("count", number(summary.count))
      .add("nan", number(summary.nan))
      .add("positive_infinity", number(summary.positive_infinity))
      .add("negative_infinity", number(summary.negative_infinity))
      .add("zeros", number(summary.zeros))
      .add("negatives", number(summary.negatives))
      .add("min", number(summary.min))
      .add("max", number(summary.max))
      .add("mean", number(summary.mean))
      .add("m2", number(summary.m2))
      .add("sum_abs", number(summary.sum_abs))
      .end();
}

void put_step(std::string& file, std::int64_t step) {
  std::vector<float> values = {0, -0.0f, 1.5f, -2.25f, 1e-40f, 3e38f, static_cast<float>(step)};
  if (step % 2 != 0) values.push_back(std::numeric_limits<float>::quiet_NaN());
  if (step == 3) values = {std::numeric_limits<float>::infinity()};
  stats::Histogram histogram;
  const auto summary = stats::summarize(view(values), histogram);
  const bool evaluation = step == 2;
  stats_record::StepWriter writer(file, step - 1, kTime + static_cast<double>(step), evaluation);
  const stats_record::Form form{.dtype = DType::f32, .shape = {static_cast<std::int64_t>(values.size())}};
  writer.add({.id = 1}, *summary, nullptr);
  writer.add({.id = 200, .occurrence = static_cast<std::uint32_t>(step), .form = &form}, *summary, &histogram);
  writer.end();

  const std::string bins =
      list(histogram.bins(), [](const stats::Histogram::Bin& bin) { return pair(number(bin.key), number(bin.count)); });
  const std::string plain = Object().add("id", "1").add("occurrence", "0").add("summary", summary_json(*summary)).end();
  const std::string full = Object()
                               .add("id", "200")
                               .add("occurrence", number(step))
                               .add("form", form_json(form))
                               .add("summary", summary_json(*summary))
                               .add("histogram", bins)
                               .end();
  std::printf("%s\n", Object()
                          .add("type", "\"step\"")
                          .add("step", number(step - 1))
                          .add("wall_time", number(kTime + static_cast<double>(step)))
                          .add("evaluation", boolean(evaluation))
                          .add("entries", pair(plain, full))
                          .end()
                          .c_str());
}

int write_stats(const char* path) {
  std::string file;
  const stats_record::Header header{.writer = "train", .host = "a-host", .pid = 70'000, .start_time = kTime};
  stats_record::put_header(file, header);
  std::printf("%s\n", Object()
                          .add("type", "\"header\"")
                          .add("writer", hex(header.writer))
                          .add("host", hex(header.host))
                          .add("pid", number(header.pid))
                          .add("start_time", number(header.start_time))
                          .end()
                          .c_str());
  const std::vector<stats_record::Definition> definitions = {
      {.id = 1, .kind = Kind::activation, .form = {.dtype = DType::f32, .shape = {7}}, .name = "dense/out"},
      {.id = 200,
       .kind = Kind::update,
       .form = {.dtype = DType::f8_e5m2, .shape = {-1, 300, 0}},
       .name = "dense/kernel ü",
       .inputs = {"dense/out", "x"}}};
  for (const auto& definition : definitions) {
    stats_record::put_definition(file, definition);
    std::printf("%s\n", Object()
                            .add("type", "\"definition\"")
                            .add("id", number(definition.id))
                            .add("kind", definition.kind == Kind::update ? "\"update\"" : "\"activation\"")
                            .add("form", form_json(definition.form))
                            .add("name", hex(definition.name))
                            .add("inputs", list(definition.inputs, [](const std::string& input) { return hex(input); }))
                            .end()
                            .c_str());
  }
  for (std::int64_t step = 0; step < 4; ++step) put_step(file, step);
  const std::vector<stats_record::Gap> gaps = {
      {.id = 200, .first_step = -5, .last_step = 300, .count = 12, .reason = stats_record::GapReason::budget},
      {.evaluation = true,
       .first_step = 7,
       .last_step = 7,
       .count = 1,
       .reason = stats_record::GapReason::write_error,
       .detail = "the disk is full"}};
  for (const auto& gap : gaps) {
    stats_record::put_gap(file, gap);
    std::printf("%s\n",
                Object()
                    .add("type", "\"gap\"")
                    .add("id", gap.id ? number(*gap.id) : "null")
                    .add("evaluation", boolean(gap.evaluation))
                    .add("first_step", number(gap.first_step))
                    .add("last_step", number(gap.last_step))
                    .add("count", number(gap.count))
                    .add("reason", gap.reason == stats_record::GapReason::budget ? "\"budget\"" : "\"write error\"")
                    .add("detail", hex(gap.detail))
                    .end()
                    .c_str());
  }
  return save(path, file) ? 0 : 1;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  const std::string_view command = argc == 3 ? argv[1] : "";
  if (command == "write") return sonde::write(argv[2]);
  if (command == "dump") return sonde::dump(argv[2]);
  if (command == "write_stats") return sonde::write_stats(argv[2]);
  return std::fputs("usage: events_tool write|dump|write_stats FILE\n", stderr), 2;
}
