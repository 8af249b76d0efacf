// A capture for people, and what its files are.
#pragma once

#include <cstdint>
#include <string>

#include "sonde/capture.h"

namespace sonde::cli {

struct CaptureFiles {
  std::uint64_t bytes = 0;
  std::string missing;  // a sentence about files that should be there; empty where all are
};
CaptureFiles files_of(const Capture& capture);

// Some lines, indented: what made it, what it holds, what it lacks, and where the first non-finite values came from.
std::string capture_text(const Capture& capture, const CaptureFiles& files, bool color);

}  // namespace sonde::cli
