#include "record/pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
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

// Owners whose pool has ended, each with the way in which it is to end. Never destroyed: they are not ended at exit.
struct Orphans {
  std::mutex mutex;
  std::vector<std::pair<std::shared_ptr<const void>, ReleaseOwners>> owners;
};
std::atomic<Orphans*> g_orphans{nullptr};
std::atomic<bool> g_any_orphans{false};

Orphans* orphans() noexcept {
  Orphans* known = g_orphans.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  auto* made = new (std::nothrow) Orphans;
  if (made != nullptr && !g_orphans.compare_exchange_strong(known, made)) {
    delete made;
    return known;
  }
  return made;
}

// Without memory it is never released: any other place would be wrong.
void adopt(std::shared_ptr<const void> owner, const ReleaseOwners& release) noexcept {
  try {
    if (Orphans* list = orphans()) {
      const std::scoped_lock lock(list->mutex);
      list->owners.emplace_back(std::move(owner), release);
      g_any_orphans.store(true, std::memory_order_release);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
  if (owner) new (std::nothrow) std::shared_ptr<const void>(std::move(owner));
}

void end(Owners&& owners, const ReleaseOwners& release) noexcept {
  try {
    if (release) return release(std::move(owners));
  } catch (...) {  // NOLINT(bugprone-empty-catch): the program's trouble
  }
  owners.clear();
}

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

Pool::Pool(std::size_t budget, Overflow overflow, std::chrono::milliseconds max_wait, ReleaseOwners release_owners)
    : overflow_(overflow), max_wait_(max_wait), release_owners_(std::move(release_owners)), budget_(budget) {}

// The backend may be the one that ends it.
Pool::~Pool() {
  for (Holding* holding : returned_) {
    if (holding->owner) adopt(std::move(holding->owner), release_owners_);
    if (holding->block.data != nullptr) deallocate(holding->block);
    delete holding;
  }
  for (const Block& block : unused_) deallocate(block);
  for (Holding* holding : unused_holdings_) delete holding;
}

void Pool::leave_owners_to_others() noexcept { t_keeps_owners = true; }

std::size_t Pool::lent() const {
  const std::scoped_lock lock(mutex_);
  return lent_;
}

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

// A kept block of the right size, the warmest first; if there is no room for a new one also a larger block, since
// mapping memory takes longer than copying the tensor.
bool Pool::reuse_block(std::size_t size, Block& block) {
  std::size_t largest = allocated_ + lent_ + size > budget_ ? size * 2 : size;
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
  if (allocated_ + lent_ + size > budget_) return false;
  try {
    if (unused_.capacity() <= blocks_) unused_.reserve(std::max<std::size_t>(16, 2 * blocks_));
  } catch (...) {
    return false;
  }
  std::byte* data = allocate(size);
  if (data == nullptr) return false;
  ++blocks_;
  allocated_ += size;
  block = {data, size};
  note_pressure();
  return true;
}

// Called where memory in use grows. A block that is used again does not count: the backend keeps up.
void Pool::note_pressure() noexcept {
  if (allocated_ + lent_ > budget_ / 2) pressure_.store(true, std::memory_order_relaxed);
}

// Frees kept blocks of other sizes, the coldest first, until `needed` more bytes fit.
void Pool::free_unused(std::size_t needed) {
  std::size_t freed = 0;
  while (freed < unused_.size() && allocated_ + lent_ + needed > budget_) {
    free_block(unused_[freed]);
    ++freed;
  }
  unused_.erase(unused_.begin(), unused_.begin() + static_cast<std::ptrdiff_t>(freed));
}

void Pool::free_block(const Block& block) noexcept {
  allocated_ -= block.size;
  --blocks_;
  deallocate(block);
}

bool Pool::drop_oldest_waiting() {
  if (waiting_.empty()) return false;
  Holding* oldest = waiting_.front();
  waiting_.pop_front();
  oldest->waiting = false;
  oldest->dropped = true;
  lent_ -= std::exchange(oldest->lent, 0);
  if (oldest->block.data != nullptr) unused_.push_back(std::exchange(oldest->block, {}));
  return true;
}

bool Pool::find_room(std::size_t bytes, bool shared, Block& block) {
  if (!shared) return find_block(bytes, block);
  free_unused(bytes);
  if (allocated_ + lent_ + bytes > budget_ && lent_ > 0) return false;
  lent_ += bytes;
  note_pressure();
  return true;
}

// The waiting thread collects returned payloads itself: the backend only wakes it.
bool Pool::wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t bytes, bool shared, Block& block) {
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
    found = find_room(bytes, shared, block);
  }
  waiters_.fetch_sub(1);
  return found;
}

