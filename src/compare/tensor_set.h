// What is compared: an ordered set of named tensors, which are loaded one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::compare {

struct Entry {
  std::string name;
  std::optional<DType> dtype;            // none: not known before it is loaded
  std::optional<Shape> shape;            // the same; -1 is a size that is not known
  std::string op = {};                   // of the operation that computes it; empty: not known
  std::string node = {};                 // its name in the model
  std::string scope = {};                // path of its module, if an exporter wrote one
  std::vector<std::string> inputs = {};  // names of the values that it is computed from
  std::string missing = {};              // why the tensor cannot be given: the runtime removed it
};

// A tensor, and what keeps it in memory.
struct Loaded {
  TensorView view;
  std::shared_ptr<const void> owner;
};

// Calls come from one thread at a time.
class TensorSet {
 public:
  TensorSet() = default;
  virtual ~TensorSet() = default;
  TensorSet(const TensorSet&) = delete;
  TensorSet& operator=(const TensorSet&) = delete;

  // "directory", "safetensors", "capture", "onnx model in openvino 2026.4.1"
  virtual std::string kind() const = 0;
  virtual const std::vector<Entry>& entries() const noexcept = 0;
  // Whether the entries are in the order of execution, and not of a file.
  virtual bool in_order_of_execution() const noexcept { return false; }
  // Whether it is computed by a model: other models may compute the same with other operations.
  virtual bool is_model() const noexcept { return false; }
  // Values that its first operations read, in the order of the model; a set of files has none.
  virtual std::vector<std::string> model_inputs() const { return {}; }
  virtual Result<Loaded> load(std::size_t index) = 0;
};

// A file (npy, npz, safetensors) or a directory of such files, also in folders below it. In a directory the tensor of
// `a/b.npy` is named a/b, and those of an archive `a/b.npz` a/b/NAME; a directory with a single archive has the names
// of that archive. Fails if there is no tensor.
Result<std::unique_ptr<TensorSet>> open_tensor_files(const std::string& path);

// The tensors of a capture, by step: 120/activation/dense_1/out.
Result<std::unique_ptr<TensorSet>> open_capture(const std::string& directory);

// The tensors that a run kept whole, named as in a capture.
Result<std::unique_ptr<TensorSet>> open_whole_tensors(const std::string& run_directory);

}  // namespace sonde::compare
