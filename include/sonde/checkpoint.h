// Named sets of tensors that are saved as a whole: RUN/checkpoints/<name>-<step>.safetensors. Recorder::checkpoint
// saves them; this reads them back. Any program that reads safetensors can, too: in the file's metadata are sonde.name,
// sonde.step, sonde.time (seconds since 1970), and where there is a metric sonde.metric and sonde.best, which is
// "lowest" or "highest".
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/export.h"
#include "sonde/status.h"
#include "sonde/tensor_io.h"

namespace sonde {

struct CheckpointOptions {
  // Of this name, the last so many are kept, and besides them the best so many by `metric`, if it is finite; older ones
  // are removed when a new one is safely on disk. 0 for keep_last: all are kept. The last ones are those that were
  // saved last: after a restart from an earlier step, the new ones. Files that Sonde did not write are never removed.
  // Numbers below 0 are an error.
  int keep_last = 0;
  int keep_best = 1;
  double metric = std::numeric_limits<double>::quiet_NaN();  // NaN: there is none
  bool lower_is_better = true;
  FileMetadata metadata = {};  // further text for the file; keys that begin with "sonde." are taken
};

struct CheckpointInfo {
  std::string name;
  std::int64_t step = 0;
  std::string path;
  std::uint64_t bytes = 0;
  std::uint64_t tensors = 0;
  double wall_time = 0;  // when it was saved, in seconds since 1970
  double metric = std::numeric_limits<double>::quiet_NaN();
  bool lower_is_better = true;
  FileMetadata metadata;  // the further text
};

// Of a run's directory, by name and then step. Only the heads of the files are read. Files of other programs count
// where they have such a name; one that cannot be read is left out, and named in `unreadable`.
struct CheckpointList {
  std::vector<CheckpointInfo> checkpoints;
  std::vector<Status> unreadable;
};
SONDE_API Result<CheckpointList> list_checkpoints(std::string_view run_directory);
// By step; the name may be left out where only one has that step.
SONDE_API Result<Safetensors> load_checkpoint(std::string_view run_directory, std::int64_t step,
                                              std::string_view name = {});

// What Recorder::checkpoint does, for programs without a recorder: written aside, synced, renamed. When it returns, the
// checkpoint survives the end of the process and of the machine; after an error those that were there are there still.
// One of the same name and step is replaced. What a killed process left of one half written is removed. The name is
// UTF-8, at most 100 bytes, without slashes and control characters, and neither begins with a dot nor ends with a dash,
// which would look like the sign of the step.
SONDE_API Status save_checkpoint(std::string_view run_directory, std::string_view name, std::int64_t step,
                                 const std::vector<NamedView>& tensors, const CheckpointOptions& options = {});

}  // namespace sonde
