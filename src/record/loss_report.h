// Reports losses of a recorder: one sentence with the count, at once for the first loss and then at most once per
// second. Remembers the first sentence for flush and close.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "sonde/status.h"

namespace sonde::record {

// Dropped because a buffer was full; all numbers only grow.
struct Dropped {
  std::uint64_t scalars = 0;
  std::uint64_t tensors = 0;
  std::uint64_t step_marks = 0;  // begins and ends of steps
};

// Safe from any thread. The handler is called without the lock.
class LossReport {
 public:
  using Tell = std::function<void(const Status&)>;

  // `told`: earlier drops, which are not reported.
  explicit LossReport(const Dropped& told = {}) noexcept : told_(told) {}

  // A file could not be written, and this many of its records are lost.
  void lost_records(std::uint64_t count, const Status& why) noexcept;
  // Reports what is due. `now` is monotonic, in ns.
  void tell_due(const Dropped& dropped, std::uint64_t now, const Tell& tell);
  // Reports everything not yet reported, for a flush, and returns the first loss since the last call of this.
  Status tell_rest(const Dropped& dropped, const Tell& tell);

 private:
  void tell(const Dropped& dropped, const std::uint64_t* now, const Tell& tell);
  Status sentence_of_drops(const Dropped& dropped) const;
  Status sentence_of_files() const;

  std::mutex mutex_;  // guards the following members
  Dropped told_;
  std::uint64_t drops_told_at_ = 0;  // ns; 0: never
  std::uint64_t lost_ = 0;           // records of files, not reported yet
  Status why_;                       // of the first of them; success: there are none
  std::uint64_t files_told_at_ = 0;  // ns; 0: never
  Status first_;                     // since the last flush
};

}  // namespace sonde::record
