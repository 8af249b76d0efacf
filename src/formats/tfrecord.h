// TFRecord: a file is records one after the other, nothing before, between or after them.
//
//   offset      size    what
//   0           8       length of the payload, u64 little-endian
//   8           4       masked CRC-32C of those 8 bytes, u32 little-endian
//   12          length  payload
//   12+length   4       masked CRC-32C of the payload, u32 little-endian
//
// mask(crc) = ((crc >> 15) | (crc << 17)) + 0xa282ead8, modulo 2^32.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/crc32c.h"

namespace sonde::tfrecord {

inline constexpr std::size_t kHeaderSize = 12;
inline constexpr std::size_t kFooterSize = 4;

// Appends one record.
void put_record(std::string& out, std::string_view payload);

// The same without a copy of the payload: begin, append the payload to `out`, then end with the result of begin.
//
//   const std::size_t record = tfrecord::begin_record(out);
//   out += ...;
//   tfrecord::end_record(out, record);
[[nodiscard]] std::size_t begin_record(std::string& out);
void end_record(std::string& out, std::size_t record);

// The same if the size is known before: writes header and footer around a payload in place, with kHeaderSize bytes of
// space before it and kFooterSize after it.
inline void seal(char* payload, std::uint64_t length) noexcept {
  char* const header = payload - kHeaderSize;
  std::memcpy(header, &length, sizeof length);
  const std::uint32_t length_crc = base::masked_crc32c(base::as_bytes({header, sizeof length}));
  std::memcpy(header + sizeof length, &length_crc, sizeof length_crc);
  const std::uint32_t payload_crc = base::masked_crc32c(base::as_bytes({payload, length}));
  std::memcpy(payload + length, &payload_crc, sizeof payload_crc);
}

// Finds the records in memory, the damaged places between them, and the beginning of a record that is still being
// written. Holds only a view, allocates nothing, and trusts no length whose checksum is wrong.
//
//   RecordReader reader(bytes);
//   for (auto found = reader.next(); found != RecordReader::Found::end; found = reader.next()) {
//     if (found == RecordReader::Found::record) use(reader.offset(), reader.payload());
//     if (found == RecordReader::Found::damage) report(reader.offset(), reader.size(), reader.reason());
//     if (found == RecordReader::Found::partial) break;  // come back with more bytes from reader.offset() on
//   }
class RecordReader {
 public:
  enum class Found : std::uint8_t {
    record,   // payload() is complete: both checksums are correct
    damage,   // bytes that belong to no valid record; the next call continues after them, perhaps with more damage
    partial,  // the beginning of a record, cut off by the end of the bytes; further calls return this again
    end,      // nothing is left
  };
  // Whether more bytes may follow. In a complete file a cut-off record is damage, and the reader searches for records
  // inside it.
  enum class Tail : std::uint8_t { growing, complete };

  // `base` is the offset of the first byte in its file; it only shifts the offsets.
  explicit RecordReader(base::Bytes bytes, Tail tail = Tail::growing, std::uint64_t base = 0) noexcept
      : bytes_(bytes), base_(base), tail_(tail) {}

  Found next() noexcept {
    begin_ = end_;
    const std::size_t left = bytes_.size() - begin_;
    if (left >= kHeaderSize) [[likely]] {
      const std::byte* at = bytes_.data() + begin_;
      const auto length = base::load<std::uint64_t>(at);
      if (length <= left - kHeaderSize && left - kHeaderSize - length >= kFooterSize &&
          base::load<std::uint32_t>(at + 8) == base::masked_crc32c({at, 8})) [[likely]] {
        payload_ = {at + kHeaderSize, static_cast<std::size_t>(length)};
        if (base::load<std::uint32_t>(at + kHeaderSize + length) == base::masked_crc32c(payload_)) [[likely]] {
          end_ = begin_ + kHeaderSize + payload_.size() + kFooterSize;
          return Found::record;
        }
      }
    }
    return left == 0 ? Found::end : next_damaged();
  }

  // The offset of the result, counted from `base`.
  std::uint64_t offset() const noexcept { return base_ + begin_; }
  // The number of bytes in the file, including the framing.
  std::size_t size() const noexcept { return (partial_ ? bytes_.size() : end_) - begin_; }
  // Of the last record; a view into the given bytes.
  base::Bytes payload() const noexcept { return payload_; }
  // Of the last damage, half a sentence: "the checksum of the length is wrong".
  std::string_view reason() const noexcept { return reason_; }

 private:
  Found next_damaged() noexcept;
  bool header_at(std::size_t position) const noexcept;
  bool cut_off(std::size_t position) const noexcept;
  std::size_t resynchronise(std::size_t from) const noexcept;

  base::Bytes bytes_;
  base::Bytes payload_;
  std::string_view reason_;
  std::uint64_t base_ = 0;
  std::size_t begin_ = 0;  // start of the last result
  std::size_t end_ = 0;    // where the next call continues
  Tail tail_ = Tail::growing;
  bool partial_ = false;
};

}  // namespace sonde::tfrecord
