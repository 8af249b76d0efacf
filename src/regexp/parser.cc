#include "regexp/parser.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "regexp/builder.h"
#include "regexp/unicode.h"
#include "regexp/utf8_reader.h"

namespace sonde::regexp {
namespace {

constexpr std::size_t kMostBytes = 32'768;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_octal(char c) { return c >= '0' && c <= '7'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
std::optional<char32_t> hex_value(char c) {
  if (is_digit(c)) return static_cast<char32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<char32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<char32_t>(c - 'A' + 10);
  return std::nullopt;
}

// Characters of the names of groups beyond ASCII, as in Python.
const std::vector<Range>& name_characters() {
  static const std::vector<Range> ranges = [] {
    CharSet set;
    for (const char* category : {"Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Mn", "Mc", "Nd", "Pc"}) {
      add_unicode_class(category, set);
    }
    return set.ranges();
  }();
  return ranges;
}

// Reads the pattern from left to right. Functions that can fail return false after fail().
class Parser {
 public:
  Parser(std::string_view pattern, Dot dot) : pattern_(pattern) { flags_.dot_newline = dot == Dot::everything; }

  Result<Program> parse(Extent extent);

 private:
  struct Flags {
    bool fold = false;         // i: upper case and lower case are the same
    bool lines = false;        // m: ^ and $ are the ends of lines, not of the text
    bool dot_newline = false;  // s: . matches a newline, too
  };
  // What is known of a group, or of the whole pattern, while its end has not been reached. Groups may be nested deeply,
  // so they are on a stack of our own.
  struct Group {
    std::size_t at;  // of its parenthesis
    Place begin;
    Flags outer;                            // these hold again behind it
    std::optional<Builder::Choice> choice;  // the alternatives before this one
    std::optional<Fragment> sequence;       // this alternative, without its last piece
    std::optional<Piece> last;
    std::uint32_t repetitions = 1;
  };

  bool fail(std::size_t at, std::string sentence);
  bool ends() const { return at_ == pattern_.size(); }
  bool next_is(char c) const { return !ends() && pattern_[at_] == c; }
  bool rest_begins_with(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }
  std::string quoted(std::size_t from) const { return quoted(from, at_); }
  std::string quoted(std::size_t from, std::size_t to) const;
  char32_t read_character();

  bool parse_one();
  bool open_group();
  bool open_named_group(std::size_t from);
  bool parse_flags(std::size_t from);
  bool close_group();
  void push_group(std::size_t from, Flags outer);
  Piece finish_group();
  bool parse_repetition(bool after_repetition);
  bool read_counts(std::uint32_t& least, std::uint32_t& most);
  bool parse_backslash();
  bool parse_quoted();
  bool parse_escape(char32_t& character);
  bool parse_hexadecimal(std::size_t from, char32_t& character);
  bool parse_class();
  bool parse_class_item(std::size_t from, CharSet& set);
  bool parse_range(std::size_t from, CharSet& set);
  bool parse_posix_class(CharSet& set);
  bool parse_unicode_class(CharSet& set);
  bool parse_perl_class(CharSet& set);
  void add(CharSet& set, CharSet part, bool negated) const;

  void end_piece();
  bool push(Piece piece);
  bool push_literal(char32_t character);
  bool push_set(CharSet set);

