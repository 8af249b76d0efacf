#include "render/image.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/bytes.h"
#include "render/colormap.h"
#include "render/console.h"
#include "stats/summary.h"
#include "tensor/convert.h"
#include "tensor/why_invalid.h"

namespace sonde::render {
namespace {

constexpr std::int64_t kMaxPixels = std::int64_t{1} << 28;

Status invalid(std::string message) { return {Code::invalid_argument, std::move(message)}; }

struct Axis {
  std::int64_t size = 1;
  std::int64_t stride = 0;  // in elements
};

struct Axes {
  Axis batch;
  Axis height;
  Axis width;
  Axis channel;
};

Result<Axes> arrange(const TensorView& view, Layout layout) {
  const std::string_view letters = to_string(layout);
  if (!view.valid()) return invalid("the tensor cannot be drawn: " + std::string(tensor::why_invalid(view)));
  if (view.shape.rank() != static_cast<int>(letters.size())) {
    return invalid("the tensor " + type_text(view.dtype, view.shape) + " cannot be drawn as " + std::string(letters) +
                   ": that layout needs " + std::to_string(letters.size()) + " axes");
  }
  Axes axes;
  for (int i = 0; i < view.shape.rank(); ++i) {
    const Axis axis = {view.shape[i], view.strides[i]};
    switch (letters[static_cast<std::size_t>(i)]) {
      case 'N': axes.batch = axis; break;
      case 'H': axes.height = axis; break;
      case 'W': axes.width = axis; break;
      default: axes.channel = axis; break;
    }
  }
  if (view.size() == 0)
    return invalid("the tensor " + type_text(view.dtype, view.shape) + " is empty: nothing to draw");
  return axes;
}

// Values to bytes: [low, high] to [first, last], in a way that no range of doubles overflows.
class Quantizer {
 public:
  Quantizer(double low, double high, int first, int last) noexcept : first_(first), last_(last) {
    const int exponent = std::ilogb(std::max({std::abs(low), std::abs(high), std::numeric_limits<double>::min()}));
    if (std::abs(exponent) > 900) scale_ = std::ldexp(1.0, -exponent);
    low_ = low * scale_;
    const double range = high * scale_ - low_;
    steps_ = range != 0 ? (last - first) / range : 0;
  }

  // Returns whether all values are finite; the others give any byte.
  bool operator()(const double* values, std::size_t count, std::uint8_t* out) const noexcept {
    bool finite = true;
    for (std::size_t i = 0; i < count; ++i) {
      const double level = (values[i] * scale_ - low_) * steps_ + (first_ + 0.5);
      const double above = level > first_ ? level : first_;  // NaN too
      out[i] = static_cast<std::uint8_t>(static_cast<int>(above < last_ ? above : last_));
      finite &= std::abs(values[i]) <= std::numeric_limits<double>::max();
    }
    return finite;
  }

