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

// What a call does when there is no room for its record.
enum class Overflow : std::uint8_t {
  wait,         // until there is room, but at most RecorderOptions::max_wait; then drop_newest
  drop_newest,  // this record is lost, and counted
  drop_oldest,  // the oldest record that still waits is lost, and counted
};

// How scalars are written. Every reader takes f32; TensorBoard's fast reader silently ignores f64.
enum class Precision : std::uint8_t { f32, f64 };

// Receives what went wrong while recording, one sentence each. Called where RecorderOptions::callbacks says, one call
// at a time; it may record. On the backend thread it must not flush or close.
using ErrorHandler = std::function<void(const Status&)>;

// Where the program's own functions run: on_error, and the conditions of probes (ProbeOptions::when).
enum class Callbacks : std::uint8_t {
  // On the backend thread, at once. They must not need a lock that a thread holds while it calls flush or close: both
  // wait for the backend.
  on_backend,
  // On the program's threads alone: in Recorder::run_callbacks, in flush and close while they wait, and where a step
  // begins or ends. For hosts with a global lock, such as Python: a thread may hold it while it calls any of these. A
  // step whose conditions wait is written, and committed, when they are answered.
  on_caller,
};

struct RecorderOptions {
  // Bytes of tensor data that may wait between the recording threads and the disk, copied or frozen. Beyond it
  // `tensors` decides. More rides out longer bursts; all of it can become resident. A frozen tensor larger than all of
  // it is taken where no other one waits. 0 is an error.
  std::size_t memory = std::size_t{256} << 20;

  // Scalars are small and precious, tensors large and many: one waits, the other is dropped.
  Overflow scalars = Overflow::wait;
  Overflow tensors = Overflow::drop_newest;
  // The longest that one call may block under Overflow::wait.
  std::chrono::milliseconds max_wait{1000};

  // Threads that compute statistics and histograms of large tensors, the backend's own included; 0: a quarter of the
  // processors, at least one. They start with the first tensor of more than 2^18 elements. Results do not depend on it.
  int threads = 0;

  // How long a record may stay in memory before it is written. Shorter loses less in a crash, longer writes less often.
  std::chrono::milliseconds flush_interval{100};

  Precision precision = Precision::f32;

  // Buckets of the histograms that TensorBoard shows, at least 1. The statistics file keeps the full resolution.
  int histogram_buckets = 30;

  // Where print and print_full write; null prints nothing. Not owned, and must stay open until close.
  std::FILE* console = stdout;

  // Appended to the name of the event file, e.g. ".rank3"; no slashes.
  std::string file_suffix = {};

  // What is recorded of which probes, triggers, the flight ring and the budget. Empty: ProbeOptions decide.
  // Recorder::set_policy and `sonde policy` change it later.
  Policy policy = {};

  // Whether `sonde arm`, `sonde trigger` and `sonde policy` may change this run, through the file control.toml in its
  // directory, which is looked at every quarter of a second; one that belongs to another user is ignored. One that is
  // there at open counts from the first step on; where it is wrong, the policy above does.
  bool live_control = true;

  // A signal, such as SIGUSR1, that makes every recorder of the process save a capture; 0: none. The capture has the
  // step in which it came, when that ends, and the five before it; where it comes between two steps, the last six.
  // Several signals before it is noticed are one. Its handler replaces the program's; one signal a process.
  int trigger_signal = 0;

  // Where owners of frozen tensors end. Unset: each ends by itself on a thread of the program that records, begins a
  // step, flushes or closes; never on a thread of the library, and without a lock of the library held. Set: this is
  // called there instead with all that can go, and has to let go of them, e.g. under the lock of a Python interpreter,
  // taken once for the batch. It may be called by several threads at once, must not throw, and may be called until the
  // last handle is gone and Recorder::release_owners has returned.
  std::function<void(std::vector<std::shared_ptr<const void>>&&)> release_owners = {};

  // Null: errors are only counted. See Recorder::counters. What a policy asks for in vain is in the log as well: the
  // texts sonde/warnings and sonde/flight.
  ErrorHandler on_error = {};

  Callbacks callbacks = Callbacks::on_backend;
};

class StepValues;

// What is kept of a tensor at the steps that are multiples of `every`; 0: never.
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
  // Where one interval is not enough: several, each with what is kept at its own steps, as in
  //   .record = {{Keep::stats, 1}, {Keep::image, 100}}
  // They count in place of `keep` and `every`.
  std::vector<RecordEvery> record = {};
  // Evaluated when the step has ended, where RecorderOptions::callbacks says, so that a loss computed last decides over
  // the activations of the very same step. Unset: always.
  std::function<bool(const StepValues&)> when = {};
  // For Keep::image. Unset: the tensor's axes decide: one is a row, two are HW, three are HWC where the last one has 1,
  // 3 or 4 elements and NHW otherwise, four are NHWC; up to three without colours are grey, from the smallest value to
  // the largest.
  std::optional<Layout> layout = {};
  ImageOptions image = {};
  AudioOptions audio = {};  // for Keep::audio
};

// For Recorder::print_now.
struct PrintOptions {
  // The first and last so many elements of each dimension, as tf.print(summarize=) prints; -1: every element, 0: only
  // the line about the tensor.
  int summarize = 3;
};

// A column of Recorder::table.
struct TableColumn {
  std::string_view name;
  TensorView tensor;  // rows along its first axis; what a row holds becomes one column of the file each
};
struct TableOptions {
  RowSample sample = {};  // which rows; all unless it says otherwise
  bool print = false;     // also on the console
};

// What happened so far; every number only grows.
struct Counters {
  // Every call that records a scalar or a tensor ends in exactly one of the first five.
  std::uint64_t scalars = 0;          // taken from callers
  std::uint64_t tensors = 0;          // taken from callers: histograms, images, audio, probes, prints, tables
  std::uint64_t dropped_scalars = 0;  // because the buffer was full
  std::uint64_t dropped_tensors = 0;  // because the buffer was full; also texts, graphs and other large records
  std::uint64_t rejected = 0;         // unusable: bad shape, two kinds of summary under one tag, after close
  // Begins and ends of steps, because the buffer was full. The step is still recorded: its first tensor begins it.
  std::uint64_t dropped_step_marks = 0;
  std::uint64_t out_of_memory = 0;  // times that the backend could not do something, or only later, for lack of memory
  std::uint64_t write_errors = 0;   // batches that the disk refused
  std::uint64_t lost_records = 0;   // records in those batches
  std::uint64_t bytes_written = 0;
  std::uint64_t captures = 0;        // saved
  std::uint64_t flight_dropped = 0;  // tensors that found no room in the flight ring
  // Finite numbers that became infinite because scalars are written as f32: told once a tag. See Precision.
  std::uint64_t overflowed_scalars = 0;
};

}  // namespace sonde
