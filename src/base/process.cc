#include "base/process.h"

#include <sched.h>
#include <unistd.h>

#include <climits>

#include "base/directory.h"

namespace sonde::base {

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  std::string result(name);
  result.resize(result.size() < 64 ? result.size() : 64);
  for (char& c : result) {
    if (c == '/') c = '-';
  }
  return result;
}

std::uint64_t process_id() noexcept { return static_cast<std::uint64_t>(::getpid()); }

int processor_count() noexcept {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return CPU_COUNT(&allowed) > 0 ? CPU_COUNT(&allowed) : 1;
}

std::vector<std::string> open_files(std::uint64_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  const Result<Directory> descriptors = read_directory(folder);
  std::vector<std::string> paths;
  if (!descriptors) return paths;
  for (const DirectoryEntry& entry : descriptors->entries) {
    std::string path(PATH_MAX, '\0');
    const ssize_t size = ::readlink((folder + "/" + entry.name).c_str(), path.data(), path.size());
    if (size <= 0) continue;  // closed since
    path.resize(static_cast<std::size_t>(size));
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace sonde::base
