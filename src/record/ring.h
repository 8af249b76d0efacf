// The queue of one recording thread: only that thread pushes messages, and only the backend drains them.
//
// Pushing takes no lock and makes no system call: a few loads and five stores. The backend takes the lock once per
// drain; the producer takes it only to enlarge a full ring and, if it cannot grow, to drop its oldest messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "record/message.h"

namespace sonde::record {

class Ring {
 public:
  static constexpr std::uint64_t kFirstCapacity = 1 << 9;  // messages: 16 KiB
  static constexpr std::uint64_t kCapacity = 1 << 14;      // maximum number of messages: 512 KiB

  // Touches its initial memory, so that no push causes a page fault. Throws if there is no memory.
  Ring();

  // The producer's side.

  // The slot of the next message: fill it in place, field by field, then publish. Null if the ring is full.
  Message* claim() noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - known_tail_ > mask_) {
      known_tail_ = tail_.load(std::memory_order_acquire);
      if (head - known_tail_ > mask_) return nullptr;
    }
    return &slots_[head & mask_];
  }
  void publish() noexcept { head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  // Both at once; enlarges a full ring first. False if it is full and cannot grow, or there is no memory.
  bool push(const Message& message) noexcept {
    Message* slot = claim();
    if (slot == nullptr && grow()) slot = claim();
    if (slot == nullptr) return false;
    *slot = message;
    publish();
    return true;
  }
  // True after each push that fills another half: the moment to wake a sleeping backend.
  bool half_full() const noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    return (head & (mask_ / 2)) == 0 && head - tail_.load(std::memory_order_relaxed) > mask_ / 2;
  }
  // Removes the oldest message from a full ring, unless the backend was faster. It is dropped before the backend can
  // begin another round, which then knows that nothing older is in flight.
  void drop_oldest(const std::function<void(const Message&)>& drop) noexcept;

  // The backend's side.

  // Moves all messages with stamps up to `until` to the end of `out`. Throws if there is no memory; then they all stay
  // here.
  void drain(std::uint64_t until, std::vector<Message>& out);
  bool empty() const noexcept { return head_.load(std::memory_order_acquire) == tail_.load(std::memory_order_relaxed); }

  // The thread has ended; once empty, the ring can be freed.
  std::atomic<bool> orphaned{false};

 private:
  bool grow() noexcept;

  // Written by the producer under the lock, read by it without, and by the backend under the lock.
  std::unique_ptr<Message[]> slots_;
  std::uint64_t mask_ = kFirstCapacity - 1;
  alignas(64) std::atomic<std::uint64_t> head_{0};  // written by the producer
  std::uint64_t known_tail_ = 0;                    // the producer's copy
  alignas(64) std::atomic<std::uint64_t> tail_{0};  // written under the lock
  std::mutex drain_mutex_;
};

}  // namespace sonde::record
