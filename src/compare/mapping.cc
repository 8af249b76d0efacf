#include "compare/mapping.h"

#include <unordered_set>

namespace sonde::compare {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kArrow = "->";

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool is_blank(char c) noexcept { return kBlanks.find(c) != std::string_view::npos; }

// Where the first "->" with a blank on both sides begins.
std::size_t find_arrow(std::string_view line) noexcept {
  for (std::size_t at = line.find(kArrow); at != std::string_view::npos; at = line.find(kArrow, at + 1)) {
    const std::size_t after = at + kArrow.size();
    if (at > 0 && after < line.size() && is_blank(line[at - 1]) && is_blank(line[after])) return at;
  }
  return std::string_view::npos;
}

}  // namespace

Result<std::vector<MappedPair>> parse_mapping(std::string_view text, std::string_view path) {
  std::vector<MappedPair> pairs;
  std::unordered_set<std::string> seen_a;
  std::unordered_set<std::string> seen_b;
  const auto error = [&](std::size_t line, const std::string& what) {
    return Status{Code::invalid_argument, "line " + std::to_string(line) + " of '" + std::string(path) + "' " + what};
  };
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    std::size_t at = find_arrow(line);
    std::size_t width = kArrow.size();
    if (at == std::string_view::npos) {
      at = line.find('\t');
      width = 1;
    }
    if (at == std::string_view::npos) return error(number, "has no arrow; write NAME IN A -> NAME IN B");
    MappedPair pair = {std::string(trimmed(line.substr(0, at))), std::string(trimmed(line.substr(at + width))), number};
    if (pair.a.empty() || pair.b.empty()) return error(number, "lacks a name; write NAME IN A -> NAME IN B");
    if (!seen_a.insert(pair.a).second) return error(number, "maps '" + pair.a + "' of A a second time");
    if (!seen_b.insert(pair.b).second) return error(number, "maps '" + pair.b + "' of B a second time");
    pairs.push_back(std::move(pair));
  }
  if (pairs.empty()) return Status{Code::invalid_argument, "'" + std::string(path) + "' maps no tensor"};
  return pairs;
}

}  // namespace sonde::compare
