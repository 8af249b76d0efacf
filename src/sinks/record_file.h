// The file behind a sink: whole TFRecords, buffered. A write that fails leaves the file as it was before; what it
// should have written is kept and tried again with the next flush, up to a limit, and then dropped and counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "sonde/status.h"

namespace sonde::sinks {

// Counted over all files of a recorder; read by any thread.
struct Tally {
  std::atomic<std::uint64_t> bytes_written{0};
  std::atomic<std::uint64_t> write_errors{0};
  std::atomic<std::uint64_t> lost_records{0};
};

class RecordFile {
 public:
  // Nothing is created before the first flush.
  RecordFile(std::string path, Tally& tally) : path_(std::move(path)), tally_(tally) {}

  // Append whole records here, then call appended().
  std::string& buffer() noexcept { return buffer_; }
  Status appended(std::uint64_t records = 1) {
    records_ += records;
    if (failing_) return buffer_.size() < kKeepAtMost ? Status::success() : give_up();
    return buffer_.size() < kWriteAt ? Status::success() : flush();
  }
  Status flush();
  Status close();

 private:
  Status give_up();

  static constexpr std::size_t kWriteAt = std::size_t{256} << 10;
  static constexpr std::size_t kKeepAtMost = std::size_t{8} << 20;

  std::string path_;
  Tally& tally_;
  std::optional<AppendFile> file_;
  std::string buffer_;
  std::uint64_t records_ = 0;  // in the buffer
  bool deleted_ = false;       // by somebody else; told once
  bool failing_ = false;       // the last write failed; only flush tries again, not every record
};

}  // namespace sonde::sinks
