#include "base/process.h"

#include <sched.h>
#include <unistd.h>

namespace sonde {

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

}  // namespace sonde
