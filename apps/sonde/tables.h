// Rows of numbers in the formats that other programs read: CSV, JSON lines, SQLite.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "output.h"
#include "sonde/log.h"
#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::cli {

// One value of a row.
struct Cell {
  enum class Type : std::uint8_t {
    integer,
    count,
    single,  // exactly a float; the shortest text that parses to the same float
    real,    // the shortest text that parses to the same double
    time,    // the same, seconds since 1970, never with an exponent
    text,
    shape,
    truth,
    json,  // JSON of any kind: part of the row in JSON lines, a text elsewhere
    any,   // of a column: its cells have several types
  };
  Type type = Type::integer;
  std::int64_t integer = 0;
  std::uint64_t count = 0;
  double real = 0;
  std::string_view text = {};
  const Shape* shape = nullptr;

  static Cell of_integer(std::int64_t value) noexcept { return {.type = Type::integer, .integer = value}; }
  static Cell of_count(std::uint64_t value) noexcept { return {.type = Type::count, .count = value}; }
  static Cell of_single(double value) noexcept { return {.type = Type::single, .real = value}; }
  static Cell of_real(double value) noexcept { return {.type = Type::real, .real = value}; }
  static Cell of_time(double value) noexcept { return {.type = Type::time, .real = value}; }
  static Cell of_text(std::string_view value) noexcept { return {.type = Type::text, .text = value}; }
  static Cell of_truth(bool value) noexcept { return {.type = Type::truth, .integer = value ? 1 : 0}; }
  static Cell of_json(std::string_view value) noexcept { return {.type = Type::json, .text = value}; }
  static Cell of_shape(const Shape& value) noexcept { return {.type = Type::shape, .shape = &value}; }
};

// A finite number of type `single`, `real` or `time`.
void put_finite(std::string& out, Cell::Type type, double value);

struct Column {
  std::string_view name;
  Cell::Type type;
};

// Some points of a series.
struct ScalarPiece {
  std::string_view run;
  std::string_view tag;
  std::shared_ptr<const Scalars> scalars;
  std::size_t begin = 0;
  std::size_t end = 0;
  // Whether every value of the series is a float or not finite. Decided for the whole series: different values must
  // have different texts, and the float nearest to 0.1 and the double nearest to it have the same shortest text.
  bool single = false;
};

// Returns the next piece, or false after the last. Called on any thread, one call at a time.
using ScalarSource = std::function<Result<bool>(ScalarPiece&)>;

// A table whose rows begin with `run` and `tag`, or another key, followed by the columns given.
class TableWriter {
 public:
  virtual ~TableWriter() = default;

  // Sets the run and tag of the rows that follow.
  virtual void series(std::string_view run, std::string_view tag) = 0;
  virtual Status row(std::span<const Cell> cells) = 0;
  // One row per point: step, wall_time, value. The data that a piece refers to must live until the call returns.
  virtual Status rows(const ScalarSource& source);
  // Completes the file; without this call nothing is left on the disk.
  virtual Status finish() = 0;
  // See Output.
  virtual bool reader_left() const noexcept { return false; }
};

struct TableTarget {
  std::string format;       // "csv", "jsonl", "sqlite"
  std::string path;         // empty: standard output, which SQLite does not support
  std::string table;        // its name in a database
  std::string key = "tag";  // the name of the column after `run`
  Existing existing = Existing::refuse;
};
Result<std::unique_ptr<TableWriter>> open_table(const TableTarget& target, const std::vector<Column>& columns);

// sqlite_table.cc
Result<std::unique_ptr<TableWriter>> open_sqlite_table(const TableTarget& target, const std::vector<Column>& columns);

}  // namespace sonde::cli
