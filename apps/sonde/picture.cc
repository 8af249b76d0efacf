#include "picture.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/file.h"
#include "formats/png.h"
#include "render/console.h"
#include "render/image.h"

namespace sonde::cli {
namespace {

constexpr Layout kLayouts[] = {Layout::HW, Layout::HWC, Layout::CHW, Layout::NHW, Layout::NHWC, Layout::NCHW};

bool is_color_count(std::int64_t channels) noexcept { return channels == 1 || channels == 3 || channels == 4; }

// Whether the channels are before or after the two axes of the picture. Three channels are unambiguous; otherwise
// pictures tend to be square.
bool channels_first(std::int64_t first, std::int64_t second, std::int64_t third) noexcept {
  if (is_color_count(third)) return false;
  return is_color_count(first) || (second == third && first != second);
}

std::optional<Layout> guess_layout(const Shape& shape) noexcept {
  switch (shape.rank()) {
    case 2: return Layout::HW;
    case 3: return channels_first(shape[0], shape[1], shape[2]) ? Layout::CHW : Layout::HWC;
    case 4: return channels_first(shape[1], shape[2], shape[3]) ? Layout::NCHW : Layout::NHWC;
    default: return std::nullopt;
  }
}

std::optional<Layout> layout_named(const std::string& name) noexcept {
  for (Layout layout : kLayouts) {
    if (render::to_string(layout) == name) return layout;
  }
  return std::nullopt;
}

// Whether the values can be colours: bytes, or floats from 0 to 1.
bool are_colors(const TensorView& view, const stats::Summary& summary) noexcept {
  if (view.dtype == DType::u8 || view.dtype == DType::u16 || summary.finite() == 0) return true;
  const bool one = view.dtype == DType::boolean || view.dtype >= DType::f8_e4m3;
  return summary.min >= 0 && summary.max <= (one ? 1 : 255);
}

ColorMap color_map(const TensorView& view, const stats::Summary& summary, const std::string& name) noexcept {
  if (name == "grey") return ColorMap::grey;
  if (name == "viridis") return ColorMap::viridis;
  if (name == "diverging") return ColorMap::diverging;
  if (are_colors(view, summary)) return ColorMap::automatic;
  return summary.min < 0 ? ColorMap::diverging : ColorMap::viridis;
}

// Numbers and vectors as one row.
TensorView at_least_two_axes(const TensorView& view) noexcept {
  TensorView result = view;
  if (view.shape.rank() == 0) {
    result.shape = {1, 1};
    result.strides = {1, 1};
  } else if (view.shape.rank() == 1) {
    result.shape = {1, view.shape[0]};
    result.strides = {0, view.strides[0]};
  }
  return result;
}

}  // namespace

Result<std::string> write_picture(const TensorView& tensor, const stats::Summary& summary,
                                  const PictureRequest& request) {
  const TensorView view = at_least_two_axes(tensor);
  const std::optional<Layout> layout = request.layout.empty() ? guess_layout(view.shape) : layout_named(request.layout);
  const std::string type = render::type_text(tensor.dtype, tensor.shape);
  if (!layout) {
    return Status(Code::invalid_argument, "a tensor " + type + " has too many axes to be drawn: save a part of it");
  }
  ImageOptions options;
  options.colors = color_map(view, summary, request.colors);
  options.max_cells = static_cast<int>(std::min<std::int64_t>(request.cells, std::numeric_limits<int>::max()));
  Result<render::Picture> picture = render::draw(view, *layout, options);
  if (!picture) return picture.error();
  const Shape shape = {picture->height, picture->width, picture->channels};
  Result<std::string> png = png::encode(sonde::view(picture->pixels, shape));
  if (!png) return png.error();
  if (Status status = base::write_file(request.path, *png); !status) return status;
  return request.path + ": " + std::to_string(picture->width) + " x " + std::to_string(picture->height) + " pixels, " +
         type + " read as " + std::string(render::to_string(*layout));
}

}  // namespace sonde::cli
