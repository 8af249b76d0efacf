// The values of a tensor as NumPy prints them: the text of str(array) with NumPy's default settings, byte for byte.
//
//   [[ 1.   2.5 -3. ]
//    [ nan  4.   0.1]]
//
// NumPy itself has no bf16 and fp8; those are printed as the same values in float32.
#pragma once

#include <cstdint>
#include <string>

#include "sonde/tensor.h"

namespace sonde::render {

// Named and defined as in numpy.set_printoptions.
struct ArrayOptions {
  // Above this many elements only the first and last `edge_items` of each axis are printed. kEverything: never.
  std::int64_t threshold = 1000;
  int edge_items = 3;
  int precision = 8;    // maximum number of digits after the point
  int line_width = 75;  // characters; a longer row continues on the next line

  static constexpr std::int64_t kEverything = INT64_MAX;
};

// For a valid view; an invalid one gives "[]", like an empty one. A 0-d tensor is printed like NumPy's scalar.
std::string numpy_style(const TensorView& view, const ArrayOptions& options = {});

}  // namespace sonde::render
