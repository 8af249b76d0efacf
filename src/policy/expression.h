// Conditions over the values of a step: `loss > 1.0 or nonfinite('.*') or zscore(loss, 200) > 6`. Pure: no files, no
// clock.
//
// docs/policy.md documents the language for users. In short:
//   loss   scalar('train/loss')         the last value recorded in the step; NaN if there was none
//   + - * /   < <= > >= == !=   and or not   ( )      comparisons with NaN are false, except !=
//   nonfinite(re) max(re) min(re) absmax(re) mean(re) std(re) zero_fraction(re) ...    of all elements of the tensors
//                                       that match, taken together; NaN if none was recorded in the step
//   any(re, condition)                  whether it holds for one of them; in it the bare words nonfinite, max, absmax,
//                                       mean, std, ... are that tensor's, and of(kind, std) the same statistic of the
//                                       tensor of another kind that has the same name
//   zscore(x, n) delta(x) rising(x, level) trend(x, n)    over the earlier steps in which x was not NaN
//   every(n) step                       the step's number
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/status.h"
#include "sonde/summaries.h"
#include "stats/summary.h"

namespace sonde::policy {

// A tensor as conditions see it. Ids are dense, and identify (name, kind) for the life of a recorder.
struct TensorFacts {
  std::uint32_t id = 0;
  std::string_view name;
  Kind kind = Kind::activation;
  const stats::Summary* summary = nullptr;
  bool negative_infinity_allowed = false;  // then -inf does not count as non-finite
};

// The values of a step. Views, valid during the call.
struct StepFacts {
  std::int64_t step = 0;
  std::span<const std::pair<std::string_view, double>> scalars;  // last values, each name once
  std::span<const TensorFacts> tensors;                          // in the order of execution
};

// One condition with its memory of earlier steps. Not safe for several threads at once.
class Expression {
 public:
  // The error says where: "column 14: expected ...", or "line 2, column 3: ...". Patterns are compiled here; invalid
  // ones are errors.
  static Result<Expression> parse(std::string_view text);
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  const std::string& text() const noexcept;

  // Called once for every step, even if the result is not needed, because it has memory. True: the value is a number
  // other than 0.
  bool evaluate(const StepFacts& facts);
  // The values of the parts at the last evaluation: every scalar, statistic and function of time, as written, with its
  // value. {"loss", 4.2}, {"nonfinite('.*')", 12}; an any(...) that was true names the tensor instead of its pattern.
  // Parts without a value, because nothing was recorded for them, are left out; a recorded NaN is a value.
  std::vector<std::pair<std::string, double>> values() const;

  // Whether it may need the statistics of this tensor.
  bool looks_at(std::string_view name, Kind kind) const;
  // Its patterns and names of scalars, for warnings about those that never match.
  std::vector<std::string> patterns() const;
  std::vector<std::string> scalars() const;

 private:
  struct Tree;
  explicit Expression(std::unique_ptr<Tree> tree) noexcept;
  std::unique_ptr<Tree> tree_;
};

}  // namespace sonde::policy
