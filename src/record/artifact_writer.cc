#include "record/artifact_writer.h"

#include <memory>
#include <utility>

#include "record/step_rows.h"
#include "tensor/convert.h"

namespace sonde::record {

ArtifactWriter::ArtifactWriter(const std::string& directory, const std::string& writer, TagTable& tags,
                               CounterSet& counters, LossReport& loss_report, SinkSet& sinks)
    : tags_(tags),
      counters_(counters),
      loss_report_(loss_report),
      sinks_(sinks),
      files_(directory, writer, counters.tally()) {}

std::optional<sinks::Tag> ArtifactWriter::tag_of(const StepData::Tensor& tensor, bool evaluation, tags::Plugin plugin) {
  auto resolved = tags_.resolve(key_of(*tensor.probe, tensor.record.occurrence, evaluation, plugin), plugin);
  if (resolved) return sinks_.tag(*resolved);
  sinks_.note(resolved.error());
  return std::nullopt;
}

void ArtifactWriter::show(const sinks::Stamp& stamp, const StepData::Tensor& tensor, policy::Parts held, Keep keep,
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

void ArtifactWriter::write_step(const sinks::Stamp& stamp, StepData& step, const Decision& decision, bool evaluation) {
  for (std::size_t i = 0; i < step.tensors.size(); ++i) {
    const StepData::Tensor& tensor = step.tensors[i];
    if (tensor.payload == nullptr) continue;
    show(stamp, tensor, decision.held[i], decision.keeps[i], tensor.payload->view, evaluation);
  }
  store(stamp, step, decision, evaluation);
  for (std::size_t i = 0; i < step.tensors.size(); ++i) {
    StepData::Tensor& tensor = step.tensors[i];
    tensor.payload.reset();
    StepDecider::take_rows(tensor, decision.held[i], decision.keeps[i]);
  }
  write_histograms(stamp, step, decision, evaluation);
  kept_.clear();
  for (std::size_t i = 0; i < step.tensors.size(); ++i) {
    StepData::Tensor& tensor = step.tensors[i];
    if (!has(decision.keeps[i], Keep::histogram)) tensor.record.histogram.reset();
    if (is_complex(tensor.record.dtype)) continue;
    if (has(decision.keeps[i], Keep::stats | Keep::histogram)) kept_.push_back(std::move(tensor.record));
  }
  sinks_.end_step({stamp, evaluation, kept_});
}

void ArtifactWriter::store(const sinks::Stamp& stamp, StepData& step, const Decision& decision, bool evaluation) {
  std::shared_ptr<FileWriter::Batch> batch;
  for (std::size_t i = 0; i < step.tensors.size(); ++i) {
    StepData::Tensor& tensor = step.tensors[i];
    const Keep keep = decision.keeps[i];
    if (tensor.payload == nullptr || !has(keep, StepDecider::kFiles | Keep::csv)) continue;
    if (!batch) {
      batch = std::make_shared<FileWriter::Batch>();
      batch->stamp = stamp;
      batch->evaluation = evaluation;
    }
    std::vector<std::int64_t> rows;
    const auto some = [&](Keep flag) {
      rows = tensor.payload->rows;
      return sampled(tensor.payload->view, sample_of(tensor, decision.held[i], flag), stamp.step,
                     batch->buffers.emplace_back(), rows);
    };
    batch->keys.push_back(key_of(*tensor.probe, tensor.record.occurrence, evaluation, tags::Plugin::histograms));
    for (const Keep file : {Keep::whole, Keep::npy, Keep::npz}) {  // each may have its own rows
      if (!has(keep, file)) continue;
      batch->tensors.push_back({.key = batch->keys.back(),
                                .view = some(file),
                                .whole = file == Keep::whole,
                                .npy = file == Keep::npy,
                                .npz = file == Keep::npz});
    }
    if (has(keep, Keep::csv)) {
      const TensorView values = some(Keep::csv);
      batch->tables.push_back({.name = batch->keys.back(), .columns = {{"value", values}}, .rows = std::move(rows)});
    }
    batch->payloads.push_back(std::move(tensor.payload));
  }
  if (batch) files_.push(std::move(batch));
}

void ArtifactWriter::write_histograms(const sinks::Stamp& stamp, const StepData& step, const Decision& decision,
                                      bool evaluation) {
  std::vector<sinks::Value> values;
  for (std::size_t i = 0; i < step.tensors.size(); ++i) {
    const StepData::Tensor& tensor = step.tensors[i];
    if (!tensor.record.histogram || !has(decision.keeps[i], Keep::histogram)) continue;
    if (const auto tag = tag_of(tensor, evaluation, tags::Plugin::histograms)) {
      values.emplace_back(sinks::HistogramValue{*tag, tensor.buckets});
    }
  }
  if (!values.empty()) sinks_.write(stamp, values);
}

// Tensor files and tables may fail while the log itself is written, which then notes what is missing.
bool ArtifactWriter::note_files(const sinks::Stamp& stamp, bool evaluation, const Status& status, std::uint64_t lost) {
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

void ArtifactWriter::table(const sinks::Stamp& stamp, PayloadPtr payload) {
  const TableJob& job = std::get<TableJob>(payload->job);
  const auto batch = std::make_shared<FileWriter::Batch>();
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
  files_.push(batch);
}

void ArtifactWriter::poll() {
  for (const FileWriter::Outcome& outcome : files_.take_outcomes()) {
    const bool usable = note_files(outcome.stamp, outcome.evaluation, outcome.status, outcome.lost);
    if (usable && outcome.counts) counters_.count_tensor();
  }
}

void ArtifactWriter::wait_for_files() {
  files_.wait();
  poll();
}

}  // namespace sonde::record
