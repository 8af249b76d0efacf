#include "record/steps.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/file_name.h"
#include "base/suggest.h"
#include "formats/run_layout.h"
#include "stats/buckets.h"
#include "stats/computed.h"
#include "stats/summary.h"
#include "tensor/convert.h"
#include "tensor/copy.h"
#include "tensor/rows.h"
#include "tensor_files/external_rings.h"

namespace sonde::record {
namespace {

constexpr std::int64_t kStepsBeforeWarning = 10;
constexpr std::int64_t kStepsWithoutEpoch = 1000;  // before they are missed
constexpr std::size_t kManyTensors = 100'000;      // in one step: it has probably been forgotten
constexpr Keep kFiles = Keep::whole | Keep::npy | Keep::npz;
constexpr Keep kElements = kFiles | Keep::csv | Keep::image | Keep::audio | Keep::print;

// The real and imaginary parts of a complex tensor, beside each other: complex numbers have no order and leave no
// statistics, but conditions may ask whether all of their parts are finite.
TensorView as_real(const TensorView& view) noexcept {
  TensorView parts = view;
  parts.dtype = view.dtype == DType::c64 ? DType::f32 : DType::f64;
  for (int axis = 0; axis < view.shape.rank(); ++axis) parts.strides[axis] *= 2;
  parts.shape.push_back(2);
  parts.strides.push_back(1);
  return parts;
}

bool takes_all(const RowSample& sample, const Shape& shape) noexcept {
  return sample.rows <= 0 || shape.rank() == 0 || shape[0] <= sample.rows;
}

// Some rows of a view, gathered into `buffer` where they do not lie together; then `rows` says which ones.
TensorView sampled(const TensorView& view, const RowSample& sample, std::int64_t step, Tensor& buffer,
                   std::vector<std::int64_t>& rows) {
  if (takes_all(sample, view.shape)) return view;
  if (!sample.random) return first_rows(view, sample.rows);
  rows = random_rows(view.shape[0], sample.rows, static_cast<std::uint64_t>(step));
  Shape shape = view.shape;
  shape[0] = sample.rows;
  buffer.dtype = view.dtype;
  buffer.shape = shape;
  buffer.data.resize(row_bytes(view, rows.size()));
  return copy_rows(view, rows, buffer.data.data());
}

sinks::ProbeName name_of(const ProbeEntry& probe) noexcept {
  return {probe.id, probe.name, probe.options.kind, probe.options.inputs};
}

// Whether a part that is due keeps this of all that was handed over.
bool wants_all(const StepData::Tensor& tensor, const Shape& shape, Keep flag) noexcept {
  if (tensor.plan->sample.rows > 0) return true;  // all that came are the rows
  const auto& parts = tensor.plan->parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (policy::has_part(tensor.due, i) && has(parts[i].keep, flag) && takes_all(parts[i].sample, shape)) return true;
  }
  return false;
}

}  // namespace

Steps::Steps(Run run, PolicyInForce& policy, TagTable& tags, CounterSet& counters, ErrorQueue& errors, LossLog& losses,
             LossReport& loss_report, SinkSet& sinks, BudgetController* budget)
    : run_(std::move(run)),
      policy_(policy),
      tags_(tags),
      counters_(counters),
      errors_(errors),
      losses_(losses),
      loss_report_(loss_report),
      sinks_(sinks),
      budget_(budget),
      flight_(run_.directory, run_.writer, counters.tally()),
      store_(run_.directory, run_.writer, counters.tally()) {
  ring_status_ = follow_policy();
}

Steps::~Steps() = default;

Status Steps::follow_policy() {
  const std::uint64_t version = policy_.engine_version();
  if (version == engine_version_) return Status::success();
  engine_version_ = version;
  Status status = take_engine(policy_.engine());
  if (status.ok()) return status;
  errors_.push(status);
  // Who has no error handler finds it in the log.
  sinks_.say("sonde/flight", {wall_seconds(), last_step_}, status.message());
  return status;
}

