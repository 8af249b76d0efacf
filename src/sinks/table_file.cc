#include "sinks/table_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/input_file.h"
#include "base/utf8.h"
#include "formats/csv.h"

namespace sonde::sinks {
namespace {

std::string header_of(const render::Table& table) {
  std::vector<std::string> names = {"step", "wall_time", "row"};
  for (const std::string& name : table.names()) names.push_back(valid_utf8(name));
  const std::vector<std::string_view> fields(names.begin(), names.end());
  std::string header;
  csv::put_row(header, fields, csv::LineEnd::lf);
  return header;
}

std::string rows_of(const Stamp& stamp, const render::Table& table, std::int64_t count) {
  std::string first;
  csv::put_number(first, stamp.step);
  first += ',';
  csv::put_number(first, stamp.wall_time);
  std::string out;
  for (std::int64_t row = 0; row < count; ++row) {
    out.append(first).append(",");
    csv::put_number(out, row);
    for (std::size_t field = 0; field < table.names().size(); ++field) {
      out += ',';
      csv::put_element(out, table.at(row, field), table.dtype(field));
    }
    out += '\n';
  }
  return out;
}

// "x.csv", "x.1.csv"
std::string numbered(const std::string& path, int number) {
  if (number == 0) return path;
  const std::size_t slash = path.rfind('/');
  std::size_t dot = path.rfind('.');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) dot = path.size();
  std::string text = path;
  return text.insert(dot, std::string(".").append(std::to_string(number)));
}

}  // namespace

Status TableFile::open() {
  if (const std::size_t slash = path_.rfind('/'); slash != std::string::npos && slash > 0) {
    if (Status status = make_directories(path_.substr(0, slash)); !status) return status;
  }
  while (file_state(numbered(path_, number_)).ok()) ++number_;
  Result<AppendFile> file = AppendFile::create(numbered(path_, number_));
  if (!file) return file.error();
  file_.emplace(*std::move(file));
  header_.clear();
  ++number_;
  return Status::success();
}

Status TableFile::write(const std::string& header, const std::string& rows) {
  if (!file_ || (!header_.empty() && header_ != header)) {
    if (Status status = open(); !status) return status;
  }
  const std::string text = header_.empty() ? header + rows : rows;
  if (Status status = file_->append(text); !status) return status;
  header_ = header;
  tally_.bytes_written.fetch_add(text.size(), std::memory_order_relaxed);
  return Status::success();
}

Status TableFile::append(const Stamp& stamp, std::span<const Column> columns, std::int64_t rows) {
  const Result<render::Table> table = render::Table::of(columns);
  if (!table) {
    return {table.error().code(), "no rows were added to '" + path() + "': " + table.error().message()};
  }
  const std::int64_t count = rows < 0 ? table->rows() : std::min(rows, table->rows());
  if (count == 0 || table->names().empty()) return Status::success();
  Status status = write(header_of(*table), rows_of(stamp, *table, count));
  if (!status) {
    tally_.write_errors.fetch_add(1, std::memory_order_relaxed);
    tally_.lost_records.fetch_add(static_cast<std::uint64_t>(count), std::memory_order_relaxed);
  }
  return status;
}

}  // namespace sonde::sinks
