#include "base/temporary_file.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "base/directory.h"
#include "base/file.h"

namespace sonde::base {

std::string temporary_path(std::string_view ending) {
  static std::atomic<unsigned> number{0};
  const char* directory = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): nobody in the library changes it
  return join_path(directory != nullptr && *directory != '\0' ? directory : "/tmp",
                   "sonde-" + std::to_string(::getpid()) + "-" + std::to_string(number++) + "-" + std::string(ending));
}

Result<TemporaryFile> TemporaryFile::create(std::string_view ending, std::string_view content) {
  TemporaryFile file(temporary_path(ending));
  Result<AppendFile> created = AppendFile::create(file.path_);
  if (!created) {
    file.path_.clear();  // it belongs to somebody else
    return created.error();
  }
  if (Status status = created->append(content); !status) return status;
  if (Status status = created->close(); !status) return status;
  return file;
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) (void)remove_file(path_);
}

}  // namespace sonde::base
