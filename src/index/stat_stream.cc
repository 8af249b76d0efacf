#include "index/stat_stream.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"

namespace sonde::index {

ChunkFiles::ChunkFiles(std::string prefix) {
  const std::size_t slash = prefix.rfind('/');
  directory_ = slash == std::string::npos ? "." : prefix.substr(0, slash);
  prefix_ = prefix.substr(slash == std::string::npos ? 0 : slash + 1) + ".";
}

std::string ChunkFiles::save(std::string_view bytes) {
  static std::atomic<std::uint64_t> count{0};
  const auto now = static_cast<std::uint64_t>(wall_seconds() * 1e6);
  const std::string name = prefix_ + std::to_string(now) + "-" + std::to_string(::getpid()) + "-" +
                           std::to_string(count++) + std::string(kSuffix);
  // A chunk that cannot be written stays in memory.
  return write_file(join_path(directory_, name), bytes).ok() ? name : std::string();
}

Bytes ChunkFiles::map(const std::string& name, Check check, std::shared_ptr<const void>& owner) const {
  if (!name.starts_with(prefix_) || name.find('/') != std::string::npos) return {};
  Result<MappedFile> mapped = MappedFile::open(join_path(directory_, name));
  if (!mapped || (check == Check::yes && !StatChunk::is_valid(mapped->bytes()))) return {};
  auto file = std::make_shared<MappedFile>(std::move(*mapped));
  const Bytes bytes = file->bytes();
  owner = std::move(file);
  return bytes;
}

void ChunkFiles::remove_others(const std::vector<std::string>& names) const {
  const Result<Directory> listed = read_directory(directory_);
  if (!listed) return;
  for (const DirectoryEntry& entry : listed->entries) {
    if (!entry.name.starts_with(prefix_) || !entry.name.ends_with(kSuffix)) continue;
    if (!std::ranges::binary_search(names, entry.name))
      static_cast<void>(remove_file(join_path(directory_, entry.name)));
  }
}

void StatStream::begin_record(std::uint64_t offset, ChunkFiles* files) {
  if (records() - tail_begin_ >= kMostRecords || values_ >= kMostValues) seal(files);
  if (!tail_.empty()) reopen();
  offsets_.push_back(offset);
}

void StatStream::add(StatTrack& track, std::uint32_t part, const StatValues& values) {
  const auto record = static_cast<std::uint32_t>(offsets_.size() - 1);
  if (track.places.empty() || track.places.back().chunk != chunks_.size()) {
    track.places.push_back({static_cast<std::uint32_t>(chunks_.size()), static_cast<std::uint32_t>(rows_.size())});
    rows_.emplace_back();
  }
  StatRow& row = rows_[track.places.back().row];
  row.records.push_back(static_cast<std::uint32_t>(record - tail_begin_));
  row.parts.push_back(part);
  row.values.push_back(values);
  ++values_;
  if (track.size++ == 0) track.first_record = record;
  track.last_record = record;
  if (values.counts[1] + values.counts[2] + values.counts[3] > 0) track.non_finite.push_back(record);
}

void StatStream::seal(ChunkFiles* files) {
  pack();
  if (tail_.empty()) {  // records without a tensor
    tail_begin_ = records();
    return;
  }
  Chunk chunk;
  chunk.first_record = std::exchange(tail_begin_, records());
  if (files != nullptr && tail_.size() >= kWorthAFile) {
    chunk.file = files->save(tail_);
    if (!chunk.file.empty()) chunk.bytes = files->map(chunk.file, ChunkFiles::Check::no, chunk.owner);
    if (chunk.bytes.size() != tail_.size()) chunk.bytes = {};
    if (chunk.bytes.empty()) chunk.file.clear();
  }
  if (chunk.bytes.empty()) {
    auto kept = std::make_shared<const std::string>(std::move(tail_));
    chunk.bytes = as_bytes(*kept);
    chunk.owner = std::move(kept);
  }
  chunks_.push_back(std::move(chunk));
  tail_ = {};
  values_ = 0;
}

void StatStream::pack() {
  if (rows_.empty()) return;
  tail_ = StatChunk::encode(rows_, records() - tail_begin_);
  tail_.shrink_to_fit();
  rows_ = {};
}

void StatStream::reopen() {
  StatChunk(as_bytes(tail_)).decode(rows_);
  tail_ = {};
}

void StatStream::add_files(std::vector<std::string>& names) const {
  for (const Chunk& chunk : chunks_) {
    if (!chunk.file.empty()) names.push_back(chunk.file);
  }
}

void StatStream::save(std::string& out) const {
  put_varint(out, offsets_.size());
  std::uint64_t last = 0;
  for (const std::uint64_t offset : offsets_) put_varint(out, offset - std::exchange(last, offset));
  put_varint(out, chunks_.size());
  const auto put_text = [&](std::string_view text) {
    put_varint(out, text.size());
    out += text;
  };
  for (const Chunk& chunk : chunks_) {
    put_varint(out, chunk.first_record);
    put_text(chunk.file);
    put_text(chunk.file.empty() ? as_text(chunk.bytes) : std::string_view());
  }
  put_varint(out, tail_begin_);
  put_varint(out, values_);
  put_text(tail_);
}

bool StatStream::restore(ByteReader& from, const ChunkFiles* files) {
  const auto get_text = [&] { return as_text(from.take(from.varint())); };
  std::uint64_t offset = 0;
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) offsets_.push_back(offset += from.varint());
  std::size_t next = 0;  // the first record after the last chunk
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    Chunk chunk;
    chunk.first_record = from.varint();
    chunk.file = get_text();
    const std::string_view kept = get_text();
    if (chunk.file.empty()) {  // copied, since numbers must be aligned
      auto copy = std::make_shared<const std::string>(kept);
      chunk.bytes = as_bytes(*copy);
      if (!StatChunk::is_valid(chunk.bytes)) return false;
      chunk.owner = std::move(copy);
    } else {
      if (files != nullptr) chunk.bytes = files->map(chunk.file, ChunkFiles::Check::yes, chunk.owner);
      if (chunk.bytes.empty()) return false;
    }
    if (chunk.first_record < next) return false;
    next = chunk.first_record + StatChunk(chunk.bytes).records();
    chunks_.push_back(std::move(chunk));
  }
  tail_begin_ = from.varint();
  values_ = from.varint();
  tail_ = get_text();
  if (!from.ok() || tail_begin_ < next || tail_begin_ > records()) return false;
  if (tail_.empty()) return true;
  return StatChunk::is_valid(as_bytes(tail_)) && StatChunk(as_bytes(tail_)).records() + tail_begin_ <= records();
}

}  // namespace sonde::index
