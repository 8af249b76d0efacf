#include "render/console.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/utf8.h"
#include "render/digits.h"
#include "stats/derived.h"

namespace sonde::render {
namespace {

constexpr int kCells = 10;
constexpr std::size_t kLongestName = 120;

// Blank, then ever higher; only an empty cell is blank.
constexpr std::array<std::string_view, 6> kAscii = {" ", ".", ":", "+", "*", "#"};
constexpr std::array<std::string_view, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

template <std::size_t N>
void draw_cells(const std::vector<stats::Bucket>& buckets, const std::array<std::string_view, N>& glyphs,
                std::string& out) {
  double highest = 0;
  for (const stats::Bucket& bucket : buckets) highest = std::max(highest, bucket.count);
  for (const stats::Bucket& bucket : buckets) {
    const double share = highest > 0 ? bucket.count / highest : 0;
    out += glyphs[static_cast<std::size_t>(std::ceil(share * (N - 1)))];
  }
}

void append_escaped(std::string& out, unsigned char byte) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (byte) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
  }
}

// Control characters of ASCII and of Latin-1 (U+0080 to U+009F, which some terminals obey too).
bool is_control(std::string_view character) noexcept {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

// The largest cut at or before `at` that does not part a character.
std::size_t cut_before(std::string_view text, std::size_t at) noexcept {
  while (at > 0 && !base::begins_character(text[at])) --at;
  return at;
}

std::string escaped(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::size_t length = base::character_length(name);
    if (length > 0 && !is_control(name.substr(0, length))) {
      out += name.substr(0, length);
    } else {
      for (char c : name.substr(0, std::max<std::size_t>(length, 1))) {
        append_escaped(out, static_cast<unsigned char>(c));
      }
    }
    name.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

void append_count(std::string& out, std::string_view label, std::uint64_t count) {
  if (count == 0) return;
  if (!out.empty()) out += "  ";
  out.append(label).append(" ").append(std::to_string(count));
}

}  // namespace

std::string printable(std::string_view name) {
  std::string text = escaped(name);
  if (text.size() <= kLongestName) return text;
  constexpr std::size_t kHalf = (kLongestName - 3) / 2;
  const std::size_t head = cut_before(text, kHalf);
  const std::size_t tail = cut_before(text, text.size() - kHalf);
  return text.substr(0, head) + "..." + text.substr(tail);
}

std::string type_text(DType dtype, const Shape& shape) {
  std::string text(to_string(dtype));
  text += '[';
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(shape[i]);
  }
  return text + ']';
}

std::string range_text(const stats::Summary& summary, const stats::Histogram& histogram, Glyphs glyphs,
                       std::size_t width) {
  if (summary.count == 0) return "empty";
  if (summary.finite() == 0) return "nothing finite";
  if (summary.min == summary.max) {
    const std::string_view which = summary.count == 1 ? "" : summary.finite() == summary.count ? "all " : "all finite ";
    return std::string(which) + brief(summary.min);
  }
  const auto padding = [&](const std::string& number) {
    return std::string(width - std::min(width, number.size()), ' ');
  };
  const std::string min = brief(summary.min);
  const std::string max = brief(summary.max);
  const std::string mean = brief(summary.mean);
  std::string text = padding(min) + min + " |";
  const std::vector<stats::Bucket> buckets = stats::tensorboard_buckets(summary, histogram, kCells);
  glyphs == Glyphs::ascii ? draw_cells(buckets, kAscii, text) : draw_cells(buckets, kBlocks, text);
  text += "| " + max + padding(max) + "  mean " + mean + padding(mean);
  return text + " std " + brief(summary.stddev());
}

std::string nonfinite_text(const stats::Summary& summary) {
  std::string text;
  append_count(text, "NaN", summary.nan);
  append_count(text, "Inf", summary.positive_infinity);
  append_count(text, "-Inf", summary.negative_infinity);
  return text;
}

std::string one_line(std::string_view name, DType dtype, const Shape& shape, const stats::Summary& summary,
                     const stats::Histogram& histogram, Glyphs glyphs) {
  std::string line = printable(name);
  if (!line.empty()) line += ' ';
  line += type_text(dtype, shape) + ' ' + range_text(summary, histogram, glyphs);
  const std::string nonfinite = nonfinite_text(summary);
  return nonfinite.empty() ? line : line + "  " + nonfinite;
}

}  // namespace sonde::render
