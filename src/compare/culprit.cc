#include "compare/culprit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/directory.h"
#include "base/file.h"
#include "base/temporary_file.h"
#include "formats/onnx.h"
#include "formats/onnx_cut.h"
#include "tensor/copy.h"

namespace sonde::compare {
namespace {

// Inputs and weights of operations that are computed again in one model; beyond it another model follows.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;
// Models of several operations that the runtime rejects before the search gives up.
constexpr int kMostFailures = 16;

using RowsByName = std::unordered_map<std::string, std::size_t>;

std::string brief(double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, 3);
  return {digits.data(), end.ptr};
}

std::string quoted(const std::string& name) { return "'" + name + "'"; }

// The rows by their names in A.
RowsByName rows_by_name(const Difference& difference) {
  RowsByName rows;
  for (std::size_t i = 0; i < difference.rows.size(); ++i) {
    if (difference.rows[i].match.a) rows.emplace(difference.rows[i].name, i);
  }
  return rows;
}

// Whether all tensors that this one is computed from are equal in A and B. Names that are not tensors of A are inputs
// of the model, which are the same for both, or weights. False if one was not compared.
bool inputs_agree(const Entry& entry, const Difference& difference, const RowsByName& rows) {
  return std::ranges::all_of(entry.inputs, [&](const std::string& input) {
    const auto row = rows.find(input);
    if (row == rows.end()) return true;
    const std::optional<Metrics>& metrics = difference.rows[row->second].metrics;
    return metrics && metrics->equal();
  });
}

// The first operation whose inputs agree to the bit although its output differs.
bool find_by_bits(const TensorSet& a, Difference& difference) {
  const RowsByName rows = rows_by_name(difference);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < difference.rows.size(); ++i) {
    const Row& row = difference.rows[i];
    if (row.outcome != Outcome::different || !row.match.a) continue;
    const Entry& entry = a.entries()[*row.match.a];
    if (!entry.inputs.empty() && inputs_agree(entry, difference, rows)) found.push_back(i);
  }
  if (found.empty()) return false;
  const Row& row = difference.rows[found.front()];
  Culprit culprit = {.row = found.front(), .error = row.metrics->norm_relative(), .how = {}};
  culprit.how = "its inputs agree to the bit and its output does not: " + brief(*culprit.error) + " norm-relative";
  if (found.size() > 1) {
    culprit.how += "; the same holds for " + std::to_string(found.size() - 1) + " later " +
                   (found.size() == 2 ? "tensor" : "tensors") + ", first " + quoted(difference.rows[found[1]].name);
  }
  difference.culprit = std::move(culprit);
  return true;
}

// The weights of a model that are in files beside it. Opening the model has checked that they are there.
class WeightFiles {
 public:
  explicit WeightFiles(const std::string& model) {
    const std::size_t slash = model.rfind('/');
    directory_ = slash == std::string::npos ? "." : model.substr(0, slash);
  }

  Result<base::Bytes> read(const onnx::External& external) {
    const std::string location(external.location);
    if (!files_.contains(location)) {
      Result<base::MappedFile> file = base::MappedFile::open(base::join_path(directory_, location));
      if (!file) return file.error();
      files_.emplace(location, std::move(*file));
    }
    const base::Bytes bytes = files_.at(location).bytes();
    const std::uint64_t length = external.length.value_or(bytes.size() - std::min(external.offset, bytes.size()));
    if (external.offset > bytes.size() || length > bytes.size() - external.offset) {
      return Status(Code::corrupt, "'" + location + "' is too short");
    }
    return bytes.subspan(external.offset, length);
  }

 private:
  std::string directory_;
  std::unordered_map<std::string, base::MappedFile> files_;
};

// Computes operations of B again, from the inputs that A recorded.
class Rerun {
 public:
  Rerun(ModelSet& a, ModelSet& b, base::TaskPool& pool, const Difference& difference)
      : a_(a), b_(b), pool_(pool), difference_(difference), weights_(b.name().path) {
    for (std::size_t i = 0; i < difference.rows.size(); ++i) {
      const Row& row = difference.rows[i];
      if (row.match.a && row.match.b) rows_b_.emplace(row.name_in_b, i);
    }
  }

