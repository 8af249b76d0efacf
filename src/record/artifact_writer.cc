#include "record/artifact_writer.h"

#include <memory>
#include <utility>

#include "record/attempt.h"
#include "record/step_rows.h"
#include "tensor/convert.h"

namespace sonde::record {
namespace {

Keep without(Keep keep, Keep one) noexcept {
  return static_cast<Keep>(static_cast<unsigned>(keep) & ~static_cast<unsigned>(one));
}

// Of a tensor, beside its statistics: as the files count them.
std::uint64_t records_of(const StepData::Tensor& tensor, Keep keep) noexcept {
  std::uint64_t records = 0;
  for (const Keep one : {Keep::whole, Keep::npy, Keep::npz, Keep::image, Keep::audio, Keep::print}) {
    records += has(keep, one) ? 1U : 0U;
  }
  const Shape& shape = tensor.record.shape;
  if (has(keep, Keep::csv)) records += shape.rank() > 0 ? static_cast<std::uint64_t>(shape[0]) : 1;
  return records;
}

}  // namespace

ArtifactWriter::ArtifactWriter(const std::string& directory, const std::string& writer, TagTable& tags,
                               CounterSet& counters, LossReport& loss_report, SinkSet& sinks)
    : tags_(tags),
      counters_(counters),
      loss_report_(loss_report),
      sinks_(sinks),
      files_(directory, writer, counters.tally()) {}

std::optional<sinks::Tag> ArtifactWriter::histogram_tag(const StepData::Tensor& tensor, bool evaluation) {
  if (tensor.record.occurrence != 0) return tag_of(tensor, evaluation, tags::Plugin::histograms);
  std::vector<std::optional<std::uint32_t>>& known = histogram_tags_[evaluation ? 1 : 0];
  const std::uint32_t id = tensor.probe->id;
  if (id >= known.size()) known.resize(id + 1);
  if (known[id]) return sinks_.tag(*known[id]);
  const std::optional<sinks::Tag> tag = tag_of(tensor, evaluation, tags::Plugin::histograms);
  if (tag) known[id] = tag->id;
  return tag;
}

std::optional<sinks::Tag> ArtifactWriter::tag_of(const StepData::Tensor& tensor, bool evaluation, tags::Plugin plugin) {
  auto resolved = tags_.resolve(key_of(*tensor.probe, tensor.record.occurrence, evaluation, plugin), plugin);
  if (resolved) return sinks_.tag(*resolved);
  sinks_.note(resolved.error());
  return std::nullopt;
}

void ArtifactWriter::push(std::unique_ptr<Batch> batch) noexcept {
  ++begun_;
  files_.push(std::move(batch));
}

void ArtifactWriter::show(const sinks::Stamp& stamp, const StepData::Tensor& tensor, Keep keep, PayloadPtr payload,
                          bool evaluation) noexcept {
  std::unique_ptr<Batch> batch;
  const Keep shown = keep & (Keep::image | Keep::audio | Keep::print);
  add(stamp, tensor, tensor.due, shown, std::move(payload), evaluation, batch);
  if (batch && !batch->empty()) push(std::move(batch));
}

// Where memory runs out, what is not in the batch by then is lost.
void ArtifactWriter::add(const sinks::Stamp& stamp, const StepData::Tensor& tensor, policy::Parts held, Keep keep,
                         PayloadPtr payload, bool evaluation, std::unique_ptr<Batch>& batch) noexcept {
  const Payload& from = *payload;
  Keep left = keep;
  const bool added = attempt(counters_, [&] {
    if (!batch) {
      batch = std::make_unique<Batch>();
      batch->stamp = stamp;
      batch->evaluation = evaluation;
    }
    batch->payloads.push_back(std::move(payload));  // before anything points to it
    show(stamp, tensor, held, left, from.view, *batch);
    store(stamp, tensor, held, left, from, *batch);
  });
  if (!added) lose_for_memory(stamp, evaluation, records_of(tensor, left));
}

void ArtifactWriter::show(const sinks::Stamp& stamp, const StepData::Tensor& tensor, policy::Parts held, Keep& left,
                          const TensorView& view, Batch& batch) {
  const ProbeOptions& options = tensor.probe->options;
  Tensor buffer;
  std::vector<std::int64_t> rows;
  const auto some = [&](Keep flag, Tensor& to) {
    return sampled(view, sample_of(tensor, held, flag), stamp.step, to, rows);
  };
  const Keep keep = left;
  if (has(keep, Keep::image)) {
    if (const auto tag = tag_of(tensor, batch.evaluation, tags::Plugin::images)) {
      batch.pictures.push_back({.tag = *tag,
                                .view = some(Keep::image, batch.buffers.emplace_back()),
                                .layout = options.layout,
                                .options = &options.image,
                                .probe = tensor.record.probe});
    }
    left = without(left, Keep::image);
  }
  if (has(keep, Keep::audio)) {
    if (const auto tag = tag_of(tensor, batch.evaluation, tags::Plugin::audio)) {
      sinks_.write_probe(stamp, tensor.record.probe,
                         sinks::AudioValue{*tag, some(Keep::audio, buffer), &options.audio});
    }
    left = without(left, Keep::audio);
  }
  if (has(keep, Keep::print)) {
    sinks_.write_probe(stamp, tensor.record.probe,
                       sinks::PrintValue{tensor.probe->name, some(Keep::print, buffer), false});
    left = without(left, Keep::print);
  }
}

void ArtifactWriter::store(const sinks::Stamp& stamp, const StepData::Tensor& tensor, policy::Parts held, Keep& left,
                           const Payload& payload, Batch& batch) {
  const Keep keep = left;
  if (!has(keep, StepDecider::kFiles | Keep::csv)) return;
  std::vector<std::int64_t> rows;
  const auto some = [&](Keep flag) {
    rows = payload.rows;
    return sampled(payload.view, sample_of(tensor, held, flag), stamp.step, batch.buffers.emplace_back(), rows);
  };
  batch.keys.push_back(key_of(*tensor.probe, tensor.record.occurrence, batch.evaluation, tags::Plugin::histograms));
  for (const Keep file : {Keep::whole, Keep::npy, Keep::npz}) {  // each may have rows of its own
    if (!has(keep, file)) continue;
    batch.tensors.push_back({.key = batch.keys.back(),
                             .view = some(file),
                             .whole = file == Keep::whole,
                             .npy = file == Keep::npy,
                             .npz = file == Keep::npz});
    left = without(left, file);
  }
  if (has(keep, Keep::csv)) {
    const TensorView values = some(Keep::csv);
    batch.tables.push_back({.name = batch.keys.back(), .columns = {{"value", values}}, .rows = std::move(rows)});
    left = without(left, Keep::csv);
  }
}

void ArtifactWriter::hand_over(const sinks::Stamp& stamp, StepData& step, const Decision& decision,
                               bool evaluation) noexcept {
  std::unique_ptr<Batch> batch;
  for (std::size_t i = 0; i < step.tensors.size(); ++i) {
    StepData::Tensor& tensor = step.tensors[i];
    const Keep keep = decision.keeps[i];
    if (tensor.payload == nullptr || !has(keep, StepDecider::kElements)) continue;
    add(stamp, tensor, decision.held[i], keep, std::move(tensor.payload), evaluation, batch);
  }
  if (!batch || batch->empty()) return;
  push(std::move(batch));
}

void ArtifactWriter::write_step(const sinks::Stamp& stamp, StepData& step, const Decision& decision,
                                bool evaluation) noexcept {
  hand_over(stamp, step, decision, evaluation);
  for (std::size_t i = 0; i < step.tensors.size(); ++i) {
    step.tensors[i].payload.reset();
    StepDecider::take_rows(step.tensors[i], decision.held[i], decision.keeps[i]);
  }
  if (!attempt(counters_, [&] { write_histograms(stamp, step, decision, evaluation); })) {
    lose_for_memory(stamp, evaluation, 1);
  }
  if (!attempt(counters_, [&] { write_statistics(stamp, step, decision, evaluation); })) {
    lose_for_memory(stamp, evaluation, 1);
  }
}

void ArtifactWriter::write_statistics(const sinks::Stamp& stamp, StepData& step, const Decision& decision,
                                      bool evaluation) {
  kept_.clear();
  kept_.reserve(step.tensors.size());
  for (std::size_t i = 0; i < step.tensors.size(); ++i) {
    StepData::Tensor& tensor = step.tensors[i];
    if (!has(decision.keeps[i], Keep::histogram)) tensor.record.histogram.reset();
    if (tensor::is_complex(tensor.record.dtype)) continue;
    if (has(decision.keeps[i], Keep::stats | Keep::histogram)) kept_.push_back(std::move(tensor.record));
  }
  sinks_.end_step({stamp, evaluation, kept_});
}

// All that could have been kept of it.
void ArtifactWriter::lose_step(const sinks::Stamp& stamp, StepData& step, bool evaluation) noexcept {
  std::uint64_t records = 1;  // in the statistics file
  bool histograms = false;
  for (StepData::Tensor& tensor : step.tensors) {
    const Keep keep = tensor.plan->keep(tensor.due);
    histograms |= has(keep, Keep::histogram);
    if (tensor.payload != nullptr) records += records_of(tensor, keep);
    tensor.payload.reset();
  }
  lose_for_memory(stamp, evaluation, records + (histograms ? 1 : 0));
}

void ArtifactWriter::lose_for_memory(const sinks::Stamp& stamp, bool evaluation, std::uint64_t records) noexcept {
  counters_.tally().lost_records.fetch_add(records, std::memory_order_relaxed);
  (void)note_files(stamp, evaluation, {Status(Code::exhausted, "out of memory"), records});  // a short text needs none
}

void ArtifactWriter::write_histograms(const sinks::Stamp& stamp, const StepData& step, const Decision& decision,
                                      bool evaluation) {
  std::vector<sinks::Value>& values = values_;
  values.clear();
  for (std::size_t i = 0; i < step.tensors.size(); ++i) {
    const StepData::Tensor& tensor = step.tensors[i];
    if (!tensor.record.histogram || !has(decision.keeps[i], Keep::histogram)) continue;
    if (const auto tag = histogram_tag(tensor, evaluation)) {
      values.emplace_back(sinks::HistogramValue{*tag, tensor.buckets});
    }
  }
  if (!values.empty()) sinks_.write(stamp, values);
}

// Tensor files and tables may fail while the log itself is written, which then notes what is missing.
bool ArtifactWriter::note_files(const sinks::Stamp& stamp, bool evaluation, const FileWriter::Outcome& outcome) {
  const Status& status = outcome.status;
  if (status.code() == Code::invalid_argument || status.code() == Code::unsupported) {
    sinks_.reject(stamp, status, evaluation);
    return false;
  }
  if (status.ok()) return true;
  loss_report_.lost_records(outcome.lost, status);
  attempt(counters_, [&] {
    sinks::Loss loss;
    loss.evaluation = evaluation;
    loss.first_step = loss.last_step = stamp.step;
    loss.count = outcome.lost;
    loss.reason = stats_record::GapReason::write_error;
    loss.detail = status.message();
    sinks_.lose(stamp.wall_time, loss);
  });
  return true;
}

void ArtifactWriter::table(const sinks::Stamp& stamp, PayloadPtr payload) {
  const TableJob& job = std::get<TableJob>(payload->job);
  auto batch = std::make_unique<Batch>();
  batch->payloads.push_back(std::move(payload));
  batch->stamp = stamp;
  FileWriter::Table& table = batch->tables.emplace_back();
  table.name = job.name;
  std::vector<render::Column> columns;
  for (const auto& [name, column] : job.columns) {
    columns.push_back({name, column->view});
    table.columns.emplace_back(name, column->view);
  }
  if (!job.columns.empty()) table.rows = job.columns[0].second->rows;
  // An unusable table is reported, and counted as rejected, once: by its file.
  const bool usable =
      !job.print || !render::Table::of(columns).ok() || sinks_.write(stamp, sinks::TableValue{job.name, columns});
  batch->counts = usable;
  push(std::move(batch));
}

void ArtifactWriter::pictures(const sinks::Stamp& stamp, Pictures pictures) {
  auto batch = std::make_unique<Batch>();
  batch->stamp = stamp;
  batch->counts = true;
  batch->pictures.reserve(pictures.size());
  batch->payloads.reserve(pictures.size());
  for (auto& [picture, payload] : pictures) {
    batch->pictures.push_back(std::move(picture));
    batch->payloads.push_back(std::move(payload));
  }
  push(std::move(batch));
}

// ---- What is done.

void ArtifactWriter::write_picture(const Batch& batch, const FileWriter::Picture& picture) {
  const FileWriter::Outcome& outcome = picture.outcome;
  if (outcome.lost > 0) {  // out of memory
    (void)note_files(batch.stamp, batch.evaluation, outcome);
    if (batch.counts) counters_.count_tensor();
    return;
  }
  if (!outcome.status.ok()) {
    const std::size_t kind = sinks::Value(sinks::ImageValue{}).index();
    if (picture.probe) return sinks_.refuse_probe(batch.stamp, *picture.probe, kind, outcome.status);
    return sinks_.reject(batch.stamp, outcome.status);
  }
  const sinks::Value value = sinks::ImageValue{picture.tag, picture.width, picture.height, picture.png};
  if (picture.probe) return sinks_.write_probe(batch.stamp, *picture.probe, value);
  sinks_.write(batch.stamp, value);
  if (batch.counts) counters_.count_tensor();
}

void ArtifactWriter::tell(const Batch& batch) noexcept {
  (void)note_files(batch.stamp, batch.evaluation, batch.stored);
  for (const FileWriter::Table& table : batch.tables) {
    const bool usable = note_files(batch.stamp, batch.evaluation, table.outcome);
    if (usable && batch.counts) counters_.count_tensor();
  }
  for (const FileWriter::Picture& picture : batch.pictures) write_picture(batch, picture);
}

void ArtifactWriter::poll() noexcept {
  while (const std::unique_ptr<Batch> batch = files_.take()) {
    tell(*batch);
    ++done_;
  }
}

void ArtifactWriter::wait_for_files() noexcept {
  files_.wait();
  poll();
}

}  // namespace sonde::record
