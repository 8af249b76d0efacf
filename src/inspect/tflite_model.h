// A TFLite file, mapped, and the graph of one of its signatures.
#pragma once

#include <string>

#include "base/file.h"
#include "formats/tflite.h"
#include "sonde/status.h"

namespace sonde::inspect {

struct LiteModel {
  base::MappedFile file;  // the model refers to its bytes
  formats::tflite::Model model;
  std::size_t subgraph = 0;

  const formats::tflite::Subgraph& graph() const noexcept { return model.subgraphs[subgraph]; }
};
// An empty signature is the only one, or the first graph of a file without signatures.
Result<LiteModel> open_tflite(const std::string& path, const std::string& signature);

}  // namespace sonde::inspect
