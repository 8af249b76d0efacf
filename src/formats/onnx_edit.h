// New ONNX models from an existing one, made from its bytes: what is not edited stays as it is, byte for byte.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "formats/onnx.h"
#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::onnx {

// The type and shape of a value, for where the file does not say.
struct TypedValue {
  std::string_view name;
  std::int32_t type = 0;       // type_number
  std::optional<Shape> shape;  // -1: any size; none: not even the rank is known
};

// A copy of the model whose outputs are these values, in this order. `types` has those whose type the file does not
// say. `file` is what `model` was decoded from. `not_found` if a value has no type or is none of the model's.
Result<std::string> with_outputs(base::Bytes file, const Model& model, std::span<const std::string> outputs,
                                 std::span<const TypedValue> types);

// A copy of the model without some nodes, by their index, whose outputs are these values. Their types are those that
// the file says, or none.
std::string without_nodes(base::Bytes file, const Model& model, std::span<const std::size_t> nodes,
                          std::span<const std::string_view> outputs);

// A copy of the model in which initializers of more than `largest` bytes, and those in other files, are inputs of their
// type and shape: small, and enough to infer the types of all values.
std::string without_weights(base::Bytes file, const Model& model, std::size_t largest);

// Gives the bytes of a tensor that is in another file; they stay valid until the call that asks returns.
using ReadExternal = std::function<Result<base::Bytes>(const External&)>;

// A model of these nodes alone, each computed from values that are given instead of from each other: initializers that
// the nodes read are part of it, everything else they read is an input of the type that `inputs` says. The outputs are
// called as in the model, with `suffix` behind it; with an empty one no node may read what another gives.
Result<std::string> nodes_model(const Model& model, std::span<const std::size_t> nodes,
                                std::span<const TypedValue> inputs, std::string_view suffix,
                                const ReadExternal& read_external);

}  // namespace sonde::onnx
