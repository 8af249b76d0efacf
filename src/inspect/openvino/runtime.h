// Runs a model of OpenVINO. Where the model and its taps come from is the business of a ModelSource.
#pragma once

#include <cstdint>
#include <memory>
#include <openvino/openvino.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "inspect/runtime.h"
#include "sonde/status.h"

namespace sonde::inspect {

// A model with extra outputs, ready to be compiled.
struct TappedModel {
  struct Tap {
    std::int64_t layer = 0;
    std::size_t output = 0;  // index into model->outputs()
    std::string missing;     // why there is no such output; then `output` means nothing
  };
  std::shared_ptr<ov::Model> model;
  std::vector<Tap> taps;                                     // one for each selected layer, in their order
  std::vector<std::pair<std::string, std::size_t>> results;  // names of the model's own outputs, and their index
};

// Throws what OpenVINO throws.
class ModelSource {
 public:
  ModelSource() = default;
  virtual ~ModelSource() = default;
  ModelSource(const ModelSource&) = delete;
  ModelSource& operator=(const ModelSource&) = delete;

  virtual TappedModel tapped(const std::vector<std::int64_t>& layers) = 0;
  // Why one of these layers cannot be given, if that is known.
  virtual Status check(const std::vector<std::int64_t>& /*layers*/) const { return Status::success(); }
  // What OpenVINO knows about each layer; empty values where it has none.
  virtual std::vector<Value> infer_values() = 0;
  // The layers by the names of the operations that compute them, as the runtime's counters have them.
  virtual std::unordered_map<std::string, std::int64_t> layers_by_operation() = 0;
};

// The one ov::Core of the process, made when it is first needed.
ov::Core& core();

class OpenvinoRuntime final : public Runtime {
 public:
  // `note` is that of RuntimeInfo.
  OpenvinoRuntime(Description description, OpenOptions options, std::unique_ptr<ModelSource> source,
                  std::string note = {});

  const RuntimeInfo& info() const noexcept override { return info_; }
  const Description& description() const noexcept override { return description_; }
  Status select(const std::vector<std::int64_t>& layers) override;
  Status run(const std::vector<NamedView>& inputs, const TakeOutput& take, const TakeResult& result) override;
  Result<std::vector<Value>> infer_values() override;
  Result<std::vector<std::int64_t>> fusions() override;
  Result<std::vector<LayerTime>> times() override;

 private:
  std::string title() const { return "model '" + description_.path + "'"; }
  void compile(const std::vector<std::int64_t>& layers);
  ov::InferRequest& request() { return requests_[turn_]; }
  void next_request();
  Status set_inputs(const std::vector<NamedView>& inputs);
  Status set_input(const ov::Output<const ov::Node>& port, const TensorView& given);
  Status give(const TakeOutput& take, const TakeResult& result);

  Description description_;
  OpenOptions options_;
  RuntimeInfo info_;
  std::unique_ptr<ModelSource> source_;
  TappedModel tapped_;
  ov::CompiledModel compiled_;
  std::vector<ov::InferRequest> requests_;      // each has outputs of its own; they take turns
  std::size_t turn_ = 0;                        // which ran last
  std::vector<std::vector<std::byte>> copies_;  // inputs that could not be used in place
  bool ready_ = false;
  bool ran_ = false;
};

// Of an ONNX or IR file: taps by the names of its tensors. graph.cc
Result<std::unique_ptr<Runtime>> open_graph(Description description, const OpenOptions& options);
// Of a SavedModel, a frozen graph or a TFLite file. tensorflow.cc
Result<std::unique_ptr<Runtime>> open_tensorflow(Description description, const OpenOptions& options);

}  // namespace sonde::inspect
