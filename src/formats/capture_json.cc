#include "formats/capture_json.h"

#include <simdjson.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "formats/json_writer.h"
#include "formats/tensor_tags.h"

namespace sonde::capture_json {
namespace {

namespace dom = simdjson::dom;

constexpr std::array<std::string_view, 3> kCauses = {"trigger", "manual", "crash"};

// ---- Writing

void put_values(formats::JsonWriter& json, std::string_view name_key,
                const std::vector<std::pair<std::string, double>>& values) {
  json.array();
  for (const auto& [name, value] : values) {
    json.object().key(name_key).text(name).key("value").number(value).end();
  }
  json.end();
}

void put_tensor(formats::JsonWriter& json, const CapturedTensor& tensor) {
  json.line(" ").object();
  json.key("key").text(tensor.key);
  json.key("name").text(tensor.name);
  json.key("kind").text(tensor.kind_name.empty() ? to_string(tensor.kind) : std::string_view(tensor.kind_name));
  json.key("occurrence").integer(tensor.occurrence);
  json.key("inputs").texts(tensor.inputs);
  json.key("dtype").text(to_string(tensor.dtype));
  json.key("shape").shape(tensor.shape);
  json.key("count").integer(tensor.count);
  json.key("nan").integer(tensor.nan);
  json.key("positive_infinity").integer(tensor.positive_infinity);
  json.key("negative_infinity").integer(tensor.negative_infinity);
  json.end();
}

void put_step(formats::JsonWriter& json, const CapturedStep& step) {
  json.line().object();
  json.key("step").integer(step.step);
  json.key("evaluation").truth(step.evaluation);
  json.key("complete").truth(step.complete);
  json.key("wall_time").number(step.wall_time);
  json.key("file").text(step.file);
  put_values(json.key("scalars"), "name", step.scalars);
  json.list("tensors", step.tensors, [&](const CapturedTensor& tensor) { put_tensor(json, tensor); });
  json.end();
}

void put_gap(formats::JsonWriter& json, const CaptureGap& gap) {
  json.object();
  json.key("what").text(gap.what);
  json.key("first_step").integer(gap.first_step);
  json.key("last_step").integer(gap.last_step);
  json.key("count").integer(gap.count);
  json.key("reason").text(gap.reason);
  json.end();
}

void put_place(formats::JsonWriter& json, const Origin::Place& place) {
  json.object();
  json.key("key").text(place.key);
  json.key("kind").text(to_string(place.kind));
  json.key("step").integer(place.step);
  json.key("evaluation").truth(place.evaluation);
  json.key("count").integer(place.count);
  json.key("nan").integer(place.nan);
  json.key("infinite").integer(place.infinite);
  json.key("inputs").texts(place.inputs);
  json.key("unseen").texts(place.unseen);
  json.end();
}

void put_origin(formats::JsonWriter& json, const Origin& origin) {
  json.object().key("found").truth(origin.found);
  json.list("producers", origin.producers, [&](const Origin::Place& place) { put_place(json, place); });
  json.key("propagators").texts(origin.propagators).key("caveats").texts(origin.caveats).end();
}

// ---- Reading. The first thing that is wrong is remembered, and everything that is read from then on is empty.

class Reader {
 public:
  Status status() const { return status_; }

  void wrong(std::string_view key, std::string_view expected) {
    if (!status_) return;
    status_ = {Code::corrupt,
               "not a valid capture.json: '" + std::string(key) + "' is missing or not " + std::string(expected)};
  }

  // `where` is an object.
  template <class T>
  T get(dom::object where, std::string_view key, std::string_view expected) {
    T value{};
    if (status_ && where.at_key(key).get(value) != simdjson::SUCCESS) wrong(key, expected);
    return value;
  }
  std::string text(dom::object where, std::string_view key) {
    return std::string(get<std::string_view>(where, key, "a text"));
  }
  std::uint64_t count(dom::object where, std::string_view key) {
    return get<std::uint64_t>(where, key, "a number of things");
  }
  std::int64_t integer(dom::object where, std::string_view key) { return get<std::int64_t>(where, key, "an integer"); }
  bool truth(dom::object where, std::string_view key) { return get<bool>(where, key, "true or false"); }

