// Decides whether texts match a program. It keeps what it finds out about texts as a deterministic automaton: a table
// with one row for each set of places of the program and one column for each class of characters, so that later texts
// need one look into the table per character. Once the table is full, other texts are followed without it, in time
// proportional to text times program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "regexp/alphabet.h"
#include "regexp/places.h"
#include "regexp/program.h"

namespace sonde::regexp {

// Safe from any thread, and never waits: a thread that finds the table locked does without it. So it also works in a
// child process that was forked while another thread held the lock.
class Automaton {
 public:
  explicit Automaton(Program program);
  ~Automaton();
  Automaton(const Automaton&) = delete;
  Automaton& operator=(const Automaton&) = delete;

  bool matches(std::string_view text) const;
  // The same without the table.
  bool follow(std::string_view text) const;

 private:
  // The first cell of a row, or one of these. A cell has the row that follows after a character of its column.
  using Row = std::uint32_t;
  static constexpr Row kUnknown = 0;
  static constexpr Row kNoMatch = 1;
  static constexpr Row kMatch = 2;
  struct Table;

  Row next(Row row, std::uint32_t column, std::optional<char32_t> character) const;
  Row compute(Row row, std::uint32_t column, std::optional<char32_t> character) const;
  Row row_of(const Places& places) const;

  Program program_;
  Alphabet alphabet_;
  std::uint32_t end_column_;  // for the end of the text
  std::unique_ptr<Table> table_;
  Row* cells_ = nullptr;  // of the table, read without its lock
  Row start_ = kUnknown;
};

}  // namespace sonde::regexp
