// A large file that takes its place as a whole; write_file (base/file.h) is for what fits into memory.
#pragma once

#include <string>
#include <string_view>

#include "base/file.h"
#include "sonde/status.h"

namespace sonde {

// Waits until the names in this directory are on the disk: what was made, renamed or removed there.
Status sync_directory(const std::string& path);

// Written aside in pieces, then renamed: a reader of `path` sees the old file or the new one, never a part. Without a
// commit, the old one stays and what was written is removed. Not safe for several threads at once.
class ReplaceFile {
 public:
  // Refuses a path where something other than a regular file is, such as a device, which renaming would replace.
  static Result<ReplaceFile> create(const std::string& path);

  ReplaceFile(ReplaceFile&& other) noexcept;
  ReplaceFile& operator=(ReplaceFile&&) = delete;
  ~ReplaceFile();

  Status append(std::string_view bytes) { return aside_.append(bytes); }
  // Puts it in place. Nothing can be appended afterwards.
  Status commit();
  // The same, and safe on the disk when it returns, whatever happens to the machine then: the file is synced before it
  // is renamed, and the directory afterwards.
  Status commit_synced();

 private:
  ReplaceFile(AppendFile aside, std::string path) noexcept : aside_(std::move(aside)), path_(std::move(path)) {}

  AppendFile aside_;
  std::string path_;
  bool pending_ = true;  // there is something to remove
};

}  // namespace sonde