Status Steps::take_engine(std::shared_ptr<policy::Engine> engine) {
  if (engine_) policy_.hand_over(*engine_, *engine);
  engine_ = std::move(engine);
  steps_ended_ = 0;
  if (!run_.may_fly) {
    flight_.forgo("the flight ring is the parent process's: a forked one has none");
    if (!engine_->wants_flight()) return Status::success();
    return {Code::unsupported, "this process records without a flight ring, since it was forked from one that has it"};
  }
  std::vector<std::int64_t> in_progress;
  for (const StepData* step : open_.all()) {
    if (!step->pass.evaluation) in_progress.push_back(step->step);
  }
  Status status = flight_.apply(*engine_, in_progress);
  policy_.set_has_ring(flight_.has_ring());
  note_ring_elsewhere();
  return status;
}

std::vector<stats::Bucket> Steps::buckets(const TensorView& view, const stats::Summary& summary,
                                          const stats::Histogram& histogram) const {
  return stats::tensorboard_buckets(view, summary, histogram, run_.histogram_buckets);
}

// The next start of the job may have another policy, and would not look for it there.
void Steps::note_ring_elsewhere() {
  if (!flight_.has_ring() || engine_->policy().flight.directory.empty()) return;
  const auto path = real_path(flight_.ring()->path());
  if (!path || std::ranges::count(external_rings_, *path) > 0) return;
  external_rings_.push_back(*path);
  Status status = tensor_files::note_external_rings(run_.directory, run_.writer, external_rings_);
  if (!status.ok()) errors_.push(std::move(status));
}

void Steps::close_ring() {
  const Status closed = flight_.close();
  sinks_.note(closed);
  if (!closed.ok() || external_rings_.empty()) return;
  external_rings_.clear();
  sinks_.note(tensor_files::note_external_rings(run_.directory, run_.writer, {}));
}

void Steps::scalar(std::int64_t step, std::uint32_t tag, std::string_view name, double value) {
  if (!flight_.has_ring() && !engine_->has_conditions() && !policy_.has_conditions()) return;
  open_.set_scalar(tag, name, value, step);
}

void Steps::begin(const sinks::Stamp& stamp, Pass pass) {
  if (open_.find(pass, stamp.step) != nullptr) return;
  StepData* const before = pass.id == 0 ? open_.training() : nullptr;
  if (before != nullptr) commit({stamp.wall_time, before->step}, *before);
  open_.begin(pass, stamp.step);
}

void Steps::end(const sinks::Stamp& stamp, Pass pass) {
  if (StepData* step = in_progress(stamp, pass)) commit(stamp, *step);
}

StepData* Steps::in_progress(const sinks::Stamp& stamp, Pass pass) {
  if (StepData* step = open_.find(pass, stamp.step)) return step;
  if (!losses_.take_lost_begin(pass, stamp.step)) return nullptr;
  begin(stamp, pass);
  return open_.find(pass, stamp.step);
}

// ---- Tensors as they arrive.

void Steps::probe(const sinks::Stamp& stamp, Payload* payload, const ProbeJob& job) {
  StepData* const found = in_progress(stamp, {job.pass, job.evaluation});
  if (found == nullptr) {
    const std::string message = "the probe '" + job.probe->name + "' was recorded after its step had ended";
    const sinks::ProbeName name = name_of(*job.probe);
    sinks_.reject(stamp, {Code::invalid_argument, message}, job.evaluation, &name);
    return Pool::release(payload);
  }
  StepData& step = *found;
  const ProbeEntry& entry = *job.probe;
  StepData::Tensor tensor;
  tensor.probe = &entry;
  tensor.plan = job.plan;
  tensor.due = job.due;
  auto& record = tensor.record;
  record.probe = name_of(entry);
  record.dtype = payload->view.dtype;
  record.shape = payload->view.shape;
  Keep keep = policy::limit(job.plan->keep(job.due), policy_.level());
  if (job.computed != nullptr) {
    take_computed(tensor, *job.computed, keep);
    keep = keep & (Keep::stats | Keep::histogram);
  } else if (const Status status = summarize(tensor, *payload, keep, stamp.step); !status.ok()) {
    const std::string message = "the probe '" + entry.name + "' was not recorded: " + status.message();
    sinks_.reject(stamp, {status.code(), message}, job.evaluation, &record.probe);
    return Pool::release(payload);
  }
  record.occurrence = step.next_occurrence(entry.id);
  if (job.plan->flight) add_to_ring(stamp, step, tensor, *payload);

  if (has(keep, kElements) && decides_later(tensor)) {
    tensor.payload = payload;
  } else {
    if (has(keep, kElements)) show(stamp, tensor, tensor.due, keep, payload->view, job.evaluation);
    Pool::release(payload);
  }
  step.tensors.push_back(std::move(tensor));
  counters_.count_tensor();
  if (step.tensors.size() != kManyTensors) return;
  errors_.push(
      {Code::exhausted, "step " + std::to_string(stamp.step) + " has " + std::to_string(kManyTensors) +
                            " tensors by now and goes on: end it, since all of them stay in memory until then"});
}

