// Converts the records of a file to the series of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/serial_queue.h"
#include "formats/tfevents_decode.h"
#include "formats/tfevents_scalar.h"
#include "index/run_data.h"

namespace sonde::index {

// Compares two texts without a call of memcmp: it runs for every point, and the texts are short.
inline bool same_text(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  std::size_t at = 0;
  for (; at + 8 <= a.size(); at += 8) {
    if (base::load<std::uint64_t>(a.data() + at) != base::load<std::uint64_t>(b.data() + at)) return false;
  }
  for (; at < a.size(); ++at) {
    if (a[at] != b[at]) return false;
  }
  return true;
}

// Reads one event file. Large values are stored by their offset: only the outermost fields of their payload are parsed.
class EventReader {
 public:
  EventReader(RunData& run, std::uint32_t file) noexcept : run_(run), file_(file), source_(run.files[file]) {}

  void read(std::uint64_t offset, base::Bytes payload) {
    tfevents::PlainScalar scalar;
    if (decode_plain_scalar(payload, scalar)) [[likely]] {
      Series* series = last_ != nullptr ? last_->next : nullptr;
      if (series == nullptr || !same_text(series->tag, scalar.tag)) series = follow(find_plain(scalar));
      if (series != nullptr && series->kind == TagKind::scalars) [[likely]] {
        source_.note_time(scalar.wall_time);
        series->columns.of(file_).append(scalar.step, scalar.wall_time, static_cast<double>(scalar.value));
        last_ = series;
        return;
      }
    }
    read_any(offset, payload);
  }

 private:
  Series* find_plain(const tfevents::PlainScalar& scalar);
  Series* follow(Series* series) noexcept;
  void read_any(std::uint64_t offset, base::Bytes payload);
  void read_value(std::uint64_t offset, std::size_t payload_size, const tfevents::Value& value, std::uint32_t part);
  void read_graph(std::uint64_t offset);
  void restart();
  Series& series_of(const tfevents::Value& value);

  RunData& run_;
  std::uint32_t file_;
  SourceFile& source_;
  Series* last_ = nullptr;
  tfevents::Event event_;  // keeps its memory from record to record
};

// Reads one statistics file. A second thread packs full chunks while the next records are read.
class StatisticsReader {
 public:
  StatisticsReader(RunData& run, std::uint32_t file)
      : run_(run),
        file_(file),
        output_{run.chunk_files, [this](std::function<void()> job) { packing_.push(std::move(job)); }} {}
  void read(std::uint64_t offset, base::Bytes payload);

 private:
  // The destination of a tensor's values.
  struct Known {
    std::uint32_t id = 0;
    std::uint32_t occurrence = 0;
    StatTrack* track = nullptr;
  };
  Status read_step(std::uint64_t offset, base::Bytes payload);
  void define(stats_record::Definition definition);
  StatTrack& track_of(std::uint32_t id, std::uint32_t occurrence, bool evaluation);
  StatTrack& known_track(std::uint32_t id, std::uint32_t occurrence, bool evaluation);

  RunData& run_;
  std::uint32_t file_;
  // The entries of a record, which are added to the run once the whole record is decoded.
  struct Read {
    std::uint32_t id = 0;
    std::uint32_t occurrence = 0;
    StatValues values;
  };
  std::vector<Read> entries_;  // keeps its memory from record to record
  ChunkOutput output_;
  // By position in the record, in training steps and in evaluation passes, since writers repeat the same order; and by
  // id and occurrence.
  std::vector<Known> known_[2];
  std::unordered_map<std::uint64_t, StatTrack*> tracks_[2];
  base::SerialQueue packing_{"sonde-pack"};  // starts its thread with the first full chunk
};

}  // namespace sonde::index
