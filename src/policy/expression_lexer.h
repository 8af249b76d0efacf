// The tokens of a condition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sonde::policy::condition {

struct Token {
  enum class Type : std::uint8_t { end, number, name, text, symbol, wrong } type = Type::end;
  std::string_view text;  // of a quoted string, what is between the quotes; of an invalid token, the reason
  std::size_t begin = 0;  // bytes from the start of the condition
  std::size_t end = 0;
  double number = 0;

  bool is(std::string_view word) const noexcept { return (type == Type::symbol || type == Type::name) && text == word; }
  // "')'", "the end": for a message.
  std::string described() const;
};

// The first token at or after this position.
Token next_token(std::string_view condition, std::size_t place);

}  // namespace sonde::policy::condition
