#include "record/ring.h"

#include <new>
#include <utility>

namespace sonde::record {

Ring::Ring() : slots_(std::make_unique<Message[]>(kFirstCapacity)) {}

bool Ring::grow() noexcept {
  const std::uint64_t capacity = mask_ + 1;
  if (capacity >= kCapacity) return false;
  std::unique_ptr<Message[]> larger(new (std::nothrow) Message[capacity * 2]);
  if (!larger) return false;
  const std::scoped_lock lock(drain_mutex_);
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  for (std::uint64_t at = tail_.load(std::memory_order_relaxed); at != head; ++at) {
    larger[at & (capacity * 2 - 1)] = slots_[at & mask_];
  }
  std::swap(slots_, larger);
  mask_ = capacity * 2 - 1;
  return true;
}

void Ring::drop_oldest(const std::function<void(const Message&)>& drop) noexcept {
  const std::scoped_lock lock(drain_mutex_);
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  if (head_.load(std::memory_order_relaxed) - tail <= mask_) return;
  drop(slots_[tail & mask_]);
  tail_.store(tail + 1, std::memory_order_release);
}

void Ring::drain(std::uint64_t until, std::vector<Message>& out) {
  if (empty()) return;
  const std::scoped_lock lock(drain_mutex_);
  const std::uint64_t head = head_.load(std::memory_order_acquire);
  std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  if (const std::size_t needed = out.size() + (head - tail); needed > out.capacity()) {
    out.reserve(needed > 2 * out.capacity() ? needed : 2 * out.capacity());
  }
  while (tail != head && slots_[tail & mask_].ticks <= until) {
    out.push_back(slots_[tail & mask_]);
    ++tail;
  }
  tail_.store(tail, std::memory_order_release);
}

}  // namespace sonde::record
