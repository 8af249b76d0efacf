#include "tensor_files/external_rings.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/directory.h"
#include "base/file.h"
#include "base/input_file.h"
#include "base/process.h"
#include "formats/run_layout.h"

namespace sonde::tensor_files {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 20;

std::optional<std::string> own_text(const std::string& path) {
  const Result<base::InputFile> file = base::InputFile::open(path);
  if (!file) return std::nullopt;
  const Result<bool> own = file->belongs_to_user();
  if (!own || !*own) return std::nullopt;
  Result<std::string> text = file->read_up_to(kLargest);
  return text ? std::optional(*std::move(text)) : std::nullopt;
}

// Another machine may have another disk at the same path.
bool is_of_this_host(std::string_view ring) {
  return run_layout::host_of_ring(ring.substr(ring.rfind('/') + 1)) == base::host_name();
}

}  // namespace

Status note_external_rings(const std::string& run_directory, const std::string& writer,
                           std::span<const std::string> rings) {
  const std::string path = base::join_path(run_directory, run_layout::external_rings_file(writer));
  if (rings.empty()) return base::remove_file(path);
  std::string text;
  for (const std::string& ring : rings) text += ring + "\n";
  return base::write_file(path, text);
}

std::vector<std::string> external_rings(const std::string& run_directory) {
  std::vector<std::string> found;
  const Result<base::Directory> run = base::read_directory(run_directory);
  if (!run) return found;
  for (const base::DirectoryEntry& entry : run->entries) {
    if (entry.link || !run_layout::is_external_rings_file(entry.name)) continue;
    const std::string path = base::join_path(run_directory, entry.name);
    const std::optional<std::string> text = own_text(path);
    if (!text) continue;
    bool needed = false;
    std::istringstream lines(*text);
    for (std::string ring; std::getline(lines, ring);) {
      const bool there = ring.starts_with('/') && ring.ends_with(run_layout::kRing) && base::file_state(ring).ok();
      if (there) found.push_back(ring);
      needed |= there || !is_of_this_host(ring);
    }
    // It is written when its ring exists, and removed after that.
    if (!needed) (void)base::remove_file(path);
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

}  // namespace sonde::tensor_files
