// The function that the library exports, and which file goes where.
#include "inspect/plugin.h"

#include "inspect/openvino/runtime.h"

namespace sonde::inspect {
namespace {

Result<std::unique_ptr<Runtime>> open(Description description, const OpenOptions& options) noexcept {
  const std::string& format = description.format;
  if (format == "saved_model" || format == "frozen_graph" || format == "tflite") {
    return open_tensorflow(std::move(description), options);
  }
  return open_graph(std::move(description), options);
}

constexpr Plugin kPlugin = {SONDE_VERSION, open};

}  // namespace
}  // namespace sonde::inspect

extern "C" __attribute__((visibility("default"))) const sonde::inspect::Plugin* sonde_openvino_plugin() {
  return &sonde::inspect::kPlugin;
}
