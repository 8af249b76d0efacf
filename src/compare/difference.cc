#include "compare/difference.h"

#include <algorithm>
#include <utility>

#include "base/suggest.h"
#include "compare/folding.h"

namespace sonde::compare {
namespace {

std::vector<std::string> names_of(const TensorSet& set) {
  std::vector<std::string> names;
  for (const Entry& entry : set.entries()) names.push_back(entry.name);
  return names;
}

// Compares the tensors of one row.
class RowComparison {
 public:
  RowComparison(TensorSet& a, TensorSet& b, const Options& options, base::TaskPool& pool) noexcept
      : a_(a), b_(b), options_(options), pool_(pool) {}

  Result<Row> run(const Match& match) {
    Row row = described(match);
    if (row.outcome != Outcome::unresolved || !row.notes.empty()) return row;
    const Result<Loaded> a = a_.load(*match.a);
    if (!a) return a.error();
    const Result<Loaded> b = b_.load(*match.b);
    if (!b) return b.error();
    row.dtype_a = a->view.dtype;
    row.dtype_b = b->view.dtype;
    row.shape_a = a->view.shape;
    row.shape_b = b->view.shape;
    row.tolerance = options_.tolerances.of(row.name, row.name_in_b, common_type(*row.dtype_a, *row.dtype_b));
    const Result<TensorView> same_layout = bring_to_layout(row, a->view, b->view);
    if (!same_layout) return same_layout.error();
    if (row.outcome == Outcome::shape_differs) return row;
    if (!row.metrics) {
      Result<Metrics> measured = measure(a->view, *same_layout, row.tolerance.limits, pool_);
      if (!measured && measured.error().code() == Code::unsupported) {
        row.notes.push_back(measured.error().message());
        return row;
      }
      if (!measured) return measured.error();
      row.metrics = *measured;
    }
    judge(row);
    if (row.outcome == Outcome::different) hint_at_layout(row, a->view, b->view);
    if (options_.compared) options_.compared(row, a->view, *same_layout);
    return row;
  }

  // Whether the tensor that only one side has is closer to the other side's tensor of the pair than its partner is.
  bool agrees_better(const Match& pair, const Match& only) {
    Match other = pair;
    (only.a ? other.a : other.b) = only.a ? only.a : only.b;
    const std::optional<double> error = error_of(other);
    const std::optional<double> error_of_pair = error_of(pair);
    return error && (!error_of_pair || *error < *error_of_pair);
  }

 private:
  // Everything that is known without the values. The outcome stays `unresolved` without a note if they are needed.
  Row described(const Match& match) const {
    Row row;
    row.match = match;
    if (match.b) {
      const Entry& entry = b_.entries()[*match.b];
      row.name = row.name_in_b = entry.name;
      row.op = entry.op;
      row.dtype_b = entry.dtype;
      row.shape_b = entry.shape;
      add_missing(row, entry, "B");
    }
    if (match.a) {
      const Entry& entry = a_.entries()[*match.a];
      row.name = entry.name;
      if (!entry.op.empty()) row.op = entry.op;
      row.dtype_a = entry.dtype;
      row.shape_a = entry.shape;
      add_missing(row, entry, "A");
    }
    if (row.outcome == Outcome::folded) return row;
    if (!match.a) row.outcome = Outcome::only_in_b;
    if (!match.b) row.outcome = match.unresolved.empty() ? Outcome::only_in_a : Outcome::unresolved;
    if (!match.unresolved.empty()) row.notes.push_back(match.unresolved);
    if (!match.folded.empty()) {
      row.outcome = Outcome::folded;
      row.notes.push_back(match.folded);
    }
    return row;
  }

  // Norm-relative; none: the two cannot be compared as they are.
  std::optional<double> error_of(const Match& match) {
    if (!a_.entries()[*match.a].missing.empty() || !b_.entries()[*match.b].missing.empty()) return std::nullopt;
    const Result<Loaded> a = a_.load(*match.a);
    const Result<Loaded> b = b_.load(*match.b);
    if (!a || !b || a->view.shape != b->view.shape) return std::nullopt;
    const Result<Metrics> measured = measure(a->view, b->view, {}, pool_);
    if (!measured) return std::nullopt;
    return measured->norm_relative();
  }

  static void add_missing(Row& row, const Entry& entry, const std::string& side) {
    if (entry.missing.empty()) return;
    row.outcome = Outcome::folded;
    row.notes.push_back("not given by " + side + ": " + entry.missing);
  }

  // Where the shapes differ, finds the order of B's axes that fits A, by the values if there are several.
  Result<TensorView> bring_to_layout(Row& row, const TensorView& a, const TensorView& b) {
    if (a.shape == b.shape) return b;
    const std::vector<AxisOrder> orders = orders_between(b.shape, a.shape);
    for (const AxisOrder& order : orders) {
      const Result<Metrics> measured = measure(a, permuted(b, order), row.tolerance.limits, pool_);
      if (!measured) return measured.error();
      if (row.metrics && measured->norm_relative() >= row.metrics->norm_relative()) continue;
      row.metrics = *measured;
      row.order = order;
      if (passes(*measured, row.tolerance)) break;
    }
    if (!row.metrics) {
      row.outcome = Outcome::shape_differs;
      return b;
    }
    row.notes.push_back(permutation_text(row.order));
    return permuted(b, row.order);
  }

