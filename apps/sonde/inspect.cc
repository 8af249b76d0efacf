// sonde inspect: the layers of a saved model, and their outputs for some input.
#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "formats/run_layout.h"
#include "inspect/runtime.h"
#include "inspect/save_model.h"
#include "inspect/selection.h"
#include "inspect_print.h"
#include "inspect_report.h"
#include "inspect_run.h"
#include "subcommand.h"
#include "terminal.h"

namespace sonde::cli {
namespace {

// "1,2,-1"
Result<std::vector<std::int64_t>> numbers_of(const std::string& option, const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, value);
    if (error != std::errc() || stop != text.data() + end) {
      return Status(Code::invalid_argument, std::string(option).append(" is '").append(text).append(
                                                "', but must be integers separated by commas"));
    }
    numbers.push_back(value);
    begin = end + 1;
  }
  return numbers;
}

class Inspect final : public Subcommand {
 public:
  Inspect()
      : Subcommand(
            {.name = "inspect",
             .usage = "inspect MODEL[@RUNTIME] [options]",
             .summary = "run a saved model and look at the outputs of its layers",
             .details =
                 "Reads models of ONNX, TensorFlow (SavedModel, frozen graph), TFLite and OpenVINO. Without an input, "
                 "or with "
                 "--list, it lists the layers "
                 "without running anything: index, name, operation, type and the number of parameters. With an "
                 "input it "
                 "prints statistics of the layers, merged over all passes, and signs of numerical trouble; --save "
                 "writes "
                 "their values.\n"
                 "If no layers are selected, those are shown that the runtime computes anyway: it fuses operations, "
                 "and showing a value inside of a fusion makes it slower and may change its last digits. "
                 "Every result names the runtime, its version and the precision in which it computed.",
             .examples = {"sonde inspect model.onnx --list",
                          "sonde inspect model.onnx --input x.npy --layers 'dense_.*' --save out",
                          "sonde inspect model.onnx --random 1 --index 0,-1 --json"}}) {}

  void setup(Flags& flags) override {
    flags.argument(model_, "MODEL", "a file or folder of a saved model; MODEL@RUNTIME names another runtime");
    flags.option(request_.inputs.files, "--input", "[NAME=]FILE",
                 "values of an input: npy, npz, safetensors, png or csv; a folder of such files, one for each pass");
    flags.option(seed_, "--random", "SEED", "random inputs: N(0, 1), and integers of --range");
    flags.option(range_, "--range", "LOW,HIGH", "the smallest and the largest random integer");
    flags.toggle(list_, "--list", "list the layers without running the model");
    flags.option(request_.selection.names, "--layers", "SEL",
                 "layers by exact name, or by a pattern that matches all of it (all)");
    flags.option(index_, "--index", "I,J", "layers by their index in the list; negative ones count from the end");
    flags.option(request_.selection.ops, "--op", "TYPE", "layers by their operation, as in --op Conv");
    flags.path_option(request_.save.folder, "--save", "DIR", "write the values of the layers into a new folder");
    flags.choice(request_.save.format, "--format",
                 {"npy", "npz", "safetensors", "png", "csv", std::string(run_layout::kEventsFormat)},
                 "of the files that --save writes (npy)");
    flags.choice(request_.options.precision, "--precision", {"f32", "f16", "bf16"},
                 "in which the runtime computes, if the processor can (f32)");
    flags.option(request_.options.signature, "--signature", "NAME",
                 "of a TensorFlow model that has several (serving_default)");
    flags.path_option(save_model_, "--save-model", "FILE",
                      "write a copy of an ONNX model whose outputs are the layers");
    flags.toggle(request_.print, "--print", "print the values of the layers, as NumPy does");
    flags.choice(request_.taps, "--taps", {"safe", "all"},
                 "safe: only where the runtime fuses nothing away (if no layers are selected); all: everywhere, and "
                 "what it costs");
    flags.toggle(request_.verify, "--verify",
                 "check that looking changes nothing, and that the runtime used what is shown");
    flags.toggle(request_.options.profile, "--profile", "the time of each operation, and the memory of the outputs");
    flags.toggle(json_, "--json", "for programs");
  }

  int run() override {
    Status done = inspect_model();
    return done ? kSuccess : fail(done);
  }

 private:
  Status inspect_model() {
    if (Status read = read_options(); !read) return read;
    request_.model = inspect::parse_model_name(model_);
    const bool has_input = !request_.inputs.files.empty() || request_.inputs.seed;
    if (!save_model_.empty()) {
      if (Status saved = save_model(request_.model); !saved) return saved;
      if (!has_input && !list_) return {};
    }
    // A model without inputs can be run as it is.
    const bool asks = !request_.save.folder.empty() || request_.verify || request_.print || request_.options.profile ||
                      !request_.taps.empty();
    return list_ || (!has_input && !asks) ? list(request_.model) : run_model();
  }

  Status read_options() {
    if (!seed_.empty()) {
      const auto seed = numbers_of("--random", seed_);
      if (!seed) return seed.error();
      if (seed->size() != 1) return {Code::invalid_argument, "--random takes one integer, the seed"};
      request_.inputs.seed = seed->front();
    }
    if (!range_.empty()) {
      const auto range = numbers_of("--range", range_);
      if (!range) return range.error();
      if (range->size() != 2 || (*range)[0] > (*range)[1]) {
        return {Code::invalid_argument, "--range is '" + range_ + "', but must be LOW,HIGH"};
      }
      request_.inputs.range = {(*range)[0], (*range)[1]};
    }
    const auto indices = numbers_of("--index", index_);
    if (!indices) return indices.error();
    request_.selection.indices = *indices;
    return {};
  }

  Status list(const inspect::ModelName& name) const {
    Result<inspect::Description> model = inspect::describe_model(name.path, request_.options);
    if (!model) return model.error();
    inspect::infer_types(*model);
    const auto layers = inspect::select_layers(*model, request_.selection);
    if (!layers) return layers.error();
    print(json_ ? list_json(*model, *layers) : list_text(*model, *layers));
    return {};
  }

  Status save_model(const inspect::ModelName& name) const {
    const Result<inspect::Description> model = inspect::describe_model(name.path, request_.options);
    if (!model) return model.error();
    const auto layers = inspect::select_layers(*model, request_.selection);
    if (!layers) return layers.error();
    return inspect::save_tapped_model(*model, *layers, save_model_);
  }

  Status run_model() const {
    const Result<Inspection> made = run_inspection(request_);
    if (!made) return made.error();
    print(json_ ? inspection_json(*made) : inspection_text(*made));
    return {};
  }

  std::string model_;
  std::string seed_;
  std::string range_;
  bool list_ = false;
  std::string index_;
  std::string save_model_;
  bool json_ = false;
  InspectRequest request_;
};

}  // namespace

std::unique_ptr<Subcommand> make_inspect_command() { return std::make_unique<Inspect>(); }

}  // namespace sonde::cli
