// What saving offers inside the library, besides sonde/tensor_io.h.
#pragma once

#include <string_view>
#include <vector>

#include "sonde/status.h"
#include "sonde/tensor_io.h"

namespace sonde::tensor_files {

// As save_safetensors, and on the disk when it returns: file and directory are synced. What is written aside is locked
// (base/file_lock.h) as long as somebody writes it.
Status save_synced(std::string_view path, const std::vector<NamedView>& tensors, const FileMetadata& metadata);

}  // namespace sonde::tensor_files
