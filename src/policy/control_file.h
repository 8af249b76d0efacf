// control.toml, by which a running job is changed: a policy that says which of its tables it has, so that those it
// leaves out stay as they are, and a table of its own:
//
//   [control]
//   keep_triggers = true    # its triggers come on top of those that are there
//   fire          = 3       # a larger number than before: save a capture now
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sonde/policy.h"
#include "sonde/status.h"

namespace sonde::policy {

struct ControlFile {
  Policy policy;
  bool has_watches = false;
  bool has_triggers = false;
  bool has_flight = false;
  bool has_budget = false;
  bool has_allow = false;
  bool keep_triggers = false;
  std::int64_t fire = 0;
};
Result<ControlFile> parse_control(std::string_view toml, std::string_view source);

// One [[trigger]] that is read back as the same.
std::string to_toml(const TriggerPolicy& trigger);

}  // namespace sonde::policy
