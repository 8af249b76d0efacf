// Models in a worker process of the Python package: onnxruntime, TensorFlow, Keras and torch.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "inspect/runtime.h"
#include "sonde/status.h"

namespace sonde::inspect {

// Whether a worker runs it: "onnxruntime", "tensorflow", "keras", "torch".
bool runs_in_worker(std::string_view runtime) noexcept;
// The runtime of a file that only a worker can read: .keras and .h5 "keras", .pt2 "torch"; otherwise empty.
std::string_view worker_runtime_of(std::string_view path) noexcept;

// `model.runtime` is set. The worker describes the model, unless the caller gives a description: of an ONNX file, whose
// names onnxruntime uses as they are.
Result<std::unique_ptr<Runtime>> open_in_worker(const ModelName& model, const OpenOptions& options,
                                                std::optional<Description> described = {});

// Of a file that only a worker can read.
Result<Description> describe_in_worker(const std::string& path, const OpenOptions& options);

}  // namespace sonde::inspect
