// control.toml, which changes a running job: a policy, whose tables replace those of the program, and two
// additional tables:
//
//   [control]
//   keep_triggers = true    # the [[trigger]] tables are added to the program's own instead of replacing them
//   fire          = 3       # larger than before: save a capture now
//
//   [[armed]]               # a trigger that `sonde arm` added, with the keys of [[trigger]]; it stays when another
//   when = "loss > 5"       # policy comes
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  std::vector<TriggerPolicy> armed;
};
Result<ControlFile> parse_control(std::string_view toml, std::string_view source);

// One [[trigger]], or a table of another name, that parses to the same trigger.
std::string to_toml(const TriggerPolicy& trigger, std::string_view table = "trigger");

}  // namespace sonde::policy
