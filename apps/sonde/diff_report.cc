#include "diff_report.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/utf8.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

using compare::Difference;
using compare::Metrics;
using compare::Outcome;
using compare::Row;

constexpr std::size_t kMostRows = 24;

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    text.append(i == 0 ? "" : ",").append(shape[i] < 0 ? "?" : std::to_string(shape[i]));
  }
  return text + "]";
}

std::string one_type(const std::optional<DType>& dtype, const std::optional<Shape>& shape) {
  return (dtype ? std::string(to_string(*dtype)) : std::string("?")) + (shape ? shape_text(*shape) : "");
}

std::string ulp_text(const Metrics& metrics) { return metrics.max_ulp ? grouped(*metrics.max_ulp) : "-"; }

std::string name_text(const Row& row) {
  if (row.name_in_b.empty() || row.name_in_b == row.name) return harmless(row.name);
  return harmless(row.name) + " = " + harmless(row.name_in_b);
}

// The index of an element in a tensor of this shape.
std::vector<std::int64_t> indices(std::int64_t flat, const Shape& shape) {
  std::vector<std::int64_t> found(static_cast<std::size_t>(shape.rank()));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    found[static_cast<std::size_t>(axis)] = flat % shape[axis];
    flat /= shape[axis];
  }
  return found;
}

std::vector<std::int64_t> worst_indices(const Row& row) {
  if (!row.metrics || row.metrics->worst < 0 || !row.shape_a) return {};
  const bool complex = row.dtype_a == DType::c64 || row.dtype_a == DType::c128;
  return indices(complex ? row.metrics->worst / 2 : row.metrics->worst, *row.shape_a);
}

// "at step 12: mean 0.0123 in A, 0.0125 in B"
std::string parting_text(const Row& row) {
  const compare::Parting& parting = *row.parting;
  std::string a = number_text(parting.a);
  std::string b = number_text(parting.b);
  if (a == b) a = exact_text(parting.a, true), b = exact_text(parting.b, true);
  return "at step " + std::to_string(parting.step) + ": " + parting.statistic + " " + a + " in A, " + b + " in B";
}

// What is to be said about one tensor, in one line.
std::string details(const Row& row) {
  std::string text;
  if (row.metrics) {
    const Metrics& metrics = *row.metrics;
    if (metrics.non_finite_differ > 0) {
      text += counted(metrics.non_finite_differ, "element") + " not finite in only one of A and B, or not alike; ";
    }
    text += "||a-b||/||b|| " + number_text(metrics.norm_relative()) + ", max abs " + number_text(metrics.max_abs);
    if (const std::string at = worst_text(row); !at.empty()) text += " at " + at;
    text += ", max rel " + number_text(metrics.max_rel);
    if (metrics.max_ulp) text += ", " + grouped(*metrics.max_ulp) + " ULP";
    if (!row.passing.empty()) text += "; would pass with " + row.passing;
    if (!row.input.empty()) text += "; input '" + harmless(row.input) + "'";
  } else if (row.parting) {
    text += parting_text(row);
  } else {
    text += to_string(row.outcome);
  }
  for (const std::string& note : row.notes) text += "; " + harmless(note);
  return text;
}

std::string side_text(std::string_view letter, const std::string& name, const std::string& kind) {
  return "  " + std::string(letter) + "  " + harmless(name) + "  " + kind + "\n";
}