  double number(dom::object where, std::string_view key) {
    dom::element value;
    double number = 0;
    if (!status_) return 0;
    if (where.at_key(key).get(value) != simdjson::SUCCESS) {
      wrong(key, "a number");
    } else if (value.get(number) != simdjson::SUCCESS) {
      std::string_view word;
      const bool is_text = value.get(word) == simdjson::SUCCESS;
      if (is_text && word == "NaN") return std::numeric_limits<double>::quiet_NaN();
      if (is_text && word == "Infinity") return std::numeric_limits<double>::infinity();
      if (is_text && word == "-Infinity") return -std::numeric_limits<double>::infinity();
      wrong(key, "a number");
    }
    return number;
  }

  // What `read(element)` makes of each.
  template <class T, class Read>
  std::vector<T> array(dom::object where, std::string_view key, Read read) {
    std::vector<T> items;
    const auto values = get_array(where, key);
    for (std::size_t i = 0; status_ && i < values.size(); ++i) items.push_back(read(values[i]));
    return items;
  }
  template <class T, class Read>
  std::vector<T> objects(dom::object where, std::string_view key, Read read) {
    return array<T>(where, key, [&](dom::element element) {
      dom::object object;
      if (element.get(object) == simdjson::SUCCESS) return read(object);
      wrong(key, "a list of objects");
      return T{};
    });
  }
  std::vector<std::string> texts(dom::object where, std::string_view key) {
    return array<std::string>(where, key, [&](dom::element element) {
      std::string_view value;
      if (element.get(value) != simdjson::SUCCESS) wrong(key, "a list of texts");
      return std::string(value);
    });
  }
  std::vector<std::pair<std::string, double>> values(dom::object where, std::string_view key,
                                                     std::string_view name_key) {
    return objects<std::pair<std::string, double>>(
        where, key, [&](dom::object value) { return std::pair(text(value, name_key), number(value, "value")); });
  }
  // The index of the text among these.
  template <class Name>
  std::size_t one_of(dom::object where, std::string_view key, std::size_t count, Name name) {
    const auto word = get<std::string_view>(where, key, "a text");
    for (std::size_t i = 0; i < count; ++i) {
      if (name(i) == word) return i;
    }
    wrong(key, "one of the words known here");
    return 0;
  }

 private:
  std::vector<dom::element> get_array(dom::object where, std::string_view key) {
    dom::array values;
    if (!status_ || where.at_key(key).get(values) != simdjson::SUCCESS) {
      wrong(key, "a list");
      return {};
    }
    return {values.begin(), values.end()};
  }

