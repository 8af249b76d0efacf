#include "policy/expression_nodes.h"

#include <algorithm>

#include "policy/expression_text.h"

namespace sonde::policy::condition {
namespace {

class Constant final : public Node {
 public:
  explicit Constant(double value) : value_(value) {}
  Number evaluate(Context& /*context*/) override { return value_; }

 private:
  double value_;
};

class CurrentStep final : public Node {
 public:
  Number evaluate(Context& context) override { return static_cast<double>(context.facts.step); }
};

class Every final : public Node {
 public:
  explicit Every(std::int64_t steps) : steps_(steps) {}
  Number evaluate(Context& context) override { return context.facts.step % steps_ == 0; }

 private:
  std::int64_t steps_;
};

class ScalarNode final : public Node {
 public:
  explicit ScalarNode(std::string name) : name_(std::move(name)) {}
  Number evaluate(Context& context) override {
    const auto scalars = context.facts.scalars;
    if (place_ < scalars.size() && scalars[place_].first == name_) return scalars[place_].second;
    for (place_ = 0; place_ < scalars.size(); ++place_) {
      if (scalars[place_].first == name_) return scalars[place_].second;
    }
    return {};
  }

 private:
  std::string name_;
  std::size_t place_ = 0;  // its position in the last step, usually the same again
};

class StatisticNode final : public Node {
 public:
  StatisticNode(TensorSet& set, Statistic statistic) : set_(set), statistic_(statistic) {}
  Number evaluate(Context& context) override {
    const Facts* facts = set_.together(context);
    if (facts != nullptr) return value_of(*facts, statistic_);
    return statistic_ == Statistic::count ? Number(0.0) : Number();
  }

 private:
  TensorSet& set_;
  Statistic statistic_;
};

class Negated final : public Node {
 public:
  explicit Negated(NodePtr operand) : operand_(std::move(operand)) {}
  Number evaluate(Context& context) override {
    Number value = operand_->evaluate(context);
    value.value = -value.value;
    return value;
  }

 private:
  NodePtr operand_;
};

class Inverted final : public Node {
 public:
  explicit Inverted(NodePtr operand) : operand_(std::move(operand)) {}
  Number evaluate(Context& context) override { return !operand_->evaluate(context).truth(); }

 private:
  NodePtr operand_;
};

Number arithmetic(Number a, Number b, double value) { return a.absent || b.absent ? Number() : Number(value); }

Number apply(Operator op, Number a, Number b) {
  switch (op) {
    case Operator::add: return arithmetic(a, b, a.value + b.value);
    case Operator::subtract: return arithmetic(a, b, a.value - b.value);
    case Operator::multiply: return arithmetic(a, b, a.value * b.value);
    case Operator::divide: return arithmetic(a, b, a.value / b.value);
    case Operator::less: return a.value < b.value;
    case Operator::less_equal: return a.value <= b.value;
    case Operator::more: return a.value > b.value;
    case Operator::more_equal: return a.value >= b.value;
    case Operator::equal: return a.value == b.value;
    case Operator::unequal: return a.value != b.value;
    case Operator::both: return a.truth() && b.truth();
    case Operator::either: return a.truth() || b.truth();
  }
  return {};
}

// a + b - c: one node for all of them, so that a long text makes no deep tree.
class Chain final : public Node {
 public:
  Chain(NodePtr first, std::vector<std::pair<Operator, NodePtr>> rest)
      : first_(std::move(first)), rest_(std::move(rest)) {}
  Number evaluate(Context& context) override {
    Number value = first_->evaluate(context);
    for (const auto& [op, operand] : rest_) value = apply(op, value, operand->evaluate(context));
    return value;
  }

 private:
  NodePtr first_;
  std::vector<std::pair<Operator, NodePtr>> rest_;
};

class Applied final : public Node {
 public:
  Applied(Function function, NodePtr argument) : function_(function), argument_(std::move(argument)) {}
  Number evaluate(Context& context) override {
    const Number x = argument_->evaluate(context);
    switch (function_) {
      case Function::isnan: return !x.absent && std::isnan(x.value);
      case Function::isinf: return std::isinf(x.value);
      default: break;
    }
    if (x.absent) return {};
    switch (function_) {
      case Function::abs: return std::abs(x.value);
      case Function::log10: return std::log10(x.value);
      case Function::sqrt: return std::sqrt(x.value);
      default: return std::round(x.value);
    }
  }

 private:
  Function function_;
  NodePtr argument_;
};

class HasKind final : public Node {
 public:
  explicit HasKind(Kind kind) : kind_(kind) {}
  Number evaluate(Context& context) override { return context.tensor->kind == kind_; }

