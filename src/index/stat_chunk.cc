#include "index/stat_chunk.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/crc32c.h"

namespace sonde::index {
namespace {

constexpr std::uint32_t kMagic = 0x43444e53;  // "SNDC"
constexpr std::uint32_t kVersion = 1;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Columns of a row: five numbers, six counts, then places in the record and in the chunk.
enum Field : std::uint8_t {
  kMin,
  kMax,
  kMean,
  kStd,
  kMeanAbs,
  kCount,
  kNan,
  kPositiveInfinity,
  kNegativeInfinity,
  kZeros,
  kNegatives,
  kPart,
  kRecord,
  kColumns
};
constexpr std::size_t kNumbers = 5;
constexpr std::size_t kCounts = 6;

// Statistics whose extremes and sum a long row stores.
constexpr std::array kSummed = {Statistic::min,      Statistic::max, Statistic::mean,    Statistic::std,
                                Statistic::mean_abs, Statistic::rms, Statistic::abs_max, Statistic::zero_fraction};
constexpr std::size_t kLongRow = 64;

struct ChunkHead {
  std::uint32_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint64_t size = 0;  // of all bytes
  std::uint32_t rows = 0;
  std::uint32_t records = 0;
  std::uint32_t checksum = 0;  // of everything after the head
  std::uint32_t unused = 0;
};

struct ColumnHead {
  std::uint64_t base = 0;  // of integers
  std::uint32_t at = 0;    // where the numbers are
  std::uint32_t width = 0;
};

struct RowHead {
  std::uint32_t size = 0;
  std::uint32_t records_with_nan = 0;
  std::uint32_t records_with_infinity = 0;
  std::uint32_t sums = 0;  // their offset; 0: none
  std::uint32_t consecutive = 0;
  std::uint32_t unused = 0;
  std::array<ColumnHead, kColumns> columns;
};

ChunkHead head_of(base::Bytes bytes) noexcept { return base::load<ChunkHead>(bytes.data()); }
const RowHead& row_of(base::Bytes bytes, std::size_t row) noexcept {
  return reinterpret_cast<const RowHead*>(bytes.data() + sizeof(ChunkHead))[row];
}

template <class Number>
void load_numbers(const std::byte* from, std::size_t count, double* to) noexcept {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<double>(base::load<Number>(from + i * sizeof(Number)));
}

std::uint64_t integer(base::Bytes bytes, const ColumnHead& column, std::size_t i) noexcept {
  const std::byte* const at = bytes.data() + column.at + i * column.width;
  switch (column.width) {
    case 1: return column.base + base::load<std::uint8_t>(at);
    case 2: return column.base + base::load<std::uint16_t>(at);
    case 4: return column.base + base::load<std::uint32_t>(at);
    case 8: return column.base + base::load<std::uint64_t>(at);
    default: return column.base;
  }
}

void load_numbers(base::Bytes bytes, const ColumnHead& column, std::size_t begin, std::size_t end,
                  double* to) noexcept {
  const std::byte* const from = bytes.data() + column.at + begin * column.width;
  if (column.width == 4) return load_numbers<float>(from, end - begin, to);
  load_numbers<double>(from, end - begin, to);
}

void load_counts(base::Bytes bytes, const ColumnHead& column, std::size_t begin, std::size_t end, double* to) noexcept {
  const std::size_t count = end - begin;
  const std::byte* const from = bytes.data() + column.at + begin * column.width;
  const auto base = static_cast<double>(column.base);
  switch (column.width) {
    case 1: load_numbers<std::uint8_t>(from, count, to); break;
    case 2: load_numbers<std::uint16_t>(from, count, to); break;
    case 4: load_numbers<std::uint32_t>(from, count, to); break;
    case 8: load_numbers<std::uint64_t>(from, count, to); break;
    default: std::fill_n(to, count, base); return;
  }
  if (base != 0) {
    for (std::size_t i = 0; i < count; ++i) to[i] += base;
  }
}

// One statistic of a stretch of a row.
class RowReader {
 public:
  RowReader(base::Bytes bytes, const RowHead& row, std::size_t begin, std::size_t end) noexcept
      : bytes_(bytes), row_(row), begin_(begin), end_(end) {}

