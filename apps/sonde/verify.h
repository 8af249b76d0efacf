// Verifies the files of a log directory byte by byte: every checksum, every payload.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/input_file.h"
#include "sonde/status.h"

namespace sonde::cli {

enum class RecordKind : std::uint8_t {
  none,  // not a file of records
  events,
  statistics,
};
RecordKind record_kind(const std::string& file_name);

struct TreeFile {
  std::string path;
  std::string relative;  // to the directory
  RecordKind kind = RecordKind::none;
  std::uint64_t size = 0;
};
struct Tree {
  std::vector<TreeFile> files;        // by path
  std::vector<std::string> problems;  // directories that cannot be read, one sentence each
  std::vector<std::string> others;    // paths that are neither files nor directories
};
// All files below a directory. Links are followed, but not in circles.
Result<Tree> walk(const std::string& directory);

// A part of a file that belongs to no intact record.
struct DamagedPart {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string reason;       // half a sentence
  bool unfinished = false;  // the last record, cut off by the end of the file: it may still be being written
};

struct Verdict {
  std::uint64_t size = 0;     // bytes looked at: what the file had when it was opened
  std::uint64_t records = 0;  // valid ones
  std::uint64_t newer = 0;    // of these, statistics of a version that is not known here
  std::vector<DamagedPart> damage;
};
// `progress` is told how many bytes have been seen, now and then. Fails if the file cannot be read.
Result<Verdict> verify(const base::InputFile& file, RecordKind kind,
                       const std::function<void(std::uint64_t)>& progress);

}  // namespace sonde::cli
