#include <cstdlib>

#include "formats/npy.h"

// What decodes must be encoded and decoded to the same again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  const auto first = npy::decode(std::as_bytes(std::span(data, size)));
  if (!first) return 0;
  const auto file = npy::encode(first->view());
  if (!file) std::abort();
  const auto second = npy::decode(base::as_bytes(*file));
  if (!second || second->dtype != first->dtype || !(second->shape == first->shape) || second->data != first->data) {
    std::abort();
  }
  return 0;
}