  Status run() {
    Result<base::MappedFile> file = base::MappedFile::open(b_.name().path);
    if (!file) return file.error();
    const Result<onnx::Model> model = onnx::decode(file->bytes());
    if (!model) return model.error();
    std::vector<std::size_t> pending;
    for (std::size_t i = 0; i < difference_.rows.size(); ++i) {
      if (difference_.rows[i].outcome == Outcome::different) pending.push_back(i);
    }
    run_rows(*model, pending);
    return Status::success();
  }

  std::vector<std::pair<std::size_t, double>> errors;        // of rows: norm-relative on A's inputs
  std::vector<std::pair<std::size_t, std::string>> skipped;  // rows and why they were not run

 private:
  // In as many models as their size demands.
  void run_rows(const onnx::Model& model, std::span<const std::size_t> rows) {
    while (!rows.empty()) {
      onnx::Cutter cutter(model, [this](const onnx::External& external) { return weights_.read(external); });
      std::vector<std::size_t> group;
      std::size_t bytes = 0;
      std::size_t taken = 0;
      for (bool alone = false; taken < rows.size() && !alone && bytes + cutter.bytes() < kMostBytes; ++taken) {
        const std::size_t row = rows[taken];
        const std::string& name = difference_.rows[row].name_in_b;
        alone = cutter.needs_own_model(name);
        if (alone && !group.empty()) break;
        const Status added = cutter.add(name, [&](std::string_view value) { return value_of_a(value, bytes); });
        if (added) {
          group.push_back(row);
        } else {
          skipped.emplace_back(row, added.message());
        }
      }
      rows = rows.subspan(taken);
      if (!group.empty()) run_or_halve(model, cutter, group);
      kept_.clear();
    }
  }

  // An operation that the runtime cannot load must not hide the others.
  void run_or_halve(const onnx::Model& model, const onnx::Cutter& cutter, const std::vector<std::size_t>& group) {
    const std::size_t errors_before = errors.size();
    const std::size_t skipped_before = skipped.size();
    const Status ran = run_group(cutter, group);
    if (ran) return;
    errors.resize(errors_before);
    skipped.resize(skipped_before);
    if (group.size() == 1 || ++failures_ > kMostFailures) {
      for (const std::size_t row : group) skipped.emplace_back(row, ran.message());
      return;
    }
    const std::span<const std::size_t> rows = group;
    kept_.clear();
    run_rows(model, rows.first(rows.size() / 2));
    run_rows(model, rows.subspan(rows.size() / 2));
  }

  // What A has for a value of B, in B's type and layout.
  std::optional<TensorView> value_of_a(std::string_view name, std::size_t& bytes) {
    for (const NamedView& input : b_.inputs()) {
      if (input.name == name) return input.tensor;
    }
    const auto found = rows_b_.find(std::string(name));
    if (found == rows_b_.end()) return std::nullopt;
    const Row& row = difference_.rows[found->second];
    if (!row.metrics) return std::nullopt;
    const Result<Loaded> loaded = a_.load(*row.match.a);
    if (!loaded) return std::nullopt;
    TensorView value = loaded->view;
    if (row.dtype_a == row.dtype_b) {
      kept_.push_back(loaded->owner);
    } else if (is_float(*row.dtype_a) && is_float(*row.dtype_b)) {
      const auto rounded = std::make_shared<Tensor>(rounded_to(*row.dtype_b, value));
      kept_.push_back(rounded);
      value = rounded->view();
    } else {
      return std::nullopt;
    }
    bytes += tensor::byte_size(value);
    return row.order.empty() ? value : permuted(value, inverse(row.order));
  }

