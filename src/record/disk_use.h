// What a run takes of the disk.
#pragma once

#include <cstdint>
#include <string>

namespace sonde::record {

// The bytes of all files below a directory, without following links. Flight rings do not count: they come and go with
// their process. What cannot be read counts nothing.
std::uint64_t bytes_below(const std::string& path, int depth = 0);

}  // namespace sonde::record
