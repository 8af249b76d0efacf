// For tests: a directory that is removed with its object, and a listing of one.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/directory.h"
#include "base/file.h"

namespace sonde::base {

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "sonde-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return join_path(path_, name); }

 private:
  std::string path_;
};

// The names in a directory, sorted; empty if there is none.
inline std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> found;
  const auto directory = read_directory(path);
  if (directory) {
    for (const DirectoryEntry& entry : directory->entries) found.push_back(entry.name);
  }
  return found;
}

}  // namespace sonde::base
