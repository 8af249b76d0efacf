#include <isa-l/crc.h>

#include <algorithm>
#include <cstdlib>

#include "formats/deflate.h"
#include "formats/png.h"

namespace {

using namespace sonde;

void put_chunk(std::string& out, std::string_view type, std::string_view data) {
  const std::string body = std::string(type).append(data);
  base::put(out, __builtin_bswap32(static_cast<std::uint32_t>(data.size())));
  out += body;
  base::put(out,
            __builtin_bswap32(crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(body.data()), body.size())));
}

// A file with right checksums around 13 bytes of IHDR and the filtered rows: random bytes would hardly get past them.
std::string wrapped(std::string_view text) {
  const std::string_view header = text.substr(0, std::min<std::size_t>(text.size(), 13));
  std::string rows;
  if (!deflate::compress(base::as_bytes(text.substr(header.size())), deflate::Wrapper::zlib, rows)) std::abort();
  std::string file = "\x89PNG\r\n\x1a\n";
  put_chunk(file, "IHDR", header);
  put_chunk(file, "IDAT", rows);
  put_chunk(file, "IEND", {});
  return file;
}

// What decodes must be encoded and decoded to the same again.
void check(base::Bytes bytes) {
  const auto first = png::decode(bytes);
  if (!first) return;
  const auto file = png::encode(first->view());
  if (!file) std::abort();
  const auto second = png::decode(base::as_bytes(*file));
  if (!second || second->dtype != first->dtype || !(second->shape == first->shape) || second->data != first->data) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const base::Bytes bytes = std::as_bytes(std::span(data, size));
  check(bytes);
  check(base::as_bytes(wrapped(base::as_text(bytes))));
  return 0;
}
