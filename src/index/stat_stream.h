// The steps of one statistics file, training or evaluation, and the statistics of all tensors at them.
//
// Step, time and offset are stored once per record. The values of the last records are collected in the order written;
// a full chunk is packed, one row per tensor, and, if a cache directory is given, moved to a cache file that is mapped
// when it is read. Another thread may do that while the next records are read; the chunks are the same.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "index/stat_chunk.h"

namespace sonde::index {

// Creates and reads chunk files. Names are unique among all processes that use the directory. Safe from any thread.
class ChunkFiles {
 public:
  // `prefix` is a path; files are named <prefix>.<...>.columns.
  explicit ChunkFiles(std::string prefix);
  static constexpr std::string_view kSuffix = ".columns";

  // Returns the name of the new file, within the directory; empty if it could not be written.
  std::string save(std::string_view bytes) const;
  // The bytes of a file with this name; empty if there is none, or if it is to be checked and is not a valid chunk.
  enum class Check : std::uint8_t { no, yes };  // no: it was written a moment ago
  base::Bytes map(const std::string& name, Check check, std::shared_ptr<const void>& owner) const;
  // Removes the files of this prefix that are not among the names, which are sorted.
  void remove_others(const std::vector<std::string>& names) const;

 private:
  std::string directory_;
  std::string prefix_;  // within the directory
};

// The bytes of a chunk, in a cache file or in memory.
struct StoredChunk {
  base::Bytes bytes;
  std::shared_ptr<const void> owner;
  std::string file;  // empty: in memory
};

// Packs and stores a full chunk, on the first thread that calls: a background thread, or the one that needs the chunk.
class ChunkJob {
 public:
  ChunkJob(StatEntries entries, std::shared_ptr<const ChunkFiles> files)
      : entries_(std::move(entries)), files_(std::move(files)) {}

  // Packs the chunk, unless another thread has begun.
  void run() noexcept;
  bool is_done() const noexcept { return state_.load(std::memory_order_acquire) == State::done; }
  // Packs the chunk, or waits for the thread that does. Throws what packing threw, std::bad_alloc.
  StoredChunk& result();
  // For reuse of their memory, once the job is done.
  StatEntries& entries() noexcept { return entries_; }

 private:
  enum class State : std::uint8_t { waiting, running, done };
  std::atomic<State> state_ = State::waiting;
  StatEntries entries_;
  const std::shared_ptr<const ChunkFiles> files_;
  StoredChunk stored_;
  std::exception_ptr error_;
};

// What a stream needs to pack and store full chunks.
struct ChunkOutput {
  std::shared_ptr<const ChunkFiles> files;  // null: they stay in memory
  // Passes a job to another thread, which may run it at any time or never. Null: there is none.
  std::function<void(std::function<void()>)> hand_over = {};
};

// The positions of a tensor's values in the chunks of a stream.
struct StatTrack {
  struct Place {
    std::uint32_t chunk = 0;
    std::uint32_t row = 0;
  };
  std::vector<Place> places;  // chunks ascend
  std::uint64_t size = 0;
  std::uint32_t first_record = 0;  // numbers of records in the stream
  std::uint32_t last_record = 0;
  std::vector<std::uint32_t> non_finite;  // records with non-finite elements
};

class StatStream {
 public:
  static constexpr std::size_t kMostRecords = 1024;       // of a chunk
  static constexpr std::size_t kMostValues = 128 * 1024;  // of a chunk, roughly
  static constexpr std::size_t kWorthAFile = 256 * 1024;  // bytes of a chunk

  static constexpr std::size_t kMostJobs = 2;  // chunks that wait or are being packed

  // Begins a record: the next values belong to it. Its number is the previous records().
  void begin_record(std::uint64_t offset, const ChunkOutput& output);
  void add(StatTrack& track, std::uint32_t part, const StatValues& values);

  std::size_t records() const noexcept { return offsets_.size(); }
  std::uint64_t offset(std::size_t record) const noexcept { return offsets_[record]; }
  // The record at this offset.
  std::optional<std::size_t> find_record(std::uint64_t offset) const noexcept;

  // Chunks, the last of which may still grow. Call `pack()` after adding values.
  std::size_t chunks() const noexcept { return chunks_.size() + (tail_.empty() ? 0 : 1); }
  StatChunk chunk(std::size_t index) const noexcept {
    return StatChunk(index < chunks_.size() ? chunks_[index].stored.bytes : base::as_bytes(tail_));
  }
  // The number of a chunk's first record.
  std::size_t first_record(std::size_t chunk) const noexcept {
    return chunk < chunks_.size() ? chunks_[chunk].first_record : tail_begin_;
  }

  // Packs the last chunk too, and waits for those that another thread packs.
  void pack();

  // Appends the names of this stream's files.
  void add_files(std::vector<std::string>& names) const;

  // For the cache, once packed. False if something is wrong.
  void save(std::string& out) const;
  bool restore(base::ByteReader& from, const ChunkFiles* files);

 private:
  struct Chunk {
    StoredChunk stored;
    std::size_t first_record = 0;
    std::shared_ptr<ChunkJob> job = {};  // until it is packed
  };
  void seal(const ChunkOutput& output);
  void finish(Chunk& chunk);

  std::vector<std::uint64_t> offsets_;  // by record
  std::vector<Chunk> chunks_;
  std::size_t tail_begin_ = 0;        // the first record after the chunks
  StatEntries entries_;               // of the last chunk while it grows
  std::size_t values_ = 0;            // in the last chunk
  std::string tail_;                  // the last chunk, packed
  decltype(StatEntries::all) spare_;  // memory for the entries of the next chunk
};

}  // namespace sonde::index
