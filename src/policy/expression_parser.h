// Parses the text of a condition into a tree.
//
//   either     = both { "or" both }
//   both       = inverted { "and" inverted }
//   inverted   = "not" inverted | comparison
//   comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//   sum        = product { ("+" | "-") product }
//   product    = unary { ("*" | "/") unary }
//   unary      = "-" unary | number | name | name "(" [ argument { "," argument } ] ")" | "(" either ")"
//   argument   = either | text in single or double quotes, without escapes: a backslash belongs to the pattern
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "policy/expression_nodes.h"

namespace sonde::policy::condition {

struct ParseError {
  std::size_t column = 0;  // in characters, from 1; a line break counts as one
  std::string message;     // "expected a number or a name, found ')'"
};

// Where an error is: "column 7", and "line 2, column 3" in a condition of several lines.
std::string place_in(std::string_view text, const ParseError& error);

// Null on failure. Safe for untrusted texts: their length and nesting are limited.
std::unique_ptr<Compiled> parse_condition(std::string_view text, ParseError& error);

}  // namespace sonde::policy::condition
