// Who answers questions: query::Api, or, in tests, somebody who can be made to wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "query/api.h"

namespace sonde::server {

// As query::Api has them. Any thread.
class Answerer {
 public:
  virtual ~Answerer() = default;
  virtual query::Answer answer(const query::Question& question) const = 0;
  virtual std::uint64_t revision() const noexcept = 0;
  virtual std::uint64_t wait_for_change(std::uint64_t seen, std::chrono::milliseconds timeout) const = 0;
  virtual query::Change change_since(std::uint64_t seen) const = 0;
};

}  // namespace sonde::server
