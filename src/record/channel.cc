#include "record/channel.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/signal_count.h"
#include "base/utf8.h"
#include "formats/run_layout.h"
#include "record/backend.h"
#include "record/disk_use.h"
#include "record/output.h"
#include "record/run_controller.h"
#include "sonde/capture.h"
#include "tensor/copy.h"
#include "tensor/rows.h"
#include "tensor_files/capture_files.h"
#include "tensor_files/external_rings.h"

namespace sonde::record {
namespace {

constexpr std::size_t kQueuedErrors = 64;  // more in one round are only counted
constexpr std::size_t kLostBegins = 1024;  // remembered: more than this are in progress nowhere
constexpr int kPlansCompared = 16;         // the last ones: few policies say more different things

Status check(const RecorderOptions& options) {
  if (options.file_suffix.find('/') != std::string::npos) {
    return {Code::invalid_argument, "the file suffix '" + options.file_suffix + "' contains a slash"};
  }
  if (options.histogram_buckets < 1) {
    return {Code::invalid_argument, "histogram_buckets is below 1: give at least one bucket"};
  }
  return options.trigger_signal != 0 ? check_signal(options.trigger_signal) : Status::success();
}

TriggerJob by_signal() { return {.reason = "signal", .before = 5, .after = 0}; }

// As far as they can be compared.
bool same(const ProbeOptions& a, const ProbeOptions& b) {
  return a.keep == b.keep && a.every == b.every && a.inputs == b.inputs && !a.when == !b.when;
}

// What the caller calls a tensor that is no probe's; empty where it has no name of its own.
std::string name_of(const Job& job, TagTable& tags) {
  if (const auto* histogram = std::get_if<HistogramJob>(&job)) return std::string(tags.name(histogram->tag));
  if (const auto* image = std::get_if<ImageJob>(&job)) return std::string(tags.name(image->tag));
  if (const auto* audio = std::get_if<AudioJob>(&job)) return std::string(tags.name(audio->tag));
  if (const auto* print = std::get_if<PrintJob>(&job)) return valid_utf8(print->name);
  return {};
}

// The calls that a payload stands for.
struct RecordCount {
  std::uint64_t scalars = 0;
  std::uint64_t tensors = 0;
};
RecordCount count_of(const Job& job) noexcept {
  const auto* group = std::get_if<GroupJob>(&job);
  if (group == nullptr) return {.tensors = 1};
  RecordCount count;
  for (const auto& item : group->items) ++(std::holds_alternative<GroupScalar>(item) ? count.scalars : count.tensors);
  return count;
}

}  // namespace

Channel::Channel(std::string directory, const RecorderOptions& options)
    : directory_(std::move(directory)),
      options_(options),
      signals_(signal_count()),
      pool_(std::make_unique<Pool>(pool_budget(options.policy), options.tensors, options.max_wait)),
      own_policy_(options.policy) {}

Channel::~Channel() = default;

Result<std::shared_ptr<Channel>> Channel::open(std::string_view directory, const RecorderOptions& options) {
  if (directory.empty()) return Status(Code::invalid_argument, "the log directory's name is empty");
  if (Status status = check(options); !status.ok()) return status;
  std::string path(directory);
  if (Status status = make_directories(path); !status.ok()) return status;
  std::shared_ptr<Channel> channel(new Channel(std::move(path), options));
  if (Status status = channel->use(options.policy); !status.ok()) return status;
  channel->controller_ = std::make_unique<RunController>(*channel);
  channel->controller_->begin();
  channel->recover_rings();
  auto output = Output::create(*channel, true);
  if (!output) return output.error();
  channel->output_ = std::move(*output);
  channel->output_engine_ = channel->engine_version();
  channel->controller_->begun(*channel->output_);
  if (options.trigger_signal != 0) {
    if (Status status = count_signal(options.trigger_signal); !status.ok()) return status;
  }
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
          .dropped_step_marks = get(dropped_step_marks_),
          .write_errors = get(tally_.write_errors),
          .lost_records = get(tally_.lost_records),
          .bytes_written = get(tally_.bytes_written),
          .captures = get(captures_),
          .flight_dropped = get(flight_dropped_)};
}

