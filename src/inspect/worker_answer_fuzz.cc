// No line of a worker process, however broken, does more than give an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inspect/worker_answer.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto answer = sonde::inspect::parse_worker_answer(std::string_view(reinterpret_cast<const char*>(data), size));
  if (answer && answer->description) {
    for (const auto& layer : answer->description->layers) {
      if (layer.value.shape && !layer.value.shape->valid()) __builtin_trap();
    }
  }
  return 0;
}
