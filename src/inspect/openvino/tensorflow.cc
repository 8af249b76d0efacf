// TensorFlow's models in OpenVINO: SavedModels and frozen graphs through an iterator over our own reader, TFLite files
// through OpenVINO's. Reading such a file as a whole model would rename its layers and turn them to NCHW; here the
// frontend is told which tensors are outputs before it converts, so that names and layouts stay those of the file.
#include <algorithm>
#include <openvino/frontend/manager.hpp>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "formats/tf_op_outputs.h"
#include "inspect/openvino/runtime.h"
#include "inspect/openvino/tensorflow_graph.h"
#include "inspect/openvino/types.h"
#include "inspect/tflite_model.h"

namespace sonde::inspect {
namespace {

namespace tf = formats::tf;
using ov::frontend::InputModel;
using ov::frontend::Place;

constexpr std::string_view kNotComputed = "OpenVINO does not compute this output of the operation";

// A tensor as the frontend names it, in the order in which it was asked for.
using Names = std::vector<std::string>;

std::shared_ptr<ov::frontend::FrontEnd> frontend(const std::string& name) {
  static ov::frontend::FrontEndManager manager;
  return manager.load_by_framework(name);
}

// The frontend lists what it lacks in the middle of advice for programmers.
[[noreturn]] void explain(const std::exception& error) {
  const std::string text = error.what();
  constexpr std::string_view kBefore = "No conversion rule found for operations: ";
  const std::size_t begin = text.find(kBefore);
  if (begin == std::string::npos) throw std::runtime_error(text);
  const std::size_t end = text.find('\n', begin);
  throw std::runtime_error("it has no operation " + text.substr(begin + kBefore.size(), end - begin - kBefore.size()) +
                           "; select layers before it with --layers, or append @tensorflow to the model's name");
}

// Where a converted model has the outputs that were asked for; -1: nowhere. One output may have several names: an
// operation that passes its input on has none of its own.
std::vector<std::int64_t> places_of(const ov::Model& model, const Names& asked) {
  std::unordered_map<std::string, std::int64_t> by_name;
  const std::vector<ov::Output<const ov::Node>> outputs = model.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const std::string& name : outputs[i].get_names()) by_name.emplace(name, static_cast<std::int64_t>(i));
  }
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto found = by_name.find(asked[i]);
    // The frontend keeps the order; only where it drops an output the names alone count.
    const std::int64_t by_order = outputs.size() == asked.size() ? static_cast<std::int64_t>(i) : -1;
    places.push_back(found == by_name.end() ? by_order : found->second);
  }
  return places;
}

// Makes `names` the outputs of a loaded model and converts it. A name that the frontend does not know is left out of
// `names`.
std::shared_ptr<ov::Model> convert(ov::frontend::FrontEnd& front, const InputModel::Ptr& input, Names& names) {
  std::vector<Place::Ptr> places;
  Names known;
  for (const std::string& name : names) {
    const Place::Ptr place = input->get_place_by_tensor_name(name);
    if (place == nullptr || std::ranges::find(known, name) != known.end()) continue;
    places.push_back(place);
    known.push_back(name);
  }
  if (!places.empty()) input->override_all_outputs(places);
  names = std::move(known);
  return front.convert(input);
}

std::optional<Shape> shape_of(const ov::PartialShape& partial) {
  if (partial.rank().is_dynamic() || partial.size() > kMaxRank) return {};
  Shape shape;
  for (const ov::Dimension& dim : partial) shape.push_back(dim.is_dynamic() ? -1 : dim.get_length());
  return shape;
}

// What both kinds of files have in common: layers under the names of the frontend.
class FrontendSource : public ModelSource {
 public:
  TappedModel tapped(const std::vector<std::int64_t>& layers) override {
    Names wanted;
    for (const Own& output : outputs_) {
      if (output.missing.empty()) wanted.push_back(output.tensor);
    }
    const std::size_t own = wanted.size();
    for (const std::int64_t layer : layers) {
      const Own& each = layers_[static_cast<std::size_t>(layer)];
      if (each.missing.empty()) wanted.push_back(each.tensor);
    }
    TappedModel made;
    Names names = wanted;
    try {
      made.model = converted(names);
    } catch (const std::exception& error) {
      // An operation behind the selected layers may be the one that OpenVINO lacks.
      if (wanted.size() == own) explain(error);
      names.assign(wanted.begin() + static_cast<std::ptrdiff_t>(own), wanted.end());
      try {
        made.model = converted(names);
      } catch (const std::exception& still) {
        explain(still);
      }
    }
    std::unordered_map<std::string, std::int64_t> found;
    const std::vector<std::int64_t> places = places_of(*made.model, names);
    for (std::size_t i = 0; i < names.size(); ++i) found.emplace(names[i], places[i]);
    const auto place = [&](const Own& each) {
      const auto at = each.missing.empty() ? found.find(each.tensor) : found.end();
      return at == found.end() ? std::int64_t{-1} : at->second;
    };
    for (const Own& output : outputs_) {
      if (place(output) >= 0) made.results.emplace_back(output.name, static_cast<std::size_t>(place(output)));
    }
    for (const std::int64_t layer : layers) {
      const Own& each = layers_[static_cast<std::size_t>(layer)];
      TappedModel::Tap tap{layer, 0, each.missing};
      if (place(each) >= 0) {
        tap.output = static_cast<std::size_t>(place(each));
      } else if (tap.missing.empty()) {
        tap.missing = kNotComputed;
      }
      made.taps.push_back(std::move(tap));
    }
    return made;
  }

