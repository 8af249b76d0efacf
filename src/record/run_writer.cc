#include "record/run_writer.h"

#include <atomic>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/input_file.h"
#include "base/process.h"
#include "formats/run_layout.h"
#include "record/attempt.h"
#include "sinks/console.h"
#include "sinks/event_file.h"
#include "sinks/stats_file.h"

namespace sonde::record {
namespace {

constexpr std::uint64_t kLookEvery = 250'000'000;  // ns

// "<seconds>.<host>.<pid>.<n>", as TensorBoard's writers name their files.
std::string writer_name() {
  static std::atomic<std::uint64_t> count{0};
  std::string seconds = std::to_string(static_cast<std::int64_t>(base::wall_seconds()));
  seconds.insert(0, seconds.size() < 10 ? 10 - seconds.size() : 0, '0');
  return seconds + "." + base::host_name() + "." + std::to_string(base::process_id()) + "." + std::to_string(count++);
}

}  // namespace

RunWriter::RunWriter(const std::string& directory, const RecorderOptions& options, TagTable& tags, CounterSet& counters,
                     ErrorQueue& errors, ConditionQueue& conditions, PolicyInForce& policy, LossLog& losses)
    : directory_(directory),
      options_(options),
      tags_(tags),
      counters_(counters),
      errors_(errors),
      conditions_(conditions),
      policy_(policy),
      losses_(losses) {}

RunWriter::~RunWriter() = default;

void RunWriter::read_control() {
  if (!options_.live_control) return;
  controller_ = std::make_unique<RunController>(directory_, policy_, errors_);
  controller_->begin();
}

Status RunWriter::open(Pool& pool, CheckpointUse& checkpoints) {
  if (Status status = open_files(&pool, &checkpoints); !status.ok()) return status;
  if (controller_) controller_->begun(*open_->steps);
  return Status::success();
}

Status RunWriter::open_files(Pool* pool, CheckpointUse* checkpoints) {
  auto open = std::make_unique<Open>(*this);
  const double now = base::wall_seconds();
  std::string writer;
  std::string path;
  do {  // in another container a process may have the same number in the same second
    writer = writer_name();
    path = base::join_path(directory_, run_layout::event_file(writer, options_.file_suffix));
  } while (base::file_state(path).ok());
  auto events = std::make_unique<sinks::EventFile>(path, now, options_.precision, counters_.tally(),
                                                   forked_ ? std::nullopt : options_.purge_step);
  if (Status status = events->flush(); !status.ok()) return status;
  open->sinks.add(std::move(events));
  open->sinks.add(std::make_unique<sinks::StatsFile>(
      base::join_path(directory_, run_layout::statistics_file(writer, options_.file_suffix)),
      stats_record::Header{.writer = writer, .host = base::host_name(), .pid = base::process_id(), .start_time = now},
      counters_.tally()));
  if (options_.console != nullptr) open->sinks.add(std::make_unique<sinks::Console>(options_.console));
  if (pool != nullptr) {
    open->budget.emplace(directory_, options_.memory, policy_, counters_, *checkpoints, *pool, open->sinks);
  }
  open->steps.emplace(Steps::Run{directory_, writer, options_.histogram_buckets, !forked_}, policy_, tags_, counters_,
                      errors_, losses_, *loss_report_, open->sinks, open->budget ? &*open->budget : nullptr,
                      open->tasks, options_.callbacks == Callbacks::on_caller ? &conditions_ : nullptr);
  open->output.emplace(counters_, losses_, open->sinks, *open->steps, options_, open->tasks);
  open_ = std::move(open);
  return Status::success();
}

Output* RunWriter::output() noexcept {
  if (open_) return &*open_->output;
  if (failed_) return nullptr;
  try {
    if (forked_) policy_.renew();
    if (Status status = open_files(nullptr, nullptr); !status.ok()) {
      failed_ = true;
      errors_.push(std::move(status));
    }
  } catch (...) {  // what comes is dropped, and counted, until there is memory
    counters_.count_out_of_memory();
    errors_.push({Code::exhausted, "out of memory"});  // short enough to need none
  }
  return open_ ? &*open_->output : nullptr;
}

void RunWriter::write_losses(double wall_time) noexcept {
  for (const sinks::Loss& loss : losses_.take()) {
    if (open_) open_->sinks.lose(wall_time, loss);
  }
}

void RunWriter::deliver_errors() noexcept {
  if (options_.callbacks == Callbacks::on_backend) (void)errors_.deliver();
}

Dropped RunWriter::dropped() const noexcept {
  const Counters counters = counters_.read();
  return {.scalars = counters.dropped_scalars,
          .tensors = counters.dropped_tensors,
          .step_marks = counters.dropped_step_marks};
}

Status RunWriter::tell_losses() noexcept {
  Status first = {Code::exhausted, "out of memory"};  // short enough to need none
  attempt(counters_,
          [&] { first = loss_report_->tell_rest(dropped(), [this](const Status& status) { errors_.push(status); }); });
  return first;
}

void RunWriter::poll(std::uint64_t now, double wall_time) {
  write_losses(wall_time);
  attempt(counters_,
          [&] { loss_report_->tell_due(dropped(), now, [this](const Status& status) { errors_.push(status); }); });
  if (open_) {
    Steps& steps = *open_->steps;
    if (open_->budget && now - last_look_ >= kLookEvery) {
      last_look_ = now;
      attempt(counters_, [&] {
        if (controller_) controller_->poll(steps, *open_->budget, wall_time);
      });
      attempt(counters_, [&] { open_->budget->poll(steps.captures().progress(wall_time), now); });
    }
    attempt(counters_, [&] { steps.follow_policy(); });
    steps.poll(wall_time);
    attempt(counters_, [&] {
      if (controller_) controller_->answer_pending(steps);
    });
    const auto interval = static_cast<std::uint64_t>(std::chrono::nanoseconds(options_.flush_interval).count());
    if (open_->sinks.dirty() && now - last_flush_ >= interval) {
      last_flush_ = now;
      (void)open_->sinks.flush();  // reports its own errors
    }
  }
  deliver_errors();
}

Status RunWriter::flush(double wall_time) noexcept {
  write_losses(wall_time);
  if (open_) open_->steps->wait_for_files();
  Status lost = tell_losses();
  Status status = open_ ? open_->sinks.flush() : Status::success();
  deliver_errors();
  return status.ok() ? std::move(lost) : std::move(status);
}

void RunWriter::finish_pending(double wall_time, bool signalled) noexcept {
  write_losses(wall_time);
  if (open_) {
    if (signalled) trigger_by_signal(wall_time);
    open_->steps->finish_pending(wall_time);
  }
  deliver_errors();
}

void RunWriter::trigger_by_signal(double wall_time) noexcept {
  Steps& steps = *open_->steps;
  attempt(counters_, [&] { steps.trigger({wall_time, steps.captures().last_step()}, by_signal()); });
}

Status RunWriter::finish(double wall_time) noexcept {
  write_losses(wall_time);
  Status status = open_ ? open_->output->close(wall_time) : Status::success();
  Status lost = tell_losses();  // also what only the end has shown
  deliver_errors();
  return status.ok() ? std::move(lost) : std::move(status);
}

Status RunWriter::leave(double wall_time, bool signalled) noexcept {
  Status status = flush(wall_time);
  if (!open_) return status;
  if (signalled) trigger_by_signal(wall_time);
  open_->steps->leave();
  if (open_->sinks.dirty()) {  // steps with conditions that nobody will answer
    if (Status rest = open_->sinks.flush(); status.ok()) status = std::move(rest);
  }
  deliver_errors();
  return status;
}

void RunWriter::wait_for_captures() {
  if (open_) open_->steps->captures().wait();
}

void RunWriter::become_child() {
  if (open_) open_->steps->captures().abandon_ring();  // its lock would otherwise outlive the parent
  new std::unique_ptr<Open>(std::move(open_));
  new std::unique_ptr<RunController>(std::move(controller_));
  new std::unique_ptr<LossReport>(std::move(loss_report_));  // the backend may have held its lock
  loss_report_ = std::make_unique<LossReport>(dropped());
  forked_ = true;
  failed_ = false;
}

}  // namespace sonde::record
