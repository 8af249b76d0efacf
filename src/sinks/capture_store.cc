#include "sinks/capture_store.h"

#include "tensor_files/capture_files.h"

namespace sonde::sinks {

Status CaptureStore::write(const Stamp&, std::span<const Value> values) {
  Status first;
  for (const Value& value : values) {
    const auto* capture = std::get_if<CaptureValue>(&value);
    if (capture == nullptr) continue;
    Result<std::string> path = Status(Code::exhausted, "out of memory");  // short enough to need none
    try {
      path = tensor_files::write_capture(run_directory_, *capture->info, *capture->next);
    } catch (...) {  // NOLINT(bugprone-empty-catch): as it says already
    }
    if (path) {
      path_ = *std::move(path);
      continue;
    }
    if (path.error().code() == Code::exhausted) tally_.out_of_memory.fetch_add(1, std::memory_order_relaxed);
    tally_.write_errors.fetch_add(1, std::memory_order_relaxed);
    tally_.lost_records.fetch_add(1, std::memory_order_relaxed);
    if (first.ok()) first = path.error();
  }
  return first;
}

}  // namespace sonde::sinks
