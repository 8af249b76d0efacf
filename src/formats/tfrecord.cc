#include "formats/tfrecord.h"

#include <algorithm>

namespace sonde::tfrecord {

void put_record(std::string& out, std::string_view payload) {
  out.reserve(out.size() + kHeaderSize + payload.size() + kFooterSize);
  const std::size_t record = begin_record(out);
  out += payload;
  end_record(out, record);
}

std::size_t begin_record(std::string& out) {
  const std::size_t record = out.size();
  out.resize(record + kHeaderSize);
  return record;
}

void end_record(std::string& out, std::size_t record) {
  const std::size_t payload = record + kHeaderSize;
  const std::size_t length = out.size() - payload;
  out.resize(out.size() + kFooterSize);
  seal(out.data() + payload, length);
}

namespace {

// A protobuf ends at 2 GiB. A reader that believed a longer record would wait for bytes that never come.
constexpr std::uint64_t kPlausible = std::uint64_t{1} << 31;

}  // namespace

// Whether there is a complete header with a correct checksum and a possible length. The record may extend beyond the
// end.
bool RecordReader::header_at(std::size_t position) const noexcept {
  if (bytes_.size() - position < kHeaderSize) return false;
  const std::byte* at = bytes_.data() + position;
  return base::load<std::uint64_t>(at) < kPlausible &&
         base::load<std::uint32_t>(at + 8) == base::masked_crc32c({at, 8});
}

// Whether the record of a valid header extends beyond the end.
bool RecordReader::cut_off(std::size_t position) const noexcept {
  const std::size_t left = bytes_.size() - position - kHeaderSize;
  const auto length = base::load<std::uint64_t>(bytes_.data() + position);
  return length > left || left - length < kFooterSize;
}

// The next valid header, or else the first position where one may still be completed by the bytes that follow.
std::size_t RecordReader::resynchronise(std::size_t from) const noexcept {
  for (std::size_t at = from; at + kHeaderSize <= bytes_.size(); ++at) {
    if (header_at(at) && (tail_ == Tail::growing || !cut_off(at))) return at;
  }
  if (tail_ == Tail::complete) return bytes_.size();
  return std::max(from, bytes_.size() - (kHeaderSize - 1));
}

// Called if there is no complete, valid record at begin_, but at least one byte.
RecordReader::Found RecordReader::next_damaged() noexcept {
  const std::size_t left = bytes_.size() - begin_;
  const bool sound_header = header_at(begin_);
  if (left < kHeaderSize || (sound_header && cut_off(begin_))) {
    if (tail_ == Tail::growing) {
      partial_ = true;
      return Found::partial;
    }
    reason_ = "the file ends in the middle of a record";
    end_ = resynchronise(begin_ + 1);
    return Found::damage;
  }
  if (!sound_header) {
    const bool sound =
        base::load<std::uint32_t>(bytes_.data() + begin_ + 8) == base::masked_crc32c(bytes_.subspan(begin_, 8));
    reason_ = sound ? "the length is impossible: over 2 GiB" : "the checksum of the length is wrong";
    end_ = resynchronise(begin_ + 1);
    return Found::damage;
  }
  // The length is correct, so the next record follows this one - unless bytes are missing in between.
  reason_ = "the checksum of the payload is wrong";
  const std::size_t behind = begin_ + kHeaderSize + base::load<std::uint64_t>(bytes_.data() + begin_) + kFooterSize;
  const bool goes_on = bytes_.size() - behind < kHeaderSize || header_at(behind);
  end_ = goes_on ? behind : resynchronise(begin_ + 1);
  return Found::damage;
}

}  // namespace sonde::tfrecord