 private:
  Kind kind_;
};

class Reported final : public Part {
 public:
  Reported(std::string text, NodePtr inner) : text_(std::move(text)), inner_(std::move(inner)) {}
  Number evaluate(Context& context) override { return last_ = inner_->evaluate(context); }
  void report(Values& values) const override {
    if (!last_.absent) values.emplace_back(text_, last_.value);
  }

 private:
  std::string text_;
  NodePtr inner_;
  Number last_;
};

std::string quoted_name(std::string_view name, Kind kind) {
  const std::string_view mark = name.find('\'') == std::string_view::npos ? "'" : "\"";
  return joined({mark, to_string(kind), "/", name, mark});
}

class Quantified final : public Part {
 public:
  Quantified(Quantifier quantifier, TensorSet& set, std::string text, std::string condition, NodePtr inner,
             std::vector<const WordNode*> words)
      : quantifier_(quantifier),
        set_(set),
        text_(std::move(text)),
        condition_(std::move(condition)),
        inner_(std::move(inner)),
        words_(std::move(words)),
        found_values_(words_.size()) {}

  Number evaluate(Context& context) override {
    // The first tensor that decides: one that holds for any, one that does not for all.
    const bool deciding = quantifier_ == Quantifier::any;
    bool empty = true;
    found_ = false;
    for (const TensorFacts& tensor : context.facts.tensors) {
      if (!set_.contains(tensor)) continue;
      empty = false;
      context.tensor = &tensor;
      if (inner_->evaluate(context).truth() == deciding && !found_) remember(tensor);
    }
    context.tensor = nullptr;
    return last_ = empty ? Number() : Number(found_ == deciding);
  }

  void report(Values& values) const override {
    if (last_.absent) return;
    if (quantifier_ == Quantifier::all || !found_) {
      values.emplace_back(text_, last_.value);
      return;
    }
    values.emplace_back(joined({"any(", quoted_name(found_name_, found_kind_), ", ", condition_, ")"}), last_.value);
    for (std::size_t i = 0; i < words_.size(); ++i) {
      values.emplace_back(words_[i]->text(found_name_, found_kind_), found_values_[i]);
    }
  }

 private:
  void remember(const TensorFacts& tensor) {
    found_ = true;
    found_name_ = tensor.name;
    found_kind_ = tensor.kind;
    for (std::size_t i = 0; i < words_.size(); ++i) found_values_[i] = words_[i]->last().value;
  }

