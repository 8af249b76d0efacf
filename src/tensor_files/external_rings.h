// Where a run's flight rings are that lie in another directory: RUN/flight-<writer>.elsewhere, one absolute path a
// line. The next start of the job finds them by it, whatever its policy says then.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sonde/status.h"

namespace sonde::tensor_files {

// All that this writer has had; without any the file is removed.
Status note_external_rings(const std::string& run_directory, const std::string& writer,
                           std::span<const std::string> rings);

// Those that are there, of all writers. Only files of this user count. One that names nothing but rings of this machine
// that are gone is removed.
std::vector<std::string> external_rings(const std::string& run_directory);

}  // namespace sonde::tensor_files
