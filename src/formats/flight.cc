#include "formats/flight.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "base/crc32c.h"
#include "formats/flight_layout.h"
#include "tensor/tensor_data.h"

namespace sonde::flight {
namespace {

constexpr std::string_view kMagic = "SONDERNG";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kByteOrder = 0x01020304;
constexpr std::uint32_t kOtherByteOrder = 0x04030201;
static_assert(kTextBytesOffset == kIdentityBytes);
constexpr std::size_t kChecksummed = 44;                  // bytes of the header before its checksum
constexpr std::size_t kTextsAt[] = {kTextsOffset, 2144};  // one is in use
constexpr std::size_t kMostTexts = 1952;
constexpr std::uint32_t kSecond = 1 << 16;  // in the number of their bytes: they are in the second place
constexpr std::size_t kLongestName = 256;   // of a host or writer
constexpr std::uint64_t kLastPosition = std::uint64_t{1} << 62;

Status corrupt(std::string_view what) { return {Code::corrupt, "not a readable flight ring: " + std::string(what)}; }

void put_text(std::string& out, std::string_view text) {
  base::put_varint(out, text.size());
  out.append(text);
}
std::string get_text(base::ByteReader& reader) { return std::string(base::as_text(reader.take(reader.varint()))); }

std::uint32_t checksum_of(const EntryHeader& header) noexcept {
  const auto raw = std::bit_cast<std::array<std::byte, sizeof header>>(header);
  return base::crc32c(base::Bytes(raw).first(offsetof(EntryHeader, checksum)));
}

// ---- Reading.

std::optional<Tensor> decode_tensor(base::Bytes meta, base::Bytes data, Step& step) {
  base::ByteReader reader(meta);
  Tensor tensor;
  step.step = reader.zigzag();
  step.evaluation = reader.get<std::uint8_t>() != 0;
  step.wall_time = reader.get<double>();
  const auto kind = reader.get<std::uint8_t>();
  const auto dtype = reader.get<std::uint8_t>();
  const auto rank = reader.get<std::uint8_t>();
  if (dtype >= kDTypeCount || rank > kMaxRank) return std::nullopt;
  tensor.kind = static_cast<Kind>(kind);
  tensor.occurrence = static_cast<std::uint32_t>(reader.varint());
  Shape shape;
  for (int axis = 0; axis < rank; ++axis) shape.push_back(static_cast<std::int64_t>(reader.varint()));
  tensor.name = get_text(reader);
  const std::uint64_t inputs = reader.varint();
  for (std::uint64_t i = 0; i < inputs && reader.ok(); ++i) tensor.inputs.push_back(get_text(reader));
  if (!reader.ok() || tensor::dense_bytes(static_cast<DType>(dtype), shape) != data.size()) return std::nullopt;
  tensor.view = sonde::view(data.data(), static_cast<DType>(dtype), shape);
  return tensor;
}

bool decode_step_end(base::Bytes meta, Step& step) {
  base::ByteReader reader(meta);
  step.step = reader.zigzag();
  step.evaluation = reader.get<std::uint8_t>() != 0;
  step.wall_time = reader.get<double>();
  const std::uint64_t tensors = reader.varint();
  step.dropped = reader.varint();
  const std::uint64_t scalars = reader.varint();
  step.scalars.clear();
  for (std::uint64_t i = 0; i < scalars && reader.ok(); ++i) {
    std::string name = get_text(reader);
    step.scalars.emplace_back(std::move(name), reader.get<double>());
  }
  if (!reader.ok()) return false;
  step.lost = reader.done() ? 0 : reader.varint();
  if (!reader.ok()) return false;
  if (tensors > step.tensors.size()) step.damaged = tensors - step.tensors.size();
  step.complete = true;
  return true;
}

// Walks over the entries and gathers them into steps. Visits every position at most once, whatever the bytes are.
class Walk {
 public:
  Walk(base::Bytes entries, std::uint64_t begin) noexcept
      : entries_(entries), begin_(begin), capacity_(entries.size()) {}
  // Over a copy of the ring's bytes from `begin` on.
  Walk(base::Bytes copy, std::uint64_t begin, std::uint64_t capacity) noexcept
      : entries_(copy), begin_(begin), capacity_(capacity), copied_(true) {}

