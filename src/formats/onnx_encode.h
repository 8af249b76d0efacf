// Parts of ONNX messages, for the models that onnx_edit and onnx_cut make; see onnx.h for their fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/onnx.h"
#include "sonde/tensor.h"

namespace sonde::onnx {

// A ValueInfoProto. `type` is a type_number, 0: nothing is said but the name. In a shape -1 is any size.
std::string encode_value(std::string_view name, std::int32_t type = 0, const std::optional<Shape>& shape = {});

// A ModelProto with this GraphProto, and with the version, the operator sets and the functions of another model.
std::string encode_model(const Model& model, std::string_view graph);

}  // namespace sonde::onnx
