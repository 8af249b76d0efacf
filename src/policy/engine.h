// A compiled policy: its patterns and conditions, and their memory of earlier steps.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/selector.h"
#include "policy/expression.h"
#include "policy/trigger.h"
#include "sonde/policy.h"
#include "sonde/status.h"

namespace sonde::policy {

// The position of a step among the epochs.
struct Moment {
  std::int64_t step = 0;
  bool begins_epoch = false;  // it is the first step of `epoch`
  std::int64_t epoch = 0;
  bool evaluation = false;
  std::int64_t since = -1;  // of an evaluation pass: the step of the previous one; -1: it is the first
};

// One bit for each part of a plan.
using Parts = std::uint64_t;
constexpr bool has_part(Parts parts, std::size_t i) noexcept { return (parts >> i & 1U) != 0; }

// What one watch records of a tensor.
struct Part {
  static constexpr std::uint32_t kOwn = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t watch = kOwn;  // its number in the engine; kOwn: the program's own options
  std::int64_t every = 1;      // steps, or epochs; 0: never
  bool epochs = false;
  std::int64_t first_step = std::numeric_limits<std::int64_t>::min();
  std::int64_t last_step = std::numeric_limits<std::int64_t>::max();
  RowSample sample = {};
  Keep keep = Keep::nothing;
  bool spent[2] = {false, false};  // WatchPolicy::first steps were kept, of training and of evaluation

  bool due(const Moment& moment) const noexcept;
  friend bool operator==(const Part&, const Part&) = default;
};

class Engine;

// Whether a policy wants a flight ring.
bool wants_flight(const Policy& policy) noexcept;

// What all watches record of a tensor. Never changed once created; recording threads read it.
struct Plan {
  static constexpr std::size_t kMaxParts = 64;
  const Engine* engine = nullptr;  // the engine that created it
  std::vector<Part> parts = {};
  bool crowded = false;  // more watches match, or the program wants more, than there can be parts: the first ones count
  bool flight = false;   // goes into the ring, at every step
  bool observed = false;  // a condition may need its statistics, at every step
  bool negative_infinity_allowed = false;
  RowSample sample = {};  // the rows that are needed, if they are the same for all parts

  // Whether it is never wanted at any step: the quick answer for most tensors.
  bool idle() const noexcept { return parts.empty() && !flight && !observed; }
  Parts due(const Moment& moment) const noexcept;
  Keep keep(Parts due) const noexcept;
  // Sets `sample` from the parts.
  void finalize() noexcept;
  friend bool operator==(const Plan&, const Plan&) = default;
};

// plan() and the other questions about the policy may be called from any thread; what concerns steps belongs to one.
class Engine {
 public:
  static Result<std::shared_ptr<Engine>> create(const Policy& policy);

  const Policy& policy() const noexcept { return policy_; }
  // Whether a step's values are needed at all.
  bool has_conditions() const noexcept { return has_conditions_; }
  bool wants_flight() const noexcept { return policy::wants_flight(policy_); }

  // `own`: what the program itself wants of the tensor, which counts only if the policy has no watch.
  Plan plan(std::string_view name, Kind kind, std::span<const Part> own) const;

  // Patterns of the policy that match none of these tensors, each with its place: "the watch on 'encoder/.*'".
  struct Named {
    std::string_view name;
    Kind kind = Kind::activation;
  };
  struct Unmatched {
    std::string place;
    std::string pattern;
  };
  std::vector<Unmatched> unmatched(std::span<const Named> tensors) const;
  // Scalars that conditions use, each with its place: "the scalar 'los' in the trigger 'spike'".
  std::vector<Unmatched> scalars() const;

  // Takes over the state of another engine, for all watches and triggers that both have. No plan may be created
  // meanwhile.
  void adopt(Engine& other);

  // ---- Steps, one after the other. `due` are the watches that were due for some tensor, each once.
  void end_step(const StepFacts& facts, bool evaluation, std::span<const std::uint32_t> due);
  // Whether a watch keeps what was due in the step that has just ended.
  bool keeps(std::uint32_t watch, bool evaluation) const noexcept { return watches_[watch].keeps[evaluation ? 1 : 0]; }
  // Whether that is known only at the end of the step.
  bool is_conditional(std::uint32_t watch) const noexcept;
  // Reports the outcome of a capture, in the order in which they were taken: several triggers may have one name and
  // fire in one step.
  void capture_ended(std::string_view trigger, std::int64_t step, bool saved) noexcept;
  // Whether some watch has reached its limit since plans were created, so that new ones would ask for less. They do
  // after retire_spent, during which none may be created.
  bool has_newly_spent() const noexcept { return newly_spent_; }
  void retire_spent() noexcept;
  // The triggers that fired in the step that has just ended.
  const std::vector<const Trigger*>& fired() const noexcept { return fired_; }

 private:
  struct WatchState {
    tags::Selector selector;
    // Training and evaluation each remember their own steps.
    std::vector<Expression> conditions;  // none, or two
    std::int64_t taken[2] = {0, 0};      // steps so far, for WatchPolicy::first
    bool keeps[2] = {true, true};
    bool spent[2] = {false, false};  // as plans see it
  };

  explicit Engine(Policy policy) : policy_(std::move(policy)) {}
  Status compile();
  Status compile_watch(const WatchPolicy& watch);
  bool is_observed(std::string_view name, Kind kind) const;
  // All conditions, each with its owner: "the trigger 'spike'".
  std::vector<std::pair<const Expression*, std::string>> conditions() const;

  Policy policy_;
  std::vector<WatchState> watches_;
  std::vector<Trigger> triggers_;
  std::vector<tags::Selector> flight_;  // exactly one
  std::vector<tags::Selector> allowed_;
  bool has_conditions_ = false;
  bool newly_spent_ = false;
  std::vector<const Trigger*> fired_;
};

}  // namespace sonde::policy
