#include "base/system_limits.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "base/file.h"

namespace sonde::base {
namespace {

std::optional<std::uint64_t> leading_number(std::string_view text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  const Result<std::string> content = read_file(path);
  return content ? leading_number(*content) : std::nullopt;
}

std::optional<std::uint64_t> available_memory() {
  constexpr std::string_view kKey = "MemAvailable:";
  const Result<std::string> content = read_file("/proc/meminfo");
  if (!content) return std::nullopt;
  const std::size_t at = content->find(kKey);
  if (at == std::string::npos) return std::nullopt;
  const std::optional<std::uint64_t> kib = leading_number(std::string_view(*content).substr(at + kKey.size()));
  return kib ? std::optional(*kib * 1024) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> background_dirty_limit() {
  const std::optional<std::uint64_t> bytes = number_in("/proc/sys/vm/dirty_background_bytes");
  if (bytes && *bytes > 0) return bytes;  // zero: the ratio counts
  const std::optional<std::uint64_t> percent = number_in("/proc/sys/vm/dirty_background_ratio");
  const std::optional<std::uint64_t> memory = available_memory();
  if (!percent || !memory) return std::nullopt;
  return *memory / 100 * *percent;
}

}  // namespace sonde::base
