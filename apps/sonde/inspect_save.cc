#include "inspect_save.h"

#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/file_name.h"
#include "formats/csv.h"
#include "formats/run_layout.h"
#include "interrupt.h"
#include "output.h"
#include "picture.h"
#include "render/console.h"
#include "sonde/recorder.h"
#include "stats/summary.h"
#include "tensor/convert.h"
#include "tensor/tensor_data.h"
#include "terminal.h"

namespace sonde::cli {

namespace fs = std::filesystem;

// Removes what was begun and not finished.
struct LayerFiles::Folder {
  explicit Folder(std::string path) : temporary(std::move(path)) {}
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    if (!finished) fs::remove_all(temporary, error);
  }
  std::string temporary;
  bool finished = false;
};

namespace {

// One file for each layer: npy, csv.
class SeparateFiles final : public LayerFiles {
 public:
  explicit SeparateFiles(const SaveRequest& request) : LayerFiles(request) {}

  Status add(const inspect::Output& output) override {
    const inspect::Layer& layer = *output.layer;
    const TensorView& tensor = *output.tensor;
    const Result<std::string> path = path_of(layer.value.name, "." + request().format);
    if (!path) return path.error();
    if (request().format == "npy") return save_npy(*path, tensor);
    const Result<std::string> text = csv::encode_tensor(tensor, csv::LineEnd::lf);
    if (!text) return text.error();
    return base::write_file(*path, *text);
  }
};

// All layers of a pass in one file: npz, safetensors.
class JointFiles final : public LayerFiles {
 public:
  explicit JointFiles(const SaveRequest& request) : LayerFiles(request) {}

  Status add(const inspect::Output& output) override {
    const TensorView& tensor = *output.tensor;
    const TensorView kept = output.kept > 0 ? tensor : copies_.emplace_back(tensor::to_tensor(tensor)).view();
    tensors_.push_back({output.layer->value.name, kept});
    return Status::success();
  }
  Status end() override {
    const std::string name = (request().several ? pass() : "layers") + "." + request().format;
    const std::string path = base::join_path(temporary(), name);
    return request().format == "npz" ? save_npz(path, tensors_) : save_safetensors(path, tensors_);
  }

 private:
  void begin_pass() override {
    tensors_.clear();
    copies_.clear();
  }
  std::vector<NamedView> tensors_;
  std::deque<Tensor> copies_;
};

// Part of a tensor: one index of its first axis.
TensorView sample_of(const TensorView& tensor, std::int64_t index) {
  TensorView part = tensor;
  const std::int64_t bytes = index * tensor.strides[0] * static_cast<std::int64_t>(size_of(tensor.dtype));
  part.data = static_cast<const std::byte*>(tensor.data) + bytes;
  part.shape = {};
  part.strides = {};
  for (int axis = 1; axis < tensor.shape.rank(); ++axis) {
    part.shape.push_back(tensor.shape[axis]);
    part.strides.push_back(tensor.strides[axis]);
  }
  return part;
}

// Pictures: of three and four axes one for each index of the first, the batch, with the channels side by side.
class Pictures final : public LayerFiles {
 public:
  explicit Pictures(const SaveRequest& request) : LayerFiles(request) {}

  Status add(const inspect::Output& output) override {
    const inspect::Layer& layer = *output.layer;
    const TensorView& tensor = *output.tensor;
    const int rank = tensor.shape.rank();
    if (rank > 4 || tensor.size() == 0 || tensor::is_complex(tensor.dtype)) {
      note("'" + layer.value.name + "' is not drawn: it is " + render::type_text(tensor.dtype, tensor.shape));
      return Status::success();
    }
    if (rank < 3) return draw(layer.value.name, tensor, rank == 2 ? "HW" : "");
    const std::string layout = rank == 3 ? "HW" : request().channels_last ? "HWC" : "CHW";
    for (std::int64_t n = 0; n < tensor.shape[0]; ++n) {
      const std::string name = layer.value.name + (tensor.shape[0] == 1 ? "" : "/" + std::to_string(n));
      if (Status drawn = draw(name, sample_of(tensor, n), layout); !drawn) return drawn;
    }
    return Status::success();
  }

