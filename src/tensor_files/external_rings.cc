#include "tensor_files/external_rings.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/directory.h"
#include "base/file.h"
#include "base/input_file.h"
#include "base/process.h"

namespace sonde::tensor_files {
namespace {

constexpr std::string_view kBegin = "flight-";
constexpr std::string_view kEnd = ".elsewhere";
constexpr std::size_t kLargest = std::size_t{1} << 20;

std::optional<std::string> own_text(const std::string& path) {
  const Result<InputFile> file = InputFile::open(path);
  if (!file) return std::nullopt;
  const Result<bool> own = file->belongs_to_user();
  if (!own || !*own) return std::nullopt;
  Result<std::string> text = file->read_up_to(kLargest);
  return text ? std::optional(*std::move(text)) : std::nullopt;
}

// Another machine may have another disk at the same path.
bool is_of_this_host(std::string_view ring) {
  return ring.substr(ring.rfind('/') + 1).starts_with(std::string(kBegin) + host_name() + "-");
}

}  // namespace

bool names_external_rings(std::string_view file_name) noexcept {
  return file_name.starts_with(kBegin) && file_name.ends_with(kEnd);
}

Status note_external_rings(const std::string& run_directory, const std::string& writer,
                           std::span<const std::string> rings) {
  const std::string path = join_path(run_directory, std::string(kBegin) + writer + std::string(kEnd));
  if (rings.empty()) return remove_file(path);
  std::string text;
  for (const std::string& ring : rings) text += ring + "\n";
  return write_file(path, text);
}

std::vector<std::string> external_rings(const std::string& run_directory) {
  std::vector<std::string> found;
  const Result<Directory> run = read_directory(run_directory);
  if (!run) return found;
  for (const DirectoryEntry& entry : run->entries) {
    if (entry.link || !names_external_rings(entry.name)) continue;
    const std::string path = join_path(run_directory, entry.name);
    const std::optional<std::string> text = own_text(path);
    if (!text) continue;
    bool needed = false;
    std::istringstream lines(*text);
    for (std::string ring; std::getline(lines, ring);) {
      const bool there = ring.starts_with('/') && ring.ends_with(".ring") && file_state(ring).ok();
      if (there) found.push_back(ring);
      needed |= there || !is_of_this_host(ring);
    }
    // It is written when its ring is there, and removed after that.
    if (!needed) (void)remove_file(path);
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

}  // namespace sonde::tensor_files
