// Recording from a running program.
//
//   auto opened = sonde::Recorder::open("logs/train");
//   if (!opened) ...                                     // it does not throw
//   sonde::Recorder& rec = *opened;
//   sonde::Scalar loss = rec.series("loss");             // resolve a name once; then a call takes tens of nanoseconds
//   sonde::Probe out = rec.probe("dense_1/out");
//   for (std::int64_t n = 0; n < steps; ++n) {
//     auto step = rec.step(n);                           // ends with its scope
//     if (out.wanted(step)) out.record(step, sonde::view(values, {32, 128}));
//     loss.record(value, n);
//   }
//
// Threads. Every call is safe from any thread. A Step and a Group are objects of the program: threads that share one
// may record in a Step at the same time, but must agree on who ends it, and only one at a time may use a Group. One
// backend thread for the whole process does the work: statistics, encoding, writing.
// Failure. A record call never disrupts the caller: what cannot be kept is counted (Recorder::counters), reported to
// RecorderOptions::on_error and noted in the log.
// Blocking. No record call blocks longer than RecorderOptions::max_wait.
// Lifetime. Handles may outlive their recorder; after close they do nothing. When the process ends, recorders that are
// still open are drained for up to two seconds. Default-constructed recorders and handles are inert, as are those of a
// recorder that could not be opened: every call on them does nothing, flush() and close() succeed because there is
// nothing to write, and checkpoint() returns an error that says that it saved nothing.
// Fork. The child's first call opens its own files, and it records with the policy that was in force. The flight ring,
// the budget, the control file and the trigger signal stay with the parent. A child that needs them opens its own
// recorder.
// Order. Within a tag, the order in the file is the order of the calls, over all threads.
//
// With SONDE_DISABLED defined all of this compiles to nothing, and Policy::parse, load and check do nothing: a
// program that only records then needs no library.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/checkpoint.h"
#include "sonde/export.h"
#include "sonde/graph.h"
#include "sonde/options.h"
#include "sonde/policy.h"
#include "sonde/statistics.h"
#include "sonde/status.h"
#include "sonde/summaries.h"
#include "sonde/tensor.h"

#if defined(SONDE_DISABLED)
#include "sonde/disabled.h"  // IWYU pragma: export
#else

namespace sonde {

namespace policy {
struct Plan;
}  // namespace policy

namespace record {
class Channel;
struct GroupData;
struct ProbeEntry;
struct StepData;
}  // namespace record

// The values that arrived during a step, for a condition at its end. Only valid inside the condition that receives it.
class StepValues {
 public:
  // The last value of a scalar recorded during the step; NaN if there was none.
  SONDE_API double scalar(std::string_view name) const noexcept;
  SONDE_API std::int64_t step() const noexcept;

 private:
  friend struct record::StepData;
  explicit StepValues(const record::StepData& data) noexcept : data_(data) {}
  const record::StepData& data_;
};

// A series of numbers.
class Scalar {
 public:
  Scalar() noexcept = default;  // inert
  SONDE_API void record(double value, std::int64_t step) const noexcept;
  template <std::floating_point Step>
  void record(double value, Step step) const = delete;  // steps are integers: are the arguments swapped?

 private:
  friend class Recorder;
  Scalar(std::shared_ptr<record::Channel> channel, std::uint32_t id) noexcept : channel_(std::move(channel)), id_(id) {}
  std::shared_ptr<record::Channel> channel_;
  std::uint32_t id_ = 0;
};

// One pass of training, evaluation or inference. It ends with its scope; a training step also ends when the next one
// begins. Then its conditions are evaluated and its statistics written as one record.
class Step {
 public:
  Step() noexcept = default;  // inert
  SONDE_API Step(Step&& other) noexcept;
  SONDE_API Step& operator=(Step&& other) noexcept;
  SONDE_API ~Step();
  // Ends it early; the destructor then does nothing.
  SONDE_API void end() noexcept;
  std::int64_t number() const noexcept { return number_; }
  bool evaluation() const noexcept { return evaluation_; }