  Quantifier quantifier_;
  TensorSet& set_;
  std::string text_;
  std::string condition_;
  NodePtr inner_;
  std::vector<const WordNode*> words_;
  Number last_;
  bool found_ = false;
  std::string found_name_;
  Kind found_kind_ = Kind::activation;
  std::vector<double> found_values_;  // of words_
};

constexpr std::pair<std::string_view, Statistic> kStatistics[] = {
    {"nonfinite", Statistic::nonfinite},
    {"nan", Statistic::nan},
    {"inf", Statistic::inf},
    {"max", Statistic::max},
    {"min", Statistic::min},
    {"absmax", Statistic::absmax},
    {"mean", Statistic::mean},
    {"std", Statistic::std},
    {"rms", Statistic::rms},
    {"mean_abs", Statistic::mean_abs},
    {"zero_fraction", Statistic::zero_fraction},
    {"negative_fraction", Statistic::negative_fraction},
    {"count", Statistic::count},
};

}  // namespace

std::optional<Statistic> statistic_of(std::string_view word) noexcept {
  for (const auto& [name, statistic] : kStatistics) {
    if (name == word) return statistic;
  }
  return std::nullopt;
}

std::optional<Kind> kind_of(std::string_view word) noexcept {
  for (const Kind kind : {Kind::activation, Kind::gradient, Kind::weight, Kind::update, Kind::input, Kind::output}) {
    if (to_string(kind) == word) return kind;
  }
  return std::nullopt;
}

void Facts::merge(const TensorFacts& tensor) noexcept {
  summary.merge(*tensor.summary);
  if (tensor.negative_infinity_allowed) allowed += tensor.summary->negative_infinity;
}

double value_of(const Facts& facts, Statistic statistic) noexcept {
  const stats::Summary& s = facts.summary;
  const auto count = static_cast<double>(s.count);  // NaN comes out of a division by 0 here, as it should
  const auto finite = static_cast<double>(s.finite());
  const auto infinite = static_cast<double>(s.positive_infinity + s.negative_infinity - facts.allowed);
  switch (statistic) {
    case Statistic::nonfinite: return static_cast<double>(s.nan) + infinite;
    case Statistic::nan: return static_cast<double>(s.nan);
    case Statistic::inf: return infinite;
    case Statistic::max: return s.max;
    case Statistic::min: return s.min;
    case Statistic::absmax: return std::max(std::abs(s.min), std::abs(s.max));
    case Statistic::mean: return s.mean;
    case Statistic::std: return s.stddev();
    case Statistic::rms: return s.l2() / std::sqrt(finite);
    case Statistic::mean_abs: return s.sum_abs / finite;
    case Statistic::zero_fraction: return static_cast<double>(s.zeros) / count;
    case Statistic::negative_fraction: return static_cast<double>(s.negatives) / count;
    case Statistic::count: return count;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

void TensorIndex::begin(const StepFacts& facts) {
  facts_ = &facts;
  ++stamp_;
  bool learned = false;
  for (std::size_t i = 0; i < facts.tensors.size(); ++i) {
    const TensorFacts& tensor = facts.tensors[i];
    if (tensor.id >= known_.size()) known_.resize(tensor.id + std::size_t{1});
    Known& known = known_[tensor.id];
    if (!known.seen) ids_[static_cast<std::size_t>(tensor.kind)].emplace(tensor.name, tensor.id);
    learned = learned || !known.seen;
    known.seen = true;
    known.step = stamp_;
    known.place = i;
  }
  if (!learned) return;
  for (Known& known : known_) std::ranges::replace(known.others, kNone, kUnknown);  // it may be the one they need
}

const TensorFacts* TensorIndex::other(const TensorFacts& tensor, Kind kind) {
  const auto column = static_cast<std::size_t>(kind);
  std::uint32_t& id = known_[tensor.id].others[column];
  if (id == kUnknown) {
    const auto found = ids_[column].find(std::string(tensor.name));
    id = found == ids_[column].end() ? kNone : found->second;
  }
  if (id == kNone || known_[id].step != stamp_) return nullptr;
  return &facts_->tensors[known_[id].place];
}

bool TensorSet::contains(const TensorFacts& tensor) {
  if (tensor.id >= known_.size()) known_.resize(tensor.id + std::size_t{1}, Known::unknown);
  Known& known = known_[tensor.id];
  if (known == Known::unknown) {
    known = selector_.match(tensor.name, tensor.kind) == tags::Match::none ? Known::no : Known::yes;
  }
  return known == Known::yes;
}

const Facts* TensorSet::together(const Context& context) {
  if (stamp_ != context.stamp) {
    stamp_ = context.stamp;
    any_ = false;
    facts_ = {};
    for (const TensorFacts& tensor : context.facts.tensors) {
      if (!contains(tensor)) continue;
      any_ = true;
      facts_.merge(tensor);
    }
  }
  return any_ ? &facts_ : nullptr;
}

Number WordNode::evaluate(Context& context) {
  const TensorFacts* tensor = other_ ? context.index.other(*context.tensor, *other_) : context.tensor;
  if (tensor == nullptr) return last_ = {};
  Facts facts;
  facts.merge(*tensor);
  return last_ = value_of(facts, statistic_);
}

std::string WordNode::text(std::string_view name, Kind kind) const {
  return joined({text_, "(", quoted_name(name, other_.value_or(kind)), ")"});
}

NodePtr constant(double value) { return std::make_unique<Constant>(value); }
NodePtr current_step() { return std::make_unique<CurrentStep>(); }
NodePtr every(std::int64_t steps) { return std::make_unique<Every>(steps); }
NodePtr scalar(std::string name) { return std::make_unique<ScalarNode>(std::move(name)); }
NodePtr statistic(TensorSet& set, Statistic statistic) { return std::make_unique<StatisticNode>(set, statistic); }
NodePtr negated(NodePtr operand) { return std::make_unique<Negated>(std::move(operand)); }
NodePtr inverted(NodePtr operand) { return std::make_unique<Inverted>(std::move(operand)); }
NodePtr chain(NodePtr first, std::vector<std::pair<Operator, NodePtr>> rest) {
  return std::make_unique<Chain>(std::move(first), std::move(rest));
}
NodePtr applied(Function function, NodePtr argument) {
  return std::make_unique<Applied>(function, std::move(argument));
}
NodePtr has_kind(Kind kind) { return std::make_unique<HasKind>(kind); }
std::unique_ptr<Part> reported(std::string text, NodePtr inner) {
  return std::make_unique<Reported>(std::move(text), std::move(inner));
}
std::unique_ptr<Part> quantified(Quantifier quantifier, TensorSet& set, std::string text, std::string condition,
                                 NodePtr inner, std::vector<const WordNode*> words) {
  return std::make_unique<Quantified>(quantifier, set, std::move(text), std::move(condition), std::move(inner),
                                      std::move(words));
}

}  // namespace sonde::policy::condition
