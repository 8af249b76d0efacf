#include "inspect/verify.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/bytes.h"
#include "base/file.h"
#include "formats/onnx_edit.h"
#include "inspect/temporary_model.h"
#include "tensor/convert.h"
#include "tensor/copy.h"
#include "tensor/tensor_data.h"

namespace sonde::inspect {
namespace {

constexpr std::string_view kSuffix = "/recomputed";

using Tensors = std::map<std::string, Tensor>;

// The place of a float among all values of its type: neighbours differ by one, and both zeros are the same.
template <class Bits>
std::int64_t place_of(Bits bits) noexcept {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const auto magnitude = static_cast<std::int64_t>(bits & static_cast<Bits>(~kSign));
  return (bits & kSign) != 0 ? -magnitude : magnitude;
}

std::int64_t place_at(const std::byte* at, DType dtype) noexcept {
  switch (dtype) {
    case DType::f64: return place_of(base::load<std::uint64_t>(at));
    case DType::f32: return place_of(base::load<std::uint32_t>(at));
    case DType::f16:
    case DType::bf16: return place_of(base::load<std::uint16_t>(at));
    case DType::f8_e4m3:
    case DType::f8_e5m2: return place_of(base::load<std::uint8_t>(at));
    default: return static_cast<std::int64_t>(tensor::element_as_double(at, dtype));
  }
}

std::uint64_t distance(const std::byte* one, const std::byte* other, DType dtype) noexcept {
  const bool nan = std::isnan(tensor::element_as_double(one, dtype));
  if (nan != std::isnan(tensor::element_as_double(other, dtype))) return std::numeric_limits<std::uint64_t>::max();
  if (nan) return 0;
  const std::int64_t a = place_at(one, dtype);
  const std::int64_t b = place_at(other, dtype);
  return a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
               : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
}

bool is_finite(const Tensor& tensor) {
  const std::size_t size = size_of(tensor.dtype);
  for (std::size_t at = 0; at < tensor.data.size(); at += size) {
    if (!std::isfinite(tensor::element_as_double(tensor.data.data() + at, tensor.dtype))) return false;
  }
  return true;
}

class Verifier {
 public:
  Verifier(Runtime& runtime, const OpenOptions& options, const std::vector<NamedView>& inputs)
      : runtime_(runtime), options_(options), inputs_(inputs) {
    for (const Layer& layer : model().layers) by_name_.emplace(layer.value.name, layer.index);
  }

  Result<Verification> run(const std::vector<std::int64_t>& layers) {
    Verification made;
    Tensors plain;
    Tensors tapped;
    if (Status ran = collect({}, nullptr, &plain); !ran) return ran;
    if (Status ran = collect(layers, nullptr, &tapped); !ran) return ran;
    for (const auto& [name, tensor] : plain) {
      made.outputs.push_back({name, difference(tensor.view(), tapped[name].view())});
    }
    if (model().format != "onnx") {
      made.not_recomputed =
          "of " + model().format + " models the readers of a layer cannot be cut out; that is possible for ONNX models";
    } else if (Status done = recompute(layers, made); !done) {
      made.not_recomputed = done.message();
    }
    if (Status none = runtime_.select({}); !none) return none;
    return made;
  }

 private:
  const Description& model() const { return runtime_.description(); }

  Status collect(const std::vector<std::int64_t>& layers, Tensors* taken, Tensors* results) {
    if (Status selected = runtime_.select(layers); !selected) return selected;
    const auto take = [&](const Output& output) {
      if (taken != nullptr && output.tensor) {
        taken->insert_or_assign(output.layer->value.name, tensor::to_tensor(*output.tensor));
      }
      return Status::success();
    };
    const auto result = [&](std::string_view name, const TensorView& tensor) {
      if (results != nullptr) results->insert_or_assign(std::string(name), tensor::to_tensor(tensor));
      return Status::success();
    };
    return runtime_.run(inputs_, take, result);
  }

