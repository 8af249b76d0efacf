#include "record/channel.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/signal_count.h"
#include "base/utf8.h"
#include "record/attempt.h"
#include "record/backend.h"
#include "record/budget_controller.h"
#include "record/run_writer.h"
#include "sonde/capture.h"
#include "tensor/copy.h"
#include "tensor/rows.h"
#include "tensor/why_invalid.h"
#include "tensor_files/capture_files.h"
#include "tensor_files/external_rings.h"

namespace sonde::record {
namespace {

Status check(const RecorderOptions& options) {
  if (options.file_suffix.find('/') != std::string::npos) {
    return {Code::invalid_argument, "the file suffix '" + options.file_suffix + "' contains a slash"};
  }
  if (options.histogram_buckets < 1) {
    return {Code::invalid_argument, "histogram_buckets is below 1: give at least one bucket"};
  }
  if (options.threads < 0) {
    return {Code::invalid_argument, "threads is below 0: give 0 for a quarter of the processors, or their number"};
  }
  if (options.memory == 0) {
    return {Code::invalid_argument, "memory is 0, which would drop every tensor: give the bytes that may wait"};
  }
  if (options.max_wait.count() < 0 || options.flush_interval.count() < 0) {
    return {Code::invalid_argument, "max_wait or flush_interval is negative: give 0 milliseconds or more"};
  }
  return options.trigger_signal != 0 ? base::check_signal(options.trigger_signal) : Status::success();
}

// The caller's name of a tensor that does not belong to a probe; empty if it has none.
std::string name_of(const Job& job, TagTable& tags) {
  if (const auto* histogram = std::get_if<HistogramJob>(&job)) return std::string(tags.name(histogram->tag));
  if (const auto* image = std::get_if<ImageJob>(&job)) return std::string(tags.name(image->tag));
  if (const auto* audio = std::get_if<AudioJob>(&job)) return std::string(tags.name(audio->tag));
  if (const auto* print = std::get_if<PrintJob>(&job)) return base::valid_utf8(print->name);
  return {};
}

Status out_of_memory() noexcept { return {Code::exhausted, "out of memory"}; }  // short enough to need none

}  // namespace

Channel::Channel(std::string directory, const RecorderOptions& options)
    : directory_(std::move(directory)),
      options_(options),
      calls_back_(options.callbacks == Callbacks::on_caller),
      signals_(base::signal_count()),
      errors_(options.on_error),
      policy_(options.policy, errors_),
      losses_(counters_),
      checkpoints_(directory_),
      pool_(std::make_unique<Pool>(pool_budget(options.memory, options.policy), options.tensors, options.max_wait,
                                   options.release_owners)),
      writer_(std::make_unique<RunWriter>(directory_, options_, tags_, counters_, errors_, conditions_, policy_,
                                          losses_)) {}

Channel::~Channel() = default;

Result<std::shared_ptr<Channel>> Channel::open(std::string_view directory, const RecorderOptions& options) {
  if (directory.empty()) return Status(Code::invalid_argument, "the log directory's name is empty");
  if (Status status = check(options); !status.ok()) return status;
  std::string path(directory);
  if (Status status = base::make_directories(path); !status.ok()) return status;
  std::shared_ptr<Channel> channel(new Channel(std::move(path), options));
  if (Status status = channel->policy_.start(); !status.ok()) return status;
  channel->writer_->read_control();
  channel->recover_rings();
  if (Status status = channel->writer_->open(*channel->pool_, channel->checkpoints_); !status.ok()) return status;
  if (options.trigger_signal != 0) {
    if (Status status = base::count_signal(options.trigger_signal); !status.ok()) return status;
  }
  if (Status status = Backend::get().add(channel); !status.ok()) return status;
  return channel;
}

// A killed process may have left its flight ring here: its content is saved first.
void Channel::recover_rings() {
  const auto recover = [&](const Result<std::vector<std::string>>& rings) {
    if (!rings) return errors_.push(rings.error());
    for (const std::string& ring : *rings) {
      if (const auto capture = recover_ring(ring, directory_); !capture) errors_.push(capture.error());
    }
  };
  recover(abandoned_rings(directory_));
  const std::string& elsewhere = options_.policy.flight.directory;
  if (!elsewhere.empty()) recover(tensor_files::abandoned_rings_of(directory_, elsewhere));
  (void)tensor_files::external_rings(directory_);  // those that are gone by now are forgotten
}

// ---- Calls of recording threads.

void Channel::scalar(std::uint32_t tag, double value, std::int64_t step) noexcept {
  if (!is_open()) [[unlikely]] {
    return counters_.count_rejected();
  }
  Backend::push_scalar(*this, tag, value, step, options_.scalars);
}

std::uint32_t Channel::next_pass() noexcept {
  std::uint32_t id = 0;
  while (id == 0) id = passes_.fetch_add(1, std::memory_order_relaxed) + 1;  // 0 is the training step's
  return id;
}

void Channel::begin_step(Pass pass, std::int64_t step) noexcept {
  if (!is_open()) return;
  if (!pass.evaluation) policy_.begin_step(step);
  if (has_callbacks()) [[unlikely]] {
    run_callbacks(false);
  }
  pool_->reclaim();  // what the last step lent is free for this one
  Backend::push_step(*this, pass.evaluation ? Op::evaluation_begin : Op::step_begin, pass.id, step);
}

void Channel::end_step(Pass pass, std::int64_t step) noexcept {
  if (!is_open()) return;
  if (!pass.evaluation) look_at_signal();  // the capture has the step in which it came
  Backend::push_step(*this, pass.evaluation ? Op::evaluation_end : Op::step_end, pass.id, step);
  // What the ring does not have yet is lost with the process.
  if (policy_.has_ring()) Backend::get().wake();
  if (has_callbacks()) [[unlikely]] {
    run_callbacks(false);
  }
}

void Channel::look_at_signal() noexcept {
  if (base::signal_count() == signals_.load(std::memory_order_relaxed)) [[likely]] {
    return;
  }
  if (!take_signal()) return;
  // With its own time stamp, so that it belongs to the current step however late the backend is.
  try {
    if (PayloadPtr payload = stage(RunWriter::by_signal())) send(std::move(payload), 0);
  } catch (...) {
    counters_.count_rejected();
  }
}

// In a forked child it is the parent's.
bool Channel::take_signal() noexcept {
  const std::uint64_t count = base::signal_count();
  return signals_.exchange(count, std::memory_order_relaxed) != count && !forked_;
}

const ProbeEntry* Channel::probe(std::string_view name, const ProbeOptions& options) {
  if (name.empty() || name.size() > TagTable::kLongestName) {
    reject({Code::invalid_argument, "the name of a probe is empty or longer than 64 KiB"});
    return nullptr;
  }
  std::string valid = base::valid_utf8(name);
  std::int64_t every = options.every;
  for (const RecordEvery& one : options.record) every = std::min(every, one.every);
  if (every < 0) {
    reject({Code::invalid_argument, "the probe '" + valid + "' has every = " + std::to_string(every) +
                                        " and records nothing: give 1 or more steps, or 0 for never"});
    return nullptr;
  }
  return policy_.probe(std::move(valid), options);
}

std::optional<std::uint32_t> Channel::tag(std::string_view name, tags::Plugin plugin) {
  if (!is_open()) {
    counters_.count_rejected();
    return std::nullopt;
  }
  auto id = tags_.resolve(name, plugin);
  if (id) return *id;
  reject(id.error());
  return std::nullopt;
}

PayloadPtr Channel::stage(Job job) {
  PayloadPtr payload = pool_->acquire(0);
  if (payload != nullptr) payload->job = std::move(job);
  return payload;
}

PayloadPtr Channel::stage(Job job, TensorArg&& tensor, std::int64_t step, const RowSample& sample) {
  if (!policy_.timed()) return stage_untimed(job, tensor, step, sample);
  const std::uint64_t begin = base::monotonic_nanoseconds();
  PayloadPtr payload = stage_untimed(job, tensor, step, sample);
  counters_.add_busy(base::monotonic_nanoseconds() - begin);
  return payload;
}

PayloadPtr Channel::stage_untimed(Job& job, TensorArg& tensor, std::int64_t step, const RowSample& sample) {
  if (!tensor.view.valid()) {
    refuse_shape(job, tensor::why_invalid(tensor.view));
    return nullptr;
  }
  TensorView view = tensor.view;
  std::vector<std::int64_t> rows;  // if they are not contiguous
  if (sample.rows > 0 && view.shape.rank() > 0 && view.shape[0] > sample.rows) {
    if (sample.random) rows = tensor::random_rows(view.shape[0], sample.rows, static_cast<std::uint64_t>(step));
    if (!sample.random) view = tensor::first_rows(view, sample.rows);
  }
  const bool shared = tensor.owner != nullptr && rows.empty();
  const std::size_t bytes = rows.empty() ? tensor::byte_size(view) : tensor::row_bytes(view, rows.size());
  PayloadPtr payload = pool_->acquire(bytes, shared);
  if (payload == nullptr) {
    const auto* probe = std::get_if<ProbeJob>(&job);
    losses_.lose_tensor(probe, step);
    if (probe != nullptr) drop(*probe, step);
    return nullptr;
  }
  payload->job = std::move(job);
  if (shared) {
    payload->view = view;
    payload->holding->owner = std::move(tensor.owner);
  } else {
    void* const data = payload->holding->block.data;
    if (rows.empty()) tensor::copy_dense_past_cache(view, data);
    payload->view = rows.empty() ? sonde::view(data, view.dtype, view.shape) : tensor::copy_rows(view, rows, data);
  }
  payload->rows = std::move(rows);
  return payload;
}

// A probe is reported once: its error repeats at every step.
void Channel::refuse_shape(const Job& job, std::string_view why) {
  const std::string end = " was not recorded: " + std::string(why);
  const auto* probe = std::get_if<ProbeJob>(&job);
  if (probe == nullptr) {
    const std::string name = name_of(job, tags_);
    return reject({Code::invalid_argument, (name.empty() ? "a tensor" : "'" + name + "'").append(end)});
  }
  counters_.count_rejected();
  policy_.refuse(*probe->probe, end);
}

void Channel::send(PayloadPtr payload, std::int64_t step) noexcept {
  pool_->enqueue(*payload);
  Backend::push_payload(*this, std::move(payload), step, options_.tensors);
  if (pool_->take_pressure()) [[unlikely]] {
    Backend::get().wake();
  }
}

void Channel::reject(Status status) noexcept {
  counters_.count_rejected();
  errors_.push(std::move(status));
}

bool Channel::run_callbacks(bool also_begun) noexcept {
  if (!has_callbacks()) return false;
  bool answered = false;
  try {
    answered = conditions_.answer(also_begun);
  } catch (...) {
    counters_.count_rejected();
  }
  if (answered) Backend::get().wake();  // steps wait for it
  const bool told = errors_.deliver();
  return answered || told;
}

Status Channel::flush() noexcept {
  Status status = out_of_memory();
  attempt(counters_, [&] { status = Backend::get().flush(*this); });
  run_callbacks(true);
  pool_->reclaim();
  return status;
}

Status Channel::close() noexcept {
  if (!open_.exchange(false)) return Status::success();
  // Captures are waited for here: on the backend all other recorders would wait too.
  Status status = out_of_memory();
  attempt(counters_, [&] { status = Backend::get().finish_pending(*this); });
  if (status.ok()) writer_->wait_for_captures();
  Status closed = out_of_memory();
  attempt(counters_, [&] { closed = Backend::get().close(*this); });
  if (status.ok()) status = std::move(closed);
  run_callbacks(true);
  pool_->reclaim();
  return status;
}

// Its place in the step stays empty: the backend counts it, so that those of its name that follow keep their numbers.
void Channel::drop(ProbeJob job, std::int64_t step) noexcept {
  job.lost = true;
  if (PayloadPtr payload = stage(std::move(job))) send(std::move(payload), step);
}

// ---- Around fork().

void Channel::lock_for_fork() {
  policy_.lock_for_fork();
  errors_.mutex().lock();
  conditions_.mutex().lock();
  losses_.mutex().lock();
  tags_.mutex().lock();
  pool_->lock_for_fork();
}

void Channel::unlock_after_fork() {
  pool_->unlock_after_fork();
  tags_.mutex().unlock();
  losses_.mutex().unlock();
  conditions_.mutex().unlock();
  errors_.mutex().unlock();
  policy_.unlock_after_fork();
}

// What the parent has in flight is the parent's to write: its files and its pool are left alone, forever.
void Channel::become_child() {
  writer_->become_child();
  forked_ = true;
  const Policy& own = policy_.become_child();
  new std::unique_ptr<Pool>(std::move(pool_));
  pool_ = std::make_unique<Pool>(pool_budget(options_.memory, own), options_.tensors, options_.max_wait,
                                 options_.release_owners);
  errors_.clear();
  conditions_.clear();
  losses_.clear();
}

}  // namespace sonde::record