Status Steps::summarize(StepData::Tensor& tensor, const Payload& payload, Keep keep, std::int64_t step) {
  const std::string& name = tensor.probe->name;
  auto& record = tensor.record;
  const bool complex = is_complex(payload.view.dtype);
  if (!complex) summarize_rows(tensor, payload.view, keep, step);
  const bool histogram = has(keep, Keep::histogram) && wants_all(tensor, payload.view.shape, Keep::histogram);
  const auto summary = complex     ? stats::summarize(as_real(payload.view))
                       : histogram ? stats::summarize(payload.view, record.histogram.emplace())
                                   : stats::summarize(payload.view);
  if (!summary) return summary.error();
  record.summary = *summary;
  if (complex && has(keep, Keep::stats | Keep::histogram) && warned_.insert("complex " + name).second) {
    warn({Code::unsupported, "the probe '" + name +
                                 "' leaves no statistics, since complex numbers have no order: record its "
                                 "real and imaginary parts or its magnitude"});
  }
  if (record.histogram) tensor.buckets = buckets(payload.view, record.summary, *record.histogram);
  return Status::success();
}

// Statistics are all that there is of it.
void Steps::take_computed(StepData::Tensor& tensor, const stats::Computed& computed, Keep keep) {
  auto& record = tensor.record;
  record.summary = computed.summary;
  if (has(keep, Keep::histogram) && computed.histogram) {
    record.histogram = computed.histogram;
    tensor.buckets = stats::tensorboard_buckets(record.summary, *record.histogram, run_.histogram_buckets);
  }
  const std::string& name = tensor.probe->name;
  if (!has(keep, kElements) || !warned_.insert("computed " + name).second) return;
  warn({Code::unsupported, "of the probe '" + name +
                               "' only statistics were recorded: there can be no picture, sound, text or file of its "
                               "elements, as the policy or its ProbeOptions ask for"});
}

void Steps::add_to_ring(const sinks::Stamp& stamp, StepData& step, const StepData::Tensor& tensor,
                        const Payload& payload) {
  const ProbeEntry& entry = *tensor.probe;
  if (policy_.level() != policy::Level::full) {
    step.degraded = true;
    return;
  }
  if (payload.view.data == nullptr && payload.view.size() > 0) {
    flight_.miss(stamp.step, key_of(entry, tensor.record.occurrence, step.pass.evaluation, tags::Plugin::histograms),
                 "only its statistics were recorded");
    return;
  }
  const bool kept = flight_.add(
      stamp, step.pass, {entry.name, entry.options.kind, tensor.record.occurrence, entry.options.inputs, payload.view});
  if (kept && flight_.has_ring()) count_flown(entry, payload.view);
  if (kept || !warned_.insert("ring").second) return;
  warn({Code::exhausted, "the flight ring has no room for '" + entry.name + "' in step " + std::to_string(stamp.step) +
                             ": set a larger [flight] size, or let it keep fewer tensors"});
}

void Steps::lose(const sinks::Stamp& stamp, const ProbeJob& job) {
  StepData* const step = in_progress(stamp, {job.pass, job.evaluation});
  if (step == nullptr) return;
  const std::uint32_t occurrence = step->next_occurrence(job.probe->id);
  if (job.plan->flight && flight_.has_ring()) {
    flight_.miss(stamp.step, key_of(*job.probe, occurrence, job.evaluation, tags::Plugin::histograms),
                 "there was no memory left for it: give the recorder more, or record less often");
  }
}

// Whether the end of the step must be awaited to know what is kept, or to write it with the others of the step.
bool Steps::decides_later(const StepData::Tensor& tensor) const {
  const auto& parts = tensor.plan->parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!policy::has_part(tensor.due, i)) continue;
    if (has(parts[i].keep, kFiles | Keep::csv)) return true;
    if (parts[i].watch == policy::Part::kOwn ? static_cast<bool>(tensor.probe->options.when)
                                             : tensor.plan->engine->is_conditional(parts[i].watch)) {
      return true;
    }
  }
  return false;
}

