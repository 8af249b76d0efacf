// Libraries that are loaded while the program runs.
#pragma once

#include <string>

#include "sonde/status.h"

namespace sonde::base {

// A loaded library. It stays loaded until the process ends, since nobody knows which of its threads still run.
class SharedLibrary {
 public:
  // All symbols are resolved at once; none becomes visible to other libraries. The error is the loader's own sentence.
  static Result<SharedLibrary> open(const std::string& path);

  // The address of a function; `not_found` if the library has none of this name.
  Result<void*> find(const char* name) const;

 private:
  explicit SharedLibrary(void* handle, std::string path) noexcept : handle_(handle), path_(std::move(path)) {}
  void* handle_;
  std::string path_;
};

// The directory with the program or library that contains this code, without links; empty if the system does not know.
std::string directory_of_this_code();

}  // namespace sonde::base