  Status status_;
};

CapturedTensor read_tensor(Reader& reader, dom::object object) {
  CapturedTensor tensor;
  tensor.key = reader.text(object, "key");
  tensor.name = reader.text(object, "name");
  std::string kind = reader.text(object, "kind");
  tensor.kind = tags::kind_of(kind).value_or(Kind::unknown);
  if (tensor.kind == Kind::unknown) tensor.kind_name = std::move(kind);
  const std::uint64_t occurrence = reader.count(object, "occurrence");
  if (occurrence > std::numeric_limits<std::uint32_t>::max()) reader.wrong("occurrence", "below 2^32");
  tensor.occurrence = static_cast<std::uint32_t>(occurrence);
  tensor.inputs = reader.texts(object, "inputs");
  tensor.dtype = static_cast<DType>(
      reader.one_of(object, "dtype", kDTypeCount, [](std::size_t i) { return to_string(static_cast<DType>(i)); }));
  const auto sizes = reader.array<std::int64_t>(object, "shape", [&](dom::element element) {
    std::int64_t size = 0;
    if (element.get(size) != simdjson::SUCCESS || size < 0) reader.wrong("shape", "a list of sizes");
    return size;
  });
  tensor.shape = Shape(std::span(sizes));
  if (element_count(tensor.shape) < 0) reader.wrong("shape", "one that a tensor can have");
  tensor.count = reader.count(object, "count");
  tensor.nan = reader.count(object, "nan");
  tensor.positive_infinity = reader.count(object, "positive_infinity");
  tensor.negative_infinity = reader.count(object, "negative_infinity");
  return tensor;
}

CapturedStep read_step(Reader& reader, dom::object object) {
  CapturedStep step;
  step.step = reader.integer(object, "step");
  step.evaluation = reader.truth(object, "evaluation");
  step.complete = reader.truth(object, "complete");
  step.wall_time = reader.number(object, "wall_time");
  step.file = reader.text(object, "file");
  // A capture never names a file outside of its directory.
  constexpr std::string_view kInNoName("/\0", 2);
  if (step.file.find_first_of(kInNoName) != std::string::npos || step.file == "..") {
    reader.wrong("file", "a name without slashes");
  }
  step.scalars = reader.values(object, "scalars", "name");
  step.tensors = reader.objects<CapturedTensor>(object, "tensors",
                                                [&](dom::object tensor) { return read_tensor(reader, tensor); });
  return step;
}

CaptureGap read_gap(Reader& reader, dom::object object) {
  CaptureGap gap;
  gap.what = reader.text(object, "what");
  gap.first_step = reader.integer(object, "first_step");
  gap.last_step = reader.integer(object, "last_step");
  gap.count = reader.count(object, "count");
  gap.reason = reader.text(object, "reason");
  return gap;
}

CaptureInfo read_capture(Reader& reader, dom::object object) {
  CaptureInfo capture;
  capture.cause = static_cast<CaptureInfo::Cause>(
      reader.one_of(object, "cause", kCauses.size(), [](std::size_t i) { return kCauses[i]; }));
  capture.reason = reader.text(object, "reason");
  capture.when = reader.text(object, "when");
  capture.values = reader.values(object, "values", "expression");
  capture.step = reader.integer(object, "step");
  capture.wall_time = reader.number(object, "wall_time");
  capture.before = reader.integer(object, "before");
  capture.after = reader.integer(object, "after");
  capture.host = reader.text(object, "host");
  capture.pid = reader.count(object, "pid");
  capture.writer = reader.text(object, "writer");
  capture.steps =
      reader.objects<CapturedStep>(object, "steps", [&](dom::object step) { return read_step(reader, step); });
  capture.dropped =
      reader.objects<CaptureGap>(object, "dropped", [&](dom::object gap) { return read_gap(reader, gap); });
  capture.allow_negative_infinity = reader.texts(object, "allow_negative_infinity");
  return capture;
}

}  // namespace

void put_members(formats::JsonWriter& json, const CaptureInfo& capture, const Origin& origin) {
  json.key("version").integer(kVersion);
  json.key("cause").text(kCauses[static_cast<std::size_t>(capture.cause) % kCauses.size()]);
  json.key("reason").text(capture.reason);
  json.key("when").text(capture.when);
  put_values(json.key("values"), "expression", capture.values);
  json.key("step").integer(capture.step);
  json.key("wall_time").number(capture.wall_time);
  json.key("before").integer(capture.before);
  json.key("after").integer(capture.after);
  json.key("host").text(capture.host);
  json.key("pid").integer(capture.pid);
  json.key("writer").text(capture.writer);
  json.list("steps", capture.steps, [&](const CapturedStep& step) { put_step(json, step); });
  json.list("dropped", capture.dropped, [&](const CaptureGap& gap) { put_gap(json, gap); });
  json.key("allow_negative_infinity").texts(capture.allow_negative_infinity);
  put_origin(json.key("origin"), origin);
}

std::string encode(const CaptureInfo& capture, const Origin& origin) {
  formats::JsonWriter json;
  json.object();
  put_members(json, capture, origin);
  return json.end().take() + "\n";
}

Result<CaptureInfo> decode(std::string_view json) {
  dom::parser parser;
  dom::object object;
  // Copies the text, since the parser reads beyond its end.
  if (const auto error = parser.parse(json.data(), json.size()).get(object); error != simdjson::SUCCESS) {
    return Status(Code::corrupt, "not a valid capture.json: it is not a JSON object (" +
                                     std::string(simdjson::error_message(error)) + ")");
  }
  Reader reader;
  const std::uint64_t version = reader.count(object, "version");
  if (reader.status() && version > kVersion) {
    return Status(Code::unsupported, "it is of version " + std::to_string(version) +
                                         ", and this Sonde reads versions up to " + std::to_string(kVersion) +
                                         ": use a newer one");
  }
  if (version == 0) reader.wrong("version", "a version");
  CaptureInfo capture = read_capture(reader, object);
  if (Status status = reader.status(); !status) return status;
  return capture;
}

}  // namespace sonde::capture_json
