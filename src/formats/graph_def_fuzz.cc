// Any bytes as a GraphDef, as nodes and as text.
#include <algorithm>

#include "formats/graph_def.h"
#include "formats/graph_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sonde::base::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto nodes = sonde::formats::decode_graph_def(bytes);
  const auto text = sonde::formats::graph_def_text(bytes);
  if (text && !std::ranges::all_of(text->text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); })) {
    __builtin_trap();  // everything else is written with escapes
  }
  std::size_t total = 0;
  if (nodes) {
    for (const auto& node : *nodes) total += node.name.size() + node.inputs.size() + node.attributes.size();
  }
  return total > size ? __builtin_trap(), 1 : 0;  // everything found takes bytes
}
