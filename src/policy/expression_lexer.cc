#include "policy/expression_lexer.h"

#include <algorithm>
#include <charconv>

#include "base/utf8.h"
#include "policy/expression_text.h"

namespace sonde::policy::condition {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

struct Mistake {
  std::string_view written;
  std::string_view why;
};
constexpr Mistake kMistakes[] = {
    {"&&", "'&&' is not an operator; write 'and'"},
    {"&", "'&' is not an operator; write 'and'"},
    {"||", "'||' is not an operator; write 'or'"},
    {"|", "'|' is not an operator; write 'or'"},
    {"=", "'=' is not an operator; write '==' to compare"},
    {"!", "'!' is not an operator; write 'not'"},
    {"%", "'%' is not an operator; write every(n) for each n-th step"},
    {"^", "'^' is not an operator; write x * x"},
};
constexpr std::string_view kSymbols[] = {"<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "(", ")", ","};

Token number(std::string_view rest, std::size_t place) {
  Token token{.type = Token::Type::number, .text = {}, .begin = place, .end = place, .number = 0};
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), token.number);
  token.end = place + static_cast<std::size_t>(end - rest.data());
  token.text = rest.substr(0, token.end - place);
  if (error != std::errc()) {
    token.type = Token::Type::wrong;
    token.text = error == std::errc::result_out_of_range ? "the number is too large or too small for a double"
                                                         : "expected a number";
  } else if (token.text.size() < rest.size() && (is_letter(rest[token.text.size()]) ||
                                                 is_digit(rest[token.text.size()]) || rest[token.text.size()] == '.')) {
    token.type = Token::Type::wrong;
    token.text = "expected a number such as 12, 0.5 or 1e-3";
  }
  return token;
}

Token quoted(std::string_view rest, std::size_t place) {
  const std::size_t close = rest.find(rest[0], 1);
  if (close == std::string_view::npos) {
    return {.type = Token::Type::wrong,
            .text = "the text is not closed: its second quote is missing",
            .begin = place,
            .end = place + rest.size(),
            .number = 0};
  }
  return {.type = Token::Type::text,
          .text = rest.substr(1, close - 1),
          .begin = place,
          .end = place + close + 1,
          .number = 0};
}

}  // namespace

std::string Token::described() const {
  if (type == Type::end) return "the end";
  if (type == Type::text) return joined({"the text '", base::valid_utf8(text), "'"});
  return joined({"'", base::valid_utf8(text), "'"});
}

Token next_token(std::string_view condition, std::size_t place) {
  while (place < condition.size() && is_space(condition[place])) ++place;
  const std::string_view rest = condition.substr(place);
  if (rest.empty()) return {.type = Token::Type::end, .text = {}, .begin = place, .end = place, .number = 0};
  const char c = rest[0];
  if (is_digit(c) || (c == '.' && rest.size() > 1 && is_digit(rest[1]))) return number(rest, place);
  if (c == '\'' || c == '"') return quoted(rest, place);
  const auto token = [&](Token::Type type, std::size_t size) {
    return Token{.type = type, .text = rest.substr(0, size), .begin = place, .end = place + size, .number = 0};
  };
  if (is_letter(c)) {
    const auto* const end =
        std::ranges::find_if_not(rest, [](char x) { return is_letter(x) || is_digit(x) || x == '.'; });
    return token(Token::Type::name, static_cast<std::size_t>(end - rest.begin()));
  }
  for (const std::string_view symbol : kSymbols) {
    if (rest.starts_with(symbol)) return token(Token::Type::symbol, symbol.size());
  }
  Token wrong = token(Token::Type::wrong, 1);
  wrong.text =
      "unexpected character; names with other characters than letters, digits, _ and . are "
      "written scalar('...')";
  for (const Mistake& mistake : kMistakes) {
    if (!rest.starts_with(mistake.written)) continue;
    wrong.text = mistake.why;
    break;
  }
  return wrong;
}

}  // namespace sonde::policy::condition
