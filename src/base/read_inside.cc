#include "base/read_inside.h"

#include "base/directory.h"
#include "base/file.h"
#include "base/input_file.h"

namespace sonde::base {

Result<std::string> read_inside(const std::string& directory, const std::string& path, std::size_t most) {
  const Result<std::string> top = real_path(directory);
  if (!top) return top.error();
  const Result<std::string> real = real_path(path.starts_with('/') ? path : join_path(*top, path));
  if (!real) return real.error();
  if (!is_inside(*real, *top)) {
    return Status{Code::unsupported,
                  "'" + path + "' is outside of the directory '" + directory + "', and is therefore not read"};
  }
  const Result<InputFile> file = InputFile::open(*real, *top);
  if (!file) return file.error();
  return file->read_up_to(most);
}

}  // namespace sonde::base