// A process that was killed may have left its flight ring here: what it holds is saved before anything else.
void Channel::recover_rings() {
  const auto recover = [&](const Result<std::vector<std::string>>& rings) {
    if (!rings) return tell(rings.error());
    for (const std::string& ring : *rings) {
      if (const auto capture = recover_ring(ring, directory_); !capture) tell(capture.error());
    }
  };
  recover(abandoned_rings(directory_));
  const std::string& elsewhere = options_.policy.flight.directory;
  if (!elsewhere.empty()) recover(tensor_files::abandoned_rings_of(directory_, elsewhere));
  (void)tensor_files::external_rings(directory_);  // those that are gone by now are forgotten
}

// ---- The policy.

Status Channel::use(const Policy& policy) {
  auto engine = policy::Engine::create(policy);
  if (!engine) return engine.error();
  const std::scoped_lock lock(mutex_);
  engines_.push_back(std::move(*engine));
  for (ProbeEntry& entry : probes_) plan_locked(entry);
  engine_version_.fetch_add(1, std::memory_order_release);
  return Status::success();
}

void Channel::plan_locked(ProbeEntry& entry) {
  const ProbeOptions& options = entry.options;
  const policy::Part own[] = {{.every = options.every, .keep = options.keep}};
  policy::Plan made = engines_.back()->plan(entry.name, options.kind, own);
  const bool crowded = made.crowded;
  entry.plan.store(&shared_locked(std::move(made)), std::memory_order_release);
  if (crowded && !std::exchange(entry.crowded_told, true)) {
    tell_locked({Code::unsupported, "more than " + std::to_string(policy::Plan::kMaxParts) + " watches match '" +
                                        entry.name + "': the first ones count"});
  }
}

// Plans stay for ever, and a policy may change all the time: the many probes of which it says the same have one.
const policy::Plan& Channel::shared_locked(policy::Plan plan) {
  const auto begin = plans_.size() > kPlansCompared ? plans_.end() - kPlansCompared : plans_.begin();
  const auto same = std::find(begin, plans_.end(), plan);
  return same != plans_.end() ? *same : plans_.emplace_back(std::move(plan));
}

// What a control file says lies on top of the program's own policy.
Policy Channel::combined(const Policy& own, const std::optional<policy::ControlFile>& control) {
  Policy policy = own;
  if (!control) return policy;
  if (control->has_watches) policy.watches = control->policy.watches;
  if (control->has_triggers) {
    if (!control->keep_triggers) policy.triggers.clear();
    const auto& added = control->policy.triggers;
    policy.triggers.insert(policy.triggers.end(), added.begin(), added.end());
  }
  if (control->has_flight) policy.flight = control->policy.flight;
  if (control->has_budget) policy.budget = control->policy.budget;
  if (control->has_allow) policy.allow_negative_infinity = control->policy.allow_negative_infinity;
  return policy;
}

Status Channel::change(const std::function<void(Policy&, std::optional<policy::ControlFile>&)>& edit) {
  const std::scoped_lock changing(change_mutex_);
  Policy own = own_policy_;
  std::optional<policy::ControlFile> control = control_;
  edit(own, control);
  if (Status status = use(combined(own, control)); !status.ok()) return status;
  own_policy_ = std::move(own);
  control_ = std::move(control);
  return Status::success();
}

Status Channel::set_policy(const Policy& policy) {
  return change([&](Policy& own, auto&) { own = policy; });
}

Status Channel::set_control(std::optional<policy::ControlFile> control) {
  return change([&](Policy&, auto& current) { current = std::move(control); });
}

BudgetPolicy Channel::budget_with(const policy::ControlFile& control) {
  const std::scoped_lock changing(change_mutex_);
  return combined(own_policy_, control).budget;
}

std::shared_ptr<policy::Engine> Channel::engine() {
  const std::scoped_lock lock(mutex_);
  return engines_.back();
}

