#include "formats/hparams.h"

#include <map>

#include "formats/wire_reader.h"

namespace sonde::hparams {
namespace {

using wire::pbf_reader;

Value value_of(pbf_reader from) {
  Value value;
  while (from.next()) {
    switch (from.tag_and_type()) {
      case wire::number64(2): value = from.get_double(); break;
      case wire::text(3): value = from.get_string(); break;
      case wire::integer(4): value = from.get_bool(); break;
      default: from.skip();
    }
  }
  return value;
}

void add_hparam(pbf_reader entry, std::map<std::string, Value>& values) {
  std::string name;
  Value value;
  while (entry.next()) {
    switch (entry.tag_and_type()) {
      case wire::text(1): name = entry.get_string(); break;
      case wire::text(2): value = value_of(entry.get_message()); break;
      default: entry.skip();
    }
  }
  values.insert_or_assign(std::move(name), std::move(value));
}

SessionStart start_of(pbf_reader from) {
  SessionStart start;
  std::map<std::string, Value> values;  // of a name that exists twice the last value counts
  while (from.next()) {
    switch (from.tag_and_type()) {
      case wire::text(1): add_hparam(from.get_message(), values); break;
      case wire::text(4): start.group = from.get_string(); break;
      case wire::number64(5): start.start_time = from.get_double(); break;
      default: from.skip();
    }
  }
  start.hparams.assign(values.begin(), values.end());
  return start;
}

// The first field of that number that is a text.
std::string text_in(pbf_reader from, std::uint32_t field) {
  return from.next(field, wire::pbf_wire_type::length_delimited) ? from.get_string() : std::string();
}

Experiment experiment_of(pbf_reader from) {
  Experiment experiment;
  while (from.next()) {
    switch (from.tag_and_type()) {
      case wire::text(1): experiment.description = from.get_string(); break;
      case wire::text(4): experiment.hparams.push_back(text_in(from.get_message(), 1)); break;
      case wire::text(5): {
        pbf_reader info = from.get_message();
        if (info.next(1, wire::pbf_wire_type::length_delimited)) {
          experiment.metrics.push_back(text_in(info.get_message(), 2));
        }
        break;
      }
      default: from.skip();
    }
  }
  return experiment;
}

SessionEnd end_of(pbf_reader from) {
  SessionEnd end;
  while (from.next()) {
    switch (from.tag_and_type()) {
      case wire::integer(1): end.status = from.get_int64(); break;
      case wire::number64(2): end.end_time = from.get_double(); break;
      default: from.skip();
    }
  }
  return end;
}

}  // namespace

void put_value(formats::JsonWriter& json, const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    json.number(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    json.text(*text);
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    json.truth(*truth);
  } else {
    json.null();
  }
}

std::string_view status_text(std::int64_t status) noexcept {
  switch (status) {
    case 1: return "success";
    case 2: return "failure";
    case 3: return "running";
    default: return "unknown";
  }
}

Result<Content> decode(std::string_view plugin_content) {
  Content content;
  try {
    pbf_reader from = wire::reader_of(plugin_content);
    while (from.next()) {
      switch (from.tag_and_type()) {
        case wire::text(2): content.experiment = experiment_of(from.get_message()); break;
        case wire::text(3): content.start = start_of(from.get_message()); break;
        case wire::text(4): content.end = end_of(from.get_message()); break;
        default: from.skip();
      }
    }
  } catch (const protozero::exception&) {
    return Status(Code::corrupt, "the hyper-parameters are not a valid message");
  }
  return content;
}

}  // namespace sonde::hparams
