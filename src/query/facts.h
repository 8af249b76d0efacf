// Facts about a run as a whole, from what has been read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sonde/capture.h"
#include "sonde/log.h"

namespace sonde::query {

enum class RunState : std::uint8_t { live, finished, died };
std::string_view to_string(RunState state) noexcept;

struct RunPulse {
  RunState state = RunState::finished;
  double quiet_at = 0;    // when it will count as ended, in seconds since 1970, if its files do not change
  bool has_ring = false;  // a flight ring, whose lock tells more
};

struct Alert {
  enum class Kind : std::uint8_t { nonfinite, trigger, died, dropped, budget, damage } kind = Kind::nonfinite;
  std::string tag = {};  // empty: none
  std::optional<TagKind> tag_kind = {};
  std::optional<std::int64_t> step = {};
  double time = 0;  // seconds since 1970; 0: not known
  std::string text = {};
  std::optional<double> value = {};            // the first non-finite value of a scalar
  std::uint64_t others = 0;                    // other tensors that are non-finite from the same step on
  std::string capture = {};                    // the name of its directory in the run's captures; empty: none
  std::optional<Origin::Place> producer = {};  // of the non-finite values in that capture
};
std::string_view to_string(Alert::Kind kind) noexcept;

// What a list says about a capture.
struct CaptureFact {
  std::string name;     // of its directory in the run's captures
  std::string problem;  // why it cannot be read; the rest is then empty
  CaptureInfo::Cause cause = CaptureInfo::Cause::trigger;
  std::string reason = {};
  std::string when = {};
  std::vector<std::pair<std::string, double>> values = {};
  std::int64_t step = 0;
  double wall_time = 0;
  std::uint64_t steps = 0;    // that it holds
  std::uint64_t tensors = 0;  // in all of them
  bool found = false;         // it has values that are not finite
  std::vector<Origin::Place> producers = {};
};

struct Facts {
  std::uint64_t version = 0;  // of the run
  std::vector<Tag> tags;      // by name
  double started = 0;
  double last_time = 0;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::uint64_t points = 0;
  std::uint64_t damaged = 0;
  std::uint64_t dropped = 0;
  double steps_per_second = 0;         // over the whole run; NaN: nothing to measure
  double recent_steps_per_second = 0;  // over its last 60 s
  std::string hparams;                 // a JSON object; empty: none
  std::vector<std::string> metrics;
  std::optional<std::int64_t> first_bad_step;
  std::string note;
  std::map<std::string, std::uint32_t> order;  // of execution within a step, by the tag of a probe
  std::vector<std::string> layouts;            // JSON: the categories of each custom layout
  std::vector<Alert> alerts;
  // Alerts from files that are read only once, by file.
  std::map<std::string, Alert> read_alerts;
  std::map<std::string, CaptureFact> captures;  // by path: the newest
  std::uint64_t older_captures = 0;

  const Tag* find(std::string_view tag, TagKind kind) const;
};

// `before`: the previous facts about the run, or null.
Facts gather_facts(const Run& run, const Facts* before);
// Collects all alerts of the run, except those that depend on its state.
void gather_alerts(const Run& run, const Facts* before, Facts& facts);
// 1234567 as "1,234,567".
std::string grouped(std::int64_t number);

}  // namespace sonde::query