// Rows of cells as columns; the first one and the last are flush left.
std::string columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], base::count_characters(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool left = i < 3 || i + 1 == row.size();
      line += "  " + (left ? padded(row[i], widths[i]) : padded_left(row[i], widths[i]));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::vector<std::string> cells(const Row& row) {
  std::vector<std::string> line = {fitted(name_text(row), 48), type_text(row), std::string(to_string(row.outcome))};
  if (row.metrics) {
    const Metrics& metrics = *row.metrics;
    for (const double value : {metrics.norm_relative(), metrics.max_abs, metrics.max_rel, metrics.rmse()}) {
      line.push_back(number_text(value));
    }
    line.push_back(ulp_text(metrics));
  } else {
    line.resize(8, "-");
  }
  line.push_back(row_notes(row));
  return line;
}

// All rows if they are few; otherwise those that differ, and if nothing does those that come closest to it.
std::vector<const Row*> shown_rows(const Difference& difference) {
  std::vector<const Row*> rows;
  const bool all = difference.rows.size() <= kMostRows;
  for (const Row& row : difference.rows) {
    if (all || difference.differs(row)) rows.push_back(&row);
  }
  if (!rows.empty() || all) {
    if (rows.size() > kMostRows) rows.resize(kMostRows);
    return rows;
  }
  for (const Row& row : difference.rows) {
    if (row.outcome == Outcome::within_tolerance && row.metrics) rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, [](const Row* row) { return row->metrics->norm_relative(); });
  if (rows.size() > 8) rows.resize(8);
  return rows;
}

void put_metrics(formats::JsonWriter& json, const Metrics& metrics) {
  json.key("norm_relative").number(metrics.norm_relative());
  json.key("max_abs").number(metrics.max_abs).key("max_rel").number(metrics.max_rel);
  json.key("rmse").number(metrics.rmse()).key("cosine").number(metrics.cosine()).key("sqnr").number(metrics.sqnr());
  json.key("max_ulp");
  metrics.max_ulp ? json.integer(*metrics.max_ulp) : json.null();
  json.key("count").integer(metrics.count).key("different").integer(metrics.different);
  json.key("outside").integer(metrics.outside);
  json.key("non_finite_a").integer(metrics.non_finite_a).key("non_finite_b").integer(metrics.non_finite_b);
  json.key("non_finite_differ").integer(metrics.non_finite_differ);
}

void put_type(formats::JsonWriter& json, std::string_view dtype_key, std::string_view shape_key,
              const std::optional<DType>& dtype, const std::optional<Shape>& shape) {
  if (dtype) json.key(dtype_key).text(to_string(*dtype));
  if (shape) json.key(shape_key).shape(*shape);
}

void put_or_null(formats::JsonWriter& json, const std::optional<double>& value) {
  value ? json.number(*value) : json.null();
}

void put_row(formats::JsonWriter& json, const Row& row) {
  json.line().object().key("tensor").text(row.name).key("status").text(to_string(row.outcome));
  if (row.match.a && row.match.b) {
    if (row.name_in_b != row.name) json.key("tensor_b").text(row.name_in_b);
    json.key("matched_by").text(to_string(row.match.evidence)).key("confidence").number(row.match.confidence);
  }
  if (!row.op.empty()) json.key("op").text(row.op);
  put_type(json, "dtype_a", "shape_a", row.dtype_a, row.shape_a);
  put_type(json, "dtype_b", "shape_b", row.dtype_b, row.shape_b);
  if (row.metrics) {
    put_metrics(json, *row.metrics);
    if (row.metrics->worst >= 0) {
      json.key("worst").array();
      for (const std::int64_t index : worst_indices(row)) json.integer(index);
      json.end();
    }
    json.key("tolerance").text(to_string(row.tolerance));
    if (!row.passing.empty()) json.key("would_pass").text(row.passing);
  }
  if (!row.input.empty() && row.metrics)
    json.key("input").text(row.input).key("inputs_differ").integer(row.inputs_differ);
  if (row.steps > 0) json.key("steps").integer(row.steps).key("tolerance").text(to_string(row.tolerance));
  if (row.parting) {
    json.key("step").integer(row.parting->step).key("statistic").text(row.parting->statistic);
    json.key("a").number(row.parting->a).key("b").number(row.parting->b);
  }
  if (!row.order.empty()) {
    json.key("order_b").array();
    for (const int axis : row.order) json.integer(axis);
    json.end();
  }
  if (!row.notes.empty()) json.key("notes").texts(row.notes);
  json.end();
}

}  // namespace

