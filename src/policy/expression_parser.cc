#include "policy/expression_parser.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "base/suggest.h"
#include "base/utf8.h"
#include "policy/expression_lexer.h"
#include "policy/expression_text.h"

namespace sonde::policy::condition {
namespace {

constexpr std::size_t kMaxLength = 10'000;  // bytes of a condition
constexpr int kMaxNesting = 100;
constexpr double kMaxWindow = 1e6;        // values
constexpr double kMaxTensorWindow = 1e3;  // inside any and all, where every tensor has its own window
constexpr double kMaxEvery = 1e15;        // steps

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> names = {"nonfinite", "nan",      "inf",           "max",
                                                 "min",       "absmax",   "mean",          "std",
                                                 "rms",       "mean_abs", "zero_fraction", "negative_fraction",
                                                 "count",     "any",      "all",           "of",
                                                 "is",        "scalar",   "abs",           "log10",
                                                 "sqrt",      "round",    "isnan",         "isinf",
                                                 "zscore",    "delta",    "rising",        "trend",
                                                 "average",   "every"};
  return names;
}

class Parser {
 public:
  Parser(std::string_view text, ParseError& error) : text_(text), error_(error) {}

  std::unique_ptr<Compiled> parse() {
    if (text_.size() > kMaxLength) {
      fail(0, "the condition is longer than 10000 characters; split it into several");
      return nullptr;
    }
    compiled_ = std::make_unique<Compiled>();
    advance();
    if (token_.type == Token::Type::end) {
      fail(token_.begin, "the condition is empty; write one such as loss > 1.0");
      return nullptr;
    }
    compiled_->root = either();
    if (compiled_->root && token_.type != Token::Type::end) expected("an operator or the end");
    if (failed_) return nullptr;
    return std::move(compiled_);
  }

 private:
  using Rest = std::vector<std::pair<Operator, NodePtr>>;

  // The first error stays: later ones may be its consequences.
  NodePtr fail(std::size_t place, std::string message) {
    if (failed_) return nullptr;
    failed_ = true;
    error_.column = base::count_characters(text_.substr(0, place)) + 1;
    error_.message = std::move(message);
    return nullptr;
  }
  NodePtr expected(const std::string& what) {
    if (token_.type == Token::Type::wrong) return fail(token_.begin, std::string(token_.text));
    return fail(token_.begin, joined({"expected ", what, ", found ", token_.described()}));
  }

  void advance() {
    previous_end_ = token_.end;
    token_ = next_token(text_, token_.end);
  }
  bool take(std::string_view word) {
    if (!token_.is(word)) return false;
    advance();
    return true;
  }
  bool require(std::string_view symbol) {
    if (take(symbol)) return true;
    expected(joined({"'", symbol, "'"}));
    return false;
  }
  std::string written(std::size_t begin) const { return std::string(text_.substr(begin, previous_end_ - begin)); }

  NodePtr either() {
    if (nesting_ >= kMaxNesting) return fail(token_.begin, "the condition is nested more than 100 deep");
    ++nesting_;
    NodePtr node = chained([this] { return both(); }, {{"or", Operator::either}});
    --nesting_;
    return node;
  }
  NodePtr both() {
    return chained([this] { return inversion(); }, {{"and", Operator::both}});
  }
  NodePtr inversion() {
    bool inverts = false;
    bool found = false;
    while (take("not")) {
      inverts = !inverts;
      found = true;
    }
    NodePtr node = comparison();
    if (!node || !found) return node;
    node = inverted(std::move(node));
    return inverts ? std::move(node) : inverted(std::move(node));
  }
  NodePtr comparison() {
    NodePtr first = sum();
    if (!first) return nullptr;
    const std::optional<Operator> op = comparing();
    if (!op) return first;
    advance();
    NodePtr second = sum();
    if (!second) return nullptr;
    if (comparing()) return fail(token_.begin, "comparisons cannot be chained; write a < b and b < c");
    Rest rest;
    rest.emplace_back(*op, std::move(second));
    return chain(std::move(first), std::move(rest));
  }
  std::optional<Operator> comparing() const {
    constexpr std::pair<std::string_view, Operator> kOperators[] = {
        {"<", Operator::less},        {"<=", Operator::less_equal}, {">", Operator::more},
        {">=", Operator::more_equal}, {"==", Operator::equal},      {"!=", Operator::unequal}};
    for (const auto& [symbol, op] : kOperators) {
      if (token_.is(symbol)) return op;
    }
    return std::nullopt;
  }
  NodePtr sum() {
    return chained([this] { return product(); }, {{"+", Operator::add}, {"-", Operator::subtract}});
  }
  NodePtr product() {
    return chained([this] { return unary(); }, {{"*", Operator::multiply}, {"/", Operator::divide}});
  }
  template <class Operand>
  NodePtr chained(Operand operand, std::initializer_list<std::pair<std::string_view, Operator>> operators) {
    NodePtr first = operand();
    Rest rest;
    while (first) {
      const auto* const op = std::ranges::find_if(operators, [&](const auto& one) { return token_.is(one.first); });
      if (op == operators.end()) break;
      advance();
      NodePtr next = operand();
      if (!next) return nullptr;
      rest.emplace_back(op->second, std::move(next));
    }
    return rest.empty() ? std::move(first) : chain(std::move(first), std::move(rest));
  }
  NodePtr unary() {
    bool negates = false;
    while (take("-")) negates = !negates;
    NodePtr node = primary();
    return node && negates ? negated(std::move(node)) : std::move(node);
  }

