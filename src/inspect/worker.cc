#include "inspect/worker.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "formats/json_writer.h"
#include "formats/safetensors.h"
#include "inspect/worker_process.h"

namespace sonde::inspect {
namespace {

constexpr std::array<std::string_view, 4> kRuntimes = {"onnxruntime", "tensorflow", "keras", "torch"};

class WorkerRuntime final : public Runtime {
 public:
  WorkerRuntime(std::shared_ptr<WorkerProcess> worker, std::int64_t model, RuntimeInfo info, Description description)
      : worker_(std::move(worker)), model_(model), info_(std::move(info)), description_(std::move(description)) {}
  ~WorkerRuntime() override {
    // If the worker is gone, so is the model; and if this is its last model, it ends anyway.
    if (worker_.use_count() > 1) (void)worker_->call(description_.path, request("close").end().take());
  }

  const RuntimeInfo& info() const noexcept override { return info_; }
  const Description& description() const noexcept override { return description_; }

  Status select(const std::vector<std::int64_t>& layers) override {
    std::vector<std::int64_t> sorted = layers;
    std::ranges::sort(sorted);
    sorted.erase(std::ranges::unique(sorted).begin(), sorted.end());
    formats::JsonWriter json = request("select");
    json.key("layers").array();
    for (const std::int64_t index : sorted) {
      if (index < 0 || static_cast<std::size_t>(index) >= description_.layers.size()) {
        return {Code::not_found, "'" + description_.path + "' has no layer with the index " + std::to_string(index)};
      }
      json.text(description_.layers[static_cast<std::size_t>(index)].value.name);
    }
    const auto done = worker_->call(description_.path, json.end().end().take());
    if (done) selected_ = std::move(sorted);
    return done.status();
  }

  Status run(const std::vector<NamedView>& inputs, const TakeOutput& take, const TakeResult& result) override {
    std::vector<safetensors::NamedView> views;
    views.reserve(inputs.size());
    for (const NamedView& input : inputs) views.push_back({input.name, input.tensor});
    const Result<std::string> file = safetensors::encode(views);
    if (!file) return file.error();
    formats::JsonWriter json = request("run");
    json.key("bytes").integer(file->size());
    const auto done = worker_->call(description_.path, json.end().take(), *file,
                                    [&](const WorkerAnswer& answer, std::span<const std::byte> bytes) {
                                      return pass_on(answer, bytes, take, result);
                                    });
    return done.status();
  }

  Result<std::vector<Value>> infer_values() override {
    return Status(Code::unsupported, info_.name + " does not tell the types of layers");
  }
  Result<std::vector<std::int64_t>> fusions() override {
    return Status(Code::unsupported, info_.name + " does not tell what it fuses");
  }
  Result<std::vector<LayerTime>> times() override {
    const auto done = worker_->call(description_.path, request("times").end().take());
    if (!done) return done.error();
    std::vector<LayerTime> times;
    for (const WorkerTime& time : done->times) {
      const auto layer = std::ranges::find_if(description_.layers, [&](const Layer& each) {
        return time.layer.empty() ? !time.node.empty() && each.node == time.node : each.value.name == time.layer;
      });
      times.push_back({layer == description_.layers.end() ? -1 : layer->index, time.name, time.nanoseconds});
    }
    return times;
  }

 private:
  formats::JsonWriter request(std::string_view call) const {
    formats::JsonWriter json;
    json.object().key("call").text(call).key("model").integer(model_);
    return json;
  }

  Status pass_on(const WorkerAnswer& answer, std::span<const std::byte> bytes, const TakeOutput& take,
                 const TakeResult& result) const {
    std::optional<TensorView> tensor;
    if (answer.missing.empty()) {
      const Result<safetensors::File> file = safetensors::parse(bytes);
      if (!file) return file.error();
      if (file->tensors.size() != 1) return {Code::corrupt, "the worker process gave several tensors at once"};
      tensor = file->tensors.front().view();
    }
    if (answer.kind == WorkerAnswer::Kind::result) {
      // An output that is no tensor has nothing to be given.
      return result && tensor ? result(answer.name, *tensor) : Status::success();
    }
    if (answer.place < 0 || static_cast<std::size_t>(answer.place) >= selected_.size()) {
      return {Code::corrupt, "the worker process gave a layer that was not selected"};
    }
    const auto index = static_cast<std::size_t>(selected_[static_cast<std::size_t>(answer.place)]);
    return take ? take({&description_.layers[index], tensor, answer.missing, 0}) : Status::success();
  }

  std::shared_ptr<WorkerProcess> worker_;
  std::int64_t model_;
  RuntimeInfo info_;
  Description description_;
  std::vector<std::int64_t> selected_;  // ascending
};

}  // namespace

bool runs_in_worker(std::string_view runtime) noexcept {
  return std::ranges::find(kRuntimes, runtime) != kRuntimes.end();
}

std::string_view worker_runtime_of(std::string_view path) noexcept {
  if (path.ends_with(".keras") || path.ends_with(".h5") || path.ends_with(".hdf5")) return "keras";
  if (path.ends_with(".pt2")) return "torch";
  return {};
}

Result<Description> describe_in_worker(const std::string& path, const OpenOptions& options) {
  const Result<std::unique_ptr<Runtime>> opened = open_in_worker({path, std::string(worker_runtime_of(path))}, options);
  if (!opened) return opened.error();
  return (*opened)->description();
}

Result<std::unique_ptr<Runtime>> open_in_worker(const ModelName& model, const OpenOptions& options,
                                                std::optional<Description> described) {
  Result<std::shared_ptr<WorkerProcess>> worker = WorkerProcess::of_runtime(model.runtime);
  if (!worker) return worker.error();
  formats::JsonWriter json;
  json.object().key("call").text("open").key("path").text(model.path).key("runtime").text(model.runtime);
  json.key("precision").text(options.precision).key("signature").text(options.signature);
  json.key("profile").truth(options.profile).end();
  Result<WorkerAnswer> opened = (*worker)->call(model.path, json.take());
  if (!opened) return opened.error();
  if (!opened->description && !described) {
    return Status(Code::unsupported, "the runtime '" + model.runtime + "' does not describe '" + model.path + "'");
  }
  Description description = described ? std::move(*described) : std::move(*opened->description);
  description.path = model.path;
  opened->info.interpreter = (*worker)->interpreter();
  return std::unique_ptr<Runtime>(std::make_unique<WorkerRuntime>(std::move(*worker), opened->model,
                                                                  std::move(opened->info), std::move(description)));
}

}  // namespace sonde::inspect
