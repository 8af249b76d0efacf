// What a policy kept of a run besides its log: whole tensors, RUN/tensors/..., and tables, RUN/tables/....csv.
//
//   for (const sonde::WholeTensor& kept : sonde::list_whole_tensors("logs/train")->tensors) {
//     auto file = sonde::TensorFile::open(kept.path);
//     auto values = file->load(kept.name);
//   }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/export.h"
#include "sonde/status.h"

namespace sonde {

// One tensor at one step: the file `path` holds it under `name`.
struct WholeTensor {
  std::string tag;  // "activation/dense_1/out"
  std::int64_t step = 0;
  std::string path;
  std::string name;  // empty in an npy file
  friend bool operator==(const WholeTensor&, const WholeTensor&) = default;
};

// By tag and then step, each once: what was written last counts. Only the headers of the files are read. A file that
// cannot be read is left out and named in `unreadable`. A run that kept nothing has an empty list.
struct WholeTensorList {
  std::vector<WholeTensor> tensors;
  std::vector<Status> unreadable;
};
SONDE_API Result<WholeTensorList> list_whole_tensors(std::string_view run_directory);

// Paths of a run's tables, by name.
SONDE_API Result<std::vector<std::string>> list_tables(std::string_view run_directory);

}  // namespace sonde
