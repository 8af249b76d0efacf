// Tensors that a policy kept whole: RUN/tensors/<step, 12 digits>.<writer>.safetensors or .npz, and the folder of the
// same name with a .npy file a tensor (sinks/tensor_store.h). Of an evaluation they begin with "eval-". And the tables.
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

// All that there is under one name.
struct KeptSeries {
  std::string name;
  std::uint64_t count = 0;
  std::int64_t first_step = 0;  // the smallest
  std::int64_t last_step = 0;
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
  // All tags, also those of folders, and the number of their steps. Opens every file.
  std::vector<KeptSeries> list() const;

 private:
  struct Place {
    std::int64_t step = 0;
    std::string path;
    bool folder = false;
  };
  static std::optional<KeptTensor> find(const Place& place, const std::string& tag);
  std::vector<Place> places_;  // by step, and as they were written
};

// Tables of a run (sinks/table_file.h), each with the number of its rows: their paths below the run's directory, as in
// "tables/validation.<writer>.csv". Reads all of them; one that cannot be read is left out, with a note on standard
// error.
std::vector<KeptSeries> tables_of(const std::string& run_directory);

}  // namespace sonde::cli
