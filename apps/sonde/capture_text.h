// Text about a capture and its files.
#pragma once

#include <cstdint>
#include <string>

#include "sonde/capture.h"

namespace sonde::cli {

struct CaptureFiles {
  std::uint64_t bytes = 0;
  std::string problem;  // a sentence about files that are missing or damaged; empty if there are none
};
// Reads only the headers of the tensor files: they must match capture.json, also in length.
CaptureFiles files_of(const Capture& capture);

// Some indented lines: what made it, what it holds, what it lacks, and where the first non-finite values came from.
std::string capture_text(const Capture& capture, const CaptureFiles& files, bool color);

}  // namespace sonde::cli
