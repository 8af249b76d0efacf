#include "sinks/table_file.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/directory.h"
#include "base/input_file.h"
#include "base/utf8.h"
#include "formats/csv.h"

namespace sonde::sinks {
namespace {

std::string header_of(const render::Table& table) {
  std::vector<std::string> names = {"step", "wall_time", "row"};
  for (const std::string& name : table.names()) names.push_back(base::valid_utf8(name));
  const std::vector<std::string_view> fields(names.begin(), names.end());
  std::string header;
  csv::put_row(header, fields, csv::LineEnd::lf);
  return header;
}

std::string rows_of(const Stamp& stamp, const render::Table& table, std::span<const std::int64_t> numbers) {
  std::string first;
  csv::put_number(first, stamp.step);
  first += ',';
  csv::put_number(first, stamp.wall_time);
  std::string out;
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    out.append(first).append(",");
    csv::put_number(out, numbers[row]);
    for (std::size_t field = 0; field < table.names().size(); ++field) {
      out += ',';
      csv::put_element(out, table.at(static_cast<std::int64_t>(row), field), table.dtype(field));
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

Status nothing_added(const std::string& path, const Status& why) {
  return {why.code(), "no rows were added to '" + path + "': " + why.message()};
}

}  // namespace

Result<base::AppendFile> TableFile::next_file() {
  if (const std::size_t slash = path_.rfind('/'); slash != std::string::npos && slash > 0) {
    made_.clear();
    for (std::string above = path_.substr(0, slash); !above.empty() && !base::file_state(above).ok();) {
      made_ = above;
      const std::size_t next = above.rfind('/');
      above.resize(next == std::string::npos ? 0 : next);
    }
    if (Status status = base::make_directories(path_.substr(0, slash)); !status) {
      remove_made_directories();
      return status;
    }
  }
  while (base::file_state(numbered(path_, number_)).ok()) ++number_;
  std::string path = numbered(path_, number_);
  Result<base::AppendFile> file = base::AppendFile::create(path);
  if (!file) {
    remove_made_directories();
    return file;
  }
  current_ = std::move(path);
  header_.clear();
  ++number_;
  return file;
}

void TableFile::remove_made_directories() {
  if (!made_.empty()) base::remove_empty_directories(path_.substr(0, path_.rfind('/')), made_);
}

Result<base::AppendFile> TableFile::open(const std::string& header) {
  if (current_.empty() || (!header_.empty() && header_ != header)) return next_file();
  Result<base::AppendFile> file = base::AppendFile::reopen(current_);
  if (!file && file.error().code() == Code::not_found) return next_file();  // somebody has deleted it
  return file;
}

Status TableFile::write(const std::string& header, const std::string& rows) {
  Result<base::AppendFile> file = open(header);
  if (!file) return file.error();
  std::string written_header = header;  // before the rows are written: nothing may fail then
  const std::string text = header_.empty() ? header + rows : rows;
  if (Status status = file->append(text); !status) {
    if (header_.empty()) {  // nothing was ever in it
      (void)base::remove_file(current_);
      remove_made_directories();
      current_.clear();
      --number_;
    }
    return status;
  }
  header_ = std::move(written_header);
  tally_.bytes_written.fetch_add(text.size(), std::memory_order_relaxed);
  return file->close();
}

Status TableFile::write_counted(const Stamp& stamp, const render::Table& table, std::span<const std::int64_t> numbers) {
  if (numbers.empty() || table.names().empty()) return Status::success();
  Status status = write(header_of(table), rows_of(stamp, table, numbers));
  if (!status) {
    tally_.write_errors.fetch_add(1, std::memory_order_relaxed);
    tally_.lost_records.fetch_add(numbers.size(), std::memory_order_relaxed);
  }
  return status;
}

Status TableFile::append(const Stamp& stamp, std::span<const Column> columns, std::int64_t rows) {
  const Result<render::Table> table = render::Table::of(columns);
  if (!table) return nothing_added(path(), table.error());
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(rows < 0 ? table->rows() : std::min(rows, table->rows())));
  std::iota(numbers.begin(), numbers.end(), 0);
  return write_counted(stamp, *table, numbers);
}

Status TableFile::append(const Stamp& stamp, std::span<const Column> columns, std::span<const std::int64_t> numbers) {
  const Result<render::Table> table = render::Table::of(columns);
  if (!table) return nothing_added(path(), table.error());
  if (numbers.size() != static_cast<std::size_t>(table->rows())) {
    return nothing_added(path(), {Code::invalid_argument,
                                  std::to_string(table->rows()) +
                                      " rows came with this many row numbers: " + std::to_string(numbers.size())});
  }
  return write_counted(stamp, *table, numbers);
}

}  // namespace sonde::sinks