 private:
  friend class Recorder;
  friend class Probe;
  std::shared_ptr<record::Channel> channel_;
  std::int64_t number_ = 0;
  std::int64_t since_ = -1;  // of an evaluation pass: the step of the previous one
  std::uint32_t pass_ = 0;   // identifies one of the passes that are open at the same time; 0: a training step
  bool evaluation_ = false;
};

// A place in the network. If it is recorded again within one step, that is occurrence #1, #2, ... (micro-batches).
class Probe {
 public:
  Probe() noexcept = default;  // inert
  // Whether record() would keep anything of this step; ask before computing or fetching the values.
  SONDE_API bool wanted(const Step& step) const noexcept;
  // What record() would make of the tensor. Statistics that were computed elsewhere can replace the tensor if this is
  // at most stats and histogram. The flight ring and a sample of rows count as `whole`, a condition as histogram.
  SONDE_API Keep needs(const Step& step) const noexcept;
  SONDE_API void record(const Step& step, TensorArg tensor) const noexcept;
  // Statistics that were computed elsewhere, instead of the tensor. Conditions see them, and they are written as if the
  // library had computed them; no picture can be made from them, and the flight ring stores nothing. Inconsistent
  // statistics are rejected, with the reason.
  SONDE_API void record(const Step& step, const Statistics& statistics) const noexcept;

 private:
  friend class Recorder;
  Probe(std::shared_ptr<record::Channel> channel, const record::ProbeEntry* entry) noexcept
      : channel_(std::move(channel)), entry_(entry) {}
  bool takes(record::Channel& to, const Step& step) const;
  std::uint64_t due(const policy::Plan& plan, const Step& step) const noexcept;
  std::shared_ptr<record::Channel> channel_;
  const record::ProbeEntry* entry_ = nullptr;
};

// Many values of one step, written as one event when it ends. Pictures follow in events of their own, when they are
// encoded.
class Group {
 public:
  SONDE_API Group() noexcept;  // inert
  SONDE_API Group(Group&& other) noexcept;
  SONDE_API Group& operator=(Group&& other) noexcept;
  SONDE_API ~Group();
  SONDE_API void scalar(std::string_view name, double value) noexcept;
  SONDE_API void histogram(std::string_view name, TensorArg tensor) noexcept;
  SONDE_API void image(std::string_view name, TensorArg tensor, Layout layout,
                       const ImageOptions& options = {}) noexcept;
  SONDE_API void audio(std::string_view name, TensorArg tensor, const AudioOptions& options = {}) noexcept;
  SONDE_API void text(std::string_view name, std::string_view text) noexcept;
  SONDE_API void mesh(std::string_view name, const TensorView& vertices, const MeshOptions& options = {}) noexcept;
  SONDE_API void pr_curve(std::string_view name, const TensorView& labels, const TensorView& predictions,
                          int thresholds = 127) noexcept;
  // The elements themselves, in the event file, for any plugin of TensorBoard that takes a tensor.
  SONDE_API void tensor(std::string_view name, const TensorView& tensor, std::string_view plugin = "tensor",
                        std::string_view plugin_content = {}) noexcept;
  // What was computed or encoded elsewhere. Buckets by ascending value; images of one size.
  SONDE_API void histogram(std::string_view name, const std::vector<Bucket>& buckets) noexcept;
  SONDE_API void images(std::string_view name, const EncodedImages& images) noexcept;
  SONDE_API void end() noexcept;

 private:
  friend class Recorder;
  Group(std::shared_ptr<record::Channel> channel, std::unique_ptr<record::GroupData> data) noexcept;
  template <class Encode>
  void add_encoded(std::string_view name, Encode&& encode) noexcept;
  std::shared_ptr<record::Channel> channel_;
  std::unique_ptr<record::GroupData> data_;
};

// Writes one run: a directory with an event file that TensorBoard opens and a statistics file. Several recorders in one
// process (train and test writers) share the backend; each has its own file.
class Recorder {
 public:
  Recorder() noexcept = default;  // inert, until another one is moved into it
  // Creates the directory if it is missing. Fails, with the reason, if nothing can be written.
  SONDE_API static Result<Recorder> open(std::string_view directory, const RecorderOptions& options = {});
  // For jobs that must continue: if open fails, the reason goes to `on_error`, and the returned recorder does nothing.
  SONDE_API static Recorder open_or_disabled(std::string_view directory, const ErrorHandler& on_error,
                                             const RecorderOptions& options = {});

