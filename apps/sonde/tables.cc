#include "tables.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/utf8.h"
#include "formats/csv.h"
#include "formats/json_writer.h"
#include "ordered_texts.h"
#include "output.h"

namespace sonde::cli {
namespace {

template <class T, class... Format>
void put_digits(std::string& out, T value, Format... format) {
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, format...);
  out.append(digits.data(), end.ptr);
}

std::array<Cell, 3> point_cells(const ScalarPiece& piece, std::size_t at) noexcept {
  const Scalars& scalars = *piece.scalars;
  return {Cell::of_integer(scalars.steps[at]), Cell::of_time(scalars.wall_times[at]),
          piece.single ? Cell::of_single(scalars.values[at]) : Cell::of_real(scalars.values[at])};
}

// The common part of the text formats.
class TextTable : public TableWriter {
 public:
  explicit TextTable(Output output) : output_(std::move(output)) {}

  void series(std::string_view run, std::string_view tag) override { prefix_ = prefix(run, tag); }

  Status row(std::span<const Cell> cells) override {
    put_row(output_.buffer(), prefix_, cells);
    return output_.flush_some();
  }

  // Uses all processors: formatting numbers takes nearly all of the time.
  Status rows(const ScalarSource& source) override {
    OrderedTexts texts([&](OrderedTexts::Make& make) -> Result<bool> {
      ScalarPiece piece;
      Result<bool> more = source(piece);
      if (!more || !*more) return more;
      make = [this, piece = std::move(piece)](std::string& out) {
        const std::string names = prefix(piece.run, piece.tag);
        out.reserve((piece.end - piece.begin) * (names.size() + 40));
        for (std::size_t i = piece.begin; i < piece.end; ++i) put_row(out, names, point_cells(piece, i));
      };
      return true;
    });
    return texts.run([&](std::string_view text) {
      output_.buffer() += text;
      return output_.flush_some();
    });
  }

  Status finish() override { return output_.finish(); }
  bool reader_left() const noexcept override { return output_.reader_left(); }

 protected:
  std::string& buffer() noexcept { return output_.buffer(); }

 private:
  // The prefix of every row of a series. These are called on any thread.
  virtual std::string prefix(std::string_view run, std::string_view tag) const = 0;
  virtual void put_row(std::string& out, std::string_view prefix, std::span<const Cell> cells) const = 0;

  Output output_;
  std::string prefix_;
};

class CsvTable final : public TextTable {
 public:
  CsvTable(Output output, std::string_view key, const std::vector<Column>& columns) : TextTable(std::move(output)) {
    buffer().append("run,").append(key);
    for (const Column& column : columns) buffer().append(",").append(column.name);
    buffer() += '\n';
  }

 private:
  std::string prefix(std::string_view run, std::string_view tag) const override {
    std::string text;
    csv::put_field(text, base::valid_utf8(run));
    text += ',';
    csv::put_field(text, base::valid_utf8(tag));
    return text;
  }

  void put_row(std::string& out, std::string_view prefix, std::span<const Cell> cells) const override {
    out += prefix;
    for (const Cell& cell : cells) {
      out += ',';
      put(out, cell);
    }
    out += '\n';
  }

  static void put(std::string& out, const Cell& cell) {
    switch (cell.type) {
      case Cell::Type::integer: return put_digits(out, cell.integer);
      case Cell::Type::count: return put_digits(out, cell.count);
      case Cell::Type::single:
      case Cell::Type::real:
      case Cell::Type::time:
        if (std::isfinite(cell.real)) return put_finite(out, cell.type, cell.real);
        return csv::put_number(out, cell.real);
      case Cell::Type::text:
      case Cell::Type::json: return csv::put_field(out, cell.text);
      case Cell::Type::shape: return csv::put_field(out, formats::JsonWriter().shape(*cell.shape).take());
      case Cell::Type::truth: out += cell.integer != 0 ? "true" : "false"; return;
      case Cell::Type::any: return;  // no cell has this type
    }
  }
};

class JsonLines final : public TextTable {
 public:
  JsonLines(Output output, std::string_view key, const std::vector<Column>& columns)
      : TextTable(std::move(output)), key_(key) {
    for (const Column& column : columns) columns_.emplace_back(column.name);
  }

 private:
  // Members of an object.
  std::string prefix(std::string_view run, std::string_view tag) const override {
    return formats::JsonWriter().key("run").text(run).key(key_).text(tag).take();
  }

  void put_row(std::string& out, std::string_view prefix, std::span<const Cell> cells) const override {
    formats::JsonWriter json(std::move(out));
    json.object().raw(prefix);
    for (std::size_t i = 0; i < cells.size(); ++i) put(json.key(columns_[i]), cells[i]);
    out = json.end().take();
    out += '\n';
  }

  static void put(formats::JsonWriter& json, const Cell& cell) {
    switch (cell.type) {
      case Cell::Type::integer: json.integer(cell.integer); return;
      case Cell::Type::count: json.integer(cell.count); return;
      case Cell::Type::single:
      case Cell::Type::real:
      case Cell::Type::time: put_number(json, cell.type, cell.real); return;
      case Cell::Type::text: json.text(cell.text); return;
      case Cell::Type::shape: json.shape(*cell.shape); return;
      case Cell::Type::truth: json.truth(cell.integer != 0); return;
      case Cell::Type::json: json.raw(cell.text); return;
      case Cell::Type::any: return;  // no cell has this type
    }
  }

  static void put_number(formats::JsonWriter& json, Cell::Type type, double value) {
    if (!std::isfinite(value)) {
      json.number(value);
      return;
    }
    std::string digits;
    put_finite(digits, type, value);
    json.raw(digits);
  }

  std::string key_;
  std::vector<std::string> columns_;
};

}  // namespace

void put_finite(std::string& out, Cell::Type type, double value) {
  constexpr double kPlausible = 1e15;  // beyond it the number is not a time, and has hundreds of digits
  if (type == Cell::Type::single) {
    put_digits(out, static_cast<float>(value));
  } else if (type == Cell::Type::time && std::abs(value) < kPlausible && (std::abs(value) > 1e-3 || value == 0)) {
    put_digits(out, value, std::chars_format::fixed);
  } else {
    put_digits(out, value);
  }
}

Status TableWriter::rows(const ScalarSource& source) {
  ScalarPiece piece;
  while (true) {
    const Result<bool> more = source(piece);
    if (!more || !*more) return more.status();
    series(piece.run, piece.tag);
    for (std::size_t i = piece.begin; i < piece.end; ++i) {
      if (Status status = row(point_cells(piece, i)); !status) return status;
    }
  }
}

Result<std::unique_ptr<TableWriter>> open_table(const TableTarget& target, const std::vector<Column>& columns) {
  if (target.format == "sqlite") return open_sqlite_table(target, columns);
  Result<Output> output = Output::open(target.path, target.existing);
  if (!output) return output.error();
  if (target.format == "jsonl")
    return std::unique_ptr<TableWriter>(new JsonLines(*std::move(output), target.key, columns));
  return std::unique_ptr<TableWriter>(new CsvTable(*std::move(output), target.key, columns));
}

}  // namespace sonde::cli
