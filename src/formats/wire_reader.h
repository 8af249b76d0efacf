// Reading protobuf's wire format with protozero: helpers for all decoders. Include it only in sources. Values point
// into the message that they were read from.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string_view>

#include "base/bytes.h"

namespace sonde::wire {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// A field number with its wire type, for `switch (reader.tag_and_type())`. The same number with another type is an
// unknown field: asking protozero for a value of the wrong type would be undefined.
constexpr std::uint32_t text(std::uint32_t field) noexcept {
  return protozero::tag_and_type(field, pbf_wire_type::length_delimited);
}
constexpr std::uint32_t integer(std::uint32_t field) noexcept {
  return protozero::tag_and_type(field, pbf_wire_type::varint);
}
constexpr std::uint32_t number64(std::uint32_t field) noexcept {
  return protozero::tag_and_type(field, pbf_wire_type::fixed64);
}
constexpr std::uint32_t number32(std::uint32_t field) noexcept {
  return protozero::tag_and_type(field, pbf_wire_type::fixed32);
}

inline pbf_reader reader_of(std::string_view message) { return {message.data(), message.size()}; }
inline pbf_reader reader_of(base::Bytes message) { return reader_of(base::as_text(message)); }
inline std::string_view get_text(pbf_reader& reader) {
  const protozero::data_view view = reader.get_view();
  return {view.data(), view.size()};
}
inline base::Bytes get_bytes(pbf_reader& reader) { return base::as_bytes(get_text(reader)); }

}  // namespace sonde::wire
