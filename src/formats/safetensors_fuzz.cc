#include <cstdlib>

#include "formats/safetensors.h"

// What parses must be encoded and parsed to the same again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  const auto first = safetensors::parse(std::as_bytes(std::span(data, size)));
  if (!first) return 0;
  std::vector<safetensors::NamedView> tensors;
  for (const safetensors::Entry& entry : first->tensors) tensors.push_back({entry.name, entry.view()});
  const auto file = safetensors::encode(tensors, first->metadata);
  if (!file) std::abort();
  const auto second = safetensors::parse(base::as_bytes(*file));
  if (!second || second->tensors.size() != first->tensors.size() || second->metadata != first->metadata) std::abort();
  return 0;
}
