// Markdown from a log as HTML that a page may show.
#pragma once

#include <string>
#include <string_view>

namespace sonde::query {

// GitHub's Markdown. Raw HTML is left out; links lead to http, https and mailto addresses only; pictures become links,
// as a page loads nothing from elsewhere. What is longer than 64 KiB is shown as it was written. Any thread.
std::string html_of_markdown(std::string_view text);

}  // namespace sonde::query
