// What commands print with: plain results on standard output, one sentence on standard error where something failed,
// and colour only where a person looks at it.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "sonde/status.h"

namespace sonde::cli {

enum class Style : unsigned char { plain, bold, dim, green, yellow, red, cyan };

bool is_terminal(std::FILE* stream) noexcept;
// Whether colour suits this stream: a terminal, and neither NO_COLOR nor TERM=dumb is set.
bool colored(std::FILE* stream) noexcept;
// Whether this stream is a terminal that shows Unicode, as far as the locale says.
bool shows_unicode(std::FILE* stream) noexcept;
// Whether this stream is a terminal on which the cursor can be moved: TERM is not "dumb".
bool shows_cursor_codes(std::FILE* stream) noexcept;
// The text in that style if `on`, as it is otherwise.
std::string styled(std::string_view text, Style style, bool on);

// Columns of the terminal; 80 where there is none.
int terminal_width() noexcept;
// Lines of the terminal; 24 where there is none.
int terminal_height() noexcept;

void print(std::string_view text);  // on standard output, as it is

// "sonde: <sentence>" on standard error, with nothing in it that a terminal obeys. Returns kError, so that a command
// can say `return fail(...)`.
int fail(std::string_view sentence);
int fail(const Status& status);
// The same for what is worth knowing and no failure.
void note(std::string_view sentence);

}  // namespace sonde::cli
