// The hand-off of one recording thread: a fixed number of messages between that thread, which alone pushes, and the
// backend, which alone drains.
//
// Pushing takes no lock and makes no system call: two loads and five stores. The lock is taken by the backend once a
// drain, and by the producer only to drop its oldest messages when the ring is full.
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
  static constexpr std::uint64_t kCapacity = 1 << 14;  // messages: 512 KiB

  // All of its memory is touched here, so that no push meets a page fault.
  Ring();

  // The producer's side.

  // Where the next message goes: fill it in there, field by field, then publish. Null if the ring is full.
  Message* claim() noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - known_tail_ >= kCapacity) {
      known_tail_ = tail_.load(std::memory_order_acquire);
      if (head - known_tail_ >= kCapacity) return nullptr;
    }
    return &slots_[head & (kCapacity - 1)];
  }
  void publish() noexcept { head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  // Both at once. False if it is full.
  bool push(const Message& message) noexcept {
    Message* slot = claim();
    if (slot == nullptr) return false;
    *slot = message;
    publish();
    return true;
  }
  // True after each push that fills another half: the moment to wake a backend that sleeps.
  bool half_full() const noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    return (head & (kCapacity / 2 - 1)) == 0 && head - tail_.load(std::memory_order_relaxed) >= kCapacity / 2;
  }
  // Takes the oldest message out of a full ring, if the backend was not faster. It is dropped before the backend can
  // begin another round, which then knows that nothing older is on its way.
  void drop_oldest(const std::function<void(const Message&)>& drop) noexcept;

  // The backend's side.

  // Moves all messages with stamps up to `until` to the end of `out`.
  void drain(std::uint64_t until, std::vector<Message>& out);
  bool empty() const noexcept { return head_.load(std::memory_order_acquire) == tail_.load(std::memory_order_relaxed); }

  // The thread is gone; once empty, the ring can serve another.
  std::atomic<bool> orphaned{false};

 private:
  std::unique_ptr<Message[]> slots_;
  alignas(64) std::atomic<std::uint64_t> head_{0};  // written by the producer
  std::uint64_t known_tail_ = 0;                    // the producer's copy
  alignas(64) std::atomic<std::uint64_t> tail_{0};  // written under the lock
  std::mutex drain_mutex_;
};

}  // namespace sonde::record
