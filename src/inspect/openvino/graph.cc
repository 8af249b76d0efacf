// Files whose tensors keep their names when OpenVINO reads them: ONNX and its own IR.
#include <algorithm>
#include <openvino/op/result.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/file.h"
#include "formats/onnx_edit.h"
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

  // These layers are not in the model, for this reason.
  void lose(std::vector<bool> layers, Status why) {
    lost_ = std::move(layers);
    why_ = std::move(why);
    // OpenVINO has only the outputs that are left, in another order.
    outputs_.clear();
  }

  Status check(const std::vector<std::int64_t>& layers) const override {
    const auto is_lost = [&](std::int64_t layer) { return lost_[static_cast<std::size_t>(layer)]; };
    return !lost_.empty() && std::ranges::any_of(layers, is_lost) ? why_ : Status::success();
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
  std::vector<bool> lost_;            // by layer; empty: none is
  Status why_;
};

// Whether OpenVINO names the operation of a layer among those that it does not have: "operations: Conjure-17, Foo-17".
bool is_lacking(const std::string& reason, const Layer& layer) {
  const std::size_t begin = reason.find("operations: ");
  if (begin == std::string::npos || layer.op.empty()) return false;
  for (std::size_t at = reason.find(layer.op, begin); at != std::string::npos; at = reason.find(layer.op, at + 1)) {
    const char before = reason[at - 1];
    const std::size_t end = at + layer.op.size();
    const char after = end < reason.size() ? reason[end] : ' ';
    if ((before == ' ' || before == '.') && (after == '-' || after == ',' || after == ' ')) return true;
  }
  return false;
}

// The error of reading a model: if an operation is the reason, the layer with it and how much is before it.
Status about_operation(const Description& description, const Status& error) {
  const auto layer =
      std::ranges::find_if(description.layers, [&](const Layer& each) { return is_lacking(error.message(), each); });
  if (layer == description.layers.end()) return error;
  const std::string build = ov::get_openvino_version().buildNumber;
  std::string text = "OpenVINO " + build.substr(0, build.find('-')) + " does not have the operation " + layer->op +
                     ", which gives layer " + std::to_string(layer->index) + " '" + layer->value.name + "' of '" +
                     description.path + "'; ";
  if (layer->index == 0) return {error.code(), text + "it is the first one"};
  const Layer& before = description.layers[static_cast<std::size_t>(layer->index) - 1];
  return {error.code(), text + "supported are the layers before it, up to '" + before.value.name +
                            "', and others that do not need it: select some of them with --layers"};
}

// What a model gives without the operations that OpenVINO does not have.
struct Part {
  std::shared_ptr<ov::Model> model;
  std::vector<bool> lost;  // by layer: it needs such an operation
};

// `reason` is why OpenVINO cannot read the whole. Throws what OpenVINO throws.
std::optional<Part> read_part(const Description& description, const std::string& reason) {
  Part part;
  std::unordered_set<std::string_view> lost;
  for (const Layer& layer : description.layers) {
    const bool needs = is_lacking(reason, layer) ||
                       std::ranges::any_of(layer.inputs, [&](const std::string& name) { return lost.contains(name); });
    part.lost.push_back(needs);
    if (needs) lost.insert(layer.value.name);
  }
  const Result<base::MappedFile> file = base::MappedFile::open(description.path);
  if (!file || lost.empty()) return {};
  const Result<onnx::Model> model = onnx::decode(file->bytes());
  if (!model) return {};
  // The text of a model does not tell where it was: OpenVINO would look for other files elsewhere.
  if (std::ranges::any_of(model->graph.initializers, [](const auto& each) { return each.external.has_value(); })) {
    return {};
  }
  // Outputs are what is left of the model's own, and what the lost operations read.
  std::vector<std::size_t> dropped;
  std::unordered_set<std::string_view> wanted;
  std::vector<std::string_view> outputs;
  for (const onnx::ValueInfo& output : model->graph.outputs) wanted.insert(output.name);
  for (std::size_t i = 0; i < model->graph.nodes.size(); ++i) {
    const onnx::Node& node = model->graph.nodes[i];
    if (std::ranges::none_of(node.outputs, [&](std::string_view name) { return lost.contains(name); })) continue;
    dropped.push_back(i);
    wanted.insert(node.inputs.begin(), node.inputs.end());
  }
  for (const Layer& layer : description.layers) {
    if (!lost.contains(layer.value.name) && wanted.contains(layer.value.name)) outputs.push_back(layer.value.name);
  }
  if (outputs.empty()) return {};
  part.model = core().read_model(onnx::without_nodes(file->bytes(), *model, dropped, outputs), ov::Tensor());
  return part;
}

Result<std::unique_ptr<Runtime>> open_part(Description description, const OpenOptions& options, const Status& why,
                                           const Status& sentence) {
  std::optional<Part> part = read_part(description, why.message());
  if (!part) return sentence;
  auto source = std::make_unique<GraphSource>(description, std::move(part->model));
  source->lose(std::move(part->lost), sentence);
  return std::unique_ptr<Runtime>(
      std::make_unique<OpenvinoRuntime>(std::move(description), options, std::move(source), sentence.message()));
}

}  // namespace

Result<std::unique_ptr<Runtime>> open_graph(Description description, const OpenOptions& options) {
  const std::string title = "OpenVINO cannot read model '" + description.path + "'";
  Result<std::shared_ptr<ov::Model>> read =
      guarded(title, [&]() -> Result<std::shared_ptr<ov::Model>> { return core().read_model(description.path); });
  if (!read) {
    const Status sentence = about_operation(description, read.error());
    if (!options.partly || description.format != "onnx") return sentence;
    Result<std::unique_ptr<Runtime>> part =
        guarded(title, [&] { return open_part(std::move(description), options, read.error(), sentence); });
    return part ? std::move(part) : sentence;
  }
  return guarded(title, [&]() -> Result<std::unique_ptr<Runtime>> {
    auto source = std::make_unique<GraphSource>(description, *std::move(read));
    return std::unique_ptr<Runtime>(
        std::make_unique<OpenvinoRuntime>(std::move(description), options, std::move(source)));
  });
}

}  // namespace sonde::inspect
