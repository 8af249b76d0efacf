#include "record/run_controller.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "formats/run_layout.h"
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

RunController::RunController(Channel& channel)
    : channel_(channel), control_path_(join_path(channel.directory(), run_layout::kControl)) {}

void RunController::poll(Output& output, std::uint64_t now, double wall_time) {
  if (now - last_look_ < kLookEvery) return;
  last_look_ = now;
  if (channel_.options().live_control) look_at_control(output, wall_time);
  channel_.look_at_signal();  // for a program between two steps
  look_at_budget(output, now, wall_time);
}

// ---- The control file.

void RunController::begin() {
  if (!channel_.options().live_control) return;
  const auto text = changed_control();
  if (!text) return;
  Status status;
  if (const auto control = policy::parse_control(*text, run_layout::kControl)) {
    fired_ = control->fire;  // asked of another process
    status = channel_.set_control(*control);
  } else {
    status = control.error();
  }
  first_ = {*text, std::move(status)};
}

void RunController::begun(const Output& output) {
  const auto first = std::exchange(first_, std::nullopt);
  if (!first) return;
  if (!first->status.ok()) return refuse(first->text, first->status);
  answer(first->text, first->status, output.steps().ring_status());
}

void RunController::look_at_control(Output& output, double wall_time) {
  const auto text = changed_control();
  if (!text) return;
  const auto control = policy::parse_control(*text, run_layout::kControl);
  if (!control) return refuse(*text, control.error());
  const sinks::Stamp stamp = {wall_time, output.steps().last_step()};
  const TriggerJob job = {.reason = "manual", .before = 5, .after = 0};
  const bool fire = control->fire > fired_;  // the number only grows: a file that lacks it asks nothing
  if (fire) {
    const policy::BudgetKeeper keeper(channel_.budget_with(*control));
    const std::uint64_t taken = keeper.policy().disk ? disk_bytes(output, monotonic_nanoseconds()) : 0;
    if (const Status room = output.steps().check_room(stamp, job, keeper, taken); !room.ok()) {
      return answer(*text, room, {});  // as a whole: whoever asked for it puts back what was there
    }
  }
  if (const Status status = channel_.set_control(*control); !status.ok()) return refuse(*text, status);
  fired_ = std::max(fired_, control->fire);
  answer(*text, {}, channel_.follow_engine());
  if (fire) output.steps().trigger(stamp, job);
}

// Its text, where it is another one than at the last look.
std::optional<std::string> RunController::changed_control() {
  const auto seen = file_state(control_path_);
  if (!seen) {
    if (!std::exchange(control_, std::nullopt)) return std::nullopt;
    if (Status status = channel_.set_control(std::nullopt); !status.ok()) channel_.tell(status);
    return std::nullopt;
  }
  if (control_ && *control_ == *seen) return std::nullopt;
  control_ = *seen;
  const auto ignore = [&](Status why) -> std::optional<std::string> {
    channel_.tell(std::move(why));
    return std::nullopt;
  };
  const auto file = InputFile::open(control_path_);
  if (!file) return ignore({file.error().code(), "the control file is ignored: " + file.error().message()});
  const auto own = file->belongs_to_user();
  if (!own || !*own) {
    return ignore({Code::permission_denied, "'" + control_path_ + "' is ignored: it belongs to another user"});
  }
  std::string text(std::min<std::size_t>(seen->size, kLargestControl + 1), '\0');
  const auto got = file->read_at(0, std::as_writable_bytes(std::span(text)));
  if (!got) return ignore(got.error());
  text.resize(*got);
  return text;
}

void RunController::refuse(const std::string& text, const Status& why) {
  channel_.tell({why.code(), "the policy stays as it was: " + why.message()});
  answer(text, why, {});
}

// Beside the file, for whoever wrote it: whether it is in force, and if not, why; or what of it could not be done.
void RunController::answer(const std::string& text, const Status& status, const Status& ring) {
  char checksum[16];
  std::snprintf(checksum, sizeof checksum, "%08x", crc32c(as_bytes(text)));
  std::string line = (status.ok() ? "applied " : "refused ") + std::string(checksum);
  if (!ring.ok()) line += " " + ring.message();
  if (!status.ok()) line += " " + status.message();
  const Status written = write_file(join_path(channel_.directory(), run_layout::kControlState), line + "\n");
  if (!written.ok()) channel_.tell(written);
}

// ---- The budget.

// What is there, and what captures that are being written will add. While there are such nothing is measured: part of
// them would count twice.
std::uint64_t RunController::disk_bytes(const Output& output, std::uint64_t now) {
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

std::string RunController::lacks_disk(Output& output, double wall_time, std::uint64_t bytes) {
  take_budget(output, wall_time);
  if (!keeper_->policy().disk) return {};
  return keeper_->lacks_disk(disk_bytes(output, monotonic_nanoseconds()), bytes);
}

void RunController::look_at_disk(Output& output, double wall_time) {
  take_budget(output, wall_time);
  if (!keeper_->policy().disk) return;
  const auto change = keeper_->observe_disk(disk_bytes(output, monotonic_nanoseconds()));
  if (change) set_level(output, wall_time, *change);
}

void RunController::take_budget(Output& output, double wall_time) {
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

void RunController::look_at_budget(Output& output, std::uint64_t now, double wall_time) {
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

void RunController::set_level(Output& output, double wall_time, const policy::BudgetKeeper::Change& change) {
  channel_.set_level(change.to);
  const std::string detail =
      std::string(to_string(change.from)) + " -> " + std::string(to_string(change.to)) + ": " + change.reason;
  output.give_up({wall_time, output.steps().last_step()}, detail);
}

}  // namespace sonde::record
