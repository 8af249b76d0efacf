// What is in a directory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_file.h"
#include "sonde/status.h"

namespace sonde {

struct DirectoryEntry {
  enum class Type : std::uint8_t { file, directory, other };
  std::string name;
  Type type = Type::other;  // of what a symbolic link points to; `other` where it points nowhere
  bool link = false;
};

struct Directory {
  FileState state;                      // of the directory itself: its inode tells when links lead in circles
  std::vector<DirectoryEntry> entries;  // by name, without "." and ".."
  std::vector<DirectoryEntry> outside;  // links out of `within`: they are not among the entries
};
// Where `within` names a directory, fails with Code::unsupported if links lead out of that.
Result<Directory> read_directory(const std::string& path, const std::string& within = {});

// The path without symbolic links and dots.
Result<std::string> real_path(const std::string& path);
// Whether a path is that of a directory, or of something in it; both are without links and dots.
bool is_inside(std::string_view path, std::string_view directory) noexcept;
// Whether what was opened under this path lies in a directory, wherever links may have led: Code::unsupported where it
// does not. It is asked of the descriptor, so that nobody can put a link there between the question and the opening.
Status check_inside(int fd, const std::string& path, const std::string& within);

// Where programs may keep what they can make again: $XDG_CACHE_HOME, or .cache in the home directory. Fails where
// neither is known.
Result<std::string> user_cache_directory();

// Makes it, with all parents, for this user alone; one that is there stays as it is.
Status make_private_directory(const std::string& path);

// Where something is there already the code is `exhausted`. Its parent must be there.
Status make_new_directory(const std::string& path);
// Moves a file, a link or a directory to a path where nothing is, on the same file system.
Status move_entry(const std::string& from, const std::string& to);
// Fails where something is in it.
Status remove_empty_directory(const std::string& path);
// Removes a directory and those above it, up to and with `top`, as far as they are empty.
void remove_empty_directories(const std::string& path, const std::string& top);

// Makes it look as if it was changed just now, where that is possible.
void touch_file(const std::string& path) noexcept;
// No error where there is no such file.
Status remove_file(const std::string& path);

}  // namespace sonde
