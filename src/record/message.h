// The message of a recording thread to the backend: a few words in its ring. Everything larger is a Payload.
#pragma once

#include <cstdint>

namespace sonde::record {

struct Payload;

enum class Op : std::uint8_t {
  scalar,
  payload,
  step_begin,
  step_end,
  evaluation_begin,
  evaluation_end,
};

// Identifies a step in progress.
struct Pass {
  std::uint32_t id = 0;  // 0: the training step; others are passes, several of which may be open
  bool evaluation = false;
  friend bool operator==(const Pass&, const Pass&) = default;
};

// Half a cache line, so that none spans two.
struct Message {
  std::uint64_t ticks = 0;
  std::int64_t step = 0;
  union {
    double value = 0;  // Op::scalar
    Payload* payload;  // Op::payload: owned by the message
  };
  std::uint32_t tag = 0;     // Op::scalar; for step marks: Pass::id
  std::uint32_t target = 0;  // see target_of: one word, so that writing it never reads the old value

  static std::uint32_t target_of(std::uint32_t channel, Op op) noexcept {
    return channel << 8 | static_cast<std::uint32_t>(op);
  }
  std::uint32_t channel() const noexcept { return target >> 8; }
  Op op() const noexcept { return static_cast<Op>(target & 0xFF); }
};
static_assert(sizeof(Message) == 32);

}  // namespace sonde::record
