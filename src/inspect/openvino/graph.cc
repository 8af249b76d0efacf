// Files whose tensors keep their names when OpenVINO reads them: ONNX and its own IR.
#include <algorithm>
#include <openvino/op/result.hpp>
#include <string>
#include <unordered_map>

#include "inspect/openvino/runtime.h"
#include "inspect/openvino/types.h"

namespace sonde::inspect {
namespace {

class GraphSource final : public ModelSource {
 public:
  GraphSource(const Description& description, std::shared_ptr<ov::Model> model)
      : model_(std::move(model)), unnamed_tensors_(description.format == "openvino") {
    for (const Layer& layer : description.layers) names_.push_back(layer.value.name);
    for (const Value& output : description.outputs) outputs_.push_back(output.name);
  }

  TappedModel tapped(const std::vector<std::int64_t>& layers) override {
    TappedModel made;
    made.model = model_->clone();
    const Tensors tensors = tensors_of(*made.model);
    const std::size_t own = made.model->outputs().size();
    for (std::size_t i = 0; i < std::min(own, outputs_.size()); ++i) made.results.emplace_back(outputs_[i], i);
    for (const std::int64_t layer : layers) {
      const std::string& name = names_[static_cast<std::size_t>(layer)];
      TappedModel::Tap tap{layer, 0, {}};
      const auto found = tensors.find(name);
      if (found == tensors.end()) {
        tap.missing = "OpenVINO has no tensor of this name: it computes the layer as a part of others";
      } else {
        tap.output = add_output(*made.model, found->second);
      }
      made.taps.push_back(std::move(tap));
    }
    return made;
  }

  std::vector<Value> infer_values() override {
    std::vector<Value> values(names_.size());
    const Tensors tensors = tensors_of(*model_);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      values[i].name = names_[i];
      const auto found = tensors.find(names_[i]);
      if (found == tensors.end()) continue;
      values[i].dtype = dtype_of(found->second.get_element_type());
      values[i].type =
          values[i].dtype ? std::string(to_string(*values[i].dtype)) : found->second.get_element_type().get_type_name();
      values[i].shape = shape_of(found->second.get_partial_shape());
    }
    return values;
  }

  std::unordered_map<std::string, std::int64_t> layers_by_operation() override {
    std::unordered_map<std::string, std::int64_t> layers;
    const Tensors tensors = tensors_of(*model_);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto found = tensors.find(names_[i]);
      if (found == tensors.end()) continue;
      layers.insert_or_assign(found->second.get_node()->get_friendly_name(), static_cast<std::int64_t>(i));
    }
    return layers;
  }

 private:
  using Tensors = std::unordered_map<std::string, ov::Output<ov::Node>>;
  Tensors tensors_of(const ov::Model& model) const {
    Tensors tensors;
    for (const std::shared_ptr<ov::Node>& node : model.get_ops()) {
      if (ov::is_type<ov::op::v0::Result>(node)) continue;  // it has the names of what it reads
      for (const ov::Output<ov::Node>& output : node->outputs()) {
        for (const std::string& name : output.get_names()) tensors.insert_or_assign(name, output);
      }
    }
    if (!unnamed_tensors_) return tensors;
    // A tensor without a name has that of its operation (describe_ir.cc).
    for (const std::shared_ptr<ov::Node>& node : model.get_ops()) {
      if (ov::is_type<ov::op::v0::Result>(node)) continue;
      for (const ov::Output<ov::Node>& output : node->outputs()) {
        const std::string& name = node->get_friendly_name();
        const std::string number = "." + std::to_string(output.get_index());
        tensors.emplace(node->get_output_size() == 1 ? name : name + number, output);
      }
    }
    return tensors;
  }

  static std::optional<Shape> shape_of(const ov::PartialShape& partial) {
    if (partial.rank().is_dynamic() || partial.size() > kMaxRank) return {};
    Shape shape;
    for (const ov::Dimension& dim : partial) shape.push_back(dim.is_dynamic() ? -1 : dim.get_length());
    return shape;
  }

  // The index of the output that gives this tensor; an existing one is used.
  static std::size_t add_output(ov::Model& model, const ov::Output<ov::Node>& tensor) {
    const ov::Output<ov::Node> added = model.add_output(tensor);
    const std::vector<ov::Output<ov::Node>> outputs = model.outputs();
    const auto found = std::ranges::find_if(
        outputs, [&](const ov::Output<ov::Node>& output) { return output.get_node() == added.get_node(); });
    return static_cast<std::size_t>(found - outputs.begin());
  }

  std::shared_ptr<ov::Model> model_;
  bool unnamed_tensors_;              // ONNX names all of them
  std::vector<std::string> names_;    // of the layers
  std::vector<std::string> outputs_;  // in their order in the file, which OpenVINO keeps
};

// The first layer whose operation OpenVINO names among those that it does not have: "operations: Conjure-17, Foo-17".
const Layer* unsupported_layer(const Description& description, const std::string& reason) {
  const std::size_t begin = reason.find("operations: ");
  if (begin == std::string::npos) return nullptr;
  const auto named = [&](const Layer& layer) {
    for (std::size_t at = reason.find(layer.op, begin); at != std::string::npos; at = reason.find(layer.op, at + 1)) {
      const char before = reason[at - 1];
      const std::size_t end = at + layer.op.size();
      const char after = end < reason.size() ? reason[end] : ' ';
      if ((before == ' ' || before == '.') && (after == '-' || after == ',' || after == ' ')) return true;
    }
    return false;
  };
  const auto found = std::ranges::find_if(description.layers, named);
  return found == description.layers.end() ? nullptr : &*found;
}

// The error of reading a model: if an operation is the reason, the layer with it and how much is before it.
Status about_operation(const Description& description, const Status& error) {
  const Layer* layer = unsupported_layer(description, error.message());
  if (layer == nullptr) return error;
  const std::string build = ov::get_openvino_version().buildNumber;
  std::string text = "OpenVINO " + build.substr(0, build.find('-')) + " does not have the operation " + layer->op +
                     ", which gives layer " + std::to_string(layer->index) + " '" + layer->value.name + "' of '" +
                     description.path + "'; ";
  if (layer->index == 0) return {error.code(), text + "it is the first one"};
  const Layer& before = description.layers[static_cast<std::size_t>(layer->index) - 1];
  return {error.code(), text + "supported are the layers before it, up to '" + before.value.name + "'"};
}

}  // namespace

Result<std::unique_ptr<Runtime>> open_graph(Description description, const OpenOptions& options) {
  const std::string title = "OpenVINO cannot read model '" + description.path + "'";
  Result<std::shared_ptr<ov::Model>> read =
      guarded(title, [&]() -> Result<std::shared_ptr<ov::Model>> { return core().read_model(description.path); });
  if (!read) return about_operation(description, read.error());
  return guarded(title, [&]() -> Result<std::unique_ptr<Runtime>> {
    std::shared_ptr<ov::Model> model = *std::move(read);
    auto source = std::make_unique<GraphSource>(description, std::move(model));
    return std::unique_ptr<Runtime>(
        std::make_unique<OpenvinoRuntime>(std::move(description), options, std::move(source)));
  });
}

}  // namespace sonde::inspect
