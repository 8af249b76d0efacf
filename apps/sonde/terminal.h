// Output of commands: plain results on standard output, one sentence on standard error after a failure, and colour only
// for people.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "sonde/status.h"

namespace sonde::cli {

enum class Style : unsigned char { plain, bold, dim, green, yellow, red, cyan };

bool is_terminal(std::FILE* stream) noexcept;
// Whether to use colour on this stream: it is a terminal, and neither NO_COLOR nor TERM=dumb is set.
bool colored(std::FILE* stream) noexcept;
// Whether this stream is a terminal that shows Unicode, according to the locale.
bool shows_unicode(std::FILE* stream) noexcept;
// Whether this stream is a terminal on which the cursor can be moved: TERM is not "dumb".
bool shows_cursor_codes(std::FILE* stream) noexcept;
// The text in that style if `on`, otherwise unchanged.
std::string styled(std::string_view text, Style style, bool on);

// Columns of the terminal; 80 if there is none.
int terminal_width() noexcept;
// Lines of the terminal; 24 if there is none.
int terminal_height() noexcept;

void print(std::string_view text);  // on standard output, as it is

// Prints "sonde: <sentence>" on standard error, without terminal codes. Returns kError, so that a command can `return
// fail(...)`.
int fail(std::string_view sentence);
int fail(const Status& status);
// The same for useful information that is not a failure.
void note(std::string_view sentence);

}  // namespace sonde::cli
