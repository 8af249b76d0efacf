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

std::string ChunkFiles::save(std::string_view bytes) const {
  static std::atomic<std::uint64_t> count{0};
  const auto now = static_cast<std::uint64_t>(base::wall_seconds() * 1e6);
  const std::string name = prefix_ + std::to_string(now) + "-" + std::to_string(::getpid()) + "-" +
                           std::to_string(count++) + std::string(kSuffix);
  // A chunk that cannot be written stays in memory.
  return base::write_file(base::join_path(directory_, name), bytes).ok() ? name : std::string();
}

base::Bytes ChunkFiles::map(const std::string& name, Check check, std::shared_ptr<const void>& owner) const {
  if (!name.starts_with(prefix_) || name.find('/') != std::string::npos) return {};
  Result<base::MappedFile> mapped = base::MappedFile::open(base::join_path(directory_, name));
  if (!mapped || (check == Check::yes && !StatChunk::is_valid(mapped->bytes()))) return {};
  auto file = std::make_shared<base::MappedFile>(std::move(*mapped));
  const base::Bytes bytes = file->bytes();
  owner = std::move(file);
  return bytes;
}

void ChunkFiles::remove_others(const std::vector<std::string>& names) const {
  const Result<base::Directory> listed = base::read_directory(directory_);
  if (!listed) return;
  for (const base::DirectoryEntry& entry : listed->entries) {
    if (!entry.name.starts_with(prefix_) || !entry.name.ends_with(kSuffix)) continue;
    if (!std::ranges::binary_search(names, entry.name))
      static_cast<void>(base::remove_file(base::join_path(directory_, entry.name)));
  }
}

namespace {

StoredChunk store(std::string packed, const ChunkFiles* files) {
  StoredChunk stored;
  if (files != nullptr && packed.size() >= StatStream::kWorthAFile) {
    stored.file = files->save(packed);
    if (!stored.file.empty()) stored.bytes = files->map(stored.file, ChunkFiles::Check::no, stored.owner);
    if (stored.bytes.size() == packed.size()) return stored;
    stored = {};
  }
  auto kept = std::make_shared<const std::string>(std::move(packed));
  stored.bytes = base::as_bytes(*kept);
  stored.owner = std::move(kept);
  return stored;
}

}  // namespace

void ChunkJob::run() noexcept {
  State waiting = State::waiting;
  if (!state_.compare_exchange_strong(waiting, State::running, std::memory_order_acquire)) return;
  try {
    stored_ = store(StatChunk::encode(entries_), files_.get());
  } catch (...) {
    error_ = std::current_exception();
  }
  state_.store(State::done, std::memory_order_release);
  state_.notify_all();
}

