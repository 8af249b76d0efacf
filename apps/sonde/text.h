// Words, sizes and columns for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::cli {

// "1 tensor", "1,200 tensors"
std::string counted(std::uint64_t count, std::string_view what);
// "1,234,567"
std::string grouped(std::uint64_t count);
// "512 bytes", "1.2 MB"
std::string size_text(std::uint64_t bytes);
// "0.0123", "NaN", "-Inf": three digits, for people
std::string number_text(double value);
// The shortest text that parses to the same value: to the same float if `single`, otherwise to the same double.
// "NaN", "Infinity", "-Infinity"
std::string exact_text(double value, bool single);
// "2026-11-16T01:28:15Z" for seconds since 1970
std::string time_text(double seconds);
// "3.2 s", "5 min", "2 h", "8 days"
std::string duration_text(double seconds);

// "a, b and c"; if there are more than `most`, "a, b and 7 more". Each in quotes.
std::string listed(const std::vector<std::string>& names, std::size_t most = 4);

// The end of a sentence: "; there is 'a'", "; there are 'a' and 'b'"; empty if there are none.
std::string there_are(const std::vector<std::string>& names);

// Padded with blanks to `width` characters, after or before it.
std::string padded(std::string text, std::size_t width);
std::string padded_left(std::string text, std::size_t width);
// A name from a file, safe to print, of at most `width` characters: shortened in the middle if it is longer.
std::string fitted(std::string_view name, std::size_t width);

// A path or a sentence with names from files, on one line, at full length, without terminal codes: \n, \x1b and the
// like are escaped.
std::string harmless(std::string_view text);

// The run's name as a path below `directory`; the directory itself for ".".
std::string run_path(const std::string& directory, const std::string& run);

}  // namespace sonde::cli