  void judge(Row& row) const {
    if (std::string note = cast_text(*row.dtype_a, *row.dtype_b); !note.empty()) row.notes.push_back(std::move(note));
    const Metrics& metrics = *row.metrics;
    row.outcome = metrics.equal()                  ? Outcome::same
                  : passes(metrics, row.tolerance) ? Outcome::within_tolerance
                                                   : Outcome::different;
    if (row.outcome == Outcome::different) row.passing = passing(metrics, row.tolerance);
  }

  // Square tensors keep their shape in another layout. That is still a difference, but the reason is worth a word.
  void hint_at_layout(Row& row, const TensorView& a, const TensorView& b) {
    constexpr double kUnrelated = 0.1;
    if (!row.order.empty() || !(row.metrics->norm_relative() > kUnrelated)) return;
    for (const AxisOrder& order : orders_between(b.shape, a.shape)) {
      const bool keeps_more = std::ranges::count(order, 0) == 1 && order.front() == 0;
      if (order.size() > 3 && !keeps_more) continue;  // a batch stays where it is
      const Result<Metrics> measured = measure(a, permuted(b, order), row.tolerance.limits, pool_);
      if (!measured || !passes(*measured, row.tolerance)) continue;
      row.notes.push_back("would agree with " + permutation_text(order));
      return;
    }
  }

  TensorSet& a_;
  TensorSet& b_;
  const Options& options_;
  base::TaskPool& pool_;
};

// If only B knows the order of execution, its order counts.
void sort_by_b(std::vector<Match>& matches) {
  std::ranges::stable_sort(matches, {},
                           [](const Match& match) { return match.b ? *match.b : static_cast<std::size_t>(-1); });
}

Status nothing_in_common(const TensorSet& a, const TensorSet& b) {
  const std::vector<std::string> names_b = names_of(b);
  std::string message = "A and B have no tensor in common";
  if (!a.entries().empty() && !names_b.empty()) {
    message += ": for '" + a.entries().front().name + "' of A" + base::nearest(a.entries().front().name, names_b);
    if (const std::size_t at = message.rfind("; the nearest"); at != std::string::npos) message.replace(at, 1, "");
    message += " of B; name pairs in a file for --map";
  }
  return {Code::not_found, message};
}

}  // namespace

std::string_view to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::same: return "same";
    case Outcome::within_tolerance: return "within tolerance";
    case Outcome::different: return "different";
    case Outcome::folded: return "folded";
    case Outcome::only_in_a: return "only in A";
    case Outcome::only_in_b: return "only in B";
    case Outcome::shape_differs: return "shape differs";
    case Outcome::unresolved: return "unresolved";
  }
  return "unresolved";
}

bool Difference::differs(const Row& row) const noexcept {
  switch (row.outcome) {
    case Outcome::different:
    case Outcome::shape_differs: return true;
    case Outcome::only_in_a:
    case Outcome::only_in_b:
    case Outcome::unresolved: return strict;
    default: return false;
  }
}

std::size_t Difference::count(Outcome outcome) const noexcept {
  return static_cast<std::size_t>(std::ranges::count(rows, outcome, &Row::outcome));
}

std::optional<std::size_t> first_difference(const Difference& difference) {
  const auto is_compared = [](const Row& row) {
    return row.outcome == Outcome::different || row.outcome == Outcome::shape_differs;
  };
  auto found = std::ranges::find_if(difference.rows, is_compared);
  if (found == difference.rows.end()) {
    found = std::ranges::find_if(difference.rows, [&](const Row& row) { return difference.differs(row); });
  }
  if (found == difference.rows.end()) return std::nullopt;
  return static_cast<std::size_t>(found - difference.rows.begin());
}

Result<Difference> compare(TensorSet& a, TensorSet& b, const Options& options, base::TaskPool& pool) {
  const std::vector<std::string> inputs_a = a.model_inputs();
  const std::vector<std::string> inputs_b = b.model_inputs();
  const Side side_a = {a.entries(), inputs_a};
  const Side side_b = {b.entries(), inputs_b};
  RowComparison comparison(a, b, options, pool);
  Result<std::vector<Match>> matches = options.matches;
  if (options.matches.empty()) {
    matches = align(side_a, side_b, options.mapping);
    if (!matches) return matches.error();
    for (const Absorbed& each : maybe_absorbed(side_a, side_b, *matches)) {
      if (comparison.agrees_better((*matches)[each.pair], (*matches)[each.only])) absorb(each, *matches);
    }
    find_folded(side_a, side_b, *matches);
  }
  if (std::ranges::none_of(*matches, [](const Match& match) { return match.a && match.b; })) {
    return nothing_in_common(a, b);
  }
  if (b.in_order_of_execution() && !a.in_order_of_execution()) sort_by_b(*matches);
  Difference difference;
  difference.kind_a = a.kind();
  difference.kind_b = b.kind();
  difference.strict = !a.is_model() && !b.is_model();
  difference.in_order_of_execution = a.in_order_of_execution() || b.in_order_of_execution();
  for (std::size_t i = 0; i < matches->size(); ++i) {
    if (options.progress) options.progress(i, matches->size());
    Result<Row> row = comparison.run((*matches)[i]);
    if (!row) return row.error();
    difference.rows.push_back(std::move(*row));
  }
  difference.first = first_difference(difference);
  return difference;
}

}  // namespace sonde::compare
