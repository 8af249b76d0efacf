// CRC-32C (Castagnoli), the checksum of TFRecord, and the masked form in which TFRecord stores it.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace sonde::base {

// Checksum of all bytes; 0 for none. Uses the hardware if possible, otherwise a table; the result is the same.
std::uint32_t crc32c(Bytes bytes) noexcept;
// Extends the checksum `crc` by the bytes `more`.
std::uint32_t crc32c_append(std::uint32_t crc, Bytes more) noexcept;

// The same by table, on any machine: the reference for tests.
std::uint32_t crc32c_by_table(Bytes bytes) noexcept;

// A checksum over data that holds checksums is weak, so TFRecord rotates them and adds a constant.
constexpr std::uint32_t mask_crc(std::uint32_t crc) noexcept { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
inline std::uint32_t masked_crc32c(Bytes bytes) noexcept { return mask_crc(crc32c(bytes)); }

}  // namespace sonde::base
