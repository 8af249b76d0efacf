// What a trigger saved, or the content of the flight ring after a crash: RUN/captures/<n>-<reason>/ with capture.json
// and one safetensors file per step.
//
//   const auto paths = sonde::list_captures("logs/train");
//   for (const std::string& path : *paths) {
//     auto capture = sonde::Capture::open(path);
//     std::cout << sonde::find_origin(capture->info()).text();      // which tensor produced the NaN
//     auto file = capture->step_file(capture->steps().back());  // sonde::TensorFile: the tensors themselves
//   }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/export.h"
#include "sonde/status.h"
#include "sonde/summaries.h"
#include "sonde/tensor.h"

namespace sonde {

class TensorFile;

struct CapturedTensor {
  std::string key;  // in the step's file, and in the log: "gradient/dense_1/out#1"
  std::string name;
  Kind kind = Kind::activation;
  std::string kind_name = {};  // what the file calls it, if it is Kind::unknown here; otherwise empty
  std::uint32_t occurrence = 0;
  std::vector<std::string> inputs;  // names of the probes that it is computed from, as far as the program declared them
  DType dtype = DType::f32;
  Shape shape;
  std::uint64_t count = 0;
  std::uint64_t nan = 0;
  std::uint64_t positive_infinity = 0;
  std::uint64_t negative_infinity = 0;
};

struct CapturedStep {
  std::int64_t step = 0;
  bool evaluation = false;
  bool complete = true;  // false: its end is missing, and tensors before the end may be missing too
  double wall_time = 0;  // seconds since 1970; of its end, or of its last tensor
  std::string file;      // in the capture's directory; empty if it holds no tensor
  std::vector<std::pair<std::string, double>> scalars;
  std::vector<CapturedTensor> tensors;  // in the order of execution
};

// Something that the capture does not hold.
struct CaptureGap {
  std::string what;  // a tensor's key, or "all tensors"
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::uint64_t count = 0;
  std::string reason;  // one sentence
};

struct CaptureInfo {
  enum class Cause : std::uint8_t { trigger, manual, crash } cause = Cause::trigger;
  std::string reason;  // the trigger's name, "manual" or "crash"
  std::string when;    // the trigger's expression; empty otherwise
  std::vector<std::pair<std::string, double>>
      values;               // the values of its parts: {"loss", 4.2}, {"nonfinite('.*')", 12}
  std::int64_t step = 0;    // at whose end it fired; after a crash the last step in the ring
  double wall_time = 0;     // of the end of that step
  std::int64_t before = 0;  // steps asked for
  std::int64_t after = 0;
  std::string host;
  std::uint64_t pid = 0;
  std::string writer;               // whose event and statistics files belong to it
  std::vector<CapturedStep> steps;  // oldest first
  std::vector<CaptureGap> dropped;
  std::vector<std::string> allow_negative_infinity;  // selectors, as in Policy
};

class Capture {
 public:
  SONDE_API static Result<Capture> open(std::string_view directory);

  const std::string& directory() const noexcept { return directory_; }
  const CaptureInfo& info() const noexcept { return info_; }
  const std::vector<CapturedStep>& steps() const noexcept { return info_.steps; }
  // The tensors of one of its steps, by CapturedTensor::key.
  SONDE_API Result<TensorFile> step_file(const CapturedStep& step) const;

 private:
  Capture(std::string directory, CaptureInfo info) : directory_(std::move(directory)), info_(std::move(info)) {}
  std::string directory_;
  CaptureInfo info_;
};

// Paths of the directories of a run's captures, in the order in which they were made. No captures is not an error.
SONDE_API Result<std::vector<std::string>> list_captures(std::string_view run_directory);

// Where the first non-finite values of the training steps came from; if those are finite, of the evaluation passes.
struct Origin {
  struct Place {
    std::string key;
    Kind kind = Kind::activation;
    std::int64_t step = 0;
    bool evaluation = false;  // it is an evaluation pass
    std::uint64_t count = 0;  // elements, including:
    std::uint64_t nan = 0;
    std::uint64_t infinite = 0;  // except -inf where it is allowed
    // Keys of the inputs that were seen, all finite; a weight that has not changed since step 4 as "weight/k of step
    // 4".
    std::vector<std::string> inputs;
    // Why the result is uncertain: inputs that are not declared or not in the capture. Empty: all of its inputs were
    // seen, and were finite.
    std::vector<std::string> unseen;
  };
  bool found = false;                    // there are non-finite values
  std::uint64_t tensors = 0;             // that the capture holds; if 0, nothing is known
  std::vector<Place> producers;          // of the first such step, in the order of execution; the first is the earliest
  std::vector<std::string> propagators;  // of the same step: those that had a non-finite input
  std::vector<std::string> caveats;      // sentences about what the capture does not show
  // A text of several lines for people.
  SONDE_API std::string text() const;
};
SONDE_API Origin find_origin(const CaptureInfo& capture);

// Turns a flight ring that a process left behind into a capture, <n>-crash, and removes the ring. Returns the path of
// the capture. Fails while the process lives, also for a copy of its ring. A ring that cannot be read at all stays, and
// so does a file that is not a ring. A ring in which nothing was ever written is recognised by its name. Recorder::open
// does this by itself for the rings of its run.
SONDE_API Result<std::string> recover_ring(std::string_view ring_path, std::string_view run_directory);
// The rings in a run's directory, and the run's rings in another directory ([flight] dir), that no living process
// holds.
SONDE_API Result<std::vector<std::string>> abandoned_rings(std::string_view run_directory);

}  // namespace sonde
