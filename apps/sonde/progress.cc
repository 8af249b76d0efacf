#include "progress.h"

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

constexpr std::uint64_t kPatience = 500'000'000;  // ns
constexpr std::uint64_t kInterval = 100'000'000;  // ns

void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

// Fills `share` of the cells, in eighths if the terminal has the characters for it.
std::string bar(double share, std::size_t cells, bool unicode) {
  const auto eighths = static_cast<std::size_t>(share * static_cast<double>(cells * 8));
  std::string text;
  for (std::size_t i = 0; i < cells; ++i) {
    const std::size_t filled = std::min<std::size_t>(8, eighths > i * 8 ? eighths - i * 8 : 0);
    if (!unicode) {
      text += filled >= 4 ? '#' : '.';
    } else if (filled == 0) {
      text += ' ';
    } else {
      text += {'\xe2', '\x96', static_cast<char>(0x90 - filled)};  // U+2588 full block to U+258F one eighth
    }
  }
  return text;
}

}  // namespace

Progress::Progress(std::string what)
    : what_(std::move(what)),
      wanted_(shows_cursor_codes(stderr)),
      unicode_(shows_unicode(stderr)),
      due_(base::monotonic_nanoseconds() + kPatience) {}

void Progress::update(std::uint64_t done, std::uint64_t total) {
  if (!wanted_ || total == 0) return;
  const std::uint64_t now = base::monotonic_nanoseconds();
  if (now < due_) return;
  due_ = now + kInterval;
  drawn_ = true;
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const std::string percent = padded_left(std::to_string(static_cast<int>(share * 100)), 3) + " %";
  std::string line = "\r";
  line.append(fitted(what_, 40)).append("  |").append(bar(share, 28, unicode_)).append("| ").append(percent);
  put(line.append("\x1b[K"));
}

void Progress::clear() {
  if (drawn_) put("\r\x1b[K");
  drawn_ = false;
}

}  // namespace sonde::cli
