#include "csv_text.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/input_file.h"
#include "base/utf8.h"
#include "formats/csv.h"
#include "formats/json_writer.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

using Row = std::vector<std::string>;

bool is_number(std::string_view text) noexcept {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Numbers as JSON defines them; everything else, "NaN" too, is text.
bool is_json_number(std::string_view text) noexcept {
  if (!is_number(text)) return false;
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (digits.empty() || !is_digit(digits[0]) || digits.back() == '.') return false;
  if (digits.size() > 1 && digits[0] == '0' && is_digit(digits[1])) return false;
  const std::size_t dot = digits.find('.');
  return dot == std::string_view::npos || is_digit(digits[dot + 1]);
}

// Counts the rows of a table and keeps the first and the last ones.
class Rows {
 public:
  explicit Rows(const CsvRequest& request)
      : step_(request.step ? std::to_string(*request.step) : ""),
        most_first_(request.full ? std::numeric_limits<std::uint64_t>::max() : (request.rows + 1) / 2),
        most_last_(request.full ? 0 : request.rows / 2) {}

  void add(Row row) {
    if (row.empty()) return;
    if (heading_.empty()) {
      heading_ = std::move(row);
      step_column_ = static_cast<std::size_t>(std::ranges::find(heading_, "step") - heading_.begin());
      return;
    }
    if (!step_.empty() && (step_column_ >= row.size() || row[step_column_] != step_)) return;
    ++count_;
    if (first_.size() < most_first_) {
      first_.push_back(std::move(row));
      return;
    }
    last_.push_back(std::move(row));
    if (last_.size() > most_last_) last_.pop_front();
  }

  bool has_steps() const noexcept { return step_column_ < heading_.size(); }
  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t left_out() const noexcept { return count_ - first_.size() - last_.size(); }
  const Row& heading() const noexcept { return heading_; }
  const std::vector<Row>& first() const noexcept { return first_; }
  const std::deque<Row>& last() const noexcept { return last_; }

 private:
  std::string step_;  // empty: all
  std::uint64_t most_first_;
  std::uint64_t most_last_;
  Row heading_;
  std::size_t step_column_ = 0;
  std::vector<Row> first_;
  std::deque<Row> last_;
  std::uint64_t count_ = 0;
};

// Passes the text of one or a few rows at a time to `add`.
Status read_rows(const std::string& path, Rows& rows) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  constexpr std::size_t kLongest = std::size_t{64} << 20;  // of a row
  const Result<base::InputFile> file = base::InputFile::open(path);
  if (!file) return file.error();
  std::vector<std::byte> piece(kPiece);
  std::string text;
  std::uint64_t line = 1;  // the line of the file at which the text begins
  bool quoted = false;
  const auto parse = [&]() -> Status {
    csv::Reader reader(text, line);
    Row row;
    while (true) {
      const Result<bool> more = reader.next(row);
      if (!more) return {more.error().code(), "'" + path + "' is not a table: " + more.error().message()};
      if (!*more) break;
      rows.add(std::move(row));
    }
    line += static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
    text.clear();
    return Status::success();
  };
  for (std::uint64_t at = 0;;) {
    const Result<std::size_t> count = file->read_at(at, piece);
    if (!count) return count.error();
    if (*count == 0) return parse();
    at += *count;
    for (const char c : base::as_text(base::Bytes(piece).first(*count))) {
      text += c;
      if (c == '"') quoted = !quoted;
      if (c != '\n' || quoted) continue;
      if (Status status = parse(); !status) return status;
    }
    if (text.size() > kLongest) {
      return {Code::unsupported, "'" + path + "' is not a table: it has a row of more than 64 MiB"};
    }
  }
}

