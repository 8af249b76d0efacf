#include "record/disk_use.h"

#include "base/directory.h"
#include "base/file.h"
#include "formats/run_layout.h"

namespace sonde::record {

std::uint64_t bytes_below(const std::string& path, int depth) {
  constexpr int kDeepest = 16;
  const auto directory = base::read_directory(path);
  if (!directory || depth > kDeepest) return 0;
  std::uint64_t bytes = 0;
  for (const base::DirectoryEntry& entry : directory->entries) {
    if (entry.link || run_layout::is_ring(entry.name)) continue;  // the ring comes and goes with the process
    const std::string inside = base::join_path(path, entry.name);
    if (entry.type == base::DirectoryEntry::Type::directory) {
      bytes += bytes_below(inside, depth + 1);
    } else if (const auto state = base::file_state(inside)) {
      bytes += state->size;
    }
  }
  return bytes;
}

CheckpointUse::CheckpointUse(const std::string& run_directory)
    : directory_(base::join_path(run_directory, run_layout::kCheckpoints)) {}

void CheckpointUse::measure() { bytes_.store(bytes_below(directory_), std::memory_order_relaxed); }

}  // namespace sonde::record
