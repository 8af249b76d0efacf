// Whether a run goes on: from its files, its flight rings and its captures.
#include <algorithm>
#include <string_view>

#include "base/directory.h"
#include "base/file.h"
#include "base/file_lock.h"
#include "formats/run_layout.h"
#include "index/run_access.h"
#include "query/captures.h"
#include "query/catalogue.h"

namespace sonde::query {
namespace {

constexpr double kQuiet = 30;  // seconds without a change after which a run has ended

// Whether the newest thing in the run is what a crash left.
bool ended_with_crash(const Run& run, double last_modified) {
  const std::vector<std::string> captures = captures_of(run);
  if (captures.empty() || !captures.back().ends_with("-crash")) return false;
  const Result<FileState> made = file_state(join_path(captures.back(), run_layout::kCaptureFile));
  return made && static_cast<double>(made->modified) * 1e-9 >= last_modified;
}

}  // namespace

RunPulse RunEntry::pulse(double now) const {
  const index::RunIndex& known_run = index::RunAccess::index(run);
  const double modified = known_run.last_modified();
  const std::string& directory = known_run.directory();
  RunPulse pulse = {.state = RunState::finished, .quiet_at = modified + kQuiet, .has_ring = false};
  bool held = false;
  bool captures = false;
  if (const Result<Directory> listed = read_directory(directory, known_run.within())) {
    for (const DirectoryEntry& entry : listed->entries) {
      captures |= entry.name == run_layout::kCaptures;
      if (!run_layout::is_ring(entry.name)) continue;
      const Result<bool> locked = is_locked(join_path(directory, entry.name));
      pulse.has_ring |= locked.ok();
      held |= locked && *locked;
    }
  }
  if (!held && (pulse.has_ring || (captures && ended_with_crash(run, modified)))) {
    pulse.state = RunState::died;
  } else if (held || now < pulse.quiet_at) {
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
