// Which files of a directory make it a run.
#pragma once

#include <string>
#include <vector>

#include "base/directory.h"
#include "index/run_data.h"

namespace sonde::index {

struct RunFile {
  std::string name;
  SourceFile::Type type = SourceFile::Type::events;
};
// By name: every file whose name contains "tfevents", as TensorBoard does it, and Sonde's statistics files.
std::vector<RunFile> run_files(const Directory& directory);

}  // namespace sonde::index