 private:
  double first_;
  double last_;
  double scale_ = 1;
  double low_ = 0;
  double steps_ = 0;
};

template <class T>
double as_double(T value) noexcept {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(tensor::to_float(value));
  }
}

template <class T>
void read(const std::byte* at, std::int64_t count, std::int64_t stride, double* out, std::int64_t out_stride) noexcept {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  if (stride == 1 && out_stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = as_double(base::load<T>(at + i * kSize));
  } else {
    for (std::int64_t i = 0; i < count; ++i) out[i * out_stride] = as_double(base::load<T>(at + i * stride * kSize));
  }
}

using Reader = void (*)(const std::byte*, std::int64_t, std::int64_t, double*, std::int64_t) noexcept;

Reader reader_for(DType dtype) noexcept {
  switch (dtype) {
    case DType::i8: return read<std::int8_t>;
    case DType::i16: return read<std::int16_t>;
    case DType::i32: return read<std::int32_t>;
    case DType::i64: return read<std::int64_t>;
    case DType::boolean:
    case DType::u8: return read<std::uint8_t>;
    case DType::u16: return read<std::uint16_t>;
    case DType::u32: return read<std::uint32_t>;
    case DType::u64: return read<std::uint64_t>;
    case DType::f8_e4m3: return read<Float8E4M3>;
    case DType::f8_e5m2: return read<Float8E5M2>;
    case DType::f16: return read<Float16>;
    case DType::bf16: return read<BFloat16>;
    case DType::f64: return read<double>;
    default: return read<float>;
  }
}

struct Bounds {
  double low = 0;
  double high = 0;
};

Bounds natural_bounds(DType dtype) noexcept {
  if (dtype == DType::boolean || dtype >= DType::f8_e4m3) return {0, 1};
  return {0, dtype == DType::u16 ? 65535.0 : 255.0};
}

// The drawing plan, made before the first pixel.
struct Plan {
  Axes axes;
  std::int64_t cells = 1;
  std::int64_t columns = 1;
  std::int64_t rows = 1;
  std::int64_t colors = 1;           // channels of the tensor that make one pixel
  bool as_they_are = false;          // bytes that need no scaling
  const Palette* palette = nullptr;  // null: the values are the channels of the picture
  Bounds bounds;
};

// Columns of a grid that is roughly square in pixels; a few more if that leaves no cell empty.
std::int64_t grid_columns(std::int64_t cells, std::int64_t width, std::int64_t height) noexcept {
  const double ideal =
      std::sqrt(static_cast<double>(cells) * static_cast<double>(height + 1) / static_cast<double>(width + 1));
  const auto first = std::clamp(static_cast<std::int64_t>(std::ceil(ideal - 1e-9)), std::int64_t{1}, cells);
  const auto last = std::min(cells, static_cast<std::int64_t>(1.5 * ideal));
  for (std::int64_t columns = first; columns <= last; ++columns) {
    if (cells % columns == 0) return columns;
  }
  return first;
}

Status choose_colors(const TensorView& view, const ImageOptions& options, Plan& plan) {
  const std::int64_t channels = plan.axes.channel.size;
  const bool given = options.low != options.high;
  plan.bounds = {options.low, options.high};
  if (options.colors == ColorMap::automatic && (channels == 1 || channels == 3 || channels == 4)) {
    plan.colors = channels;
    plan.as_they_are = view.dtype == DType::u8 && !given;
    if (!given) plan.bounds = natural_bounds(view.dtype);
    return Status::success();
  }
  stats::Summary summary;
  if (!given || options.colors == ColorMap::automatic) {
    Result<stats::Summary> found = stats::summarize(view);
    if (!found) return found.error();
    summary = *found;
  }
  const bool any = summary.finite() > 0;
  const bool diverging =
      options.colors == ColorMap::diverging || (options.colors == ColorMap::automatic && any && summary.min < 0);
  if (diverging) {
    plan.palette = &kDivergingPalette;
  } else if (options.colors != ColorMap::grey) {
    plan.palette = &kViridisPalette;
  }
  if (given || !any) return Status::success();
  plan.bounds = {summary.min, summary.max};
  if (diverging) {
    const double limit = std::max(std::abs(summary.min), std::abs(summary.max));
    plan.bounds = limit > 0 ? Bounds{-limit, limit} : Bounds{-1, 1};  // only zeros: white
  }
  return Status::success();
}

Result<Plan> make_plan(const TensorView& view, Layout layout, const ImageOptions& options) {
  Result<Axes> axes = arrange(view, layout);
  if (!axes) return axes.error();
  if (tensor::is_complex(view.dtype)) {
    return Status(Code::unsupported, "complex numbers have no order and cannot be drawn: draw their magnitude instead");
  }
  if (!std::isfinite(options.low) || !std::isfinite(options.high)) {
    return invalid("the bounds of a picture's values must be finite");
  }
  if (options.low > options.high) {
    return invalid("low is above high in the bounds of a picture's values: swap them, or leave both out");
  }
  if (options.max_cells < 1) return invalid("max_cells must be at least 1");
  Plan plan;
  plan.axes = *axes;
  if (Status status = choose_colors(view, options, plan); !status) return status;

  const std::int64_t height = plan.axes.height.size;
  const std::int64_t width = plan.axes.width.size;
  plan.cells = plan.axes.batch.size * (plan.colors == plan.axes.channel.size ? 1 : plan.axes.channel.size);
  plan.cells = std::min<std::int64_t>(plan.cells, options.max_cells);
  const bool too_large = height > kMaxPixels || width > kMaxPixels || plan.cells > kMaxPixels ||
                         (width + 1) > kMaxPixels / (height + 1) / plan.cells;
  if (too_large) {
    return invalid("a picture of " + std::to_string(plan.cells) + " times " + std::to_string(width) + "x" +
                   std::to_string(height) + " pixels is too large: draw a part of the tensor, or fewer cells");
  }
  plan.columns = grid_columns(plan.cells, width, height);
  plan.rows = (plan.cells + plan.columns - 1) / plan.columns;
  return plan;
}

class Painter {
 public:
  Painter(const TensorView& view, const Plan& plan)
      : view_(view), plan_(plan), reader_(reader_for(view.dtype)), width_(plan.axes.width.size), colors_(plan.colors) {}

