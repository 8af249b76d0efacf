#include "record/ring.h"

namespace sonde::record {

Ring::Ring() : slots_(std::make_unique<Message[]>(kCapacity)) {}

void Ring::drop_oldest(const std::function<void(const Message&)>& drop) noexcept {
  const std::scoped_lock lock(drain_mutex_);
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  if (head_.load(std::memory_order_relaxed) - tail < kCapacity) return;
  drop(slots_[tail & (kCapacity - 1)]);
  tail_.store(tail + 1, std::memory_order_release);
}

void Ring::drain(std::uint64_t until, std::vector<Message>& out) {
  if (empty()) return;
  const std::scoped_lock lock(drain_mutex_);
  const std::uint64_t head = head_.load(std::memory_order_acquire);
  std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  while (tail != head && slots_[tail & (kCapacity - 1)].ticks <= until) {
    out.push_back(slots_[tail & (kCapacity - 1)]);
    ++tail;
  }
  tail_.store(tail, std::memory_order_release);
}

}  // namespace sonde::record