// Columns side by side, numbers to the right.
class Columns {
 public:
  Columns(const Rows& rows, bool full) : heading_(rows.heading()) {
    std::size_t count = heading_.size();
    const auto each_row = [&](const auto& visit) {
      for (const Row& row : rows.first()) visit(row);
      for (const Row& row : rows.last()) visit(row);
    };
    each_row([&](const Row& row) { count = std::max(count, row.size()); });
    widths_.assign(count, 0);
    numeric_.assign(count, true);
    measure(heading_, false);
    each_row([&](const Row& row) { measure(row, true); });
    shown_ = count;
    if (full || !is_terminal(stdout)) return;
    std::size_t used = 1;
    for (shown_ = 0; shown_ < count; ++shown_) {
      used += widths_[shown_] + 2;
      if (shown_ > 0 && used > static_cast<std::size_t>(terminal_width())) break;
    }
  }

  std::size_t hidden() const noexcept { return widths_.size() - shown_; }

  std::string line(const Row& row) const {
    std::string text;
    for (std::size_t i = 0; i < shown_; ++i) {
      const std::string cell = i < row.size() ? fitted(row[i], kWidest) : "";
      text += "  " + (numeric_[i] ? padded_left(cell, widths_[i]) : padded(cell, widths_[i]));
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

 private:
  static constexpr std::size_t kWidest = 40;

  void measure(const Row& row, bool value) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths_[i] = std::max(widths_[i], base::count_characters(fitted(row[i], kWidest)));
      if (value && !row[i].empty() && !is_number(row[i]) && row[i] != "NaN" && !row[i].ends_with("Infinity")) {
        numeric_[i] = false;
      }
    }
  }

  const Row& heading_;
  std::vector<std::size_t> widths_;
  std::vector<bool> numeric_;
  std::size_t shown_ = 0;
};

std::string text_of(const Rows& rows, const CsvRequest& request) {
  const bool color = colored(stdout);
  const Columns columns(rows, request.full);
  std::string text = styled(harmless(request.name), Style::bold, color) + "  " +
                     counted(rows.heading().size(), "column") + ", " + counted(rows.count(), "row");
  if (request.step) text += " of step " + std::to_string(*request.step);
  text.append("\n").append(styled(columns.line(rows.heading()), Style::dim, color)).append("\n");
  for (const Row& row : rows.first()) text += columns.line(row) + "\n";
  if (rows.left_out() > 0) {
    text += styled("  ... " + counted(rows.left_out(), "row") + " left out: use --rows N or --full to print more",
                   Style::dim, color) +
            "\n";
  }
  for (const Row& row : rows.last()) text += columns.line(row) + "\n";
  if (columns.hidden() > 0) {
    text +=
        styled("  ... and " + counted(columns.hidden(), "column") + ": use --full to print all", Style::dim, color) +
        "\n";
  }
  return text;
}

void put_rows(formats::JsonWriter& json, const Rows& rows) {
  json.key("columns").texts(rows.heading()).key("rows").integer(rows.count());
  json.key("left_out").integer(rows.left_out()).key("values").array();
  const auto put = [&](const Row& row) {
    json.array();
    for (const std::string& cell : row) {
      if (cell == "-0") {
        json.raw("-0.0");  // an integer has no negative zero
      } else if (is_json_number(cell)) {
        json.raw(cell);
      } else {
        json.text(cell);
      }
    }
    json.end();
  };
  for (const Row& row : rows.first()) put(row);
  for (const Row& row : rows.last()) put(row);
  json.end();
}

}  // namespace

Result<CsvText> show_csv(const std::string& path, const CsvRequest& request, formats::JsonWriter& json) {
  Rows rows(request);
  if (Status status = read_rows(path, rows); !status) return status;
  if (rows.heading().empty()) return Status(Code::corrupt, "'" + path + "' is not a table: it is empty");
  if (request.step && !rows.has_steps()) {
    return Status(Code::invalid_argument, "--step needs a column 'step', and '" + path + "' has none");
  }
  put_rows(json, rows);
  return CsvText{text_of(rows, request), rows.count()};
}

}  // namespace sonde::cli
