#include "record/pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace sonde::record {
namespace {

constexpr std::size_t kMapped = std::size_t{64}
                                << 10;  // from here on blocks are mapped, and returned to the system when freed
constexpr std::size_t kKeptPayloads = 256;

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
  for (const Block& block : unused_) deallocate(block);
  for (Payload* payload : unused_payloads_) delete payload;
}

std::size_t Pool::allocated() const {
  const std::scoped_lock lock(mutex_);
  return allocated_;
}

void Pool::set_budget(std::size_t budget) {
  const std::scoped_lock lock(mutex_);
  budget_ = budget;
  free_unused(0);
  returned_.notify_all();
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
  Payload* oldest = waiting_.front();
  waiting_.pop_front();
  oldest->dropped = true;
  unused_.push_back(std::exchange(oldest->block, {}));
  return true;
}

Payload* Pool::acquire(std::size_t bytes) {
  std::unique_lock lock(mutex_);
  Block block;
  if (bytes > 0 && !find_block(bytes, block)) {
    if (round_up(bytes) > budget_) return nullptr;  // would never fit
    bool found = false;
    if (overflow_ == Overflow::drop_oldest) {
      while (!found && drop_oldest_waiting()) found = find_block(bytes, block);
    } else if (overflow_ == Overflow::wait) {
      found = returned_.wait_for(lock, max_wait_, [&] { return find_block(bytes, block); });
    }
    if (!found) return nullptr;
  }
  Payload* payload = nullptr;
  if (unused_payloads_.empty()) {
    payload = new (std::nothrow) Payload;
  } else {
    payload = unused_payloads_.back();
    unused_payloads_.pop_back();
  }
  if (payload == nullptr) {
    if (block.data != nullptr) unused_.push_back(block);
    return nullptr;
  }
  payload->block = block;
  payload->dropped = false;
  payload->pool = shared_from_this();
  return payload;
}

void Pool::enqueue(Payload* payload) {
  if (overflow_ != Overflow::drop_oldest || payload->block.data == nullptr) return;
  const std::scoped_lock lock(mutex_);
  waiting_.push_back(payload);
}

bool Pool::take(Payload* payload) {
  if (overflow_ != Overflow::drop_oldest) return true;
  const std::scoped_lock lock(mutex_);
  if (payload->dropped) return false;
  const auto found = std::ranges::find(waiting_, payload);
  if (found != waiting_.end()) waiting_.erase(found);
  return true;
}

void Pool::release(Payload* payload) noexcept {
  if (auto* group = std::get_if<GroupJob>(&payload->job)) {
    for (auto& item : group->items) {
      if (auto* inner = std::get_if<Payload*>(&item)) release(*inner);
    }
  }
  payload->job = std::monostate{};
  payload->owner.reset();
  payload->rows.clear();
  const std::shared_ptr<Pool> pool = std::move(payload->pool);
  pool->put(payload);
}

void Pool::put(Payload* payload) noexcept {
  bool keep = true;
  {
    const std::scoped_lock lock(mutex_);
    if (payload->block.data != nullptr) unused_.push_back(std::exchange(payload->block, {}));
    keep = unused_payloads_.size() < kKeptPayloads;
    if (keep) unused_payloads_.push_back(payload);
  }
  if (!keep) delete payload;
  returned_.notify_one();
}

}  // namespace sonde::record
