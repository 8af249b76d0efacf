#include "inspect/fallback.h"

#include <string>
#include <utility>
#include <vector>

namespace sonde::inspect {
namespace {

class FallbackRuntime final : public Runtime {
 public:
  FallbackRuntime(std::unique_ptr<Runtime> first, Open second)
      : current_(std::move(first)), second_(std::move(second)) {
    info_ = current_->info();
  }
  // The first could not even be opened.
  FallbackRuntime(std::unique_ptr<Runtime> second, const Status& why) : current_(std::move(second)) {
    info_ = current_->info();
    info_.note = why.message();
  }

  const RuntimeInfo& info() const noexcept override { return info_; }
  // Both describe the file in the same way; references to the description of the first stay valid.
  const Description& description() const noexcept override {
    return (replaced_ ? *replaced_ : *current_).description();
  }

  Status select(const std::vector<std::int64_t>& layers) override {
    Status status = current_->select(layers);
    if (can_replace(status) && replace(status)) {
      if (current_->select(layers)) status = Status::success();
    }
    if (status) selected_ = layers;
    info_.precision = current_->info().precision;  // known once the model is loaded
    return status;
  }

  Status run(const std::vector<NamedView>& inputs, const TakeOutput& take, const TakeResult& result) override {
    if (replaced_ || !second_) return current_->run(inputs, take, result);
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
    return current_->run(inputs, take, result) ? Status::success() : status;
  }

  Result<std::vector<Value>> infer_values() override { return current_->infer_values(); }
  Result<std::vector<std::int64_t>> fusions() override { return current_->fusions(); }
  Result<std::vector<LayerTime>> times() override { return current_->times(); }

 private:
  bool can_replace(const Status& status) const { return status.code() == Code::unsupported && second_ && !replaced_; }

  bool replace(const Status& why) {
    Result<std::unique_ptr<Runtime>> other = second_();
    if (!other) return false;
    replaced_ = std::exchange(current_, *std::move(other));
    info_ = current_->info();
    info_.note = why.message();
    return true;
  }

  std::unique_ptr<Runtime> current_;
  std::unique_ptr<Runtime> replaced_;  // the first, once it could not go on
  Open second_;
  RuntimeInfo info_;
  std::vector<std::int64_t> selected_;
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
