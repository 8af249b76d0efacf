// sonde show: prints or draws the content of a tensor file.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/input_file.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "csv_text.h"
#include "formats/json_writer.h"
#include "formats/run_layout.h"
#include "picture.h"
#include "render/array.h"
#include "render/console.h"
#include "render/digits.h"
#include "show_recorded.h"
#include "stats/summary.h"
#include "subcommand.h"
#include "tensor_file.h"
#include "tensor_text.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

class Show final : public Subcommand {
 public:
  Show()
      : Subcommand(
            {.name = "show",
             .usage = "show FILE | LOGDIR RUN TAG [options]",
             .summary = "print or draw the tensors of a file, or what a run recorded",
             .details =
                 "For a file: reads npy, npz, safetensors, png, wav and csv. A file of several tensors is listed, one "
                 "line "
                 "each: name, type and shape, smallest value, histogram, largest value, mean, standard "
                 "deviation, and how many values are not finite. For a single tensor, or the one selected "
                 "with --tensor, the values follow, as NumPy prints them. For a table (csv) the first and the last "
                 "rows are printed.\n"
                 "For a log directory: what a run has recorded under a tag, at the last step or that of "
                 "--step: the course of a scalar, statistics with a histogram, the size of a picture or "
                 "sound, text, a PR curve, hyper-parameters, a tensor that was kept whole, a table. RUN and TAG "
                 "are names that 'sonde ls' lists. Scalars are printed with all their digits.\n"
                 "In pictures one element is one pixel; NaN is pink, an infinity orange.",
             .examples = {"sonde show weights.safetensors", "sonde show weights.safetensors --tensor conv_1/kernel",
                          "sonde show activations.npy --png activations.png", "sonde show batch.npz --tensor 0 --full",
                          "sonde show batch.npz --tensor 0 --full --json", "sonde show validation.csv --rows 100",
                          "sonde show logs train loss", "sonde show logs train tables/validation",
                          "sonde show logs train activation/dense_1/out --step 1200"}}) {}

  void setup(Flags& flags) override {
    flags.argument(file_, "FILE", "a file: npy, npz, safetensors, png, wav or csv; or a log directory");
    flags.optional_argument(recorded_.run, "RUN", "a run of the log directory; . for the directory itself");
    flags.optional_argument(recorded_.tag, "TAG", "a tag or a table of the run");
    flags.option(recorded_.step, "--step", "N", "what was recorded at this step (the last one)");
    flags.option(tensor_, "--tensor", "NAME", "one tensor of the file, by its name or its number in the list");
    flags.toggle(full_, "--full", "all values, however many; with --json too");
    flags.option(recorded_.rows, "--rows", "N", "maximum number of rows of a table, half of them from its end (20)");
    flags.path_option(picture_.path, "--png", "FILE", "draw the tensor instead of printing its values");
    flags.choice(picture_.layout, "--layout", {"HW", "HWC", "CHW", "NHW", "NHWC", "NCHW"},
                 "the meaning of the axes (by the shape)");
    flags.choice(
        picture_.colors, "--colors", {"auto", "grey", "viridis", "diverging"},
        "colours of the picture (auto: the values themselves if they can be colours, else a map that suits the sign)");
    flags.option(picture_.cells, "--cells", "N", "maximum number of images and channels side by side (64)");
    flags.toggle(json_, "--json", "for programs");
  }