  NodePtr primary() {
    const Token token = token_;
    if (token.type == Token::Type::number) {
      advance();
      return constant(token.number);
    }
    if (take("(")) {
      NodePtr inner = either();
      return inner && require(")") ? std::move(inner) : nullptr;
    }
    if (token.type == Token::Type::text) {
      return expected(joined({"a number or a name (a scalar of that name is scalar('", token.text, "'))"}));
    }
    if (token.type != Token::Type::name || token.is("and") || token.is("or") || token.is("not")) {
      return expected("a number or a name");
    }
    advance();
    if (take("(")) return function(token);
    return bare(token);
  }

  NodePtr bare(const Token& name) {
    if (name.is("step")) return current_step();
    if (const auto statistic = statistic_of(name.text)) {
      if (set_ != nullptr) return word(std::string(name.text), *statistic, std::nullopt);
      return fail(name.begin, joined({"'", name.text, "' is a statistic of tensors; write ", name.text,
                                      "('pattern'), or use it inside any('pattern', ...)"}));
    }
    if (std::ranges::find(function_names(), name.text) != function_names().end()) {
      return fail(name.begin, joined({"'", name.text, "' is a function; write ", name.text, "(...), or scalar('",
                                      name.text, "') for a scalar of that name"}));
    }
    return scalar_part(std::string(name.text), name.begin);
  }

  NodePtr scalar_part(std::string name, std::size_t begin) {
    if (std::ranges::find(compiled_->scalars, name) == compiled_->scalars.end()) compiled_->scalars.push_back(name);
    return part(reported(written(begin), scalar(std::move(name))));
  }
  NodePtr part(std::unique_ptr<Part> node) {
    compiled_->parts.push_back(node.get());
    return node;
  }
  // A function of time: reported if it has one value, not one for each tensor.
  NodePtr timed(std::size_t begin, NodePtr node) {
    return set_ == nullptr ? part(reported(written(begin), std::move(node))) : std::move(node);
  }
  NodePtr word(std::string text, Statistic statistic, std::optional<Kind> other) {
    auto node = std::make_unique<WordNode>(std::move(text), statistic, other);
    words_.push_back(node.get());
    return node;
  }

  // Behind its opening parenthesis.
  NodePtr function(const Token& name) {
    if (const auto known = statistic_of(name.text)) return statistic_function(name, *known);
    if (name.is("any") || name.is("all")) return quantifier(name);
    if (name.is("of")) return of(name);
    if (name.is("is")) return is(name);
    if (name.is("scalar")) return scalar_function(name);
    if (name.is("every")) return every_function();
    constexpr std::pair<std::string_view, Function> kFunctions[] = {
        {"abs", Function::abs},     {"log10", Function::log10}, {"sqrt", Function::sqrt},
        {"round", Function::round}, {"isnan", Function::isnan}, {"isinf", Function::isinf}};
    for (const auto& [word, function] : kFunctions) {
      if (!name.is(word)) continue;
      NodePtr argument = either();
      return argument && require(")") ? applied(function, std::move(argument)) : nullptr;
    }
    if (std::ranges::find(function_names(), name.text) != function_names().end()) return time_function(name);
    return fail(name.begin,
                joined({"there is no function '", name.text, "'", base::did_you_mean(name.text, function_names())}));
  }

  NodePtr statistic_function(const Token& name, Statistic which) {
    TensorSet* set = pattern();
    if (set == nullptr || !require(")")) return nullptr;
    return part(reported(written(name.begin), statistic(*set, which)));
  }

  TensorSet* pattern() {
    if (token_.type != Token::Type::text) {
      expected("a pattern in quotes, such as 'dense_.*'");
      return nullptr;
    }
    const Token token = token_;
    advance();
    for (const auto& set : compiled_->sets) {
      if (set->selector().pattern() == token.text) return set.get();
    }
    Result<tags::Selector> selector = tags::Selector::create(token.text);
    if (!selector) {
      fail(token.begin, selector.error().message());
      return nullptr;
    }
    compiled_->sets.push_back(std::make_unique<TensorSet>(std::move(*selector)));
    return compiled_->sets.back().get();
  }

