// A tensor in one line, for people and logs:
//
//   dense_1/out f32[32,128] -2.1 |.:+##+:.| 2.6  mean 0.01 std 1.02  NaN 3  Inf 1
//
// Between the bars is the histogram of the finite values from the smallest to the largest, relative to its highest
// cell; an empty cell is blank. Plain text without colours; characters that would break the line are escaped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sonde/tensor.h"
#include "stats/summary.h"

namespace sonde::render {

// The characters of histograms. ASCII works everywhere, blocks need a UTF-8 terminal.
enum class Glyphs : std::uint8_t { ascii, blocks };

std::string one_line(std::string_view name, DType dtype, const Shape& shape, const stats::Summary& summary,
                     const stats::Histogram& histogram, Glyphs glyphs = Glyphs::ascii);

// The parts of that line. "f32[32,128]"
std::string type_text(DType dtype, const Shape& shape);
// "-2.1 |.:+##+:.| 2.6  mean 0.01 std 1.02"; the numbers take at least `width` columns, so that several lines can be
// compared.
std::string range_text(const stats::Summary& summary, const stats::Histogram& histogram, Glyphs glyphs = Glyphs::ascii,
                       std::size_t width = 0);
// "NaN 3  Inf 1"; empty if all values are finite.
std::string nonfinite_text(const stats::Summary& summary);

// A name from a caller or a file, safe to print in one line: control characters and invalid UTF-8 as \n, \x1b ...; a
// name longer than 120 bytes is shortened in the middle.
std::string printable(std::string_view name);

}  // namespace sonde::render
