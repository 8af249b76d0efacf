// A file that is replaced as a whole, written in pieces; write_file (base/file.h) does it in one.
#pragma once

#include <string>
#include <string_view>

#include "base/file.h"
#include "sonde/status.h"

namespace sonde::base {

// Waits until the names in this directory are on the disk: what was created, renamed or removed there.
Status sync_directory(const std::string& path);

// Writes a temporary file next to it, then renames it: a reader of `path` sees the old file or the new one, never a
// part. Without a commit, the old one stays and the temporary file is removed. Errors name `path`. Not safe for several
// threads at once.
class ReplaceFile {
 public:
  // Rejects a path with something other than a regular file, such as a device, which renaming would replace.
  static Result<ReplaceFile> create(const std::string& path);

  ReplaceFile(ReplaceFile&& other) noexcept;
  ReplaceFile& operator=(ReplaceFile&&) = delete;
  ~ReplaceFile();

  Status append(std::string_view bytes) { return temporary_.append(bytes); }
  // Renames it into place. Nothing can be appended afterwards.
  Status commit();
  // The same, and on the disk when it returns: the file is synced before it is renamed, and the directory afterwards.
  Status commit_synced();

 private:
  ReplaceFile(AppendFile temporary, std::string path) noexcept
      : temporary_(std::move(temporary)), path_(std::move(path)) {}

  AppendFile temporary_;
  std::string path_;
  bool pending_ = true;  // there is something to remove
};

}  // namespace sonde::base
