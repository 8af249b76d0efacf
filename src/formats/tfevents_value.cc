#include "formats/tfevents_value.h"

#include "formats/tf_dtype.h"
#include "formats/wire.h"

namespace sonde::tfevents {
namespace {

// TensorProto's dtype and tensor_shape, in front of the values.
std::string tensor_head(int tf_dtype, std::span<const std::int64_t> dims) {
  std::string head;
  wire::put_integer(head, 1, tf_dtype);
  wire::put_bytes(head, 2, encode_shape(dims));
  return head;
}

// Everything of a value up to its tensor's values, which are `values` bytes long.
void put_value_head(std::string& summary, std::string_view tag, std::string_view head, std::size_t values,
                    std::string_view metadata) {
  const std::size_t tensor = head.size() + values;
  const std::size_t value = wire::bytes_field_size(tag.size()) + wire::bytes_field_size(tensor) +
                            (metadata.empty() ? 0 : wire::bytes_field_size(metadata.size()));
  summary.reserve(summary.size() + wire::bytes_field_size(value));
  wire::put_bytes_header(summary, 1, value);
  wire::put_bytes(summary, 1, tag);
  wire::put_bytes_header(summary, 8, tensor);
  summary += head;
}

}  // namespace

std::string encode_metadata(std::string_view plugin_name, std::string_view plugin_content, DataClass data_class) {
  std::string plugin;
  wire::put_bytes_unless_empty(plugin, 1, plugin_name);
  wire::put_bytes_unless_empty(plugin, 2, plugin_content);
  std::string metadata;
  wire::put_bytes(metadata, 1, plugin);
  wire::put_integer_unless_zero(metadata, 4, static_cast<std::int64_t>(data_class));
  return metadata;
}

std::string encode_shape(std::span<const std::int64_t> dims) {
  std::string shape;
  for (const std::int64_t size : dims) {
    std::string dim;
    wire::put_integer_unless_zero(dim, 1, size);
    wire::put_bytes(shape, 2, dim);
  }
  return shape;
}

void put_value(std::string& summary, std::string_view tag, int tf_dtype, std::span<const std::int64_t> dims,
               std::string_view content, std::string_view metadata) {
  const std::size_t values = content.empty() ? 0 : wire::bytes_field_size(content.size());
  put_value_head(summary, tag, tensor_head(tf_dtype, dims), values, metadata);
  wire::put_bytes_unless_empty(summary, 4, content);
  wire::put_bytes_unless_empty(summary, 9, metadata);
}

void put_value(std::string& summary, std::string_view tag, std::span<const std::int64_t> dims,
               std::span<const std::string_view> strings, std::string_view metadata) {
  std::size_t values = 0;
  for (const std::string_view text : strings) values += wire::bytes_field_size(text.size());
  put_value_head(summary, tag, tensor_head(formats::kTfString, dims), values, metadata);
  for (const std::string_view text : strings) wire::put_bytes(summary, 8, text);
  wire::put_bytes_unless_empty(summary, 9, metadata);
}

}  // namespace sonde::tfevents
