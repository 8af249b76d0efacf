#include "tables.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/utf8.h"
#include "formats/csv.h"
#include "json.h"
#include "output.h"

namespace sonde::cli {
namespace {

bool is_float(double value) noexcept { return static_cast<double>(static_cast<float>(value)) == value; }

template <class T, class... Format>
void put_digits(std::string& out, T value, Format... format) {
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, format...);
  out.append(digits.data(), end.ptr);
}

// A field of CSV, without line end.
void put_field(std::string& out, std::string_view text) {
  csv::put_row(out, {text, ""}, csv::LineEnd::lf);
  out.resize(out.size() - 2);  // what separates it from the empty field, and the line end
}

class CsvTable final : public TableWriter {
 public:
  CsvTable(Output output, const std::vector<Column>& columns) : output_(std::move(output)) {
    std::string& out = output_.buffer();
    out += "run,tag";
    for (const Column& column : columns) out.append(",").append(column.name);
    out += '\n';
  }

  void series(std::string_view run, std::string_view tag) override {
    prefix_.clear();
    put_field(prefix_, valid_utf8(run));
    prefix_ += ',';
    put_field(prefix_, valid_utf8(tag));
  }

  Status row(std::span<const Cell> cells) override {
    std::string& out = output_.buffer();
    out += prefix_;
    for (const Cell& cell : cells) {
      out += ',';
      put(out, cell);
    }
    out += '\n';
    return output_.flush_some();
  }

  Status finish() override { return output_.finish(); }
  bool reader_left() const noexcept override { return output_.reader_left(); }

 private:
  static void put(std::string& out, const Cell& cell) {
    switch (cell.type) {
      case Cell::Type::integer: return put_digits(out, cell.integer);
      case Cell::Type::count: return put_digits(out, cell.count);
      case Cell::Type::number:
      case Cell::Type::real:
      case Cell::Type::time:
        if (std::isfinite(cell.real)) return put_finite(out, cell.type, cell.real);
        return csv::put_number(out, cell.real);
      case Cell::Type::text: return put_field(out, cell.text);
      case Cell::Type::shape: return put_field(out, json_shape(*cell.shape));
    }
  }

  Output output_;
  std::string prefix_;
};

class JsonLines final : public TableWriter {
 public:
  JsonLines(Output output, const std::vector<Column>& columns) : output_(std::move(output)) {
    for (const Column& column : columns) keys_.emplace_back(",").append(json_text(column.name)).append(":");
  }

  void series(std::string_view run, std::string_view tag) override {
    prefix_ = "{\"run\":" + json_text(run) + ",\"tag\":" + json_text(tag);
  }

  Status row(std::span<const Cell> cells) override {
    std::string& out = output_.buffer();
    out += prefix_;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      out += keys_[i];
      put(out, cells[i]);
    }
    out += "}\n";
    return output_.flush_some();
  }

  Status finish() override { return output_.finish(); }
  bool reader_left() const noexcept override { return output_.reader_left(); }

 private:
  static void put(std::string& out, const Cell& cell) {
    switch (cell.type) {
      case Cell::Type::integer: return put_digits(out, cell.integer);
      case Cell::Type::count: return put_digits(out, cell.count);
      case Cell::Type::number:
      case Cell::Type::real:
      case Cell::Type::time:
        if (std::isfinite(cell.real)) return put_finite(out, cell.type, cell.real);
        out += json_number(cell.real);
        return;
      case Cell::Type::text: out += json_text(cell.text); return;
      case Cell::Type::shape: out += json_shape(*cell.shape); return;
    }
  }

  Output output_;
  std::vector<std::string> keys_;
  std::string prefix_;
};

}  // namespace

void put_finite(std::string& out, Cell::Type type, double value) {
  constexpr double kPlausible = 1e15;  // beyond it a time is no time, and has hundreds of digits
  if (type == Cell::Type::number && is_float(value)) {
    put_digits(out, static_cast<float>(value));
  } else if (type == Cell::Type::time && std::abs(value) < kPlausible && (std::abs(value) > 1e-3 || value == 0)) {
    put_digits(out, value, std::chars_format::fixed);
  } else {
    put_digits(out, value);
  }
}

Result<std::unique_ptr<TableWriter>> open_table(const TableTarget& target, const std::vector<Column>& columns) {
  if (target.format == "sqlite") return open_sqlite_table(target, columns);
  Result<Output> output = Output::open(target.path);
  if (!output) return output.error();
  if (target.format == "jsonl") return std::unique_ptr<TableWriter>(new JsonLines(*std::move(output), columns));
  return std::unique_ptr<TableWriter>(new CsvTable(*std::move(output), columns));
}

}  // namespace sonde::cli
