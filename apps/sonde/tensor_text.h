// One tensor as `sonde show` prints it.
#pragma once

#include <optional>
#include <string>

#include "formats/json_writer.h"
#include "render/console.h"
#include "sonde/status.h"
#include "sonde/tensor.h"
#include "stats/summary.h"

namespace sonde::cli {

// What is known about one tensor. Complex numbers have no order, hence no statistics.
struct Described {
  std::optional<stats::Summary> summary;
  stats::Histogram histogram;
};
Result<Described> describe(const TensorView& view);

// {"min":...,"max":...,"mean":...,"std":...,"nan":...,"inf":...,"zero":...}
void put_stats(formats::JsonWriter& json, const stats::Summary& summary);
// "dtype":...,"shape":...,"stats":... and, if wanted, "values":... nested like the axes
Status put_tensor(formats::JsonWriter& json, const TensorView& view, const Described& described, bool values);
// The elements, nested like the axes: numbers that parse to the same value, NaN and infinities as strings, booleans as
// true and false, complex numbers as [real, imaginary].
Status put_values(formats::JsonWriter& json, const TensorView& view);

// A picture of [height, width, channels]: "24 x 24 pixels, RGB, 8 bits".
std::string pixels_text(const TensorView& view);

// The style for standard output.
struct TextStyle {
  bool color = false;
  render::Glyphs glyphs = render::Glyphs::ascii;
};
TextStyle output_style();

// "dense_1/out f32[32,128] -2.1 |.:#:.| 2.6  mean 0.01 std 1.02  NaN 3", with a line end. The numbers take at least
// `number_width` columns. An empty name is left out.
std::string tensor_line(const std::string& name, const std::string& type, const Described& described,
                        std::size_t number_width, const TextStyle& style);

}  // namespace sonde::cli
