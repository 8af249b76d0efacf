// A CSV table that grows: a sample of the validation outputs, say, every few epochs.
//
//   step,wall_time,row,label,output[0],output[1]
//   100,1763267295.5,0,7,0.02,0.98
//   100,1763267295.5,1,3,0.711,0.0012
//
// `row` is the row's number in the batch, also where only some of its rows are here.
// Fields are named as render/table.h says, numbers written as formats/csv.h does, lines end with LF.
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

// The file is open only while rows are added: descriptors belong to the program,
// which may have a thousand probes with a table each.
class TableFile {
 public:
  using Column = render::Column;
  static constexpr std::int64_t kAllRows = -1;

  // "x.csv" and, where that is taken or the columns change, "x.1.csv", "x.2.csv" ...: no table is ever continued with
  // other columns. Nothing is made before the first rows; then the directory too, where it is not there.
  TableFile(std::string path, Tally& tally) : path_(std::move(path)), tally_(tally) {}
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;

  // Adds the first so many rows, or all where there are fewer: as a whole or, where that fails, none of them; then no
  // empty file or directory stays behind.
  Status append(const Stamp& stamp, std::span<const Column> columns, std::int64_t rows = kAllRows);
  // Adds all rows, which are these of the batch: one number for each.
  Status append(const Stamp& stamp, std::span<const Column> columns, std::span<const std::int64_t> numbers);

  // Of the file that is written now.
  const std::string& path() const { return current_.empty() ? path_ : current_; }

 private:
  Result<AppendFile> next_file();  // that is free
  void remove_made_directories();  // where nothing is in them
  Result<AppendFile> open(const std::string& header);
  Status write(const std::string& header, const std::string& rows);
  Status write_counted(const Stamp& stamp, const render::Table& table, std::span<const std::int64_t> numbers);

  std::string path_;
  Tally& tally_;
  std::string current_;  // path of the file that is written now
  std::string header_;   // of it, as far as it has one
  int number_ = 0;       // of the next file
  std::string made_;     // the topmost directory that this has made; empty: none
};

}  // namespace sonde::sinks
