// The nodes of a parsed condition and their evaluation. Only the files of Expression include this.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/selector.h"
#include "policy/expression.h"
#include "policy/expression_window.h"

namespace sonde::policy::condition {

// The value of a node in a step. Absent: nothing was recorded for it; its number is NaN then.
struct Number {
  double value = std::numeric_limits<double>::quiet_NaN();
  bool absent = true;

  Number() = default;
  Number(double number) : value(number), absent(false) {}
  Number(bool truth) : Number(truth ? 1.0 : 0.0) {}
  bool truth() const noexcept { return !std::isnan(value) && value != 0; }
};

// The statistics of one tensor, or of several taken together.
enum class Statistic : std::uint8_t {
  nonfinite,
  nan,
  inf,
  max,
  min,
  absmax,
  mean,
  std,
  rms,
  mean_abs,
  zero_fraction,
  negative_fraction,
  count,
};
std::optional<Statistic> statistic_of(std::string_view word) noexcept;
std::optional<Kind> kind_of(std::string_view word) noexcept;

// A summary and the number of its intended -inf.
struct Facts {
  stats::Summary summary;
  std::uint64_t allowed = 0;
  void merge(const TensorFacts& tensor) noexcept;
};
double value_of(const Facts& facts, Statistic statistic) noexcept;

// The tensors of a step by identity, for of(kind, word).
class TensorIndex {
 public:
  void begin(const StepFacts& facts);
  // The tensor of the same name and that kind in this step; null if it was not recorded.
  const TensorFacts* other(const TensorFacts& tensor, Kind kind);

 private:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
  static constexpr std::uint32_t kNone = 0xFFFFFFFE;
  struct Known {
    bool seen = false;
    std::uint64_t step = 0;  // stamp of the last step that had it
    std::size_t place = 0;   // its index in that step
    std::array<std::uint32_t, 6> others{kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
  };

  const StepFacts* facts_ = nullptr;
  std::uint64_t stamp_ = 0;
  std::vector<Known> known_;  // by id
  std::array<std::unordered_map<std::string, std::uint32_t>, 6> ids_;
};

struct Context {
  const StepFacts& facts;
  TensorIndex& index;
  std::uint64_t stamp = 0;              // different at every evaluation
  const TensorFacts* tensor = nullptr;  // inside any and all
};

// All tensors that one pattern selects; equal patterns share one.
class TensorSet {
 public:
  explicit TensorSet(tags::Selector selector) : selector_(std::move(selector)) {}
  const tags::Selector& selector() const noexcept { return selector_; }
  bool contains(const TensorFacts& tensor);
  // The statistics of all its tensors in the step, computed once per step; null if there are none.
  const Facts* together(const Context& context);

 private:
  enum class Known : std::uint8_t { unknown, no, yes };
  tags::Selector selector_;
  std::vector<Known> known_;  // by id
  std::uint64_t stamp_ = 0;
  bool any_ = false;
  Facts facts_;
};

class Node {
 public:
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;
  // Evaluates all its operands, whatever the first ones give: each has memory to advance.
  virtual Number evaluate(Context& context) = 0;
};
using NodePtr = std::unique_ptr<Node>;
using Values = std::vector<std::pair<std::string, double>>;

// A node whose value is reported.
class Part : public Node {
 public:
  virtual void report(Values& values) const = 0;
};

// A parsed condition.
struct Compiled {
  NodePtr root;
  std::vector<std::unique_ptr<TensorSet>> sets;
  std::vector<Part*> parts;                         // in the order of the text, arguments first; owned by the tree
  std::vector<std::string> scalars;                 // each once
  std::vector<std::pair<TensorSet*, Kind>> others;  // of(kind, ...) for the tensors of that set
  TensorIndex index;
  std::uint64_t stamp = 0;
};

// Factory functions for the parser.
enum class Operator : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  less,
  less_equal,
  more,
  more_equal,
  equal,
  unequal,
  both,
  either
};
enum class Function : std::uint8_t { abs, log10, sqrt, round, isnan, isinf };

NodePtr constant(double value);
NodePtr current_step();
NodePtr scalar(std::string name);
NodePtr statistic(TensorSet& set, Statistic statistic);
NodePtr negated(NodePtr operand);
NodePtr inverted(NodePtr operand);  // not
NodePtr chain(NodePtr first, std::vector<std::pair<Operator, NodePtr>> rest);
NodePtr applied(Function function, NodePtr argument);
NodePtr every(std::int64_t steps);
// Functions of time. Inside any and all, they remember each tensor separately.
NodePtr zscore(NodePtr argument, std::size_t window);
NodePtr trend(NodePtr argument, std::size_t window);
NodePtr average(NodePtr argument, std::size_t window);
NodePtr delta(NodePtr argument);
NodePtr rising(NodePtr argument, NodePtr level);
// Reports its value under that text.
std::unique_ptr<Part> reported(std::string text, NodePtr inner);

// Inside any and all: a statistic of the current tensor, or of the one of another kind with the same name.
class WordNode final : public Node {
 public:
  WordNode(std::string text, Statistic statistic, std::optional<Kind> other)
      : text_(std::move(text)), statistic_(statistic), other_(other) {}
  Number evaluate(Context& context) override;
  Number last() const noexcept { return last_; }
  // "absmax('gradient/dense_1/kernel')"
  std::string text(std::string_view name, Kind kind) const;

 private:
  std::string text_;
  Statistic statistic_;
  std::optional<Kind> other_;
  Number last_;
};
NodePtr has_kind(Kind kind);  // is(kind)

enum class Quantifier : std::uint8_t { any, all };
// `condition` is its text, `words` are nodes in `inner`.
std::unique_ptr<Part> quantified(Quantifier quantifier, TensorSet& set, std::string text, std::string condition,
                                 NodePtr inner, std::vector<const WordNode*> words);

}  // namespace sonde::policy::condition
