#include "record/channel.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/utf8.h"
#include "record/backend.h"
#include "record/output.h"
#include "tensor/copy.h"

namespace sonde::record {
namespace {

constexpr std::size_t kQueuedErrors = 64;  // more in one round are only counted

Status check(const RecorderOptions& options) {
  if (options.file_suffix.find('/') != std::string::npos) {
    return {Code::invalid_argument, "the file suffix '" + options.file_suffix + "' contains a slash"};
  }
  if (options.histogram_buckets < 1) {
    return {Code::invalid_argument, "histogram_buckets is below 1: give at least one bucket"};
  }
  return Status::success();
}

}  // namespace

Channel::Channel(std::string directory, const RecorderOptions& options)
    : directory_(std::move(directory)),
      options_(options),
      pool_(std::make_shared<Pool>(options.memory, options.tensors, options.max_wait)) {}

Channel::~Channel() = default;

Result<std::shared_ptr<Channel>> Channel::open(std::string_view directory, const RecorderOptions& options) {
  if (directory.empty()) return Status(Code::invalid_argument, "the log directory's name is empty");
  if (Status status = check(options); !status.ok()) return status;
  std::string path(directory);
  if (Status status = make_directories(path); !status.ok()) return status;
  std::shared_ptr<Channel> channel(new Channel(std::move(path), options));
  auto output = Output::create(*channel);
  if (!output) return output.error();
  channel->output_ = std::move(*output);
  if (Status status = Backend::get().add(channel); !status.ok()) return status;
  return channel;
}

Counters Channel::counters() const noexcept {
  const auto get = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
  return {.scalars = get(scalars_),
          .tensors = get(tensors_),
          .dropped_scalars = get(dropped_scalars_),
          .dropped_tensors = get(dropped_tensors_),
          .rejected = get(rejected_),
          .write_errors = get(tally_.write_errors),
          .lost_records = get(tally_.lost_records),
          .bytes_written = get(tally_.bytes_written)};
}

// ---- Front end.

void Channel::scalar(std::uint32_t tag, double value, std::int64_t step) noexcept {
  if (!is_open()) [[unlikely]] {
    return count_rejected();
  }
  Backend::push_scalar(*this, tag, value, step, options_.scalars);
}

void Channel::begin_step(std::int64_t step, bool evaluation) noexcept {
  if (is_open()) Backend::push_step(*this, evaluation ? Op::evaluation_begin : Op::step_begin, step);
}

void Channel::end_step(std::int64_t step, bool evaluation) noexcept {
  if (is_open()) Backend::push_step(*this, evaluation ? Op::evaluation_end : Op::step_end, step);
}

const ProbeEntry* Channel::probe(std::string_view name, const ProbeOptions& options) {
  if (name.empty() || name.size() > TagTable::kLongestName) {
    reject({Code::invalid_argument, "the name of a probe is empty or longer than 64 KiB"});
    return nullptr;
  }
  std::string valid = valid_utf8(name);
  if (options.when) has_conditions_.store(true, std::memory_order_relaxed);
  const std::scoped_lock lock(mutex_);
  for (const ProbeEntry& entry : probes_) {
    if (entry.name == valid && entry.options.kind == options.kind) return &entry;
  }
  return &probes_.emplace_back(ProbeEntry{static_cast<std::uint32_t>(probes_.size()), std::move(valid), options});
}

std::optional<std::uint32_t> Channel::tag(std::string_view name, tags::Plugin plugin) {
  if (!is_open()) {
    count_rejected();
    return std::nullopt;
  }
  auto id = tags_.resolve(name, plugin);
  if (id) return *id;
  reject(id.error());
  return std::nullopt;
}

Payload* Channel::stage(Job job) {
  Payload* payload = pool_->acquire(0);
  if (payload != nullptr) payload->job = std::move(job);
  return payload;
}

Payload* Channel::stage(Job job, const TensorArg& tensor, std::int64_t step) {
  release_owners();
  if (!tensor.view.valid()) {
    reject({Code::invalid_argument, "a tensor was not recorded: its shape does not match its data"});
    return nullptr;
  }
  const bool shared = tensor.owner != nullptr;
  Payload* payload = pool_->acquire(shared ? 0 : byte_size(tensor.view));
  if (payload == nullptr) {
    const auto* probe = std::get_if<ProbeJob>(&job);
    dropped_tensors_.fetch_add(1, std::memory_order_relaxed);
    note_loss(probe != nullptr ? probe->probe : nullptr, probe != nullptr && probe->evaluation, step);
    return nullptr;
  }
  payload->job = std::move(job);
  payload->view = tensor.view;
  if (shared) {
    payload->owner = tensor.owner;
  } else {
    copy_dense(tensor.view, payload->block.data);
    payload->view = view(payload->block.data, tensor.view.dtype, tensor.view.shape);
  }
  return payload;
}

void Channel::send(Payload* payload, std::int64_t step) noexcept {
  pool_->enqueue(payload);
  Backend::push_payload(*this, payload, step, options_.tensors);
}

void Channel::reject(Status status) noexcept {
  count_rejected();
  const std::scoped_lock lock(mutex_);
  if (errors_.size() >= kQueuedErrors) return;
  errors_.push_back(std::move(status));
  has_news_.store(true, std::memory_order_release);
}

Status Channel::flush() noexcept {
  Status status = Backend::get().flush(*this);
  release_owners();
  return status;
}

Status Channel::close() noexcept {
  if (!open_.exchange(false)) return Status::success();
  Status status = Backend::get().close(*this);
  release_owners();
  return status;
}

void Channel::release_owners() noexcept {
  if (!has_owners_.load(std::memory_order_acquire)) return;
  std::vector<std::shared_ptr<const void>> owners;
  const std::scoped_lock lock(mutex_);
  owners.swap(owners_);
  has_owners_.store(false, std::memory_order_relaxed);
}

void Channel::lose_scalar(std::int64_t step) noexcept {
  dropped_scalars_.fetch_add(1, std::memory_order_relaxed);
  note_loss(nullptr, false, step);
}

void Channel::lose(Payload* payload, std::int64_t step) noexcept {
  const auto* probe = std::get_if<ProbeJob>(&payload->job);
  dropped_tensors_.fetch_add(1, std::memory_order_relaxed);
  note_loss(probe != nullptr ? probe->probe : nullptr, probe != nullptr && probe->evaluation, step);
  retire(payload);
}

// Losses of one probe are told as one, from the first step to the last.
void Channel::note_loss(const ProbeEntry* probe, bool evaluation, std::int64_t step) noexcept {
  const std::scoped_lock lock(mutex_);
  has_news_.store(true, std::memory_order_release);
  for (sinks::Loss& loss : losses_) {
    const bool same_probe = probe == nullptr ? !loss.probe : loss.probe && loss.probe->id == probe->id;
    if (!same_probe || loss.evaluation != evaluation) continue;
    loss.first_step = std::min(loss.first_step, step);
    loss.last_step = std::max(loss.last_step, step);
    ++loss.count;
    return;
  }
  sinks::Loss& loss = losses_.emplace_back();
  if (probe != nullptr) loss.probe = {probe->id, probe->name, probe->options.kind, probe->options.inputs};
  loss.evaluation = evaluation;
  loss.first_step = loss.last_step = step;
  loss.count = 1;
}

// ---- Backend.

Output* Channel::output() noexcept {
  if (output_ || output_failed_) return output_.get();
  auto created = Output::create(*this);
  if (created) {
    output_ = std::move(*created);
  } else {
    output_failed_ = true;
    report(created.error());
  }
  return output_.get();
}

void Channel::retire(Payload* payload) noexcept {
  if (payload->owner) {
    const std::scoped_lock lock(mutex_);
    owners_.push_back(std::move(payload->owner));
    has_owners_.store(true, std::memory_order_release);
  }
  if (auto* group = std::get_if<GroupJob>(&payload->job)) {
    for (auto& item : group->items) {
      if (auto* inner = std::get_if<Payload*>(&item)) retire(*inner);
    }
    group->items.clear();
  }
  Pool::release(payload);
}

void Channel::report(const Status& status) noexcept {
  if (!options_.on_error) return;
  try {
    options_.on_error(status);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the handler's trouble must not end the backend
  }
}

void Channel::tell_news(double wall_time) {
  if (!has_news_.load(std::memory_order_acquire)) return;
  std::vector<Status> errors;
  std::vector<sinks::Loss> losses;
  {
    const std::scoped_lock lock(mutex_);
    errors.swap(errors_);
    losses.swap(losses_);
    has_news_.store(false, std::memory_order_relaxed);
  }
  for (const Status& error : errors) report(error);
  for (const sinks::Loss& loss : losses) {
    if (output_) output_->lose(wall_time, loss);
  }
}

void Channel::tend(std::uint64_t now, double wall_time) {
  tell_news(wall_time);
  const auto interval = static_cast<std::uint64_t>(std::chrono::nanoseconds(options_.flush_interval).count());
  if (!output_ || !output_->dirty() || now - last_flush_ < interval) return;
  last_flush_ = now;
  (void)output_->flush();  // reported by the output
}

Status Channel::flush_output(double wall_time) {
  tell_news(wall_time);
  return output_ ? output_->flush() : Status::success();
}

Status Channel::finish(double wall_time) {
  tell_news(wall_time);
  return output_ ? output_->close(wall_time) : Status::success();
}

// ---- Around fork().

void Channel::lock_for_fork() {
  mutex_.lock();
  tags_.mutex().lock();
  pool_->mutex().lock();
}

void Channel::unlock_after_fork() {
  pool_->mutex().unlock();
  tags_.mutex().unlock();
  mutex_.unlock();
}

// What the parent has in flight is the parent's to write: its output and its pool are left alone, for ever.
void Channel::become_child() {
  (void)output_.release();
  output_failed_ = false;
  new std::shared_ptr<Pool>(std::move(pool_));
  pool_ = std::make_shared<Pool>(options_.memory, options_.tensors, options_.max_wait);
  errors_.clear();
  losses_.clear();
}

}  // namespace sonde::record
