#include "record/file_writer.h"

#include <algorithm>

namespace sonde::record {

FileWriter::FileWriter(const std::string& run_directory, const std::string& writer, sinks::Tally& tally)
    : store_(run_directory, writer, tally), tables_(run_directory, writer, tally) {}

std::uint64_t FileWriter::push(std::shared_ptr<Batch> batch) {
  queue_.push([this, batch = std::move(batch)]() mutable {
    try {
      write(*batch);
    } catch (...) {
      tell(*batch,
           {Code::exhausted, "files of step " + std::to_string(batch->stamp.step) + " were not written: out of memory"},
           batch->tensors.size() + batch->tables.size());
    }
    batch.reset();  // its memory is free before the step counts as written
    done_.fetch_add(1, std::memory_order_release);
  });
  return ++last_;
}

void FileWriter::write(const Batch& batch) {
  if (!batch.tensors.empty()) {
    Status status =
        store_.end_step({.stamp = batch.stamp, .evaluation = batch.evaluation, .tensors = {}, .stored = batch.tensors});
    if (!status.ok()) tell(batch, std::move(status), store_.lost());
  }
  for (const Table& table : batch.tables) {
    std::vector<render::Column> columns;
    columns.reserve(table.columns.size());
    for (const auto& [name, view] : table.columns) columns.push_back({name, view});
    const sinks::Value value = sinks::RowsValue{table.name, columns, table.rows};
    Status status = tables_.write(batch.stamp, {&value, 1});
    if (status.ok() && !batch.counts) continue;
    const bool one = columns.empty() || columns[0].view.shape.rank() == 0;
    tell(batch, std::move(status), one ? 1 : static_cast<std::uint64_t>(columns[0].view.shape[0]));
  }
}

void FileWriter::tell(const Batch& batch, Status status, std::uint64_t lost) {
  const std::scoped_lock lock(mutex_);
  outcomes_.push_back({batch.stamp, batch.evaluation, batch.counts, std::move(status), lost});
}

std::vector<FileWriter::Outcome> FileWriter::take_outcomes() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(outcomes_, {});
}

}  // namespace sonde::record
