// Files below one directory, for paths that somebody else has written.
#pragma once

#include <cstddef>
#include <string>

#include "sonde/status.h"

namespace sonde::base {

// The content of a file below `directory`, at most `most` bytes; `path` is relative to it, or absolute.
// Code::unsupported if the path leads out of the directory, by dots, links or as it is.
Result<std::string> read_inside(const std::string& directory, const std::string& path, std::size_t most);

}  // namespace sonde::base
