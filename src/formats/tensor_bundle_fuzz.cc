// Any bytes as the index of a checkpoint.
#include "formats/tensor_bundle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sonde::base::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto bundle = sonde::formats::tf::decode_tensor_bundle(bytes);
  if (!bundle) return 0;
  for (const auto& entry : bundle->entries) {
    const auto* found = bundle->find(entry.key);
    if (found == nullptr || found->key != entry.key) __builtin_trap();
  }
  return 0;
}
