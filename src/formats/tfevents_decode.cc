#include "formats/tfevents_decode.h"

#include <string>

#include "formats/wire_reader.h"

namespace sonde::tfevents {
namespace {

using wire::get_bytes;
using wire::get_text;
using wire::integer;
using wire::number32;
using wire::number64;
using wire::pbf_reader;
using wire::reader_of;
using wire::text;

void decode_shape(base::Bytes message, Shape& shape) {
  shape = {};
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(2): {
        std::int64_t size = 0;
        for (pbf_reader dim = reader_of(get_bytes(reader)); dim.next();) {
          if (dim.tag_and_type() == integer(1)) {
            size = dim.get_int64();
          } else {
            dim.skip();
          }
        }
        shape.push_back(size);
        break;
      }
      case integer(3):  // unknown_rank: no shape at all
        if (reader.get_bool()) shape = Shape(std::vector<std::int64_t>(kMaxRank + 1));
        break;
      default: reader.skip();
    }
  }
}

void decode_tensor(base::Bytes message, Tensor& tensor) {
  tensor.message = message;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case integer(1): tensor.tf_dtype = reader.get_int32(); break;
      case text(2): decode_shape(get_bytes(reader), tensor.shape); break;
      case text(4): tensor.content = get_bytes(reader); break;
      default: reader.skip();
    }
  }
}

DataClass data_class_of(std::int32_t number) noexcept {
  return number >= 1 && number <= 3 ? static_cast<DataClass>(number) : DataClass::unknown;
}

Metadata decode_metadata(base::Bytes message) {
  Metadata metadata;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1):
        for (pbf_reader plugin = reader_of(get_bytes(reader)); plugin.next();) {
          switch (plugin.tag_and_type()) {
            case text(1): metadata.plugin_name = get_text(plugin); break;
            case text(2): metadata.plugin_content = get_bytes(plugin); break;
            default: plugin.skip();
          }
        }
        break;
      case text(2): metadata.display_name = get_text(reader); break;
      case text(3): metadata.description = get_text(reader); break;
      case integer(4): metadata.data_class = data_class_of(reader.get_int32()); break;
      default: reader.skip();
    }
  }
  return metadata;
}

void decode_value(base::Bytes message, Value& value) {
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): value.tag = get_text(reader); break;
      case number32(2):
        value.simple_value = reader.get_float();
        value.form = Value::Form::simple_value;
        break;
      case text(4):
        value.message = get_bytes(reader);
        value.form = Value::Form::image;
        break;
      case text(5):
        value.message = get_bytes(reader);
        value.form = Value::Form::histo;
        break;
      case text(6):
        value.message = get_bytes(reader);
        value.form = Value::Form::audio;
        break;
      case text(7): value.node_name = get_text(reader); break;
      case text(8):
        decode_tensor(get_bytes(reader), value.tensor);
        value.form = Value::Form::tensor;
        break;
      case text(9):
        value.metadata = decode_metadata(get_bytes(reader));
        value.has_metadata = true;
        break;
      default: reader.skip();
    }
  }
}

void decode_summary(base::Bytes message, std::vector<Value>& values) {
  for (pbf_reader reader = reader_of(message); reader.next();) {
    if (reader.tag_and_type() == text(1)) {
      decode_value(get_bytes(reader), values.emplace_back());
    } else {
      reader.skip();
    }
  }
}

// LogMessage, SessionLog, TaggedRunMetadata and SourceMetadata, which differ only in which field goes where.
struct Places {
  std::int64_t* number = nullptr;  // field 1, if it is a number
  std::string_view* first = nullptr;
  std::string_view* second = nullptr;
  std::string_view* third = nullptr;
  base::Bytes* second_bytes = nullptr;
};
void decode_small(base::Bytes message, const Places& to) {
  for (pbf_reader reader = reader_of(message); reader.next();) {
    const std::uint32_t key = reader.tag_and_type();
    if (key == integer(1) && to.number != nullptr) {
      *to.number = reader.get_int64();
    } else if (key == text(1) && to.first != nullptr) {
      *to.first = get_text(reader);
    } else if (key == text(2) && to.second != nullptr) {
      *to.second = get_text(reader);
    } else if (key == text(2) && to.second_bytes != nullptr) {
      *to.second_bytes = get_bytes(reader);
    } else if (key == text(3) && to.third != nullptr) {
      *to.third = get_text(reader);
    } else {
      reader.skip();
    }
  }
}

void decode_fields(base::Bytes payload, Event& event) {
  for (pbf_reader reader = reader_of(payload); reader.next();) {
    switch (reader.tag_and_type()) {
      case number64(1): event.wall_time = reader.get_double(); break;
      case integer(2): event.step = reader.get_int64(); break;
      case text(3):
        event.what = Event::What::file_version;
        event.text = get_text(reader);
        break;
      case text(4):
        event.what = Event::What::graph_def;
        event.bytes = get_bytes(reader);
        break;
      case text(5):
        event.what = Event::What::summary;
        decode_summary(get_bytes(reader), event.values);
        break;
      case text(6):
        event.what = Event::What::log_message;
        decode_small(get_bytes(reader), {.number = &event.number, .second = &event.text});
        break;
      case text(7):
        event.what = Event::What::session_log;
        decode_small(get_bytes(reader),
                     {.number = &event.number, .second = &event.checkpoint_path, .third = &event.text});
        break;
      case text(8):
        event.what = Event::What::tagged_run_metadata;
        decode_small(get_bytes(reader), {.first = &event.text, .second_bytes = &event.bytes});
        break;
      case text(9):
        event.what = Event::What::meta_graph_def;
        event.bytes = get_bytes(reader);
        break;
      case text(10): decode_small(get_bytes(reader), {.first = &event.source_writer}); break;
      default: reader.skip();
    }
  }
}

void clear(Event& event) noexcept {
  std::vector<Value> values = std::move(event.values);
  values.clear();
  event = Event{};
  event.values = std::move(values);
}

}  // namespace

std::string_view Value::plugin_name() const noexcept {
  if (has_metadata && !metadata.plugin_name.empty()) return metadata.plugin_name;
  switch (form) {
    case Form::simple_value: return "scalars";
    case Form::image: return "images";
    case Form::histo: return "histograms";
    case Form::audio: return "audio";
    case Form::none:
    case Form::tensor: return {};
  }
  return {};
}

Status decode_event(base::Bytes payload, Event& event) {
  clear(event);
  try {
    decode_fields(payload, event);
  } catch (const protozero::exception& error) {
    clear(event);
    return {Code::corrupt, std::string("the event is not well-formed protobuf: ") + error.what()};
  }
  return {};
}

Result<Event> decode_event(base::Bytes payload) {
  Event event;
  if (Status status = decode_event(payload, event); !status) return status;
  return event;
}

}  // namespace sonde::tfevents
