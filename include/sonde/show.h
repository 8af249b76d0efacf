// A tensor as text and numbers, at once and without a recorder: for a debugger, a test or a notebook.
//
//   auto shown = sonde::show("dense_1/out", view);
//   std::cout << shown->line << '\n';       // dense_1/out f32[32,128] -2.1 |.:#:.| 2.6  mean 0.01 std 1.02
//   std::cout << *sonde::values_text(view) << '\n';
//
// The calls throw nothing. They run on the caller's thread and are safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/export.h"
#include "sonde/statistics.h"
#include "sonde/status.h"
#include "sonde/summaries.h"
#include "sonde/tensor.h"

namespace sonde {

struct Shown {
  std::string line;  // as Recorder::print prints it, without the step; an empty name is left out
  Statistics statistics;
  std::vector<Bucket> buckets;  // of one width, from the smallest to the largest finite value; empty if there is none
};
// Fails for an invalid view, and for complex numbers, which have no order. `buckets` is at least 1.
SONDE_API Result<Shown> show(std::string_view name, const TensorView& tensor, int buckets = 30);

// The values. Unset: as NumPy prints them, which shortens more than 1,000 elements. Otherwise the first and last
// `summarize` elements of each axis, or every element for -1. Fails for an invalid view.
SONDE_API Result<std::string> values_text(const TensorView& tensor, std::optional<int> summarize = {});

// Draws a tensor into a PNG file, which is replaced as a whole. One element is one pixel; without a layout the axes
// decide: two are HW, three HWC if the last one has 1, 3 or 4 elements and NHW otherwise, four NHWC; several pictures
// are the cells of a grid. NaN is pink, an infinity orange. Fails for an invalid view, and for complex numbers.
SONDE_API Status save_picture(std::string_view path, const TensorView& tensor, const ImageOptions& options = {},
                              std::optional<Layout> layout = {});

}  // namespace sonde
