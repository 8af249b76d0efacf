#include "base/crc32c.h"

#include <algorithm>
#include <array>

#if defined(__x86_64__)
#include <isa-l/crc.h>
#include <nmmintrin.h>
#define SONDE_CRC_HARDWARE 1
#endif

namespace sonde::base {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() noexcept {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
    table[i] = crc;
  }
  return table;
}
constexpr auto kTable = make_table();

#if defined(SONDE_CRC_HARDWARE)
// Before this is initialised it reads as false, and the table answers: slower, never wrong.
const bool kHasSse42 = __builtin_cpu_supports("sse4.2") != 0;

// From here on ISA-L's folding beats one chain of crc32 instructions.
constexpr std::size_t kIsalFrom = 512;

__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(std::uint32_t start, Bytes bytes) noexcept {
  const std::byte* at = bytes.data();
  std::size_t size = bytes.size();
  std::uint64_t crc = ~start;
  for (; size >= 8; at += 8, size -= 8) crc = _mm_crc32_u64(crc, load<std::uint64_t>(at));
  auto tail = static_cast<std::uint32_t>(crc);
  if ((size & 4) != 0) {
    tail = _mm_crc32_u32(tail, load<std::uint32_t>(at));
    at += 4;
  }
  if ((size & 2) != 0) {
    tail = _mm_crc32_u16(tail, load<std::uint16_t>(at));
    at += 2;
  }
  if ((size & 1) != 0) tail = _mm_crc32_u8(tail, load<std::uint8_t>(at));
  return ~tail;
}

std::uint32_t crc32c_by_isal(std::uint32_t start, Bytes bytes) noexcept {
  std::uint32_t crc = ~start;
  while (!bytes.empty()) {
    const std::size_t chunk = std::min(bytes.size(), std::size_t{1} << 20);  // it counts in int
    // Its parameter is not const, but it only reads.
    auto* at = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
    crc = crc32_iscsi(at, static_cast<int>(chunk), crc);
    bytes = bytes.subspan(chunk);
  }
  return ~crc;
}
#endif

std::uint32_t append_by_table(std::uint32_t start, Bytes bytes) noexcept {
  std::uint32_t crc = ~start;
  for (const std::byte byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xffu];
  return ~crc;
}

}  // namespace

std::uint32_t crc32c_by_table(Bytes bytes) noexcept { return append_by_table(0, bytes); }

std::uint32_t crc32c_append(std::uint32_t crc, Bytes more) noexcept {
#if defined(SONDE_CRC_HARDWARE)
  if (kHasSse42) [[likely]] {
    return more.size() < kIsalFrom ? crc32c_by_instruction(crc, more) : crc32c_by_isal(crc, more);
  }
#endif
  return append_by_table(crc, more);
}

std::uint32_t crc32c(Bytes bytes) noexcept { return crc32c_append(0, bytes); }

}  // namespace sonde::base
