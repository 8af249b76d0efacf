// The library that runs models with OpenVINO: found and loaded when the first model is run.
#pragma once

#include <string>

#include "inspect/plugin.h"
#include "sonde/status.h"

namespace sonde::inspect {

// Loads it once; later calls give the same. Where it or OpenVINO is missing, the error says how to get it. Safe from
// any thread.
Result<const Plugin*> openvino_plugin();

}  // namespace sonde::inspect
