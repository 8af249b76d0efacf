// Messages that several of TensorFlow's protobufs share. Include it only in sources. The functions throw
// protozero::exception if the bytes are not well-formed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/wire_reader.h"

namespace sonde::wire {

// An entry of a map from texts to texts or messages.
inline std::pair<std::string_view, std::string_view> decode_entry(std::string_view message) {
  std::pair<std::string_view, std::string_view> entry;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): entry.first = get_text(reader); break;
      case text(2): entry.second = get_text(reader); break;
      default: reader.skip();
    }
  }
  return entry;
}

inline std::int64_t decode_dimension(std::string_view message) {
  std::int64_t size = 0;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    if (reader.tag_and_type() == integer(1)) {
      size = reader.get_int64();
    } else {
      reader.skip();
    }
  }
  return size;
}

// TensorShapeProto: none for an unknown rank, -1 for an unknown size.
inline std::optional<std::vector<std::int64_t>> decode_shape(std::string_view message) {
  std::vector<std::int64_t> shape;
  bool unknown = false;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(2): shape.push_back(std::max<std::int64_t>(decode_dimension(get_text(reader)), -1)); break;
      case integer(3): unknown = reader.get_bool(); break;
      default: reader.skip();
    }
  }
  if (unknown) return std::nullopt;
  return shape;
}

}  // namespace sonde::wire