  void run(std::uint64_t expected_end, std::uint64_t last) {
    for (std::uint64_t position = begin_; position < last;) {
      std::optional<EntryHeader> header = header_at(position);
      if (!header) {
        const std::uint64_t damaged = position;
        while (!header && (position += kUnit) < last) header = header_at(position);
        if (header || damaged < expected_end) ++torn_;
        if (!header) return;
      }
      if (header->size > last - position) return;
      sequence_ = header->sequence;
      if (header->type != EntryType::filler && !take(*header)) ++torn_;
      position += header->size;
    }
  }

  std::uint64_t torn() const noexcept { return torn_; }
  std::vector<Step> steps() && {
    std::erase_if(steps_, [](const Step& step) { return !step.complete && step.tensors.empty(); });
    return std::move(steps_);
  }

 private:
  std::optional<EntryHeader> header_at(std::uint64_t position) const noexcept {
    const auto header = base::load<EntryHeader>(entries_.data() + place_of(position));
    const std::uint64_t room = capacity_ - position % capacity_;
    const bool valid = header.magic == EntryHeader{}.magic && header.position == position &&
                       header.checksum == checksum_of(header) && header.sequence > sequence_ &&
                       header.step <= position && header.size % kUnit == 0 && header.size <= room &&
                       header.data_bytes <= room && header.meta_bytes <= room;
    if (!valid) return std::nullopt;
    switch (header.type) {
      case EntryType::tensor:
      case EntryType::step_end:
        if (header.size == entry_size(header.meta_bytes, header.data_bytes)) return header;
        return std::nullopt;
      case EntryType::filler:
        if (header.size == room) return header;
        return std::nullopt;
    }
    return std::nullopt;
  }

  std::uint64_t place_of(std::uint64_t position) const noexcept {
    return copied_ ? position - begin_ : position % capacity_;
  }

  // False if the entry is damaged.
  bool take(const EntryHeader& header) {
    if (header.step < begin_) return true;  // its step was released
    const std::uint64_t at = place_of(header.position) + kUnit;
    const base::Bytes meta = entries_.subspan(at, header.meta_bytes);
    const base::Bytes data = entries_.subspan(at + round_up(header.meta_bytes), header.data_bytes);
    if (base::crc32c_append(base::crc32c(meta), data) != header.body_checksum) return false;
    const auto [place, is_new] = index_.try_emplace(header.step, steps_.size());
    if (is_new) steps_.emplace_back().position = header.step;
    Step& step = steps_[place->second];
    if (step.complete) return false;  // nothing follows the end of a step
    if (header.type == EntryType::step_end) return decode_step_end(meta, step);
    std::optional<Tensor> tensor = decode_tensor(meta, data, step);
    if (tensor) step.tensors.push_back(std::move(*tensor));
    return tensor.has_value();
  }

