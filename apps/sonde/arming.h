// Adding a trigger to a running job: for `sonde arm`, and for the page.
#pragma once

#include <string>

#include "control.h"
#include "sonde/policy.h"
#include "sonde/status.h"

namespace sonde::cli {

// Checks the trigger as the recorder would, with errors in terms of the options of `sonde arm`.
Status check_trigger(const TriggerPolicy& trigger);

// What it waits for and what it saves: "spike, when loss > 50, with 2 steps before and 1 after".
Result<std::string> describe(const TriggerPolicy& trigger);

// Adds the trigger, which must have been checked, to those of the run in this directory, and waits for the recorder's
// answer.
Result<Answer> arm(const std::string& run, const TriggerPolicy& trigger);

// Removes an armed trigger of the run, by its place in armed_triggers, if its expression is still `when`; waits for the
// recorder's answer.
Result<Answer> disarm(const std::string& run, std::size_t number, std::string_view when);

}  // namespace sonde::cli
