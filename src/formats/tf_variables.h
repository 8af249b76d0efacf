// Under which keys of the checkpoint (formats/tensor_bundle.h) the variables of a TensorFlow graph are stored.
#pragma once

#include <string_view>
#include <unordered_map>

#include "formats/tf_graph.h"

namespace sonde::formats::tf {

// Node of the main graph -> key. They come from the operations with which the graph restores itself: RestoreV2, whose
// outputs are assigned to variables, in the main graph (TensorFlow 1) or in a function that it calls (TensorFlow 2).
std::unordered_map<std::string_view, std::string_view> variable_keys(const GraphDef& graph);

}  // namespace sonde::formats::tf
