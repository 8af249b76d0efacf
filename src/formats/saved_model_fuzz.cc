// Any bytes as a SavedModel and as a GraphDef, up to the flat graph of each signature.
#include "formats/saved_model.h"
#include "formats/tf_flat_graph.h"
#include "formats/tf_op_outputs.h"

namespace {

namespace tf = sonde::formats::tf;

// A constant of a few bytes may stand for a large one; that is tested elsewhere.
constexpr std::int64_t kMostElements = 1 << 16;

void read(const sonde::Result<tf::FlatGraph>& graph) {
  if (!graph) return;
  for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
    const tf::FlatNode& node = graph->nodes[i];
    for (const tf::FlatTensor& input : node.inputs) {
      if (input.node >= graph->nodes.size()) __builtin_trap();
    }
    if (node.name.empty() && !node.definition->name.empty()) __builtin_trap();
    static_cast<void>(tf::output_types(*node.definition));
    static_cast<void>(tf::output_shapes(*node.definition));
    const auto tensor = tf::tensor_attribute(*node.definition, "value");
    if (!tensor || tf::element_count(tensor->shape).value_or(0) > kMostElements) continue;
    std::string storage;
    static_cast<void>(tf::tensor_bytes(*tensor, storage));
    static_cast<void>(tf::tensor_strings(*tensor));
  }
  for (const auto* ports : {&graph->inputs, &graph->outputs}) {
    for (const tf::FlatGraph::Port& port : *ports) {
      if (port.tensor.node >= graph->nodes.size()) __builtin_trap();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sonde::base::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  if (const auto graph = tf::decode_graph(bytes)) read(tf::flatten(*graph));
  const auto model = tf::decode_saved_model(bytes);
  if (!model) return 0;
  for (const tf::MetaGraph& graph : model->graphs) {
    for (const tf::Signature& signature : graph.signatures) read(tf::flatten(graph.graph, signature));
  }
  return 0;
}
