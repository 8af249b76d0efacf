// Any bytes as a TFLite model.
#include "formats/tflite.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sonde::base::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto model = sonde::formats::tflite::decode_tflite(bytes);
  if (!model) return 0;
  for (const auto& graph : model->subgraphs) {
    for (const auto& each : graph.operators) {
      for (const std::int64_t output : each.outputs) {
        if (output < 0 || static_cast<std::size_t>(output) >= graph.tensors.size()) __builtin_trap();
      }
    }
    for (const auto& tensor : graph.tensors) {
      if (!tensor.data.empty() && (tensor.data.data() < bytes.data() || tensor.data.size() > size)) __builtin_trap();
    }
  }
  return 0;
}
