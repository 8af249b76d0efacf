#include "record/run_controller.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "formats/run_layout.h"
#include "policy/control_file.h"
#include "record/steps.h"

namespace sonde::record {
namespace {

constexpr std::size_t kLargestControl = std::size_t{1} << 20;

}  // namespace

RunController::RunController(std::string run_directory, PolicyInForce& policy, ErrorQueue& errors)
    : directory_(std::move(run_directory)),
      control_path_(base::join_path(directory_, run_layout::kControl)),
      policy_(policy),
      errors_(errors) {}

void RunController::begin() {
  const auto text = changed_control();
  if (!text) return;
  Status status;
  if (const auto control = policy::parse_control(*text, run_layout::kControl)) {
    fired_ = control->fire;  // asked of another process
    status = policy_.set_control(*control);
  } else {
    status = control.error();
  }
  first_ = {*text, std::move(status)};
}

void RunController::begun(const Steps& steps) {
  const auto first = std::exchange(first_, std::nullopt);
  if (!first) return;
  if (!first->status.ok()) return refuse(first->text, first->status);
  answer(first->text, first->status, steps.ring_status());
}

void RunController::poll(Steps& steps, BudgetController& budget, double wall_time) {
  const std::optional<base::FileState> before = control_;
  try {
    if (const auto text = changed_control()) take(*text, steps, budget, wall_time);
  } catch (...) {  // out of memory: the next poll reads the file again
    control_ = before;
    throw;
  }
}

void RunController::take(const std::string& text, Steps& steps, BudgetController& budget, double wall_time) {
  pending_.reset();
  const auto control = policy::parse_control(text, run_layout::kControl);
  if (!control) return refuse(text, control.error());
  const sinks::Stamp stamp = {wall_time, steps.captures().last_step()};
  const TriggerJob job = {.reason = "manual", .before = 5, .after = 0};
  const bool fire = control->fire > fired_;  // the number only grows: a file that lacks it asks nothing
  if (fire) {
    steps.wait_for_files();  // they count
    const policy::BudgetKeeper keeper(policy_.budget_with(*control));
    const std::uint64_t taken =
        keeper.policy().disk ? budget.disk_bytes(steps.captures().bytes(), base::monotonic_nanoseconds()) : 0;
    if (const Status room = steps.captures().check_room(stamp, job, keeper, taken); !room.ok()) {
      return answer(text, room, {});  // all of it: the command that wrote the file restores the old one
    }
  }
  if (const Status status = policy_.set_control(*control); !status.ok()) return refuse(text, status);
  pending_ = text;
  steps.follow_policy();
  if (fire) steps.trigger(stamp, job);
  fired_ = std::max(fired_, control->fire);
}

void RunController::answer_pending(const Steps& steps) {
  if (!pending_ || !steps.ring_settled()) return;
  answer(*pending_, {}, steps.ring_status());
  pending_.reset();
}

// Its text, if it has changed since the last check.
std::optional<std::string> RunController::changed_control() {
  const auto seen = base::file_state(control_path_);
  if (!seen) {
    if (!std::exchange(control_, std::nullopt)) return std::nullopt;
    if (Status status = policy_.set_control(std::nullopt); !status.ok()) errors_.push(status);
    return std::nullopt;
  }
  if (control_ && *control_ == *seen) return std::nullopt;
  control_ = *seen;
  const auto ignore = [&](Status why) -> std::optional<std::string> {
    errors_.push(std::move(why));
    return std::nullopt;
  };
  const auto file = base::InputFile::open(control_path_);
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
  errors_.push({why.code(), "the policy stays as it was: " + why.message()});
  answer(text, why, {});
}

// Beside the file, for the command that wrote it: whether it is in force, and if not, why; or what could not be done.
void RunController::answer(const std::string& text, const Status& status, const Status& ring) {
  char checksum[16];
  std::snprintf(checksum, sizeof checksum, "%08x", base::crc32c(base::as_bytes(text)));
  std::string line = (status.ok() ? "applied " : "refused ") + std::string(checksum);
  if (!ring.ok()) line += " " + ring.message();
  if (!status.ok()) line += " " + status.message();
  const Status written = base::write_file(base::join_path(directory_, run_layout::kControlState), line + "\n");
  if (!written.ok()) errors_.push(written);
}

}  // namespace sonde::record