 private:
  Status draw(const std::string& name, const TensorView& tensor, const std::string& layout) {
    const Result<std::string> path = path_of(name, ".png");
    if (!path) return path.error();
    const Result<stats::Summary> summary = stats::summarize(tensor);
    if (!summary) return summary.error();
    return write_picture(tensor, *summary, {.path = *path, .layout = layout, .cells = request().cells}).status();
  }
};

// A log that `sonde serve` and TensorBoard show: statistics, histograms and pictures, one step for each pass.
class EventFiles final : public LayerFiles {
 public:
  explicit EventFiles(const SaveRequest& request) : LayerFiles(request) {}

  Status add(const inspect::Output& output) override {
    const inspect::Layer& layer = *output.layer;
    const TensorView& tensor = *output.tensor;
    if (Status opened = open(); !opened) return opened;
    const int rank = tensor.shape.rank();
    ProbeOptions options{.kind = Kind::activation, .inputs = layer.inputs};
    if (rank >= 2 && rank <= 4 && tensor.size() > 0) {
      options.keep = Keep::stats | Keep::histogram | Keep::image;
      if (rank == 4) options.layout = request().channels_last ? Layout::NHWC : Layout::NCHW;
    }
    // A network may have thousands of layers: nothing is dropped, however long it takes.
    recorder_->probe(layer.value.name, options).record(*step_, tensor);
    return recorder_->flush();
  }
  Status end() override {
    step_.reset();
    ++number_;
    return recorder_ ? recorder_->flush() : Status::success();
  }

 private:
  Status open() {
    if (!recorder_) {
      Result<Recorder> opened = Recorder::open(temporary(), {.tensors = Overflow::wait});
      if (!opened) return opened.error();
      recorder_.emplace(*std::move(opened));
    }
    if (!step_) step_.emplace(recorder_->step(number_));
    return Status::success();
  }
  Status close() override {
    step_.reset();
    return recorder_ ? recorder_->close() : Status::success();
  }

  std::optional<Recorder> recorder_;
  std::optional<Step> step_;
  std::int64_t number_ = 0;
};

}  // namespace

LayerFiles::LayerFiles(SaveRequest request)
    : request_(std::move(request)),
      temporary_(temporary_path(request_.folder)),
      folder_(std::make_shared<Folder>(temporary_)) {}

Result<std::unique_ptr<LayerFiles>> LayerFiles::create(const SaveRequest& request) {
  std::error_code error;
  if (fs::exists(request.folder, error) &&
      (!fs::is_directory(request.folder, error) || !fs::is_empty(request.folder, error))) {
    return Status(Code::invalid_argument,
                  "'" + request.folder + "' already exists: name a new or an empty folder with --save");
  }
  catch_interrupts();
  std::unique_ptr<LayerFiles> files;
  if (request.format == "npz" || request.format == "safetensors") {
    files = std::make_unique<JointFiles>(request);
  } else if (request.format == "png") {
    files = std::make_unique<Pictures>(request);
  } else if (request.format == run_layout::kEventsFormat) {
    files = std::make_unique<EventFiles>(request);
  } else {
    files = std::make_unique<SeparateFiles>(request);
  }
  if (Status made = base::make_directories(files->temporary_); !made) return about_path(made, request.folder);
  return files;
}

Result<std::string> LayerFiles::path_of(const std::string& name, const std::string& extension) {
  std::string path = temporary_;
  if (request_.several) path = base::join_path(path, base::file_path_of(pass_, ""));
  path = base::join_path(path, base::file_path_of(name, extension));
  if (Status made = base::make_directories(path.substr(0, path.rfind('/'))); !made) return made;
  return path;
}

Status LayerFiles::finish() {
  if (Status closed = close(); !closed) return closed;
  if (Status moved = move_into_place(temporary_, request_.folder); !moved) return moved;
  folder_->finished = true;
  return Status::success();
}

}  // namespace sonde::cli
