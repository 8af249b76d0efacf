// A model that exists for a while, as a file, since runtimes read files.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "sonde/status.h"

namespace sonde::inspect {

// Removed with the object.
class TemporaryModel {
 public:
  // In the directory for temporary files, under a name that nobody else uses.
  static Result<TemporaryModel> create(std::string_view bytes, std::string_view extension = ".onnx");

  TemporaryModel(TemporaryModel&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryModel& operator=(TemporaryModel&&) = delete;
  ~TemporaryModel();

  const std::string& path() const noexcept { return path_; }

 private:
  explicit TemporaryModel(std::string path) noexcept : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace sonde::inspect
