// Whole tensors that the policy keeps, in files of their step:
//
//   RUN/tensors/000000000100.<writer>.safetensors         all tensors of the step that are recorded `whole`
//   RUN/tensors/000000000100.<writer>.npz                 those recorded as npz
//   RUN/tensors/000000000100.<writer>/<key>.npy           those recorded as npy, one file each; the key's slashes are
//   directories
//
// Evaluation steps begin with "eval-"; negative ones with a minus ("-00000000001"). A step that repeats, after a
// restart in the same process, gets ".1", ".2" after the writer: nothing is overwritten.
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
  // Nothing is created before the first tensor.
  TensorStore(const std::string& run_directory, std::string writer, Tally& tally);

  // Files are complete or do not exist. A failure names the file, is counted, and affects only what it names: the other
  // files of the step are written, and the next step tries again. A tensor that a format cannot hold is left out of its
  // file, and one whose name npz cannot hold gets the name of its .npy file ("a%00b"); each is reported once. No empty
  // directory stays behind.
  Status write_step(const Stamp& stamp, bool evaluation, std::span<const StoredTensor> tensors) noexcept;
  Status write(const Stamp&, std::span<const Value>) override { return Status::success(); }
  Status end_step(const StepEnd& step) override {
    return step.stored.empty() ? Status::success() : write_step(step.stamp, step.evaluation, step.stored);
  }
  Status flush() override { return Status::success(); }  // nothing is buffered
  Status close() override { return Status::success(); }
  // The number of tensors that are missing in the files of the last step.
  std::uint64_t lost() const noexcept { return lost_; }

 private:
  std::string free_stem(const Stamp& stamp, bool evaluation) const;
  // Does `write`, which writes those of the tensors that are `asked` for. Where memory runs out they are lost, and the
  // others are written.
  template <class Asked, class Write>
  void guarded(std::span<const StoredTensor> tensors, const Asked& asked, const Write& write) noexcept;
  void write_safetensors(const std::string& stem, std::span<const StoredTensor> tensors);
  void write_npz(const std::string& stem, std::span<const StoredTensor> tensors);
  void write_npy(const std::string& stem, std::span<const StoredTensor> tensors, std::size_t i);  // the i-th of them
  // Counts a file that was written, or the tensors it should have held.
  void account(const std::string& path, const Status& status, std::size_t tensors);
  void leave_out(std::string_view key, const std::string& path, const Status& why);
  bool first_time(std::string_view key, const std::string& path, std::string_view what);

  std::string directory_;
  std::string writer_;
  Tally& tally_;
  std::vector<Status> errors_;  // of the step
  std::uint64_t lost_ = 0;      // of the step: tensors
  bool out_of_memory_ = false;  // of the step: whether tensors were lost because memory ran out
  Status renamed_;              // a tensor got another name: reported if there is not an error, one at a time
  std::set<std::string> told_;  // tensors, formats and problems already reported
};

}  // namespace sonde::sinks