void Steps::show(const sinks::Stamp& stamp, const StepData::Tensor& tensor, policy::Parts held, Keep keep,
                 const TensorView& view, bool evaluation) {
  const ProbeOptions& options = tensor.probe->options;
  Tensor buffer;
  std::vector<std::int64_t> rows;
  const auto some = [&](Keep flag) { return sampled(view, sample_of(tensor, held, flag), stamp.step, buffer, rows); };
  if (has(keep, Keep::image)) {
    if (const auto tag = tag_of(tensor, evaluation, tags::Plugin::images)) {
      sinks_.write_probe(stamp, tensor.record.probe,
                         sinks::ImageValue{*tag, some(Keep::image), options.layout, &options.image});
    }
  }
  if (has(keep, Keep::audio)) {
    if (const auto tag = tag_of(tensor, evaluation, tags::Plugin::audio)) {
      sinks_.write_probe(stamp, tensor.record.probe, sinks::AudioValue{*tag, some(Keep::audio), &options.audio});
    }
  }
  if (has(keep, Keep::print)) {
    sinks_.write_probe(stamp, tensor.record.probe, sinks::PrintValue{tensor.probe->name, some(Keep::print), false});
  }
}

void Steps::summarize_rows(StepData::Tensor& tensor, const TensorView& view, Keep keep, std::int64_t step) {
  if (tensor.plan->sample.rows > 0) return;  // the caller's thread took them already
  const auto& parts = tensor.plan->parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Keep kept = parts[i].keep & keep;
    if (!policy::has_part(tensor.due, i) || !has(kept, Keep::stats | Keep::histogram)) continue;
    if (takes_all(parts[i].sample, view.shape)) continue;
    auto same = std::ranges::find(tensor.of_rows, parts[i].sample, &StepData::OfRows::sample);
    if (same == tensor.of_rows.end()) same = tensor.of_rows.insert(same, {.sample = parts[i].sample});
    same->with_histogram |= has(kept, Keep::histogram);
  }
  for (StepData::OfRows& some : tensor.of_rows) {
    Tensor buffer;
    std::vector<std::int64_t> numbers;
    const TensorView rows = sampled(view, some.sample, step, buffer, numbers);
    const auto summary =
        some.with_histogram ? stats::summarize(rows, some.histogram.emplace()) : stats::summarize(rows);
    some.shape = rows.shape;
    if (!summary) continue;  // as of the whole, which tells of it
    some.summary = *summary;
    if (some.histogram) some.buckets = buckets(rows, some.summary, *some.histogram);
  }
}

void Steps::settle_rows(StepData::Tensor& tensor, policy::Parts held, Keep keep) {
  const auto rows_of = [&](Keep flag) -> StepData::OfRows* {
    const auto same = std::ranges::find(tensor.of_rows, sample_of(tensor, held, flag), &StepData::OfRows::sample);
    return same == tensor.of_rows.end() ? nullptr : &*same;
  };
  if (tensor.of_rows.empty()) return;
  StepData::OfRows* const histogram = has(keep, Keep::histogram) ? rows_of(Keep::histogram) : nullptr;
  const StepData::OfRows* const stats = has(keep, Keep::stats) ? rows_of(Keep::stats) : histogram;
  if (histogram != nullptr) {
    tensor.record.histogram = std::move(histogram->histogram);
    tensor.buckets = std::move(histogram->buckets);
  }
  if (stats == nullptr) return;
  tensor.record.summary = stats->summary;
  tensor.record.shape = stats->shape;
}

RowSample Steps::sample_of(const StepData::Tensor& tensor, policy::Parts held, Keep flag) {
  if (tensor.plan->sample.rows > 0) return {};  // the caller's thread took them already
  const auto& parts = tensor.plan->parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (policy::has_part(held, i) && has(parts[i].keep, flag)) return parts[i].sample;
  }
  return {};
}

std::string Steps::key_of(const ProbeEntry& probe, std::uint32_t occurrence, bool evaluation, tags::Plugin plugin) {
  return tags::tag_of(
      {.name = probe.name, .kind = probe.options.kind, .occurrence = occurrence, .evaluation = evaluation}, plugin);
}

