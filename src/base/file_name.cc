#include "base/file_name.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/utf8.h"

namespace sonde::base {
namespace {

constexpr std::size_t kLongestPart = 200;  // file systems take 255, and temporary files have longer names
constexpr std::string_view kHex = "0123456789ABCDEF";

bool is_digit(char c) noexcept { return kHex.find(c) != std::string_view::npos; }

void put_escaped(std::string& out, std::string_view bytes) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
}

bool is_safe(std::string_view character) noexcept {
  const auto byte = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) {
    return byte >= 0x20 && byte < 0x7f && std::string_view("%\\:*?\"<>|").find(character[0]) == std::string_view::npos;
  }
  return byte != 0xc2 || static_cast<unsigned char>(character[1]) >= 0xa0;  // otherwise a control character
}

// One part between slashes. A percent sign is always followed by two digits, except where no text could have one: alone
// for an empty part, and before the checksum of a truncated one.
std::string name_of(std::string_view part, bool utf8) {
  if (part.empty()) return "%";
  std::string out;
  std::size_t fits = 0;  // length after truncation
  for (std::string_view rest = part; !rest.empty();) {
    const std::string_view character = rest.substr(0, utf8 ? character_length(rest) : 1);
    const bool hidden = rest.size() == part.size() && character == ".";
    if (!hidden && (utf8 || static_cast<unsigned char>(character[0]) < 0x80) && is_safe(character)) {
      out += character;
    } else {
      put_escaped(out, character);
    }
    constexpr std::size_t kChecksum = 2 + 8;  // "%~" and its digits
    if (out.size() + kChecksum <= kLongestPart) fits = out.size();
    rest.remove_prefix(character.size());
  }
  if (out.size() <= kLongestPart) return out;
  out.resize(fits);
  out += "%~";
  const std::uint32_t checksum = crc32c(as_bytes(part));
  for (int shift = 28; shift >= 0; shift -= 4) out += kHex[(checksum >> shift) & 15];
  return out;
}

}  // namespace

std::string file_path_of(std::string_view text, std::string_view extension) {
  const bool utf8 = valid_utf8(text) == text;
  std::string path;
  for (;;) {
    const std::size_t slash = text.find('/');
    std::string name = name_of(text.substr(0, slash), utf8);
    if (slash == std::string_view::npos) return path.append(name).append(extension);
    // "a.npy/b" would need a directory where "a" has its file.
    if (!extension.empty() && name.ends_with(extension)) {
      const std::size_t at = name.size() - extension.size();
      std::string escaped = name.substr(0, at);
      put_escaped(escaped, name.substr(at, 1));
      name = escaped.append(name, at + 1);
    }
    path.append(name).append("/");
    text.remove_prefix(slash + 1);
  }
}

std::string text_of_file_path(std::string_view path, std::string_view extension) {
  if (path.ends_with(extension)) path.remove_suffix(extension.size());
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::string_view rest = path.substr(i + 1);
    if (path[i] != '%') {
      text += path[i];
    } else if (rest.size() >= 2 && is_digit(rest[0]) && is_digit(rest[1])) {
      text += static_cast<char>(kHex.find(rest[0]) << 4 | kHex.find(rest[1]));
      i += 2;
    } else if (rest.starts_with('~')) {
      text += '%';
    }  // else alone, for an empty part
  }
  return text;
}

}  // namespace sonde::base
