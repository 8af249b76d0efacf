// A capture for people, and what its files are.
#pragma once

#include <cstdint>
#include <string>

#include "sonde/capture.h"

namespace sonde::cli {

struct CaptureFiles {
  std::uint64_t bytes = 0;
  std::string problem;  // a sentence about files that are missing or damaged; empty where all are sound
};
// Of the files with tensors only the heads are read: they must hold what capture.json says, and be as long as that.
CaptureFiles files_of(const Capture& capture);

// Some lines, indented: what made it, what it holds, what it lacks, and where the first non-finite values came from.
std::string capture_text(const Capture& capture, const CaptureFiles& files, bool color);

}  // namespace sonde::cli
