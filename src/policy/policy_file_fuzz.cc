#include <cstdlib>
#include <string_view>

#include "policy/control_file.h"

// What parses makes sense, and its triggers are written and read back as they were.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  const std::string_view toml(reinterpret_cast<const char*>(data), size);
  const auto file = policy::parse_control(toml, "policy");
  if (!file) {
    if (!file.error().message().starts_with("policy")) std::abort();
    return 0;
  }
  if (!file->policy.check()) std::abort();
  for (const TriggerPolicy& trigger : file->armed) {
    const auto again = policy::parse_control(policy::to_toml(trigger, "armed"), "policy");
    if (!again || again->armed.size() != 1 || !(again->armed[0] == trigger)) std::abort();
  }
  for (const TriggerPolicy& trigger : file->policy.triggers) {
    const auto again = Policy::parse(policy::to_toml(trigger));
    if (!again || again->triggers.size() != 1 || !(again->triggers[0] == trigger)) std::abort();
  }
  return 0;
}
