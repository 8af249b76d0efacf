// OpenVINO IR: the XML file that describes a model; its weights are in a .bin file beside it, which is not read here.
//
//   <net><layers>
//     <layer id="2" name="conv_1" type="Convolution"><data .../><input>...</input>
//       <output><port id="2" precision="FP32" names="conv_1"><dim>-1</dim><dim>8</dim></port></output></layer>
//     <layer type="Const"><data element_type="f32" shape="8, 3" .../>...</layer>
//   </layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/></edges></net>
//
// Layers are in the order of execution. Graphs inside of layers (loops, branches) are skipped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/status.h"

namespace sonde::openvino_ir {

struct Port {
  std::string id;
  std::string precision;           // "FP32", "I64"
  std::vector<std::string> names;  // of the tensor; may be empty
  std::vector<std::int64_t> dims;  // -1: the input decides
};

struct Layer {
  std::string id;
  std::string name;
  std::string type;  // "Parameter", "Const", "Result", "Convolution"
  std::vector<Port> outputs;
};

struct Edge {
  std::string from_layer;
  std::string from_port;
  std::string to_layer;
};

struct Model {
  std::vector<Layer> layers;
  std::vector<Edge> edges;
};

// `corrupt` with the reason if the text is not such a file.
Result<Model> decode(std::string_view xml);

}  // namespace sonde::openvino_ir
