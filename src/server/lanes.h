// Which questions wait for which others. Each lane has threads of its own, so that none waits for a dearer one.
#pragma once

#include <cstdint>

#include "query/api.h"

namespace sonde::server {

enum class Lane : std::uint8_t {
  quick,   // what there is, and what changes something
  values,  // what was recorded: a few charts, a picture
  dear,    // hundreds of charts at once, every point of a series
};

// A guess from what the question says, with its body; what it will cost is known only once it is answered.
Lane lane_of(const query::Question& question) noexcept;

}  // namespace sonde::server
