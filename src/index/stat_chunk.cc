#include "index/stat_chunk.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

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

ChunkHead head_of(Bytes bytes) noexcept { return load<ChunkHead>(bytes.data()); }
const RowHead& row_of(Bytes bytes, std::size_t row) noexcept {
  return reinterpret_cast<const RowHead*>(bytes.data() + sizeof(ChunkHead))[row];
}

template <class Number>
void load_numbers(const std::byte* from, std::size_t count, double* to) noexcept {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<double>(load<Number>(from + i * sizeof(Number)));
}

std::uint64_t integer(Bytes bytes, const ColumnHead& column, std::size_t i) noexcept {
  const std::byte* const at = bytes.data() + column.at + i * column.width;
  switch (column.width) {
    case 1: return column.base + load<std::uint8_t>(at);
    case 2: return column.base + load<std::uint16_t>(at);
    case 4: return column.base + load<std::uint32_t>(at);
    case 8: return column.base + load<std::uint64_t>(at);
    default: return column.base;
  }
}

void load_numbers(Bytes bytes, const ColumnHead& column, std::size_t begin, std::size_t end, double* to) noexcept {
  const std::byte* const from = bytes.data() + column.at + begin * column.width;
  if (column.width == 4) return load_numbers<float>(from, end - begin, to);
  load_numbers<double>(from, end - begin, to);
}

void load_counts(Bytes bytes, const ColumnHead& column, std::size_t begin, std::size_t end, double* to) noexcept {
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
  RowReader(Bytes bytes, const RowHead& row, std::size_t begin, std::size_t end) noexcept
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
    for (std::size_t i = 0; i < end_ - begin_; ++i) {
      const double squares = to[i] * to[i] + mean[i] * mean[i];
      // Squares of what only f64 holds may be too large or too small.
      to[i] = squares > 1e-290 && squares < 1e290 ? std::sqrt(squares) : std::hypot(to[i], mean[i]);
    }
  }
  void abs_max(double* to) noexcept {
    double high[StatChunk::kMostRead];
    number(kMin, to);
    number(kMax, high);
    for (std::size_t i = 0; i < end_ - begin_; ++i) to[i] = std::max(std::abs(to[i]), std::abs(high[i]));
  }
  void fraction(Field column, double* to) noexcept {
    count(column, to);
    double all[StatChunk::kMostRead];
    count(kCount, all);
    for (std::size_t i = 0; i < end_ - begin_; ++i) to[i] /= all[i];
  }

  Bytes bytes_;
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

// Rows into bytes: first how much room each column needs, then the numbers, row by row, since a row fits into the
// processor's cache and all of them do not.
class ChunkEncoder {
 public:
  ChunkEncoder(const std::vector<StatRow>& rows, std::size_t records) : rows_(rows), heads_(rows.size()) {
    head_.rows = static_cast<std::uint32_t>(rows.size());
    head_.records = static_cast<std::uint32_t>(records);
  }

