#include "text.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/file.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "formats/csv.h"
#include "render/console.h"
#include "render/digits.h"

namespace sonde::cli {

std::string counted(std::uint64_t count, std::string_view what) {
  return grouped(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::string grouped(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"kB", "MB", "GB", "TB"};
  if (bytes < 1000) return counted(bytes, "byte");
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit < 3; ++unit) value /= 1000;
  return render::brief(value) + " " + std::string(kUnits[unit]);
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "Inf";
  return render::brief(value);
}

std::string exact_text(double value, bool single) {
  std::string text;
  single ? csv::put_number(text, static_cast<float>(value)) : csv::put_number(text, value);
  return text;
}

std::string time_text(double seconds) {
  if (!(std::abs(seconds) < 1e11)) return "?";
  const auto whole = static_cast<std::time_t>(std::floor(seconds));
  std::tm parts{};
  gmtime_r(&whole, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  seconds = std::max(seconds, 0.0);
  const auto whole = [](double value, std::string_view unit) {
    return std::to_string(std::llround(std::min(value, 1e15))) + std::string(unit);
  };
  if (seconds < 1) return whole(seconds * 1000, " ms");
  if (seconds < 9.95) return render::brief(std::round(seconds * 10) / 10) + " s";
  if (seconds < 99.5) return whole(seconds, " s");
  if (seconds < 99.5 * 60) return whole(seconds / 60, " min");
  if (seconds < 47.5 * 3600) return whole(seconds / 3600, " h");
  return whole(seconds / 86400, " days");
}

std::string listed(const std::vector<std::string>& names, std::size_t most) {
  const std::size_t shown = names.size() <= most ? names.size() : most - 1;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < shown; ++i) {
    parts.emplace_back("'").append(render::printable(names[i])).append("'");
  }
  if (shown < names.size()) parts.push_back(grouped(names.size() - shown) + " more");
  return base::enumerated(parts);
}

std::string there_are(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  return (names.size() == 1 ? "; there is " : "; there are ") + listed(names);
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t columns = base::count_characters(text);
  if (columns < width) text.append(width - columns, ' ');
  return text;
}

std::string padded_left(std::string text, std::size_t width) {
  const std::size_t columns = base::count_characters(text);
  if (columns < width) text.insert(0, width - columns, ' ');
  return text;
}

std::string fitted(std::string_view name, std::size_t width) {
  std::string text = render::printable(name);
  if (base::count_characters(text) <= width || width < 5) return text;
  // The beginning names the group, the end the member: both stay. Cuts only between characters.
  const std::size_t head = (width - 3) / 2;
  const std::size_t tail = width - 3 - head;
  const auto byte_of = [&](std::size_t character) {
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
      if (base::begins_character(text[at]) && character-- == 0) break;
    }
    return at;
  };
  return text.substr(0, byte_of(head)) + "..." + text.substr(byte_of(base::count_characters(text) - tail));
}

std::string harmless(std::string_view text) {
  // So short that nothing is removed from a piece, though each of its bytes may become four.
  constexpr std::size_t kPiece = 24;
  std::string out;
  while (!text.empty()) {
    std::size_t end = std::min(kPiece, text.size());
    // Not within a character; invalid bytes may be split anywhere.
    for (int i = 0; i < 3 && end < text.size() && !base::begins_character(text[end]); ++i) ++end;
    out += render::printable(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

std::string run_path(const std::string& directory, const std::string& run) {
  return run == "." ? directory : base::join_path(directory, run);
}

}  // namespace sonde::cli
