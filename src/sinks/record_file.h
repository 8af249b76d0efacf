// The file behind a sink: whole TFRecords, buffered. A failed write leaves the file unchanged; its records are kept and
// retried with the next flush, up to a limit, and then dropped and counted.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "sonde/status.h"

namespace sonde::sinks {

// Records that a file accepted but could not write.
struct LostRecords {
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::uint64_t count = 0;
  std::string detail;  // one sentence
};

// Counted over all files of a recorder; used by any thread.
struct Tally {
  std::atomic<std::uint64_t> bytes_written{0};
  std::atomic<std::uint64_t> write_errors{0};
  std::atomic<std::uint64_t> lost_records{0};
  std::atomic<std::uint64_t> out_of_memory{0};  // times that something could not be done, or only later

  // The statistics file takes them, and leaves a gap in the log; where there is no memory for that they are counted.
  void lose(LostRecords lost) noexcept;
  std::vector<LostRecords> take_lost();

 private:
  std::mutex mutex_;  // guards lost_
  std::vector<LostRecords> lost_;
};

class RecordFile {
 public:
  // Nothing is created before the first flush.
  RecordFile(std::string path, Tally& tally) : path_(std::move(path)), tally_(tally) {}

  // Append whole records here, then call appended() with the step that they belong to.
  std::string& buffer() noexcept { return buffer_; }
  Status appended(std::int64_t step, std::uint64_t records = 1) {
    first_step_ = records_ == 0 ? step : std::min(first_step_, step);
    last_step_ = records_ == 0 ? step : std::max(last_step_, step);
    records_ += records;
    if (failing_)
      return buffer_.size() < kKeepAtMost ? Status::success() : give_up("it could not be written for too long");
    return buffer_.size() < kWriteAt ? Status::success() : flush();
  }
  // Does `append`, which appends records and may throw where memory runs out: then no part of them stays, and what
  // later ones rely on is to be repeated.
  template <class Append>
  auto whole(Append&& append) {
    const std::size_t before = buffer_.size();
    try {
      return append();
    } catch (...) {
      take_back(before);
      throw;
    }
  }
  // Where memory runs out, what there is to write is kept, as where the disk refused it.
  Status flush() noexcept;
  Status close() noexcept;

  // Whether records that later ones depend on, such as the kind of a tag, must be written again: they were lost with
  // other records, or were written long ago, and a reader that finds the first one damaged needs another. True once
  // each time.
  bool must_repeat() noexcept;
  // Bytes in the file, and including those in the buffer.
  std::uint64_t written() const noexcept { return written_; }
  std::uint64_t end() const noexcept { return written_ + buffer_.size(); }
  // How often records were lost.
  std::uint64_t losses() const noexcept { return losses_; }

 private:
  void take_back(std::size_t size) noexcept;
  Status write();
  Status give_up(std::string_view why) noexcept;

  static constexpr std::size_t kWriteAt = std::size_t{256} << 10;
  static constexpr std::size_t kKeepAtMost = std::size_t{8} << 20;
  // Small files need a repetition as well, and large ones must not grow because of it.
  static constexpr std::uint64_t kRepeatFirst = std::uint64_t{64} << 10;
  static constexpr std::uint64_t kRepeatAtMost = std::uint64_t{4} << 20;

  std::string path_;
  Tally& tally_;
  std::optional<base::AppendFile> file_;
  std::string buffer_;
  std::uint64_t records_ = 0;  // in the buffer, of these steps
  std::int64_t first_step_ = 0;
  std::int64_t last_step_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t losses_ = 0;
  std::uint64_t known_losses_ = 0;  // seen by must_repeat
  std::uint64_t repeat_at_ = kRepeatFirst;
  bool taken_back_ = false;  // since the last must_repeat
  bool deleted_ = false;     // by somebody else; reported once
  bool failing_ = false;     // the last write failed; only flush tries again, not every record
};

}  // namespace sonde::sinks
