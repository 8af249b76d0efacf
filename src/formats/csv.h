// CSV as defined by RFC 4180: rows of fields.
//
//   field,"a field with "" or , or a line break",field CR LF
//
// Written: CR LF after every row, as in the RFC and Python's csv writer, or LF; quotes only around fields that need
// them, and around a lone empty field, which would look like an empty row. Numbers are the shortest text that parses to
// the same value; NaN, Infinity and -Infinity are spelled like this, which Python, JavaScript and pandas read.
//
// Read: rows end with CR LF, LF or CR, the last one also with the text; a byte order mark before the first is skipped.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/status.h"
#include "tensor/tensor_data.h"

namespace sonde::csv {

enum class LineEnd : std::uint8_t { crlf, lf };

// Appends one field, in quotes if it needs them. An empty field appends nothing.
void put_field(std::string& out, std::string_view field);
// Appends one row, including its line end.
void put_row(std::string& out, std::span<const std::string_view> fields, LineEnd line_end = LineEnd::crlf);
void put_row(std::string& out, std::initializer_list<std::string_view> fields, LineEnd line_end = LineEnd::crlf);

// Appends one number. A float gets as many digits as a float needs.
void put_number(std::string& out, double value);
void put_number(std::string& out, float value);
void put_number(std::string& out, std::int64_t value);
void put_number(std::string& out, std::uint64_t value);
// The element of a tensor at this address, of any type except complex ones. Booleans are 0 and 1.
void put_element(std::string& out, const void* at, DType dtype);

// The rows of a text, one after the other.
class Reader {
 public:
  // The text must outlive the reader. `line` is the number of its first one, for messages about a part of a file.
  explicit Reader(std::string_view text, std::uint64_t line = 1) noexcept;

  // True and the fields of the next row, or false at the end. An empty line is a row without fields, as in Python.
  // Unclosed or misplaced quotes are `corrupt`, with their line number.
  Result<bool> next(std::vector<std::string>& fields);

 private:
  Status quoted_field(std::string& field);
  Status plain_field(std::string& field);
  bool end_line() noexcept;

  std::string_view rest_;
  std::uint64_t line_;
};

// All rows.
Result<std::vector<std::vector<std::string>>> decode(std::string_view text);

// A table of numbers: one row for each index of all axes except the last, one column for each index of the last one. A
// vector is one column, a single number one field. Booleans are 0 and 1. Complex elements are `unsupported`.
Result<std::string> encode_tensor(const TensorView& tensor, LineEnd line_end = LineEnd::crlf);

// A table of numbers as f64[rows, columns]. Empty lines are skipped; a field that is not a number, or a row that is
// shorter or longer than the first, is `corrupt`.
Result<Tensor> decode_tensor(std::string_view text);

}  // namespace sonde::csv
