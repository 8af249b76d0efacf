// An inspection model: a copy of a saved model whose outputs are chosen layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inspect/runtime.h"
#include "sonde/status.h"

namespace sonde::inspect {

// Writes it as a whole, replacing an existing file. Only for ONNX. Where the file does not say the type of a layer,
// the runtime is asked. Tensors in other files stay there, so that the copy must be in the model's directory.
Status save_tapped_model(const Description& model, const std::vector<std::int64_t>& layers, const std::string& path);

}  // namespace sonde::inspect
