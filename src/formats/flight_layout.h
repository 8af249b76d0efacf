// The bytes of a flight ring (formats/flight.h), for its reader and its writer. Numbers are little-endian.
//
//   offset  size      what
//   0       8         "SONDERNG"
//   8       4         version: 1
//   12      4         0x01020304, in the byte order of the machine
//   16      8         capacity: bytes for entries, a multiple of 64
//   24      8         process id
//   32      8         time of the start, f64, seconds since 1970
//   40      4         bytes of the texts, plus 65536 where they are at 2144  \  stored at once, as the texts may be
//   44      4         CRC-32C of the bytes 0 to 43 and of the texts          /  replaced while the ring is in use
//   64      8         begin \  positions: see flight.h. Each is stored at once, by a single instruction
//   128     8         end   /
//   192     1952      texts: host, writer, number of selectors, selectors in which -inf is intended
//   2144    1952      texts: the second copy, same layout
//   4096    capacity  entries
//
// An entry begins at a multiple of 64 with an EntryHeader. A description and the elements of a tensor follow, each
// again at a multiple of 64. Texts have their length before them; lengths, counts and sizes are varints.
//
//   tensor     step (zigzag), evaluation (u8), time (f64), kind, dtype, rank (u8 each), occurrence, sizes, name,
//              number of inputs, inputs; then the elements, dense and row-major
//   step end   step (zigzag), evaluation (u8), time (f64), number of tensors in the ring, number of those that found no
//              room, number of scalars, scalars: name, value (f64), number of tensors that were dropped before they
//              reached the ring (files of older versions end before it)
//   filler     nothing; reaches up to the end of the file
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "formats/flight.h"
#include "sonde/summaries.h"
#include "sonde/tensor.h"

namespace sonde::flight {

inline constexpr std::uint64_t kHeaderBytes = 4096;
inline constexpr std::uint64_t kIdentityBytes = 40;  // at the start: no other ring of the machine has the same
inline constexpr std::uint64_t kBeginOffset = 64;
inline constexpr std::uint64_t kEndOffset = 128;
inline constexpr std::uint64_t kUnit = 64;
inline constexpr std::uint64_t kTextBytesOffset = 40;  // a word that selects the current texts
inline constexpr std::uint64_t kTextsOffset = 192;     // both copies of them follow

constexpr std::uint64_t round_up(std::uint64_t bytes) noexcept { return (bytes + kUnit - 1) / kUnit * kUnit; }

// The whole header page, with both positions zero. Texts that do not fit are left out, starting with the last.
std::string encode_header(const Identity& identity, std::uint64_t capacity,
                          std::span<const std::string> allow_negative_infinity);
// Replaces the selectors of a ring in use. A reader always finds all of the old or all of the new ones.
void replace_selectors(std::span<std::byte> file, const Identity& identity,
                       std::span<const std::string> allow_negative_infinity);

enum class EntryType : std::uint8_t { tensor = 1, step_end = 2, filler = 3 };

struct EntryHeader {
  std::uint32_t magic = 0x45544e45;  // "ENTE"
  EntryType type = EntryType::filler;
  std::uint8_t unused[3] = {};
  std::uint64_t sequence = 0;  // counts all entries ever written
  std::uint64_t position = 0;  // its own position, which identifies leftovers of an earlier round
  std::uint64_t step = 0;      // position of the first entry of its step; if that was released, this one was too
  std::uint64_t size = 0;      // of the whole entry, a multiple of 64
  std::uint64_t data_bytes = 0;
  std::uint32_t meta_bytes = 0;
  std::uint32_t body_checksum = 0;  // CRC-32C of description and elements, without what is between
  std::uint32_t reserved = 0;
  std::uint32_t checksum = 0;  // CRC-32C of all before it
};
static_assert(sizeof(EntryHeader) == kUnit);

constexpr std::uint64_t entry_size(std::uint64_t meta_bytes, std::uint64_t data_bytes) noexcept {
  return kUnit + round_up(meta_bytes) + round_up(data_bytes);
}
// Fills in the checksum and writes the header, its magic last: the body must have been written before.
void store_entry_header(std::byte* at, EntryHeader header) noexcept;

// The descriptions.
struct TensorMeta {
  std::int64_t step = 0;
  bool evaluation = false;
  double wall_time = 0;
  Kind kind = Kind::activation;
  std::uint32_t occurrence = 0;
  std::string_view name = {};
  std::span<const std::string> inputs = {};
  DType dtype = DType::f32;
  Shape shape;
};
void put_tensor_meta(std::string& out, const TensorMeta& meta);

struct StepEndMeta {
  std::int64_t step = 0;
  bool evaluation = false;
  double wall_time = 0;
  std::uint64_t tensors = 0;
  std::uint64_t dropped = 0;
  std::span<const std::pair<std::string_view, double>> scalars = {};
  std::uint64_t lost = 0;
};
void put_step_end_meta(std::string& out, const StepEndMeta& meta);

// The steps in the entries' bytes from the position `begin` to `last`, if they begin there. Up to `expected_end`
// entries must be contiguous. `torn` grows by the damaged ones.
std::vector<Step> read_steps(base::Bytes entries, std::uint64_t begin, std::uint64_t expected_end, std::uint64_t last,
                             std::uint64_t& torn);
// The step that begins at a position, from a copy of the following bytes of a ring of this capacity; without tensors
// and incomplete if it cannot be found.
Step read_step(base::Bytes copy, std::uint64_t position, std::uint64_t capacity);

}  // namespace sonde::flight