  void read(Statistic statistic, double* to) noexcept {
    switch (statistic) {
      case Statistic::min: return number(kMin, to);
      case Statistic::max: return number(kMax, to);
      case Statistic::mean: return number(kMean, to);
      case Statistic::std: return number(kStd, to);
      case Statistic::mean_abs: return number(kMeanAbs, to);
      case Statistic::count: return count(kCount, to);
      case Statistic::nan: return count(kNan, to);
      case Statistic::positive_infinity: return count(kPositiveInfinity, to);
      case Statistic::negative_infinity: return count(kNegativeInfinity, to);
      case Statistic::zeros: return count(kZeros, to);
      case Statistic::negatives: return count(kNegatives, to);
      case Statistic::non_finite: return non_finite(to);
      case Statistic::rms: return rms(to);
      case Statistic::abs_max: return abs_max(to);
      case Statistic::l2:
        rms(to);
        return combine(&RowReader::finite, to, [](double rms, double n) { return rms * std::sqrt(n); });
      case Statistic::sum_abs:
        number(kMeanAbs, to);
        return combine(&RowReader::finite, to, [](double mean, double n) { return mean * n; });
      case Statistic::peak_factor:
        abs_max(to);
        return combine(&RowReader::rms, to, [](double peak, double rms) { return peak / rms; });
      case Statistic::shape_factor:
        number(kMeanAbs, to);
        return combine(&RowReader::rms, to, [](double mean_abs, double rms) { return mean_abs / rms; });
      case Statistic::zero_fraction: return fraction(kZeros, to);
      case Statistic::negative_fraction: return fraction(kNegatives, to);
      case Statistic::f16_range: return range_share(65'504, to);
      case Statistic::f8_e4m3_range: return range_share(448, to);
      case Statistic::f8_e5m2_range: return range_share(57'344, to);
      case Statistic::update_ratio:
      case Statistic::depth_gain:
      case Statistic::drift: break;  // of more than one row or record: see stat_quantity.h
    }
    std::fill_n(to, end_ - begin_, kNaN);
  }

 private:
  void number(Field column, double* to) noexcept { load_numbers(bytes_, row_.columns[column], begin_, end_, to); }
  void count(Field column, double* to) noexcept { load_counts(bytes_, row_.columns[column], begin_, end_, to); }

  template <class Combine>
  void combine(void (RowReader::*read_other)(double*) noexcept, double* to, Combine combined) noexcept {
    double other[StatChunk::kMostRead];
    (this->*read_other)(other);
    for (std::size_t i = 0; i < end_ - begin_; ++i) to[i] = combined(to[i], other[i]);
  }
  void add(Field column, double* to) noexcept {
    const ColumnHead& head = row_.columns[column];
    if (head.width == 0 && head.base == 0) return;
    double other[StatChunk::kMostRead];
    count(column, other);
    for (std::size_t i = 0; i < end_ - begin_; ++i) to[i] += other[i];
  }
  void non_finite(double* to) noexcept {
    count(kNan, to);
    add(kPositiveInfinity, to);
    add(kNegativeInfinity, to);
  }
  void finite(double* to) noexcept {
    double others[StatChunk::kMostRead];
    count(kCount, to);
    non_finite(others);
    for (std::size_t i = 0; i < end_ - begin_; ++i) to[i] = std::max(0.0, to[i] - others[i]);
  }
  void rms(double* to) noexcept {
    double mean[StatChunk::kMostRead];
    number(kStd, to);
    number(kMean, mean);
    // Squares of f32 are normal f64 numbers, but those of what only f64 holds may be too large or too small.
    if (row_.columns[kStd].width == 4 && row_.columns[kMean].width == 4) {
      for (std::size_t i = 0; i < end_ - begin_; ++i) to[i] = std::sqrt(to[i] * to[i] + mean[i] * mean[i]);
    } else {
      for (std::size_t i = 0; i < end_ - begin_; ++i) to[i] = std::hypot(to[i], mean[i]);
    }
  }
  void abs_max(double* to) noexcept {
    double high[StatChunk::kMostRead];
    number(kMin, to);
    number(kMax, high);
    for (std::size_t i = 0; i < end_ - begin_; ++i) to[i] = std::max(std::abs(to[i]), std::abs(high[i]));
  }
  void range_share(double largest, double* to) noexcept {
    abs_max(to);
    for (std::size_t i = 0; i < end_ - begin_; ++i) to[i] /= largest;
  }
  void fraction(Field column, double* to) noexcept {
    count(column, to);
    double all[StatChunk::kMostRead];
    count(kCount, all);
    for (std::size_t i = 0; i < end_ - begin_; ++i) to[i] /= all[i];
  }

  base::Bytes bytes_;
  const RowHead& row_;
  std::size_t begin_;
  std::size_t end_;
};

// Adds values that are all finite, several at a time, since one addition waits for the one before it; others one by
// one.
void add_all(StatChunk::Sum& sum, const double* values, std::size_t count) noexcept {
  constexpr std::size_t kLanes = 8;
  double low[kLanes];
  double high[kLanes];
  double total[kLanes] = {};
  double not_finite[kLanes] = {};
  const std::size_t even = count - count % kLanes;
  if (even > 0) {
    std::copy_n(values, kLanes, low);
    std::copy_n(values, kLanes, high);
    for (std::size_t i = 0; i < even; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const double value = values[i + lane];
        low[lane] = value < low[lane] ? value : low[lane];
        high[lane] = value > high[lane] ? value : high[lane];
        total[lane] += value;
        not_finite[lane] += value * 0;  // NaN then
      }
    }
    double any = 0;
    for (const double lane : not_finite) any += lane;
    if (any != 0) {
      for (std::size_t i = 0; i < even; ++i) add_to(sum, values[i]);
    } else {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        if (sum.finite == 0 || low[lane] < sum.min) sum.min = low[lane];
        if (sum.finite == 0 || high[lane] > sum.max) sum.max = high[lane];
        sum.sum += total[lane];
        sum.finite += even / kLanes;
      }
    }
  }
  for (std::size_t i = even; i < count; ++i) add_to(sum, values[i]);
}

bool fits_f32(double value) noexcept {
  const double magnitude = std::abs(value);
  constexpr double kSmallest = std::numeric_limits<float>::min();
  constexpr double kLargest = std::numeric_limits<float>::max();
  return (magnitude >= kSmallest && magnitude <= kLargest) || magnitude == 0 || !std::isfinite(value);
}

std::uint32_t width_of(std::uint64_t range) noexcept {
  if (range == 0) return 0;
  return range <= UINT8_MAX ? 1 : range <= UINT16_MAX ? 2 : range <= UINT32_MAX ? 4 : 8;
}

}  // namespace

StatValues stat_values(const stats::Summary& summary) noexcept {
  const std::uint64_t others = summary.nan + summary.positive_infinity + summary.negative_infinity;
  const std::uint64_t finite = summary.count >= others ? summary.count - others : 0;
  const double inverse = finite > 0 ? 1 / static_cast<double>(finite) : kNaN;
  return {{summary.min, summary.max, summary.mean, std::sqrt(summary.m2 * inverse), summary.sum_abs * inverse},
          {summary.count, summary.nan, summary.positive_infinity, summary.negative_infinity, summary.zeros,
           summary.negatives}};
}

void StatEntries::add(std::uint32_t row, std::uint32_t part, const StatValues& values) {
  const auto& [count, nan, positive_infinity, negative_infinity, zeros, negatives] = values.counts;
  bool fits = (nan | positive_infinity | negative_infinity) == 0 && (count | zeros | negatives) <= UINT32_MAX;
  StatEntry& entry = all.emplace_back();
  for (std::size_t i = 0; i < kNumbers; ++i) {
    fits &= fits_f32(values.numbers[i]);
    entry.numbers[i] = static_cast<float>(values.numbers[i]);
  }
  entry.counts = {static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(zeros),
                  static_cast<std::uint32_t>(negatives)};
  entry.row = row;
  entry.part = part;
  if (!fits) {
    wide.push_back(values);
    entry.wide = static_cast<std::uint32_t>(wide.size());
  }
}

StatValues StatEntries::values(const StatEntry& entry) const noexcept {
  if (entry.wide != 0) [[unlikely]]
    return wide[entry.wide - 1];
  StatValues values;
  for (std::size_t i = 0; i < kNumbers; ++i) values.numbers[i] = static_cast<double>(entry.numbers[i]);
  values.counts = {entry.counts[0], 0, 0, 0, entry.counts[1], entry.counts[2]};
  return values;
}

// Encodes entries. Each row is gathered from the records, packed while it is in the processor's cache, and copied to
// its position once the size of all columns is known.
class ChunkEncoder {
 public:
  explicit ChunkEncoder(const StatEntries& entries) : entries_(entries), heads_(entries.rows) {
    head_.rows = entries.rows;
    head_.records = static_cast<std::uint32_t>(entries.ends.size());
    sort_by_row();
  }