  int run() override {
    std::error_code error;
    if (recorded_.rows < 1) return fail("--rows is " + std::to_string(recorded_.rows) + ", but must be at least 1");
    if (picture_.cells < 1) return fail("--cells is " + std::to_string(picture_.cells) + ", but must be at least 1");
    if (fs::is_directory(file_, error)) return show_log();
    if (!recorded_.run.empty())
      return fail("'" + recorded_.run + "' is an unexpected argument: '" + file_ + "' is not a log directory");
    const std::string extension = fs::path(file_).extension().string();
    if (extension == ".csv") return show_table();
    if (recorded_.step != kLastStep) return fail("--step is for log directories and tables, not for '" + file_ + "'");
    for (std::string_view model : {".onnx", ".pb", ".tflite", ".keras", ".h5", ".pt", ".pt2", ".pth"}) {
      if (extension == model && fs::exists(file_, error)) {
        return fail("'" + file_ +
                    "' is a model, and this version shows tensors only: npy, npz, safetensors, png, wav, csv");
      }
    }
    Result<TensorFile> file = TensorFile::open(file_);
    if (!file) return fail(file.error());
    std::vector<std::size_t> chosen;
    if (Status status = choose(*file, chosen); !status) return fail(status);
    return json_ ? show_json(*file, chosen) : show_text(*file, chosen);
  }

 private:
  int show_table() const {
    if (!tensor_.empty() || !picture_.path.empty()) {
      return fail("--tensor and --png are for tensors, but '" + file_ + "' is a table");
    }
    CsvRequest request = {
        .rows = static_cast<std::uint64_t>(recorded_.rows), .full = full_, .name = fs::path(file_).filename().string()};
    if (recorded_.step != kLastStep) request.step = recorded_.step;
    formats::JsonWriter json;
    json.object().key("file").text(file_).key("format").text("csv");
    const Result<CsvText> table = show_csv(file_, request, json);
    if (!table) return fail(table.error());
    print(json_ ? json.end().take() + "\n" : table->text);
    return kSuccess;
  }

  int show_log() {
    if (recorded_.tag.empty() && base::file_state(base::join_path(file_, run_layout::kCaptureFile))) {
      return fail("'" + file_ + "' is a capture: 'sonde captures' lists its content, and 'sonde show' prints each of " +
                  "its safetensors files");
    }
    if (recorded_.tag.empty()) {
      return fail("'" + file_ + "' is a directory: 'sonde ls' lists the runs and tags of one, and 'sonde show LOGDIR " +
                  "RUN TAG' shows what a run recorded");
    }
    if (!tensor_.empty()) return fail("--tensor is for files, but '" + file_ + "' is a log directory: name a tag");
    recorded_.directory = file_;
    recorded_.picture = picture_;
    recorded_.full = full_;
    recorded_.json = json_;
    return show_recorded(recorded_);
  }

  // The indices of the tensors to show.
  Status choose(const TensorFile& file, std::vector<std::size_t>& chosen) const {
    const std::vector<std::string>& names = file.names();
    if (tensor_.empty()) {
      for (std::size_t i = 0; i < names.size(); ++i) chosen.push_back(i);
      if (picture_.path.empty() || names.size() == 1) return Status::success();
      return {Code::invalid_argument,
              "'" + file_ + "' holds " + counted(names.size(), "tensor") + ": choose the one to draw with --tensor"};
    }
    const auto found = std::ranges::find(names, tensor_);
    if (found != names.end()) {
      chosen = {static_cast<std::size_t>(found - names.begin())};
      return Status::success();
    }
    std::size_t index = 0;
    const auto end = std::from_chars(tensor_.data(), tensor_.data() + tensor_.size(), index);
    if (end.ec == std::errc{} && end.ptr == tensor_.data() + tensor_.size() && index < names.size()) {
      chosen = {index};
      return Status::success();
    }
    return {Code::not_found, "there is no tensor '" + render::printable(tensor_) + "' in '" + file_ +
                                 "', which holds " + counted(names.size(), "tensor") +
                                 base::did_you_mean(tensor_, names)};
  }

