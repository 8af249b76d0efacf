#include "inspect/fallback.h"

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "tensor/copy.h"

namespace sonde::inspect {
namespace {

class FallbackRuntime final : public Runtime {
 public:
  FallbackRuntime(std::unique_ptr<Runtime> first, Open second)
      : keeps_outputs_(first->keeps_outputs()), current_(std::move(first)), second_(std::move(second)) {
    info_ = current_->info();
  }
  // The first could not even be opened.
  FallbackRuntime(std::unique_ptr<Runtime> second, const Status& why)
      : keeps_outputs_(second->keeps_outputs()), current_(std::move(second)) {
    info_ = current_->info();
    info_.note = why.message();
  }

  const RuntimeInfo& info() const noexcept override { return info_; }
  // Both describe the file in the same way; references to the description of the first stay valid.
  const Description& description() const noexcept override {
    return (replaced_ ? *replaced_ : *current_).description();
  }
  bool keeps_outputs() const noexcept override { return keeps_outputs_; }

  Status select(const std::vector<std::int64_t>& layers) override {
    kept_.clear();
    Status status = current_->select(layers);
    if (can_replace(status) && replace(status)) {
      if (current_->select(layers)) status = Status::success();
    }
    if (status) selected_ = layers;
    info_.precision = current_->info().precision;  // known once the model is loaded
    return status;
  }

  Status run(const std::vector<NamedView>& inputs, const TakeOutput& take, const TakeResult& result) override {
    kept_.clear();
    if (replaced_ || !second_) return run_second(inputs, take, result);
    bool given = false;
    const TakeOutput passing_take = [&](const Output& output) {
      given = true;
      return take(output);
    };
    const TakeResult passing_result = [&](std::string_view name, const TensorView& tensor) {
      given = true;
      return result(name, tensor);
    };
    Status status = current_->run(inputs, take ? passing_take : take, result ? passing_result : result);
    if (given || !can_replace(status) || !replace(status)) return status;
    if (!selected_.empty() && !current_->select(selected_)) return status;
    return run_second(inputs, take, result) ? Status::success() : status;
  }

  Result<std::vector<Value>> infer_values() override { return current_->infer_values(); }
  Result<std::vector<std::int64_t>> fusions() override { return current_->fusions(); }
  Result<std::vector<LayerTime>> times() override { return current_->times(); }

 private:
  // What the first promised about the memory of its outputs, the second must keep too.
  Status run_second(const std::vector<NamedView>& inputs, const TakeOutput& take, const TakeResult& result) {
    if (!take || !keeps_outputs_ || current_->keeps_outputs()) return current_->run(inputs, take, result);
    const TakeOutput keep = [&](Output output) {
      if (output.tensor) {
        Tensor& copy = kept_.emplace_back(Tensor{output.tensor->dtype, output.tensor->shape, {}});
        copy.data.resize(tensor::byte_size(*output.tensor));
        tensor::copy_dense(*output.tensor, copy.data.data());
        output.tensor = copy.view();
      }
      return take(output);
    };
    return current_->run(inputs, keep, result);
  }

  bool can_replace(const Status& status) const { return status.code() == Code::unsupported && second_ && !replaced_; }

  bool replace(const Status& why) {
    Result<std::unique_ptr<Runtime>> other = second_();
    if (!other) return false;
    replaced_ = std::exchange(current_, *std::move(other));
    info_ = current_->info();
    info_.note = why.message();
    return true;
  }

  bool keeps_outputs_;
  std::unique_ptr<Runtime> current_;
  std::unique_ptr<Runtime> replaced_;  // the first, once it could not go on
  Open second_;
  RuntimeInfo info_;
  std::vector<std::int64_t> selected_;
  std::deque<Tensor> kept_;  // of the last run
};

}  // namespace

Result<std::unique_ptr<Runtime>> open_with_fallback(const Open& first, Open second) {
  Result<std::unique_ptr<Runtime>> opened = first();
  if (opened) {
    return std::unique_ptr<Runtime>(std::make_unique<FallbackRuntime>(*std::move(opened), std::move(second)));
  }
  if (opened.error().code() != Code::unsupported && opened.error().code() != Code::not_found) return opened;
  Result<std::unique_ptr<Runtime>> other = second();
  if (!other) return opened;
  return std::unique_ptr<Runtime>(std::make_unique<FallbackRuntime>(*std::move(other), opened.error()));
}

}  // namespace sonde::inspect
