#include "formats/png.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "formats/deflate.h"

namespace sonde::png {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
constexpr std::uint32_t kMaxLength = 0x7fffffff;  // of a chunk, a width, a height

Status corrupt(std::string_view what) { return {Code::corrupt, "not a valid PNG file: " + std::string(what)}; }
Status unsupported(std::string_view what) {
  return {Code::unsupported, "PNG files with " + std::string(what) +
                                 " cannot be read: convert the picture to 8 or 16 bits, grey or RGB, not interlaced"};
}

std::uint32_t big_endian(std::uint32_t value) noexcept { return __builtin_bswap32(value); }

std::uint32_t crc_of(std::string_view text) noexcept {
  return crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(text.data()), text.size());
}

// What IHDR says.
struct Format {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  unsigned channels = 0;
  unsigned sample = 0;  // bytes

  std::size_t pixel() const noexcept { return std::size_t{channels} * sample; }
  std::size_t row() const noexcept { return pixel() * width; }
  // With the byte that names the filter. Below 2^66 in theory; dense_bytes has seen to it that it is below 2^63.
  std::uint64_t filtered() const noexcept { return std::uint64_t{height} * (1 + row()); }
};

// By number of channels.
constexpr std::array<std::uint8_t, 5> kColourTypes = {0xff, 0, 4, 2, 6};

// ---- Writing

void put_chunk(std::string& out, std::string_view type, std::string_view data) {
  base::put(out, big_endian(static_cast<std::uint32_t>(data.size())));
  const std::size_t begin = out.size();
  out += type;
  out += data;
  base::put(out, big_endian(crc_of(std::string_view(out).substr(begin))));
}

Result<Format> format_of(const TensorView& picture) {
  const Shape& shape = picture.shape;
  const std::int64_t channels = shape.rank() == 3 ? shape[2] : 1;
  const bool fits = picture.valid() && (shape.rank() == 2 || shape.rank() == 3) && shape[0] > 0 && shape[1] > 0 &&
                    shape[0] <= kMaxLength && shape[1] <= kMaxLength && channels >= 1 && channels <= 4;
  if (!fits || (picture.dtype != DType::u8 && picture.dtype != DType::u16)) {
    return Status(
        Code::invalid_argument,
        "a PNG picture must be a u8 or u16 tensor [height, width] or [height, width, 1 to 4 channels] with at "
        "least one pixel");
  }
  return Format{static_cast<std::uint32_t>(shape[1]), static_cast<std::uint32_t>(shape[0]),
                static_cast<unsigned>(channels), picture.dtype == DType::u16 ? 2U : 1U};
}

// One row of samples in PNG's byte order.
void put_big_endian(const std::byte* row, std::size_t samples, std::byte* out) noexcept {
  for (std::size_t i = 0; i < samples; ++i) {
    out[2 * i] = row[2 * i + 1];
    out[2 * i + 1] = row[2 * i];
  }
}

