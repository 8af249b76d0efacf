// Memory for tensors in flight to the backend, within a recorder's budget.
//
// Blocks are kept and reused, the last returned first, so that a recorder in steady state copies into warm memory and
// allocates nothing. New blocks are populated at once before the copy. The budget covers blocks in use and kept ones
// together.
//
// Payloads that the backend has finished go onto a list, which a recording thread takes as a whole at its next call.
// Fetching a cache line that the other side has written or read takes as long as the rest of a call: so the pool's part
// of a payload is separate from what the backend reads (except for drop_oldest, which both need), and the list is
// touched only if it is not empty.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "record/message.h"
#include "sonde/options.h"
#include "sonde/summaries.h"
#include "sonde/tensor.h"

namespace sonde::policy {
struct Plan;
}  // namespace sonde::policy
namespace sonde::stats {
struct Computed;
}  // namespace sonde::stats

namespace sonde::record {

class Pool;
struct ProbeEntry;

// Returns a payload to its pool, with those that it holds. Any thread.
struct ReleasePayload {
  void operator()(Payload* payload) const noexcept;
};
using PayloadPtr = std::unique_ptr<Payload, ReleasePayload>;

// A block of memory from a Pool.
struct Block {
  std::byte* data = nullptr;
  std::size_t size = 0;
};

// The work to do with a payload.
struct HistogramJob {
  std::uint32_t tag = 0;
};
struct ImageJob {
  std::uint32_t tag = 0;
  Layout layout = Layout::NHWC;
  ImageOptions options;
};
struct AudioJob {
  std::uint32_t tag = 0;
  AudioOptions options;
};
struct PrintJob {
  std::string name;
  bool full = false;
};
struct ProbeJob {
  const ProbeEntry* probe = nullptr;
  const policy::Plan* plan = nullptr;  // as it was when the tensor was recorded
  std::uint64_t due = 0;               // parts of the plan: policy::Parts
  bool evaluation = false;
  bool lost = false;  // the tensor did not fit
  std::uint32_t pass = 0;
  std::shared_ptr<const stats::Computed> computed = {};  // instead of the tensor, whose view then has no data
};
struct TextJob {
  std::uint32_t tag = 0;
  std::string text;
};
struct GroupScalar {
  std::uint32_t tag = 0;
  double value = 0;
};
// Summary values, a graph or a whole event that the caller encoded, since they are rare.
struct EncodedJob {
  enum class Content : std::uint8_t { summary, hparams, graph, event } content = Content::summary;
  std::string bytes;
  std::vector<GroupScalar> scalars = {};  // in an event
};
struct GroupJob {
  std::vector<std::variant<GroupScalar, PayloadPtr, EncodedJob>> items;
  std::optional<double> wall_time = {};  // in place of the time of the call
};
struct TableJob {
  std::string name;
  std::vector<std::pair<std::string, PayloadPtr>> columns;
  bool print = false;
};
// A column of a table: a tensor that belongs to another payload.
struct ColumnJob {};
struct TriggerJob {
  std::string reason;
  std::int64_t before = 0;
  std::int64_t after = 0;
};
using Job = std::variant<std::monostate, HistogramJob, ImageJob, AudioJob, PrintJob, ProbeJob, TextJob, EncodedJob,
                         GroupJob, TableJob, ColumnJob, TriggerJob>;

// The backend's part of a payload.
struct Payload {
  Pool* pool = nullptr;
  struct Holding* holding = nullptr;  // the pool's
  Job job;
  TensorView view;                 // of the block, or of what the owner keeps
  std::vector<std::int64_t> rows;  // their numbers in the caller's tensor; empty: the first ones
};

// The pool's part of a payload.
struct Holding {
  std::shared_ptr<const void> owner;  // set if the tensor is shared and not copied
  Block block;
  std::size_t lent = 0;  // guarded by the pool: bytes of a shared tensor that count against the budget
  bool waiting = false;  // guarded by the pool: in the queue, where drop_oldest may take the block
  bool dropped = false;  // guarded by the pool: a newer payload got its block
  alignas(64) Payload payload;
};

// The owners of shared tensors, on their way to be released.
using Owners = std::vector<std::shared_ptr<const void>>;
using ReleaseOwners = std::function<void(Owners&&)>;

// Outlives its payloads. Owners are released in reclaim() and release_orphans(), on the calling thread, and nowhere
// else: owners that are left when a pool is destroyed become orphans, which any later call may release.
class Pool {
 public:
  Pool(std::size_t budget, Overflow overflow, std::chrono::milliseconds max_wait, ReleaseOwners release_owners = {});
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // A payload with a block of at least `bytes` (none for 0), or null if the overflow policy says so. May wait.
  // `shared`: for a tensor of this size that is not copied; it has no block, but counts until it is returned. A shared
  // tensor larger than the budget is accepted if no other shared one is in flight.
  PayloadPtr acquire(std::size_t bytes, bool shared = false);
  // From now on it is in the queue, and drop_oldest may take its block.
  void enqueue(const Payload& payload);
  // The backend is about to read it. False if it was dropped.
  bool take(const Payload& payload);
  // Since the last call a payload took memory that made it more than half of the budget: the backend should look at
  // once, before calls have to wait or tensors are dropped.
  bool take_pressure() noexcept {
    return pressure_.load(std::memory_order_relaxed) && pressure_.exchange(false, std::memory_order_relaxed);
  }
  // Makes returned payloads free again. Releases owners.
  void reclaim() noexcept;
  // The calling thread, the backend, never releases an owner, even if its error handler records something.
  static void leave_owners_to_others() noexcept;