  Picture paint() {
    if (!paint_all() && picture_.channels == 1) {
      plan_.palette = &kGreyPalette;
      paint_all();
    }
    return std::move(picture_);
  }

 private:
  // Returns whether all values were finite.
  bool paint_all() {
    const std::int64_t height = plan_.axes.height.size;
    picture_.channels = plan_.palette != nullptr ? 3 : static_cast<int>(colors_);
    picture_.width = static_cast<int>(plan_.columns * (width_ + 1) - 1);
    picture_.height = static_cast<int>(plan_.rows * (height + 1) - 1);
    const auto bytes = static_cast<std::size_t>(picture_.width) * static_cast<std::size_t>(picture_.height) *
                       static_cast<std::size_t>(picture_.channels);
    // A gap in RGBA is transparent: then every channel of it is zero.
    picture_.pixels.assign(bytes, picture_.channels == 4 ? 0 : kGapColor.red);
    const auto count = static_cast<std::size_t>(width_ * colors_);
    values_.resize(count);
    levels_.resize(count);
    const Palette& palette = plan_.palette != nullptr ? *plan_.palette : kGreyPalette;
    const Quantizer quantize(plan_.bounds.low, plan_.bounds.high, palette.first, palette.last);
    const std::int64_t per_image = colors_ == plan_.axes.channel.size ? 1 : plan_.axes.channel.size;
    bool finite = true;
    for (std::int64_t cell = 0; cell < plan_.cells; ++cell) {
      const std::int64_t left = cell % plan_.columns * (width_ + 1);
      const std::int64_t top = cell / plan_.columns * (height + 1);
      const std::byte* from = element(cell / per_image, cell % per_image);
      for (std::int64_t y = 0; y < height; ++y) {
        std::uint8_t* to = picture_.pixels.data() + ((top + y) * picture_.width + left) * picture_.channels;
        const std::byte* row = from + y * plan_.axes.height.stride * element_size();
        if (plan_.as_they_are) {
          copy_row(row, to);
        } else {
          finite &= paint_row(row, quantize, to);
        }
      }
    }
    return finite;
  }

  std::int64_t element_size() const noexcept { return static_cast<std::int64_t>(size_of(view_.dtype)); }
  const std::byte* element(std::int64_t image, std::int64_t channel) const noexcept {
    return static_cast<const std::byte*>(view_.data) +
           (image * plan_.axes.batch.stride + channel * plan_.axes.channel.stride) * element_size();
  }
  bool interleaved() const noexcept {
    return (colors_ == 1 || plan_.axes.channel.stride == 1) && (width_ == 1 || plan_.axes.width.stride == colors_);
  }

  void copy_row(const std::byte* row, std::uint8_t* to) const noexcept {
    if (interleaved()) {
      std::memcpy(to, row, static_cast<std::size_t>(width_ * colors_));
      return;
    }
    switch (colors_) {
      case 1: interleave<1>(row, to); break;
      case 3: interleave<3>(row, to); break;
      default: interleave<4>(row, to); break;
    }
  }
  template <int Colors>
  void interleave(const std::byte* row, std::uint8_t* to) const noexcept {
    const std::int64_t step = plan_.axes.width.stride;
    const std::int64_t plane = plan_.axes.channel.stride;
    for (std::int64_t x = 0; x < width_; ++x, row += step, to += Colors) {
      for (int c = 0; c < Colors; ++c) to[c] = static_cast<std::uint8_t>(row[c * plane]);
    }
  }

