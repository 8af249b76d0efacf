// sonde/model.h.
#include "sonde/model.h"

#include <new>

#include "inspect/inputs.h"
#include "inspect/runtime.h"
#include "inspect/save_model.h"
#include "inspect/selection.h"
#include "render/console.h"
#include "tensor/tensor_data.h"

namespace sonde {
namespace inspect {

class OpenModel {
 public:
  explicit OpenModel(std::unique_ptr<Runtime> runtime) : runtime_(std::move(runtime)) {
    const Description& model = runtime_->description();
    for (const Value& value : model.inputs) inputs.push_back({value.name, value.type, value.shape});
    for (const Value& value : model.outputs) outputs.push_back({value.name, value.type, value.shape});
    for (const Layer& layer : model.layers) {
      layers.push_back(
          {layer.index, layer.value.name, layer.value.type, layer.value.shape, layer.node, layer.op, layer.parameters});
    }
    const RuntimeInfo& info = runtime_->info();
    who = info.name + " " + info.version + ", executed in " + info.precision;
  }

  const Description& description() const { return runtime_->description(); }

  // The runtime is only changed if other layers are wanted.
  Status select(const std::vector<std::int64_t>& chosen) {
    if (selected_ && *selected_ == chosen) return {};
    selected_.reset();
    if (Status status = runtime_->select(chosen); !status) return status;
    selected_ = chosen;
    return {};
  }

  Result<std::vector<NamedView>> checked(std::vector<NamedView> given) const {
    const std::vector<Value>& wanted = description().inputs;
    if (wanted.size() == 1 && given.size() == 1) given.front().name = wanted.front().name;
    for (const Value& value : wanted) {
      const NamedView* found = nullptr;
      for (const NamedView& each : given) {
        if (each.name == value.name) found = &each;
      }
      const std::string title = "input '" + value.name + "' of '" + description().path + "' is " + type_text(value);
      if (found == nullptr) return Status(Code::invalid_argument, title + ", but was not given");
      if (!found->tensor.valid() || !accepts(value, found->tensor)) {
        return Status(Code::invalid_argument,
                      title + ", but " + render::type_text(found->tensor.dtype, found->tensor.shape) + " was given");
      }
    }
    return given;
  }

  Status run(const std::vector<NamedView>& given, const TakeOutput& take, const TakeResult& result) {
    return runtime_->run(given, take, result);
  }

  std::vector<ModelValue> inputs;
  std::vector<ModelValue> outputs;
  std::vector<ModelLayer> layers;
  std::string who;

 private:
  std::unique_ptr<Runtime> runtime_;
  std::optional<std::vector<std::int64_t>> selected_;
};

}  // namespace inspect

namespace {

Result<std::vector<std::int64_t>> chosen(const inspect::OpenModel& model, const LayerSelection& selection) {
  return inspect::select_layers(model.description(), {selection.names, selection.indices, selection.ops});
}

Status out_of_memory() { return {Code::exhausted, "out of memory"}; }

}  // namespace

Model::Model(std::shared_ptr<inspect::OpenModel> opened) noexcept : opened_(std::move(opened)) {}

Result<Model> Model::open(std::string_view name) try {
  Result<std::unique_ptr<inspect::Runtime>> runtime = inspect::open_model(inspect::parse_model_name(name));
  if (!runtime) return runtime.error();
  return Model(std::make_shared<inspect::OpenModel>(*std::move(runtime)));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

const std::string& Model::path() const noexcept { return opened_->description().path; }
const std::vector<ModelValue>& Model::inputs() const noexcept { return opened_->inputs; }
const std::vector<ModelValue>& Model::outputs() const noexcept { return opened_->outputs; }
const std::vector<ModelLayer>& Model::layers() const noexcept { return opened_->layers; }
const std::string& Model::runtime() const noexcept { return opened_->who; }

Result<std::vector<NamedTensor>> Model::run(const std::vector<NamedView>& inputs, const LayerSelection& selection) try {
  const Result<std::vector<std::int64_t>> layers = chosen(*opened_, selection);
  if (!layers) return layers.error();
  const Result<std::vector<NamedView>> given = opened_->checked(inputs);
  if (!given) return given.error();
  if (Status selected = opened_->select(*layers); !selected) return selected;
  std::vector<NamedTensor> outputs;
  const auto take = [&](const inspect::Output& output) -> Status {
    if (!output.tensor) {
      return {Code::not_found, "layer '" + output.layer->value.name + "' is not available: " + output.missing};
    }
    outputs.push_back({output.layer->value.name, tensor::to_tensor(*output.tensor)});
    return {};
  };
  if (Status ran = opened_->run(*given, take, {}); !ran) return ran;
  return outputs;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<std::vector<NamedTensor>> Model::run(const std::vector<NamedView>& inputs) try {
  const Result<std::vector<NamedView>> given = opened_->checked(inputs);
  if (!given) return given.error();
  if (Status selected = opened_->select({}); !selected) return selected;
  std::vector<NamedTensor> outputs;
  const auto result = [&](std::string_view name, const TensorView& tensor) {
    outputs.push_back({std::string(name), tensor::to_tensor(tensor)});
    return Status::success();
  };
  if (Status ran = opened_->run(*given, {}, result); !ran) return ran;
  return outputs;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Model::save(std::string_view path, const LayerSelection& selection) const try {
  const Result<std::vector<std::int64_t>> layers = chosen(*opened_, selection);
  if (!layers) return layers.error();
  return inspect::save_tapped_model(opened_->description(), *layers, std::string(path));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace sonde