  std::string encode() {
    constexpr std::size_t kUsualSize = 32;  // of a value
    packed_.reserve(entries_.all.size() * kUsualSize);
    std::size_t begin = 0;
    for (std::size_t r = 0; r < heads_.size(); ++r) {
      gather(begin, ends_[r]);
      plan(heads_[r]);
      pack(heads_[r]);
      if (heads_[r].size >= kLongRow) sum(heads_[r]);
      begin = ends_[r];
    }
    return join();
  }

 private:
  struct Place {
    std::uint32_t entry = 0;
    std::uint32_t record = 0;
  };

  void sort_by_row() {
    for (const StatEntry& entry : entries_.all) ++heads_[entry.row].size;
    std::vector<std::uint32_t> next;
    std::uint32_t total = 0;
    for (const RowHead& row : heads_) {
      next.push_back(total);
      total += row.size;
      ends_.push_back(total);
    }
    places_.resize(total);
    std::uint32_t record = 0;
    for (std::uint32_t i = 0; i < total; ++i) {
      while (entries_.ends[record] <= i) ++record;
      places_[next[entries_.all[i].row]++] = {i, record};
    }
  }

  // Gathers the row with these places.
  void gather(std::size_t begin, std::size_t end) {
    constexpr std::size_t kAhead = 8;  // entries that are on their way to the cache
    const std::size_t size = end - begin;
    for (auto& column : numbers_) column.resize(size);
    for (auto& column : integers_) column.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      if (begin + i + kAhead < end) __builtin_prefetch(&entries_.all[places_[begin + i + kAhead].entry]);
      const Place place = places_[begin + i];
      const StatEntry& entry = entries_.all[place.entry];
      const StatValues values = entries_.values(entry);
      for (std::size_t c = 0; c < kNumbers; ++c) numbers_[c][i] = values.numbers[c];
      for (std::size_t c = 0; c < kCounts; ++c) integers_[c][i] = values.counts[c];
      integers_[kPart - kCount][i] = entry.part;
      integers_[kRecord - kCount][i] = place.record;
    }
  }

