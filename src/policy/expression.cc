#include "policy/expression.h"

#include <algorithm>

#include "policy/expression_nodes.h"
#include "policy/expression_parser.h"

namespace sonde::policy {

struct Expression::Tree {
  std::string text;
  std::unique_ptr<condition::Compiled> compiled;
};

Expression::Expression(std::unique_ptr<Tree> tree) noexcept : tree_(std::move(tree)) {}
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

Result<Expression> Expression::parse(std::string_view text) {
  condition::ParseError error;
  std::unique_ptr<condition::Compiled> compiled = condition::parse_condition(text, error);
  if (!compiled) {
    return Status(Code::invalid_argument, condition::place_in(text, error) + ": " + error.message);
  }
  auto tree = std::make_unique<Tree>();
  tree->text = text;
  tree->compiled = std::move(compiled);
  return Expression(std::move(tree));
}

const std::string& Expression::text() const noexcept { return tree_->text; }

bool Expression::evaluate(const StepFacts& facts) {
  condition::Compiled& compiled = *tree_->compiled;
  if (!compiled.others.empty()) compiled.index.begin(facts);
  condition::Context context{.facts = facts, .index = compiled.index, .stamp = ++compiled.stamp, .tensor = nullptr};
  return compiled.root->evaluate(context).truth();
}

std::vector<std::pair<std::string, double>> Expression::values() const {
  condition::Values all;
  for (const condition::Part* part : tree_->compiled->parts) part->report(all);
  condition::Values once;
  for (auto& value : all) {
    if (std::ranges::find(once, value.first, &condition::Values::value_type::first) == once.end())
      once.push_back(std::move(value));
  }
  return once;
}

bool Expression::looks_at(std::string_view name, Kind kind) const {
  const condition::Compiled& compiled = *tree_->compiled;
  const auto selects = [&](const condition::TensorSet& set, Kind as) {
    return set.selector().match(name, as) != tags::Match::none;
  };
  if (std::ranges::any_of(compiled.sets, [&](const auto& set) { return selects(*set, kind); })) return true;
  return std::ranges::any_of(compiled.others, [&](const auto& other) {
    constexpr Kind kinds[] = {Kind::activation, Kind::gradient, Kind::weight, Kind::update, Kind::input, Kind::output};
    return other.second == kind && std::ranges::any_of(kinds, [&](Kind as) { return selects(*other.first, as); });
  });
}

std::vector<std::string> Expression::patterns() const {
  std::vector<std::string> patterns;
  for (const auto& set : tree_->compiled->sets) patterns.push_back(set->selector().pattern());
  return patterns;
}

std::vector<std::string> Expression::scalars() const { return tree_->compiled->scalars; }

}  // namespace sonde::policy
