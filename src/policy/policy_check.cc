// Policies made in code: that they make sense.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "formats/selector.h"
#include "policy/expression.h"
#include "policy/expression_text.h"
#include "policy/policy_values.h"
#include "policy/rules.h"
#include "sonde/policy.h"

namespace sonde {
namespace {

using policy::condition::joined;

Status wrong(std::string_view where, std::string_view what) {
  return {Code::invalid_argument, joined({where, ": ", what})};
}

Status at_least(std::string_view where, std::string_view what, std::int64_t value, std::int64_t least) {
  if (value >= least) return Status::success();
  return wrong(where, joined({what, " is ", std::to_string(value), ": give ", std::to_string(least), " or more"}));
}

Status check_pattern(std::string_view where, std::string_view what, std::string_view pattern) {
  const auto selector = tags::Selector::create(pattern);
  return selector ? Status::success() : wrong(where, joined({what, " ", selector.error().message()}));
}

Status check_condition(std::string_view where, std::string_view text) {
  const auto expression = policy::Expression::parse(text);
  return expression ? Status::success() : wrong(where, joined({"'", text, "', ", expression.error().message()}));
}

// Values that no enumerator has come out of casts.
Status no_such(std::string_view where, std::string_view what, unsigned value, std::string_view type) {
  return wrong(where, joined({what, " is ", std::to_string(value), ", which sonde::", type, " does not have"}));
}

Status check_kinds(std::string_view where, std::span<const Kind> kinds) {
  const auto unknown = std::ranges::find_if(kinds, [](Kind kind) { return kind > Kind::output; });
  return unknown == kinds.end() ? Status() : no_such(where, "kinds", static_cast<unsigned>(*unknown), "Kind");
}

Status check_keep(std::string_view where, Keep record) {
  constexpr Keep kAll = Keep::stats | Keep::histogram | Keep::image | Keep::print | Keep::whole | Keep::npy |
                        Keep::npz | Keep::csv | Keep::audio;
  if (record == Keep::nothing) return wrong(where, "record is nothing");
  return (record & kAll) == record ? Status() : no_such(where, "record", static_cast<unsigned>(record), "Keep");
}

Status first_of(std::initializer_list<Status> all) {
  for (const Status& status : all) {
    if (!status) return status;
  }
  return Status::success();
}

Status check(std::string_view where, const WatchPolicy& watch) {
  if (watch.last_step != -1 && watch.last_step < watch.first_step) {
    return wrong(where, joined({"last_step is ", std::to_string(watch.last_step), ", which is before first_step, ",
                                std::to_string(watch.first_step), ": swap them, or give -1 for no end"}));
  }
  return first_of({check_keep(where, watch.record), check_kinds(where, watch.kinds),
                   check_pattern(where, "tensors", watch.tensors),
                   watch.exclude.empty() ? Status() : check_pattern(where, "exclude", watch.exclude),
                   watch.when.empty() ? Status() : check_condition(where, watch.when),
                   at_least(where, "every", watch.every, 1), at_least(where, "first_step", watch.first_step, 0),
                   at_least(where, "first", watch.first, 0), at_least(where, "sample.rows", watch.sample.rows, 0)});
}

Status check(std::string_view where, const TriggerPolicy& trigger) {
  const Result<std::string> text = policy::expression_of(trigger);
  if (!text) return wrong(where, text.error().message());
  if (!trigger.name.empty() && !policy::is_trigger_name(trigger.name)) {
    return wrong(where, joined({"the name '", trigger.name,
                                "' cannot be part of a file's name: use letters, digits, '_', '-' and '.', up to 64"}));
  }
  if (trigger.rearm > Rearm::never) return no_such(where, "rearm", static_cast<unsigned>(trigger.rearm), "Rearm");
  return first_of({check_condition(where, *text), at_least(where, "before", trigger.before, 0),
                   at_least(where, "after", trigger.after, 0), at_least(where, "hold_off", trigger.hold_off, 0),
                   at_least(where, "max_captures", trigger.max_captures, 0)});
}

Status check(const FlightPolicy& flight) {
  if (flight.bytes > 0 && flight.bytes < policy::kLeastRing) {
    return wrong("flight", joined({"bytes is ", std::to_string(flight.bytes), ", but the smallest ring has ",
                                   std::to_string(policy::kLeastRing), "; 0 leaves the choice to the recorder"}));
  }
  if (flight.use > FlightPolicy::Use::off) {
    return no_such("flight", "use", static_cast<unsigned>(flight.use), "FlightPolicy::Use");
  }
  if (flight.directory.find('\0') != std::string::npos) {
    return wrong("flight", "directory contains a zero byte");
  }
  return first_of({check_kinds("flight", flight.kinds), check_pattern("flight", "tensors", flight.tensors),
                   flight.exclude.empty() ? Status() : check_pattern("flight", "exclude", flight.exclude),
                   at_least("flight", "steps", flight.steps, 0)});
}

Status check(const BudgetPolicy& budget) {
  const double overhead = budget.overhead.value_or(1);
  const bool sensible = overhead > 0 && overhead <= 1;  // which NaN is not
  if (!sensible) return wrong("budget", "overhead is a share above 0 and up to 1, such as 0.01 for 1 %");
  if (budget.memory == 0U) return wrong("budget", "memory is 0: give 1 byte or more, or no value for no limit");
  if (budget.disk == 0U) return wrong("budget", "disk is 0: give 1 byte or more, or no value for no limit");
  return Status::success();
}

}  // namespace

Status Policy::check() const {
  for (std::size_t i = 0; i < watches.size(); ++i) {
    Status status = sonde::check(joined({"watch ", std::to_string(i + 1)}), watches[i]);
    if (!status) return status;
  }
  for (std::size_t i = 0; i < triggers.size(); ++i) {
    Status status = sonde::check(joined({"trigger ", std::to_string(i + 1)}), triggers[i]);
    if (!status) return status;
  }
  if (Status status = sonde::check(flight); !status) return status;
  if (Status status = sonde::check(budget); !status) return status;
  for (const std::string& pattern : allow_negative_infinity) {
    if (Status status = check_pattern("allow_negative_infinity", "pattern", pattern); !status) return status;
  }
  return Status::success();
}

}  // namespace sonde
