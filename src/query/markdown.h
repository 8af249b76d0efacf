// Converts Markdown from a log to HTML that a page may show.
#pragma once

#include <string>
#include <string_view>

namespace sonde::query {

// GitHub's Markdown, with everything kept: tags such as <think> are shown as text, a line of the text is a line of the
// HTML, and "[INFO]: text" is text rather than the definition of a link. Links lead only to http, https and mailto
// addresses; pictures become links, since a page loads nothing from other sites. A text longer than 64 KiB is shown
// unformatted. Any thread.
std::string html_of_markdown(std::string_view text);

}  // namespace sonde::query
