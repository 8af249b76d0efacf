// Which files make a directory a run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/directory.h"
#include "index/run_data.h"

namespace sonde::index {

// By its name, see formats/run_layout.h. Empty for files that are not read.
std::optional<SourceFile::Type> type_of_file(std::string_view name) noexcept;

// Whether anything in a file of that name is shown.
bool is_read(std::string_view name) noexcept;

struct RunFile {
  std::string name;
  SourceFile::Type type = SourceFile::Type::events;
};
// By name.
std::vector<RunFile> run_files(const base::Directory& directory);

}  // namespace sonde::index