  Status recompute(const std::vector<std::int64_t>& layers, Verification& made) {
    const Result<base::MappedFile> file = base::MappedFile::open(model().path);
    if (!file) return file.error();
    const Result<onnx::Model> decoded = onnx::decode(file->bytes());
    if (!decoded) return decoded.error();
    const std::vector<std::size_t> nodes = find_consumers(decoded->graph, layers, made);
    if (nodes.empty()) return {};
    // Everything that the consumers read and give.
    std::set<std::int64_t> around(layers.begin(), layers.end());
    for (const std::size_t node : nodes) {
      for (const auto* names : {&decoded->graph.nodes[node].inputs, &decoded->graph.nodes[node].outer,
                                &decoded->graph.nodes[node].outputs}) {
        for (const std::string_view name : *names) {
          if (const auto found = by_name_.find(std::string(name)); found != by_name_.end())
            around.insert(found->second);
        }
      }
    }
    Tensors shown;
    if (Status ran = collect({around.begin(), around.end()}, &shown, nullptr); !ran) return ran;
    for (const NamedView& input : inputs_) {
      shown.insert_or_assign(std::string(input.name), tensor::to_tensor(input.tensor));
    }
    Result<Tensors> again = run_again(*decoded, nodes, shown);
    if (!again) return again.error();
    for (VerifiedConsumer& each : made.consumers) compare(each, shown, *again);
    return {};
  }

  // The nodes that read one of the layers; adds an entry for each layer and each value that such a node gives.
  std::vector<std::size_t> find_consumers(const onnx::Graph& graph, const std::vector<std::int64_t>& layers,
                                          Verification& made) const {
    std::set<std::size_t> nodes;
    for (const std::int64_t layer : layers) {
      const std::string& name = model().layers[static_cast<std::size_t>(layer)].value.name;
      for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const onnx::Node& node = graph.nodes[i];
        if (std::ranges::count(node.inputs, name) == 0) continue;
        nodes.insert(i);
        for (const std::string_view output : node.outputs) {
          const auto found = by_name_.find(std::string(output));
          if (found != by_name_.end()) made.consumers.push_back({layer, found->second, {}, false, {}});
        }
      }
    }
    return {nodes.begin(), nodes.end()};
  }

  Result<Tensors> run_again(const onnx::Model& decoded, std::vector<std::size_t> nodes, const Tensors& shown) const {
    std::vector<onnx::TypedValue> types;
    for (const auto& [name, tensor] : shown) types.push_back({name, onnx::type_number(tensor.dtype), tensor.shape});
    // What the runtime does not show cannot be given to a consumer.
    std::set<std::string_view> known;
    for (const auto& type : types) known.insert(type.name);
    for (const onnx::Initializer& each : decoded.graph.initializers) known.insert(each.name);
    const auto unknown = [&](std::string_view name) { return !name.empty() && !known.contains(name); };
    std::erase_if(nodes, [&](std::size_t node) {
      return std::ranges::any_of(decoded.graph.nodes[node].inputs, unknown) ||
             std::ranges::any_of(decoded.graph.nodes[node].outer, unknown);
    });
    Tensors again;
    if (nodes.empty()) return again;
    std::vector<base::MappedFile> mapped;
    const auto read = [&](const onnx::External& external) { return read_external(external, mapped); };
    const Result<std::string> bytes = onnx::nodes_model(decoded, nodes, types, kSuffix, read);
    if (!bytes) return bytes.error();
    const Result<TemporaryModel> file = TemporaryModel::create(*bytes);
    if (!file) return file.error();
    OpenOptions options = options_;
    options.profile = false;
    Result<std::unique_ptr<Runtime>> opened = open_model({file->path(), runtime_.info().name}, options);
    if (!opened) return opened.error();
    std::vector<NamedView> given;
    for (const Value& input : (*opened)->description().inputs) {
      given.push_back({input.name, shown.find(input.name)->second.view()});
    }
    const auto result = [&](std::string_view name, const TensorView& tensor) {
      again.insert_or_assign(std::string(name), tensor::to_tensor(tensor));
      return Status::success();
    };
    if (Status ran = (*opened)->run(given, {}, result); !ran) return ran;
    return again;
  }