// Returning it later must not need memory.
Holding* Pool::new_holding() noexcept {
  std::unique_ptr<Holding> made(new (std::nothrow) Holding);
  if (!made) return nullptr;
  try {
    const auto reserve = [&](auto& list) {
      if (list.capacity() <= holdings_) list.reserve(std::max<std::size_t>(16, 2 * holdings_));
    };
    reserve(unused_holdings_);
    reserve(spare_);
    const std::scoped_lock lock(returned_mutex_);
    reserve(returned_);
  } catch (...) {
    return nullptr;
  }
  ++holdings_;
  return made.release();
}

PayloadPtr Pool::acquire(std::size_t bytes, bool shared) {
  reclaim();
  std::unique_lock lock(mutex_);
  Block block;
  if (bytes > 0 && !find_room(bytes, shared, block)) {
    if (!shared && round_up(bytes) > budget_) return nullptr;  // would never fit
    lock.unlock();
    reclaim();  // payloads returned meanwhile
    lock.lock();
    bool found = find_room(bytes, shared, block);
    if (overflow_ == Overflow::drop_oldest) {
      while (!found && drop_oldest_waiting()) found = find_room(bytes, shared, block);
    } else if (!found && overflow_ == Overflow::wait) {
      found = wait_for_room(lock, bytes, shared, block);
    }
    if (!found) return nullptr;
  }
  Holding* holding = nullptr;
  if (unused_holdings_.empty()) {
    holding = new_holding();
  } else {
    holding = unused_holdings_.back();
    unused_holdings_.pop_back();
    // The next call will write to the next one, and then wait until its lines have come back from the backend.
    if (!unused_holdings_.empty()) base::prefetch_for_writing(&unused_holdings_.back()->payload, sizeof(Payload));
  }
  if (holding == nullptr) {
    if (shared) lent_ -= bytes;
    if (block.data != nullptr) free_block(block);
    return nullptr;
  }
  holding->block = block;
  holding->lent = shared ? bytes : 0;
  holding->dropped = false;
  holding->payload.pool = this;
  holding->payload.holding = holding;
  return PayloadPtr(&holding->payload);
}

void Pool::enqueue(const Payload& payload) {
  if (overflow_ != Overflow::drop_oldest) return;
  Holding& holding = *payload.holding;
  if (holding.block.data == nullptr && holding.lent == 0) return;
  const std::scoped_lock lock(mutex_);
  try {
    waiting_.push_back(&holding);
    holding.waiting = true;
  } catch (...) {  // NOLINT(bugprone-empty-catch): without memory it cannot be dropped for a newer one
  }
}

bool Pool::take(const Payload& payload) {
  if (overflow_ != Overflow::drop_oldest) return true;
  const std::scoped_lock lock(mutex_);
  leave_queue(*payload.holding);
  return !payload.holding->dropped;
}

void Pool::leave_queue(Holding& holding) {
  if (std::exchange(holding.waiting, false)) waiting_.erase(std::ranges::find(waiting_, &holding));
}

void ReleasePayload::operator()(Payload* payload) const noexcept { Pool::release(payload); }

void Pool::release(Payload* payload) noexcept {
  if (auto* group = std::get_if<GroupJob>(&payload->job)) {
    for (auto& item : group->items) {
      if (auto* inner = std::get_if<PayloadPtr>(&item)) inner->reset();
    }
  } else if (auto* table = std::get_if<TableJob>(&payload->job)) {
    for (auto& [name, column] : table->columns) column.reset();
  }
  Pool& pool = *payload->pool;
  {
    const std::scoped_lock lock(pool.returned_mutex_);
    pool.returned_.push_back(payload->holding);
    if (!pool.any_returned_.load(std::memory_order_relaxed)) pool.any_returned_.store(true);
  }
  // Either this sees the waiting thread, or that thread sees the returned payload.
  if (pool.waiters_.load() == 0) return;
  const std::scoped_lock lock(pool.mutex_);  // he looks and falls asleep under it
  pool.some_returned_.notify_all();
}

