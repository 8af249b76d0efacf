// Answers questions: query::Api, or, in tests, an implementation that can be made to wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "query/api.h"

namespace sonde::server {

// The same calls as query::Api. Any thread.
class Answerer {
 public:
  virtual ~Answerer() = default;
  virtual query::Answer answer(const query::Question& question) const = 0;
  virtual std::uint64_t revision() const noexcept = 0;
  virtual std::uint64_t wait_for_change(std::uint64_t seen, std::chrono::milliseconds timeout) const = 0;
  virtual query::Change change_since(std::uint64_t seen) const = 0;
};

}  // namespace sonde::server
