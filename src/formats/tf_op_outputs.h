// The outputs of TensorFlow's operations. A graph names them by index, the body of a function by name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/tf_graph.h"

namespace sonde::formats::tf {

// "values:T indices:index_type=3": a name and a type for each output. A type is a number (formats/tf_dtype.h) or the
// name of an attribute, with its default. "output:T*num_split" is several outputs, their number in an attribute;
// "output:@Tout" is one for each type of a list.
struct OpOutputs {
  std::string_view op;
  std::string_view outputs;
};
// By name. Operations that are not in it have one output, of the type that attribute `T` names.
std::span<const OpOutputs> op_outputs() noexcept;

// The types of all outputs of a node, 0 where it is not known.
std::vector<int> output_types(const NodeDef& node);
// The index among all outputs of a node of what "node:output:index" names; none if there is no such output.
std::optional<std::int64_t> output_index(const NodeDef& node, std::string_view output, std::int64_t index);

}  // namespace sonde::formats::tf