std::optional<sinks::Tag> Steps::tag_of(const StepData::Tensor& tensor, bool evaluation, tags::Plugin plugin) {
  auto resolved = tags_.resolve(key_of(*tensor.probe, tensor.record.occurrence, evaluation, plugin), plugin);
  if (resolved) return sinks_.tag(*resolved);
  sinks_.note(resolved.error());
  return std::nullopt;
}

// ---- The end of a step.

void Steps::commit(const sinks::Stamp& stamp, StepData& step) {
  const Pass pass = step.pass;
  const bool evaluation = pass.evaluation;
  if (budget_ != nullptr) budget_->look_at_disk(progress(stamp.wall_time));
  decide(step, evaluation);
  const StepValues values = step.values();
  held_.clear();
  keeps_.clear();
  const policy::Level level = policy_.level();  // the same for all of the step
  for (const StepData::Tensor& tensor : step.tensors) {
    held_.push_back(held_parts(tensor, values, evaluation));
    keeps_.push_back(policy::limit(tensor.plan->keep(held_.back()), level));
    if (tensor.payload != nullptr) show(stamp, tensor, held_.back(), keeps_.back(), tensor.payload->view, evaluation);
  }
  store(stamp, step, evaluation);
  for (StepData::Tensor& tensor : step.tensors) {
    if (tensor.payload != nullptr) Pool::release(std::exchange(tensor.payload, nullptr));
  }
  for (std::size_t i = 0; i < step.tensors.size(); ++i) settle_rows(step.tensors[i], held_[i], keeps_[i]);
  write_histograms(stamp, step, evaluation);
  kept_.clear();
  for (std::size_t i = 0; i < step.tensors.size(); ++i) {
    StepData::Tensor& tensor = step.tensors[i];
    if (!has(keeps_[i], Keep::histogram)) tensor.record.histogram.reset();
    if (is_complex(tensor.record.dtype)) continue;
    if (has(keeps_[i], Keep::stats | Keep::histogram)) kept_.push_back(std::move(tensor.record));
  }
  sinks_.end_step({stamp, evaluation, kept_});
  if (step.degraded || level != policy::Level::full) {
    flight_.miss(stamp.step, "all tensors", "the budget left room for less than whole tensors");
  }
  sinks_.note(flight_.end_step(stamp, pass, step.scalars));
  count_flown(step, evaluation);
  open_.remove(step);
  if (evaluation) return;
  fire(stamp);
  last_step_ = stamp.step;
  if (++steps_ended_ == kStepsBeforeWarning) {
    warn_of_unmatched();
    warn_of_unknown_scalars(false);
  }
  if (steps_ended_ == kStepsWithoutEpoch) warn_of_epochs();
  log_warnings(stamp);
  counters_.set_committed(stamp.step, pass.id != 0);
}

// Lets the policy look at what the step left.
void Steps::decide(const StepData& step, bool evaluation) {
  facts_.clear();
  due_.clear();
  for (const StepData::Tensor& tensor : step.tensors) {
    facts_.push_back({.id = tensor.probe->id,
                      .name = tensor.probe->name,
                      .kind = tensor.probe->options.kind,
                      .summary = &tensor.record.summary,
                      .negative_infinity_allowed = tensor.plan->negative_infinity_allowed});
    if (tensor.plan->engine != engine_.get()) continue;
    for (std::size_t i = 0; i < tensor.plan->parts.size(); ++i) {
      const std::uint32_t watch = tensor.plan->parts[i].watch;
      if (policy::has_part(tensor.due, i) && watch != policy::Part::kOwn) due_.push_back(watch);
    }
  }
  std::ranges::sort(due_);
  due_.erase(std::ranges::unique(due_).begin(), due_.end());
  engine_->end_step({step.step, step.scalars, facts_}, evaluation, due_);
  if (engine_->has_newly_spent()) policy_.plan_again(*engine_);
}

// The parts of its plan that were due and whose conditions hold.
policy::Parts Steps::held_parts(const StepData::Tensor& tensor, const StepValues& values, bool evaluation) {
  policy::Parts held = tensor.due;
  for (std::size_t i = 0; i < tensor.plan->parts.size(); ++i) {
    if (!policy::has_part(held, i)) continue;
    const std::uint32_t watch = tensor.plan->parts[i].watch;
    bool holds = true;
    if (watch == policy::Part::kOwn) {
      holds = own_condition_holds(tensor, values);
    } else if (tensor.plan->engine == engine_.get()) {
      holds = engine_->keeps(watch, evaluation);
    } else {  // the policy has changed within the step
      holds = !tensor.plan->engine->is_conditional(watch);
    }
    if (!holds) held &= ~(policy::Parts{1} << i);
  }
  return held;
}

