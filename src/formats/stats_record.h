// The statistics file, `stats.<writer>.tfrecord`: what the policy keeps of every tensor at every step. TFRecords
// (formats/tfrecord.h), whose payloads are
//
//   u8 version (1)   u8 grid (stats::Histogram::kGrid, 1)   u8 type   body
//
// A payload with another version, grid or type comes from a newer writer: it is kept and named, but not decoded. So is
// a definition with an unknown dtype. An unknown kind or reason is kept as its number. u8, f64: little-endian. varint:
// 7 bits per byte, lowest first, the top bit set on all except the last, at most 10 bytes. zigzag: the varint of (n <<
// 1) ^ (n >> 63). text: varint length, then that many bytes of UTF-8.
//
// type 0, header, once, first:
//   text writer   text host   varint pid   f64 start time (seconds since 1970)
// type 1, definition, before the first step that uses its id, and the same again from time to time:
//   varint id   u8 kind   form   text name   varint n   n times text input
// type 2, step:
//   zigzag step   f64 wall time   u8 flags (1: evaluation pass)   entries, in the order of execution, to the end
// type 3, gap, something that was not recorded:
//   u8 flags (1: evaluation pass, 2: all tensors)   varint id (0 if all)   zigzag first step   zigzag last step
//   varint count (records lost)   u8 reason   text detail
// Bytes after the last field of a header, definition or gap are ignored.
//
// entry:
//   varint id   u8 flags (1: occurrence, 2: form, 4: histogram)
//   [varint occurrence]   absent: 0, the first one in the step
//   [form]                absent: as in the definition
//   varint count, nan, +inf, -inf, zeros, negatives   f64 min, max, mean, m2, sum_abs      (stats/summary.h)
//   [varint size, so many bytes of histogram]
// form:
//   u8 dtype   u8 rank (at most 8)   rank times zigzag size
// histogram, bins by ascending key:
//   varint n   n times: key, varint count; the first key as zigzag, every other one as varint (key - previous key - 1)
//
// kind: 0 activation, 1 gradient, 2 weight, 3 update, 4 input, 5 output. reason: 0 no room, 1 write error, 2 budget,
// 3 rejected. dtype: 0 bool, 1 i8, 2 i16, 3 i32, 4 i64, 5 u8, 6 u16, 7 u32, 8 u64, 9 f8_e4m3, 10 f8_e5m2, 11 f16,
// 12 bf16, 13 f32, 14 f64, 15 c64, 16 c128.
//
// An entry without histogram takes at most 100 bytes for a tensor of up to 2^48 elements whose form is the defined one.
// Every double is restored bit by bit. Step records depend only on definitions, so a damaged record affects no other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "sonde/status.h"
#include "sonde/summaries.h"
#include "sonde/tensor.h"
#include "stats/summary.h"

namespace sonde::stats_record {

inline constexpr std::uint8_t kVersion = 1;

struct Header {
  std::string writer = {};
  std::string host = {};
  std::uint64_t pid = 0;
  double start_time = 0;  // seconds since 1970
  friend bool operator==(const Header&, const Header&) = default;
};

struct Form {
  DType dtype = DType::f32;
  Shape shape = {};
  friend bool operator==(const Form&, const Form&) = default;
};

struct Definition {
  std::uint32_t id = 0;
  Kind kind = Kind::activation;
  Form form = {};
  std::string name = {};
  std::vector<std::string> inputs = {};  // names, since an input may be defined later
  friend bool operator==(const Definition&, const Definition&) = default;
};

enum class GapReason : std::uint8_t {
  no_room,      // the recorder's memory was full
  write_error,  // the disk rejected it
  budget,       // dropped by the budget
  rejected,     // unusable: a bad shape, a dtype without order
};
struct Gap {
  std::optional<std::uint32_t> id = {};  // none: all tensors
  bool evaluation = false;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::uint64_t count = 0;
  GapReason reason = GapReason::no_room;
  std::string detail = {};  // one sentence, or empty
  friend bool operator==(const Gap&, const Gap&) = default;
};

// ---- Writing: each call appends one whole TFRecord to `file`.

void put_header(std::string& file, const Header& header);
void put_definition(std::string& file, const Definition& definition);
void put_gap(std::string& file, const Gap& gap);

// Writes a step, entry by entry, directly into the file's buffer. Nothing else may be appended between construction and
// end.
//
//   StepWriter step(file, 17, now, false);
//   step.add({.id = 3}, summary, &histogram);
//   step.end();
class StepWriter {
 public:
  struct Tensor {
    std::uint32_t id = 0;
    std::uint32_t occurrence = 0;
    const Form* form = nullptr;  // where it is not the defined one
  };
  StepWriter(std::string& file, std::int64_t step, double wall_time, bool evaluation);
  // `histogram` may be null.
  void add(const Tensor& tensor, const stats::Summary& summary, const stats::Histogram* histogram);
  // Completes the record. Without this call the file's buffer holds a damaged one.
  void end();

 private:
  std::string& file_;
  std::size_t record_;
  std::vector<char> scratch_;  // reused for every histogram
};

// ---- Reading.

struct Entry {
  std::uint32_t id = 0;
  std::uint32_t occurrence = 0;
  std::optional<Form> form;  // none: as in the definition
  stats::Summary summary;
  std::optional<base::Bytes> histogram;  // for decode_histogram; a view into the payload
};
struct Step {
  std::int64_t step = 0;
  double wall_time = 0;
  bool evaluation = false;
  std::vector<Entry> entries;  // in the order of execution
};
// A version, grid, type or dtype that this code does not know.
struct Newer {
  std::uint8_t version = 0;
  std::uint8_t grid = 0;
  std::uint8_t type = 0;  // if version and grid are known
  base::Bytes payload = {};
};
// "statistics of version 2 and grid 1"; half a sentence.
std::string describe(const Newer& newer);
using Record = std::variant<Header, Definition, Step, Gap, Newer>;

// Code::corrupt, with the reason, if the payload does not follow the layout.
Result<Record> decode_record(base::Bytes payload);
// Whether it is a step of this version and grid.
bool is_step(base::Bytes payload) noexcept;

// Decodes the entries of a step one by one, without allocating memory for all of them.
//
//   StepReader reader(payload);
//   for (Entry entry; reader.next(entry);) use(entry);
//   if (!reader.status()) ...  // the record is corrupt; the entries before that place were returned already
class StepReader {
 public:
  // `payload` must live as long as the reader.
  explicit StepReader(base::Bytes payload);

  std::int64_t step() const noexcept { return step_; }
  double wall_time() const noexcept { return wall_time_; }
  bool evaluation() const noexcept { return evaluation_; }
  // False after the last entry, and if the record is corrupt.
  bool next(Entry& entry);
  const Status& status() const noexcept { return status_; }

 private:
  std::int64_t step_ = 0;
  double wall_time_ = 0;
  bool evaluation_ = false;
  Status status_;
  base::Bytes rest_;  // the entries that are not read yet
};
Result<stats::Histogram> decode_histogram(base::Bytes encoded);

// The definitions of one file. An id whose definition was lost is shown as "?<id>".
class Definitions {
 public:
  void add(Definition definition);  // the last one of an id counts
  const Definition* find(std::uint32_t id) const noexcept;
  std::string name(std::uint32_t id) const;
  const std::map<std::uint32_t, Definition>& all() const noexcept { return by_id_; }

 private:
  std::map<std::uint32_t, Definition> by_id_;
};

}  // namespace sonde::stats_record
