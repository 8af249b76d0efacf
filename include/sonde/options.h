// The settings of a recorder. Every default suits a training job on one machine.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/policy.h"
#include "sonde/status.h"
#include "sonde/summaries.h"

namespace sonde {

// What a call does when the buffer has no room for its record.
enum class Overflow : std::uint8_t {
  wait,         // until there is room, but at most RecorderOptions::max_wait; then drop_newest
  drop_newest,  // this record is lost, and counted
  drop_oldest,  // the oldest waiting record is lost, and counted
};

// How scalars are written. Every reader accepts f32; TensorBoard's fast reader silently ignores f64.
enum class Precision : std::uint8_t { f32, f64 };

// Receives errors that occur while recording, one sentence each. Called on the threads that RecorderOptions::callbacks
// selects, one call at a time; it may record. On the backend thread it must not flush or close.
using ErrorHandler = std::function<void(const Status&)>;

// On which threads the program's functions run: on_error, and the conditions of probes (ProbeOptions::when).
enum class Callbacks : std::uint8_t {
  // On the backend thread, at once. They must not need a lock that a thread holds while it calls flush or close: both
  // wait for the backend.
  on_backend,
  // Only on the program's threads: in Recorder::run_callbacks, in flush and close while they wait, and where a step
  // begins or ends. For hosts with a global lock, such as Python: a thread may hold it while it calls any of these. A
  // step with waiting conditions is written and committed once they have been evaluated.
  on_caller,
};

struct RecorderOptions {
  // Bytes of tensor data that may wait between the recording threads and the disk, copied or frozen. Beyond this limit
  // `tensors` decides. A larger limit absorbs longer bursts; all of it can become resident. A frozen tensor larger than
  // the limit is accepted if no other tensor waits. 0 is an error.
  std::size_t memory = std::size_t{256} << 20;

  // Scalars are small and precious, tensors large and many: by default scalars wait and tensors are dropped.
  Overflow scalars = Overflow::wait;
  Overflow tensors = Overflow::drop_newest;
  // The longest that one call may block under Overflow::wait.
  std::chrono::milliseconds max_wait{1000};

  // Threads that compute statistics and histograms of large tensors, including the backend's own; 0: a quarter of the
  // processors, at least one. They start with the first tensor of more than 2^18 elements. Results do not depend on it.
  int threads = 0;

  // How long a record may stay in memory before it is written. A shorter interval loses less in a crash, a longer one
  // writes less often.
  std::chrono::milliseconds flush_interval{100};

  Precision precision = Precision::f32;

  // Buckets of the histograms that TensorBoard shows, at least 1. The statistics file keeps the full resolution.
  int histogram_buckets = 30;

  // Where print and print_full write; null prints nothing. Not owned, and must stay open until close.
  std::FILE* console = stdout;

  // Appended to the name of the event file, e.g. ".rank3"; no slashes.
  std::string file_suffix = {};

  // For a job that begins again at an earlier step than it had reached: readers leave out what earlier files of the run
  // hold from this step on.
  std::optional<std::int64_t> purge_step = {};

  // What to record of which probes, triggers, the flight ring and the budget. Empty: ProbeOptions decide.
  // Recorder::set_policy and `sonde policy` change it later.
  Policy policy = {};

  // Whether `sonde arm`, `sonde trigger` and `sonde policy` may change this run, through the file control.toml in its
  // directory. The recorder checks it every 250 ms and ignores a file that belongs to another user. A file that exists
  // at open applies from the first step on; if it is invalid, the policy above applies.
  bool live_control = true;

  // A signal, such as SIGUSR1, that makes every recorder of the process save a capture; 0: none. The capture has the
  // step in progress, once it ends, and the five steps before it; if the signal comes between two steps, the last six.
  // Several signals before the first is noticed count as one. Its handler replaces the program's; one signal per
  // process.
  int trigger_signal = 0;

