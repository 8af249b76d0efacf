// A tensor as a PNG file, with sensible defaults.
#pragma once

#include <cstdint>
#include <string>

#include "sonde/status.h"
#include "sonde/tensor.h"
#include "stats/summary.h"

namespace sonde::cli {

struct PictureRequest {
  std::string path;
  std::string layout;  // "NHWC" ...; empty: by the shape
  std::string colors =
      "auto";               // "grey", "viridis", "diverging"; auto: colours if the values can be colours, else a map
  std::int64_t cells = 64;  // maximum number of cells in the grid; positive
};

// Writes the picture; the result says what was drawn: "a.png: 199 x 99 pixels, f32[1,24,24,32] read as NHWC".
Result<std::string> write_picture(const TensorView& tensor, const stats::Summary& summary,
                                  const PictureRequest& request);

}  // namespace sonde::cli
