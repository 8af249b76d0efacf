// The hand-off of one recording thread: messages between that thread, which alone pushes, and the backend, which alone
// drains.
//
// Pushing takes no lock and makes no system call: a few loads and five stores. The lock is taken by the backend once a
// drain, and by the producer only to make a full ring larger and, where it may not grow, to drop its oldest messages.
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
  static constexpr std::uint64_t kCapacity = 1 << 14;      // messages that it grows to: 512 KiB

  // Its first memory is touched here, so that no push meets a page fault. Throws where there is none.
  Ring();

  // The producer's side.

  // Where the next message goes: fill it in there, field by field, then publish. Null if the ring is full.
  Message* claim() noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - known_tail_ > mask_) {
      known_tail_ = tail_.load(std::memory_order_acquire);
      if (head - known_tail_ > mask_) return nullptr;
    }
    return &slots_[head & mask_];
  }
  void publish() noexcept { head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  // Both at once; makes a full ring larger first. False if it is full and as large as it gets, or there is no memory.
  bool push(const Message& message) noexcept {
    Message* slot = claim();
    if (slot == nullptr && grow()) slot = claim();
    if (slot == nullptr) return false;
    *slot = message;
    publish();
    return true;
  }
  // True after each push that fills another half: the moment to wake a backend that sleeps.
  bool half_full() const noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    return (head & (mask_ / 2)) == 0 && head - tail_.load(std::memory_order_relaxed) > mask_ / 2;
  }
  // Takes the oldest message out of a full ring, if the backend was not faster. It is dropped before the backend can
  // begin another round, which then knows that nothing older is on its way.
  void drop_oldest(const std::function<void(const Message&)>& drop) noexcept;

  // The backend's side.

  // Moves all messages with stamps up to `until` to the end of `out`. Throws where there is no memory for that; then
  // they are all still here.
  void drain(std::uint64_t until, std::vector<Message>& out);
  bool empty() const noexcept { return head_.load(std::memory_order_acquire) == tail_.load(std::memory_order_relaxed); }

  // The thread is gone; once empty, the ring can go too.
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