  Result<base::Bytes> read_external(const onnx::External& external, std::vector<base::MappedFile>& mapped) const {
    const std::size_t slash = model().path.rfind('/');
    const std::string directory = slash == std::string::npos ? "." : model().path.substr(0, slash);
    Result<base::MappedFile> file = base::MappedFile::open(base::join_path(directory, external.location));
    if (!file) return file.error();
    const base::Bytes bytes = mapped.emplace_back(*std::move(file)).bytes();
    if (external.offset > bytes.size() || external.length.value_or(0) > bytes.size() - external.offset) {
      return Status(Code::corrupt, "'" + std::string(external.location) + "' is too short");
    }
    return bytes.subspan(external.offset, external.length.value_or(bytes.size() - external.offset));
  }

  void compare(VerifiedConsumer& each, const Tensors& shown, const Tensors& again) const {
    const std::string& name = model().layers[static_cast<std::size_t>(each.consumer)].value.name;
    const std::string& tapped = model().layers[static_cast<std::size_t>(each.layer)].value.name;
    const auto own = shown.find(name);
    const auto computed = again.find(name + std::string(kSuffix));
    const auto value = shown.find(tapped);
    if (own == shown.end() || value == shown.end()) {
      each.skipped = "the runtime does not show '" + (value == shown.end() ? tapped : name) + "'";
    } else if (computed == again.end()) {
      each.skipped = "the runtime does not show all that '" + name + "' is computed from";
    } else {
      each.difference = difference(own->second.view(), computed->second.view());
      each.not_the_value_used = !is_finite(value->second) && is_finite(own->second) && !is_finite(computed->second);
    }
  }

  Runtime& runtime_;
  const OpenOptions& options_;
  const std::vector<NamedView>& inputs_;
  std::unordered_map<std::string, std::int64_t> by_name_;
};

}  // namespace

Difference difference(const TensorView& one, const TensorView& other) {
  Difference made;
  if (one.dtype != other.dtype || one.shape != other.shape || tensor::is_complex(one.dtype)) {
    made.comparable = false;
    return made;
  }
  const Tensor a = tensor::to_tensor(one);
  const Tensor b = tensor::to_tensor(other);
  made.bitwise = std::ranges::equal(a.data, b.data);
  if (made.bitwise) return made;
  const std::size_t size = size_of(a.dtype);
  double norm = 0;
  double error = 0;
  for (std::size_t at = 0; at < a.data.size(); at += size) {
    made.ulp = std::max(made.ulp, distance(a.data.data() + at, b.data.data() + at, a.dtype));
    const double x = tensor::element_as_double(a.data.data() + at, a.dtype);
    const double y = tensor::element_as_double(b.data.data() + at, b.dtype);
    if (x == y || (std::isnan(x) && std::isnan(y))) {
      norm += std::isfinite(x) ? x * x : 0;
      continue;
    }
    norm += x * x;
    error += (x - y) * (x - y);
  }
  made.relative = error == 0 ? 0 : std::sqrt(error / norm);
  return made;
}

void Difference::merge(const Difference& other) {
  bitwise = bitwise && other.bitwise;
  comparable = comparable && other.comparable;
  ulp = std::max(ulp, other.ulp);
  // NaN, of a comparison with an infinite value, is the worst.
  if (std::isnan(other.relative) || relative < other.relative) relative = other.relative;
}

void Verification::merge(const Verification& other) {
  inputs += other.inputs;
  for (const VerifiedOutput& output : other.outputs) {
    const auto found = std::ranges::find(outputs, output.name, &VerifiedOutput::name);
    if (found == outputs.end()) {
      outputs.push_back(output);
    } else {
      found->difference.merge(output.difference);
    }
  }
  for (const VerifiedConsumer& each : other.consumers) {
    const auto found = std::ranges::find_if(consumers, [&](const VerifiedConsumer& own) {
      return own.layer == each.layer && own.consumer == each.consumer;
    });
    if (found == consumers.end()) {
      consumers.push_back(each);
    } else if (!found->skipped.empty()) {
      *found = each;
    } else if (each.skipped.empty()) {
      found->difference.merge(each.difference);
      found->not_the_value_used = found->not_the_value_used || each.not_the_value_used;
    }
  }
  if (not_recomputed.empty()) not_recomputed = other.not_recomputed;
}

Result<Verification> verify(Runtime& runtime, const OpenOptions& options, const std::vector<std::int64_t>& layers,
                            const std::vector<NamedView>& inputs) {
  return Verifier(runtime, options, inputs).run(layers);
}

}  // namespace sonde::inspect
