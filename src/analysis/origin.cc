// Finds the tensor that produced the first non-finite values of a capture. Its claims must hold whatever else happened
// outside of the capture: a tensor is a certain producer only if every value that it was computed from was seen.
// Training does not continue from what evaluation passes computed: they are analysed only if all training steps are
// finite.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "formats/selector.h"
#include "sonde/capture.h"

namespace sonde {
namespace {

// A tensor without the occurrence.
struct Probe {
  std::string_view name;
  Kind kind = Kind::activation;
  friend auto operator<=>(const Probe&, const Probe&) = default;
};

std::string text_of(const Probe& probe) { return std::string(to_string(probe.kind)) + "/" + std::string(probe.name); }

std::string count_text(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::string step_text(std::int64_t step, bool evaluation) {
  return (evaluation ? "evaluation pass " : "step ") + std::to_string(step);
}
std::string step_text(const CapturedStep& step) { return step_text(step.step, step.evaluation); }

using Steps = std::vector<const CapturedStep*>;

// "step 5", "3 steps, from step 5 to step 9". Not empty.
std::string steps_text(const Steps& steps) {
  if (steps.size() == 1) return step_text(*steps.front());
  const bool passes = std::ranges::all_of(steps, &CapturedStep::evaluation);
  return std::to_string(steps.size()) + (passes ? " evaluation passes, from " : " steps, from ") +
         step_text(*steps.front()) + " to " + step_text(*steps.back());
}

constexpr int kKinds = static_cast<int>(Kind::output) + 1;

class Search {
 public:
  explicit Search(const CaptureInfo& capture) : capture_(capture) {
    for (const std::string& pattern : capture.allow_negative_infinity) {
      Result<tags::Selector> selector = tags::Selector::create(pattern);
      if (selector) {
        allowed_.push_back(*std::move(selector));
      } else {
        origin_.caveats.push_back("no -inf was allowed by '" + pattern + "': " + selector.error().message());
      }
    }
    for (const CapturedStep& step : capture.steps) {
      for (const CapturedTensor& tensor : step.tensors) known_.insert({tensor.name, tensor.kind});
    }
  }

  Origin run() && {
    step_ = first_bad(false);
    if (step_ == nullptr) step_ = first_bad(true);
    std::span<const CapturedStep> steps = capture_.steps;
    for (const CapturedStep& step : steps) origin_.tensors += step.tensors.size();
    if (step_ != nullptr) {
      origin_.found = true;
      steps = steps.first(static_cast<std::size_t>(step_ - capture_.steps.data()) + 1);
      judge_step(steps.first(steps.size() - 1));
    }
    add_caveats(steps);
    return std::move(origin_);
  }

 private:
  // What became of an input.
  struct Input {
    enum class State : std::uint8_t { finite, nonfinite, unseen } state = State::unseen;
    std::string text;  // its key; if unseen, a description
    const CapturedTensor* tensor = nullptr;
  };
  static Input unseen(std::string text) { return {Input::State::unseen, std::move(text), nullptr}; }

  bool negative_infinity_allowed(const CapturedTensor& tensor) const {
    return tensor.negative_infinity > 0 && std::ranges::any_of(allowed_, [&](const tags::Selector& selector) {
             return selector.match(tensor.name, tensor.kind) != tags::Match::none;
           });
  }
  bool bad(const CapturedTensor& tensor) const {
    return tensor.nan > 0 || tensor.positive_infinity > 0 ||
           (tensor.negative_infinity > 0 && !negative_infinity_allowed(tensor));
  }

  bool bad(const CapturedStep& step) const {
    return std::ranges::any_of(step.tensors, [&](const CapturedTensor& tensor) { return bad(tensor); });
  }
  const CapturedStep* first_bad(bool evaluation) const {
    const auto first = std::ranges::find_if(
        capture_.steps, [&](const CapturedStep& step) { return step.evaluation == evaluation && bad(step); });
    return first == capture_.steps.end() ? nullptr : &*first;
  }

  bool lost_in(const CapturedStep& step) const {
    return std::ranges::any_of(capture_.dropped, [&](const CaptureGap& gap) {
      return gap.first_step <= step.step && step.step <= gap.last_step;
    });
  }
  static bool follows(const CapturedStep& step, const CapturedStep& before) {
    return step.evaluation == before.evaluation && before.complete && before.step < step.step &&
           static_cast<std::uint64_t>(step.step) - static_cast<std::uint64_t>(before.step) == 1;
  }

  void judge_step(std::span<const CapturedStep> earlier) {
    for (std::size_t i = 0; i < step_->tensors.size(); ++i) {
      places_[{step_->tensors[i].name, step_->tensors[i].kind}].push_back(i);
    }
    lossy_ = lost_in(*step_);
    partial_ = lossy_ || !step_->complete;
    whole_step_elsewhere_ = std::ranges::any_of(capture_.steps, [&](const CapturedStep& step) {
      return &step != step_ && step.evaluation == step_->evaluation && step.complete && !lost_in(step);
    });
    // Between two training steps an evaluation changes nothing; between two evaluations, training does.
    const CapturedStep* previous = nullptr;
    for (const CapturedStep& step : earlier) {
      if (step_->evaluation || !step.evaluation) previous = &step;
    }
    if (previous != nullptr && follows(*step_, *previous)) before_ = previous;
    for (at_ = 0; at_ < step_->tensors.size(); ++at_) {
      if (bad(step_->tensors[at_])) judge(step_->tensors[at_]);
    }
    if (previous == nullptr) {
      origin_.caveats.push_back(step_text(*step_) + " is the first that the capture holds, so the origin may be older");
    }
  }

  void judge(const CapturedTensor& tensor) {
    Origin::Place place;
    place.key = tensor.key;
    place.kind = tensor.kind;
    place.step = step_->step;
    place.evaluation = step_->evaluation;
    place.count = tensor.count;
    place.nan = tensor.nan;
    place.infinite = tensor.positive_infinity + (negative_infinity_allowed(tensor) ? 0 : tensor.negative_infinity);
    std::vector<std::string> caveats;
    for (const std::string& name : tensor.inputs) {
      Input input = find_input(tensor, name);
      if (input.state == Input::State::nonfinite) {
        origin_.propagators.push_back(tensor.key);
        return;
      }
      if (input.state == Input::State::unseen) {
        place.unseen.push_back(std::move(input.text));
        continue;
      }
      if (input.tensor != nullptr && input.tensor->negative_infinity > 0) {
        caveats.push_back(input.tensor->key + " holds -inf, which is allowed there and counts as finite");
      }
      place.inputs.push_back(std::move(input.text));
    }
    // Data come from outside; everything else is computed from something.
    if (tensor.inputs.empty() && tensor.kind != Kind::input) {
      place.unseen.emplace_back("what it is computed from, which the program did not declare");
    }
    origin_.producers.push_back(std::move(place));
    for (std::string& caveat : caveats) {
      if (std::ranges::find(origin_.caveats, caveat) == origin_.caveats.end()) {
        origin_.caveats.push_back(std::move(caveat));
      }
    }
  }

  // A name means the tensor that is written out as "kind/name", else the one of the same kind, else those of other
  // kinds.
  Input find_input(const CapturedTensor& tensor, std::string_view name) const {
    const Probe self = {tensor.name, tensor.kind};
    for (int i = 0; i < kKinds; ++i) {
      const auto kind = static_cast<Kind>(i);
      const std::string_view word = to_string(kind);
      if (!name.starts_with(word) || !name.substr(word.size()).starts_with('/')) continue;
      const Probe written_out = {name.substr(word.size() + 1), kind};
      if (known_.contains(written_out)) return look_up(tensor, written_out);
    }
    // A gradient that names its own name means the activation, not itself.
    const Probe same = {name, tensor.kind};
    if (same != self && known_.contains(same)) return look_up(tensor, same);
    const std::vector<Probe> others = of_other_kinds(tensor, name);
    if (!others.empty()) return look_up_all(tensor, name, others);
    return same == self ? look_up(tensor, self) : find_scalar(name);
  }

  std::vector<Probe> of_other_kinds(const CapturedTensor& tensor, std::string_view name) const {
    const auto backward = [](Kind kind) { return kind == Kind::gradient || kind == Kind::update; };
    std::vector<Probe> found;
    for (int i = 0; i < kKinds; ++i) {
      const Probe probe = {name, static_cast<Kind>(i)};
      if (probe.kind != tensor.kind && known_.contains(probe)) found.push_back(probe);
    }
    // A forward computation uses tensors that exist by then.
    if (!backward(tensor.kind) && tensor.kind != Kind::weight &&
        std::ranges::any_of(found, [&](const Probe& probe) { return !backward(probe.kind); })) {
      std::erase_if(found, [&](const Probe& probe) { return backward(probe.kind); });
    }
    return found;
  }

  Input look_up_all(const CapturedTensor& tensor, std::string_view name, const std::vector<Probe>& probes) const {
    std::optional<Input> finite;
    std::optional<Input> missing;
    bool gradient = false;
    for (const Probe& probe : probes) {
      Input input = look_up(tensor, probe);
      if (input.state == Input::State::nonfinite) return input;
      gradient = gradient || (probe.kind == Kind::gradient && input.state == Input::State::finite);
      (input.state == Input::State::finite ? finite : missing) = std::move(input);
    }
    if (!finite) return *missing;
    // A backward computation uses gradients, whatever else of that name was recorded.
    if (tensor.kind == Kind::gradient || (tensor.kind == Kind::update && !gradient)) {
      return unseen("gradient/" + std::string(name) + " (not in the capture; " + finite->text + " was finite)");
    }
    if (partial_ && !whole_step_elsewhere_) {
      return unseen(std::string(name) + " (" + finite->text + " was finite, but tensors of this step are missing)");
    }
    if (missing) return unseen(missing->text + ", where " + std::string(name) + " means that");
    return *finite;
  }

  // The value that was the last before the tensor was computed, of the same occurrence.
  Input look_up(const CapturedTensor& tensor, const Probe& probe) const {
    const bool self = probe == Probe{tensor.name, tensor.kind};  // its previous value, such as a state
    const std::int64_t wanted = std::int64_t{tensor.occurrence} - (self ? 1 : 0);
    const CapturedTensor* found = nullptr;
    const CapturedTensor* single = nullptr;
    std::size_t occurrences = 0;
    for (const std::size_t i : places_of(probe)) {
      const CapturedTensor& other = step_->tensors[i];
      if (i == at_) continue;
      ++occurrences;
      if (i > at_) continue;
      if (other.occurrence == wanted) found = &other;
      if (other.occurrence == 0) single = &other;
    }
    // What all micro-batches use is recorded once, such as a weight.
    if (found == nullptr && single != nullptr && (occurrences > 1 || partial_)) {
      return unseen(text_of(probe) + "#" + std::to_string(wanted) + " (not in the capture)");
    }
    if (found == nullptr) found = single;
    if (found == nullptr) return find_elsewhere(probe, occurrences > 0);
    if (!bad(*found)) {
      if (const CapturedTensor* other = bad_occurrence(probe); other != nullptr) {
        return unseen("whether it is computed from " + other->key + " too, which was not finite");
      }
      if (!self && updated_since(probe)) return unseen(text_of(probe) + " after the update in this step");
    }
    return seen(*found);
  }

  Input seen(const CapturedTensor& tensor) const {
    return {bad(tensor) ? Input::State::nonfinite : Input::State::finite, tensor.key, &tensor};
  }

  // Another occurrence that was non-finite before: a sum over micro-batches is computed from all of them.
  const CapturedTensor* bad_occurrence(const Probe& probe) const {
    for (const std::size_t i : places_of(probe)) {
      if (i < at_ && bad(step_->tensors[i])) return &step_->tensors[i];
    }
    return nullptr;
  }

  // Whether a weight was updated between its last record and the tensor that is judged.
  bool updated_since(const Probe& probe) const {
    if (probe.kind != Kind::weight) return false;
    std::size_t last = 0;
    for (const std::size_t i : places_of(probe)) last = i < at_ ? i : last;
    return std::ranges::any_of(places_of({probe.name, Kind::update}),
                               [&](std::size_t i) { return last < i && i < at_; });
  }

  // In the step's tensors, ascending.
  std::span<const std::size_t> places_of(const Probe& probe) const {
    const auto found = places_.find(probe);
    return found == places_.end() ? std::span<const std::size_t>() : found->second;
  }

  // A scalar, such as the loss from which gradients come. A capture has the last value of each in the step, and does
  // not tell which tensors came before it: what the scalar was when this one was computed was not seen.
  Input find_scalar(std::string_view name) const {
    for (const auto& [scalar, value] : step_->scalars) {
      if (scalar != name) continue;
      if (!std::isfinite(value)) return unseen("how the scalar " + scalar + " was computed, which was not finite");
      return unseen("the scalar " + scalar + " at that moment (its last value in this step was finite)");
    }
    return unseen(std::string(name) + " (not in the capture)");
  }

  // For inputs that were not recorded in this step before the tensor. The previous step may help for tensors that do
  // not change between the two, such as a weight.
  Input find_elsewhere(const Probe& probe, bool later) const {
    const auto last_of = [&](const CapturedStep& step) -> const CapturedTensor* {
      const CapturedTensor* last = nullptr;
      for (const CapturedTensor& other : step.tensors) {
        if (Probe{other.name, other.kind} == probe) last = &other;
      }
      return last;
    };
    const std::string text = text_of(probe);
    if (lossy_ && !later) return unseen(text + " (not in this step, which lacks some tensors)");
    const CapturedTensor* before = before_ != nullptr ? last_of(*before_) : nullptr;
    const CapturedTensor* after = later ? last_of(*step_) : nullptr;
    if (probe.kind == Kind::weight && before != nullptr && after != nullptr && !bad(*after)) {
      return {Input::State::finite, after->key, after};  // finite before and finite afterwards
    }
    if (before != nullptr && updated_before(*before)) {
      return {Input::State::finite, before->key + " of " + step_text(*before_), before};
    }
    if (before != nullptr) {
      return unseen(text + " at the beginning of the step (it was finite in " + step_text(*before_) + ")");
    }
    return unseen(text + (later ? " (recorded only after it)" : " (not in the capture of this step)"));
  }

  // Whether the value of the step before is the one after its last update, which nothing has changed until now.
  bool updated_before(const CapturedTensor& tensor) const {
    const auto is_update = [&](const CapturedTensor& other) {
      return other.kind == Kind::update && other.name == tensor.name;
    };
    if (lost_in(*before_)) return false;
    const auto place = before_->tensors.begin() + (&tensor - before_->tensors.data());
    return std::any_of(before_->tensors.begin(), place, is_update) &&
           std::none_of(place, before_->tensors.end(), is_update) &&
           std::ranges::none_of(std::span(step_->tensors).first(at_), is_update);
  }

  // Adds what the steps up to the first non-finite one do not show; if all are finite, what all of them do not show.
  void add_caveats(std::span<const CapturedStep> steps) {
    if (capture_.steps.empty()) origin_.caveats.emplace_back("the capture holds no step");
    add_empty_steps(steps);
    add_scalars(steps);
    if (!origin_.found) add_allowed();
    add_unfinished_steps(steps);
    add_missing_steps(steps);
    add_gaps(steps);
    if (origin_.found && !step_->evaluation) add_evaluations();
    if (!origin_.found && capture_.cause == CaptureInfo::Cause::crash) {
      origin_.caveats.emplace_back(
          "later steps may be missing: the last data may not have reached the ring when the process ended");
    }
  }

  // Whether training as it is judged may depend on the step.
  bool counts(const CapturedStep& step) const { return step_ == nullptr || step_->evaluation || !step.evaluation; }

  void add_empty_steps(std::span<const CapturedStep> steps) {
    Steps empty;
    for (const CapturedStep& step : steps) {
      if (counts(step) && step.tensors.empty()) empty.push_back(&step);
    }
    if (!empty.empty()) origin_.caveats.push_back("the capture holds no tensor of " + steps_text(empty));
  }

  void add_unfinished_steps(std::span<const CapturedStep> steps) {
    Steps unfinished;
    for (const CapturedStep& step : steps) {
      if (counts(step) && !step.complete) unfinished.push_back(&step);
    }
    if (unfinished.empty()) return;
    origin_.caveats.push_back(
        "the capture does not hold the end of " + steps_text(unfinished) +
        (unfinished.size() == 1 ? ": what came later in it is missing" : ": what came later in them is missing"));
  }

  void add_evaluations() {
    Steps passes;
    for (const CapturedStep& step : capture_.steps) {
      if (step.evaluation && bad(step)) passes.push_back(&step);
    }
    if (passes.empty()) return;
    const std::vector<CapturedTensor>& tensors = passes.front()->tensors;
    const auto first = std::ranges::find_if(tensors, [&](const CapturedTensor& tensor) { return bad(tensor); });
    origin_.caveats.push_back("non-finite too, but training does not continue from there: " + first->key + " in " +
                              steps_text(passes));
  }

  // A scalar that was not finite before any tensor was, each once. In the same step it follows from the tensors.
  void add_scalars(std::span<const CapturedStep> steps) {
    std::set<std::string_view> told;
    for (const CapturedStep& step : steps) {
      if (&step == step_ || bad(step)) continue;
      for (const auto& [scalar, value] : step.scalars) {
        if (std::isfinite(value) || !told.insert(scalar).second) continue;
        origin_.caveats.push_back("the scalar " + scalar + " was not finite in " + step_text(step) +
                                  ", and no tensor that was captured shows why");
      }
    }
  }

  void add_allowed() {
    std::set<Probe> allowed;
    for (const CapturedStep& step : capture_.steps) {
      for (const CapturedTensor& tensor : step.tensors) {
        if (negative_infinity_allowed(tensor)) allowed.insert({tensor.name, tensor.kind});
      }
    }
    if (allowed.empty()) return;
    const std::string others = allowed.size() == 1 ? " holds -inf, which is allowed there and counts as finite"
                                                   : " and " + count_text(allowed.size() - 1, "other tensor") +
                                                         " hold -inf, which is allowed there and counts as finite";
    origin_.caveats.push_back(text_of(*allowed.begin()) + others);
  }

  void add_missing_steps(std::span<const CapturedStep> steps) {
    std::uint64_t apart = 0;
    std::uint64_t holes = 0;
    std::string first;
    const CapturedStep* previous = nullptr;
    for (const CapturedStep& step : steps) {
      if (step.evaluation) continue;
      if (previous != nullptr && step.step > previous->step) {
        const auto distance = static_cast<std::uint64_t>(step.step) - static_cast<std::uint64_t>(previous->step);
        if (apart > 0 && distance > apart && ++holes == 1) {
          first = "between " + step_text(*previous) + " and " + step_text(step);
        }
        apart = apart == 0 ? distance : std::min(apart, distance);
      }
      previous = &step;
    }
    if (holes == 0) return;
    origin_.caveats.push_back("the capture holds nothing " + first +
                              (holes > 1 ? ", and steps are missing in " + count_text(holes - 1, "more place") : ""));
  }

  // Gaps of one sort as one, over the steps that they reach.
  void add_gaps(std::span<const CapturedStep> steps) {
    constexpr std::size_t kMost = 5;
    std::vector<CaptureGap> joined;
    std::map<std::string_view, std::size_t> places;
    std::vector<bool> broken;  // whether steps in between lack nothing
    for (const CaptureGap& gap : capture_.dropped) {
      // Later than all that counts. Steps may go back, so the last one need not be the largest.
      const auto later = [&](const CapturedStep& step) { return gap.first_step > step.step; };
      if (origin_.found && std::ranges::all_of(steps, later)) continue;
      const auto [place, is_new] = places.try_emplace(gap.what, joined.size());
      if (is_new) {
        joined.push_back(gap);
        broken.push_back(false);
        continue;
      }
      CaptureGap& whole = joined[place->second];
      if (gap.first_step > whole.last_step && any_between(whole.last_step, gap.first_step))
        broken[place->second] = true;
      whole.first_step = std::min(whole.first_step, gap.first_step);
      whole.last_step = std::max(whole.last_step, gap.last_step);
      whole.count += gap.count;
    }
    for (std::size_t i = 0; i < std::min(kMost, joined.size()); ++i) add_gap(joined[i], broken[i]);
    if (joined.size() > kMost) {
      origin_.caveats.push_back("the capture lacks " + count_text(joined.size() - kMost, "more tensor") +
                                ": capture.json names all");
    }
  }

  void add_gap(const CaptureGap& gap, bool broken) {
    std::string where = " in step " + std::to_string(gap.first_step);
    if (gap.last_step != gap.first_step) {
      where = (broken ? " in some of the steps " : " in steps ") + std::to_string(gap.first_step) + " to " +
              std::to_string(gap.last_step);
    }
    const std::string often = gap.count > 1 ? " (" + std::to_string(gap.count) + ")" : "";
    origin_.caveats.push_back(std::string("the capture lacks ").append(gap.what).append(often).append(where));
  }

  bool any_between(std::int64_t first, std::int64_t last) const {
    return std::ranges::any_of(capture_.steps,
                               [&](const CapturedStep& step) { return first < step.step && step.step < last; });
  }

  const CaptureInfo& capture_;
  std::vector<tags::Selector> allowed_;
  std::set<Probe> known_;  // in any step
  const CapturedStep* step_ = nullptr;
  std::map<Probe, std::vector<std::size_t>> places_;  // of the step's tensors
  const CapturedStep* before_ = nullptr;              // the previous one, if the capture has it
  std::size_t at_ = 0;                                // of the tensor that is judged
  bool lossy_ = false;                                // tensors of the step are missing
  bool partial_ = false;                              // or may be, as the step was not completed
  bool whole_step_elsewhere_ = false;                 // of some other step none is
  Origin origin_;
};

// ---- Text

std::string values_text(const Origin::Place& place) {
  std::string text;
  if (place.nan > 0) text += std::to_string(place.nan) + " NaN";
  if (place.infinite > 0) text += (text.empty() ? "" : " and ") + std::to_string(place.infinite) + " infinite";
  return text + " of " + std::to_string(place.count);
}

std::string joined(const std::vector<std::string>& texts, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < std::min(most, texts.size()); ++i) out += (i > 0 ? ", " : "") + texts[i];
  return texts.size() > most ? out + ", ..." : out;
}

// Text for the first place, and for others with all inputs seen.
std::string place_text(const Origin::Place& place, bool first) {
  constexpr std::size_t kMost = 8;
  const std::string begin = step_text(place.step, place.evaluation) + ": " + place.key;
  const std::string values = " (" + values_text(place) + ")";
  if (!place.unseen.empty()) {
    return begin + " was the first tensor in the capture to hold non-finite values" + values +
           ", but they may come from an input that the capture does not show\n" +
           (place.inputs.empty() ? "" : "  finite: " + joined(place.inputs, kMost) + "\n") +
           "  not seen: " + joined(place.unseen, kMost) + "\n";
  }
  const std::string text =
      begin + (first ? " was the first to hold non-finite values" : " held non-finite values too") + values;
  if (place.inputs.empty()) return text + ": the data themselves\n";
  return text + ", although all of its inputs were finite: " + joined(place.inputs, kMost) + "\n";
}

}  // namespace

Origin find_origin(const CaptureInfo& capture) { return Search(capture).run(); }

std::string Origin::text() const {
  constexpr std::size_t kMostTold = 5;
  constexpr std::size_t kMostNames = 6;
  std::string out;
  if (!found && tensors == 0) {
    out = "unknown, because no tensor was kept\n";
  } else if (!found) {
    out = caveats.empty() ? "all values are finite\n" : "all values that were seen are finite\n";
  }
  std::size_t told = 0;
  std::vector<std::string> further;
  std::vector<std::string> unclear;
  for (const Place& place : producers) {
    const bool first = &place == producers.data();
    if (!first && !place.unseen.empty()) {
      unclear.push_back(place.key);
    } else if (told == kMostTold) {
      further.push_back(place.key);
    } else {
      out += place_text(place, first);
      ++told;
    }
  }
  const auto list = [&](std::string_view what, const std::vector<std::string>& keys) {
    if (keys.empty()) return;
    out.append(what).append(": ").append(joined(keys, kMostNames));
    out += keys.size() > kMostNames ? " (" + count_text(keys.size(), "tensor") + ")\n" : "\n";
  };
  list("non-finite too, with finite inputs", further);
  list("passed them on", propagators);
  list("non-finite too, from inputs that the capture does not show", unclear);
  for (const std::string& caveat : caveats) out += "note: " + caveat + "\n";
  return out;
}

}  // namespace sonde
