// A copy of a log directory in which every record is intact.
#pragma once

#include <string>

#include "base/input_file.h"
#include "sonde/status.h"
#include "verify.h"

namespace sonde::cli {

// Written to a temporary folder that is renamed at the end.
class CleanCopy {
 public:
  // Fails if OUT is not empty, or is inside `source`.
  static Status check_target(const std::string& source, const std::string& out);

  // `source` is a directory, or a single file that becomes the file `out`.
  CleanCopy(std::string out, bool single_file);
  CleanCopy(const CleanCopy&) = delete;
  CleanCopy& operator=(const CleanCopy&) = delete;
  // Removes unfinished output.
  ~CleanCopy();

  // A file of records: copies its intact ones, byte for byte, in order.
  Status add_records(const TreeFile& file, const base::InputFile& content, const Verdict& verdict);
  // Copies any other file. If it cannot be read it is left out, and `problem` says why.
  Status add_file(const TreeFile& file, std::string& problem);
  Status finish();

 private:
  // Where the file is written until finish() renames everything; creates its folder.
  Result<std::string> place(const TreeFile& file) const;

  std::string out_;
  std::string temporary_;
  bool single_file_;
  bool finished_ = false;
};

}  // namespace sonde::cli
