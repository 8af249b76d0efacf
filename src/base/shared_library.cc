#include "base/shared_library.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include "base/directory.h"

namespace sonde::base {

Result<SharedLibrary> SharedLibrary::open(const std::string& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return Status(Code::not_found, reason != nullptr ? reason : "cannot load '" + path + "'");
  }
  return SharedLibrary(handle, path);
}

Result<void*> SharedLibrary::find(const char* name) const {
  if (void* found = ::dlsym(handle_, name); found != nullptr) return found;
  return Status(Code::not_found, "'" + path_ + "' has no function " + name);
}

std::string directory_of_this_code() {
  Dl_info info{};
  link_map* map = nullptr;
  // The loader knows the program itself by an empty name.
  const auto address = reinterpret_cast<const void*>(&directory_of_this_code);
  std::string path = "/proc/self/exe";
  if (::dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 && map != nullptr &&
      map->l_name != nullptr && *map->l_name != '\0') {
    path = map->l_name;
  }
  const Result<std::string> real = real_path(path);
  return real ? real->substr(0, real->rfind('/')) : "";
}

}  // namespace sonde::base
