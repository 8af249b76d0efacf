#include "base/suggest.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sonde::base {
namespace {

// Insertions, deletions, replacements, and swaps of neighbours that lead from one word to the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kLongest = 200;  // longer names are not typed
  const std::string* best = nullptr;
  // Two errors at most, and not more than leave something of a short word.
  std::size_t least = std::min<std::size_t>(2, word.size() / 2) + 1;
  for (const std::string& candidate : candidates) {
    if (word.size() > kLongest || candidate.size() > kLongest) continue;
    const std::size_t errors = distance(word, candidate);
    if (errors >= least) continue;
    least = errors;
    best = &candidate;
  }
  return best == nullptr ? "" : "; did you mean '" + *best + "'?";
}

std::string nearest(std::string_view pattern, std::span<const std::string> candidates) {
  constexpr std::size_t kLongest = 200;
  constexpr std::size_t kMost = 3;
  std::string plain;  // without pattern characters
  for (const char c : pattern.substr(0, kLongest)) {
    if (std::string_view(".*+?^$()[]{}|\\").find(c) == std::string_view::npos) plain.push_back(c);
  }
  std::vector<std::pair<std::size_t, const std::string*>> found;
  for (const std::string& candidate : candidates) {
    // What the pattern leaves open is not an error.
    const std::string_view same_length = std::string_view(candidate).substr(0, plain.size());
    if (candidate.size() <= kLongest) found.emplace_back(distance(plain, same_length), &candidate);
  }
  std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first; });
  if (found.size() > kMost) found.resize(kMost);
  if (found.empty()) return "";
  std::string text = found.size() == 1 ? "; the nearest is " : "; the nearest are ";
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i > 0) text += i + 1 == found.size() ? " and " : ", ";
    text += "'" + *found[i].second + "'";
  }
  return text;
}

}  // namespace sonde::base