  base::Bytes entries_;
  std::uint64_t begin_;
  std::uint64_t capacity_;
  bool copied_ = false;
  std::uint64_t sequence_ = 0;  // of the last entry seen; the first one has 1
  std::uint64_t torn_ = 0;
  std::vector<Step> steps_;
  std::unordered_map<std::uint64_t, std::size_t> index_;  // of steps_, by the position of their first entry
};

std::optional<base::Bytes> texts_of(base::Bytes file) {
  const auto word = base::load<std::uint32_t>(file.data() + kTextBytesOffset);
  const std::size_t at = kTextsAt[(word & kSecond) != 0 ? 1 : 0];
  const std::size_t size = word & ~kSecond;
  if (size > kHeaderBytes - at) return std::nullopt;
  return file.subspan(at, size);
}

Status check_header(base::Bytes file) {
  if (file.size() < kHeaderBytes) {
    return corrupt("it has " + std::to_string(file.size()) + " bytes, fewer than its header");
  }
  if (base::as_text(file.first(kMagic.size())) != kMagic)
    return corrupt("it does not begin with " + std::string(kMagic));
  const auto order = base::load<std::uint32_t>(file.data() + 12);
  if (order == kOtherByteOrder) {
    return {Code::unsupported,
            "the flight ring was written on a machine of the other byte order: read it on such a machine"};
  }
  const auto version = base::load<std::uint32_t>(file.data() + 8);
  if (order == kByteOrder && version != kVersion) {
    return {Code::unsupported, "the flight ring has version " + std::to_string(version) + ", and this program reads " +
                                   std::to_string(kVersion) + ": read it with the version of Sonde that wrote it"};
  }
  const std::optional<base::Bytes> texts = texts_of(file);
  if (order != kByteOrder || !texts ||
      base::crc32c_append(base::crc32c(file.first(kChecksummed)), *texts) !=
          base::load<std::uint32_t>(file.data() + kChecksummed)) {
    return corrupt("its header is damaged");
  }
  const auto capacity = base::load<std::uint64_t>(file.data() + 16);
  if (capacity == 0 || capacity % kUnit != 0) return corrupt("its header is damaged");
  if (capacity > file.size() - kHeaderBytes) {
    return corrupt("it has " + std::to_string(file.size()) + " bytes, but " + std::to_string(kHeaderBytes) + " + " +
                   std::to_string(capacity) + " belong to it; it was cut off");
  }
  return {};
}

bool are_positions(std::uint64_t begin, std::uint64_t end, std::uint64_t capacity) noexcept {
  if (begin % kUnit != 0 || end % kUnit != 0 || begin > kLastPosition || end > kLastPosition) return false;
  return end <= begin + capacity;  // `begin` passes `end` where steps without an end take the place of all others
}

}  // namespace

// ---- What the writer shares.

namespace {

std::string encode_texts(const Identity& identity, std::span<const std::string> allow_negative_infinity) {
  std::string texts;
  put_text(texts, identity.host.substr(0, kLongestName));
  put_text(texts, identity.writer.substr(0, kLongestName));
  std::string selectors;
  std::uint64_t count = 0;
  for (const std::string& selector : allow_negative_infinity) {
    // Ten bytes for the length, ten for the count.
    if (texts.size() + selectors.size() + selector.size() + 20 > kMostTexts) break;
    put_text(selectors, selector);
    ++count;
  }
  base::put_varint(texts, count);
  return texts + selectors;
}

// The number of their bytes and the checksum, for a header with this begin.
std::string encode_size_and_checksum(base::Bytes header, std::uint32_t texts_word, std::string_view texts) {
  std::string word;
  base::put(word, texts_word);
  const std::uint32_t crc = base::crc32c_append(base::crc32c(header.first(kTextBytesOffset)), base::as_bytes(word));
  base::put(word, base::crc32c_append(crc, base::as_bytes(texts)));
  return word;
}

}  // namespace

std::string encode_header(const Identity& identity, std::uint64_t capacity,
                          std::span<const std::string> allow_negative_infinity) {
  const std::string texts = encode_texts(identity, allow_negative_infinity);
  std::string page(kMagic);
  base::put(page, kVersion);
  base::put(page, kByteOrder);
  base::put(page, capacity);
  base::put(page, identity.pid);
  base::put(page, identity.start_time);
  page += encode_size_and_checksum(base::as_bytes(page), static_cast<std::uint32_t>(texts.size()), texts);
  page.resize(kTextsAt[0]);
  page += texts;
  page.resize(kHeaderBytes);
  return page;
}

void replace_selectors(std::span<std::byte> file, const Identity& identity,
                       std::span<const std::string> allow_negative_infinity) {
  const std::string texts = encode_texts(identity, allow_negative_infinity);
  const std::uint32_t other = (base::load<std::uint32_t>(file.data() + kTextBytesOffset) & kSecond) ^ kSecond;
  std::memcpy(file.data() + kTextsAt[other != 0 ? 1 : 0], texts.data(), texts.size());
  const std::string word = encode_size_and_checksum(file, static_cast<std::uint32_t>(texts.size()) | other, texts);
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(file.data() + kTextBytesOffset))
      .store(base::load<std::uint64_t>(word.data()), std::memory_order_release);
}