// The returned payloads, whose owners the caller releases; their blocks are free from here on. Under the lock.
std::vector<Holding*> Pool::collect() noexcept {
  std::vector<Holding*> holdings = std::exchange(spare_, {});
  {
    const std::scoped_lock lock(returned_mutex_);
    try {  // another thread may be using the spare one
      if (holdings.capacity() < holdings_) holdings.reserve(2 * holdings_);
    } catch (...) {
      return holdings;
    }
    holdings.swap(returned_);
    if (t_keeps_owners) {
      const auto owned = std::ranges::partition(holdings, [](const Holding* holding) { return !holding->owner; });
      returned_.assign(owned.begin(), owned.end());
      holdings.erase(owned.begin(), owned.end());
    }
    any_returned_.store(!returned_.empty(), std::memory_order_relaxed);
  }
  for (Holding* holding : holdings) {
    leave_queue(*holding);  // if it was dropped in flight
    lent_ -= std::exchange(holding->lent, 0);
    if (holding->block.data != nullptr) unused_.push_back(std::exchange(holding->block, {}));
  }
  free_unused(0);  // the budget may have become smaller
  if (waiters_.load(std::memory_order_relaxed) > 0) some_returned_.notify_all();
  return holdings;
}

// Without memory for a batch they are released another time.
void Pool::end_owners(std::vector<Holding*>& holdings) noexcept {
  if (!release_owners_) {
    for (Holding* holding : holdings) holding->owner.reset();
    return;
  }
  const auto owned = std::ranges::partition(holdings, [](const Holding* holding) { return !holding->owner; });
  if (owned.empty()) return;
  Owners owners;
  try {
    owners.reserve(owned.size());
  } catch (...) {
    const std::scoped_lock lock(returned_mutex_);
    returned_.insert(returned_.end(), owned.begin(), owned.end());
    any_returned_.store(true);
    holdings.erase(owned.begin(), owned.end());
    return;
  }
  for (Holding* holding : owned) owners.push_back(std::move(holding->owner));
  end(std::move(owners), release_owners_);
}

void Pool::reclaim() noexcept {
  if (g_any_orphans.load(std::memory_order_relaxed)) release_orphans();
  if (!any_returned_.load(std::memory_order_relaxed)) return;
  std::unique_lock lock(mutex_);
  std::vector<Holding*> holdings = collect();
  const std::size_t room = kKeptPayloads - std::min(kKeptPayloads, unused_holdings_.size());
  // The end of an owner may be anybody's code, which takes its time and may record something.
  lock.unlock();
  end_owners(holdings);
  for (Holding* holding : holdings) {
    // Only jobs that may hold memory. The others are not touched, nor are their cache lines.
    if (!std::holds_alternative<ProbeJob>(holding->payload.job)) holding->payload.job = std::monostate{};
  }
  std::size_t ended = 0;
  for (; holdings.size() > room; ++ended) {
    delete holdings.back();
    holdings.pop_back();
  }
  lock.lock();
  holdings_ -= ended;
  unused_holdings_.insert(unused_holdings_.end(), holdings.begin(), holdings.end());
  holdings.clear();
  spare_ = std::move(holdings);
}

void Pool::release_orphans() noexcept {
  if (t_keeps_owners || !g_any_orphans.load(std::memory_order_acquire)) return;
  std::vector<std::pair<std::shared_ptr<const void>, ReleaseOwners>> taken;
  {
    Orphans& list = *g_orphans.load(std::memory_order_acquire);
    const std::scoped_lock lock(list.mutex);
    taken.swap(list.owners);
    g_any_orphans.store(false, std::memory_order_relaxed);
  }
  for (auto& [owner, release] : taken) {
    try {
      Owners one;
      one.push_back(std::move(owner));
      end(std::move(one), release);
    } catch (...) {
      adopt(std::move(owner), release);
    }
  }
}

void Pool::forget_orphans() noexcept {
  g_orphans.store(nullptr);
  g_any_orphans.store(false);
}

}  // namespace sonde::record
