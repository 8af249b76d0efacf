#include "formats/deflate.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <memory>

namespace sonde::deflate {
namespace {

// What one call of ISA-L, whose counters have 32 bits, is given at most.
constexpr std::size_t kMaxPiece = std::size_t{1} << 30;
// DEFLATE cannot expand a byte to more: 258 bytes for two bits.
constexpr std::uint64_t kMaxRatio = 1032;

// ISA-L takes its input as a pointer to non-const, and only reads it.
std::uint8_t* input(base::Bytes bytes) noexcept {
  return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(bytes.data()));
}

std::uint16_t packing_flag(Wrapper wrapper) noexcept {
  switch (wrapper) {
    case Wrapper::none: return IGZIP_DEFLATE;
    case Wrapper::zlib: return IGZIP_ZLIB;
    case Wrapper::gzip: break;
  }
  return IGZIP_GZIP;
}

std::uint32_t expanding_flag(Wrapper wrapper) noexcept {
  switch (wrapper) {
    case Wrapper::none: return ISAL_DEFLATE;
    case Wrapper::zlib: return ISAL_ZLIB;
    case Wrapper::gzip: break;
  }
  return ISAL_GZIP;
}

Status corrupt(std::string_view what) {
  return {Code::corrupt, "the compressed data are damaged: " + std::string(what)};
}

}  // namespace

Status compress(base::Bytes bytes, Wrapper wrapper, std::string& out) {
  // Both are too large for the stack of a small thread.
  const auto stream = std::make_unique_for_overwrite<isal_zstream>();
  const auto work = std::make_unique_for_overwrite<std::uint8_t[]>(ISAL_DEF_LVL1_DEFAULT);
  isal_deflate_init(stream.get());  // all but the input and output
  stream->avail_in = 0;
  stream->level = 1;
  stream->level_buf = work.get();
  stream->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
  stream->gzip_flag = packing_flag(wrapper);
  stream->flush = NO_FLUSH;

  std::size_t used = out.size();
  do {
    if (stream->avail_in == 0) {
      const base::Bytes piece = bytes.first(std::min(bytes.size(), kMaxPiece));
      bytes = bytes.subspan(piece.size());
      stream->next_in = input(piece);
      stream->avail_in = static_cast<std::uint32_t>(piece.size());
      stream->end_of_stream = bytes.empty() ? 1 : 0;
    }
    // Enough for a typical ratio; the loop grows it if necessary.
    const std::size_t room = stream->avail_in / 2 + 4096;
    out.resize(used + room);
    stream->next_out = reinterpret_cast<std::uint8_t*>(out.data() + used);
    stream->avail_out = static_cast<std::uint32_t>(room);
    if (isal_deflate(stream.get()) != COMP_OK) return {Code::io, "ISA-L failed to compress"};
    used += room - stream->avail_out;
  } while (stream->internal_state.state != ZSTATE_END);
  out.resize(used);
  return {};
}

Result<std::vector<std::byte>> expand(std::span<const base::Bytes> pieces, Wrapper wrapper, std::uint64_t size) {
  std::uint64_t packed = 0;
  for (base::Bytes piece : pieces) packed += piece.size();
  if (size / kMaxRatio > packed) return corrupt("they cannot expand to the stated size");

  const auto state = std::make_unique_for_overwrite<inflate_state>();
  isal_inflate_init(state.get());
  state->crc_flag = expanding_flag(wrapper);

  std::vector<std::byte> out;
  std::size_t used = 0;
  std::byte beyond{};  // receives bytes beyond the stated size
  std::size_t next_piece = 0;
  base::Bytes rest;
  while (state->block_state != ISAL_BLOCK_FINISH) {
    while (state->avail_in == 0 && rest.empty() && next_piece < pieces.size()) rest = pieces[next_piece++];
    if (state->avail_in == 0) {
      const base::Bytes piece = rest.first(std::min(rest.size(), kMaxPiece));
      rest = rest.subspan(piece.size());
      state->next_in = input(piece);
      state->avail_in = static_cast<std::uint32_t>(piece.size());
    }
    if (used == out.size() && used < size) {
      out.resize(std::min<std::uint64_t>(size, std::max<std::size_t>(2 * used, 1 << 16)));
    }
    const std::size_t room = std::min(out.size() - used, kMaxPiece);
    state->next_out = reinterpret_cast<std::uint8_t*>(room > 0 ? out.data() + used : &beyond);
    state->avail_out = static_cast<std::uint32_t>(room > 0 ? room : 1);
    const std::uint32_t in_before = state->avail_in;
    const std::uint32_t out_before = state->avail_out;
    const int status = isal_inflate(state.get());
    if (status != ISAL_DECOMP_OK && status != ISAL_END_INPUT && status != ISAL_OUT_OVERFLOW) {
      return corrupt("the stream does not follow its format");
    }
    const std::uint32_t written = out_before - state->avail_out;
    if (room == 0 && written > 0) return corrupt("they expand to more than the stated size");
    used += written;
    const bool stuck = written == 0 && state->avail_in == in_before;
    if (stuck && state->block_state != ISAL_BLOCK_FINISH) return corrupt("they end too early");
  }
  if (used != size) return corrupt("they expand to less than the stated size");
  return out;
}

}  // namespace sonde::deflate
