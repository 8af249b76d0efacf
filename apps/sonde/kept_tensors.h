// Tensors that a policy kept whole: RUN/tensors/<step, 12 digits>.<writer>.safetensors or .npz, and the folder of the
// same name with a .npy file a tensor (sinks/tensor_store.h). Of an evaluation they begin with "eval-".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor_file.h"

namespace sonde::cli {

// One of them, in its file.
struct KeptTensor {
  std::int64_t step = 0;
  std::string path;
  TensorFile file;
  std::size_t index = 0;
};

class KeptTensors {
 public:
  // What there is now. A run that kept none has none.
  explicit KeptTensors(const std::string& run_directory);

  // The last that was written under this tag; at that step where one is given. Files that cannot be read are passed
  // over, with a note on standard error.
  std::optional<KeptTensor> last(const std::string& tag, std::optional<std::int64_t> step = {}) const;
  // All steps at which the tag was kept, ascending. Opens every file.
  std::vector<std::int64_t> steps(const std::string& tag) const;
  // All tags. Opens every file, but no folder.
  std::vector<std::string> tags() const;

 private:
  struct Place {
    std::int64_t step = 0;
    std::string path;
    bool folder = false;
  };
  static std::optional<KeptTensor> find(const Place& place, const std::string& tag);
  std::vector<Place> places_;  // by step, and as they were written
};

}  // namespace sonde::cli
