// DEFLATE (RFC 1951), bare as in zip archives, inside the zlib wrapper (RFC 1950) as in PNG, or as a gzip member (RFC
// 1952) as in HTTP:
//
//   zlib:  2 bytes of header, the DEFLATE stream, Adler-32 of what it expands to (u32 big-endian)
//   gzip:  10 bytes of header, the DEFLATE stream, CRC-32 of what it expands to and its size (u32 little-endian each)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "sonde/status.h"

namespace sonde::deflate {

enum class Wrapper : std::uint8_t { none, zlib, gzip };

// Appends the compressed bytes: the fastest level that still finds repetitions.
Status compress(base::Bytes bytes, Wrapper wrapper, std::string& out);

// Expands a stream that may be in several pieces, and checks that it gives exactly `size` bytes and, in a wrapper, has
// the right checksum. Memory grows with the actual output, so a wrong `size` costs nothing.
Result<std::vector<std::byte>> expand(std::span<const base::Bytes> pieces, Wrapper wrapper, std::uint64_t size);

}  // namespace sonde::deflate