void filter_sub(const std::byte* row, std::size_t bytes, std::size_t pixel, std::byte* out) noexcept {
  std::copy_n(row, pixel, out);
  const auto* from = reinterpret_cast<const std::uint8_t*>(row);
  auto* to = reinterpret_cast<std::uint8_t*>(out);
  for (std::size_t i = pixel; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(from[i] - from[i - pixel]);
}

std::vector<std::byte> filter_rows(const std::byte* pixels, const Format& format) {
  std::vector<std::byte> rows(format.filtered());
  std::vector<std::byte> swapped(format.sample == 2 ? format.row() : 0);
  std::byte* out = rows.data();
  for (std::uint32_t y = 0; y < format.height; ++y, pixels += format.row()) {
    const std::byte* row = pixels;
    if (format.sample == 2) {
      put_big_endian(pixels, format.row() / 2, swapped.data());
      row = swapped.data();
    }
    *out++ = std::byte{1};
    filter_sub(row, format.row(), format.pixel(), out);
    out += format.row();
  }
  return rows;
}

// ---- Reading

struct Chunk {
  std::string_view type;
  base::Bytes data;
};
Result<Chunk> next_chunk(base::ByteReader& reader) {
  const std::uint32_t length = big_endian(reader.get<std::uint32_t>());
  if (!reader.ok()) return corrupt("it ends before its last chunk; it may have been cut off");
  if (length > kMaxLength) return corrupt("a chunk claims " + std::to_string(length) + " bytes");
  const base::Bytes body = reader.take(std::uint64_t{length} + 4);
  const std::uint32_t crc = big_endian(reader.get<std::uint32_t>());
  if (!reader.ok()) return corrupt("it ends within a chunk; it may have been cut off");
  if (crc_of(base::as_text(body)) != crc) return corrupt("the checksum of a chunk does not match");
  return Chunk{base::as_text(body.first(4)), body.subspan(4)};
}

Result<Format> read_header(const Chunk& chunk) {
  if (chunk.type != "IHDR" || chunk.data.size() != 13) return corrupt("it does not begin with an IHDR chunk");
  base::ByteReader reader(chunk.data);
  Format format;
  format.width = big_endian(reader.get<std::uint32_t>());
  format.height = big_endian(reader.get<std::uint32_t>());
  const auto bits = reader.get<std::uint8_t>();
  const auto colour_type = reader.get<std::uint8_t>();
  const auto compression = reader.get<std::uint8_t>();
  const auto filters = reader.get<std::uint8_t>();
  const auto interlacing = reader.get<std::uint8_t>();
  if (format.width == 0 || format.height == 0 || format.width > kMaxLength || format.height > kMaxLength) {
    return corrupt("its width or height is impossible");
  }
  if (compression != 0 || filters != 0 || interlacing > 1) return corrupt("its IHDR chunk names unknown methods");
  if (interlacing == 1) return unsupported("interlacing");
  if (colour_type == 3) return unsupported("a palette");
  const auto found = std::ranges::find(kColourTypes, colour_type);
  if (found == kColourTypes.begin() || found == kColourTypes.end()) return corrupt("its colour type is unknown");
  if (bits == 1 || bits == 2 || bits == 4) return unsupported("fewer than 8 bits per sample");
  if (bits != 8 && bits != 16) return corrupt("its bit depth is impossible");
  format.channels = static_cast<unsigned>(found - kColourTypes.begin());
  format.sample = bits / 8U;
  return format;
}

// The pieces of the zlib stream, up to IEND.
Result<std::vector<base::Bytes>> read_data(base::ByteReader& reader) {
  std::vector<base::Bytes> pieces;
  bool closed = false;  // IDAT chunks must be contiguous
  for (;;) {
    const Result<Chunk> chunk = next_chunk(reader);
    if (!chunk) return chunk.error();
    if (chunk->type == "IDAT") {
      if (closed) return corrupt("its IDAT chunks are not contiguous");
      pieces.push_back(chunk->data);
      continue;
    }
    closed = !pieces.empty();
    if (chunk->type == "IEND") return pieces;
    const bool critical =
        (chunk->type.front() & 0x20) == 0;  // an upper-case letter; a palette is only a suggestion here
    if (critical && chunk->type != "PLTE") return unsupported("chunks of type '" + std::string(chunk->type) + "'");
  }
}

std::uint8_t paeth(int left, int up, int up_left) noexcept {
  const int to_left = std::abs(up - up_left);
  const int to_up = std::abs(left - up_left);
  const int to_up_left = std::abs(left + up - 2 * up_left);
  if (to_left <= to_up && to_left <= to_up_left) return static_cast<std::uint8_t>(left);
  return static_cast<std::uint8_t>(to_up <= to_up_left ? up : up_left);
}

// Undoes a row's filter in place. `above` is the row above, already undone; zeros above the first row.
bool undo_filter(std::uint8_t filter, std::uint8_t* row, const std::uint8_t* above, std::size_t bytes,
                 std::size_t pixel) noexcept {
  const auto add = [&](std::size_t i, int prediction) { row[i] = static_cast<std::uint8_t>(row[i] + prediction); };
  const auto left = [&](std::size_t i) -> int { return i < pixel ? 0 : row[i - pixel]; };
  const auto up_left = [&](std::size_t i) -> int { return i < pixel ? 0 : above[i - pixel]; };
  switch (filter) {
    case 0: return true;
    case 1:
      for (std::size_t i = 0; i < bytes; ++i) add(i, left(i));
      return true;
    case 2:
      for (std::size_t i = 0; i < bytes; ++i) add(i, above[i]);
      return true;
    case 3:
      for (std::size_t i = 0; i < bytes; ++i) add(i, (left(i) + above[i]) / 2);
      return true;
    case 4:
      for (std::size_t i = 0; i < bytes; ++i) add(i, paeth(left(i), above[i], up_left(i)));
      return true;
    default: return false;
  }
}

Result<std::vector<std::byte>> undo_filters(std::vector<std::byte> rows, const Format& format) {
  std::vector<std::byte> pixels(format.row() * format.height);
  const std::vector<std::uint8_t> zeros(format.row());
  const std::uint8_t* above = zeros.data();
  auto* out = reinterpret_cast<std::uint8_t*>(pixels.data());
  const std::byte* from = rows.data();
  for (std::uint32_t y = 0; y < format.height; ++y) {
    const auto filter = static_cast<std::uint8_t>(*from++);
    std::memcpy(out, from, format.row());
    if (!undo_filter(filter, out, above, format.row(), format.pixel())) return corrupt("a row has an unknown filter");
    above = out;
    out += format.row();
    from += format.row();
  }
  if (format.sample == 2) {
    rows.resize(pixels.size());
    put_big_endian(pixels.data(), pixels.size() / 2, rows.data());
    return rows;
  }
  return pixels;
}

}  // namespace

