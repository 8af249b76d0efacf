#include "index/run_files.h"

#include <string_view>

namespace sonde::index {

std::vector<RunFile> run_files(const Directory& directory) {
  std::vector<RunFile> files;
  for (const DirectoryEntry& entry : directory.entries) {
    if (entry.type != DirectoryEntry::Type::file) continue;
    if (entry.name.find("tfevents") != std::string::npos) {
      files.push_back({entry.name, SourceFile::Type::events});
    } else if (entry.name.starts_with("stats.") && entry.name.ends_with(".tfrecord")) {
      files.push_back({entry.name, SourceFile::Type::statistics});
    }
  }
  return files;
}

}  // namespace sonde::index
