// What OpenVINO's own files say about their layers.
#include <array>
#include <unordered_map>

#include "base/file.h"
#include "base/input_file.h"
#include "formats/openvino_ir.h"
#include "inspect/describe.h"

namespace sonde::inspect {
namespace {

struct Precision {
  std::string_view name;
  DType dtype;
};
constexpr std::array<Precision, 15> kPrecisions = {{{"BOOL", DType::boolean},
                                                    {"I8", DType::i8},
                                                    {"I16", DType::i16},
                                                    {"I32", DType::i32},
                                                    {"I64", DType::i64},
                                                    {"U8", DType::u8},
                                                    {"U16", DType::u16},
                                                    {"U32", DType::u32},
                                                    {"U64", DType::u64},
                                                    {"F8E4M3", DType::f8_e4m3},
                                                    {"F8E5M2", DType::f8_e5m2},
                                                    {"FP16", DType::f16},
                                                    {"BF16", DType::bf16},
                                                    {"FP32", DType::f32},
                                                    {"FP64", DType::f64}}};

Value value_of(const openvino_ir::Layer& layer, std::size_t output) {
  const openvino_ir::Port& port = layer.outputs[output];
  Value value;
  // A tensor without a name has that of its operation; of several outputs with the number of the port.
  value.name = !port.names.empty()         ? port.names.front()
               : layer.outputs.size() == 1 ? layer.name
                                           : layer.name + "." + std::to_string(output);
  value.type = port.precision;
  for (const Precision& each : kPrecisions) {
    if (each.name != port.precision) continue;
    value.dtype = each.dtype;
    value.type = to_string(each.dtype);
  }
  if (port.dims.size() <= kMaxRank) value.shape = Shape(port.dims);
  return value;
}

Description describe(const openvino_ir::Model& model) {
  Description made;
  made.format = "openvino";
  std::unordered_map<std::string, Value> values;  // by "layer:port"
  std::unordered_map<std::string, std::vector<std::string>> reads;
  std::unordered_map<std::string, std::int64_t> parameters;
  std::unordered_map<std::string, std::string> types;
  for (const openvino_ir::Layer& layer : model.layers) {
    types.emplace(layer.id, layer.type);
    for (std::size_t i = 0; i < layer.outputs.size(); ++i) {
      values.emplace(layer.id + ":" + layer.outputs[i].id, value_of(layer, i));
    }
  }
  for (const openvino_ir::Edge& edge : model.edges) {
    const auto value = values.find(edge.from_layer + ":" + edge.from_port);
    if (value == values.end()) continue;
    reads[edge.to_layer].push_back(value->second.name);
    const bool trained =
        types[edge.from_layer] == "Const" && value->second.dtype != DType::i64 && value->second.dtype != DType::boolean;
    if (trained && value->second.shape) parameters[edge.to_layer] += element_count(*value->second.shape);
    if (types[edge.to_layer] == "Result") made.outputs.push_back(value->second);
  }
  for (const openvino_ir::Layer& layer : model.layers) {
    for (std::size_t i = 0; i < layer.outputs.size(); ++i) {
      const Value value = value_of(layer, i);
      if (layer.type == "Parameter") made.inputs.push_back(value);
      if (layer.type == "Parameter" || layer.type == "Const" || layer.type == "Result") continue;
      Layer& added = made.layers.emplace_back();
      added.index = static_cast<std::int64_t>(made.layers.size()) - 1;
      added.value = value;
      added.node = layer.name;
      added.op = layer.type;
      added.inputs = reads[layer.id];
      added.parameters = i == 0 ? parameters[layer.id] : 0;
    }
  }
  return made;
}

}  // namespace

Result<Description> describe_ir(const std::string& path, const OpenOptions& /*options*/) {
  const Result<std::string> text = base::read_file(path);
  if (!text) return text.error();
  const Result<openvino_ir::Model> model = openvino_ir::decode(*text);
  if (!model) {
    return Status(model.error().code(), "'" + path + "' is not a model of OpenVINO: " + model.error().message());
  }
  const std::string weights = path.substr(0, path.rfind('.')) + ".bin";
  if (!base::file_state(weights)) {
    return Status(Code::not_found, "the weights of '" + path + "' are missing: put '" + weights + "' beside it");
  }
  Description made = describe(*model);
  made.path = path;
  return made;
}

}  // namespace sonde::inspect