  SONDE_API Recorder(Recorder&& other) noexcept;
  SONDE_API Recorder& operator=(Recorder&& other) noexcept;
  SONDE_API ~Recorder();  // closes

  bool enabled() const noexcept { return channel_ != nullptr; }
  SONDE_API const std::string& directory() const noexcept;

  // Handles. The same name gives the same series; an empty or unusable name gives an inert handle
  // and is counted as rejected.
  SONDE_API Scalar series(std::string_view name) noexcept;
  SONDE_API Probe probe(std::string_view name, const ProbeOptions& options = {}) noexcept;

  // A step of training. It ends the previous one, if that is still open.
  SONDE_API Step step(std::int64_t number) noexcept;
  // A pass over held-out data, at the training step that it belongs to, so that its tensors line up with the test loss,
  // even after a restart. Probes recorded in it go under "eval/". What a policy or ProbeOptions record every n steps is
  // due once a multiple of n has passed since the previous evaluation.
  SONDE_API Step evaluation(std::int64_t step) noexcept;
  // A pass of inference, such as one request to a server. Any number of passes may be open at the same time; any thread
  // may begin and end them, in any order, and none ends another. When a pass ends, it is written as a step with the
  // given number; scalars recorded with that number meanwhile belong to it. Conditions and triggers see the passes in
  // the order in which they end.
  SONDE_API Step pass(std::int64_t number) noexcept;
  // An epoch begins with the next step: for policies that say every = "epoch".
  SONDE_API void epoch(std::int64_t number) noexcept;
  // `wall_time`: seconds since 1970, for what happened at another time; NaN: now.
  SONDE_API Group group(std::int64_t step, double wall_time = std::numeric_limits<double>::quiet_NaN()) noexcept;

  // By name: (name, value, step). The name is the tag that TensorBoard shows; one tag, one kind of summary.
  SONDE_API void scalar(std::string_view name, double value, std::int64_t step) noexcept;
  SONDE_API void histogram(std::string_view name, TensorArg tensor, std::int64_t step) noexcept;
  SONDE_API void image(std::string_view name, TensorArg tensor, std::int64_t step, Layout layout,
                       const ImageOptions& options = {}) noexcept;
  // [frames] or [frames, channels]; floats in [-1, 1] or i16.
  SONDE_API void audio(std::string_view name, TensorArg tensor, std::int64_t step,
                       const AudioOptions& options = {}) noexcept;
  SONDE_API void text(std::string_view name, std::string_view markdown, std::int64_t step) noexcept;
  // Labels (0 or 1) and predictions (0 to 1) of the same size.
  SONDE_API void pr_curve(std::string_view name, const TensorView& labels, const TensorView& predictions,
                          std::int64_t step, int thresholds = 127) noexcept;
  SONDE_API void mesh(std::string_view name, const TensorView& vertices, std::int64_t step,
                      const MeshOptions& options = {}) noexcept;
  SONDE_API void hparams(const HParams& hparams) noexcept;
  SONDE_API void graph(const Graph& graph) noexcept;
  SONDE_API void custom_scalars(const std::vector<ChartCategory>& layout) noexcept;
  // An Event message of TensorBoard that another library encoded: its bytes, with its own step, and its own time unless
  // that is 0. Conditions see its scalars. Rejected as a whole, with the reason, if it is malformed or one of its tags
  // belongs to another kind of summary.
  SONDE_API void event(std::string_view event) noexcept;

  // On the console: dense_1/out f32[32,128] -2.1 |.:#:.| 2.6  mean 0.01 std 1.02
  SONDE_API void print(std::string_view name, TensorArg tensor, std::int64_t step) noexcept;
  // The values, summarised as NumPy prints them. When flush() returns, the output of print and print_full has appeared.
  SONDE_API void print_full(std::string_view name, TensorArg tensor, std::int64_t step) noexcept;
  // Prints the line and the values on the calling thread before it returns: for a debugger, or for the last message
  // before a crash. It may overtake what print has not printed yet.
  SONDE_API Status print_now(std::string_view name, const TensorView& tensor, std::int64_t step,
                             const PrintOptions& options = {}) noexcept;

