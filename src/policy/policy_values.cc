#include "policy/policy_values.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace sonde::policy {
namespace {

void skip_spaces(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
}

// Removes an unsigned number and the spaces after it from the start of the text.
template <class T>
std::optional<T> take(std::string_view& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  skip_spaces(text);
  return value;
}

constexpr std::pair<std::string_view, Keep> kKeeps[] = {
    {"stats", Keep::stats}, {"histogram", Keep::histogram}, {"image", Keep::image},
    {"audio", Keep::audio}, {"whole", Keep::whole},         {"npy", Keep::npy},
    {"npz", Keep::npz},     {"print", Keep::print},         {"csv", Keep::csv},
};

}  // namespace

std::optional<Interval> interval_of(std::string_view text) noexcept {
  const auto number = take<std::int64_t>(text);
  if (number == 0) return std::nullopt;
  const bool epochs = text == "epoch" || (number && text == "epochs");
  const bool steps = text == "step" || (number && text == "steps");
  if (!epochs && !steps) return std::nullopt;
  return Interval{number.value_or(1), epochs};
}

std::optional<StepRange> step_range_of(std::string_view text) noexcept {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  std::string_view left = text.substr(0, dots);
  std::string_view right = text.substr(dots + 2);
  skip_spaces(left);
  skip_spaces(right);
  if (left.empty() && right.empty()) return std::nullopt;
  StepRange range;
  if (!left.empty()) {
    const auto first = take<std::int64_t>(left);
    if (!first || !left.empty()) return std::nullopt;
    range.first = *first;
  }
  if (!right.empty()) {
    const auto last = take<std::int64_t>(right);
    if (!last || !right.empty()) return std::nullopt;
    range.last = *last;
  }
  return range;
}

std::optional<std::int64_t> rows_of(std::string_view text) noexcept {
  const auto number = take<std::int64_t>(text);
  if (!number || *number == 0 || (text != "rows" && text != "row")) return std::nullopt;
  return number;
}

std::optional<double> share_of(std::string_view text) noexcept {
  const auto value = take<double>(text);
  if (!value || text != "%" || *value <= 0 || *value > 100) return std::nullopt;
  return *value / 100;
}

std::optional<Keep> keep_of(std::string_view word) noexcept {
  const auto* const found = std::ranges::find(kKeeps, word, &std::pair<std::string_view, Keep>::first);
  return found == std::end(kKeeps) ? std::nullopt : std::optional(found->second);
}

std::optional<Rearm> rearm_of(std::string_view word) noexcept {
  if (word == "edge") return Rearm::edge;
  if (word == "always") return Rearm::always;
  if (word == "never") return Rearm::never;
  return std::nullopt;
}

bool is_trigger_name(std::string_view name) noexcept {
  constexpr std::size_t kLongest = 64;
  return !name.empty() && name.size() <= kLongest && name[0] != '.' && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

}  // namespace sonde::policy
