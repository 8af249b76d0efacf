#include "record/steward.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "policy/control_file.h"
#include "record/channel.h"
#include "record/disk_use.h"
#include "record/output.h"

namespace sonde::record {
namespace {

constexpr std::uint64_t kLookEvery = 250'000'000;         // ns
constexpr std::uint64_t kMeasureEvery = 60'000'000'000U;  // ns between two looks at all files of the run
constexpr std::size_t kLargestControl = std::size_t{1} << 20;

}  // namespace

Steward::Steward(Channel& channel) : channel_(channel), control_path_(join_path(channel.directory(), "control.toml")) {}

void Steward::tend(Output& output, std::uint64_t now, double wall_time) {
  if (now - last_look_ < kLookEvery) return;
  last_look_ = now;
  if (channel_.options().live_control) look_at_control(output, wall_time);
  started_ = true;
  channel_.look_at_signal();  // for a program between two steps
  look_at_budget(output, now, wall_time);
}

// ---- The control file.

void Steward::look_at_control(Output& output, double wall_time) {
  const auto seen = file_state(control_path_);
  if (!seen) {
    if (!std::exchange(control_, std::nullopt)) return;
    if (Status status = channel_.set_control(std::nullopt); !status.ok()) channel_.report(status);
    return;
  }
  if (control_ && *control_ == *seen) return;
  control_ = *seen;
  const auto file = InputFile::open(control_path_);
  if (!file) return channel_.report({file.error().code(), "the control file is ignored: " + file.error().message()});
  const auto own = file->belongs_to_user();
  if (!own || !*own) {
    channel_.report({Code::permission_denied, "'" + control_path_ + "' is ignored: it belongs to another user"});
    return;
  }
  std::string text(std::min<std::size_t>(seen->size, kLargestControl + 1), '\0');
  const auto got = file->read_at(0, std::as_writable_bytes(std::span(text)));
  if (!got) return channel_.report(got.error());
  text.resize(*got);
  take_control(text);
  if (std::exchange(fire_, false)) {
    output.steps().trigger({wall_time, output.steps().last_step()}, {.reason = "manual", .before = 5, .after = 0});
  }
}

void Steward::take_control(const std::string& text) {
  const auto control = policy::parse_control(text, "control.toml");
  if (!control) return answer(text, control.error(), {});
  // What was asked for before this process began was another's. The number only grows: a file that lacks it asks
  // nothing.
  fire_ = started_ && control->fire > fired_;
  fired_ = std::max(fired_, control->fire);
  const Status status = channel_.set_control(*control);
  answer(text, status, status.ok() ? channel_.follow_engine() : Status::success());
}

// Beside the file, for whoever wrote it: whether it is in force, and if not, why; or what of it could not be done.
void Steward::answer(const std::string& text, const Status& status, const Status& ring) {
  char checksum[16];
  std::snprintf(checksum, sizeof checksum, "%08x", crc32c(as_bytes(text)));
  std::string line = (status.ok() ? "applied " : "refused ") + std::string(checksum);
  if (!ring.ok()) line += " " + ring.message();
  if (!status.ok()) {
    line += " " + status.message();
    channel_.report({status.code(), "the policy stays as it was: " + status.message()});
  }
  const Status written = write_file(join_path(channel_.directory(), "control.state"), line + "\n");
  if (!written.ok()) channel_.report(written);
}

// ---- The budget.

// What is there, and what captures that are being written will add. While there are such nothing is measured: part of
// them would count twice.
std::uint64_t Steward::disk_bytes(const Output& output, std::uint64_t now) {
  const std::uint64_t written = channel_.counters().bytes_written;
  const std::uint64_t coming = output.steps().capture_bytes();
  if (disk_look_ == 0 || (coming == 0 && now - disk_look_ >= kMeasureEvery)) {
    channel_.measure_checkpoints();
    const std::uint64_t all = bytes_below(channel_.directory());
    disk_ = all - std::min(all, channel_.checkpoint_bytes());
    disk_written_ = written;
    disk_look_ = now;
  }
  return disk_ + (written - disk_written_) + channel_.checkpoint_bytes() + coming;
}

std::string Steward::lacks_disk(Output& output, double wall_time, std::uint64_t bytes) {
  take_budget(output, wall_time);
  if (!keeper_->policy().disk) return {};
  return keeper_->lacks_disk(disk_bytes(output, monotonic_nanoseconds()), bytes);
}

void Steward::look_at_disk(Output& output, double wall_time) {
  take_budget(output, wall_time);
  if (!keeper_->policy().disk) return;
  const auto change = keeper_->observe_disk(disk_bytes(output, monotonic_nanoseconds()));
  if (change) set_level(output, wall_time, *change);
}

void Steward::take_budget(Output& output, double wall_time) {
  if (const std::uint64_t version = channel_.engine_version(); !keeper_ || version != engine_version_) {
    engine_version_ = version;
    const BudgetPolicy budget = channel_.engine()->policy().budget;
    if (!keeper_ || keeper_->policy() != budget) {
      if (channel_.level() != policy::Level::full) {
        set_level(output, wall_time, {channel_.level(), policy::Level::full, "the budget is another one"});
      }
      keeper_.emplace(budget);
    }
    channel_.set_budget(channel_.engine()->policy());  // of which a ring takes its share
  }
}

void Steward::look_at_budget(Output& output, std::uint64_t now, double wall_time) {
  take_budget(output, wall_time);
  const BudgetPolicy& budget = keeper_->policy();
  if (!budget.overhead && !budget.memory && !budget.disk) return;
  const Counters counters = channel_.counters();
  const auto change = keeper_->observe({.wall = static_cast<double>(now) * 1e-9,
                                        .busy = channel_.busy_seconds(),
                                        .refused = counters.dropped_tensors,
                                        .disk = budget.disk ? disk_bytes(output, now) : 0});
  if (change) set_level(output, wall_time, *change);
}

void Steward::set_level(Output& output, double wall_time, const policy::BudgetKeeper::Change& change) {
  channel_.set_level(change.to);
  const std::string detail =
      std::string(to_string(change.from)) + " -> " + std::string(to_string(change.to)) + ": " + change.reason;
  output.give_up({wall_time, output.steps().last_step()}, detail);
}

}  // namespace sonde::record
