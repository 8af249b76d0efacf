#include "index/run_files.h"

#include "formats/run_layout.h"

namespace sonde::index {

std::optional<SourceFile::Type> type_of_file(std::string_view name) noexcept {
  if (run_layout::is_event_file(name)) return SourceFile::Type::events;
  if (run_layout::is_statistics_file(name)) return SourceFile::Type::statistics;
  return std::nullopt;
}

bool is_read(std::string_view name) noexcept {
  return type_of_file(name) || name == run_layout::kNote || name == run_layout::kCaptureFile ||
         run_layout::is_ring(name);
}

std::vector<RunFile> run_files(const base::Directory& directory) {
  std::vector<RunFile> files;
  for (const base::DirectoryEntry& entry : directory.entries) {
    if (entry.type != base::DirectoryEntry::Type::file) continue;
    if (const auto type = type_of_file(entry.name)) files.push_back({entry.name, *type});
  }
  return files;
}

}  // namespace sonde::index
