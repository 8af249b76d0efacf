#include "sinks/table_files.h"

#include <utility>

#include "base/file.h"
#include "base/file_name.h"
#include "formats/run_layout.h"

namespace sonde::sinks {

TableFiles::TableFiles(const std::string& run_directory, std::string writer, Tally& tally)
    : directory_(base::join_path(run_directory, run_layout::kTables)), writer_(std::move(writer)), tally_(tally) {}

TableFile& TableFiles::file_of(const std::string& table) {
  const auto known = tables_.find(table);
  if (known != tables_.end()) return known->second;
  std::string path =
      base::join_path(directory_, base::file_path_of(table, "." + writer_ + std::string(run_layout::kCsv)));
  return tables_.try_emplace(table, std::move(path), tally_).first->second;
}

Status TableFiles::write(const Stamp& stamp, std::span<const Value> values) {
  Status first;
  for (const Value& value : values) {
    const auto* rows = std::get_if<RowsValue>(&value);
    if (rows == nullptr) continue;
    TableFile& file = file_of(std::string(rows->table));
    Status status =
        rows->rows.empty() ? file.append(stamp, rows->columns) : file.append(stamp, rows->columns, rows->rows);
    if (first.ok()) first = std::move(status);
  }
  return first;
}

}  // namespace sonde::sinks
