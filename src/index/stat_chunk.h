// The statistics of many tensors at consecutive records of a statistics file, as columns, for the map of a network.
//
// A row is one tensor. Its min, max, mean, standard deviation and mean of magnitudes are f32, or f64 if they are beyond
// the range of f32; counts are offsets from their smallest in as many bytes as the largest needs, none if all are
// equal. The columns of one kind are adjacent for all rows, so that a question about one statistic touches only its own
// part. Longer rows also store the extremes and sums of the usual statistics over all their records, for drawings in
// which a whole row falls into one cell.
//
// The same bytes are a file of the cache:
//
//   ChunkHead   RowHead[rows]   data
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/page_allocator.h"
#include "sonde/log.h"
#include "stats/summary.h"

namespace sonde::index {

// The values of one tensor in a record.
struct StatValues {
  std::array<double, 5> numbers;        // min, max, mean, std, mean_abs
  std::array<std::uint64_t, 6> counts;  // count, nan, positive_infinity, negative_infinity, zeros, negatives
};
StatValues stat_values(const stats::Summary& summary) noexcept;

// A chunk while it is being filled: the entries of its records in the order written, in half the memory of StatValues.
struct StatEntry {
  std::array<float, 5> numbers;         // as in StatValues
  std::array<std::uint32_t, 3> counts;  // count, zeros, negatives; the others are zero
  std::uint32_t row = 0;
  std::uint32_t part = 0;  // the entry's index in the record
  std::uint32_t wide = 0;  // 0, or the number, counted from 1, of its values in StatEntries::wide
};
struct StatEntries {
  std::vector<StatEntry, base::PageAllocator<StatEntry>> all;
  std::vector<StatValues> wide;     // of the entries that StatEntry cannot hold
  std::vector<std::uint32_t> ends;  // by record: the number of entries up to its end
  std::uint32_t rows = 0;

  void add(std::uint32_t row, std::uint32_t part, const StatValues& values);
  StatValues values(const StatEntry& entry) const noexcept;
};

class StatChunk {
 public:
  static constexpr std::size_t kMostRead = 1024;  // maximum number of values per read

  // The bytes of a chunk of these entries.
  static std::string encode(const StatEntries& entries);
  // Whether the bytes are a complete chunk of this version, with no offset outside of them.
  static bool is_valid(base::Bytes bytes) noexcept;

  // The bytes must be valid.
  explicit StatChunk(base::Bytes bytes) noexcept : bytes_(bytes) {}

  std::size_t rows() const noexcept;
  std::size_t records() const noexcept;
  std::size_t size(std::size_t row) const noexcept;  // values
  std::uint32_t record(std::size_t row, std::size_t i) const noexcept;
  std::uint32_t part(std::size_t row, std::size_t i) const noexcept;
  // Whether its values are of consecutive records, from record(row, 0) on.
  bool is_consecutive(std::size_t row) const noexcept;
  // How many of its records have NaN elements, and infinite ones.
  std::uint32_t records_with_nan(std::size_t row) const noexcept;
  std::uint32_t records_with_infinity(std::size_t row) const noexcept;

  // The statistic at the values [begin, end) of a row, at most kMostRead; NaN if it is not defined.
  void read(std::size_t row, Statistic statistic, std::size_t begin, std::size_t end, double* to) const noexcept;

  // All numbers of one record.
  StatValues values(std::size_t row, std::size_t i) const noexcept;

  // The finite values of a statistic over a whole row.
  struct Sum {
    double min = 0;
    double max = 0;
    double sum = 0;
    std::uint64_t finite = 0;  // their number; the others are undefined if it is 0
  };
  // Null if the row does not store it.
  const Sum* sum(std::size_t row, Statistic statistic) const noexcept;

  StatEntries decode() const;

 private:
  friend class ChunkEncoder;
  base::Bytes bytes_;
};

// Adds a value to the finite ones of a cell or a row.
inline void add_to(StatChunk::Sum& sum, double value) noexcept {
  if (!(value - value == 0)) return;
  if (sum.finite == 0 || value < sum.min) sum.min = value;
  if (sum.finite == 0 || value > sum.max) sum.max = value;
  sum.sum += value;
  ++sum.finite;
}

}  // namespace sonde::index
