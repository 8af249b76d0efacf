// Markdown from a log as HTML that a page may show.
#pragma once

#include <string>
#include <string_view>

namespace sonde::query {

// GitHub's Markdown, from which nothing is left out: tags such as <think> are shown as text, a line of the text is a
// line of the HTML, and "[INFO]: text" is text rather than the definition of a link. Links lead to http, https and
// mailto addresses only; pictures become links, since a page loads nothing from other sites. A text longer than 64 KiB
// is shown as it was written. Any thread.
std::string html_of_markdown(std::string_view text);

}  // namespace sonde::query
