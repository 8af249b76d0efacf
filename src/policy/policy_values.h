// Values of a policy file that are written as text, with their units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/flight_layout.h"
#include "sonde/policy.h"

namespace sonde::policy {

inline constexpr std::size_t kMostBytes = std::size_t{1} << 20;        // of a file
inline constexpr std::uint64_t kLeastRing = 2 * flight::kHeaderBytes;  // bytes; the smallest ring of sinks::FlightRing
static_assert(kLeastRing == 8192, "messages and docs/policy.md say 8 KiB");

// All of these return nothing if the text does not have the form shown.

struct Interval {
  std::int64_t every = 1;
  bool epochs = false;
};
// "epoch", "step", "5 epochs", "100 steps", "1 epoch"
std::optional<Interval> interval_of(std::string_view text) noexcept;

struct StepRange {
  std::int64_t first = 0;
  std::int64_t last = -1;  // -1: no end
};
// "1000..2000", "1000..", "..2000". The last one may be before the first.
std::optional<StepRange> step_range_of(std::string_view text) noexcept;

// "8 rows", "1 row"
std::optional<std::int64_t> rows_of(std::string_view text) noexcept;

// "1%", "0.5 %": above 0 and up to 100 %, as a share of 1.
std::optional<double> share_of(std::string_view text) noexcept;

// "stats", "histogram", ...
std::optional<Keep> keep_of(std::string_view word) noexcept;

// "edge", "always", "never"
std::optional<Rearm> rearm_of(std::string_view word) noexcept;

// The name of a trigger, which becomes part of a file name: letters, digits, '_', '-' and '.', the first one not a dot,
// up to 64.
bool is_trigger_name(std::string_view name) noexcept;

}  // namespace sonde::policy
