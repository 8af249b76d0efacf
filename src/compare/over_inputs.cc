#include "compare/over_inputs.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sonde::compare {
namespace {

int severity(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::different:
    case Outcome::shape_differs: return 3;
    case Outcome::unresolved: return 2;
    case Outcome::within_tolerance: return 1;
    default: return 0;
  }
}

double error_of(const Row& row) noexcept {
  if (!row.metrics) return 0;
  return row.metrics->non_finite_differ > 0 ? std::numeric_limits<double>::infinity() : row.metrics->norm_relative();
}

bool is_worse(const Row& row, const Row& than) noexcept {
  if (severity(row.outcome) != severity(than.outcome)) return severity(row.outcome) > severity(than.outcome);
  return error_of(row) > error_of(than);
}

}  // namespace

void OverInputs::add(const std::string& input, Difference difference) {
  names_.push_back(input);
  for (Row& row : difference.rows) {
    row.input = input;
    row.inputs_differ = difference.differs(row) ? 1 : 0;
  }
  if (names_.size() == 1) {
    merged_ = std::move(difference);
    for (Row& row : merged_.rows) row.input.clear();
    return;
  }
  if (names_.size() == 2) {
    for (Row& row : merged_.rows) row.input = names_.front();
  }
  for (std::size_t i = 0; i < merged_.rows.size(); ++i) {
    Row& row = difference.rows[i];
    row.inputs_differ += merged_.rows[i].inputs_differ;
    if (is_worse(row, merged_.rows[i])) {
      merged_.rows[i] = std::move(row);
    } else {
      merged_.rows[i].inputs_differ = row.inputs_differ;
    }
  }
  merged_.first = first_difference(merged_);
  merged_.inputs = names_;
}

std::vector<Match> OverInputs::matches() const {
  std::vector<Match> matches;
  for (const Row& row : merged_.rows) matches.push_back(row.match);
  return matches;
}

std::optional<std::size_t> OverInputs::input_of_first() const {
  if (!merged_.first) return std::nullopt;
  const std::string& input = merged_.rows[*merged_.first].input;
  const auto found = std::ranges::find(names_, input);
  return found == names_.end() ? 0 : static_cast<std::size_t>(found - names_.begin());
}

void OverInputs::set_culprit(std::size_t input, const Difference& found) {
  merged_.culprit = found.culprit;
  merged_.no_culprit = found.no_culprit;
  if (merged_.culprit && names_.size() > 1) merged_.culprit->input = names_[input];
}

}  // namespace sonde::compare