std::string row_notes(const Row& row) {
  std::string notes;
  if (row.parting) notes = parting_text(row);
  if (row.steps > 0 && !row.parting) notes = counted(row.steps, "step");
  if (!row.input.empty() && row.metrics && !row.metrics->equal()) {
    notes += (notes.empty() ? "" : "; ") + ("input " + harmless(row.input));
    if (row.inputs_differ > 1) notes += " of " + grouped(row.inputs_differ) + " that differ";
  }
  for (const std::string& note : row.notes) notes += (notes.empty() ? "" : "; ") + harmless(note);
  if (row.match.evidence >= compare::Evidence::similar_name) {
    notes += (notes.empty() ? "" : "; ") + ("matched by " + std::string(to_string(row.match.evidence)) + ", " +
                                            std::to_string(std::lround(row.match.confidence * 100)) + " %");
  }
  return notes;
}

std::vector<std::string> findings(const Difference& difference) {
  std::vector<std::string> sentences;
  const auto heading = [](const Row& row) {
    return name_text(row) + "  " + type_text(row) + (row.op.empty() ? "" : "  " + row.op) + "\n  ";
  };
  if (difference.first) {
    const Row& row = difference.rows[*difference.first];
    sentences.push_back(
        (difference.in_order_of_execution ? "first in order of execution: " : "first in the order of A: ") +
        heading(row) + details(row));
  }
  if (difference.culprit) {
    sentences.push_back(
        "culprit: " + heading(difference.rows[difference.culprit->row]) + harmless(difference.culprit->how) +
        (difference.culprit->input.empty() ? "" : "; input '" + harmless(difference.culprit->input) + "'"));
  } else if (!difference.no_culprit.empty()) {
    sentences.push_back("culprit: not known, " + harmless(difference.no_culprit));
  }
  if (!difference.inputs.empty()) {
    sentences.push_back(grouped(difference.inputs.size()) +
                        " inputs: of each tensor the one with the largest difference is shown");
  }
  for (const std::string& note : difference.notes) sentences.push_back(harmless(note));
  return sentences;
}

std::string worst_text(const Row& row) {
  const std::vector<std::int64_t> found = worst_indices(row);
  if (found.empty()) return {};
  std::string text = "[";
  for (std::size_t i = 0; i < found.size(); ++i) text.append(i == 0 ? "" : ", ").append(std::to_string(found[i]));
  return text + "]";
}

std::string type_text(const Row& row) {
  const std::string a = row.match.a ? one_type(row.dtype_a, row.shape_a) : "";
  const std::string b = row.match.b ? one_type(row.dtype_b, row.shape_b) : "";
  if (a.empty() || b.empty() || a == b) return a.empty() ? b : a;
  return a + " and " + b;
}

std::string tolerances_text(const Difference& difference) {
  std::vector<std::string> texts;
  std::map<std::string, std::set<std::string>> types;  // by tolerance
  for (const Row& row : difference.rows) {
    if (!row.metrics && row.steps == 0) continue;
    const std::string text = to_string(row.tolerance);
    if (!types.contains(text)) texts.push_back(text);
    types[text].emplace(to_string(compare::common_type(*row.dtype_a, *row.dtype_b)));
  }
  std::string joined;
  for (const std::string& text : texts) {
    std::string names;
    for (const std::string& type : types[text]) names += (names.empty() ? "" : ", ") + type;
    joined += (joined.empty() ? "" : "; ") + text + (text.starts_with("rtol") ? "" : " (" + names + ")");
  }
  return joined;
}

std::string verdict_text(const Difference& difference) {
  const std::size_t compared = difference.count(Outcome::same) + difference.count(Outcome::within_tolerance) +
                               difference.count(Outcome::different);
  const std::string tolerance = tolerances_text(difference);
  std::string text;
  if (difference.same()) {
    text = "same: " + counted(compared, "tensor") + (compared == 1 ? " agrees" : " agree");
    const std::size_t within = difference.count(Outcome::within_tolerance);
    if (within == 0) text += " exactly";
    if (within > 0)
      text +=
          ", " + grouped(difference.count(Outcome::same)) + " exactly and " + grouped(within) + " within " + tolerance;
  } else {
    const std::size_t different = difference.count(Outcome::different);
    text = "different: " + grouped(different) + " of " + counted(compared, "tensor") +
           (different == 1 ? " exceeds " : " exceed ") + (tolerance.empty() ? "the tolerance" : tolerance);
  }
  for (const Outcome outcome :
       {Outcome::shape_differs, Outcome::only_in_a, Outcome::only_in_b, Outcome::folded, Outcome::unresolved}) {
    if (const std::size_t count = difference.count(outcome); count > 0) {
      text += "; " + grouped(count) + " " +
              (outcome == Outcome::shape_differs ? (count == 1 ? "shape differs" : "shapes differ")
                                                 : std::string(to_string(outcome)));
    }
  }
  return text;
}

