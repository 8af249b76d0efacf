// A CSV table that grows: a sample of the validation outputs, say, every few epochs.
//
//   step,wall_time,row,label,output[0],output[1]
//   100,1763267295.5,0,7,0.02,0.98
//   100,1763267295.5,1,3,0.711,0.0012
//
// `row` is the row's number in the batch, even if only some of its rows are recorded.
// Fields are named as in render/table.h, numbers are written as in formats/csv.h, lines end with LF.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/file.h"
#include "render/table.h"
#include "sinks/record_file.h"
#include "sinks/values.h"
#include "sonde/status.h"

namespace sonde::sinks {

// The file is open only while rows are added: descriptors belong to the program, which may have a thousand probes with
// a table each.
class TableFile {
 public:
  using Column = render::Column;
  static constexpr std::int64_t kAllRows = -1;

  // "x.csv" and, if that is taken or the columns change, "x.1.csv", "x.2.csv" ...: no table is ever continued with
  // other columns. Nothing is created before the first rows; then also the directory, if it does not exist.
  TableFile(std::string path, Tally& tally) : path_(std::move(path)), tally_(tally) {}
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;

  // Adds the first N rows, or all if there are fewer: all of them or, after a failure, none; then no empty file or
  // directory stays behind.
  Status append(const Stamp& stamp, std::span<const Column> columns, std::int64_t rows = kAllRows);
  // Adds all rows; `numbers` has the row number in the batch for each.
  Status append(const Stamp& stamp, std::span<const Column> columns, std::span<const std::int64_t> numbers);

  // Of the current file.
  const std::string& path() const { return current_.empty() ? path_ : current_; }

 private:
  Result<base::AppendFile> next_file();  // the next free name
  void remove_made_directories();        // if they are empty
  Result<base::AppendFile> open(const std::string& header);
  Status write(const std::string& header, const std::string& rows);
  Status write_counted(const Stamp& stamp, const render::Table& table, std::span<const std::int64_t> numbers);

  std::string path_;
  Tally& tally_;
  std::string current_;  // path of the current file
  std::string header_;   // of the current file, if it has one
  int number_ = 0;       // of the next file
  std::string made_;     // the topmost directory that this object created; empty: none
};

}  // namespace sonde::sinks
