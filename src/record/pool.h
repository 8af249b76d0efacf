// Memory for what is on its way to the backend, within a recorder's budget.
//
// Blocks are kept and used again, the last returned first, so that a recorder in its stride copies into warm memory and
// asks the system for nothing. New blocks are populated in one go before the copy. The budget covers blocks in use and
// kept ones together.
//
// What the backend is done with goes onto a list, all of which a recording thread takes when it next looks. Fetching a
// cache line that the other side has written or read takes as long as all the rest of a call: so what the pool needs to
// know of a payload lies apart from what the backend reads (but for drop_oldest, of which both must know), and the list
// is touched only where there is something on it.
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

// Gives a payload back to its pool, with those that it holds. Any thread.
struct ReleasePayload {
  void operator()(Payload* payload) const noexcept;
};
using PayloadPtr = std::unique_ptr<Payload, ReleasePayload>;

// A piece of memory that a Pool hands out.
struct Block {
  std::byte* data = nullptr;
  std::size_t size = 0;
};

// What is to be done with a payload.
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
  bool lost = false;  // there was no room for the tensor
  std::uint32_t pass = 0;
  std::shared_ptr<const stats::Computed> computed = {};  // in place of the tensor, whose view has no data then
};
struct TextJob {
  std::uint32_t tag = 0;
  std::string text;
};
// Summary values (or a graph) that were encoded by the caller, being rare.
struct EncodedJob {
  enum class Content : std::uint8_t { summary, hparams, graph } content = Content::summary;
  std::string bytes;
};
struct GroupScalar {
  std::uint32_t tag = 0;
  double value = 0;
};
struct GroupJob {
  std::vector<std::variant<GroupScalar, PayloadPtr>> items;
};
struct TableJob {
  std::string name;
  std::vector<std::pair<std::string, PayloadPtr>> columns;
  bool print = false;
};
// What a column of a table stands for: a tensor that something else takes along.
struct ColumnJob {};
struct TriggerJob {
  std::string reason;
  std::int64_t before = 0;
  std::int64_t after = 0;
};
using Job = std::variant<std::monostate, HistogramJob, ImageJob, AudioJob, PrintJob, ProbeJob, TextJob, EncodedJob,
                         GroupJob, TableJob, ColumnJob, TriggerJob>;

// What goes to the backend.
struct Payload {
  Pool* pool = nullptr;
  struct Holding* holding = nullptr;  // the pool's
  Job job;
  TensorView view;                 // of the block, or of what the owner keeps
  std::vector<std::int64_t> rows;  // which ones of the caller's tensor these are; empty: the first ones
};

// A payload, and what stays on this side until it comes back.
struct Holding {
  std::shared_ptr<const void> owner;  // set where the tensor is shared and not copied
  Block block;
  std::size_t lent = 0;  // guarded by the pool: bytes of a shared tensor that count against the budget
  bool waiting = false;  // guarded by the pool: in the queue, where drop_oldest may take the block
  bool dropped = false;  // likewise: a newer payload got it
  alignas(64) Payload payload;
};

// The owners of tensors that were shared, on their way to where they end.
using Owners = std::vector<std::shared_ptr<const void>>;
using ReleaseOwners = std::function<void(Owners&&)>;

// Outlives what it has handed out. Owners end in reclaim() and release_orphans(), on the thread that calls it, and
// nowhere else: what is left when a pool ends is an orphan, which any later call may release.
class Pool {
 public:
  Pool(std::size_t budget, Overflow overflow, std::chrono::milliseconds max_wait, ReleaseOwners release_owners = {});
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // A payload with a block of at least `bytes` (none for 0), or null where the overflow policy says so. May wait.
  // `shared`: for a tensor of so many bytes that is not copied; it has no block, but counts until it comes back. One
  // that is larger than the budget is taken where no other shared one is on its way.
  PayloadPtr acquire(std::size_t bytes, bool shared = false);
  // From now on it is in the queue, and drop_oldest may take its block.
  void enqueue(const Payload& payload);
  // The backend is about to read it. False if it was dropped.
  bool take(const Payload& payload);
  // Makes what was given back free again. Owners end here.
  void reclaim() noexcept;
  // The calling thread, the backend, never ends an owner, also where its error handler records something.
  static void leave_owners_to_others() noexcept;

  // Ends the owners that pools which are gone have left, unless this is a thread that leaves them to others.
  static void release_orphans() noexcept;
  // In a forked child: orphans are the parent's.
  static void forget_orphans() noexcept;

  std::size_t allocated() const;
  std::size_t lent() const;
  // What is in use beyond a smaller budget stays until it comes back.
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
  void free_block(const Block& block) noexcept;

  const Overflow overflow_;
  const std::chrono::milliseconds max_wait_;
  const ReleaseOwners release_owners_;
  std::atomic<int> waiters_{0};  // threads that wait for a block
  std::atomic<bool> any_returned_{false};
  alignas(64) std::mutex returned_mutex_;  // guards the next one; may be taken under the other
  std::vector<Holding*> returned_;
  alignas(64) mutable std::mutex mutex_;  // guards what follows
  std::size_t budget_;
  std::condition_variable some_returned_;
  std::size_t allocated_ = 0;
  std::size_t lent_ = 0;          // bytes of shared tensors on their way
  std::size_t holdings_ = 0;      // that there are; what comes back needs no memory: the lists have room for all
  std::size_t blocks_ = 0;        // likewise
  std::vector<Block> unused_;     // last returned at the end
  std::deque<Holding*> waiting_;  // in the queue, oldest first; only kept under drop_oldest
  std::vector<Holding*> unused_holdings_;
  std::vector<Holding*> spare_;  // empty: memory for the list, which takes turns with the one in use
};

}  // namespace sonde::record