  NodePtr quantifier(const Token& name) {
    if (set_ != nullptr) return fail(name.begin, "any and all cannot be nested");
    set_ = pattern();
    if (set_ == nullptr || !require(",")) return nullptr;
    const std::size_t begin = token_.begin;
    NodePtr inner = either();
    std::string condition = written(begin);
    if (!inner || !require(")")) return nullptr;
    TensorSet& set = *std::exchange(set_, nullptr);
    return part(quantified(name.is("any") ? Quantifier::any : Quantifier::all, set, written(name.begin),
                           std::move(condition), std::move(inner), std::exchange(words_, {})));
  }

  std::optional<Kind> kind() {
    const bool word = token_.type == Token::Type::name || token_.type == Token::Type::text;
    const std::optional<Kind> found = word ? kind_of(token_.text) : std::nullopt;
    if (found) {
      advance();
    } else {
      expected("a kind (activation, gradient, weight, update, input or output)");
    }
    return found;
  }

  NodePtr of(const Token& name) {
    if (set_ == nullptr) return fail(name.begin, "of(kind, statistic) is valid only inside any and all");
    const std::optional<Kind> other = kind();
    if (!other || !require(",")) return nullptr;
    const auto statistic = token_.type == Token::Type::name ? statistic_of(token_.text) : std::nullopt;
    if (!statistic) return expected("a statistic, such as absmax or rms");
    std::string text(token_.text);
    advance();
    if (!require(")")) return nullptr;
    if (std::ranges::find(compiled_->others, std::pair(set_, *other)) == compiled_->others.end()) {
      compiled_->others.emplace_back(set_, *other);
    }
    return word(std::move(text), *statistic, other);
  }

  NodePtr is(const Token& name) {
    if (set_ == nullptr) return fail(name.begin, "is(kind) is valid only inside any and all");
    const std::optional<Kind> wanted = kind();
    return wanted && require(")") ? has_kind(*wanted) : nullptr;
  }

  NodePtr scalar_function(const Token& name) {
    if (token_.type != Token::Type::text) return expected("a name in quotes, such as 'train/loss'");
    std::string scalar(token_.text);
    advance();
    if (!require(")")) return nullptr;
    return scalar_part(std::move(scalar), name.begin);
  }

  // A whole number that is written out, since it decides how much is remembered.
  std::optional<std::int64_t> whole_number(double least, double most, std::string_view what) {
    const double value = token_.number;
    if (token_.type == Token::Type::number && value >= least && value <= most && value == std::floor(value)) {
      advance();
      return static_cast<std::int64_t>(value);
    }
    expected(std::string(what) + ", a whole number from " + std::to_string(static_cast<std::int64_t>(least)) + " to " +
             std::to_string(static_cast<std::int64_t>(most)));
    return std::nullopt;
  }

  NodePtr every_function() {
    const auto steps = whole_number(1, kMaxEvery, "a number of steps");
    return steps && require(")") ? every(*steps) : nullptr;
  }

  NodePtr time_function(const Token& name) {
    NodePtr argument = either();
    if (!argument) return nullptr;
    if (name.is("delta")) return require(")") ? timed(name.begin, delta(std::move(argument))) : nullptr;
    if (!require(",")) return nullptr;
    if (name.is("rising")) {
      NodePtr level = either();
      if (!level || !require(")")) return nullptr;
      return timed(name.begin, rising(std::move(argument), std::move(level)));
    }
    const double least = name.is("zscore") ? 10 : name.is("trend") ? 2 : 1;
    const auto window = whole_number(least, set_ == nullptr ? kMaxWindow : kMaxTensorWindow, "a number of values");
    if (!window || !require(")")) return nullptr;
    const auto make = name.is("zscore") ? zscore : name.is("trend") ? trend : average;
    return timed(name.begin, make(std::move(argument), static_cast<std::size_t>(*window)));
  }

  std::string_view text_;
  ParseError& error_;
  bool failed_ = false;
  Token token_;
  std::size_t previous_end_ = 0;
  int nesting_ = 0;
  std::unique_ptr<Compiled> compiled_;
  TensorSet* set_ = nullptr;            // of the any or all that is being read
  std::vector<const WordNode*> words_;  // in it
};

}  // namespace

std::string place_in(std::string_view text, const ParseError& error) {
  std::size_t line = 1;
  std::size_t column = 0;  // of the last character that was seen
  std::size_t seen = 0;
  for (std::size_t at = 0; at < text.size() && seen + 1 < error.column; ++at) {
    if (!base::begins_character(text[at])) continue;
    ++seen;
    const bool ends_line = text[at] == '\n';
    if (ends_line) ++line;
    column = ends_line ? 0 : column + 1;
  }
  const std::string in_line = "column " + std::to_string(column + 1);
  if (text.find('\n') == std::string_view::npos) return in_line;
  return joined({"line ", std::to_string(line), ", ", in_line});
}

std::unique_ptr<Compiled> parse_condition(std::string_view text, ParseError& error) {
  return Parser(text, error).parse();
}

}  // namespace sonde::policy::condition
