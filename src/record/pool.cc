#include "record/pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/prefetch.h"

namespace sonde::record {
namespace {

constexpr std::size_t kMapped = std::size_t{64}
                                << 10;  // from here on blocks are mapped, and returned to the system when freed
constexpr std::size_t kKeptPayloads = 256;

thread_local constinit bool t_keeps_owners = false;

// Sizes that differ little share blocks: at most an eighth is wasted.
std::size_t round_up(std::size_t bytes) noexcept {
  std::size_t step = 256;
  while (step * 16 < bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

std::byte* allocate(std::size_t size) noexcept {
  if (size < kMapped) return static_cast<std::byte*>(std::aligned_alloc(64, size));
  void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

void deallocate(const Block& block) noexcept {
  if (block.size < kMapped) {
    std::free(block.data);
  } else {
    ::munmap(block.data, block.size);
  }
}

}  // namespace

Pool::Pool(std::size_t budget, Overflow overflow, std::chrono::milliseconds max_wait)
    : overflow_(overflow), max_wait_(max_wait), budget_(budget) {}

Pool::~Pool() {
  for (Holding* holding : returned_) {
    if (holding->block.data != nullptr) deallocate(holding->block);
    delete holding;
  }
  for (const Block& block : unused_) deallocate(block);
  for (Holding* holding : unused_holdings_) delete holding;
}

void Pool::leave_owners_to_others() noexcept { t_keeps_owners = true; }

std::size_t Pool::allocated() const {
  const std::scoped_lock lock(mutex_);
  return allocated_;
}

void Pool::lock_for_fork() {
  mutex_.lock();
  returned_mutex_.lock();
}

void Pool::unlock_after_fork() {
  returned_mutex_.unlock();
  mutex_.unlock();
}

void Pool::set_budget(std::size_t budget) {
  const std::scoped_lock lock(mutex_);
  budget_ = budget;
  free_unused(0);
  some_returned_.notify_all();
}

// A kept block of the right size, the warmest first; where there is no room for a new one also a larger block, since
// mapping memory takes longer than copying the tensor.
bool Pool::reuse_block(std::size_t size, Block& block) {
  std::size_t largest = allocated_ + size > budget_ ? size * 2 : size;
  std::size_t best = unused_.size();
  for (std::size_t i = unused_.size(); i-- > 0;) {
    if (unused_[i].size < size || unused_[i].size > largest) continue;
    best = i;
    if (unused_[i].size == size) break;
    largest = unused_[i].size - 1;
  }
  if (best == unused_.size()) return false;
  block = unused_[best];
  unused_.erase(unused_.begin() + static_cast<std::ptrdiff_t>(best));
  return true;
}

bool Pool::find_block(std::size_t bytes, Block& block) {
  const std::size_t size = round_up(bytes);
  if (reuse_block(size, block)) return true;
  if (size > budget_) return false;
  free_unused(size);
  if (allocated_ + size > budget_) return false;
  std::byte* data = allocate(size);
  if (data == nullptr) return false;
  allocated_ += size;
  block = {data, size};
  return true;
}

// Frees kept blocks of other sizes, the coldest first, until `needed` more bytes fit.
void Pool::free_unused(std::size_t needed) {
  std::size_t freed = 0;
  while (freed < unused_.size() && allocated_ + needed > budget_) {
    allocated_ -= unused_[freed].size;
    deallocate(unused_[freed]);
    ++freed;
  }
  unused_.erase(unused_.begin(), unused_.begin() + static_cast<std::ptrdiff_t>(freed));
}

bool Pool::drop_oldest_waiting() {
  if (waiting_.empty()) return false;
  Holding* oldest = waiting_.front();
  waiting_.pop_front();
  oldest->waiting = false;
  oldest->dropped = true;
  unused_.push_back(std::exchange(oldest->block, {}));
  return true;
}

// What comes back meanwhile is for whoever waits to fetch: the backend only wakes it.
bool Pool::wait_for_block(std::unique_lock<std::mutex>& lock, std::size_t bytes, Block& block) {
  const auto deadline = std::chrono::steady_clock::now() + max_wait_;
  bool found = false;
  bool late = false;
  waiters_.fetch_add(1);  // before it looks: see release
  while (!found && !late) {
    if (!any_returned_.load()) some_returned_.wait_until(lock, deadline);
    late = std::chrono::steady_clock::now() >= deadline;
    lock.unlock();
    reclaim();
    lock.lock();
    found = find_block(bytes, block);
  }
  waiters_.fetch_sub(1);
  return found;
}

Payload* Pool::acquire(std::size_t bytes) {
  reclaim();
  std::unique_lock lock(mutex_);
  Block block;
  if (bytes > 0 && !find_block(bytes, block)) {
    if (round_up(bytes) > budget_) return nullptr;  // would never fit
    lock.unlock();
    reclaim();  // what has come back meanwhile
    lock.lock();
    bool found = find_block(bytes, block);
    if (overflow_ == Overflow::drop_oldest) {
      while (!found && drop_oldest_waiting()) found = find_block(bytes, block);
    } else if (!found && overflow_ == Overflow::wait) {
      found = wait_for_block(lock, bytes, block);
    }
    if (!found) return nullptr;
  }
  Holding* holding = nullptr;
  if (unused_holdings_.empty()) {
    holding = new (std::nothrow) Holding;
  } else {
    holding = unused_holdings_.back();
    unused_holdings_.pop_back();
    // The next call will write to the next one, and then wait until its lines have come back from the backend.
    if (!unused_holdings_.empty()) prefetch_for_writing(&unused_holdings_.back()->payload, sizeof(Payload));
  }
  if (holding == nullptr) {
    if (block.data != nullptr) unused_.push_back(block);
    return nullptr;
  }
  holding->block = block;
  holding->dropped = false;
  holding->payload.pool = this;
  holding->payload.holding = holding;
  return &holding->payload;
}

void Pool::enqueue(Payload* payload) {
  if (overflow_ != Overflow::drop_oldest) return;
  Holding& holding = *payload->holding;
  if (holding.block.data == nullptr) return;
  const std::scoped_lock lock(mutex_);
  waiting_.push_back(&holding);
  holding.waiting = true;
}

bool Pool::take(Payload* payload) {
  if (overflow_ != Overflow::drop_oldest) return true;
  const std::scoped_lock lock(mutex_);
  leave_queue(*payload->holding);
  return !payload->holding->dropped;
}

void Pool::leave_queue(Holding& holding) {
  if (std::exchange(holding.waiting, false)) waiting_.erase(std::ranges::find(waiting_, &holding));
}

void Pool::release(Payload* payload) noexcept {
  if (const auto* group = std::get_if<GroupJob>(&payload->job)) {
    for (const auto& item : group->items) {
      if (const auto* inner = std::get_if<Payload*>(&item)) release(*inner);
    }
  } else if (const auto* table = std::get_if<TableJob>(&payload->job)) {
    for (const auto& [name, column] : table->columns) release(column);
  }
  Pool& pool = *payload->pool;
  {
    const std::scoped_lock lock(pool.returned_mutex_);
    pool.returned_.push_back(payload->holding);
    if (!pool.any_returned_.load(std::memory_order_relaxed)) pool.any_returned_.store(true);
  }
  // Either this sees who waits, or he sees what has come back.
  if (pool.waiters_.load() == 0) return;
  const std::scoped_lock lock(pool.mutex_);  // he looks and falls asleep under it
  pool.some_returned_.notify_all();
}

// What has come back, for the caller to end the owners of; its blocks are free from here on. Under the lock.
std::vector<Holding*> Pool::collect() {
  std::vector<Holding*> holdings = std::exchange(spare_, {});
  {
    const std::scoped_lock lock(returned_mutex_);
    holdings.swap(returned_);
    if (t_keeps_owners) {
      const auto owned = std::ranges::partition(holdings, [](const Holding* holding) { return !holding->owner; });
      returned_.assign(owned.begin(), owned.end());
      holdings.erase(owned.begin(), owned.end());
    }
    any_returned_.store(!returned_.empty(), std::memory_order_relaxed);
  }
  for (Holding* holding : holdings) {
    leave_queue(*holding);  // where it was given up on its way
    if (holding->block.data != nullptr) unused_.push_back(std::exchange(holding->block, {}));
  }
  free_unused(0);  // the budget may have become smaller
  if (waiters_.load(std::memory_order_relaxed) > 0) some_returned_.notify_all();
  return holdings;
}

void Pool::reclaim() noexcept {
  if (!any_returned_.load(std::memory_order_relaxed)) return;
  std::unique_lock lock(mutex_);
  std::vector<Holding*> holdings = collect();
  const std::size_t room = kKeptPayloads - std::min(kKeptPayloads, unused_holdings_.size());
  // The end of an owner may be anybody's code, which takes its time and may record something.
  lock.unlock();
  for (Holding* holding : holdings) {
    holding->owner.reset();
    // What may hold memory. The others are left alone, with the lines that they lie on.
    if (!std::holds_alternative<ProbeJob>(holding->payload.job)) holding->payload.job = std::monostate{};
  }
  while (holdings.size() > room) {
    delete holdings.back();
    holdings.pop_back();
  }
  lock.lock();
  unused_holdings_.insert(unused_holdings_.end(), holdings.begin(), holdings.end());
  holdings.clear();
  spare_ = std::move(holdings);
}

}  // namespace sonde::record
