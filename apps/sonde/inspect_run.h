// Runs a model and gathers what `sonde inspect` prints.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inspect/inputs.h"
#include "inspect/runtime.h"
#include "inspect/selection.h"
#include "inspect/verify.h"
#include "inspect_report.h"
#include "inspect_save.h"
#include "sonde/status.h"

namespace sonde::cli {

struct InspectRequest {
  inspect::ModelName model;
  inspect::OpenOptions options;
  inspect::InputOptions inputs;
  inspect::Selection selection;
  std::string taps;  // "safe", "all"; empty: safe unless layers are selected
  SaveRequest save;  // no folder: nothing is saved
  bool print = false;
  bool verify = false;
};

// What `--taps all` costs.
struct TapCost {
  std::size_t split = 0;  // layers that the runtime would have fused into others
  double plain_seconds = 0;
  double tapped_seconds = 0;
};

struct Inspection {
  std::unique_ptr<inspect::Runtime> runtime;  // owns the layers that the reports point to
  std::size_t passes = 0;
  std::vector<LayerReport> reports;
  std::vector<InputReport> inputs;
  std::vector<inspect::LayerTime> times;  // with --profile, summed over the passes
  std::optional<inspect::Verification> verification;
  std::optional<TapCost> cost;
};

Result<Inspection> run_inspection(InspectRequest request);

}  // namespace sonde::cli
