// A tensor as a PNG file, with sensible choices where the user made none.
#pragma once

#include <cstdint>
#include <string>

#include "sonde/status.h"
#include "sonde/tensor.h"
#include "stats/summary.h"

namespace sonde::cli {

struct PictureRequest {
  std::string path;
  std::string layout;           // "NHWC" ...; empty: by the shape
  std::string colors = "auto";  // "grey", "viridis", "diverging"; auto: colours where the values are some, else a map
  std::int64_t cells = 64;      // of the grid, at most; positive
};

// Writes the picture; the result says what was drawn: "a.png: 199 x 99 pixels, f32[1,24,24,32] read as NHWC".
Result<std::string> write_picture(const TensorView& tensor, const stats::Summary& summary,
                                  const PictureRequest& request);

}  // namespace sonde::cli