  std::vector<Value> infer_values() override {
    std::vector<std::int64_t> all(layers_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    const TappedModel made = tapped(all);
    std::vector<Value> values(layers_.size());
    for (const TappedModel::Tap& tap : made.taps) {
      Value& value = values[static_cast<std::size_t>(tap.layer)];
      value.name = layers_[static_cast<std::size_t>(tap.layer)].name;
      if (!tap.missing.empty()) continue;
      const ov::Output<ov::Node> output = made.model->output(tap.output);
      value.dtype = dtype_of(output.get_element_type());
      value.type = value.dtype ? std::string(to_string(*value.dtype)) : output.get_element_type().get_type_name();
      value.shape = shape_of(output.get_partial_shape());
    }
    return values;
  }

  std::unordered_map<std::string, std::int64_t> layers_by_operation() override {
    std::unordered_map<std::string, std::int64_t> by_tensor;
    for (std::size_t i = 0; i < layers_.size(); ++i) by_tensor.emplace(layers_[i].tensor, static_cast<std::int64_t>(i));
    std::unordered_map<std::string, std::int64_t> layers;
    const TappedModel plain = tapped({});
    for (const std::shared_ptr<ov::Node>& node : plain.model->get_ops()) {
      for (const ov::Output<ov::Node>& output : node->outputs()) {
        for (const std::string& name : output.get_names()) {
          const auto found = by_tensor.find(name);
          if (found != by_tensor.end()) layers.insert_or_assign(node->get_friendly_name(), found->second);
        }
      }
    }
    return layers;
  }

 protected:
  // A layer or an output of the model.
  struct Own {
    std::string name;     // the file's
    std::string tensor;   // the frontend's
    std::string missing;  // why it cannot be given; empty if it can
  };
  std::vector<Own> layers_;
  std::vector<Own> outputs_;

 private:
  // Leaves names that OpenVINO does not know out.
  virtual std::shared_ptr<ov::Model> converted(Names& names) = 0;
};

// ---- SavedModels and frozen graphs.

class GraphSource final : public FrontendSource {
 public:
  GraphSource(const Description& description, std::shared_ptr<TensorFlowModel> model) : model_(std::move(model)) {
    const tf::FlatGraph& graph = model_->flat();
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const tf::FlatNode& node = graph.nodes[i];
      if (node.kind != tf::FlatNode::Kind::operation) continue;
      const std::size_t count = tf::output_types(*node.definition).size();
      for (std::size_t output = 0; output < count; ++output) {
        tensors_.push_back({i, static_cast<std::int64_t>(output)});
      }
    }
    const std::vector<bool> changed = after_assignment(graph);
    for (std::size_t i = 0; i < std::min(tensors_.size(), description.layers.size()); ++i) {
      const Value& value = description.layers[i].value;
      Own layer{value.name, openvino::frontend_name(graph, tensors_[i]), {}};
      if (!value.dtype && !value.type.empty())
        layer.missing = "it is a " + value.type + ", which is no tensor of numbers";
      if (changed[tensors_[i].node]) layer.missing = "it depends on a variable that the model changes while it runs";
      layers_.push_back(std::move(layer));
    }
    for (const tf::FlatGraph::Port& port : graph.outputs) {
      tensors_.push_back(port.tensor);
      Own output{port.name, openvino::frontend_name(graph, port.tensor), {}};
      if (changed[port.tensor.node]) output.missing = "it depends on a variable that the model changes while it runs";
      outputs_.push_back(std::move(output));
    }
  }

