// The comparison of two sets of tensors: every tensor's verdict, and the first that differs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/task_pool.h"
#include "compare/alignment.h"
#include "compare/mapping.h"
#include "compare/metrics.h"
#include "compare/permutation.h"
#include "compare/tensor_set.h"
#include "compare/tolerance.h"
#include "sonde/status.h"

namespace sonde::compare {

// The result for one tensor.
enum class Outcome : std::uint8_t {
  same,  // equal values
  within_tolerance,
  different,
  folded,  // one side computes it within another operation: its runtime or its model has no such tensor
  only_in_a,
  only_in_b,
  shape_differs,
  unresolved,  // it cannot be said which tensor it corresponds to, or it could not be compared
};
inline constexpr int kOutcomeCount = 8;
std::string_view to_string(Outcome outcome) noexcept;  // "within tolerance", "only in A"

// Where the statistics of a tensor part in two runs.
struct Parting {
  std::int64_t step = 0;
  std::string statistic;  // "mean"
  double a = 0;
  double b = 0;
};

struct Row {
  Match match;
  std::string name;       // in A; in B if A has none
  std::string name_in_b;  // empty if B has none
  std::string op;
  Outcome outcome = Outcome::unresolved;
  std::optional<DType> dtype_a;
  std::optional<DType> dtype_b;
  std::optional<Shape> shape_a;
  std::optional<Shape> shape_b;
  std::optional<Metrics> metrics;  // if values were compared
  Tolerance tolerance;             // if values were compared
  std::optional<Parting> parting;  // of two runs: if their statistics were compared and differ
  std::uint64_t steps = 0;         // of two runs: at which statistics were compared; otherwise 0
  std::string passing;             // the tolerance that would pass, if it is `different`
  std::string input;               // of several inputs of the models: the one that these values belong to
  std::size_t inputs_differ = 0;   // of several inputs: at how many it differs
  AxisOrder order;                 // of the axes of B; empty: as they are
  std::vector<std::string> notes;  // a cast, a permutation, why it was not compared
};

struct Options {
  Tolerances tolerances;
  std::vector<MappedPair> mapping;
  // Which tensors correspond, from an earlier comparison of the same models; empty: it is found.
  std::vector<Match> matches;
  // Called for each pair of tensors that was compared, with the same shape; the views are valid during the call.
  std::function<void(const Row& row, const TensorView& a, const TensorView& b)> compared;
  // Called before each row.
  std::function<void(std::size_t done, std::size_t total)> progress;
};

// The operation that causes the difference.
struct Culprit {
  std::size_t row = 0;          // of its output
  std::optional<double> error;  // norm-relative, of its output on A's inputs alone; none: it was not run again
  std::string how;              // one sentence
  std::string input = {};       // of several inputs of the models: for which it was found
};

struct Difference {
  std::string kind_a;
  std::string kind_b;
  // Whether a tensor that only one side has is a difference: two sets of files should have the same tensors, two models
  // need not.
  bool strict = true;
  std::vector<Row> rows;  // in order of execution, if one side knows it
  bool in_order_of_execution = false;
  // The first row that differs; of two runs the one that does at the earliest step.
  std::optional<std::size_t> first;
  std::optional<Culprit> culprit;
  std::string no_culprit;  // why there is none although something differs; one sentence
  std::vector<std::string> notes;
  std::vector<std::string> inputs;  // of the models: their names, if there were several

  bool same() const noexcept { return !first; }
  bool differs(const Row& row) const noexcept;
  std::size_t count(Outcome outcome) const noexcept;
};

// Values that differ come before tensors that only one side has, wherever those are.
std::optional<std::size_t> first_difference(const Difference& difference);

// Reads each tensor once; memory for two of them at most, if they cannot be used in place. Fails if A and B have
// nothing in common.
Result<Difference> compare(TensorSet& a, TensorSet& b, const Options& options, base::TaskPool& pool);

}  // namespace sonde::compare
