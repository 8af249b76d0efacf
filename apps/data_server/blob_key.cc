#include "blob_key.h"

#include <array>

#include "base/bytes.h"

namespace sonde::data_server {
namespace {

// The 64 digits of base64 that need no escaping in a URL; there is no padding.
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (held += 8; held >= 6; held -= 6) text += kDigits[bits >> (held - 6) & 63];
  }
  if (held > 0) text += kDigits[bits << (6 - held) & 63];
  return text;
}

// False if the text holds anything else than digits.
bool from_base64(std::string_view text, std::string& bytes) {
  std::uint32_t bits = 0;
  int held = 0;
  for (const char digit : text) {
    const std::size_t value = kDigits.find(digit);
    if (value == std::string_view::npos) return false;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes += static_cast<char>(bits >> held & 0xff);
    }
  }
  return true;
}

std::string take_text(base::ByteReader& reader) { return std::string(base::as_text(reader.take(reader.varint()))); }

}  // namespace

std::string BlobKey::encode() const {
  std::string bytes;
  for (const std::string* text : {&run, &tag}) {
    base::put_varint(bytes, text->size());
    bytes += *text;
  }
  for (const std::uint64_t number : {static_cast<std::uint64_t>(kind), static_cast<std::uint64_t>(value.step),
                                     value.offset, std::uint64_t{value.file}, std::uint64_t{value.part}, index}) {
    base::put_varint(bytes, number);
  }
  return base64(bytes);
}

Result<BlobKey> BlobKey::decode(std::string_view text) {
  const auto refuse = [] { return Status(Code::invalid_argument, "the blob key was not issued by this server"); };
  std::string bytes;
  if (!from_base64(text, bytes)) return refuse();
  base::ByteReader reader(base::as_bytes(bytes));
  BlobKey key;
  key.run = take_text(reader);
  key.tag = take_text(reader);
  std::array<std::uint64_t, 6> numbers{};
  for (std::uint64_t& number : numbers) number = reader.varint();
  const auto [kind, step, offset, file, part, index] = numbers;
  key.kind = static_cast<TagKind>(kind);
  key.value = {.step = static_cast<std::int64_t>(step),
               .offset = offset,
               .file = static_cast<std::uint32_t>(file),
               .part = static_cast<std::uint32_t>(part)};
  key.index = index;
  // The comparison also rejects numbers that do not fit, and bits that are left over.
  if (!reader.ok() || kind > static_cast<std::uint64_t>(TagKind::statistics) || key.encode() != text) return refuse();
  return key;
}

}  // namespace sonde::data_server