  // Releases the orphaned owners, unless this thread must not release any.
  static void release_orphans() noexcept;
  // In a forked child: orphans belong to the parent.
  static void forget_orphans() noexcept;

  std::size_t allocated() const;
  std::size_t lent() const;
  // Memory in use beyond a smaller budget stays until it is returned.
  void set_budget(std::size_t budget);
  void lock_for_fork();
  void unlock_after_fork();

 private:
  friend struct ReleasePayload;
  static void release(Payload* payload) noexcept;
  std::vector<Holding*> collect() noexcept;
  void end_owners(std::vector<Holding*>& holdings) noexcept;
  Holding* new_holding() noexcept;
  bool find_room(std::size_t bytes, bool shared, Block& block);
  bool reuse_block(std::size_t size, Block& block);
  bool find_block(std::size_t bytes, Block& block);
  bool wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t bytes, bool shared, Block& block);
  bool drop_oldest_waiting();
  void leave_queue(Holding& holding);
  void free_unused(std::size_t needed);
  void note_pressure() noexcept;
  void free_block(const Block& block) noexcept;

  const Overflow overflow_;
  const std::chrono::milliseconds max_wait_;
  const ReleaseOwners release_owners_;
  std::atomic<int> waiters_{0};  // threads that wait for a block
  std::atomic<bool> any_returned_{false};
  std::atomic<bool> pressure_{false};      // see take_pressure
  alignas(64) std::mutex returned_mutex_;  // guards the next member; may be taken under the other
  std::vector<Holding*> returned_;
  alignas(64) mutable std::mutex mutex_;  // guards the following members
  std::size_t budget_;
  std::condition_variable some_returned_;
  std::size_t allocated_ = 0;
  std::size_t lent_ = 0;  // bytes of shared tensors in flight
  std::size_t holdings_ =
      0;                    // existing holdings; returning them needs no memory, since the lists have capacity for all
  std::size_t blocks_ = 0;  // existing blocks, in the same way
  std::vector<Block> unused_;     // last returned at the end
  std::deque<Holding*> waiting_;  // in the queue, oldest first; only kept under drop_oldest
  std::vector<Holding*> unused_holdings_;
  std::vector<Holding*> spare_;  // empty: the second buffer of the list
};

}  // namespace sonde::record
