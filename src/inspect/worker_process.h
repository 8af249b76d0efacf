// The worker process: Python with the package sonde, in which runtimes run that have no C++ interface. One for each
// runtime; it lives as long as a model in it is open.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/child_process.h"
#include "inspect/worker_answer.h"
#include "sonde/status.h"

namespace sonde::inspect {

// Any thread; calls wait for each other.
class WorkerProcess {
 public:
  // The worker of this runtime: a running one, or a new one of $SONDE_PYTHON, or of python3.
  static Result<std::shared_ptr<WorkerProcess>> of_runtime(const std::string& runtime);

  // The bytes are valid during the call.
  using Take = std::function<Status(const WorkerAnswer&, std::span<const std::byte>)>;
  // Sends a request, with bytes after it, and calls `take` for each answer up to the one that ends it, which is
  // returned. An error of `take` is returned after all answers were read. `model` is named in errors.
  Result<WorkerAnswer> call(std::string_view model, std::string request, std::string_view bytes, const Take& take);
  Result<WorkerAnswer> call(std::string_view model, std::string request) {
    return call(model, std::move(request), {}, {});
  }

  const std::string& interpreter() const noexcept { return interpreter_; }

 private:
  WorkerProcess(std::unique_ptr<base::ChildProcess> child, std::string interpreter)
      : child_(std::move(child)), interpreter_(std::move(interpreter)) {}
  static Result<std::shared_ptr<WorkerProcess>> start();
  Status greet();
  Result<WorkerAnswer> read_answer();
  Status died(std::string_view model, const Status& how);

  std::mutex mutex_;  // guards the child
  std::unique_ptr<base::ChildProcess> child_;
  std::string interpreter_;  // as it was started; after its greeting, its own path
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t capacity_ = 0;
};

}  // namespace sonde::inspect
