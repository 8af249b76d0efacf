// What an ONNX file says about its layers.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/directory.h"
#include "base/file.h"
#include "base/input_file.h"
#include "formats/onnx.h"
#include "inspect/describe.h"

namespace sonde::inspect {
namespace {

Value value_of(std::string_view name, const onnx::ValueInfo* info) {
  Value value;
  value.name = name;
  if (info == nullptr) return value;
  if (!info->other.empty()) {
    value.type = info->other;
    return value;
  }
  if (info->type != 0) value.type = onnx::type_text(info->type);
  value.dtype = onnx::dtype_of(info->type);
  if (info->dims && info->dims->size() <= kMaxRank) value.shape = Shape(*info->dims);
  return value;
}

// Integers of 64 bits and truth values are sizes, axes and masks; nobody trains them.
bool is_trained(const onnx::Initializer& tensor) {
  return tensor.type != onnx::type_number(DType::i64) && tensor.type != onnx::type_number(DType::boolean);
}

class Describer {
 public:
  explicit Describer(const onnx::Graph& graph) : graph_(graph) {
    for (const onnx::Initializer& each : graph.initializers) initializers_.emplace(each.name, &each);
    for (const auto* list : {&graph.values, &graph.inputs, &graph.outputs}) {
      for (const onnx::ValueInfo& each : *list) infos_.insert_or_assign(each.name, &each);
    }
  }

  Description run() {
    Description made;
    made.format = "onnx";
    for (const onnx::ValueInfo& each : graph_.inputs) {
      // In old files initializers are inputs too; those are defaults that nobody overrides.
      if (!initializers_.contains(each.name)) made.inputs.push_back(value_of(each.name, &each));
    }
    for (const onnx::ValueInfo& each : graph_.outputs) made.outputs.push_back(value_of(each.name, &each));
    for (const onnx::Node& node : graph_.nodes) add_layers(node, made.layers);
    return made;
  }

 private:
  void add_layers(const onnx::Node& node, std::vector<Layer>& layers) const {
    std::int64_t parameters = 0;
    std::vector<std::string> inputs;
    for (const auto* read : {&node.inputs, &node.outer}) {
      for (const std::string_view name : *read) {
        if (name.empty()) continue;
        inputs.emplace_back(name);
        const auto found = initializers_.find(name);
        if (found == initializers_.end() || !is_trained(*found->second)) continue;
        parameters += std::max<std::int64_t>(found->second->elements(), 0);
      }
    }
    for (const std::string_view output : node.outputs) {
      if (output.empty()) continue;
      Layer& layer = layers.emplace_back();
      layer.index = static_cast<std::int64_t>(layers.size()) - 1;
      const auto info = infos_.find(output);
      layer.value = value_of(output, info == infos_.end() ? nullptr : info->second);
      layer.node = node.name;
      layer.op = node.op;
      layer.parameters = parameters;
      layer.inputs = inputs;
      layer.scope = onnx::module_path(node);
      parameters = 0;  // they belong to the operation, not to each of its outputs
    }
  }

  const onnx::Graph& graph_;
  std::unordered_map<std::string_view, const onnx::Initializer*> initializers_;
  std::unordered_map<std::string_view, const onnx::ValueInfo*> infos_;
};

// Tensors in other files must be beside the model, and complete.
Status check_external(const std::string& path, const onnx::Graph& graph) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  std::unordered_map<std::string_view, std::uint64_t> sizes;
  for (const onnx::Initializer& tensor : graph.initializers) {
    if (!tensor.external) continue;
    const auto fail = [&](const std::string& reason) {
      return Status(Code::unsupported, "model '" + path + "': the values of '" + std::string(tensor.name) +
                                           "' are in '" + std::string(tensor.external->location) + "', " + reason);
    };
    const std::string_view location = tensor.external->location;
    if (location.empty()) return fail("which names no file");
    if (!sizes.contains(location)) {
      const std::string file = base::join_path(directory, location);
      const auto opened = location.front() == '/' ? Result<base::InputFile>(Status(Code::unsupported, ""))
                                                  : base::InputFile::open(file, directory);
      if (!opened) {
        return fail(opened.error().code() == Code::unsupported
                        ? "which is outside of the model's directory; put it beside the model"
                        : "which cannot be read: put this file beside the model");
      }
      const auto state = opened->state();
      if (!state) return state.error();
      sizes.emplace(location, state->size);
    }
    const std::uint64_t size = sizes[location];
    const std::uint64_t offset = tensor.external->offset;
    if (offset > size || tensor.external->length.value_or(0) > size - offset) {
      return fail("which is too short: it was truncated, or belongs to another model");
    }
  }
  return {};
}

}  // namespace

Result<Description> describe_onnx(const std::string& path, const OpenOptions& /*options*/) {
  const Result<base::MappedFile> file = base::MappedFile::open(path);
  if (!file) return file.error();
  const Result<onnx::Model> model = onnx::decode(file->bytes());
  if (!model) {
    return Status(model.error().code(), "'" + path + "' is not a valid ONNX model: " + model.error().message());
  }
  if (Status external = check_external(path, model->graph); !external) return external;
  Description made = Describer(model->graph).run();
  made.path = path;
  return made;
}

}  // namespace sonde::inspect
