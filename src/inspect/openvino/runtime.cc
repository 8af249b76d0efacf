#include "inspect/openvino/runtime.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "inspect/openvino/types.h"
#include "tensor/copy.h"

namespace sonde::inspect {
namespace {

std::string shape_text(const ov::PartialShape& shape) {
  if (shape.rank().is_dynamic()) return "[...]";
  std::string text = "[";
  for (const ov::Dimension& dim : shape) {
    text += (text.size() > 1 ? "," : "") + (dim.is_dynamic() ? std::string("?") : std::to_string(dim.get_length()));
  }
  return text + "]";
}
std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t dim : shape) text += (text.size() > 1 ? "," : "") + std::to_string(dim);
  return text + "]";
}

ov::AnyMap settings_of(const OpenOptions& options) {
  ov::AnyMap settings;
  // The default is bf16 on some processors.
  ov::element::Type precision = ov::element::f32;
  if (options.precision == "f16") precision = ov::element::f16;
  if (options.precision == "bf16") precision = ov::element::bf16;
  settings.insert(ov::hint::inference_precision(precision));
  settings.insert(ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY));
  if (options.profile) settings.insert(ov::enable_profiling(true));
  return settings;
}

// The layers that each executed operation computes, ascending and at least one; operations of no layer are left out.
using Executed = std::unordered_map<std::string, std::vector<std::int64_t>>;

Executed executed(const ov::CompiledModel& compiled, const std::unordered_map<std::string, std::int64_t>& layers) {
  Executed found;
  for (const std::shared_ptr<ov::Node>& node : compiled.get_runtime_model()->get_ops()) {
    const auto names = node->get_rt_info().find("originalLayersNames");
    if (names == node->get_rt_info().end()) continue;
    std::vector<std::int64_t> of;
    const std::string text = names->second.as<std::string>();
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      if (const auto layer = layers.find(text.substr(begin, end - begin)); layer != layers.end()) {
        of.push_back(layer->second);
      }
      begin = end + 1;
    }
    std::ranges::sort(of);
    if (!of.empty()) found.emplace(node->get_friendly_name(), std::move(of));
  }
  return found;
}

}  // namespace

ov::Core& core() {
  // The library that OpenVINO computes with probes for instructions that some virtual machines announce and do not
  // have.
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before OpenVINO has threads
  static const int limited = setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16", 0);
  static ov::Core made;
  static_cast<void>(limited);
  return made;
}

OpenvinoRuntime::OpenvinoRuntime(Description description, OpenOptions options, std::unique_ptr<ModelSource> source,
                                 std::string note)
    : description_(std::move(description)), options_(std::move(options)), source_(std::move(source)) {
  info_.name = "openvino";
  const std::string build = ov::get_openvino_version().buildNumber;  // "2026.4.1-22982-e6..."
  info_.version = build.substr(0, build.find('-'));
  info_.precision = options_.precision;
  info_.note = std::move(note);
}

void OpenvinoRuntime::compile(const std::vector<std::int64_t>& layers) {
  ready_ = false;
  ran_ = false;
  tapped_ = source_->tapped(layers);
  compiled_ = core().compile_model(tapped_.model, "CPU", settings_of(options_));
  // What the processor can do, which may not be what was asked for.
  info_.precision = compiled_.get_property(ov::hint::inference_precision).get_type_name();
  requests_.clear();
  ready_ = true;
}

void OpenvinoRuntime::next_request() {
  turn_ = requests_.empty() ? 0 : (turn_ + 1) % std::max<std::size_t>(options_.kept_runs, 1);
  if (turn_ == requests_.size()) requests_.push_back(compiled_.create_infer_request());
}

Status OpenvinoRuntime::select(const std::vector<std::int64_t>& layers) {
  if (Status can = source_->check(layers); !can) return can;
  return guarded(title() + " cannot be run by OpenVINO " + info_.version, [&] {
    compile(layers);
    return Status::success();
  });
}

Status OpenvinoRuntime::set_input(const ov::Output<const ov::Node>& port, const TensorView& given) {
  const std::string name = port.get_names().empty() ? port.get_node()->get_friendly_name() : *port.get_names().begin();
  const ov::element::Type wanted = port.get_element_type();
  const std::string expected = std::string(wanted.get_type_name()) + shape_text(port.get_partial_shape());
  ov::Shape shape;
  for (const std::int64_t dim : given.shape) shape.push_back(static_cast<std::size_t>(dim));
  if (element_of(given.dtype) != wanted || !port.get_partial_shape().compatible(ov::PartialShape(shape))) {
    return {Code::invalid_argument, "input '" + name + "' is " + expected + ", but " +
                                        std::string(to_string(given.dtype)) + shape_text(given.shape) + " was given"};
  }
  const void* data = given.data;
  // The runtime reads dense and aligned memory only.
  if (!given.contiguous() || reinterpret_cast<std::uintptr_t>(data) % size_of(given.dtype) != 0 || data == nullptr) {
    std::vector<std::byte>& copy = copies_.emplace_back(std::max<std::size_t>(tensor::byte_size(given), 1));
    tensor::copy_dense(given, copy.data());
    data = copy.data();
  }
  request().set_tensor(port, ov::Tensor(wanted, shape, const_cast<void*>(data)));
  return {};
}