  // Rows of a table, tables/<name>.<writer>.csv: row i takes index i of the first axis of every column. For example, a
  // sample of validation outputs beside their labels, appended every few epochs.
  SONDE_API void table(std::string_view name, const std::vector<TableColumn>& columns, std::int64_t step,
                       const TableOptions& options = {}) noexcept;

  // Saves the tensors under a name, checkpoints/<name>-<step>.safetensors, before it returns: it writes a temporary
  // file, syncs it and renames it. See sonde/checkpoint.h for what is kept and how to load it. Fails if the recorder is
  // disabled. A budget counts checkpoints, but never prevents them.
  SONDE_API Status checkpoint(std::string_view name, std::int64_t step, const std::vector<NamedView>& tensors,
                              const CheckpointOptions& options = {}) noexcept;

  // Saves a capture when the current step ends: this step and the steps before it, from the flight ring, and `after`
  // more. For events that no expression can describe. If BudgetPolicy::disk has no room, the capture is rejected and
  // the error handler is told.
  SONDE_API void trigger(std::string_view reason = "manual", std::int64_t before = 5, std::int64_t after = 0) noexcept;

  // Replaces the policy from the next step on. An invalid one changes nothing. If it wants another flight ring, that is
  // created in the background: steps go into the current one until then, and flush waits for it.
  SONDE_API Status set_policy(const Policy& policy) noexcept;

  // Floating-point steps do not compile: they are swapped arguments.
  template <class Value, std::floating_point Number, class... Rest>
  void scalar(std::string_view name, Value value, Number step, Rest...) = delete;
  template <std::floating_point Number, class... Rest>
  void histogram(std::string_view name, TensorArg tensor, Number step, Rest...) = delete;
  template <std::floating_point Number, class... Rest>
  void image(std::string_view name, TensorArg tensor, Number step, Rest...) = delete;
  template <std::floating_point Number>
  Step step(Number number) = delete;
  template <std::floating_point Number>
  Step evaluation(Number step) = delete;
  template <std::floating_point Number>
  Step pass(Number number) = delete;

  // The last complete step, or the largest number of a complete pass; -1 before the first. Complete means: the backend
  // has taken everything recorded in the step, and conditions and triggers have seen it. The flight ring's part of it,
  // and whole tensors and tables that the policy keeps, are in their files and survive the process. Its records for the
  // event and statistics files may still be in memory, for about RecorderOptions::flush_interval: flush() waits until
  // they are written.
  SONDE_API std::int64_t committed_step() const noexcept;
  SONDE_API Counters counters() const noexcept;

  // With Callbacks::on_caller: runs the waiting error handler calls and conditions on the calling thread. Returns
  // whether there were any. Never waits for another thread.
  SONDE_API bool run_callbacks() noexcept;

  // Returns when everything recorded before the call, by any thread, is in the file. Otherwise it returns the error: a
  // failed write, or the first loss since the last flush - records that were dropped because the buffer was full, whole
  // tensors and tables whose files could not be written. The error handler gets the same message.
  SONDE_API Status flush() noexcept;
  // Releases, on the calling thread, the owners of frozen tensors that the recorders of this process no longer need, as
  // RecorderOptions::release_owners says. Recording does so by itself; this is for a program that wants them back and
  // records nothing, and for tensors that were in flight when their recorder was closed. Owners that nobody asks for
  // before the process ends, and those of a parent process, are never released.
  SONDE_API static void release_owners() noexcept;
  // Flushes and closes the files, with the same errors. A second call does nothing.
  SONDE_API Status close() noexcept;

 private:
  explicit Recorder(std::shared_ptr<record::Channel> channel) noexcept;
  Step begin(std::int64_t number, bool beside_others, bool evaluation) noexcept;
  std::shared_ptr<record::Channel> channel_;
};

}  // namespace sonde

#endif