  void plan(RowHead& head) const {
    if (head.size == 0) return;
    for (std::size_t c = 0; c < kNumbers; ++c) {
      bool fits = true;
      for (const double number : numbers_[c]) fits &= fits_f32(number);
      head.columns[c].width = fits ? 4 : 8;
    }
    for (std::size_t c = kCount; c < kColumns; ++c) {
      std::uint64_t low = UINT64_MAX;
      std::uint64_t high = 0;
      for (const std::uint64_t number : integers_[c - kCount]) {
        low = number < low ? number : low;
        high = number > high ? number : high;
      }
      head.columns[c] = {low, 0, width_of(high - low)};
    }
    for (std::size_t i = 0; i < head.size; ++i) {
      const auto count = [&](Field column) { return integers_[column - kCount][i]; };
      head.records_with_nan += static_cast<std::uint32_t>(count(kNan) > 0);
      head.records_with_infinity +=
          static_cast<std::uint32_t>((count(kPositiveInfinity) | count(kNegativeInfinity)) > 0);
    }
    const auto& records = integers_[kRecord - kCount];
    const auto is_apart = [](std::uint64_t a, std::uint64_t b) { return b != a + 1; };
    if (std::ranges::adjacent_find(records, is_apart) == records.end()) {
      head.consecutive = 1;
      head.columns[kRecord].width = 0;
    }
  }

