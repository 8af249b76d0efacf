#include "input_options.h"

#include <charconv>
#include <string_view>

namespace sonde::cli {
namespace {

bool parse(std::string_view text, std::int64_t& value) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  return end.ec == std::errc{} && end.ptr == text.data() + text.size();
}

}  // namespace

Status read_random_options(const std::string& seed, const std::string& range, inspect::InputOptions& options) {
  std::int64_t number = 0;
  if (!seed.empty()) {
    if (!parse(seed, number)) return {Code::invalid_argument, "--random is '" + seed + "', but must be an integer"};
    options.seed = number;
  }
  if (range.empty()) return Status::success();
  std::int64_t low = 0;
  std::int64_t high = 0;
  const std::size_t comma = range.find(',');
  if (comma == std::string::npos || !parse(std::string_view(range).substr(0, comma), low) ||
      !parse(std::string_view(range).substr(comma + 1), high) || low > high) {
    return {Code::invalid_argument, "--range is '" + range + "', but must be LOW,HIGH"};
  }
  options.range = {low, high};
  return Status::success();
}

}  // namespace sonde::cli
