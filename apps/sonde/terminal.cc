#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "subcommand.h"
#include "text.h"

namespace sonde::cli {
namespace {

std::string_view environment(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void say(std::string_view sentence, Style style) {
  // Earlier output comes first, even if both streams are the same terminal.
  std::fflush(stdout);
  const std::string line = styled("sonde:", style, colored(stderr)) + " " + harmless(sentence) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

bool is_terminal(std::FILE* stream) noexcept { return ::isatty(::fileno(stream)) == 1; }

bool colored(std::FILE* stream) noexcept {
  return is_terminal(stream) && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

bool shows_cursor_codes(std::FILE* stream) noexcept { return is_terminal(stream) && environment("TERM") != "dumb"; }

bool shows_unicode(std::FILE* stream) noexcept {
  // The first variable that is set decides, as in the C library.
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = environment(name);
    if (locale.empty()) continue;
    const bool utf8 = locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos;
    return utf8 && is_terminal(stream);
  }
  return false;
}

int terminal_width() noexcept {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

int terminal_height() noexcept {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

std::string styled(std::string_view text, Style style, bool on) {
  std::string_view code;
  switch (style) {
    case Style::plain: break;
    case Style::bold: code = "1"; break;
    case Style::dim: code = "2"; break;
    case Style::green: code = "32"; break;
    case Style::yellow: code = "33"; break;
    case Style::red: code = "31"; break;
    case Style::cyan: code = "36"; break;
  }
  if (!on || code.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int fail(std::string_view sentence) {
  say(sentence, Style::red);
  return kError;
}

int fail(const Status& status) { return fail(status.message()); }

void note(std::string_view sentence) { say(sentence, Style::yellow); }

}  // namespace sonde::cli
