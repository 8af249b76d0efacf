#include "formats/stats_record.h"

#include <cstring>

#include "formats/tfrecord.h"

namespace sonde::stats_record {
namespace {

enum class Type : std::uint8_t { header, definition, step, gap };

constexpr std::size_t kBegin = 3;  // version, grid and type
constexpr std::uint8_t kEvaluation = 1;
constexpr std::uint8_t kAllTensors = 2;
constexpr std::uint8_t kHasOccurrence = 1;
constexpr std::uint8_t kHasForm = 2;
constexpr std::uint8_t kHasHistogram = 4;

// ---- Writing.

void put_text(std::string& out, std::string_view text) {
  base::put_varint(out, text.size());
  out += text;
}

void put_form(std::string& out, const Form& form) {
  base::put(out, static_cast<std::uint8_t>(form.dtype));
  base::put(out, static_cast<std::uint8_t>(form.shape.rank()));
  for (const std::int64_t size : form.shape) base::put_zigzag(out, size);
}

std::size_t begin(std::string& file, Type type) {
  const std::size_t record = tfrecord::begin_record(file);
  base::put(file, kVersion);
  base::put(file, static_cast<std::uint8_t>(stats::Histogram::kGrid));
  base::put(file, static_cast<std::uint8_t>(type));
  return record;
}

void put_summary(std::string& out, const stats::Summary& summary) {
  for (const std::uint64_t count : {summary.count, summary.nan, summary.positive_infinity, summary.negative_infinity,
                                    summary.zeros, summary.negatives}) {
    base::put_varint(out, count);
  }
  for (const double value : {summary.min, summary.max, summary.mean, summary.m2, summary.sum_abs})
    base::put(out, value);
}

// A key and a count of a bin; there must be 20 bytes. Nearly all take two or three, written without a branch.
char* write_bin(char* at, std::uint64_t key, std::uint64_t count) noexcept {
  if (key < 0x80 && count < 0x4000) [[likely]] {
    const bool two = count >= 0x80;
    const auto bytes =
        static_cast<std::uint32_t>(key | (count & 0x7f) << 8 | (two ? 0x8000U : 0U) | (count >> 7) << 16);
    std::memcpy(at, &bytes, sizeof bytes);
    return at + (two ? 3 : 2);
  }
  return base::write_varint(base::write_varint(at, key), count);
}

void put_histogram(std::string& out, const stats::Histogram& histogram, std::vector<char>& scratch) {
  const auto all = histogram.bins();
  const std::size_t most = 20 * (all.size() + 1);
  if (scratch.size() < most) scratch.resize(most);
  char* end = base::write_varint(scratch.data(), all.size());
  std::int64_t previous = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t key = all[i].key;
    end = write_bin(end, i == 0 ? base::zigzag(key) : static_cast<std::uint64_t>(key - previous - 1), all[i].count);
    previous = key;
  }
  put_text(out, {scratch.data(), end});
}

// ---- Reading. A short read makes the reader fail, which is checked once, at the end.

Status corrupt(std::string_view what) {
  return {Code::corrupt, "the statistics record is corrupt: " + std::string(what)};
}

std::string get_text(base::ByteReader& reader) { return std::string(base::as_text(reader.take(reader.varint()))); }

std::optional<Form> get_form(base::ByteReader& reader) {
  const auto dtype = reader.get<std::uint8_t>();
  const auto rank = reader.get<std::uint8_t>();
  if (dtype >= kDTypeCount || rank > kMaxRank) return std::nullopt;
  Form form{.dtype = static_cast<DType>(dtype), .shape = {}};
  for (int axis = 0; axis < rank; ++axis) form.shape.push_back(reader.zigzag());
  return form;
}

std::optional<std::uint32_t> get_id(base::ByteReader& reader) {
  const std::uint64_t id = reader.varint();
  if (id > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(id);
}

stats::Summary get_summary(base::ByteReader& reader) {
  stats::Summary summary;
  for (std::uint64_t* count : {&summary.count, &summary.nan, &summary.positive_infinity, &summary.negative_infinity,
                               &summary.zeros, &summary.negatives}) {
    *count = reader.varint();
  }
  for (double* value : {&summary.min, &summary.max, &summary.mean, &summary.m2, &summary.sum_abs}) {
    *value = reader.get<double>();
  }
  return summary;
}

Result<Record> decode_header(base::ByteReader reader) {
  Header header;
  header.writer = get_text(reader);
  header.host = get_text(reader);
  header.pid = reader.varint();
  header.start_time = reader.get<double>();
  if (!reader.ok()) return corrupt("the header is cut off");
  return Record(std::move(header));
}

Newer unknown(Type type, base::Bytes payload) {
  return {kVersion, static_cast<std::uint8_t>(stats::Histogram::kGrid), static_cast<std::uint8_t>(type), payload};
}

Result<Record> decode_definition(base::ByteReader reader, base::Bytes payload) {
  Definition definition;
  const auto id = get_id(reader);
  const auto kind = reader.get<std::uint8_t>();
  base::ByteReader ahead = reader;
  if (id && ahead.get<std::uint8_t>() >= kDTypeCount && ahead.ok()) return Record(unknown(Type::definition, payload));
  const auto form = get_form(reader);
  if (!id || !form) return corrupt("a definition has an impossible id or form");
  definition.id = *id;
  definition.kind = static_cast<Kind>(kind);
  definition.form = *form;
  definition.name = get_text(reader);
  const std::uint64_t inputs = reader.varint();
  for (std::uint64_t i = 0; i < inputs && reader.ok(); ++i) definition.inputs.push_back(get_text(reader));
  if (!reader.ok()) return corrupt("a definition is cut off");
  return Record(std::move(definition));
}

// Reads an entry without form, without a bounds check at each byte. Null if the entry has a form, or if the fields
// before its histogram may be incomplete.
constexpr std::size_t kLongestHead = 1 + 9 * 10 + 5 * sizeof(double);  // with the size of the histogram
const std::byte* decode_plain_entry(const std::byte* at, const std::byte* end, Entry& entry) noexcept {
  bool good = true;
  const auto varint = [&] {
    auto byte = static_cast<std::uint64_t>(*at++);
    if (byte < 0x80) return byte;
    std::uint64_t value = byte & 0x7f;
    for (unsigned shift = 7; shift < 64; shift += 7) {
      byte = static_cast<std::uint64_t>(*at++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    good = false;
    return value;
  };
  const std::uint64_t id = varint();
  const auto flags = static_cast<std::uint8_t>(*at++);
  if (id > UINT32_MAX || (flags & ~(kHasOccurrence | kHasHistogram)) != 0) return nullptr;
  const std::uint64_t occurrence = (flags & kHasOccurrence) != 0 ? varint() : 0;
  if (occurrence > UINT32_MAX) return nullptr;
  entry.id = static_cast<std::uint32_t>(id);
  entry.occurrence = static_cast<std::uint32_t>(occurrence);
  entry.form.reset();
  stats::Summary& summary = entry.summary;
  for (std::uint64_t* count : {&summary.count, &summary.nan, &summary.positive_infinity, &summary.negative_infinity,
                               &summary.zeros, &summary.negatives}) {
    *count = varint();
  }
  for (double* value : {&summary.min, &summary.max, &summary.mean, &summary.m2, &summary.sum_abs}) {
    *value = base::load<double>(at);
    at += sizeof(double);
  }
  entry.histogram.reset();
  if ((flags & kHasHistogram) != 0) {
    const std::uint64_t size = varint();
    if (size > static_cast<std::uint64_t>(end - at)) return nullptr;
    entry.histogram = base::Bytes(at, static_cast<std::size_t>(size));
    at += size;
  }
  return good ? at : nullptr;
}

Status decode_entry(base::ByteReader& reader, Entry& entry) {
  const auto id = get_id(reader);
  const auto flags = reader.get<std::uint8_t>();
  const auto occurrence = (flags & kHasOccurrence) != 0 ? get_id(reader) : 0;
  if (!id || !occurrence || flags > (kHasOccurrence | kHasForm | kHasHistogram)) {
    return corrupt("an entry has an impossible id, occurrence or flag");
  }
  entry.id = *id;
  entry.occurrence = *occurrence;
  entry.form.reset();
  entry.histogram.reset();
  if ((flags & kHasForm) != 0) {
    entry.form = get_form(reader);
    if (!entry.form) return corrupt("an entry has an impossible form");
  }
  entry.summary = get_summary(reader);
  if ((flags & kHasHistogram) != 0) entry.histogram = reader.take(reader.varint());
  if (!reader.ok()) return corrupt("an entry is cut off");
  return Status::success();
}

Status decode_step(base::Bytes payload, Step& step) {
  StepReader reader(payload);
  step.step = reader.step();
  step.wall_time = reader.wall_time();
  step.evaluation = reader.evaluation();
  for (Entry entry; reader.next(entry);) step.entries.push_back(entry);
  return reader.status();
}

Result<Record> decode_gap(base::ByteReader reader) {
  Gap gap;
  const auto flags = reader.get<std::uint8_t>();
  const auto id = get_id(reader);
  if (!id) return corrupt("a gap has an impossible id");
  if ((flags & kAllTensors) == 0) gap.id = id;
  gap.evaluation = (flags & kEvaluation) != 0;
  gap.first_step = reader.zigzag();
  gap.last_step = reader.zigzag();
  gap.count = reader.varint();
  const auto reason = reader.get<std::uint8_t>();
  gap.reason = static_cast<GapReason>(reason);
  gap.detail = get_text(reader);
  if (!reader.ok()) return corrupt("a gap is cut off");
  return Record(std::move(gap));
}

}  // namespace

void put_header(std::string& file, const Header& header) {
  const std::size_t record = begin(file, Type::header);
  put_text(file, header.writer);
  put_text(file, header.host);
  base::put_varint(file, header.pid);
  base::put(file, header.start_time);
  tfrecord::end_record(file, record);
}

void put_definition(std::string& file, const Definition& definition) {
  const std::size_t record = begin(file, Type::definition);
  base::put_varint(file, definition.id);
  base::put(file, static_cast<std::uint8_t>(definition.kind));
  put_form(file, definition.form);
  put_text(file, definition.name);
  base::put_varint(file, definition.inputs.size());
  for (const std::string& input : definition.inputs) put_text(file, input);
  tfrecord::end_record(file, record);
}

void put_gap(std::string& file, const Gap& gap) {
  const std::size_t record = begin(file, Type::gap);
  base::put(file, static_cast<std::uint8_t>((gap.evaluation ? kEvaluation : 0) | (gap.id ? 0 : kAllTensors)));
  base::put_varint(file, gap.id.value_or(0));
  base::put_zigzag(file, gap.first_step);
  base::put_zigzag(file, gap.last_step);
  base::put_varint(file, gap.count);
  base::put(file, static_cast<std::uint8_t>(gap.reason));
  put_text(file, gap.detail);
  tfrecord::end_record(file, record);
}

StepWriter::StepWriter(std::string& file, std::int64_t step, double wall_time, bool evaluation)
    : file_(file), record_(begin(file, Type::step)) {
  base::put_zigzag(file_, step);
  base::put(file_, wall_time);
  base::put(file_, static_cast<std::uint8_t>(evaluation ? kEvaluation : 0));
}

void StepWriter::add(const Tensor& tensor, const stats::Summary& summary, const stats::Histogram* histogram) {
  base::put_varint(file_, tensor.id);
  base::put(file_, static_cast<std::uint8_t>((tensor.occurrence != 0 ? kHasOccurrence : 0) |
                                             (tensor.form != nullptr ? kHasForm : 0) |
                                             (histogram != nullptr ? kHasHistogram : 0)));
  if (tensor.occurrence != 0) base::put_varint(file_, tensor.occurrence);
  if (tensor.form != nullptr) put_form(file_, *tensor.form);
  put_summary(file_, summary);
  if (histogram != nullptr) put_histogram(file_, *histogram, scratch_);
}

void StepWriter::end() { tfrecord::end_record(file_, record_); }

Result<Record> decode_record(base::Bytes payload) {
  base::ByteReader reader(payload);
  const auto version = reader.get<std::uint8_t>();
  const auto grid = reader.get<std::uint8_t>();
  if (!reader.ok() || version == 0 || grid == 0) return corrupt("it does not begin with version and grid");
  if (version != kVersion || grid != stats::Histogram::kGrid) return Record(Newer{version, grid, 0, payload});
  const auto type = reader.get<std::uint8_t>();
  if (!reader.ok()) return corrupt("it has no type");
  switch (static_cast<Type>(type)) {
    case Type::header: return decode_header(reader);
    case Type::definition: return decode_definition(reader, payload);
    case Type::step: {
      Step step;
      if (Status status = decode_step(payload, step); !status) return status;
      return Record(std::move(step));
    }
    case Type::gap: return decode_gap(reader);
  }
  return Record(unknown(static_cast<Type>(type), payload));
}

std::string describe(const Newer& newer) {
  if (newer.version != kVersion || newer.grid != stats::Histogram::kGrid) {
    return "statistics of version " + std::to_string(newer.version) + " and grid " + std::to_string(newer.grid);
  }
  if (newer.type == static_cast<std::uint8_t>(Type::definition)) return "a tensor of an unknown element type";
  return "a record of type " + std::to_string(newer.type);
}

bool is_step(base::Bytes payload) noexcept {
  return payload.size() >= kBegin && static_cast<std::uint8_t>(payload[0]) == kVersion &&
         static_cast<std::uint8_t>(payload[1]) == stats::Histogram::kGrid &&
         static_cast<Type>(payload[2]) == Type::step;
}

StepReader::StepReader(base::Bytes payload) {
  if (!is_step(payload)) {
    status_ = corrupt("it is not a step");
    return;
  }
  const base::Bytes body = payload.subspan(kBegin);
  base::ByteReader reader(body);
  step_ = reader.zigzag();
  wall_time_ = reader.get<double>();
  const auto flags = reader.get<std::uint8_t>();
  if (!reader.ok()) {
    status_ = corrupt("a step is cut off");
    return;
  }
  evaluation_ = (flags & kEvaluation) != 0;
  rest_ = body.subspan(reader.position());
}

bool StepReader::next(Entry& entry) {
  if (rest_.empty()) return false;
  if (rest_.size() >= kLongestHead) [[likely]] {
    const std::byte* const end = rest_.data() + rest_.size();
    if (const std::byte* at = decode_plain_entry(rest_.data(), end, entry)) [[likely]] {
      rest_ = {at, end};
      return true;
    }
  }
  base::ByteReader reader(rest_);
  status_ = decode_entry(reader, entry);
  rest_ = status_ ? rest_.subspan(reader.position()) : base::Bytes();
  return status_.ok();
}

Result<stats::Histogram> decode_histogram(base::Bytes encoded) {
  base::ByteReader reader(encoded);
  const std::uint64_t count = reader.varint();
  if (count > reader.remaining() / 2) return corrupt("a histogram is cut off");
  std::vector<stats::Histogram::Bin> bins;
  bins.reserve(static_cast<std::size_t>(count));
  std::int64_t key = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i == 0) {
      key = reader.zigzag();
    } else {
      const std::uint64_t delta = reader.varint();
      if (delta > INT32_MAX) return corrupt("a histogram's key is outside the grid");
      key += static_cast<std::int64_t>(delta) + 1;
    }
    if (key < INT32_MIN || key > INT32_MAX) return corrupt("a histogram's key is outside the grid");
    const std::uint64_t values = reader.varint();
    if (values == 0) return corrupt("a histogram has an empty bin or is cut off");
    bins.push_back({.key = static_cast<std::int32_t>(key), .count = values});
  }
  if (!reader.ok() || !reader.done()) return corrupt("a histogram does not end where it should");
  auto histogram = stats::Histogram::from_bins(std::move(bins));
  if (!histogram) return corrupt(histogram.error().message());
  return histogram;
}

void Definitions::add(Definition definition) {
  const std::uint32_t id = definition.id;
  by_id_.insert_or_assign(id, std::move(definition));
}

const Definition* Definitions::find(std::uint32_t id) const noexcept {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &found->second;
}

std::string Definitions::name(std::uint32_t id) const {
  if (const Definition* definition = find(id)) return definition->name;
  return std::string("?").append(std::to_string(id));
}

}  // namespace sonde::stats_record
