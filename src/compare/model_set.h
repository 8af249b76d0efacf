// The outputs of all layers of a model for one input, as a set of tensors.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compare/tensor_set.h"
#include "inspect/runtime.h"
#include "sonde/status.h"
#include "sonde/tensor_io.h"

namespace sonde::compare {

// Runs the model once when it is made and keeps the tensors in a temporary file, so that memory holds one of them at a
// time.
class ModelSet final : public TensorSet {
 public:
  // The runtime gives all layers of the model (select_all_layers) and may end before the set. The elements of `inputs`,
  // which have the names of the model, must outlive it.
  static Result<std::unique_ptr<ModelSet>> run(const inspect::ModelName& name, inspect::Runtime& runtime,
                                               std::vector<NamedView> inputs);

  std::string kind() const override;
  const std::vector<Entry>& entries() const noexcept override { return entries_; }
  bool in_order_of_execution() const noexcept override { return true; }
  bool is_model() const noexcept override { return true; }
  std::vector<std::string> model_inputs() const override;
  Result<Loaded> load(std::size_t index) override;

  const inspect::ModelName& name() const noexcept { return name_; }
  const inspect::RuntimeInfo& runtime() const noexcept { return info_; }
  const inspect::Description& description() const noexcept { return description_; }
  const std::vector<NamedView>& inputs() const noexcept { return inputs_; }

 private:
  struct Place {
    std::uint64_t offset = 0;
    DType dtype = DType::f32;
    Shape shape;
  };
  ModelSet(inspect::ModelName name, std::vector<NamedView> inputs)
      : name_(std::move(name)), inputs_(std::move(inputs)) {}
  Status keep_outputs(inspect::Runtime& runtime);

  const inspect::ModelName name_;
  std::vector<NamedView> inputs_;
  inspect::RuntimeInfo info_;
  inspect::Description description_;
  std::vector<Entry> entries_;
  std::vector<Place> places_;            // by entry
  std::shared_ptr<const void> mapping_;  // keeps the tensors
  const std::byte* data_ = nullptr;
};

// Makes a runtime give all layers of its model; once is enough for any number of runs.
Status select_all_layers(inspect::Runtime& runtime);

}  // namespace sonde::compare