  std::string_view pattern_;
  std::size_t last_posix_end_ = pattern_.rfind(":]");  // searched once, so that the time is linear
  std::size_t at_ = 0;
  Flags flags_;
  Builder builder_;
  std::vector<Group> groups_;
  bool after_repetition_ = false;
  Status error_;
};

bool Parser::fail(std::size_t at, std::string sentence) {
  sentence += " at position ";
  sentence += std::to_string(base::count_characters(pattern_.substr(0, at)) + 1);
  error_ = Status(Code::invalid_argument, std::move(sentence));
  return false;
}

std::string Parser::quoted(std::size_t from, std::size_t to) const {
  std::string text = "'";
  text += pattern_.substr(from, to - from);
  text += '\'';
  return text;
}

char32_t Parser::read_character() {
  const Utf8Character read = read_utf8(pattern_, at_);
  at_ += read.bytes;
  return read.character;
}

Result<Program> Parser::parse(Extent extent) {
  if (pattern_.size() > kMostBytes) {
    return Status(Code::invalid_argument, "longer than " + std::to_string(kMostBytes) + " bytes");
  }
  for (std::size_t at = 0; at < pattern_.size();) {
    const std::size_t bytes = base::character_length(pattern_, at);
    if (bytes == 0 && !fail(at, "a byte that is not UTF-8")) return error_;
    at += bytes;
  }
  push_group(0, flags_);
  while (!ends()) {
    if (!parse_one()) return error_;
    if (builder_.too_large()) {
      return Status(Code::invalid_argument, "too large: it needs more than " + std::to_string(Builder::kMostSize) +
                                                " instructions; repeat less, or use fewer classes of characters");
    }
  }
  if (groups_.size() > 1 && !fail(groups_.back().at, "missing ')' for '('")) return error_;
  return builder_.finish(finish_group().fragment, extent == Extent::anywhere);
}

bool Parser::parse_one() {
  const bool after_repetition = std::exchange(after_repetition_, false);
  switch (pattern_[at_]) {
    case '(': return open_group();
    case ')': return close_group();
    case '|': {
      ++at_;
      end_piece();
      Group& group = groups_.back();
      if (!group.sequence) group.sequence = builder_.nothing().fragment;
      group.choice = builder_.choice(group.choice, *std::exchange(group.sequence, std::nullopt));
      return true;
    }
    case '^': ++at_; return push(builder_.assertion(flags_.lines ? Assertion::begin_line : Assertion::begin_text));
    case '$': ++at_; return push(builder_.assertion(flags_.lines ? Assertion::end_line : Assertion::end_text));
    case '.': {
      ++at_;
      CharSet set{{'\n', '\n'}};
      set.negate();
      if (flags_.dot_newline) set.add('\n', '\n');
      return push(builder_.characters(set));
    }
    case '[': return parse_class();
    case '*':
    case '+':
    case '?':
    case '{': return parse_repetition(after_repetition);
    case '\\': return parse_backslash();
    default: return push_literal(read_character());
  }
}

void Parser::end_piece() {
  Group& group = groups_.back();
  if (!group.last) return;
  group.sequence = builder_.sequence(group.sequence, group.last->fragment);
  group.repetitions = std::max(group.repetitions, group.last->repetitions);
  group.last.reset();
}

bool Parser::push(Piece piece) {
  end_piece();
  groups_.back().last = piece;
  return true;
}

bool Parser::push_literal(char32_t character) { return push_set({{character, character}}); }

bool Parser::push_set(CharSet set) {
  if (flags_.fold) set.add_other_cases();
  return push(builder_.characters(set));
}

// --- groups ---

void Parser::push_group(std::size_t from, Flags outer) {
  groups_.push_back({.at = from, .begin = builder_.size(), .outer = outer, .choice = {}, .sequence = {}, .last = {}});
}

Piece Parser::finish_group() {
  end_piece();
  Group& group = groups_.back();
  if (!group.sequence) group.sequence = builder_.nothing().fragment;
  const Fragment all = group.choice ? builder_.complete(*group.choice, *group.sequence) : *group.sequence;
  return {all, group.begin, group.repetitions};
}

bool Parser::open_group() {
  const std::size_t from = at_++;
  if (!next_is('?')) {
    push_group(from, flags_);
    return true;
  }
  ++at_;
  if (rest_begins_with("P<")) {
    ++at_;
    return open_named_group(from);
  }
  for (const std::string_view look : {"=", "!", "<=", "<!"}) {
    if (rest_begins_with(look)) {
      at_ += look.size();
      return fail(from, quoted(from) + ", which looks ahead or behind, is not supported");
    }
  }
  return next_is('<') ? open_named_group(from) : parse_flags(from);
}

bool Parser::open_named_group(std::size_t from) {
  const std::size_t begin = ++at_;
  const std::size_t end = pattern_.find('>', begin);
  if (end == std::string_view::npos) return fail(from, "missing '>' behind the name of the group");
  bool valid = end > begin;
  while (at_ < end) {
    const char c = pattern_[at_];
    const char32_t character = read_character();
    valid =
        valid && (character < 0x80 ? is_letter(c) || is_digit(c) || c == '_' : contains(name_characters(), character));
  }
  if (!valid) return fail(begin, quoted(begin) + " is not a name for a group");
  ++at_;
  push_group(from, flags_);
  return true;
}

bool Parser::parse_flags(std::size_t from) {
  Flags flags = flags_;
  bool value = true;
  bool complete = true;  // a flag must follow a minus
  while (!ends()) {
    const char c = pattern_[at_++];
    switch (c) {
      case 'i': flags.fold = value; break;
      case 'm': flags.lines = value; break;
      case 's': flags.dot_newline = value; break;
      case 'U': break;  // which of several matches is preferred makes no difference here
      case '-':
        if (!value) return fail(from, quoted(from) + " is not a group");
        value = false;
        complete = false;
        continue;
      case ':':
      case ')':
        if (!complete) return fail(from, quoted(from) + " is not a group");
        if (c == ':') push_group(from, flags_);
        flags_ = flags;
        return true;
      default:
        --at_;
        read_character();
        return fail(from, quoted(from) + " is not a group");
    }
    complete = true;
  }
  return fail(from, "missing ')' for '('");
}

bool Parser::close_group() {
  if (groups_.size() == 1) return fail(at_, "a ')' without '('");
  ++at_;
  const Piece piece = finish_group();
  flags_ = groups_.back().outer;
  groups_.pop_back();
  return push(piece);
}

// --- repetition ---

// {n}, {n,} or {n,m}; everything else is text.
bool Parser::read_counts(std::uint32_t& least, std::uint32_t& most) {
  std::size_t at = at_ + 1;
  const auto number = [&](std::uint32_t& value) {
    constexpr std::size_t kMostDigits = 9;
    const std::size_t begin = at;
    for (value = 0; at < pattern_.size() && is_digit(pattern_[at]); ++at) {
      if (at - begin == kMostDigits) return false;
      value = value * 10 + static_cast<std::uint32_t>(pattern_[at] - '0');
    }
    return at > begin && (pattern_[begin] != '0' || at == begin + 1);
  };
  const auto skip = [&](char c) {
    const bool found = at < pattern_.size() && pattern_[at] == c;
    if (found) ++at;
    return found;
  };
  if (!number(least)) return false;
  most = least;
  if (skip(',')) {
    if (skip('}')) {
      most = kUnlimited;
      at_ = at;
      return true;
    }
    if (!number(most)) return false;
  }
  if (!skip('}')) return false;
  at_ = at;
  return true;
}

bool Parser::parse_repetition(bool after_repetition) {
  const std::size_t from = at_;
  std::uint32_t least = pattern_[at_] == '+' ? 1 : 0;
  std::uint32_t most = pattern_[at_] == '?' ? 1 : kUnlimited;
  if (pattern_[at_] != '{') {
    ++at_;
  } else if (!read_counts(least, most)) {
    ++at_;
    return push_literal('{');
  }
  const std::string operation = quoted(from);
  if (next_is('?')) ++at_;
  std::optional<Piece>& last = groups_.back().last;
  if (after_repetition) return fail(from, operation + " repeats a repetition, which needs parentheses,");
  if (!last) return fail(from, "nothing that " + operation + " can repeat");
  if (most < least) return fail(from, operation + " has its numbers in the wrong order,");
  const std::uint32_t times = most == kUnlimited ? least : most;
  if (times > kMostRepetitions || (times > 1 && times * last->repetitions > kMostRepetitions)) {
    return fail(from, operation + " repeats more than " + std::to_string(kMostRepetitions) + " times");
  }
  last = builder_.repeat(*last, least, most);
  after_repetition_ = true;
  return true;
}

// --- escapes ---

bool Parser::parse_backslash() {
  const std::size_t from = at_;
  const char c = at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0';
  CharSet set;
  switch (c) {
    case 'A': at_ += 2; return push(builder_.assertion(Assertion::begin_text));
    case 'z': at_ += 2; return push(builder_.assertion(Assertion::end_text));
    case 'b': at_ += 2; return push(builder_.assertion(Assertion::word_boundary));
    case 'B': at_ += 2; return push(builder_.assertion(Assertion::no_word_boundary));
    case 'C': return fail(from, "'\\C', a single byte, is not supported");
    case 'Q': at_ += 2; return parse_quoted();
    case 'p':
    case 'P': return parse_unicode_class(set) && push(builder_.characters(set));
    default: break;
  }
  if (parse_perl_class(set)) return push(builder_.characters(set));
  char32_t character = 0;
  return parse_escape(character) && push_literal(character);
}

// Behind \Q: text up to \E or to the end.
bool Parser::parse_quoted() {
  while (!ends()) {
    if (rest_begins_with("\\E")) {
      at_ += 2;
      return true;
    }
    push_literal(read_character());
    if (builder_.too_large()) return true;
  }
  return true;
}

// A backslash and what belongs to it, as one character.
bool Parser::parse_escape(char32_t& character) {
  const std::size_t from = at_++;
  if (ends()) return fail(from, "a '\\' without a character behind it");
  const char c = pattern_[at_];
  const char32_t escaped = read_character();
  switch (c) {
    case 'a': character = '\a'; return true;
    case 'f': character = '\f'; return true;
    case 'n': character = '\n'; return true;
    case 'r': character = '\r'; return true;
    case 't': character = '\t'; return true;
    case 'v': character = '\v'; return true;
    case 'x': return parse_hexadecimal(from, character);
    default: break;
  }
  // A digit other than 0 is a number in octal only if another one follows.
  if (is_octal(c) && (c == '0' || (!ends() && is_octal(pattern_[at_])))) {
    character = static_cast<char32_t>(c - '0');
    for (int i = 0; i < 2 && !ends() && is_octal(pattern_[at_]); ++i) {
      character = character * 8 + static_cast<char32_t>(pattern_[at_++] - '0');
    }
    return true;
  }
  if (is_digit(c)) return fail(from, quoted(from) + ", which refers to a group, is not supported");
  if (escaped >= 0x80 || is_letter(c)) return fail(from, quoted(from) + " has no meaning");
  character = escaped;
  return true;
}

bool Parser::parse_hexadecimal(std::size_t from, char32_t& character) {
  character = 0;
  const bool braces = next_is('{');
  if (braces) ++at_;
  std::size_t digits = 0;
  for (; !ends() && (braces || digits < 2); ++digits) {
    const std::optional<char32_t> digit = hex_value(pattern_[at_]);
    if (!digit) break;
    character = character * 16 + *digit;
    ++at_;
    if (character > kLastCharacter) return fail(from, quoted(from) + " is beyond the last character, 10FFFF,");
  }
  if (braces ? digits == 0 || !next_is('}') : digits != 2) {
    return fail(from, "'\\x' without two hexadecimal digits, or some in braces,");
  }
  if (braces) ++at_;
  return true;
}

// --- classes of characters ---

void Parser::add(CharSet& set, CharSet part, bool negated) const {
  if (flags_.fold) part.add_other_cases();
  if (negated) part.negate();
  set.add(part);
}

bool Parser::parse_perl_class(CharSet& set) {
  const char c = at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0';
  switch (c) {
    case 'd':
    case 'D': add(set, digits(), c == 'D'); break;
    case 's':
    case 'S': add(set, spaces(), c == 'S'); break;
    case 'w':
    case 'W': add(set, word_characters(), c == 'W'); break;
    default: return false;
  }
  at_ += 2;
  return true;
}

// \pL, \p{Greek}, \p{^Greek}, \PL
bool Parser::parse_unicode_class(CharSet& set) {
  const std::size_t from = at_;
  bool negated = pattern_[at_ + 1] == 'P';
  at_ += 2;
  if (ends()) return fail(from, quoted(from) + " without the name of a class");
  std::size_t begin = at_;
  std::size_t end = 0;
  if (next_is('{')) {
    ++begin;
    end = pattern_.find('}', begin);
    if (end == std::string_view::npos) return fail(from, "missing '}' for " + quoted(from, begin));
    at_ = end + 1;
  } else {
    read_character();
    end = at_;
  }
  std::string_view name = pattern_.substr(begin, end - begin);
  if (name.starts_with('^')) {
    negated = !negated;
    name.remove_prefix(1);
  }
  CharSet named;
  if (!add_unicode_class(name, named)) {
    return fail(from, quoted(from) + R"( is neither a category nor a script of Unicode, such as \p{Lu} or \p{Greek},)");
  }
  add(set, std::move(named), negated);
  return true;
}

// [:alpha:] or [:^alpha:]
bool Parser::parse_posix_class(CharSet& set) {
  const std::size_t from = at_;
  const std::size_t end = pattern_.find(":]", at_ + 2);
  std::string_view name = pattern_.substr(at_ + 2, end - at_ - 2);
  at_ = end + 2;
  const bool negated = name.starts_with('^');
  if (negated) name.remove_prefix(1);
  CharSet named;
  if (!add_posix_class(name, named)) return fail(from, quoted(from) + " is not a class of characters");
  add(set, std::move(named), negated);
  return true;
}

bool Parser::parse_range(std::size_t from, CharSet& set) {
  const auto one = [&](char32_t& character) {
    if (ends()) return fail(from, "missing ']' for '['");
    if (next_is('\\')) return parse_escape(character);
    character = read_character();
    return true;
  };
  const std::size_t begin = at_;
  char32_t first = 0;
  if (!one(first)) return false;
  char32_t last = first;
  if (rest_begins_with("-") && !rest_begins_with("-]") && at_ + 1 < pattern_.size()) {
    ++at_;
    if (!one(last)) return false;
    if (last < first) return fail(begin, "the range " + quoted(begin) + " in the wrong order");
  }
  set.add(first, last);
  return true;
}

bool Parser::parse_class_item(std::size_t from, CharSet& set) {
  if (rest_begins_with("[:") && last_posix_end_ != std::string_view::npos && last_posix_end_ >= at_ + 2) {
    return parse_posix_class(set);
  }
  if (rest_begins_with("\\p") || rest_begins_with("\\P")) return parse_unicode_class(set);
  if (next_is('\\') && parse_perl_class(set)) return true;
  return parse_range(from, set);
}

bool Parser::parse_class() {
  const std::size_t from = at_++;
  const bool negated = next_is('^');
  if (negated) ++at_;
  CharSet set;
  bool first = true;  // then ] is a character
  while (!ends() && (first || !next_is(']'))) {
    if (!parse_class_item(from, set)) return false;
    first = false;
  }
  if (ends()) return fail(from, "missing ']' for '['");
  ++at_;
  if (flags_.fold) set.add_other_cases();
  if (negated) set.negate();
  return push(builder_.characters(set));
}

}  // namespace

Result<Program> parse(std::string_view pattern, Extent extent, Dot dot) { return Parser(pattern, dot).parse(extent); }

}  // namespace sonde::regexp