  int show_text(TensorFile& file, const std::vector<std::size_t>& chosen) const {
    const bool list = file.named() && tensor_.empty();
    std::size_t name_width = 0;
    std::size_t type_width = 0;
    if (list) {
      type_width = 12;  // the type of compressed arrays is not known before
      for (std::size_t i : chosen) {
        name_width = std::max(name_width, base::count_characters(render::printable(file.names()[i])));
        type_width = std::max(type_width, file.type(i).value_or("").size());
      }
      print_heading(file);
    }
    for (std::size_t i : chosen) {
      Result<LoadedTensor> loaded = file.load(i);
      if (!loaded) return fail(loaded.error());
      const TensorView& view = loaded->view;
      Result<Described> described = describe(view);
      if (!described) return fail(described.error());
      std::string drawn;
      if (Status status = draw(view, *described, drawn); !status) return fail(status);

      const bool medium = file.format() == FileFormat::png || file.format() == FileFormat::wav;
      const std::string name = file.named() ? file.names()[i] : fs::path(file_).filename().string();
      if (medium) print(medium_text(name, view, file));
      if (list) print(styled(padded(std::to_string(i), 4), Style::dim, style_.color));
      print(tensor_line(medium ? "" : padded(render::printable(name), name_width),
                        padded(render::type_text(view.dtype, view.shape), type_width), *described, list ? 8 : 0,
                        style_));
      if (full_ || (!list && !medium && drawn.empty())) {
        print(render::numpy_style(view, {.threshold = full_ ? render::ArrayOptions::kEverything : 1000}) + "\n");
      }
      print(drawn);
    }
    return kSuccess;
  }

  // Draws the tensor if a picture is wanted; `said` then describes it.
  Status draw(const TensorView& view, const Described& described, std::string& said) const {
    if (picture_.path.empty()) return Status::success();
    Result<std::string> drawn = write_picture(view, described.summary.value_or(stats::Summary{}), picture_);
    if (!drawn) return drawn.error();
    said = harmless(*drawn) + "\n";
    return Status::success();
  }

  void print_heading(const TensorFile& file) const {
    print(render::printable(fs::path(file_).filename().string()) + "  " + counted(file.names().size(), "tensor") +
          ", " + size_text(file.bytes()) + "\n");
    for (const auto& [key, value] : file.metadata()) {
      print(styled("    " + render::printable(key) + " = " + render::printable(value), Style::dim, style_.color) +
            "\n");
    }
  }

  // A picture is described by its size, sound by its length.
  std::string medium_text(const std::string& name, const TensorView& view, const TensorFile& file) const {
    std::string text = styled(render::printable(name), Style::bold, style_.color) + "  ";
    if (file.format() == FileFormat::wav) {
      const double seconds = static_cast<double>(view.shape[0]) / file.sample_rate();
      return text + std::to_string(file.sample_rate()) + " Hz, " +
             counted(static_cast<std::uint64_t>(view.shape[1]), "channel") + ", " + render::brief(seconds) + " s\n";
    }
    return text + pixels_text(view) + "\n";
  }

  int show_json(TensorFile& file, const std::vector<std::size_t>& chosen) const {
    formats::JsonWriter json;
    json.object().key("file").text(file_).key("format").text(to_string(file.format()));
    if (file.format() == FileFormat::wav) json.key("rate").integer(file.sample_rate());
    json.key("tensors").array();
    for (std::size_t i : chosen) {
      Result<LoadedTensor> loaded = file.load(i);
      if (!loaded) return fail(loaded.error());
      Result<Described> described = describe(loaded->view);
      if (!described) return fail(described.error());
      json.object().key("index").integer(i).key("name").text(file.names()[i]);
      if (Status status = put_tensor(json, loaded->view, *described, full_); !status) return fail(status);
      json.end();
      std::string drawn;
      if (Status status = draw(loaded->view, *described, drawn); !status) return fail(status);
    }
    print(json.end().end().take() + "\n");
    return kSuccess;
  }

  std::string file_;
  std::string tensor_;
  RecordedRequest recorded_;
  PictureRequest picture_;
  bool full_ = false;
  bool json_ = false;
  TextStyle style_ = output_style();
};

}  // namespace

std::unique_ptr<Subcommand> make_show_command() { return std::make_unique<Show>(); }

}  // namespace sonde::cli
