// A TensorFlow model as OpenVINO's frontend reads it: node by node, straight from the mapped files. Nothing is written
// to disk, and no constant is copied.
#pragma once

#include <memory>
#include <openvino/frontend/graph_iterator.hpp>
#include <string>
#include <vector>

#include "inspect/tensorflow_model.h"

namespace sonde::inspect::openvino {

// The iterator, and all that it hands out, keeps the model alive. `outputs` are tensors of the model's flat graph: only
// what they need is visible. Throws ov::Exception, and what `variable` of the model says as std::runtime_error.
std::shared_ptr<ov::frontend::GraphIterator> graph_iterator(std::shared_ptr<TensorFlowModel> model,
                                                            const std::vector<formats::tf::FlatTensor>& outputs);

// The name under which the frontend knows a tensor: "node:0".
std::string frontend_name(const formats::tf::FlatGraph& graph, const formats::tf::FlatTensor& tensor);

}  // namespace sonde::inspect::openvino