  template <class Stored, class Number>
  void put_as(std::size_t at, const std::vector<Number>& column, Number base) {
    packed_.resize(at + column.size() * sizeof(Stored));
    char* const to = packed_.data() + at;
    for (std::size_t i = 0; i < column.size(); ++i) {
      const auto stored = static_cast<Stored>(column[i] - base);
      std::memcpy(to + i * sizeof stored, &stored, sizeof stored);
    }
  }
  void pack(RowHead& head) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      ColumnHead& column = head.columns[c];
      const std::size_t at = (packed_.size() + 7) / 8 * 8;
      column.at = static_cast<std::uint32_t>(at);
      if (c < kNumbers) {
        column.width == 4 ? put_as<float>(at, numbers_[c], 0.0) : put_as<double>(at, numbers_[c], 0.0);
        continue;
      }
      const auto& integers = integers_[c - kCount];
      switch (column.width) {
        case 1: put_as<std::uint8_t>(at, integers, column.base); break;
        case 2: put_as<std::uint16_t>(at, integers, column.base); break;
        case 4: put_as<std::uint32_t>(at, integers, column.base); break;
        case 8: put_as<std::uint64_t>(at, integers, column.base); break;
        default: break;
      }
    }
  }

  // From the columns as they are read, so that they are what a look at each value would give.
  void sum(RowHead& head) {
    std::array<StatChunk::Sum, kSummed.size()> sums;
    double values[StatChunk::kMostRead];
    for (std::size_t s = 0; s < kSummed.size(); ++s) {
      for (std::size_t begin = 0; begin < head.size; begin += StatChunk::kMostRead) {
        const std::size_t end = std::min<std::size_t>(head.size, begin + StatChunk::kMostRead);
        RowReader(base::as_bytes(packed_), head, begin, end).read(kSummed[s], values);
        add_all(sums[s], values, end - begin);
      }
    }
    const std::size_t at = (packed_.size() + 7) / 8 * 8;
    packed_.resize(at + sizeof sums);
    std::memcpy(packed_.data() + at, sums.data(), sizeof sums);
    head.sums = static_cast<std::uint32_t>(at);
  }

  // The columns of one kind side by side, then the sums.
  std::string join() {
    constexpr std::size_t kSums = sizeof(StatChunk::Sum) * kSummed.size();
    const auto padded = [](std::size_t bytes) { return (bytes + 7) / 8 * 8; };
    std::size_t size = sizeof head_ + heads_.size() * sizeof(RowHead);
    for (const RowHead& row : heads_) {
      for (const ColumnHead& column : row.columns) size += padded(std::size_t{row.size} * column.width);
      if (row.size >= kLongRow) size += kSums;
    }
    std::string out(size, '\0');
    std::size_t end = sizeof head_ + heads_.size() * sizeof(RowHead);
    const auto place = [&](std::uint32_t& at, std::size_t bytes) {
      std::memcpy(out.data() + end, packed_.data() + at, bytes);
      at = static_cast<std::uint32_t>(end);
      end += padded(bytes);
    };
    for (std::size_t c = 0; c < kColumns; ++c) {
      for (RowHead& row : heads_) place(row.columns[c].at, std::size_t{row.size} * row.columns[c].width);
    }
    for (RowHead& row : heads_) {
      if (row.size >= kLongRow) place(row.sums, kSums);
    }
    std::memcpy(out.data() + sizeof head_, heads_.data(), heads_.size() * sizeof(RowHead));
    head_.size = size;
    head_.checksum = base::crc32c(base::as_bytes(out).subspan(sizeof head_));
    std::memcpy(out.data(), &head_, sizeof head_);
    return out;
  }

  const StatEntries& entries_;
  ChunkHead head_;
  std::vector<RowHead> heads_;
  std::vector<Place> places_;        // row by row
  std::vector<std::uint32_t> ends_;  // of each row in the places
  // Of the row that is being packed.
  std::array<std::vector<double>, kNumbers> numbers_;
  std::array<std::vector<std::uint64_t>, kColumns - kCount> integers_;
  std::string packed_;  // rows, whose heads say where in it they are
};

std::string StatChunk::encode(const StatEntries& entries) { return ChunkEncoder(entries).encode(); }

