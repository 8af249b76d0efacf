#include "query/captures.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/directory.h"
#include "base/file.h"
#include "base/input_file.h"
#include "base/numbered_directory.h"
#include "formats/capture_json.h"
#include "formats/run_layout.h"
#include "index/run_access.h"

namespace sonde::query {

std::vector<std::string> captures_of(const Run& run) {
  const index::RunIndex& known = index::RunAccess::index(run);
  const std::string parent = join_path(known.directory(), run_layout::kCaptures);
  std::vector<std::string> paths;
  const Result<Directory> listed = read_directory(parent, known.within());
  if (!listed) return paths;
  std::vector<std::pair<std::uint64_t, std::string>> numbered;
  for (const DirectoryEntry& entry : listed->entries) {
    const std::uint64_t number = leading_number(entry.name);
    if (number > 0 && entry.type == DirectoryEntry::Type::directory) numbered.emplace_back(number, entry.name);
  }
  std::ranges::sort(numbered);
  for (const auto& [number, name] : numbered) paths.push_back(join_path(parent, name));
  return paths;
}

Result<CaptureInfo> read_capture(const Run& run, const std::string& directory) {
  constexpr std::uint64_t kLargest = std::uint64_t{64} << 20;  // bytes
  const auto file =
      InputFile::open(join_path(directory, run_layout::kCaptureFile), index::RunAccess::index(run).within());
  if (!file) return file.error();
  const Result<FileState> state = file->state();
  if (!state) return state.error();
  const Result<std::string> json = file->read_up_to(static_cast<std::size_t>(std::min(state->size, kLargest)));
  if (!json) return json.error();
  return capture_json::decode(*json);
}

}  // namespace sonde::query
