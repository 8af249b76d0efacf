#include <cstdlib>

#include "formats/capture_json.h"

// Decoded data must round-trip.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  const auto first = capture_json::decode({reinterpret_cast<const char*>(data), size});
  if (!first) return 0;
  const std::string json = capture_json::encode(*first, {});
  const auto second = capture_json::decode(json);
  if (!second || capture_json::encode(*second, {}) != json) std::abort();
  return 0;
}