  // Where the owners of frozen tensors are released. Unset: each is released on a thread of the program that records,
  // begins a step, flushes or closes; never on a thread of the library, and without a lock of the library held. Set:
  // this function is called there instead with all owners that can be released, and must release them, e.g. under the
  // lock of a Python interpreter, taken once for the batch. Several threads may call it at once. It must not throw, and
  // may be called until the last handle is gone and Recorder::release_owners has returned.
  std::function<void(std::vector<std::shared_ptr<const void>>&&)> release_owners = {};

  // Null: errors are only counted. See Recorder::counters. Problems with a policy are in the log as well, as the texts
  // sonde/warnings and sonde/flight.
  ErrorHandler on_error = {};

  Callbacks callbacks = Callbacks::on_backend;
};

class StepValues;

// What to keep of a tensor at the steps that are multiples of `every`; 0: never.
struct RecordEvery {
  Keep keep = Keep::stats | Keep::histogram;
  std::int64_t every = 1;
  friend bool operator==(const RecordEvery&, const RecordEvery&) = default;
};

struct ProbeOptions {
  Kind kind = Kind::activation;
  std::vector<std::string> inputs = {};  // names of the probes it is computed from
  Keep keep = Keep::stats | Keep::histogram;
  std::int64_t every = 1;  // steps; 0: never, below 0: an error
  // If one interval is not enough: several, each with what to keep at its own steps, as in
  //   .record = {{Keep::stats, 1}, {Keep::image, 100}}
  // They replace `keep` and `every`.
  std::vector<RecordEvery> record = {};
  // Evaluated when the step has ended, on the threads that RecorderOptions::callbacks selects, so that a loss computed
  // last decides over the activations of the same step. Unset: always.
  std::function<bool(const StepValues&)> when = {};
  // For Keep::image. Unset: the tensor's axes decide: one is a row, two are HW, three are HWC if the last one has 1, 3
  // or 4 elements and NHW otherwise, four are NHWC; up to three axes without colours are grey, from the smallest value
  // to the largest.
  std::optional<Layout> layout = {};
  ImageOptions image = {};
  AudioOptions audio = {};  // for Keep::audio
};

// For Recorder::print_now.
struct PrintOptions {
  // The first and last N elements of each dimension, as tf.print(summarize=N) prints; -1: every element, 0: only the
  // line about the tensor.
  int summarize = 3;
};

// A column of Recorder::table.
struct TableColumn {
  std::string_view name;
  TensorView tensor;  // rows along its first axis; each element of a row becomes one column of the file
};
struct TableOptions {
  RowSample sample = {};  // which rows; by default all
  bool print = false;     // also on the console
};

// What happened so far; all numbers only grow.
struct Counters {
  // Every call that records a scalar or a tensor counts in exactly one of the first five.
  std::uint64_t scalars = 0;          // accepted
  std::uint64_t tensors = 0;          // accepted: histograms, images, audio, probes, prints, tables
  std::uint64_t dropped_scalars = 0;  // because the buffer was full
  std::uint64_t dropped_tensors = 0;  // because the buffer was full; also texts, graphs and other large records
  // Unusable: bad shape, two kinds of summary under one tag, after close; or there was no memory to take it in.
  std::uint64_t rejected = 0;
  // Begins and ends of steps that were dropped because the buffer was full. The step is still recorded: its first
  // tensor begins it.
  std::uint64_t dropped_step_marks = 0;
  std::uint64_t out_of_memory = 0;  // failures and delays of the backend because it was out of memory
  std::uint64_t write_errors = 0;   // batches that could not be written
  std::uint64_t lost_records = 0;   // records in those batches, and those for which there was no memory
  std::uint64_t bytes_written = 0;
  std::uint64_t captures = 0;        // saved
  std::uint64_t flight_dropped = 0;  // tensors that did not fit into the flight ring
  // Finite numbers that became infinite because scalars are written as f32; reported once per tag. See Precision.
  std::uint64_t overflowed_scalars = 0;
};

}  // namespace sonde
