// What is recorded of which tensors, and when: in code, or as a file, and it can be changed on a running job.
//
//   auto policy = sonde::Policy::load("policy.toml");
//   if (!policy) { std::cerr << policy.error().message() << '\n'; return 1; }    // names line and column
//   auto rec = sonde::Recorder::open("logs/train", {.policy = *policy});
//
//   [[watch]]
//   tensors = "encoder/.*"                   # an exact name, or a regular expression for the name or "kind/name"
//   every   = 100                            # steps; or "epoch", "5 epochs"
//   when    = "loss > 1.0"                   # evaluated when the step ends
//   record  = ["stats", "histogram", "image"]
//
//   [[trigger]]
//   when    = "nonfinite('.*') or zscore(loss, 200) > 6"
//   before  = 5                              # steps, from the flight ring: already over when the trigger fires
//   after   = 2
//
// docs/policy.md documents all keys, the language of conditions and the ready-made rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/export.h"
#include "sonde/status.h"
#include "sonde/summaries.h"

namespace sonde {

// What to keep of a tensor. Combine with |.
enum class Keep : std::uint16_t {
  nothing = 0,
  stats = 1,      // count, non-finite, zeros, negatives, min, max, mean, deviation: under 100 bytes
  histogram = 2,  // full resolution in the statistics file, and TensorBoard's in the event file
  image = 4,      // of the whole tensor, as Recorder::image draws it; see ProbeOptions::layout
  print = 8,      // one line on the console
  whole = 16,     // every element: tensors/<step>.<writer>.safetensors
  npy = 32,       // the same, one file per tensor and step: tensors/<step>.<writer>/<tag>.npy
  npz = 64,       // the same, one archive per step: tensors/<step>.<writer>.npz
  csv = 128,      // rows appended to tables/<tag>.<writer>.csv
  audio = 256,    // [frames] or [frames, channels], as Recorder::audio
};
constexpr Keep operator|(Keep a, Keep b) noexcept {
  return static_cast<Keep>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr Keep operator&(Keep a, Keep b) noexcept {
  return static_cast<Keep>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
constexpr bool has(Keep set, Keep flag) noexcept { return (set & flag) != Keep::nothing; }

// The rows to keep of a tensor (the first axis, usually the batch); all if `rows` is 0.
struct RowSample {
  std::int64_t rows = 0;
  bool random = false;  // other rows at every step, the same in every run; otherwise the first ones
  friend bool operator==(const RowSample&, const RowSample&) = default;
};

// One [[watch]]. All watches that match a tensor apply, each at its own steps: Sonde records everything that they ask
// for. A tensor that no watch matches is not recorded, unless there is no [[watch]] at all: then ProbeOptions decide.
struct WatchPolicy {
  std::string tensors = ".*";
  std::string exclude = {};      // matching tensors are excluded, except one that `tensors` names exactly
  std::vector<Kind> kinds = {};  // empty: all
  std::int64_t every = 1;        // at the steps that are multiples of it
  bool epochs = false;           // `every` counts epochs (Recorder::epoch): the first step of each is due
  std::int64_t first_step = 0;   // steps = "1000..2000": the range in which it is due, both ends included;
  std::int64_t last_step = -1;   // -1: no end
  std::int64_t first = 0;        // only the first N due steps; 0: all
  RowSample sample = {};
  std::string when = {};  // an expression; empty: always
  Keep record = Keep::stats | Keep::histogram;
  friend bool operator==(const WatchPolicy&, const WatchPolicy&) = default;
};

// When a trigger may fire again after it has fired and its hold-off is over.
enum class Rearm : std::uint8_t {
  edge,    // after its condition has been false
  always,  // at once
  never,
};

// One [[trigger]]: when its condition holds at the end of a step, the steps around it are saved as a capture.
struct TriggerPolicy {
  std::string name = {};      // part of the capture's name; empty: the rule's, or "trigger"
  std::string when = {};      // an expression; or
  std::string rule = {};      // a ready-made one, such as "nonfinite" or "exploding_gradient"
  std::string tensors = {};   // for a rule: the tensors that it looks at; empty: the rule's default
  std::string scalar = {};    // for a rule about the loss: its name; empty: "loss"
  std::int64_t before = 5;    // steps
  std::int64_t after = 0;     // steps
  std::int64_t hold_off = 0;  // steps after the capture's last one in which it does not fire
  Rearm rearm = Rearm::edge;
  std::int64_t max_captures = 10;  // by this trigger in this process; 0: no limit
  friend bool operator==(const TriggerPolicy&, const TriggerPolicy&) = default;
};

// [flight]: the ring that holds the last steps with all their elements, in a file that survives the process.
struct FlightPolicy {
  enum class Use : std::uint8_t {
    automatic,  // while there is a trigger
    on,
    off,
  } use = Use::automatic;
  std::uint64_t bytes = 0;     // of the file; 0: 256 MiB, or less where the kernel would write it back all the time
  std::int64_t steps = 0;      // keep at most the last N steps; 0: as many as fit
  std::string tensors = ".*";  // which of the probed tensors
  std::string exclude = {};
  std::vector<Kind> kinds = {};  // empty: all
  std::string directory = {};    // empty: the run's. Choose another one if that is on a network
  friend bool operator==(const FlightPolicy&, const FlightPolicy&) = default;
};

// [budget]: limits the cost of recording. When recording exceeds it, it does less: whole tensors become statistics,
// statistics become nothing; when the cost falls, it does more again. The log notes every change. Scalars are always
// recorded.
struct BudgetPolicy {
  std::optional<double> overhead =
      {};  // time that callers and the backend spend on tensors, over wall time: 0.01 is "1%"
  std::optional<std::uint64_t> memory = {};  // bytes: tensors in flight and the flight ring
  // Bytes of the run's directory. Whole tensors and captures may use 90 % of them: a capture that would exceed this is
  // not started, and does not count against TriggerPolicy::max_captures. Checkpoints count, but are always saved.
  std::optional<std::uint64_t> disk = {};
  friend bool operator==(const BudgetPolicy&, const BudgetPolicy&) = default;
};

struct Policy {
  std::vector<WatchPolicy> watches = {};
  std::vector<TriggerPolicy> triggers = {};
  FlightPolicy flight = {};
  BudgetPolicy budget = {};
  // [allow] negative_infinity: tensors, selected as in a watch, in which -inf is intended, such as attention masks. In
  // these tensors -inf does not count as non-finite.
  std::vector<std::string> allow_negative_infinity = {};
  friend bool operator==(const Policy&, const Policy&) = default;

  // `source` is the file's name in messages: "policy.toml:3:9: ...". Unknown keys are errors, with the nearest known
  // one.
#if !defined(SONDE_DISABLED)
  SONDE_API static Result<Policy> parse(std::string_view toml, std::string_view source = "policy");
  SONDE_API static Result<Policy> load(std::string_view path);
  // Checks every expression, selector and number, for a policy made in code; parse has already done so.
  SONDE_API Status check() const;
#else
  // These read nothing, so that a program that records nothing needs no library. They are always inlined: as functions
  // they would replace the library's in a program where another part records.
  [[gnu::always_inline]] static Result<Policy> parse(std::string_view, std::string_view = "policy") { return Policy(); }
  [[gnu::always_inline]] static Result<Policy> load(std::string_view) { return Policy(); }
  [[gnu::always_inline]] Status check() const { return {}; }
#endif
};

}  // namespace sonde
