#include "compare/run_difference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/suggest.h"

namespace sonde::compare {
namespace {

constexpr std::array kCompared = {Statistic::count,
                                  Statistic::nan,
                                  Statistic::positive_infinity,
                                  Statistic::negative_infinity,
                                  Statistic::min,
                                  Statistic::max,
                                  Statistic::mean,
                                  Statistic::std,
                                  Statistic::mean_abs};
constexpr std::size_t kCounts = 4;  // the first of them, which must be equal

// The tags of tensors in the order of execution, then those whose order is not known.
std::vector<ProbeInfo> tensors_of(const Run& run) {
  std::vector<ProbeInfo> tensors = run.probes();
  std::map<std::string, bool> known;
  for (const ProbeInfo& probe : tensors) known[probe.tag] = true;
  for (const Tag& tag : run.tags()) {
    if (tag.kind != TagKind::statistics || known.contains(tag.name)) continue;
    ProbeInfo probe;
    probe.name = probe.tag = tag.name;
    tensors.push_back(std::move(probe));
  }
  return tensors;
}

struct Columns {
  std::array<Scalars, kCompared.size()> values;
  Scalars rms;
};

Result<Columns> read(const Run& run, const std::string& tag, const Range& range = {}) {
  Columns columns;
  for (std::size_t i = 0; i < kCompared.size(); ++i) {
    Result<Scalars> column = run.statistic(tag, kCompared[i], range);
    if (!column) return column.error();
    columns.values[i] = std::move(*column);
  }
  Result<Scalars> rms = run.statistic(tag, Statistic::rms, range);
  if (!rms) return rms.error();
  columns.rms = std::move(*rms);
  return columns;
}

bool equal(double a, double b) noexcept { return a == b || (std::isnan(a) && std::isnan(b)); }

// Whether a statistic of B's tensor may be this far off.
bool close(double a, double b, double rms, const Tolerance& tolerance) noexcept {
  if (equal(a, b)) return true;
  if (!std::isfinite(a) || !std::isfinite(b)) return false;
  switch (tolerance.kind) {
    case Tolerance::Kind::exact: return false;
    case Tolerance::Kind::norm: return std::abs(a - b) <= tolerance.norm * rms;
    case Tolerance::Kind::elements: break;
  }
  return std::abs(a - b) <= tolerance.limits.atol + tolerance.limits.rtol * std::abs(b);
}

// Steps are ascending; of a step that occurs several times the occurrences correspond in their order.
void compare_columns(const Columns& a, const Columns& b, Row& row) {
  const std::vector<std::int64_t>& steps_a = a.rms.steps;
  const std::vector<std::int64_t>& steps_b = b.rms.steps;
  bool exact = true;
  for (std::size_t i = 0, j = 0; i < steps_a.size() && j < steps_b.size();) {
    if (steps_a[i] != steps_b[j]) {
      steps_a[i] < steps_b[j] ? ++i : ++j;
      continue;
    }
    ++row.steps;
    for (std::size_t k = 0; k < kCompared.size(); ++k) {
      const double x = a.values[k].values[i];
      const double y = b.values[k].values[j];
      exact = exact && equal(x, y);
      if (k < kCounts ? equal(x, y) : close(x, y, b.rms.values[j], row.tolerance)) continue;
      row.parting = {.step = steps_a[i], .statistic = std::string(to_string(kCompared[k])), .a = x, .b = y};
      row.outcome = Outcome::different;
      return;
    }
    ++i, ++j;
  }
  row.outcome = row.steps == 0 ? Outcome::unresolved : exact ? Outcome::same : Outcome::within_tolerance;
  if (row.steps == 0) row.notes.emplace_back("A and B recorded it at no common step");
}

Row row_of(const Match& match, const std::vector<ProbeInfo>& a, const std::vector<ProbeInfo>& b) {
  Row row;
  row.match = match;
  row.outcome = Outcome::only_in_a;
  if (match.b) {
    const ProbeInfo& probe = b[*match.b];
    row.name = row.name_in_b = probe.tag;
    row.dtype_b = probe.dtype;
    row.shape_b = probe.shape;
    row.outcome = Outcome::only_in_b;
  }
  if (match.a) {
    const ProbeInfo& probe = a[*match.a];
    row.name = probe.tag;
    row.dtype_a = probe.dtype;
    row.shape_a = probe.shape;
  }
  return row;
}

std::vector<Entry> entries_of(const std::vector<ProbeInfo>& probes) {
  std::vector<Entry> entries;
  entries.reserve(probes.size());
  for (const ProbeInfo& probe : probes)
    entries.push_back({.name = probe.tag, .dtype = probe.dtype, .shape = probe.shape});
  return entries;
}

// What both runs kept whole. Nothing if one of them kept no tensor.
Status add_whole_tensors(const Run& a, const Run& b, const Options& options, base::TaskPool& pool,
                         Difference& difference) {
  const Result<std::unique_ptr<TensorSet>> set_a = open_whole_tensors(a.directory());
  const Result<std::unique_ptr<TensorSet>> set_b = open_whole_tensors(b.directory());
  for (const auto* set : {&set_a, &set_b}) {
    if (!*set) return set->error().code() == Code::not_found ? Status::success() : set->error();
  }
  Options without_map = options;
  without_map.mapping.clear();
  Result<Difference> whole = compare(**set_a, **set_b, without_map, pool);
  if (!whole) return whole.error().code() == Code::not_found ? Status::success() : whole.error();
  for (Row& row : whole->rows) {
    if (!row.match.a || !row.match.b) continue;  // runs keep what their policies say
    difference.rows.push_back(std::move(row));
  }
  return Status::success();
}

// The earliest step counts; within a step, the order of execution. Names of whole tensors begin with their step.
std::int64_t step_of(const Row& row) noexcept {
  if (row.parting) return row.parting->step;
  if (!row.metrics) return std::numeric_limits<std::int64_t>::max();
  return std::strtoll(row.name.c_str(), nullptr, 10);
}

}  // namespace

Result<Difference> compare_runs(const Run& a, const Run& b, const Options& options, base::TaskPool& pool) {
  const std::vector<ProbeInfo> tensors_a = tensors_of(a);
  const std::vector<ProbeInfo> tensors_b = tensors_of(b);
  const std::vector<Entry> entries_a = entries_of(tensors_a);
  const std::vector<Entry> entries_b = entries_of(tensors_b);
  Result<std::vector<Match>> matches = align({entries_a, {}}, {entries_b, {}}, options.mapping);
  if (!matches) return matches.error();
  Difference difference;
  difference.kind_a = difference.kind_b = "run";
  difference.strict = false;
  difference.in_order_of_execution = true;
  for (std::size_t i = 0; i < matches->size(); ++i) {
    if (options.progress) options.progress(i, matches->size());
    Row row = row_of((*matches)[i], tensors_a, tensors_b);
    if (row.match.a && row.match.b) {
      row.tolerance = options.tolerances.of(row.name, row.name_in_b, common_type(*row.dtype_a, *row.dtype_b));
      const Result<Columns> columns_a = read(a, row.name);
      if (!columns_a) return columns_a.error();
      const Result<Columns> columns_b = read(b, row.name_in_b);
      if (!columns_b) return columns_b.error();
      compare_columns(*columns_a, *columns_b, row);
    }
    difference.rows.push_back(std::move(row));
  }
  if (Status status = add_whole_tensors(a, b, options, pool, difference); !status) return status;
  if (std::ranges::none_of(difference.rows, [](const Row& row) { return row.match.a && row.match.b; })) {
    return Status{Code::not_found, "the runs '" + a.directory() + "' and '" + b.directory() +
                                       "' have no tensor in common of which both recorded statistics or values"};
  }
  for (std::size_t i = 0; i < difference.rows.size(); ++i) {
    if (!difference.differs(difference.rows[i])) continue;
    if (!difference.first || step_of(difference.rows[i]) < step_of(difference.rows[*difference.first])) {
      difference.first = i;
    }
  }
  return difference;
}

Result<FirstParting> find_parting(const Run& a, const Run& b, const Tolerances& tolerances) {
  const std::vector<ProbeInfo> tensors_a = tensors_of(a);
  const std::vector<ProbeInfo> tensors_b = tensors_of(b);
  std::map<std::string_view, std::size_t> in_b;
  for (std::size_t i = 0; i < tensors_b.size(); ++i) in_b.emplace(tensors_b[i].tag, i);
  FirstParting found;
  Range range;
  for (std::size_t i = 0; i < tensors_a.size(); ++i) {
    const auto other = in_b.find(tensors_a[i].tag);
    if (other == in_b.end()) continue;
    Row row = row_of({.a = i, .b = other->second}, tensors_a, tensors_b);
    row.tolerance = tolerances.of(row.name, row.name_in_b, common_type(*row.dtype_a, *row.dtype_b));
    const Result<Columns> columns_a = read(a, row.name, range);
    const Result<Columns> columns_b = read(b, row.name_in_b, range);
    // A probe that never recorded anything has no statistics.
    if (!columns_a || !columns_b) continue;
    compare_columns(*columns_a, *columns_b, row);
    found.compared += row.steps > 0 ? 1 : 0;
    if (!row.parting) continue;
    if (found.row && row.parting->step >= found.row->parting->step) continue;
    range.last_step = row.parting->step;  // in the same step, the tensor that was computed first counts
    found.row = std::move(row);
  }
  if (found.compared == 0) {
    return Status{Code::not_found, "the runs '" + a.name() + "' and '" + b.name() +
                                       "' have no tensor in common of which both recorded statistics at one step"};
  }
  return found;
}

}  // namespace sonde::compare
