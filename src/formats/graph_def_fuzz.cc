// Any bytes as a GraphDef.
#include "formats/graph_def.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto nodes = sonde::decode_graph_def({reinterpret_cast<const std::byte*>(data), size});
  std::size_t total = 0;
  if (nodes) {
    for (const auto& node : *nodes) total += node.name.size() + node.inputs.size() + node.attributes.size();
  }
  return total > size ? __builtin_trap(), 1 : 0;  // everything found takes bytes
}
