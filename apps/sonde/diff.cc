// sonde diff: where two models, dumps, captures or runs part.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/task_pool.h"
#include "compare/culprit.h"
#include "compare/difference.h"
#include "compare/mapping.h"
#include "compare/over_inputs.h"
#include "compare/run_difference.h"
#include "compare/tensor_set.h"
#include "diff_page.h"
#include "diff_report.h"
#include "diff_sides.h"
#include "input_options.h"
#include "inspect/inputs.h"
#include "inspect/runtime.h"
#include "output.h"
#include "progress.h"
#include "sonde/log.h"
#include "subcommand.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

constexpr int kDifferent = 1;
constexpr double kNotGiven = std::numeric_limits<double>::lowest();

class Diff final : public Subcommand {
 public:
  Diff()
      : Subcommand(
            {.name = "diff",
             .usage = "diff A B [options]",
             .summary = "find where two models, dumps, captures or runs differ",
             .details =
                 "A and B are each a model (as in 'sonde inspect'; both get the same input), a file of tensors (npy, "
                 "npz, "
                 "safetensors), a directory of such files, a capture, or the directory of a run. Tensors correspond by "
                 "the file of --map, by name, or by operation, shape and "
                 "order. "
                 "Exit code: 0 if all agree, 1 if some differ, 2 after an error.\n"
                 "A float tensor agrees if ||a-b||/||b|| is at most 1e-5 for f32, 1e-2 for f16, 5e-2 for bf16 and "
                 "1e-12 for f64; integers agree if they are equal. With --rtol, --atol or --tolerance each element "
                 "must "
                 "satisfy |a-b| <= atol + rtol * |b|, as for numpy.isclose. NaN agrees with NaN. Tensors of different "
                 "types are "
                 "compared after casting to the smaller type, and those whose axes are in another order after "
                 "permuting "
                 "them; the output says so.",
             .examples = {"sonde diff model.onnx model.onnx@onnxruntime --random 1",
                          "sonde diff before.safetensors after.safetensors", "sonde diff dump-a dump-b --json",
                          "sonde diff a.npz b.npz --rtol 1e-3 --atol 1e-6",
                          "sonde diff a.npz b.npz --tolerance 'encoder/.*=1e-2,1e-4' --map names.txt"}}) {}

  void setup(Flags& flags) override {
    flags.argument(a_, "A",
                   "a model, a tensor file, a directory of them, a capture or a run; MODEL@RUNTIME names a runtime");
    flags.argument(b_, "B", "what to compare it with: the reference of relative errors");
    flags.option(inputs_.files, "--input", "[NAME=]FILE",
                 "values of an input of the models: npy, npz, safetensors, png or csv, or a folder of such files: "
                 "then each tensor's largest difference counts");
    flags.option(seed_, "--random", "SEED", "random inputs: N(0, 1), and integers of --range");
    flags.option(range_, "--range", "LOW,HIGH", "the smallest and the largest random integer");
    flags.option(rtol_, "--rtol", "R", "relative tolerance of each element");
    flags.option(atol_, "--atol", "A", "absolute tolerance of each element");
    flags.option(rules_, "--tolerance", "RE=R,A", "rtol and atol for tensors with such a name; may be repeated");
    flags.path_option(map_, "--map", "FILE", "which tensors correspond: one line 'NAME IN A -> NAME IN B' per pair");
    flags.path_option(html_, "--html", "FILE",
                      "write a report with pictures of where tensors differ; needs no network");
    flags.toggle(json_, "--json", "for programs");
  }

  int run() override {
    compare::Options options;
    if (Status status = read_options(options); !status) return fail(status);
    DiffPage page;
    if (!html_.empty()) {
      if (Status status = writable_as_file(html_, Existing::replace); !status) return fail(status);
      options.compared = [&](const compare::Row& row, const TensorView& a, const TensorView& b) {
        page.add(row, a, b);
      };
    }
    const Result<compare::Difference> difference = find_difference(options);
    if (!difference) return fail(difference.error());
    if (!html_.empty()) {
      if (Status status = base::write_file(html_, page.html(*difference, {a_, b_})); !status) return fail(status);
    }
    for (const std::string& rule : options.tolerances.unused()) {
      note("no tensor has a name that '" + rule + "' matches");
    }
    print(json_ ? diff_json(*difference, {a_, b_}) : diff_text(*difference, {a_, b_}, colored(stdout)));
    return difference->same() ? kSuccess : kDifferent;
  }

