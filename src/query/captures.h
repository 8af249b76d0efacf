// The captures of a run, as far as the page tells of them. Nothing outside of the log is read where that is not
// allowed.
#pragma once

#include <string>
#include <vector>

#include "sonde/capture.h"
#include "sonde/log.h"

namespace sonde::query {

// Their directories, by number.
std::vector<std::string> captures_of(const Run& run);
Result<CaptureInfo> read_capture(const Run& run, const std::string& directory);

}  // namespace sonde::query
