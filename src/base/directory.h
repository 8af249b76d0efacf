// The entries of a directory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_file.h"
#include "sonde/status.h"

namespace sonde::base {

struct DirectoryEntry {
  enum class Type : std::uint8_t { file, directory, other };
  std::string name;
  Type type = Type::other;  // of the target of a symbolic link; `other` if there is none
  bool link = false;
};

struct Directory {
  FileState state;                      // of the directory itself: its inode reveals links that form a circle
  std::vector<DirectoryEntry> entries;  // by name, without "." and ".."
  std::vector<DirectoryEntry> outside;  // links out of `within`: they are not among the entries
};
// If `within` names a directory, fails with Code::unsupported if links lead out of it.
Result<Directory> read_directory(const std::string& path, const std::string& within = {});

// The path without symbolic links and dots.
Result<std::string> real_path(const std::string& path);
// Whether a path is a directory, or something in it; both without links and dots.
bool is_inside(std::string_view path, std::string_view directory) noexcept;
// Checks that the file opened under this path is inside a directory, wherever links may have led; otherwise
// Code::unsupported. It checks the descriptor, so that nobody can swap in a link between the check and the open.
Status check_inside(int fd, const std::string& path, const std::string& within);

// Where programs may keep data that they can create again: $XDG_CACHE_HOME, or .cache in the home directory. Fails if
// neither is known.
Result<std::string> user_cache_directory();

// Creates it, with all parents, for this user only; an existing one stays as it is.
Status make_private_directory(const std::string& path);

// If something exists there already, the code is `exhausted`. The parent must exist.
Status make_new_directory(const std::string& path);
// Moves a file, a link or a directory to a free path on the same file system.
Status move_entry(const std::string& from, const std::string& to);
// Fails if it is not empty.
Status remove_empty_directory(const std::string& path);
// Removes a directory and those above it, up to and including `top`, as long as they are empty.
void remove_empty_directories(const std::string& path, const std::string& top);

// Sets its modification time to now, if possible.
void touch_file(const std::string& path) noexcept;
// A missing file is not an error.
Status remove_file(const std::string& path);

}  // namespace sonde::base