  static AxisOrder inverse(const AxisOrder& order) {
    AxisOrder result(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) result[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    return result;
  }

  Status run_group(const onnx::Cutter& cutter, const std::vector<std::size_t>& group) {
    const Result<base::TemporaryFile> file = base::TemporaryFile::create("again.onnx", cutter.encode());
    if (!file) return file.error();
    Result<std::unique_ptr<inspect::Runtime>> runtime = inspect::open_model({file->path(), b_.name().runtime});
    if (!runtime) return runtime.error();
    std::unordered_map<std::string, std::size_t> rows;
    for (const std::size_t row : group) rows.emplace(difference_.rows[row].name_in_b, row);
    std::vector<std::int64_t> layers;
    for (const inspect::Layer& layer : (*runtime)->description().layers) {
      if (rows.contains(layer.value.name)) layers.push_back(layer.index);
    }
    if (Status status = (*runtime)->select(layers); !status) return status;
    std::vector<NamedView> inputs;
    for (const onnx::Cutter::Input& input : cutter.inputs()) inputs.push_back({input.name, input.tensor});
    return (*runtime)->run(
        inputs, [&](const inspect::Output& output) { return take(output, rows.at(output.layer->value.name)); }, {});
  }

  Status take(const inspect::Output& output, std::size_t index) {
    const Row& row = difference_.rows[index];
    if (!output.tensor) {
      skipped.emplace_back(index, output.missing);
      return Status::success();
    }
    const Result<Loaded> a = a_.load(*row.match.a);
    if (!a) return a.error();
    const TensorView b = row.order.empty() ? *output.tensor : permuted(*output.tensor, row.order);
    const Result<Metrics> metrics = measure(a->view, b, {}, pool_);
    if (!metrics) {
      skipped.emplace_back(index, metrics.error().message());
      return Status::success();
    }
    const double error =
        metrics->non_finite_differ > 0 ? std::numeric_limits<double>::infinity() : metrics->norm_relative();
    errors.emplace_back(index, error);
    return Status::success();
  }

  ModelSet& a_;
  ModelSet& b_;
  base::TaskPool& pool_;
  const Difference& difference_;
  std::unordered_map<std::string, std::size_t> rows_b_;
  std::vector<std::shared_ptr<const void>> kept_;  // inputs of the group
  WeightFiles weights_;
  int failures_ = 0;
};

void find_by_rerun(ModelSet& a, ModelSet& b, base::TaskPool& pool, Difference& difference) {
  if (b.description().format != "onnx") {
    difference.no_culprit =
        "operations can be run again only if B is an ONNX model, and B is " + b.description().format;
    return;
  }
  Rerun rerun(a, b, pool, difference);
  const Status status = rerun.run();
  if (!status) {
    difference.no_culprit = "B's operations could not be run again: " + status.message();
    return;
  }
  if (rerun.errors.empty()) {
    difference.no_culprit = "no operation of B could be run again";
    if (!rerun.skipped.empty()) {
      difference.no_culprit += ": " + quoted(difference.rows[rerun.skipped.front().first].name) +
                               ", for example, since " + rerun.skipped.front().second;
    }
    return;
  }
  const auto worst = std::ranges::max_element(rerun.errors, {}, [](const auto& one) { return one.second; });
  Culprit culprit = {.row = worst->first, .error = worst->second, .how = {}};
  culprit.how = "run again in B on A's inputs, its output alone is off by " + brief(worst->second) +
                " norm-relative, the most of " + std::to_string(rerun.errors.size()) + " operations";
  if (!rerun.skipped.empty()) {
    culprit.how += "; " + std::to_string(rerun.skipped.size()) + " could not be run again, for example " +
                   quoted(difference.rows[rerun.skipped.front().first].name) + ": " + rerun.skipped.front().second;
  }
  difference.culprit = std::move(culprit);
}

}  // namespace

void find_culprit(ModelSet& a, ModelSet& b, base::TaskPool& pool, Difference& difference) {
  if (difference.count(Outcome::different) == 0) return;
  const bool same_runtime = a.runtime().name == b.runtime().name && a.runtime().version == b.runtime().version &&
                            a.runtime().precision == b.runtime().precision;
  if (same_runtime && find_by_bits(a, difference)) return;
  find_by_rerun(a, b, pool, difference);
}

void find_culprit(const TensorSet& a, Difference& difference) {
  if (difference.count(Outcome::different) == 0) return;
  const bool knows_inputs = std::ranges::any_of(a.entries(), [](const Entry& entry) { return !entry.inputs.empty(); });
  if (!knows_inputs) {
    difference.no_culprit = "tensors in files do not say what computed them, so nothing could be run again";
  } else if (!find_by_bits(a, difference)) {
    difference.no_culprit = "no tensor differs whose inputs agree to the bit, and only models can be run again";
  }
}

}  // namespace sonde::compare