bool Steps::own_condition_holds(const StepData::Tensor& tensor, const StepValues& values) {
  const auto& when = tensor.probe->options.when;
  if (!when) return true;
  try {
    return when(values);
  } catch (...) {
    sinks_.note({Code::invalid_argument, "the condition of the probe '" + tensor.probe->name + "' threw an exception"});
    return false;
  }
}

void Steps::store(const sinks::Stamp& stamp, const StepData& step, bool evaluation) {
  if (std::ranges::all_of(step.tensors, [](const StepData::Tensor& tensor) { return tensor.payload == nullptr; }))
    return;
  std::vector<sinks::StoredTensor> stored;
  std::deque<std::string> keys;  // what the entries point to
  std::deque<Tensor> buffers;
  for (std::size_t i = 0; i < step.tensors.size(); ++i) {
    const StepData::Tensor& tensor = step.tensors[i];
    if (tensor.payload == nullptr) continue;
    const Keep keep = keeps_[i];
    std::vector<std::int64_t> rows;
    const auto some = [&](Keep flag) {
      rows = tensor.payload->rows;
      return sampled(tensor.payload->view, sample_of(tensor, held_[i], flag), stamp.step, buffers.emplace_back(), rows);
    };
    if (!has(keep, kFiles | Keep::csv)) continue;
    keys.push_back(key_of(*tensor.probe, tensor.record.occurrence, evaluation, tags::Plugin::histograms));
    for (const Keep file : {Keep::whole, Keep::npy, Keep::npz}) {  // each may have rows of its own
      if (!has(keep, file)) continue;
      stored.push_back({.key = keys.back(),
                        .view = some(file),
                        .whole = file == Keep::whole,
                        .npy = file == Keep::npy,
                        .npz = file == Keep::npz});
    }
    if (has(keep, Keep::csv)) {
      const std::array columns = {render::Column{"value", some(Keep::csv)}};
      append(stamp, evaluation, keys.back(), columns, rows);
    }
  }
  if (stored.empty()) return;
  const Status status = store_.write_step(stamp, evaluation, stored);
  note_files(stamp, evaluation, status, store_.lost());
}

void Steps::write_histograms(const sinks::Stamp& stamp, const StepData& step, bool evaluation) {
  std::vector<sinks::Value> values;
  for (std::size_t i = 0; i < step.tensors.size(); ++i) {
    const StepData::Tensor& tensor = step.tensors[i];
    if (!tensor.record.histogram || !has(keeps_[i], Keep::histogram)) continue;
    if (const auto tag = tag_of(tensor, evaluation, tags::Plugin::histograms)) {
      values.emplace_back(sinks::HistogramValue{*tag, tensor.buckets});
    }
  }
  if (!values.empty()) sinks_.write(stamp, values);
}

// Tensor files and tables may fail while the log itself is written, which then says what they lack.
bool Steps::note_files(const sinks::Stamp& stamp, bool evaluation, const Status& status, std::uint64_t lost) {
  if (status.code() == Code::invalid_argument || status.code() == Code::unsupported) {
    sinks_.reject(stamp, status, evaluation);
    return false;
  }
  if (status.ok()) return true;
  loss_report_.lost_records(lost, status);
  sinks::Loss loss;
  loss.evaluation = evaluation;
  loss.first_step = loss.last_step = stamp.step;
  loss.count = lost;
  loss.reason = stats_record::GapReason::write_error;
  loss.detail = status.message();
  sinks_.lose(stamp.wall_time, loss);
  return true;
}

// ---- Tables.

bool Steps::append(const sinks::Stamp& stamp, bool evaluation, const std::string& table,
                   std::span<const render::Column> columns, std::span<const std::int64_t> rows) {
  auto at = tables_.find(table);
  if (at == tables_.end()) {
    std::string path = join_path(join_path(run_.directory, run_layout::kTables),
                                 file_path_of(table, "." + run_.writer + std::string(run_layout::kCsv)));
    at = tables_.try_emplace(table, std::move(path), counters_.tally()).first;
  }
  sinks::TableFile& file = at->second;
  const Status status = rows.empty() ? file.append(stamp, columns) : file.append(stamp, columns, rows);
  const std::int64_t count = columns.empty() || columns[0].view.shape.rank() == 0 ? 1 : columns[0].view.shape[0];
  return note_files(stamp, evaluation, status, static_cast<std::uint64_t>(count));
}