 private:
  Status read_options(compare::Options& options) {
    if (Status status = read_random_options(seed_, range_, inputs_); !status) return status;
    for (const auto& [name, value] : {std::pair{"--rtol", rtol_}, std::pair{"--atol", atol_}}) {
      if (value != kNotGiven && (std::isnan(value) || std::isinf(value) || value < 0)) {
        return {Code::invalid_argument,
                std::string(name) + " is " + exact_text(value, false) + ", but must be a number that is not negative"};
      }
    }
    if (rtol_ != kNotGiven || atol_ != kNotGiven) {
      options.tolerances.set_all({.rtol = std::max(rtol_, 0.0), .atol = std::max(atol_, 0.0)});
    }
    for (const std::string& rule : rules_) {
      if (Status status = options.tolerances.add_rule(rule); !status) return status;
    }
    if (map_.empty()) return Status::success();
    constexpr std::size_t kLargestMap = std::size_t{64} << 20;
    const Result<std::string> text = base::read_stream(map_, kLargestMap);
    if (!text) return text.error();
    Result<std::vector<compare::MappedPair>> mapping = compare::parse_mapping(*text, map_);
    if (!mapping) return mapping.error();
    options.mapping = std::move(*mapping);
    return Status::success();
  }

  Result<compare::Difference> find_difference(compare::Options& options) const {
    base::TaskPool pool("sonde-diff", static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
    Progress progress("comparing");
    options.progress = [&](std::size_t done, std::size_t total) { progress.update(done, total); };
    const Result<SideKind> kind_a = side_kind(a_);
    if (!kind_a) return kind_a.error();
    const Result<SideKind> kind_b = side_kind(b_);
    if (!kind_b) return kind_b.error();
    if (*kind_a == SideKind::run && *kind_b == SideKind::run) return find_difference_of_runs(options, pool);
    if (*kind_a == SideKind::model || *kind_b == SideKind::model) {
      if (inputs_.files.empty() && !inputs_.seed) {
        return Status{Code::invalid_argument, "a model needs an input: give it with --input FILE or --random SEED"};
      }
    } else if (!inputs_.files.empty() || inputs_.seed) {
      return Status{Code::invalid_argument, "--input and --random are for models, and neither A nor B is one"};
    }
    Result<DiffSides> sides = DiffSides::open({a_, *kind_a}, {b_, *kind_b}, inputs_);
    if (!sides) return sides.error();
    return compare_inputs(*sides, options, pool, progress);
  }

  static Result<compare::Difference> compare_inputs(DiffSides& sides, compare::Options& options, base::TaskPool& pool,
                                                    Progress& progress) {
    const std::size_t inputs = sides.inputs();
    compare::OverInputs all;
    Result<DiffSides::Pair> pair = DiffSides::Pair{};
    Result<compare::Difference> difference = compare::Difference{};
    for (std::size_t i = 0; i < inputs; ++i) {
      options.progress = [&progress, i, inputs](std::size_t done, std::size_t total) {
        progress.update(i * total + done, inputs * total);
      };
      progress.update(i, inputs);
      pair = sides.load(i);
      if (!pair) return pair.error();
      difference = compare::compare(*pair->a, *pair->b, options, pool);
      if (!difference) return difference;
      all.add(pair->input, *difference);
      if (i == 0) options.matches = all.matches();
    }
    const std::optional<std::size_t> first = all.input_of_first();
    if (!first) return all.merged();
    if (*first + 1 != inputs) {  // what is in memory belongs to another input
      options.compared = nullptr;
      pair = sides.load(*first);
      if (!pair) return pair.error();
      difference = compare::compare(*pair->a, *pair->b, options, pool);
      if (!difference) return difference;
    }
    if (pair->model_a != nullptr && pair->model_b != nullptr) {
      compare::find_culprit(*pair->model_a, *pair->model_b, pool, *difference);
    } else {
      compare::find_culprit(*pair->a, *difference);
    }
    all.set_culprit(*first, *difference);
    return all.merged();
  }

  Result<compare::Difference> find_difference_of_runs(const compare::Options& options, base::TaskPool& pool) const {
    const Result<Log> log_a = Log::open(a_);
    if (!log_a) return log_a.error();
    const Result<Log> log_b = Log::open(b_);
    if (!log_b) return log_b.error();
    const Result<Run> a = log_a->run(".");
    if (!a) return a.error();
    const Result<Run> b = log_b->run(".");
    if (!b) return b.error();
    return compare::compare_runs(*a, *b, options, pool);
  }

  std::string a_;
  std::string b_;
  inspect::InputOptions inputs_;
  std::string seed_;
  std::string range_;
  double rtol_ = kNotGiven;
  double atol_ = kNotGiven;
  std::vector<std::string> rules_;
  std::string map_;
  std::string html_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Subcommand> make_diff_command() { return std::make_unique<Diff>(); }

}  // namespace sonde::cli
