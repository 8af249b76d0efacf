// What `sonde inspect` found out about each layer, and how it is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/json_writer.h"
#include "inspect/health.h"
#include "inspect/runtime.h"
#include "sonde/status.h"
#include "stats/summary.h"

namespace sonde::cli {

// The statistics of one layer over all passes.
struct LayerReport {
  const inspect::Layer* layer = nullptr;
  std::optional<stats::Summary> summary;  // none: missing, or complex numbers
  stats::Histogram histogram;
  inspect::UnitActivity units;
  std::optional<DType> dtype;
  Shape shape;                                              // -1 where passes differ
  bool ranks_differ = false;                                // then the shape means nothing
  std::uint64_t bytes = 0;                                  // of its output, over all passes
  std::string missing;                                      // why there is nothing
  std::vector<std::pair<std::string, std::string>> values;  // with --print: the pass, and its values as text

  Status add(const TensorView& tensor, bool channels_last);
};

struct InputReport {
  std::string name;
  stats::Summary summary;
};

// Columns of text of the same width, two blanks apart. `right`: which are numbers.
std::string aligned(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right);

// The layers as the file describes them: index, name, operation, type, parameters.
std::string list_text(const inspect::Description& model, const std::vector<std::int64_t>& layers);
std::string list_json(const inspect::Description& model, const std::vector<std::int64_t>& layers);

// "openvino 2026.4.1, executed in f32; the model declares f16"
std::string runtime_text(const inspect::RuntimeInfo& info, const std::vector<LayerReport>& reports);
// The floating-point types of the layers other than f32, as "f16"; empty if there are none.
std::string declared_types(const std::vector<LayerReport>& reports);

std::string report_text(const std::vector<LayerReport>& reports);
void put_report(formats::JsonWriter& json, const std::vector<LayerReport>& reports);

// inspect_health.cc: what the statistics say about numerical trouble, one line each.
std::string health_text(const std::vector<LayerReport>& reports, const std::vector<InputReport>& inputs);
void put_health(formats::JsonWriter& json, const LayerReport& report, const std::vector<LayerReport>& reports);
// The consumer whose finite values show that the runtime did not use the non-finite ones of this layer; null if none.
const LayerReport* finite_consumer(const LayerReport& report, const std::vector<LayerReport>& reports);

}  // namespace sonde::cli