bool StatChunk::is_valid(base::Bytes bytes) noexcept {
  if (bytes.size() < sizeof(ChunkHead)) return false;
  const ChunkHead head = head_of(bytes);
  if (head.magic != kMagic || head.version != kVersion || head.size != bytes.size()) return false;
  if (head.rows > (bytes.size() - sizeof head) / sizeof(RowHead)) return false;
  if (head.checksum != base::crc32c(bytes.subspan(sizeof head))) return false;
  const auto inside = [&](std::uint64_t at, std::uint64_t size) { return at + size <= bytes.size(); };
  for (std::size_t r = 0; r < head.rows; ++r) {
    const RowHead& row = row_of(bytes, r);
    for (std::size_t c = 0; c < kColumns; ++c) {
      const ColumnHead& column = row.columns[c];
      const bool known = column.width <= 8 && (column.width & (column.width - 1)) == 0;
      const bool is_number = c < kNumbers;
      if (!known || (is_number && column.width < 4)) return false;
      if (!inside(column.at, std::uint64_t{row.size} * column.width)) return false;
    }
    if (row.sums != 0 && (row.sums % 8 != 0 || !inside(row.sums, sizeof(Sum) * kSummed.size()))) return false;
    if (row.size == 0) continue;
    const StatChunk chunk(bytes);
    for (std::size_t i = 0; i < row.size; i += row.consecutive != 0 ? row.size : 1) {
      if (chunk.record(r, i) >= head.records) return false;
    }
    if (chunk.record(r, row.size - 1) >= head.records) return false;
  }
  return true;
}

std::size_t StatChunk::rows() const noexcept { return head_of(bytes_).rows; }
std::size_t StatChunk::records() const noexcept { return head_of(bytes_).records; }
std::size_t StatChunk::size(std::size_t row) const noexcept { return row_of(bytes_, row).size; }

std::uint32_t StatChunk::record(std::size_t row, std::size_t i) const noexcept {
  const RowHead& head = row_of(bytes_, row);
  const ColumnHead& column = head.columns[kRecord];
  return static_cast<std::uint32_t>(head.consecutive != 0 ? column.base + i : integer(bytes_, column, i));
}
std::uint32_t StatChunk::part(std::size_t row, std::size_t i) const noexcept {
  return static_cast<std::uint32_t>(integer(bytes_, row_of(bytes_, row).columns[kPart], i));
}
bool StatChunk::is_consecutive(std::size_t row) const noexcept { return row_of(bytes_, row).consecutive != 0; }
std::uint32_t StatChunk::records_with_nan(std::size_t row) const noexcept {
  return row_of(bytes_, row).records_with_nan;
}
std::uint32_t StatChunk::records_with_infinity(std::size_t row) const noexcept {
  return row_of(bytes_, row).records_with_infinity;
}

void StatChunk::read(std::size_t row, Statistic statistic, std::size_t begin, std::size_t end,
                     double* to) const noexcept {
  RowReader(bytes_, row_of(bytes_, row), begin, end).read(statistic, to);
}

StatValues StatChunk::values(std::size_t row, std::size_t i) const noexcept {
  const RowHead& head = row_of(bytes_, row);
  StatValues values;
  for (std::size_t c = 0; c < kNumbers; ++c) load_numbers(bytes_, head.columns[c], i, i + 1, &values.numbers[c]);
  for (std::size_t c = 0; c < kCounts; ++c) values.counts[c] = integer(bytes_, head.columns[kCount + c], i);
  return values;
}

const StatChunk::Sum* StatChunk::sum(std::size_t row, Statistic statistic) const noexcept {
  const RowHead& head = row_of(bytes_, row);
  const auto known = std::ranges::find(kSummed, statistic);
  if (head.sums == 0 || known == kSummed.end()) return nullptr;
  return reinterpret_cast<const Sum*>(bytes_.data() + head.sums) + (known - kSummed.begin());
}

StatEntries StatChunk::decode() const {
  struct Place {
    std::uint32_t record = 0;
    std::uint32_t part = 0;
    std::uint32_t row = 0;
    std::uint32_t i = 0;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> places;
  for (std::uint32_t r = 0; r < rows(); ++r) {
    for (std::uint32_t i = 0; i < size(r); ++i) places.push_back({record(r, i), part(r, i), r, i});
  }
  std::ranges::sort(places);
  StatEntries entries;
  entries.rows = static_cast<std::uint32_t>(rows());
  entries.ends.assign(records(), 0);
  for (const Place& place : places) {
    entries.add(place.row, place.part, values(place.row, place.i));
    ++entries.ends[place.record];
  }
  std::partial_sum(entries.ends.begin(), entries.ends.end(), entries.ends.begin());
  return entries;
}

}  // namespace sonde::index
