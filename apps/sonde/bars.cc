#include "bars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

constexpr int kWidth = 48;  // of the longest bar

// Distributes the buckets over `count` buckets of equal width, in proportion to the overlap.
std::vector<Bucket> equal_buckets(const std::vector<Bucket>& from, int count) {
  const double low = from.front().left;
  const double high = from.back().right;
  const double width = high / count - low / count;
  std::vector<Bucket> to;
  to.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) to.push_back({low + width * i, i + 1 == count ? high : low + width * (i + 1), 0});
  for (const Bucket& one : from) {
    const auto at = [&](double value) { return std::clamp((value - low) / width, 0.0, static_cast<double>(count)); };
    const double left = at(one.left);
    const double right = at(one.right);
    const auto first = std::min(static_cast<std::size_t>(left), to.size() - 1);
    const auto last = std::min(static_cast<std::size_t>(right), to.size() - 1);
    for (std::size_t i = first; i <= last; ++i) {
      const double overlap = std::min(right, static_cast<double>(i + 1)) - std::max(left, static_cast<double>(i));
      to[i].count += right > left ? one.count * std::max(overlap, 0.0) / (right - left) : i == first ? one.count : 0;
    }
  }
  return to;
}

std::string bar(double share, const TextStyle& style) {
  constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  // A count above 0 is visible, however small its share is.
  const bool blocks = style.glyphs == render::Glyphs::blocks;
  const int units = blocks ? 8 * kWidth : kWidth;
  const int length = share > 0 ? std::max(1, static_cast<int>(std::lround(share * units))) : 0;
  std::string text;
  for (int i = 0; i < (blocks ? length / 8 : length); ++i) text += blocks ? "█" : "#";
  if (blocks) text += kEighths[static_cast<std::size_t>(length % 8)];
  return padded(std::move(text), kWidth);
}

// "1,234"; "~1,234" for a share of finer bins.
std::string count_text(double count) {
  if (!(count < 1e15)) return number_text(count);
  if (count == std::floor(count)) return grouped(static_cast<std::uint64_t>(count));
  if (count < 0.5) return "<1";
  return std::string("~").append(grouped(static_cast<std::uint64_t>(std::llround(count))));
}

}  // namespace

std::string bars(const std::vector<Bucket>& buckets, int lines, const TextStyle& style) {
  const auto empty = [](const Bucket& one) { return !(one.count > 0); };
  const auto first = std::ranges::find_if_not(buckets, empty);
  auto last = buckets.end();
  while (last != first && empty(*(last - 1))) --last;
  std::vector<Bucket> shown(first, last);
  if (shown.empty()) return "";
  if (shown.size() > static_cast<std::size_t>(lines)) shown = equal_buckets(shown, lines);
  double most = 0;
  std::size_t width = 0;
  for (const Bucket& one : shown) {
    most = std::max(most, one.count);
    width = std::max(width, number_text(one.left).size());
  }
  std::string text;
  for (const Bucket& one : shown) {
    text += "  " + padded_left(number_text(one.left), width) + " |" +
            styled(bar(one.count / most, style), Style::cyan, style.color) + "| " + count_text(one.count) + "\n";
  }
  return text;
}

stats::Summary summary_of(const TensorStatistics& statistics) {
  stats::Summary summary;
  summary.count = statistics.count;
  summary.nan = statistics.nan;
  summary.positive_infinity = statistics.positive_infinity;
  summary.negative_infinity = statistics.negative_infinity;
  summary.zeros = statistics.zeros;
  summary.negatives = statistics.negatives;
  summary.min = statistics.min;
  summary.max = statistics.max;
  summary.mean = statistics.mean;
  summary.m2 = statistics.std * statistics.std * static_cast<double>(summary.finite());
  summary.sum_abs = statistics.sum_abs;
  return summary;
}

stats::Histogram histogram_of(const TensorStatistics& statistics) {
  std::vector<stats::Histogram::Bin> bins;
  for (const Bucket& bucket : statistics.histogram) {
    // The end that belongs to the bin is the one nearer to zero.
    const double inside = bucket.left >= 0 ? bucket.left : bucket.right;
    bins.push_back({stats::Histogram::key_of(inside), static_cast<std::uint64_t>(bucket.count)});
  }
  Result<stats::Histogram> histogram = stats::Histogram::from_bins(std::move(bins));
  return histogram ? *std::move(histogram) : stats::Histogram();
}

}  // namespace sonde::cli
