#include "record/file_writer.h"

#include "formats/png.h"
#include "render/image.h"

namespace sonde::record {

std::uint64_t rows_of(const FileWriter::Table& table) noexcept {
  const bool one = table.columns.empty() || table.columns[0].second.shape.rank() == 0;
  return one ? 1 : static_cast<std::uint64_t>(table.columns[0].second.shape[0]);
}

FileWriter::FileWriter(const std::string& run_directory, const std::string& writer, sinks::Tally& tally)
    : tally_(tally), store_(run_directory, writer, tally), tables_(run_directory, writer, tally) {}

FileWriter::~FileWriter() = default;

void FileWriter::push(std::unique_ptr<Batch> batch) noexcept {
  queue_.push([this, raw = batch.release()] { work(*raw); });  // small enough to need no memory of its own
}

void FileWriter::work(Batch& batch) noexcept {
  const auto guarded = [&](Outcome& outcome, std::uint64_t records, const auto& body) {
    try {
      body();
    } catch (...) {
      outcome = {Status(Code::exhausted, "out of memory"), records};  // short enough to need none
      tally_.out_of_memory.fetch_add(1, std::memory_order_relaxed);
      tally_.lost_records.fetch_add(records, std::memory_order_relaxed);
    }
  };
  if (!batch.tensors.empty()) {
    batch.stored.status =
        store_.end_step({.stamp = batch.stamp, .evaluation = batch.evaluation, .tensors = {}, .stored = batch.tensors});
    batch.stored.lost = store_.lost();
  }
  for (Table& table : batch.tables) guarded(table.outcome, rows_of(table), [&] { write(batch, table); });
  for (Picture& picture : batch.pictures) guarded(picture.outcome, 1, [&] { encode(picture); });
  batch.payloads.clear();  // their memory is free before the step counts as written
  batch.buffers.clear();
  done_.put(std::unique_ptr<Batch>(&batch));
}

void FileWriter::write(const Batch& batch, Table& table) {
  std::vector<render::Column> columns;
  columns.reserve(table.columns.size());
  for (const auto& [name, view] : table.columns) columns.push_back({name, view});
  const sinks::Value value = sinks::RowsValue{table.name, columns, table.rows};
  table.outcome.status = tables_.write(batch.stamp, {&value, 1});
  if (!table.outcome.status.ok()) table.outcome.lost = rows_of(table);
}

void FileWriter::encode(Picture& picture) {
  const auto refuse = [&](const Status& why) {
    std::string message = "the image '";
    message.append(picture.tag.name).append("' was not recorded: ").append(why.message());
    picture.outcome.status = {why.code(), std::move(message)};
  };
  const auto drawn = render::draw(picture.view, picture.layout, *picture.options);
  if (!drawn) return refuse(drawn.error());
  auto png = png::encode(view(drawn->pixels, {drawn->height, drawn->width, drawn->channels}));
  if (!png) return refuse(png.error());
  picture.width = drawn->width;
  picture.height = drawn->height;
  picture.png = *std::move(png);
}

}  // namespace sonde::record
