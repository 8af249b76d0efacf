// Shared by the writers of single values: a Summary.Value with a tensor, and its metadata.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "formats/tfevents.h"

namespace sonde::tfevents {

// A whole SummaryMetadata.
std::string encode_metadata(std::string_view plugin_name, std::string_view plugin_content, DataClass data_class);

// A whole TensorShapeProto.
std::string encode_shape(std::span<const std::int64_t> dims);

// Appends a value whose tensor holds `content`, dense and row-major. No metadata if `metadata` is empty.
void put_value(std::string& summary, std::string_view tag, int tf_dtype, std::span<const std::int64_t> dims,
               std::string_view content, std::string_view metadata);
// Appends a value whose tensor holds strings.
void put_value(std::string& summary, std::string_view tag, std::span<const std::int64_t> dims,
               std::span<const std::string_view> strings, std::string_view metadata);

}  // namespace sonde::tfevents