void store_entry_header(std::byte* at, EntryHeader header) noexcept {
  header.checksum = checksum_of(header);
  const auto raw = std::bit_cast<std::array<std::byte, sizeof header>>(header);
  std::memcpy(at + 8, raw.data() + 8, raw.size() - 8);
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at))
      .store(base::load<std::uint64_t>(raw.data()), std::memory_order_release);
}

void put_tensor_meta(std::string& out, const TensorMeta& meta) {
  base::put_zigzag(out, meta.step);
  base::put(out, static_cast<std::uint8_t>(meta.evaluation));
  base::put(out, meta.wall_time);
  base::put(out, static_cast<std::uint8_t>(meta.kind));
  base::put(out, static_cast<std::uint8_t>(meta.dtype));
  base::put(out, static_cast<std::uint8_t>(meta.shape.rank()));
  base::put_varint(out, meta.occurrence);
  for (const std::int64_t size : meta.shape) base::put_varint(out, static_cast<std::uint64_t>(size));
  put_text(out, meta.name);
  base::put_varint(out, meta.inputs.size());
  for (const std::string& input : meta.inputs) put_text(out, input);
}

void put_step_end_meta(std::string& out, const StepEndMeta& meta) {
  base::put_zigzag(out, meta.step);
  base::put(out, static_cast<std::uint8_t>(meta.evaluation));
  base::put(out, meta.wall_time);
  base::put_varint(out, meta.tensors);
  base::put_varint(out, meta.dropped);
  base::put_varint(out, meta.scalars.size());
  for (const auto& [name, value] : meta.scalars) {
    put_text(out, name);
    base::put(out, value);
  }
  base::put_varint(out, meta.lost);
}

std::vector<Step> read_steps(base::Bytes entries, std::uint64_t begin, std::uint64_t expected_end, std::uint64_t last,
                             std::uint64_t& torn) {
  Walk walk(entries, begin);
  walk.run(expected_end, last);
  torn += walk.torn();
  return std::move(walk).steps();
}

Step read_step(base::Bytes copy, std::uint64_t position, std::uint64_t capacity) {
  Walk walk(copy, position, capacity);
  walk.run(position + copy.size(), position + copy.size());
  // Between its entries there may be those of others, while an evaluation pass continues.
  std::vector<Step> steps = std::move(walk).steps();
  const auto found = std::ranges::find(steps, position, &Step::position);
  if (found != steps.end()) return std::move(*found);
  Step none;
  none.position = position;
  return none;
}

Result<Contents> read(base::Bytes file) {
  if (Status status = check_header(file); !status) return status;
  const auto capacity = base::load<std::uint64_t>(file.data() + 16);
  const auto begin = base::load<std::uint64_t>(file.data() + kBeginOffset);
  const auto end = base::load<std::uint64_t>(file.data() + kEndOffset);
  if (!are_positions(begin, end, capacity)) return corrupt("its positions are damaged");

  Contents contents;
  base::ByteReader texts(*texts_of(file));
  contents.identity.host = get_text(texts);
  contents.identity.writer = get_text(texts);
  contents.identity.pid = base::load<std::uint64_t>(file.data() + 24);
  contents.identity.start_time = base::load<double>(file.data() + 32);
  const std::uint64_t selectors = texts.varint();
  for (std::uint64_t i = 0; i < selectors && texts.ok(); ++i) {
    contents.allow_negative_infinity.push_back(get_text(texts));
  }
  if (!texts.ok()) return corrupt("its header is damaged");
  contents.steps = read_steps(file.subspan(kHeaderBytes, capacity), begin, end, begin + capacity, contents.torn);
  return contents;
}

}  // namespace sonde::flight
