// A model is decoded, and edited if it is one.
#include "formats/onnx.h"
#include "formats/onnx_edit.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sonde::base::Bytes file(reinterpret_cast<const std::byte*>(data), size);
  const auto model = sonde::onnx::decode(file);
  if (!model) return 0;
  std::vector<std::string> outputs;
  std::vector<std::size_t> nodes;
  std::vector<sonde::onnx::TypedValue> types;
  for (const sonde::onnx::Node& node : model->graph.nodes) {
    nodes.push_back(nodes.size());
    static_cast<void>(sonde::onnx::module_path(node));
    for (const std::string_view output : node.outputs) {
      if (output.empty()) continue;
      outputs.emplace_back(output);
      types.push_back({output, 1, sonde::Shape{-1, 2}});
    }
  }
  const auto tapped = sonde::onnx::with_outputs(file, *model, outputs, types);
  if (tapped && !sonde::onnx::decode(sonde::base::as_bytes(*tapped))) __builtin_trap();  // an edited model is a model
  const auto read = [](const sonde::onnx::External&) -> sonde::Result<sonde::base::Bytes> {
    return sonde::base::Bytes();
  };
  static_cast<void>(sonde::onnx::nodes_model(*model, nodes, types, "/again", read));
  std::vector<std::string_view> names(outputs.begin(), outputs.end());
  static_cast<void>(sonde::onnx::without_nodes(file, *model, nodes, names));
  static_cast<void>(sonde::onnx::without_weights(file, *model, 8));
  return 0;
}