void Channel::hand_over(policy::Engine& from, policy::Engine& to) {
  const std::scoped_lock lock(mutex_);  // under which plans are made
  to.adopt(from);
  if (to.has_newly_spent()) plan_anew_locked(to);
}

void Channel::plan_anew(policy::Engine& engine) {
  const std::scoped_lock lock(mutex_);
  plan_anew_locked(engine);
}

void Channel::plan_anew_locked(policy::Engine& engine) {
  engine.retire_spent();
  if (&engine != engines_.back().get()) return;  // another policy is in force already, with plans of its own
  for (ProbeEntry& entry : probes_) plan_locked(entry);
}

std::vector<std::pair<std::string, Kind>> Channel::probes() {
  std::vector<std::pair<std::string, Kind>> all;
  const std::scoped_lock lock(mutex_);
  all.reserve(probes_.size());
  for (const ProbeEntry& entry : probes_) all.emplace_back(entry.name, entry.options.kind);
  return all;
}

// Where there is a flight ring it takes its half of a budget.
std::size_t Channel::pool_budget(const Policy& policy) const {
  if (!policy.budget.memory) return options_.memory;
  const std::uint64_t share = policy::wants_flight(policy) ? *policy.budget.memory / 2 : *policy.budget.memory;
  return std::min<std::size_t>(options_.memory, share);
}

void Channel::set_budget(const Policy& policy) {
  pool_->set_budget(pool_budget(policy));
  timed_.store(policy.budget.overhead.has_value(), std::memory_order_relaxed);
}

void Channel::look_at_disk(double wall_time) {
  if (controller_ && output_) controller_->look_at_disk(*output_, wall_time);
}

std::string Channel::lacks_disk(double wall_time, std::uint64_t bytes) {
  return controller_ && output_ ? controller_->lacks_disk(*output_, wall_time, bytes) : std::string();
}

void Channel::measure_checkpoints() {
  checkpoint_bytes_.store(bytes_below(join_path(directory_, run_layout::kCheckpoints)), std::memory_order_relaxed);
}

double Channel::busy_seconds() const noexcept {
  return static_cast<double>(busy_.load(std::memory_order_relaxed)) * 1e-9;
}

// ---- Front end.

void Channel::scalar(std::uint32_t tag, double value, std::int64_t step) noexcept {
  if (!is_open()) [[unlikely]] {
    return count_rejected();
  }
  Backend::push_scalar(*this, tag, value, step, options_.scalars);
}

policy::Parts Channel::due(const policy::Plan& plan, std::int64_t step, bool evaluation) const noexcept {
  if (plan.parts.empty()) return 0;
  const std::int64_t epoch = epoch_.load(std::memory_order_relaxed);
  // An evaluation pass belongs to the epoch in which it takes place.
  const bool begins = epoch >= 0 && (evaluation || epoch_step_.load(std::memory_order_relaxed) == step);
  return plan.due({.step = step, .begins_epoch = begins, .epoch = epoch, .evaluation = evaluation});
}

bool Channel::wants(const policy::Plan& plan, policy::Parts due) const noexcept {
  if (!is_open()) return false;
  switch (level()) {
    case policy::Level::full: return due != 0 || plan.flight || plan.observed;
    case policy::Level::statistics: return due != 0 || plan.observed;
    case policy::Level::nothing: break;
  }
  return false;
}

void Channel::begin_epoch(std::int64_t number) noexcept {
  epoch_.store(number, std::memory_order_relaxed);
  epoch_begins_.store(true, std::memory_order_release);
}

void Channel::begin_step(std::int64_t step, bool evaluation) noexcept {
  if (!is_open()) return;
  if (!evaluation && epoch_begins_.exchange(false, std::memory_order_acquire)) {
    epoch_step_.store(step, std::memory_order_relaxed);
  }
  pool_->reclaim();  // what the last step lent is free for this one
  Backend::push_step(*this, evaluation ? Op::evaluation_begin : Op::step_begin, step);
}

