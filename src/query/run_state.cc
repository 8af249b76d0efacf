// Whether a run continues, from what its source knows of its job.
#include "query/catalogue.h"
#include "store/access.h"

namespace sonde::query {
namespace {

constexpr double kQuiet = 30;  // seconds without a change after which a run has ended

}  // namespace

RunPulse RunEntry::pulse(double now) const {
  const store::JobSigns signs = store::Access::source(run).job();
  RunPulse pulse = {.state = RunState::finished, .quiet_at = signs.last_modified + kQuiet, .has_ring = signs.has_ring};
  if (!signs.ring_is_held && (signs.has_ring || signs.ended_in_crash)) {
    pulse.state = RunState::died;
  } else if (signs.ring_is_held || now < pulse.quiet_at) {
    pulse.state = RunState::live;
  }
  return pulse;
}

RunPulse Catalogue::Item::pulse_at(double now) const {
  if (pulse.state != RunState::live) return pulse;
  if (pulse.has_ring) return entry->pulse(now);
  RunPulse then = pulse;
  if (now >= pulse.quiet_at) then.state = RunState::finished;
  return then;
}

}  // namespace sonde::query
