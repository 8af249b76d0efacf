// Named sets of tensors that are saved together: RUN/checkpoints/<name>-<step>.safetensors. Recorder::checkpoint saves
// them; this header reads them. Any program that reads safetensors can read them, too: the file's metadata hold
// sonde.name, sonde.step, sonde.time (seconds since 1970), and if there is a metric sonde.metric and sonde.best, which
// is "lowest" or "highest".
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
  // Of this name, the last keep_last checkpoints are kept, and also the keep_best best by `metric`, if it is finite;
  // older ones are removed once a new one is safely on disk. 0 for keep_last: all are kept. The last ones are those
  // that were saved last: after a restart from an earlier step, the new ones. Files that Sonde did not write are never
  // removed. Numbers below 0 are an error.
  int keep_last = 0;
  int keep_best = 1;
  double metric = std::numeric_limits<double>::quiet_NaN();  // NaN: there is none
  bool lower_is_better = true;
  FileMetadata metadata = {};  // additional text for the file; keys that begin with "sonde." are reserved
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
  FileMetadata metadata;  // the additional text
};

// The checkpoints in a run's directory, sorted by name and then step. Only the headers of the files are read. Files of
// other programs count if their names match the pattern; a file that cannot be read is left out and named in
// `unreadable`.
struct CheckpointList {
  std::vector<CheckpointInfo> checkpoints;
  std::vector<Status> unreadable;
};
SONDE_API Result<CheckpointList> list_checkpoints(std::string_view run_directory);
// By step; the name is optional if only one checkpoint has that step.
SONDE_API Result<Safetensors> load_checkpoint(std::string_view run_directory, std::int64_t step,
                                              std::string_view name = {});

// What Recorder::checkpoint does, for programs without a recorder: it writes a temporary file, syncs it and renames it.
// When it returns, the checkpoint survives the end of the process and of the machine; after an error the existing
// checkpoints are unchanged. It replaces one of the same name and step. It removes half-written files that a killed
// process left behind. The name is UTF-8, at most 100 bytes, without slashes and control characters; it does not begin
// with a dot, and does not end with a dash, which would look like the sign of the step.
SONDE_API Status save_checkpoint(std::string_view run_directory, std::string_view name, std::int64_t step,
                                 const std::vector<NamedView>& tensors, const CheckpointOptions& options = {});

}  // namespace sonde
