// NPZ: a zip archive of npy files, as numpy.savez writes it. All numbers are little-endian.
//
//   for each array
//     local header     30 bytes: "PK\3\4", version u16, flags u16 (bit 11: the name is UTF-8), method u16 (0 stored,
//                      8 deflated), time u16, date u16, CRC-32 u32, packed size u32, size u32, length of the name u16,
//                      of the extra fields u16; then the name, which ends in ".npy", and the extra fields
//     data             the npy file, as it is or deflated
//   central directory, for each array
//                      46 bytes: "PK\1\2", version made by u16, then as above from version to the length of the extra
//                      fields, length of the comment u16, disk u16, attributes u16 and u32, offset of the local header
//                      u32; then name, extra fields and comment
//   end                22 bytes: "PK\5\6", disks u16 x 2, entries u16 x 2, size and offset of the directory u32 x 2,
//                      length of the comment u16; then the comment
//
// A size or offset of 0xffffffff (a count of 0xffff) is in a zip64 field instead: extra field 1 of an entry holds
// size, packed size and offset as u64, those that are needed; before `end` stand the zip64 end ("PK\6\6", 56 bytes) and
// its locator ("PK\6\7", 20 bytes). They are read wherever they stand, and written only where needed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/bytes.h"
#include "formats/npy.h"
#include "sonde/status.h"
#include "tensor/tensor_data.h"

namespace sonde::npz {

enum class Method : std::uint8_t { stored, deflated };

struct Entry {
  std::string name;  // without ".npy"
  Method method = Method::stored;
  base::Bytes packed;      // in the archive: if stored, the npy file itself
  std::uint64_t size = 0;  // of the npy file
  std::uint32_t crc = 0;   // of the npy file
};

// Reads only the directory, however large the archive is. Entries that are encrypted or use another compression are
// `unsupported`.
Result<std::vector<Entry>> parse(base::Bytes archive);

// A copy of one array; its checksum is verified.
Result<Tensor> decode(const Entry& entry);

// The elements of a stored, little-endian array in place, without verifying its checksum: the view is valid as long as
// the archive is, and its elements may be unaligned.
Result<TensorView> view(const Entry& entry);

// Whether an array may have this name: non-empty UTF-8 without NUL, at most 65,000 bytes.
bool is_name(std::string_view name) noexcept;

// Writes an archive piece by piece: it needs memory for the directory and, if deflated, for one array at a time. Not
// safe for several threads at once. After an error of `output` every call returns it, and the archive is incomplete.
class Writer {
 public:
  using Output = std::function<Status(base::Bytes)>;  // appends the bytes to the archive

  explicit Writer(Output output, Method method = Method::stored) : output_(std::move(output)), method_(method) {}

  // Names must satisfy is_name and be unique.
  Status add(std::string_view name, const TensorView& tensor);
  // Writes the directory. No array can be added afterwards.
  Status finish();

 private:
  Status add_stored(std::string_view name, const npy::Parts& parts);
  Status add_deflated(std::string_view name, const npy::Parts& parts);
  Status write(base::Bytes bytes);

  Output output_;
  Method method_;
  Status state_;  // the first error, or `closed`
  std::uint64_t written_ = 0;
  std::uint64_t entries_ = 0;
  std::string directory_;
  std::unordered_set<std::string> names_;
};

struct NamedView {
  std::string_view name;
  TensorView tensor;
};
Result<std::string> encode(std::span<const NamedView> tensors, Method method = Method::stored);

}  // namespace sonde::npz
