// What a recording thread hands to the backend: a few words through its ring. Everything larger is a Payload.
#pragma once

#include <cstdint>

namespace sonde::record {

struct Payload;

enum class Op : std::uint8_t { scalar, payload, step_begin, step_end };

struct Message {
  std::uint64_t ticks = 0;
  std::int64_t step = 0;
  union {
    double value = 0;  // Op::scalar
    Payload* payload;  // Op::payload: owned by the message
  };
  std::uint32_t channel = 0;
  std::uint32_t tag = 0;  // Op::scalar
  Op op = Op::scalar;
  bool evaluation = false;  // steps
};
static_assert(sizeof(Message) == 40);

}  // namespace sonde::record
