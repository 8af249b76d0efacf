// The places of a run's flight rings in other directories: RUN/flight-<writer>.elsewhere, one absolute path per line.
// The next start of the job finds them through this file, whatever its policy is then.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sonde/status.h"

namespace sonde::tensor_files {

// All rings that this writer has had; if there are none the file is removed.
Status note_external_rings(const std::string& run_directory, const std::string& writer,
                           std::span<const std::string> rings);

// The existing ones, of all writers. Only files of this user count. A file that names only rings of this machine that
// no longer exist is removed.
std::vector<std::string> external_rings(const std::string& run_directory);

}  // namespace sonde::tensor_files