std::string diff_text(const Difference& difference, const DiffNames& names, bool color) {
  std::string text = styled(verdict_text(difference), difference.same() ? Style::green : Style::red, color) + "\n";
  text += side_text("A", names.a, difference.kind_a) + side_text("B", names.b, difference.kind_b);
  const std::vector<std::string> found = findings(difference);
  if (!found.empty()) text += "\n";
  for (const std::string& sentence : found) {
    const std::size_t colon = sentence.starts_with("first") || sentence.starts_with("culprit") ? sentence.find(':') : 0;
    text += styled(sentence.substr(0, colon), Style::bold, color) + sentence.substr(colon) + "\n";
  }
  std::vector<std::vector<std::string>> table = {
      {"tensor", "type", "status", "||a-b||/||b||", "max abs", "max rel", "RMSE", "ULP", ""}};
  const std::vector<const Row*> rows = shown_rows(difference);
  for (const Row* row : rows) table.push_back(cells(*row));
  if (!rows.empty()) text += "\n" + columns(table);
  const auto differing = static_cast<std::size_t>(
      std::ranges::count_if(difference.rows, [&](const Row& row) { return difference.differs(row); }));
  if (difference.rows.size() > kMostRows && differing > rows.size()) {
    text += "  ... and " + grouped(differing - rows.size()) + " more that differ; --json lists all\n";
  }
  return text;
}

std::string diff_json(const Difference& difference, const DiffNames& names) {
  formats::JsonWriter json;
  json.object().key("verdict").text(difference.same() ? "same" : "different").key("first");
  if (difference.first) {
    const Row& row = difference.rows[*difference.first];
    json.object().key("tensor").text(row.name).key("status").text(to_string(row.outcome)).key("max_abs");
    put_or_null(json, row.metrics   ? std::optional(row.metrics->max_abs)
                      : row.parting ? std::optional(std::abs(row.parting->a - row.parting->b))
                                    : std::nullopt);
    json.key("max_rel");
    put_or_null(json, row.metrics   ? std::optional(row.metrics->max_rel)
                      : row.parting ? std::optional(std::abs((row.parting->a - row.parting->b) / row.parting->b))
                                    : std::nullopt);
    if (row.parting) json.key("step").integer(row.parting->step).key("statistic").text(row.parting->statistic);
    if (row.metrics) json.key("norm_relative").number(row.metrics->norm_relative());
    if (!row.input.empty()) json.key("input").text(row.input);
    json.end();
  } else {
    json.null();
  }
  json.key("culprit");
  if (difference.culprit) {
    const Row& row = difference.rows[difference.culprit->row];
    json.object().key("tensor").text(row.name).key("op").text(row.op).key("local_error");
    put_or_null(json, difference.culprit->error);
    json.key("how").text(difference.culprit->how);
    if (!difference.culprit->input.empty()) json.key("input").text(difference.culprit->input);
    json.end();
  } else {
    json.null();
  }
  if (!difference.no_culprit.empty()) json.key("no_culprit").text(difference.no_culprit);
  json.key("a").object().key("path").text(names.a).key("kind").text(difference.kind_a).end();
  json.key("b").object().key("path").text(names.b).key("kind").text(difference.kind_b).end();
  if (!difference.inputs.empty()) json.key("inputs").texts(difference.inputs);
  json.key("tolerance").text(tolerances_text(difference));
  json.key("order").text(difference.in_order_of_execution ? "execution" : "file");
  json.key("counts").object();
  for (int i = 0; i < compare::kOutcomeCount; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    json.key(to_string(outcome)).integer(difference.count(outcome));
  }
  json.end().key("notes").texts(difference.notes).key("tensors").array();
  for (const Row& row : difference.rows) put_row(json, row);
  json.end().end();
  return json.take() + "\n";
}

}  // namespace sonde::cli
