// Internal saving functions, besides sonde/tensor_io.h.
#pragma once

#include <string_view>
#include <vector>

#include "sonde/status.h"
#include "sonde/tensor_io.h"

namespace sonde::tensor_files {

// Like save_safetensors, and on the disk when it returns: file and directory are synced. The temporary file is locked
// (base/file_lock.h) while it is being written.
Status save_synced(std::string_view path, const std::vector<NamedView>& tensors, const FileMetadata& metadata);

}  // namespace sonde::tensor_files
