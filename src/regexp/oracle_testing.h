// What RE2 says about a pattern and a text, to compare with.
#pragma once

#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "regexp/automaton.h"
#include "regexp/parser.h"
#include "regexp/regexp.h"

namespace sonde::regexp {

struct Mode {
  Extent extent;
  Dot dot;
};
constexpr Mode kModes[] = {{Extent::whole, Dot::everything},
                           {Extent::whole, Dot::not_newline},
                           {Extent::anywhere, Dot::everything},
                           {Extent::anywhere, Dot::not_newline}};

inline bool is_utf8(std::string_view text) { return base::valid_utf8(text) == text; }
inline bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}
inline bool is_too_large(std::string_view message) {
  return message.starts_with("too large") || message.starts_with("longer than");
}

// One pattern, compiled by both.
class Comparison {
 public:
  Comparison(std::string_view pattern, Mode mode) : pattern_(pattern), mode_(mode) {
    re2::RE2::Options options(re2::RE2::Quiet);
    options.set_dot_nl(mode.dot == Dot::everything);
    options.set_max_mem(std::int64_t{64} << 20);
    theirs_ = std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
    ours_ = std::make_unique<Result<Regexp>>(Regexp::compile(pattern, mode.extent, mode.dot));
    if (auto program = parse(pattern, mode.extent, mode.dot))
      followed_ = std::make_unique<Automaton>(*std::move(program));
  }

  bool accepted() const { return ours_->ok() && theirs_->ok(); }
  // Empty if both accept or both reject the pattern, or differ as regexp.h says.
  std::string difference() const {
    if (ours_->ok() == theirs_->ok()) return "";
    if (!ours_->ok() && is_too_large(ours_->error().message())) return "";
    if (!theirs_->ok() && theirs_->error_code() == re2::RE2::ErrorPatternTooLarge) return "";
    if (pattern_.find("\\C") != std::string::npos && !ours_->ok()) return "";
    if (pattern_.find("(?<") != std::string::npos) return "";
    if (!is_utf8(pattern_)) return "";  // RE2 accepts some encodings of what is no character
    return "/" + pattern_ + "/: ours: " + (ours_->ok() ? "accepted" : ours_->error().message()) +
           "; RE2: " + (theirs_->ok() ? "accepted" : theirs_->error());
  }
  // Empty if both give the same answer, and the automaton gives the same with and without its table.
  std::string difference(std::string_view text) const {
    if (!accepted()) return "";
    const bool ours = (**ours_).matches(text);
    const std::string question =
        "/" + pattern_ + "/ " + (mode_.extent == Extent::whole ? "in all of '" : "in '") + std::string(text) + "': ";
    if (followed_->follow(text) != ours) return question + "the table says " + (ours ? "yes" : "no");
    if (!is_utf8(text)) return "";
    if (!is_ascii(text) && pattern_.find("\\B") != std::string::npos) return "";
    const re2::StringPiece piece(text.data(), text.size());
    const bool theirs =
        mode_.extent == Extent::whole ? re2::RE2::FullMatch(piece, *theirs_) : re2::RE2::PartialMatch(piece, *theirs_);
    return ours == theirs ? "" : question + "RE2 says " + (theirs ? "yes" : "no");
  }

 private:
  std::string pattern_;
  Mode mode_;
  std::unique_ptr<re2::RE2> theirs_;
  std::unique_ptr<Result<Regexp>> ours_;
  std::unique_ptr<Automaton> followed_;
};

}  // namespace sonde::regexp
