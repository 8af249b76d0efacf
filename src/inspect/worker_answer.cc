#include "inspect/worker_answer.h"

#include <simdjson.h>

#include <utility>

namespace sonde::inspect {
namespace {

namespace dom = simdjson::dom;

// The first thing that is wrong is remembered, and everything that is read from then on is empty.
class Reader {
 public:
  Status status() const { return status_; }
  void wrong(std::string_view key) {
    if (status_) status_ = {Code::corrupt, std::string("'").append(key).append("' is missing or of a wrong type")};
  }

  template <class T>
  T get(dom::object where, std::string_view key) {
    T value{};
    if (status_ && where.at_key(key).get(value) != simdjson::SUCCESS) wrong(key);
    return value;
  }
  std::string text(dom::object where, std::string_view key) { return std::string(get<std::string_view>(where, key)); }
  // Empty, zero or null if there is no such key.
  template <class T>
  T optional(dom::object where, std::string_view key) {
    T value{};
    dom::element found;
    if (status_ && where.at_key(key).get(found) == simdjson::SUCCESS && !found.is_null() &&
        found.get(value) != simdjson::SUCCESS) {
      wrong(key);
    }
    return value;
  }
  std::string optional_text(dom::object where, std::string_view key) {
    return std::string(optional<std::string_view>(where, key));
  }
  template <class Read>
  void each(dom::object where, std::string_view key, Read read) {
    dom::element list;
    dom::array items;
    if (!status_ || where.at_key(key).get(list) != simdjson::SUCCESS) return;
    if (list.get(items) != simdjson::SUCCESS) return wrong(key);
    for (const dom::element item : items) {
      if (!status_) return;
      read(item);
    }
  }
  template <class T>
  T item(dom::element element, std::string_view key) {
    T value{};
    if (element.get(value) != simdjson::SUCCESS) wrong(key);
    return value;
  }

  Value value(dom::object from) {
    Value value;
    if (!status_) return value;
    value.name = text(from, "name");
    value.type = text(from, "type");
    for (int i = 0; i < kDTypeCount; ++i) {
      if (to_string(static_cast<DType>(i)) == value.type) value.dtype = static_cast<DType>(i);
    }
    dom::element shape;
    if (from.at_key("shape").get(shape) != simdjson::SUCCESS) wrong("shape");
    if (status_ && !shape.is_null()) {
      value.shape.emplace();
      each(from, "shape", [&](dom::element size) { value.shape->push_back(item<std::int64_t>(size, "shape")); });
      if (!value.shape->valid()) value.shape.reset();
    }
    return value;
  }

  Layer layer(dom::object from, std::int64_t index) {
    Layer layer;
    layer.index = index;
    layer.value = value(from);
    if (!status_) return layer;
    layer.node = optional_text(from, "node");
    layer.op = text(from, "op");
    layer.parameters = optional<std::int64_t>(from, "parameters");
    layer.scope = optional_text(from, "scope");
    each(from, "inputs", [&](dom::element name) { layer.inputs.emplace_back(item<std::string_view>(name, "inputs")); });
    dom::object quantization;
    if (from.at_key("quantization").get(quantization) == simdjson::SUCCESS) {
      Quantization& kept = layer.quantization.emplace();
      each(quantization, "scales", [&](dom::element scale) { kept.scales.push_back(item<double>(scale, "scales")); });
      each(quantization, "zero_points",
           [&](dom::element zero) { kept.zero_points.push_back(item<std::int64_t>(zero, "zero_points")); });
      kept.axis = static_cast<int>(get<std::int64_t>(quantization, "axis"));
    }
    return layer;
  }

  Description description(dom::object from) {
    Description description;
    description.format = text(from, "format");
    each(from, "inputs", [&](dom::element each) { description.inputs.push_back(value(object(each))); });
    each(from, "outputs", [&](dom::element each) { description.outputs.push_back(value(object(each))); });
    each(from, "layers", [&](dom::element each) {
      description.layers.push_back(layer(object(each), static_cast<std::int64_t>(description.layers.size())));
    });
    return description;
  }

  dom::object object(dom::element element) {
    dom::object found;
    if (element.get(found) != simdjson::SUCCESS) wrong("object");
    return found;
  }

  void done(dom::object from, WorkerAnswer& answer) {
    answer.kind = WorkerAnswer::Kind::done;
    dom::object part;
    if (from.at_key("info").get(part) == simdjson::SUCCESS) {
      answer.model = get<std::int64_t>(from, "model");
      answer.info.name = text(part, "name");
      answer.info.version = text(part, "version");
      answer.info.precision = text(part, "precision");
      answer.info.settings = text(part, "settings");
    }
    if (from.at_key("description").get(part) == simdjson::SUCCESS) answer.description = description(part);
    each(from, "times", [&](dom::element time) {
      const dom::object fields = object(time);
      if (!status_) return;
      answer.times.push_back({optional_text(fields, "layer"), optional_text(fields, "node"), text(fields, "name"),
                              get<std::int64_t>(fields, "nanoseconds")});
    });
  }

  void error(dom::object from, WorkerAnswer& answer) {
    answer.kind = WorkerAnswer::Kind::error;
    const std::string name = text(from, "code");
    Code code = Code::invalid_argument;
    for (int i = 1; i <= static_cast<int>(Code::exhausted); ++i) {
      if (to_string(static_cast<Code>(i)) == name) code = static_cast<Code>(i);
    }
    answer.error = {code, text(from, "message")};
  }

  WorkerAnswer answer(dom::object line) {
    using Kind = WorkerAnswer::Kind;
    WorkerAnswer answer;
    answer.bytes = optional<std::uint64_t>(line, "bytes");
    answer.missing = optional_text(line, "missing");
    dom::object part;
    if (line.at_key("done").get(part) == simdjson::SUCCESS) {
      done(part, answer);
    } else if (line.at_key("error").get(part) == simdjson::SUCCESS) {
      error(part, answer);
    } else if (line.at_key("layer").error() == simdjson::SUCCESS) {
      answer.kind = Kind::layer;
      answer.place = get<std::int64_t>(line, "layer");
    } else if (line.at_key("result").error() == simdjson::SUCCESS) {
      answer.kind = Kind::result;
      answer.name = text(line, "result");
    } else {
      answer.kind = Kind::hello;
      answer.protocol = get<std::int64_t>(line, "hello");
      answer.package = text(line, "sonde");
      answer.interpreter = text(line, "interpreter");
    }
    return answer;
  }

 private:
  Status status_;
};

}  // namespace

Result<WorkerAnswer> parse_worker_answer(std::string_view line) {
  dom::parser parser;
  dom::element document;
  dom::object object;
  if (parser.parse(simdjson::padded_string(line)).get(document) != simdjson::SUCCESS ||
      document.get(object) != simdjson::SUCCESS) {
    return Status(Code::corrupt, "it is not JSON: '" + std::string(line.substr(0, 80)) + "'");
  }
  Reader reader;
  WorkerAnswer answer = reader.answer(object);
  if (!reader.status()) return reader.status();
  return answer;
}

}  // namespace sonde::inspect
