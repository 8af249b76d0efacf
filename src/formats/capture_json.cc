#include "formats/capture_json.h"

#include <simdjson.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "formats/json.h"
#include "formats/tensor_tags.h"

namespace sonde::capture_json {
namespace {

namespace dom = simdjson::dom;

constexpr std::array<std::string_view, 3> kCauses = {"trigger", "manual", "crash"};

// ---- Writing

// The members of an object, one after the other.
class Object {
 public:
  explicit Object(std::string& out) : out_(out) { out_ += '{'; }
  ~Object() { out_ += '}'; }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  std::string& key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    out_.append("\"").append(name).append("\":");
    return out_;
  }
  void text(std::string_view name, std::string_view value) { key(name) += json_text(value); }
  void number(std::string_view name, double value) { key(name) += json_number(value); }
  void integer(std::string_view name, std::int64_t value) { key(name) += std::to_string(value); }
  void count(std::string_view name, std::uint64_t value) { key(name) += std::to_string(value); }
  void truth(std::string_view name, bool value) { key(name) += value ? "true" : "false"; }

  // An array with what `put(out, item)` appends for each of them.
  template <class Items, class Put>
  void array(std::string_view name, const Items& items, Put put) {
    key(name) += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ',';
      first = false;
      put(out_, item);
    }
    out_ += ']';
  }
  void texts(std::string_view name, const std::vector<std::string>& values) {
    array(name, values, [](std::string& out, const std::string& value) { out += json_text(value); });
  }
  // [{"<name_key>":..., "value":...}]
  void values(std::string_view name, std::string_view name_key,
              const std::vector<std::pair<std::string, double>>& values) {
    array(name, values, [&](std::string& out, const auto& value) {
      Object object(out);
      object.text(name_key, value.first);
      object.number("value", value.second);
    });
  }

 private:
  std::string& out_;
  bool first_ = true;
};

void put_tensor(std::string& out, const CapturedTensor& tensor) {
  Object object(out);
  object.text("key", tensor.key);
  object.text("name", tensor.name);
  object.text("kind", tensor.kind_name.empty() ? to_string(tensor.kind) : std::string_view(tensor.kind_name));
  object.count("occurrence", tensor.occurrence);
  object.texts("inputs", tensor.inputs);
  object.text("dtype", to_string(tensor.dtype));
  object.key("shape") += json_shape(tensor.shape);
  object.count("count", tensor.count);
  object.count("nan", tensor.nan);
  object.count("positive_infinity", tensor.positive_infinity);
  object.count("negative_infinity", tensor.negative_infinity);
}

void put_step(std::string& out, const CapturedStep& step) {
  out += '\n';
  Object object(out);
  object.integer("step", step.step);
  object.truth("evaluation", step.evaluation);
  object.truth("complete", step.complete);
  object.number("wall_time", step.wall_time);
  object.text("file", step.file);
  object.values("scalars", "name", step.scalars);
  object.array("tensors", step.tensors, [](std::string& text, const CapturedTensor& tensor) {
    text += "\n ";
    put_tensor(text, tensor);
  });
}

void put_gap(std::string& out, const CaptureGap& gap) {
  Object object(out);
  object.text("what", gap.what);
  object.integer("first_step", gap.first_step);
  object.integer("last_step", gap.last_step);
  object.count("count", gap.count);
  object.text("reason", gap.reason);
}

void put_place(std::string& out, const Origin::Place& place) {
  Object object(out);
  object.text("key", place.key);
  object.text("kind", to_string(place.kind));
  object.integer("step", place.step);
  object.truth("evaluation", place.evaluation);
  object.count("count", place.count);
  object.count("nan", place.nan);
  object.count("infinite", place.infinite);
  object.texts("inputs", place.inputs);
  object.texts("unseen", place.unseen);
}

void put_origin(std::string& out, const Origin& origin) {
  Object object(out);
  object.truth("found", origin.found);
  object.array("producers", origin.producers, put_place);
  object.texts("propagators", origin.propagators);
  object.texts("caveats", origin.caveats);
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
  // A capture never names what is outside of its directory.
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

std::string encode(const CaptureInfo& capture, const Origin& origin) {
  std::string out;
  {
    Object object(out);
    object.count("version", kVersion);
    object.text("cause", kCauses[static_cast<std::size_t>(capture.cause) % kCauses.size()]);
    object.text("reason", capture.reason);
    object.text("when", capture.when);
    object.values("values", "expression", capture.values);
    object.integer("step", capture.step);
    object.number("wall_time", capture.wall_time);
    object.integer("before", capture.before);
    object.integer("after", capture.after);
    object.text("host", capture.host);
    object.count("pid", capture.pid);
    object.text("writer", capture.writer);
    object.array("steps", capture.steps, put_step);
    object.array("dropped", capture.dropped, put_gap);
    object.texts("allow_negative_infinity", capture.allow_negative_infinity);
    put_origin(object.key("origin"), origin);
  }
  return out + "\n";
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
