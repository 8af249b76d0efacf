// Where a run's flight rings are that lie in another directory: RUN/flight-<writer>.elsewhere, one absolute path a
// line. The next start of the job finds them by it, whatever its policy says then.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/status.h"

namespace sonde::tensor_files {

// Whether a file in a run's directory is such a one.
bool names_external_rings(std::string_view file_name) noexcept;

// All that this writer has had; without any the file is removed.
Status note_external_rings(const std::string& run_directory, const std::string& writer,
                           std::span<const std::string> rings);

// Those that are there, of all writers. Only files of this user count. One that names nothing but rings of this machine
// that are gone is removed.
std::vector<std::string> external_rings(const std::string& run_directory);

}  // namespace sonde::tensor_files