Status OpenvinoRuntime::set_inputs(const std::vector<NamedView>& inputs) {
  copies_.clear();
  for (const ov::Output<const ov::Node>& port : compiled_.inputs()) {
    const auto named = [&](const NamedView& input) {
      return port.get_names().contains(std::string(input.name)) || port.get_node()->get_friendly_name() == input.name;
    };
    const auto found = std::ranges::find_if(inputs, named);
    if (found == inputs.end()) {
      const std::string name =
          port.get_names().empty() ? port.get_node()->get_friendly_name() : *port.get_names().begin();
      return {Code::invalid_argument, title() + " needs an input '" + name + "' of " +
                                          std::string(port.get_element_type().get_type_name()) +
                                          shape_text(port.get_partial_shape())};
    }
    if (Status set = set_input(port, found->tensor); !set) return set;
  }
  return {};
}

Status OpenvinoRuntime::give(const TakeOutput& take, const TakeResult& result) {
  for (const TappedModel::Tap& tap : tapped_.taps) {
    if (!take) break;
    Output output;
    output.layer = &description_.layers[static_cast<std::size_t>(tap.layer)];
    output.missing = tap.missing;
    if (tap.missing.empty()) {
      const ov::Tensor tensor = request().get_output_tensor(tap.output);
      output.kept = std::max<std::size_t>(options_.kept_runs, 1);
      output.tensor = view_of(tensor);
      if (!output.tensor) {
        output.missing = "it is of type " + tensor.get_element_type().get_type_name() + ", which Sonde does not have";
      }
    }
    if (Status taken = take(output); !taken) return taken;
  }
  for (const auto& [name, index] : tapped_.results) {
    if (!result) break;
    const std::optional<TensorView> view = view_of(request().get_output_tensor(index));
    if (!view) continue;
    if (Status taken = result(name, *view); !taken) return taken;
  }
  return {};
}

Status OpenvinoRuntime::run(const std::vector<NamedView>& inputs, const TakeOutput& take, const TakeResult& result) {
  return guarded(title() + " failed in OpenVINO " + info_.version, [&]() -> Status {
    if (!ready_) compile({});
    next_request();
    if (Status set = set_inputs(inputs); !set) return set;
    request().infer();
    ran_ = true;
    return give(take, result);
  });
}

Result<std::vector<Value>> OpenvinoRuntime::infer_values() {
  return guarded(title() + " cannot be read by OpenVINO " + info_.version,
                 [&]() -> Result<std::vector<Value>> { return source_->infer_values(); });
}

Result<std::vector<std::int64_t>> OpenvinoRuntime::fusions() {
  return guarded(title() + " cannot be run by OpenVINO " + info_.version, [&]() -> Result<std::vector<std::int64_t>> {
    const ov::CompiledModel plain = core().compile_model(source_->tapped({}).model, "CPU", settings_of(options_));
    std::vector<std::int64_t> into(description_.layers.size());
    std::iota(into.begin(), into.end(), 0);
    for (const auto& [operation, layers] : executed(plain, source_->layers_by_operation())) {
      for (const std::int64_t layer : layers) into[static_cast<std::size_t>(layer)] = layers.back();
    }
    return into;
  });
}

Result<std::vector<LayerTime>> OpenvinoRuntime::times() {
  return guarded(title() + " could not be profiled", [&]() -> Result<std::vector<LayerTime>> {
    if (!options_.profile || !ran_) {
      return Status(Code::invalid_argument, "times are counted only if the model was opened for it, and run");
    }
    const Executed layers = executed(compiled_, source_->layers_by_operation());
    std::vector<LayerTime> found;
    for (const ov::ProfilingInfo& counted : request().get_profiling_info()) {
      if (counted.status != ov::ProfilingInfo::Status::EXECUTED) continue;
      const auto layer = layers.find(counted.node_name);
      found.push_back({layer == layers.end() ? -1 : layer->second.back(),
                       counted.node_name + " (" + counted.node_type + ")",
                       std::chrono::nanoseconds(counted.real_time).count()});
    }
    return found;
  });
}

}  // namespace sonde::inspect