StoredChunk& ChunkJob::result() {
  run();
  state_.wait(State::running, std::memory_order_acquire);
  if (error_) {  // the next call tries again
    state_.store(State::waiting, std::memory_order_relaxed);
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
  return stored_;
}

void StatStream::begin_record(std::uint64_t offset, const ChunkOutput& output) {
  if (records() - tail_begin_ >= kMostRecords || values_ >= kMostValues) seal(output);
  if (!tail_.empty()) {
    entries_ = StatChunk(base::as_bytes(tail_)).decode();
    entries_.ends.resize(records() - tail_begin_, static_cast<std::uint32_t>(entries_.all.size()));
    tail_ = {};
  }
  if (values_ > kMostValues / 4) entries_.all.reserve(kMostValues + kMostValues / 16);
  // A chunk begins with the first record that has a tensor.
  if (entries_.all.empty()) {
    entries_.ends.clear();
    tail_begin_ = records();
  }
  offsets_.push_back(offset);
  entries_.ends.push_back(static_cast<std::uint32_t>(entries_.all.size()));
}

void StatStream::add(StatTrack& track, std::uint32_t part, const StatValues& values) {
  const auto record = static_cast<std::uint32_t>(offsets_.size() - 1);
  if (track.places.empty() || track.places.back().chunk != chunks_.size()) {
    track.places.push_back({static_cast<std::uint32_t>(chunks_.size()), entries_.rows++});
  }
  entries_.add(track.places.back().row, part, values);
  ++entries_.ends.back();
  ++values_;
  if (track.size++ == 0) track.first_record = record;
  track.last_record = record;
  if ((values.counts[1] | values.counts[2] | values.counts[3]) != 0) track.non_finite.push_back(record);
}

std::optional<std::size_t> StatStream::find_record(std::uint64_t offset) const noexcept {
  const auto found = std::ranges::lower_bound(offsets_, offset);  // offsets ascend as the file is read
  if (found == offsets_.end() || *found != offset) return std::nullopt;
  return static_cast<std::size_t>(found - offsets_.begin());
}

// Takes the result of a job, and its memory for the next chunk.
void StatStream::finish(Chunk& chunk) {
  chunk.stored = std::move(chunk.job->result());
  if (spare_.capacity() == 0) spare_ = std::move(chunk.job->entries().all);
  spare_.clear();
  chunk.job = nullptr;
}

void StatStream::seal(const ChunkOutput& output) {
  std::size_t jobs = 0;
  for (Chunk& chunk : chunks_) {
    if (chunk.job != nullptr && chunk.job->is_done()) finish(chunk);
    if (chunk.job != nullptr) ++jobs;
  }
  const std::size_t first = std::exchange(tail_begin_, records());
  values_ = 0;
  if (!tail_.empty()) {
    chunks_.push_back({store(std::exchange(tail_, {}), output.files.get()), first});
    return;
  }
  if (entries_.all.empty()) return;  // records without a tensor
  const auto job = std::make_shared<ChunkJob>(std::exchange(entries_, {}), output.files);
  chunks_.push_back({{}, first, job});
  entries_.all = std::exchange(spare_, {});
  if (output.hand_over == nullptr || jobs >= kMostJobs) return finish(chunks_.back());
  output.hand_over([waiting = std::weak_ptr(job)] {
    if (const std::shared_ptr<ChunkJob> here = waiting.lock()) here->run();
  });
}

void StatStream::pack() {
  for (Chunk& chunk : chunks_) {
    if (chunk.job != nullptr) finish(chunk);
  }
  spare_ = {};
  if (entries_.all.empty()) return;
  tail_ = StatChunk::encode(entries_);
  tail_.shrink_to_fit();
  entries_ = {};
}

void StatStream::add_files(std::vector<std::string>& names) const {
  for (const Chunk& chunk : chunks_) {
    if (!chunk.stored.file.empty()) names.push_back(chunk.stored.file);
  }
}

void StatStream::save(std::string& out) const {
  base::put_varint(out, offsets_.size());
  std::uint64_t last = 0;
  for (const std::uint64_t offset : offsets_) base::put_varint(out, offset - std::exchange(last, offset));
  base::put_varint(out, chunks_.size());
  const auto put_text = [&](std::string_view text) {
    base::put_varint(out, text.size());
    out += text;
  };
  for (const Chunk& chunk : chunks_) {
    base::put_varint(out, chunk.first_record);
    put_text(chunk.stored.file);
    put_text(chunk.stored.file.empty() ? base::as_text(chunk.stored.bytes) : std::string_view());
  }
  base::put_varint(out, tail_begin_);
  base::put_varint(out, values_);
  put_text(tail_);
}

bool StatStream::restore(base::ByteReader& from, const ChunkFiles* files) {
  const auto get_text = [&] { return base::as_text(from.take(from.varint())); };
  std::uint64_t offset = 0;
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) offsets_.push_back(offset += from.varint());
  std::size_t next = 0;  // the first record after the last chunk
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    Chunk chunk;
    StoredChunk& stored = chunk.stored;
    chunk.first_record = from.varint();
    stored.file = get_text();
    const std::string_view kept = get_text();
    if (stored.file.empty()) {  // copied, since numbers must be aligned
      auto copy = std::make_shared<const std::string>(kept);
      stored.bytes = base::as_bytes(*copy);
      if (!StatChunk::is_valid(stored.bytes)) return false;
      stored.owner = std::move(copy);
    } else {
      if (files != nullptr) stored.bytes = files->map(stored.file, ChunkFiles::Check::yes, stored.owner);
      if (stored.bytes.empty()) return false;
    }
    if (chunk.first_record < next) return false;
    next = chunk.first_record + StatChunk(stored.bytes).records();
    chunks_.push_back(std::move(chunk));
  }
  tail_begin_ = from.varint();
  values_ = from.varint();
  tail_ = get_text();
  if (!from.ok() || tail_begin_ < next || tail_begin_ > records()) return false;
  if (tail_.empty()) return true;
  return StatChunk::is_valid(base::as_bytes(tail_)) &&
         StatChunk(base::as_bytes(tail_)).records() + tail_begin_ <= records();
}

}  // namespace sonde::index