  bool paint_row(const std::byte* row, const Quantizer& quantize, std::uint8_t* to) noexcept {
    if (interleaved()) {
      reader_(row, width_ * colors_, 1, values_.data(), 1);
    } else {
      for (std::int64_t c = 0; c < colors_; ++c) {
        reader_(row + c * plan_.axes.channel.stride * element_size(), width_, plan_.axes.width.stride,
                values_.data() + c, colors_);
      }
    }
    std::uint8_t* levels = plan_.palette != nullptr ? levels_.data() : to;
    const bool finite = quantize(values_.data(), values_.size(), levels);
    if (plan_.palette != nullptr) {
      for (std::size_t x = 0; x < levels_.size(); ++x) put(to + 3 * x, plan_.palette->colors[levels_[x]]);
    }
    if (!finite && picture_.channels != 1) mark_nonfinite(to);
    return finite;
  }

  void mark_nonfinite(std::uint8_t* to) const noexcept {
    for (std::int64_t x = 0; x < width_; ++x) {
      const double* pixel = values_.data() + x * colors_;
      const bool nan = std::any_of(pixel, pixel + colors_, [](double value) { return std::isnan(value); });
      const bool infinite = std::any_of(pixel, pixel + colors_, [](double value) { return std::isinf(value); });
      if (!nan && !infinite) continue;
      std::uint8_t* out = to + x * picture_.channels;
      put(out, nan ? kNanColor : kInfinityColor);
      if (picture_.channels == 4) out[3] = 255;
    }
  }

  static void put(std::uint8_t* out, Color color) noexcept {
    out[0] = color.red;
    out[1] = color.green;
    out[2] = color.blue;
  }

  const TensorView& view_;
  Plan plan_;
  Reader reader_;
  std::int64_t width_;
  std::int64_t colors_;
  std::vector<double> values_;        // of one row of a cell
  std::vector<std::uint8_t> levels_;  // the same as indices into the palette
  Picture picture_;
};

Result<Picture> draw_by_axes(TensorView view, ImageOptions options) {
  const int rank = view.shape.rank();
  if (!view.valid() || rank == 4) return draw(view, Layout::NHWC, options);
  if (rank == 0 || rank > 4) {
    return invalid("the tensor " + type_text(view.dtype, view.shape) + " cannot be drawn: a picture has 1 to 4 axes");
  }
  const std::int64_t last = view.shape[rank - 1];
  const bool photograph = rank == 3 && (last == 3 || last == 4);
  const bool levels = view.dtype == DType::u8 || view.dtype == DType::u16 || view.dtype == DType::boolean;
  if (!photograph && !levels && options.colors == ColorMap::automatic) options.colors = ColorMap::grey;
  if (rank == 1) {
    view.shape = {1, last};
    view.strides = {0, view.strides[0]};
  }
  if (rank < 3) return draw(view, Layout::HW, options);
  return draw(view, photograph || last == 1 ? Layout::HWC : Layout::NHW, options);
}

}  // namespace

std::string_view to_string(Layout layout) noexcept {
  switch (layout) {
    case Layout::HW: return "HW";
    case Layout::HWC: return "HWC";
    case Layout::CHW: return "CHW";
    case Layout::NHW: return "NHW";
    case Layout::NHWC: return "NHWC";
    case Layout::NCHW: return "NCHW";
  }
  return "?";
}

Result<Picture> draw(const TensorView& view, std::optional<Layout> layout, const ImageOptions& options) {
  if (!layout) return draw_by_axes(view, options);
  Result<Plan> plan = make_plan(view, *layout, options);
  if (!plan) return plan.error();
  return Painter(view, *plan).paint();
}

}  // namespace sonde::render
