// A CSV table that grows: a sample of the validation outputs, say, every few epochs.
//
//   step,wall_time,row,label,output[0],output[1]
//   100,1763267295.5,0,7,0.02,0.98
//   100,1763267295.5,1,3,0.711,0.0012
//
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

// Calls come from the backend thread.
class TableFile {
 public:
  using Column = render::Column;
  static constexpr std::int64_t kAllRows = -1;

  // "x.csv" and, where that is taken or the columns change, "x.1.csv", "x.2.csv" ...: no table is ever continued with
  // other columns. Nothing is made before the first rows; then the directory too, where it is not there.
  TableFile(std::string path, Tally& tally) : path_(std::move(path)), tally_(tally) {}

  // Adds the first so many rows, or all where there are fewer: as a whole or, where that fails, none of them.
  Status append(const Stamp& stamp, std::span<const Column> columns, std::int64_t rows = kAllRows);

  // Of the file that is written now.
  std::string path() const { return file_ ? file_->path() : path_; }

 private:
  Status open();  // the next one that is free
  Status write(const std::string& header, const std::string& rows);

  std::string path_;
  Tally& tally_;
  std::optional<AppendFile> file_;
  std::string header_;  // of file_, as far as it has one
  int number_ = 0;      // of the next file
};

}  // namespace sonde::sinks