void Channel::end_step(std::int64_t step, bool evaluation) noexcept {
  if (!is_open()) return;
  if (!evaluation) look_at_signal();  // the capture has the step in which it came
  Backend::push_step(*this, evaluation ? Op::evaluation_end : Op::step_end, step);
  // What the ring does not have yet is lost with the process.
  if (flying_.load(std::memory_order_relaxed)) Backend::get().wake();
}

void Channel::look_at_signal() noexcept {
  if (signal_count() == signals_.load(std::memory_order_relaxed)) [[likely]] {
    return;
  }
  if (!take_signal()) return;
  // With a time stamp of its own, so that it belongs to the step in progress however far behind the backend is.
  try {
    if (Payload* payload = stage(by_signal())) send(payload, 0);
  } catch (...) {
    count_rejected();
  }
}

// Of several that notice it one takes it. In a forked child it is the parent's.
bool Channel::take_signal() noexcept {
  const std::uint64_t count = signal_count();
  return signals_.exchange(count, std::memory_order_relaxed) != count && !forked_;
}

const ProbeEntry* Channel::probe(std::string_view name, const ProbeOptions& options) {
  if (name.empty() || name.size() > TagTable::kLongestName) {
    reject({Code::invalid_argument, "the name of a probe is empty or longer than 64 KiB"});
    return nullptr;
  }
  std::string valid = valid_utf8(name);
  if (options.when) has_conditions_.store(true, std::memory_order_relaxed);
  const std::scoped_lock lock(mutex_);
  if (const auto known = named_.find({valid, options.kind}); known != named_.end()) {
    ProbeEntry& entry = *known->second;
    // Without options it is only asked for once more.
    if (!same(options, {.kind = options.kind}) && !same(options, entry.options) &&
        !std::exchange(entry.other_options_told, true)) {
      tell_locked(
          {Code::invalid_argument, "the probe '" + valid + "' was made before with other options: those count"});
    }
    return &entry;
  }
  const auto id = static_cast<std::uint32_t>(probes_.size());
  ProbeEntry& entry = probes_.emplace_back();
  entry.id = id;
  entry.name = std::move(valid);
  entry.options = options;
  named_.emplace(std::pair(std::string_view(entry.name), options.kind), &entry);
  plan_locked(entry);
  return &entry;
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

Payload* Channel::stage(Job job, TensorArg&& tensor, std::int64_t step, const RowSample& sample) {
  if (!timed()) return stage_untimed(job, tensor, step, sample);
  const std::uint64_t begin = monotonic_nanoseconds();
  Payload* payload = stage_untimed(job, tensor, step, sample);
  add_busy(monotonic_nanoseconds() - begin);
  return payload;
}

Payload* Channel::stage_untimed(Job& job, TensorArg& tensor, std::int64_t step, const RowSample& sample) {
  if (!tensor.view.valid()) {
    refuse_shape(job);
    return nullptr;
  }
  TensorView view = tensor.view;
  std::vector<std::int64_t> rows;  // where they are scattered
  if (sample.rows > 0 && view.shape.rank() > 0 && view.shape[0] > sample.rows) {
    if (sample.random) rows = random_rows(view.shape[0], sample.rows, static_cast<std::uint64_t>(step));
    if (!sample.random) view = first_rows(view, sample.rows);
  }
  const bool shared = tensor.owner != nullptr && rows.empty();
  const std::size_t bytes = rows.empty() ? byte_size(view) : row_bytes(view, rows.size());
  Payload* payload = pool_->acquire(shared ? 0 : bytes);
  if (payload == nullptr) {
    dropped_tensors_.fetch_add(1, std::memory_order_relaxed);
    const auto* probe = std::get_if<ProbeJob>(&job);
    note_loss(probe != nullptr ? probe->probe : nullptr, probe != nullptr && probe->evaluation, step);
    if (probe != nullptr) drop(*probe, step);
    return nullptr;
  }
  payload->job = std::move(job);
  if (shared) {
    payload->view = view;
    payload->holding->owner = std::move(tensor.owner);
  } else {
    void* const data = payload->holding->block.data;
    if (rows.empty()) copy_dense_past_cache(view, data);
    payload->view = rows.empty() ? sonde::view(data, view.dtype, view.shape) : copy_rows(view, rows, data);
  }
  payload->rows = std::move(rows);
  return payload;
}

// A probe is told of once: what is wrong with it is wrong at every step.
void Channel::refuse_shape(const Job& job) {
  constexpr std::string_view kWhy = " was not recorded: its shape does not match its data";
  const auto* probe = std::get_if<ProbeJob>(&job);
  if (probe == nullptr) {
    const std::string name = name_of(job, tags_);
    return reject({Code::invalid_argument, (name.empty() ? "a tensor" : "'" + name + "'").append(kWhy)});
  }
  count_rejected();
  const std::scoped_lock lock(mutex_);
  ProbeEntry& entry = probes_[probe->probe->id];
  if (std::exchange(entry.bad_shape_told, true)) return;
  tell_locked({Code::invalid_argument, ("the probe '" + entry.name + "'").append(kWhy)});
}

void Channel::send(Payload* payload, std::int64_t step) noexcept {
  pool_->enqueue(payload);
  Backend::push_payload(*this, payload, step, options_.tensors);
}

void Channel::reject(Status status) noexcept {
  count_rejected();
  tell(std::move(status));
}

void Channel::tell(Status status) noexcept {
  const std::scoped_lock lock(mutex_);
  tell_locked(std::move(status));
}

void Channel::tell_locked(Status status) noexcept {
  if (errors_.size() >= kQueuedErrors) return;
  errors_.push_back(std::move(status));
  has_news_.store(true, std::memory_order_release);
}

Status Channel::flush() noexcept {
  Status status = Backend::get().flush(*this);
  pool_->reclaim();
  return status;
}

Status Channel::close() noexcept {
  if (!open_.exchange(false)) return Status::success();
  // Captures are waited for here: on the backend all other recorders would wait too.
  Status status = Backend::get().finish_pending(*this);
  if (status.ok() && output_) output_->steps().wait_for_captures();
  if (Status closed = Backend::get().close(*this); status.ok()) status = std::move(closed);
  pool_->reclaim();
  return status;
}

void Channel::lose_scalar(std::int64_t step) noexcept {
  dropped_scalars_.fetch_add(1, std::memory_order_relaxed);
  note_loss(nullptr, false, step);
}

void Channel::lose(Payload* payload, std::int64_t step) noexcept {
  const auto* probe = std::get_if<ProbeJob>(&payload->job);
  if (probe != nullptr && probe->lost) return Pool::release(payload);  // only its place: it was counted before
  const RecordCount count = count_of(payload->job);
  dropped_scalars_.fetch_add(count.scalars, std::memory_order_relaxed);
  dropped_tensors_.fetch_add(count.tensors, std::memory_order_relaxed);
  note_loss(probe != nullptr ? probe->probe : nullptr, probe != nullptr && probe->evaluation, step);
  Pool::release(payload);
}

void Channel::lose_step_mark(Op op, std::int64_t step) noexcept {
  dropped_step_marks_.fetch_add(1, std::memory_order_relaxed);
  if (op != Op::step_begin && op != Op::evaluation_begin) return;
  const std::scoped_lock lock(mutex_);
  if (lost_begins_.size() == kLostBegins) lost_begins_.pop_front();
  lost_begins_.emplace_back(step, op == Op::evaluation_begin);
}

bool Channel::take_lost_begin(std::int64_t step, bool evaluation) {
  if (dropped_step_marks_.load(std::memory_order_relaxed) == 0) return false;
  const std::scoped_lock lock(mutex_);
  const auto at = std::ranges::find(lost_begins_, std::pair(step, evaluation));
  if (at == lost_begins_.end()) return false;
  lost_begins_.erase(at);
  return true;
}

// Its place in the step stays empty: the backend counts it, so that those of its name that follow keep their numbers.
void Channel::drop(ProbeJob job, std::int64_t step) noexcept {
  job.lost = true;
  if (Payload* payload = stage(job)) send(payload, step);
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
  // The parent's engine may have been in the middle of something.
  if (forked_) (void)change([](Policy&, auto&) {});
  auto created = Output::create(*this, !forked_);
  if (created) {
    output_ = std::move(*created);
    output_engine_ = engine_version();
  } else {
    output_failed_ = true;
    report(created.error());
  }
  return output_.get();
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

Dropped Channel::dropped() const noexcept {
  return {.scalars = dropped_scalars_.load(std::memory_order_relaxed),
          .tensors = dropped_tensors_.load(std::memory_order_relaxed),
          .step_marks = dropped_step_marks_.load(std::memory_order_relaxed)};
}

Status Channel::tell_losses() {
  return loss_report_->tell_rest(dropped(), [this](const Status& status) { report(status); });
}

Status Channel::follow_engine() {
  const std::uint64_t version = engine_version();
  if (version == output_engine_) return Status::success();
  output_engine_ = version;
  Status status = output_->steps().set_engine(engine(), !forked_);
  if (!status.ok()) tell(status);
  return status;
}

void Channel::poll(std::uint64_t now, double wall_time) {
  tell_news(wall_time);
  loss_report_->tell_due(dropped(), now, [this](const Status& status) { report(status); });
  if (output_) {
    if (controller_) controller_->poll(*output_, now, wall_time);
    (void)follow_engine();  // told by itself
    output_->steps().poll(wall_time);
  }
  const auto interval = static_cast<std::uint64_t>(std::chrono::nanoseconds(options_.flush_interval).count());
  if (!output_ || !output_->dirty() || now - last_flush_ < interval) return;
  last_flush_ = now;
  (void)output_->flush();  // reported by the output
}

Status Channel::flush_output(double wall_time) {
  tell_news(wall_time);
  Status lost = tell_losses();
  Status status = output_ ? output_->flush() : Status::success();
  return status.ok() ? lost : status;
}

Status Channel::finish_pending(double wall_time) {
  tell_news(wall_time);
  if (!output_) return Status::success();
  Steps& steps = output_->steps();
  if (take_signal()) steps.trigger({wall_time, steps.last_step()}, by_signal());
  steps.finish_pending(wall_time);
  return Status::success();
}

Status Channel::finish(double wall_time) {
  tell_news(wall_time);
  Status status = output_ ? output_->close(wall_time) : Status::success();
  Status lost = tell_losses();  // also what only the end has shown
  return status.ok() ? lost : status;
}

Status Channel::leave(double wall_time) {
  Status status = flush_output(wall_time);
  if (!output_) return status;
  Steps& steps = output_->steps();
  if (take_signal()) steps.trigger({wall_time, steps.last_step()}, by_signal());
  steps.leave();
  return status;
}

// ---- Around fork().

void Channel::lock_for_fork() {
  change_mutex_.lock();
  mutex_.lock();
  tags_.mutex().lock();
  pool_->lock_for_fork();
}

void Channel::unlock_after_fork() {
  pool_->unlock_after_fork();
  tags_.mutex().unlock();
  mutex_.unlock();
  change_mutex_.unlock();
}

// What the parent has in flight is the parent's to write: its output and its pool are left alone, for ever.
void Channel::become_child() {
  // The ring's lock would otherwise outlive the parent.
  if (output_) output_->steps().abandon_ring();
  new std::unique_ptr<Output>(std::move(output_));
  new std::unique_ptr<RunController>(std::move(controller_));
  forked_ = true;
  flying_.store(false);
  level_.store(policy::Level::full);  // nobody keeps a budget here
  output_failed_ = false;
  new std::unique_ptr<Pool>(std::move(pool_));
  pool_ = std::make_unique<Pool>(pool_budget(own_policy_), options_.tensors, options_.max_wait);
  errors_.clear();
  losses_.clear();
  lost_begins_.clear();
  new std::unique_ptr<LossReport>(std::move(loss_report_));  // the backend may have held its lock
  loss_report_ = std::make_unique<LossReport>(dropped());
}

}  // namespace sonde::record