Result<std::string> encode(const TensorView& picture) {
  const Result<Format> format = format_of(picture);
  if (!format) return format.error();
  Tensor dense;
  if (!picture.contiguous()) dense = tensor::to_tensor(picture);
  const void* pixels = picture.contiguous() ? picture.data : dense.data.data();
  const std::vector<std::byte> rows = filter_rows(static_cast<const std::byte*>(pixels), *format);

  std::string packed;
  if (Status status = deflate::compress(rows, deflate::Wrapper::zlib, packed); !status) return status;
  std::string header;
  base::put(header, big_endian(format->width));
  base::put(header, big_endian(format->height));
  header.push_back(static_cast<char>(8 * format->sample));
  header.push_back(static_cast<char>(kColourTypes[format->channels]));
  header.append(3, '\0');

  std::string out(kSignature);
  out.reserve(packed.size() + 128);
  put_chunk(out, "IHDR", header);
  for (std::size_t at = 0; at < packed.size(); at += kMaxLength) {
    put_chunk(out, "IDAT", std::string_view(packed).substr(at, kMaxLength));
  }
  put_chunk(out, "IEND", {});
  return out;
}

Result<Tensor> decode(base::Bytes file) {
  base::ByteReader reader(file);
  if (base::as_text(reader.take(kSignature.size())) != kSignature)
    return corrupt("it does not begin with the PNG signature");
  const Result<Chunk> first = next_chunk(reader);
  if (!first) return first.error();
  const Result<Format> format = read_header(*first);
  if (!format) return format.error();
  Tensor picture{format->sample == 2 ? DType::u16 : DType::u8, {format->height, format->width, format->channels}, {}};
  if (!tensor::dense_bytes(DType::c128, picture.shape)) return corrupt("its width and height are impossible");
  const Result<std::vector<base::Bytes>> pieces = read_data(reader);
  if (!pieces) return pieces.error();
  Result<std::vector<std::byte>> rows = deflate::expand(*pieces, deflate::Wrapper::zlib, format->filtered());
  if (!rows) return Status(rows.error().code(), "the PNG file is damaged: " + rows.error().message());
  Result<std::vector<std::byte>> pixels = undo_filters(*std::move(rows), *format);
  if (!pixels) return pixels.error();
  picture.data = *std::move(pixels);
  return picture;
}

}  // namespace sonde::png
