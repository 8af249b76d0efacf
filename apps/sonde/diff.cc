// sonde diff: where two models, dumps, captures or runs part.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/directory.h"
#include "base/file.h"
#include "base/task_pool.h"
#include "compare/culprit.h"
#include "compare/difference.h"
#include "compare/mapping.h"
#include "compare/model_set.h"
#include "compare/run_difference.h"
#include "compare/tensor_set.h"
#include "diff_page.h"
#include "diff_report.h"
#include "formats/run_layout.h"
#include "input_options.h"
#include "inspect/describe.h"
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

enum class What : std::uint8_t { tensors, capture, run, model };

// What a path names, by what is in it.
Result<What> what_is(const std::string& path) {
  if (!inspect::parse_model_name(path).runtime.empty()) return What::model;
  if (!base::file_state(path)) return Status{Code::not_found, "there is no file or directory '" + path + "'"};
  const Result<base::Directory> directory = base::read_directory(path);
  const bool tensor_file =
      path.ends_with(run_layout::kNpy) || path.ends_with(run_layout::kNpz) || path.ends_with(run_layout::kSafetensors);
  if (!directory) return !tensor_file && inspect::is_model(path) ? What::model : What::tensors;
  bool run = false;
  for (const base::DirectoryEntry& entry : directory->entries) {
    if (entry.name == run_layout::kCaptureFile) return What::capture;
    run = run || run_layout::is_event_file(entry.name) || run_layout::is_statistics_file(entry.name);
  }
  if (!run && inspect::is_model(path)) return What::model;
  return run ? What::run : What::tensors;
}

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
                 "values of an input of the models: npy, npz, safetensors, png or csv");
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
    const Result<What> what_a = what_is(a_);
    if (!what_a) return what_a.error();
    const Result<What> what_b = what_is(b_);
    if (!what_b) return what_b.error();
    if (*what_a == What::run && *what_b == What::run) return find_difference_of_runs(options, pool);
    if (*what_a == What::model || *what_b == What::model) {
      if (inputs_.files.empty() && !inputs_.seed) {
        return Status{Code::invalid_argument, "a model needs an input: give it with --input FILE or --random SEED"};
      }
    } else if (!inputs_.files.empty() || inputs_.seed) {
      return Status{Code::invalid_argument, "--input and --random are for models, and neither A nor B is one"};
    }
    Result<Opened> a = open(a_, *what_a, nullptr);
    if (!a) return a.error();
    Result<Opened> b = open(b_, *what_b, &*a);
    if (!b) return b.error();
    Result<compare::Difference> difference = compare::compare(*a->set, *b->set, options, pool);
    if (!difference) return difference;
    if (a->model != nullptr && b->model != nullptr) {
      compare::find_culprit(*a->model, *b->model, pool, *difference);
    } else {
      compare::find_culprit(*a->set, *difference);
    }
    return difference;
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

  // One side; `model` is set if it is a model.
  struct Opened {
    std::unique_ptr<inspect::InputBatch> inputs;
    std::unique_ptr<compare::TensorSet> set;
    compare::ModelSet* model = nullptr;
  };

  // `first` is the side that was opened before: a second model gets the same input.
  Result<Opened> open(const std::string& path, What what, const Opened* first) const {
    if (what == What::model) return open_model(path, first);
    Result<std::unique_ptr<compare::TensorSet>> set = what == What::capture ? compare::open_capture(path)
                                                      : what == What::run   ? compare::open_whole_tensors(path)
                                                                            : compare::open_tensor_files(path);
    if (!set) return set.error();
    return Opened{nullptr, std::move(*set), nullptr};
  }

  Result<Opened> open_model(const std::string& path, const Opened* first) const {
    const inspect::ModelName name = inspect::parse_model_name(path);
    Result<std::unique_ptr<inspect::Runtime>> runtime = inspect::open_model(name);
    if (!runtime) return runtime.error();
    const inspect::Description& model = (*runtime)->description();
    Opened opened;
    std::vector<NamedView> inputs;
    if (first != nullptr && first->model != nullptr) {
      Result<std::vector<NamedView>> same = same_inputs(*first->model, model);
      if (!same) return same.error();
      inputs = std::move(*same);
    } else {
      const Result<inspect::InputSource> source = inspect::InputSource::open(model, inputs_);
      if (!source) return source.error();
      if (source->batches() != 1) {
        return Status{Code::invalid_argument, "--input names " + std::to_string(source->batches()) +
                                                  " inputs, but models are compared for one; name one of its files"};
      }
      Result<inspect::InputBatch> batch = source->load(0);
      if (!batch) return batch.error();
      opened.inputs = std::make_unique<inspect::InputBatch>(std::move(*batch));
      inputs = opened.inputs->views();
    }
    Result<std::unique_ptr<compare::ModelSet>> set =
        compare::ModelSet::run(name, std::move(*runtime), std::move(inputs));
    if (!set) return set.error();
    opened.model = set->get();
    opened.set = std::move(*set);
    return opened;
  }

  // The inputs of A under the names of B: by name, or by place if the names differ.
  static Result<std::vector<NamedView>> same_inputs(const compare::ModelSet& a, const inspect::Description& b) {
    if (a.inputs().size() != b.inputs.size()) {
      return Status{Code::invalid_argument, "'" + a.description().path + "' has " +
                                                counted(a.inputs().size(), "input") + ", but '" + b.path + "' has " +
                                                std::to_string(b.inputs.size()) + ", so that they cannot get the same"};
    }
    std::vector<NamedView> inputs;
    for (std::size_t i = 0; i < b.inputs.size(); ++i) {
      const auto named = std::ranges::find(a.inputs(), std::string_view(b.inputs[i].name), &NamedView::name);
      const std::vector<inspect::Value>& order = a.description().inputs;
      const auto placed = std::ranges::find(a.inputs(), std::string_view(order[i].name), &NamedView::name);
      const auto found = named != a.inputs().end() ? named : placed;
      inputs.push_back({b.inputs[i].name, found->tensor});
    }
    return inputs;
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
