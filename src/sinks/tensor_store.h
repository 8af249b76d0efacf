// Whole tensors that the policy keeps, in files of their step:
//
//   RUN/tensors/000000000100.<writer>.safetensors         all of the step that are asked for `whole`
//   RUN/tensors/000000000100.<writer>.npz                 and as npz
//   RUN/tensors/000000000100.<writer>/<key>.npy           and each alone; the key's slashes are directories
//
// Evaluation steps begin with "eval-"; negative ones with a minus ("-00000000001"). A step that comes again, after a
// restart in the same process, gets ".1", ".2" behind the writer: nothing is overwritten.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinks/record_file.h"
#include "sinks/sink.h"
#include "sinks/values.h"
#include "sonde/status.h"
#include "sonde/tensor_io.h"

namespace sonde::sinks {

class TensorStore final : public Sink {
 public:
  // Nothing is made before the first tensor.
  TensorStore(const std::string& run_directory, std::string writer, Tally& tally);

  // Files appear as a whole. A failure names the file, is counted, and costs what it names and nothing else: the other
  // files of the step are written, and the next step is tried again. A tensor that a format cannot hold is left out of
  // its file, one whose name npz cannot hold has that of its .npy file there ("a%00b"); both are told once of each.
  // No empty directory stays behind.
  Status write_step(const Stamp& stamp, bool evaluation, std::span<const StoredTensor> tensors);
  Status write(const Stamp&, std::span<const Value>) override { return Status::success(); }
  Status end_step(const StepEnd& step) override {
    return step.stored.empty() ? Status::success() : write_step(step.stamp, step.evaluation, step.stored);
  }
  Status flush() override { return Status::success(); }  // nothing is kept back
  Status close() override { return Status::success(); }
  // How many tensors the files of the last step lack.
  std::uint64_t lost() const noexcept { return lost_; }

 private:
  std::string free_stem(const Stamp& stamp, bool evaluation) const;
  void write_safetensors(const std::string& stem, std::span<const StoredTensor> tensors);
  void write_npz(const std::string& stem, std::span<const StoredTensor> tensors);
  void write_npy(const std::string& stem, std::span<const StoredTensor> tensors);
  // Counts a file that was written, or what it should have held.
  void account(const std::string& path, const Status& status, std::size_t tensors);
  void leave_out(std::string_view key, const std::string& path, const Status& why);
  bool first_time(std::string_view key, const std::string& path, std::string_view what);

  std::string directory_;
  std::string writer_;
  Tally& tally_;
  std::vector<Status> errors_;  // of the step
  std::uint64_t lost_ = 0;      // of the step: tensors
  Status renamed_;              // that a tensor got another name: told when there is nothing worse, one at a time
  std::set<std::string> told_;  // tensors, formats and what is the matter with them
};

}  // namespace sonde::sinks
