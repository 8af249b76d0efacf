// The runs of all served logs under the names that clients know, and when each of them changed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/api.h"
#include "query/facts.h"
#include "sonde/log.h"

namespace sonde::query {

// One run. Shared between catalogues of different revisions.
struct RunEntry {
  RunEntry(std::string shown_name, std::size_t of_log, Run shown_run)
      : name(std::move(shown_name)), log(of_log), run(std::move(shown_run)) {}

  std::string name;  // including the label of its log
  std::size_t log = 0;
  Run run;

  // The facts of what has been read so far; gathered again if the run has changed. Null if the run was never read.
  std::shared_ptr<const Facts> facts() const;
  // The state of its files and rings now; reads its directory.
  RunPulse pulse(double now) const;
  // Grows when something of the run was read or edited.
  std::uint64_t version() const;
  // Call it after a change outside of the log files, such as the note.
  void edited() const { edits.fetch_add(1); }

  mutable std::atomic<std::uint64_t> edits = 0;
  mutable std::mutex mutex = {};
  mutable std::shared_ptr<const Facts> known = nullptr;  // guarded by the mutex
};

// A snapshot of the runs. Never changes.
struct Catalogue {
  struct Item {
    std::shared_ptr<const RunEntry> entry;
    std::uint64_t version = 0;  // of the run at that time
    std::uint64_t changed = 0;  // the revision of its last change
    RunPulse pulse;

    RunState state() const noexcept { return pulse.state; }
    // The current state, if nothing of the run has been read since.
    RunPulse pulse_at(double now) const;
  };
  std::uint64_t revision = 0;
  std::uint64_t list_changed = 0;                  // the revision at which runs appeared or disappeared
  std::vector<Item> runs;                          // by name
  std::vector<std::vector<std::string>> problems;  // of each log

  const Item* find(std::string_view name) const;
  // Fails, with the nearest names, if there is none.
  Result<Item> run(std::string_view name) const;
};

// Any thread.
class Runs {
 public:
  explicit Runs(std::vector<Served> logs);

  const std::vector<Served>& logs() const noexcept { return logs_; }
  // The current catalogue.
  std::shared_ptr<const Catalogue> now() const;
  // Returns when the runs have been read once: all of them, within `all`, otherwise the first of them, within `first`.
  void wait_for_first_runs(std::chrono::milliseconds all, std::chrono::milliseconds first) const;
  std::uint64_t wait_for_change(std::uint64_t seen, std::chrono::milliseconds timeout) const;
  Change change_since(std::uint64_t seen) const;
  // Rebuilds the catalogue, after RunEntry::edited().
  void look_again() const;

 private:
  bool has_read_more() const;
  bool has_changed_states() const;
  void renew() const;

  std::vector<Served> logs_;
  // Revisions start at the start time, so that those of an earlier process are smaller.
  const std::uint64_t first_revision_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Catalogue> catalogue_;
  mutable std::vector<std::uint64_t> versions_;  // of the logs
  mutable std::int64_t second_ = 0;              // when the states were last checked
};

}  // namespace sonde::query
