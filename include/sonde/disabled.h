// The same interface as sonde/recorder.h without an implementation, for programs compiled with SONDE_DISABLED.
// Everything is inline and empty, so no call, no copy of an argument and no library remains in the program. Include
// sonde/recorder.h, never this file.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/checkpoint.h"
#include "sonde/graph.h"
#include "sonde/options.h"
#include "sonde/policy.h"
#include "sonde/statistics.h"
#include "sonde/status.h"
#include "sonde/summaries.h"
#include "sonde/tensor.h"

namespace sonde {

// Lets a condition in code (ProbeOptions::when) compile. It is never called. Always inlined: as functions these would
// replace the library's in a program where another part records.
class StepValues {
 public:
  [[gnu::always_inline]] double scalar(std::string_view) const noexcept {
    return std::numeric_limits<double>::quiet_NaN();
  }
  [[gnu::always_inline]] std::int64_t step() const noexcept { return 0; }

 private:
  StepValues() = default;  // nobody creates one
};

// In their own namespace, so that one program can contain these classes and the real ones.
inline namespace disabled {

class Scalar {
 public:
  void record(double, std::int64_t) const noexcept {}
  template <std::floating_point Number>
  void record(double value, Number step) const = delete;
};

class Step {
 public:
  Step() noexcept = default;
  explicit Step(std::int64_t number, bool evaluation) noexcept : number_(number), evaluation_(evaluation) {}
  Step(Step&&) noexcept = default;
  Step& operator=(Step&&) noexcept = default;
  ~Step() {}  // not trivial, like the real one, so that an unused step causes no warning
  void end() noexcept {}
  std::int64_t number() const noexcept { return number_; }
  bool evaluation() const noexcept { return evaluation_; }

 private:
  std::int64_t number_ = 0;
  bool evaluation_ = false;
};

class Probe {
 public:
  constexpr bool wanted(const Step&) const noexcept { return false; }
  constexpr Keep needs(const Step&) const noexcept { return Keep::nothing; }
  void record(const Step&, const TensorArg&) const noexcept {}
  void record(const Step&, const Statistics&) const noexcept {}
};

class Group {
 public:
  Group() noexcept = default;
  Group(Group&&) noexcept = default;
  Group& operator=(Group&&) noexcept = default;
  ~Group() {}
  void scalar(std::string_view, double) noexcept {}
  void histogram(std::string_view, const TensorArg&) noexcept {}
  void image(std::string_view, const TensorArg&, Layout, const ImageOptions& = {}) noexcept {}
  void audio(std::string_view, const TensorArg&, const AudioOptions& = {}) noexcept {}
  void text(std::string_view, std::string_view) noexcept {}
  void mesh(std::string_view, const TensorView&, const MeshOptions& = {}) noexcept {}
  void pr_curve(std::string_view, const TensorView&, const TensorView&, int = 127) noexcept {}
  void tensor(std::string_view, const TensorView&, std::string_view = {}, std::string_view = {}) noexcept {}
  void histogram(std::string_view, const std::vector<Bucket>&) noexcept {}
  void images(std::string_view, const EncodedImages&) noexcept {}
  void end() noexcept {}
};

class Recorder {
 public:
  Recorder() noexcept = default;
  static Result<Recorder> open(std::string_view, const RecorderOptions& = {}) { return Recorder(); }
  static Recorder open_or_disabled(std::string_view, const ErrorHandler&, const RecorderOptions& = {}) { return {}; }

  Recorder(Recorder&&) noexcept = default;
  Recorder& operator=(Recorder&&) noexcept = default;
  ~Recorder() {}

  constexpr bool enabled() const noexcept { return false; }
  const std::string& directory() const noexcept {
    static const std::string none;
    return none;
  }
  Scalar series(std::string_view) noexcept { return {}; }
  Probe probe(std::string_view, const ProbeOptions& = {}) noexcept { return {}; }
  Step step(std::int64_t number) noexcept { return Step(number, false); }
  Step evaluation(std::int64_t step) noexcept { return Step(step, true); }
  Step pass(std::int64_t number) noexcept { return Step(number, false); }
  void epoch(std::int64_t) noexcept {}
  Group group(std::int64_t, double = 0) noexcept { return {}; }

  void scalar(std::string_view, double, std::int64_t) noexcept {}
  void histogram(std::string_view, const TensorArg&, std::int64_t) noexcept {}
  void image(std::string_view, const TensorArg&, std::int64_t, Layout, const ImageOptions& = {}) noexcept {}
  void audio(std::string_view, const TensorArg&, std::int64_t, const AudioOptions& = {}) noexcept {}
  void text(std::string_view, std::string_view, std::int64_t) noexcept {}
  void pr_curve(std::string_view, const TensorView&, const TensorView&, std::int64_t, int = 127) noexcept {}
  void mesh(std::string_view, const TensorView&, std::int64_t, const MeshOptions& = {}) noexcept {}
  void hparams(const HParams&) noexcept {}
  void graph(const Graph&) noexcept {}
  void custom_scalars(const std::vector<ChartCategory>&) noexcept {}
  void event(std::string_view) noexcept {}
  void print(std::string_view, const TensorArg&, std::int64_t) noexcept {}
  void print_full(std::string_view, const TensorArg&, std::int64_t) noexcept {}
  Status print_now(std::string_view, const TensorView&, std::int64_t, const PrintOptions& = {}) noexcept { return {}; }
  void table(std::string_view, const std::vector<TableColumn>&, std::int64_t, const TableOptions& = {}) noexcept {}
  Status checkpoint(std::string_view, std::int64_t, const std::vector<NamedView>&,
                    const CheckpointOptions& = {}) noexcept {
    return {Code::closed, "the checkpoint was not saved: the program was compiled with SONDE_DISABLED"};
  }
  void trigger(std::string_view = {}, std::int64_t = 0, std::int64_t = 0) noexcept {}
  Status set_policy(const Policy&) noexcept { return {}; }

  template <class Value, std::floating_point Number, class... Rest>
  void scalar(std::string_view name, Value value, Number step, Rest...) = delete;
  template <std::floating_point Number, class... Rest>
  void histogram(std::string_view name, const TensorArg& tensor, Number step, Rest...) = delete;
  template <std::floating_point Number, class... Rest>
  void image(std::string_view name, const TensorArg& tensor, Number step, Rest...) = delete;
  template <std::floating_point Number>
  Step step(Number number) = delete;
  template <std::floating_point Number>
  Step evaluation(Number step) = delete;
  template <std::floating_point Number>
  Step pass(Number number) = delete;

  std::int64_t committed_step() const noexcept { return -1; }
  Counters counters() const noexcept { return {}; }
  bool run_callbacks() noexcept { return false; }
  static void release_owners() noexcept {}
  Status flush() noexcept { return {}; }
  Status close() noexcept { return {}; }
};

}  // namespace disabled
}  // namespace sonde
