// The structure of a TFLite model: a FlatBuffer of TensorFlow Lite's schema, version 3, with identifier "TFL3" at
// byte 4.
//
//   A table begins with the distance (i32, backwards) to its vtable: u16 bytes of the vtable, u16 bytes of the table,
//   and for each field the u16 distance from the table, 0 if it is absent. A reference is a u32 distance forwards; a
//   vector or a text begins with its u32 length. The first u32 of the file refers to the root:
//
//   Model           0 version, 1 operator_codes, 2 subgraphs, 3 description, 4 buffers, 7 signature_defs
//   OperatorCode    0 deprecated_builtin_code i8, 1 custom_code, 2 version, 3 builtin_code i32
//   SubGraph        0 tensors, 1 inputs [i32], 2 outputs [i32], 3 operators, 4 name
//   Tensor          0 shape [i32], 1 type u8, 2 buffer u32, 3 name, 4 quantization, 5 is_variable, 7 shape_signature
//   [i32] Quantization    2 scale [f32], 3 zero_point [i64], 6 quantized_dimension i32 Operator        0 opcode_index
//   u32, 1 inputs [i32], 2 outputs [i32]; an index of -1 is an input that is not given Buffer          0 data [u8], 1
//   offset u64, 2 size u64 (data behind the FlatBuffer) SignatureDef    0 inputs, 1 outputs (of TensorMap { 0 name, 1
//   tensor_index u32 }), 2 signature_key, 4 subgraph_index u32
//
// Every offset is checked against the file. Texts and data are views of its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::formats::tflite {

struct Quantization {
  std::vector<float> scales;
  std::vector<std::int64_t> zero_points;
  std::int64_t axis = 0;  // that the scales belong to, if they are several
};

struct Tensor {
  std::string_view name;
  int type = 0;
  std::vector<std::int64_t> shape;  // -1: the input decides
  base::Bytes data;                 // of a constant
  std::optional<Quantization> quantization;
  bool variable = false;
};

struct Operator {
  std::string op;                    // "CONV_2D"; the name of a custom operation as it stands
  std::vector<std::int64_t> inputs;  // indices of tensors, or -1
  std::vector<std::int64_t> outputs;
};

struct Subgraph {
  std::string_view name;
  std::vector<Tensor> tensors;
  std::vector<std::int64_t> inputs;
  std::vector<std::int64_t> outputs;
  std::vector<Operator> operators;  // in order of execution
};

struct Signature {
  std::string_view name;
  std::size_t subgraph = 0;
  std::vector<std::pair<std::string_view, std::int64_t>> inputs;  // name -> tensor
  std::vector<std::pair<std::string_view, std::int64_t>> outputs;
};

struct Model {
  std::string_view description;
  std::vector<Subgraph> subgraphs;  // at least one
  std::vector<Signature> signatures;
};
// Code::corrupt, with the reason, if it is not such a file or refers to something outside of it.
Result<Model> decode_tflite(base::Bytes file);

// "f32", "i8"; of types that Sonde lacks "string", "i4", "resource".
std::string type_text(int type);
std::optional<DType> dtype_of(int type) noexcept;

}  // namespace sonde::formats::tflite
