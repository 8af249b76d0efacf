#include "record/policy_warnings.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/suggest.h"

namespace sonde::record {
namespace {

constexpr std::int64_t kStepsBeforeWarning = 10;
constexpr std::int64_t kStepsWithoutEpoch = 1000;  // before they are missed

}  // namespace

void PolicyWarnings::end_step(const policy::Engine& engine, const sinks::Stamp& stamp) {
  if (++steps_ == kStepsBeforeWarning) {
    unmatched(engine);
    unknown_scalars(engine, false);
  }
  if (steps_ == kStepsWithoutEpoch) epochs(engine);
  write(stamp);
}

void PolicyWarnings::finish(const policy::Engine& engine, const sinks::Stamp& stamp) {
  if (steps_ < kStepsBeforeWarning) unmatched(engine);
  if (steps_ < kStepsWithoutEpoch) epochs(engine);
  unknown_scalars(engine, true);
  write(stamp);
}

void PolicyWarnings::warn_once(const std::string& what, const Status& status) {
  if (!warned_.insert(what).second) return;
  errors_.push(status);
  unwritten_.append(unwritten_.empty() ? "" : "\n\n").append(status.message());
}

// Those of a step are one text.
void PolicyWarnings::write(const sinks::Stamp& stamp) {
  if (unwritten_.empty()) return;
  sinks_.say("sonde/warnings", stamp, unwritten_);
  unwritten_.clear();
}

// A pattern that matches nothing is usually a slip of the pen.
void PolicyWarnings::unmatched(const policy::Engine& engine) {
  if (steps_ == 0) return;
  const std::vector<std::pair<std::string, Kind>> probes = policy_.probes();
  std::vector<policy::Engine::Named> named;
  std::vector<std::string> names;
  std::set<std::string_view> seen;  // several kinds may have one name
  for (const auto& [name, kind] : probes) {
    named.push_back({name, kind});
    if (seen.insert(name).second) names.push_back(name);
    names.push_back(std::string(to_string(kind)) + "/" + name);
  }
  for (const auto& unmatched : engine.unmatched(named)) {
    warn_once(unmatched.place,
              {Code::not_found, unmatched.place + " matches none of the " + std::to_string(probes.size()) + " probes" +
                                    base::nearest(unmatched.pattern, names)});
  }
}

// Without Recorder::epoch a watch that counts epochs keeps nothing forever.
void PolicyWarnings::epochs(const policy::Engine& engine) {
  if (steps_ == 0 || policy_.has_epochs()) return;
  for (const WatchPolicy& watch : engine.policy().watches) {
    if (!watch.epochs) continue;
    warn_once("epochs " + watch.tensors,
              {Code::not_found, "the watch on '" + watch.tensors +
                                    "' waits for an epoch, and none has begun: call Recorder::epoch at the "
                                    "beginning of each, or count steps, as with every = 100"});
  }
}

// Some scalars come only every few epochs, so at first only those that look like typos are reported.
void PolicyWarnings::unknown_scalars(const policy::Engine& engine, bool at_end) {
  if (steps_ == 0) return;
  const std::vector<std::string> known = tags_.names(tags::Plugin::scalars);
  for (const auto& scalar : engine.scalars()) {
    if (std::ranges::find(known, scalar.pattern) != known.end()) continue;
    std::string meant = base::did_you_mean(scalar.pattern, known);
    const auto slashed =
        std::ranges::find_if(known, [&](const std::string& name) { return name.starts_with(scalar.pattern + "/"); });
    if (slashed != known.end()) meant = "; the one with a slash in its name is scalar('" + *slashed + "')";
    if (meant.empty() && !at_end) continue;
    warn_once(scalar.place, {Code::not_found, scalar.place + " was never recorded" + meant});
  }
}

}  // namespace sonde::record