bool Steps::table(const sinks::Stamp& stamp, const TableJob& job) {
  std::vector<render::Column> columns;
  columns.reserve(job.columns.size());
  for (const auto& [name, payload] : job.columns) columns.push_back({name, payload->view});
  const bool usable = append(stamp, false, job.name, columns,
                             job.columns.empty() ? std::span<const std::int64_t>() : job.columns[0].second->rows);
  return usable && (!job.print || sinks_.write(stamp, sinks::TableValue{job.name, columns}));
}

// ---- The end.

void Steps::finish_pending(double wall_time) {
  for (StepData* step : open_.all()) commit({wall_time, step->step}, *step);
  if (steps_ended_ < kStepsBeforeWarning) warn_of_unmatched();
  if (steps_ended_ < kStepsWithoutEpoch) warn_of_epochs();
  warn_of_unknown_scalars(true);
  log_warnings({wall_time, last_step_});
  sinks_.note(flight_.finish_pending());
}

void Steps::close(double wall_time) {
  finish_pending(wall_time);
  flight_.wait();
  close_ring();
  poll(wall_time);
}

void Steps::leave() {
  sinks_.note(flight_.finish_pending());
  flight_.wait();
  close_ring();
}

// Each once, as the callers see to. Those of a step are one text in the log, for who has no error handler.
void Steps::warn(const Status& status) {
  errors_.push(status);
  warnings_.append(warnings_.empty() ? "" : "\n\n").append(status.message());
}

void Steps::log_warnings(const sinks::Stamp& stamp) {
  if (warnings_.empty()) return;
  sinks_.say("sonde/warnings", stamp, warnings_);
  warnings_.clear();
}

// A pattern that matches nothing is as a rule a slip of the pen.
void Steps::warn_of_unmatched() {
  if (steps_ended_ == 0) return;
  const std::vector<std::pair<std::string, Kind>> probes = policy_.probes();
  std::vector<policy::Engine::Named> named;
  std::vector<std::string> names;
  std::set<std::string_view> seen;  // several kinds may have one name
  for (const auto& [name, kind] : probes) {
    named.push_back({name, kind});
    if (seen.insert(name).second) names.push_back(name);
    names.push_back(std::string(to_string(kind)) + "/" + name);
  }
  for (const auto& unmatched : engine_->unmatched(named)) {
    if (!warned_.insert(unmatched.place).second) continue;
    warn({Code::not_found, unmatched.place + " matches none of the " + std::to_string(probes.size()) + " probes" +
                               nearest(unmatched.pattern, names)});
  }
}

// Without Recorder::epoch a watch that counts epochs keeps nothing for ever.
void Steps::warn_of_epochs() {
  if (steps_ended_ == 0 || policy_.has_epochs()) return;
  for (const WatchPolicy& watch : engine_->policy().watches) {
    if (!watch.epochs || !warned_.insert("epochs " + watch.tensors).second) continue;
    warn({Code::not_found, "the watch on '" + watch.tensors +
                               "' waits for an epoch, and none has begun: call Recorder::epoch at the "
                               "beginning of each, or count steps, as with every = 100"});
  }
}

// Some scalars come only every few epochs, so that at first only those are told of that look like a slip of the pen.
void Steps::warn_of_unknown_scalars(bool at_end) {
  if (steps_ended_ == 0) return;
  const std::vector<std::string> known = tags_.names(tags::Plugin::scalars);
  for (const auto& scalar : engine_->scalars()) {
    if (std::ranges::find(known, scalar.pattern) != known.end()) continue;
    std::string meant = did_you_mean(scalar.pattern, known);
    const auto slashed =
        std::ranges::find_if(known, [&](const std::string& name) { return name.starts_with(scalar.pattern + "/"); });
    if (slashed != known.end()) meant = "; the one with a slash in its name is scalar('" + *slashed + "')";
    if (meant.empty() && !at_end) continue;
    if (!warned_.insert(scalar.place).second) continue;
    warn({Code::not_found, scalar.place + " was never recorded" + meant});
  }
}

}  // namespace sonde::record