  std::string encode() {
    for (std::size_t r = 0; r < rows_.size(); ++r) plan_row(rows_[r], heads_[r]);
    std::size_t size = sizeof head_ + rows_.size() * sizeof(RowHead);
    const auto place = [&](std::uint32_t& at, std::size_t bytes) {
      at = static_cast<std::uint32_t>(size);
      size += (bytes + 7) / 8 * 8;
    };
    for (std::size_t c = 0; c < kColumns; ++c) {
      for (RowHead& row : heads_) place(row.columns[c].at, std::size_t{row.size} * row.columns[c].width);
    }
    for (RowHead& row : heads_) {
      if (row.size >= kLongRow) place(row.sums, sizeof(StatChunk::Sum) * kSummed.size());
    }
    out_.resize(size);
    std::memcpy(out_.data() + sizeof head_, heads_.data(), heads_.size() * sizeof(RowHead));
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      put_row(rows_[r], heads_[r]);
      if (heads_[r].sums != 0) put_sums(r);
    }
    head_.size = size;
    head_.checksum = crc32c(as_bytes(out_).subspan(sizeof head_));
    std::memcpy(out_.data(), &head_, sizeof head_);
    return std::move(out_);
  }

 private:
  static void plan_row(const StatRow& row, RowHead& head) {
    head.size = static_cast<std::uint32_t>(row.values.size());
    if (head.size == 0) return;
    bool fits[kNumbers] = {true, true, true, true, true};
    std::array<std::uint64_t, kCounts> low = row.values.front().counts;
    std::array<std::uint64_t, kCounts> high = low;
    for (const StatValues& one : row.values) {
      for (std::size_t c = 0; c < kNumbers; ++c) fits[c] &= fits_f32(one.numbers[c]);
      for (std::size_t c = 0; c < kCounts; ++c) {
        low[c] = std::min(low[c], one.counts[c]);
        high[c] = std::max(high[c], one.counts[c]);
      }
      head.records_with_nan += static_cast<std::uint32_t>(one.counts[1] > 0);
      head.records_with_infinity += static_cast<std::uint32_t>(one.counts[2] + one.counts[3] > 0);
    }
    for (std::size_t c = 0; c < kNumbers; ++c) head.columns[c].width = fits[c] ? 4 : 8;
    for (std::size_t c = 0; c < kCounts; ++c) head.columns[kCount + c] = {low[c], 0, width_of(high[c] - low[c])};
    const auto [first_part, last_part] = std::ranges::minmax(row.parts);
    head.columns[kPart] = {first_part, 0, width_of(last_part - first_part)};
    const std::uint32_t span = row.records.back() - row.records.front();
    const auto is_apart = [](std::uint32_t a, std::uint32_t b) { return b != a + 1; };
    head.consecutive =
        static_cast<std::uint32_t>(std::ranges::adjacent_find(row.records, is_apart) == row.records.end());
    head.columns[kRecord] = {row.records.front(), 0, head.consecutive != 0 ? 0 : width_of(span)};
  }

  template <class Stored, class Number>
  void put_as(const ColumnHead& column, std::size_t count, Number number) {
    char* to = out_.data() + column.at;
    for (std::size_t i = 0; i < count; ++i) {
      const auto stored = static_cast<Stored>(number(i));
      std::memcpy(to + i * sizeof stored, &stored, sizeof stored);
    }
  }
  template <class Number>
  void put_integers(const ColumnHead& column, std::size_t count, Number number) {
    const auto rest = [&](std::size_t i) { return number(i) - column.base; };
    switch (column.width) {
      case 1: return put_as<std::uint8_t>(column, count, rest);
      case 2: return put_as<std::uint16_t>(column, count, rest);
      case 4: return put_as<std::uint32_t>(column, count, rest);
      case 8: return put_as<std::uint64_t>(column, count, rest);
      default: return;
    }
  }
  void put_row(const StatRow& row, const RowHead& head) {
    const auto& values = row.values;
    for (std::size_t c = 0; c < kNumbers; ++c) {
      const auto number = [&](std::size_t i) { return values[i].numbers[c]; };
      if (head.columns[c].width == 4) {
        put_as<float>(head.columns[c], values.size(), number);
      } else {
        put_as<double>(head.columns[c], values.size(), number);
      }
    }
    for (std::size_t c = 0; c < kCounts; ++c) {
      put_integers(head.columns[kCount + c], values.size(), [&](std::size_t i) { return values[i].counts[c]; });
    }
    put_integers(head.columns[kPart], row.parts.size(), [&](std::size_t i) { return std::uint64_t{row.parts[i]}; });
    put_integers(head.columns[kRecord], row.records.size(),
                 [&](std::size_t i) { return std::uint64_t{row.records[i]}; });
  }

  // From the columns as they are read, so that the sums equal those over the single values.
  void put_sums(std::size_t r) {
    std::array<StatChunk::Sum, kSummed.size()> sums;
    const StatChunk chunk(as_bytes(out_));
    double values[StatChunk::kMostRead];
    for (std::size_t s = 0; s < kSummed.size(); ++s) {
      for (std::size_t begin = 0; begin < heads_[r].size; begin += StatChunk::kMostRead) {
        const std::size_t end = std::min<std::size_t>(heads_[r].size, begin + StatChunk::kMostRead);
        chunk.read(r, kSummed[s], begin, end, values);
        add_all(sums[s], values, end - begin);
      }
    }
    std::memcpy(out_.data() + heads_[r].sums, sums.data(), sizeof sums);
  }

  const std::vector<StatRow>& rows_;
  ChunkHead head_;
  std::vector<RowHead> heads_;
  std::string out_;
};

std::string StatChunk::encode(const std::vector<StatRow>& rows, std::size_t records) {
  return ChunkEncoder(rows, records).encode();
}

bool StatChunk::is_valid(Bytes bytes) noexcept {
  if (bytes.size() < sizeof(ChunkHead)) return false;
  const ChunkHead head = head_of(bytes);
  if (head.magic != kMagic || head.version != kVersion || head.size != bytes.size()) return false;
  if (head.rows > (bytes.size() - sizeof head) / sizeof(RowHead)) return false;
  if (head.checksum != crc32c(bytes.subspan(sizeof head))) return false;
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

const StatChunk::Sum* StatChunk::sum(std::size_t row, Statistic statistic) const noexcept {
  const RowHead& head = row_of(bytes_, row);
  const auto known = std::ranges::find(kSummed, statistic);
  if (head.sums == 0 || known == kSummed.end()) return nullptr;
  return reinterpret_cast<const Sum*>(bytes_.data() + head.sums) + (known - kSummed.begin());
}

void StatChunk::decode(std::vector<StatRow>& rows) const {
  rows.clear();
  rows.resize(this->rows());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const RowHead& head = row_of(bytes_, r);
    StatRow& row = rows[r];
    row.values.resize(head.size);
    for (std::size_t i = 0; i < head.size; ++i) {
      row.records.push_back(record(r, i));
      row.parts.push_back(part(r, i));
      for (std::size_t c = 0; c < kNumbers; ++c) {
        load_numbers(bytes_, head.columns[c], i, i + 1, &row.values[i].numbers[c]);
      }
      for (std::size_t c = 0; c < kCounts; ++c) {
        row.values[i].counts[c] = integer(bytes_, head.columns[kCount + c], i);
      }
    }
  }
}

}  // namespace sonde::index