 private:
  // Nodes whose value depends on a variable that is assigned: constants in its place would be wrong.
  static std::vector<bool> after_assignment(const tf::FlatGraph& graph) {
    std::vector<bool> changed(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      changed[i] = graph.nodes[i].assigned;
      for (const tf::FlatTensor& input : graph.nodes[i].inputs) changed[i] = changed[i] || changed[input.node];
    }
    return changed;
  }

  std::shared_ptr<ov::Model> converted(Names& names) override {
    const tf::FlatGraph& graph = model_->flat();
    const std::unordered_set<std::string> wanted(names.begin(), names.end());
    std::vector<tf::FlatTensor> needed;
    for (const tf::FlatTensor& tensor : tensors_) {
      if (wanted.contains(openvino::frontend_name(graph, tensor))) needed.push_back(tensor);
    }
    const auto front = frontend("tf");
    std::shared_ptr<ov::Model> model = convert(*front, front->load(openvino::graph_iterator(model_, needed)), names);
    // Inputs have the names that users of the signature know.
    for (const std::shared_ptr<ov::op::v0::Parameter>& parameter : model->get_parameters()) {
      for (const tf::FlatGraph::Port& port : graph.inputs) {
        if (parameter->get_output_tensor(0).get_names().contains(openvino::frontend_name(graph, port.tensor))) {
          parameter->get_output_tensor(0).set_names({port.name});
          parameter->set_friendly_name(port.name);
          break;
        }
      }
    }
    return model;
  }

  std::shared_ptr<TensorFlowModel> model_;
  std::vector<tf::FlatTensor> tensors_;  // of the layers, then of the outputs
};

// ---- TFLite.

class LiteSource final : public FrontendSource {
 public:
  LiteSource(const Description& description, const formats::tflite::Subgraph& graph) : path_(description.path) {
    std::unordered_set<std::string> integers;  // tensors that TFLite computes in integers, or from them
    for (const std::int64_t input : graph.inputs) {
      const formats::tflite::Tensor& tensor = graph.tensors[static_cast<std::size_t>(input)];
      if (tensor.quantization) integers.emplace(tensor.name);
    }
    for (const Layer& layer : description.layers) {
      Own own{layer.value.name, layer.value.name, {}};
      const bool from = std::ranges::any_of(layer.inputs, [&](const auto& name) { return integers.contains(name); });
      if (layer.quantization || from) {
        integers.insert(layer.value.name);
        own.missing = layer.quantization ? "TFLite computes it in integers and OpenVINO in floating point"
                                         : "it is computed from integers, for which OpenVINO takes floating point";
        own.missing += "; append @tensorflow to the model's name for the stored values";
      } else if (!layer.value.dtype) {
        own.missing = "it is a " + layer.value.type + ", which is no tensor of numbers";
      }
      layers_.push_back(std::move(own));
    }
    for (const Value& output : description.outputs) {
      const auto layer = std::ranges::find(layers_, output.name, &Own::name);
      outputs_.push_back(layer == layers_.end() ? Own{output.name, output.name, {}} : *layer);
    }
  }

 private:
  std::shared_ptr<ov::Model> converted(Names& names) override {
    const auto front = frontend("tflite");
    return convert(*front, front->load(path_), names);
  }

  std::string path_;
};

}  // namespace

Result<std::unique_ptr<Runtime>> open_tensorflow(Description description, const OpenOptions& options) {
  const std::string title = "OpenVINO cannot read model '" + description.path + "'";
  return guarded(title, [&]() -> Result<std::unique_ptr<Runtime>> {
    std::unique_ptr<ModelSource> source;
    if (description.format == "tflite") {
      const Result<LiteModel> model = open_tflite(description.path, options.signature);
      if (!model) return model.error();
      if (model->subgraph != 0) {
        return Status(Code::unsupported, "OpenVINO runs only the first graph of a TFLite file, and signature '" +
                                             options.signature + "' of '" + description.path +
                                             "' is another; append @tensorflow to the model's name");
      }
      source = std::make_unique<LiteSource>(description, model->graph());
    } else {
      auto model = description.format == "saved_model"
                       ? TensorFlowModel::open_saved_model(description.path, options.signature)
                       : TensorFlowModel::open_graph(description.path);
      if (!model) return model.error();
      if (Status status = (*model)->check_variables(); !status) return status;
      source = std::make_unique<GraphSource>(description, std::shared_ptr<TensorFlowModel>(*std::move(model)));
    }
    return std::unique_ptr<Runtime>(
        std::make_unique<OpenvinoRuntime>(std::move(description), options, std::move(source)));
  });
}

}  // namespace sonde::inspect
