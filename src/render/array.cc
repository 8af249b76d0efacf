#include "render/array.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <limits>

#include "base/bytes.h"
#include "render/digits.h"
#include "tensor/convert.h"

namespace sonde::render {
namespace {

// The elements that are shown, in order. Axes that are too long contribute their edges only.
class Shown {
 public:
  Shown(const TensorView& view, const ArrayOptions& options)
      : view_(view), edge_(options.edge_items), cut_(view.size() > options.threshold) {}

  bool cut(int axis) const noexcept { return cut_ && view_.shape[axis] > 2 * edge_; }
  std::int64_t leading(int axis) const noexcept { return cut(axis) ? edge_ : 0; }
  std::int64_t trailing(int axis) const noexcept { return cut(axis) ? edge_ : view_.shape[axis]; }

  const std::byte* first() const noexcept { return static_cast<const std::byte*>(view_.data); }
  const std::byte* step(const std::byte* from, int axis, std::int64_t index) const noexcept {
    return from + index * view_.strides[axis] * static_cast<std::int64_t>(size_of(view_.dtype));
  }

  template <class F>
  void for_each(F&& use) const {
    walk(first(), 0, use);
  }
  const TensorView& view() const noexcept { return view_; }

 private:
  template <class F>
  void walk(const std::byte* at, int axis, F& use) const {
    if (axis == view_.shape.rank()) return use(at);
    const std::int64_t size = view_.shape[axis];
    for (std::int64_t i = 0; i < leading(axis); ++i) walk(step(at, axis, i), axis + 1, use);
    for (std::int64_t i = size - trailing(axis); i < size; ++i) walk(step(at, axis, i), axis + 1, use);
  }

  const TensorView& view_;
  std::int64_t edge_;
  bool cut_;
};

FloatType float_type(DType dtype) noexcept {
  if (dtype == DType::f16) return FloatType::f16;
  return dtype == DType::f64 || dtype == DType::c128 ? FloatType::f64 : FloatType::f32;
}

// A number as the type would hold it: NumPy compares and divides in the type of the array.
double round_to(double value, FloatType type) noexcept {
  switch (type) {
    case FloatType::f16: return static_cast<double>(tensor::to_float(tensor::to_float16(static_cast<float>(value))));
    case FloatType::f32: return static_cast<double>(static_cast<float>(value));
    case FloatType::f64: break;
  }
  return value;
}

// From here on integers are printed with an exponent: beyond the digits that the type is sure of.
double exponent_limit(FloatType type, double f64_limit) noexcept {
  return type == FloatType::f16 ? 1e3 : type == FloatType::f32 ? 1e6 : f64_limit;
}

// Prints floats of one array so that their points are below each other.
class FloatFormat {
 public:
  FloatFormat(FloatType type, int precision, bool plus) noexcept : type_(type), precision_(precision), plus_(plus) {}

  // Twice over all values that will be printed: first their range, which decides on the notation, then their widths.
  void see_range(double value) noexcept {
    if (!std::isfinite(value)) {
      nonfinite_ = true;
      negative_infinity_ |= std::isinf(value) && value < 0;
    } else if (value != 0) {
      min_ = std::min(min_, std::abs(value));
      max_ = std::max(max_, std::abs(value));
    }
  }
  void choose_notation() noexcept {
    if (max_ == 0) return;
    exponent_ =
        max_ >= exponent_limit(type_, 1e8) || min_ < round_to(0.0001, type_) || round_to(max_ / min_, type_) > 1000;
  }
  void see_width(double value) {
    if (!std::isfinite(value)) return;
    const std::string text = exponent_ ? scientific(value, type_, precision_) : positional(value, type_, precision_);
    const std::size_t point = text.find('.');
    const std::size_t e = exponent_ ? text.find('e') : text.size();
    left_ = std::max(left_, point + (plus_ && !std::signbit(value) ? 1 : 0));
    digits_ = std::max(digits_, e - point - 1);
    if (exponent_) exponent_digits_ = std::max(exponent_digits_, text.size() - e - 2);
  }
  void finish() noexcept {
    right_ = exponent_ && left_ > 0 ? digits_ + exponent_digits_ + 2 : digits_;
    if (!nonfinite_) return;
    const std::size_t longest = plus_ || negative_infinity_ ? 4 : 3;
    left_ = std::max(left_, longest - std::min(longest, right_ + 1));
  }

  std::string operator()(double value) const {
    if (!std::isfinite(value)) {
      const std::string sign = std::isinf(value) && value < 0 ? "-" : plus_ ? "+" : "";
      return pad_left(sign + (std::isnan(value) ? "nan" : "inf"), left_ + right_ + 1);
    }
    const std::string sign = plus_ && !std::signbit(value) ? "+" : "";
    const auto digits = static_cast<int>(digits_);
    std::string text = sign + (exponent_ ? scientific(value, type_, digits, digits, static_cast<int>(exponent_digits_))
                                         : positional(value, type_, precision_));
    const std::size_t point = text.find('.');
    text.insert(0, left_ - std::min(left_, point), ' ');
    if (!exponent_) text.resize(std::max(text.size(), left_ + 1 + right_), ' ');
    return text;
  }

  static std::string pad_left(std::string text, std::size_t width) {
    if (text.size() < width) text.insert(0, width - text.size(), ' ');
    return text;
  }

 private:
  FloatType type_;
  int precision_;
  bool plus_;  // a sign before positive values too
  bool exponent_ = false;
  bool nonfinite_ = false;
  bool negative_infinity_ = false;
  double min_ = std::numeric_limits<double>::infinity();  // of the magnitudes that are not zero
  double max_ = 0;
  std::size_t left_ = 0;    // characters before the point,
  std::size_t digits_ = 0;  // digits after it,
  std::size_t right_ = 0;   // and characters after it
  std::size_t exponent_digits_ = 2;
};

// NumPy's text of a single float, by the rules of Python's own: all digits, and no padding.
std::string scalar_text(double value, FloatType type, bool point_zero) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const double magnitude = std::abs(value);
  if (magnitude == 0 || (magnitude >= 1e-4 && magnitude < exponent_limit(type, 1e16))) {
    std::string text = positional(value, type);
    if (text.back() == '.') point_zero ? text.push_back('0') : text.pop_back();
    return text;
  }
  std::string text = scientific(value, type);
  const std::size_t bare = text.find(".e");
  if (bare != std::string::npos) text.erase(bare, 1);
  return text;
}

std::string complex_scalar_text(double real, double imaginary, FloatType type) {
  std::string text = scalar_text(imaginary, type, false) + 'j';
  if (real == 0 && !std::signbit(real)) return text;
  const bool signed_text = text[0] == '-';
  return '(' + scalar_text(real, type, false) + (signed_text ? "" : "+") + text + ')';
}

std::string integer_text(const std::byte* at, DType dtype) {
  switch (dtype) {
    case DType::i64: return std::to_string(base::load<std::int64_t>(at));
    case DType::u64: return std::to_string(base::load<std::uint64_t>(at));
    default: return std::to_string(static_cast<std::int64_t>(tensor::element_as_double(at, dtype)));
  }
}

bool is_integer(DType dtype) noexcept { return dtype >= DType::i8 && dtype <= DType::u64; }

double imaginary_part(const std::byte* at, DType dtype) noexcept {
  return tensor::element_as_double(at + size_of(dtype) / 2, dtype);
}

using Format = std::function<std::string(const std::byte*)>;

FloatFormat fit_floats(const Shown& shown, int precision, bool plus, double (*part)(const std::byte*, DType)) {
  const DType dtype = shown.view().dtype;
  FloatFormat format(float_type(dtype), precision, plus);
  shown.for_each([&](const std::byte* at) { format.see_range(part(at, dtype)); });
  format.choose_notation();
  shown.for_each([&](const std::byte* at) { format.see_width(part(at, dtype)); });
  format.finish();
  return format;
}

double real_part(const std::byte* at, DType dtype) noexcept { return tensor::element_as_double(at, dtype); }

// How one element is written, aligned with all that are shown.
Format fit(const Shown& shown, int precision) {
  const DType dtype = shown.view().dtype;
  if (dtype == DType::boolean) {
    return [](const std::byte* at) -> std::string { return base::load<std::uint8_t>(at) != 0 ? " True" : "False"; };
  }
  if (is_integer(dtype)) {
    std::size_t width = 0;
    shown.for_each([&](const std::byte* at) { width = std::max(width, integer_text(at, dtype).size()); });
    return [=](const std::byte* at) { return FloatFormat::pad_left(integer_text(at, dtype), width); };
  }
  const FloatFormat real = fit_floats(shown, precision, false, real_part);
  if (!tensor::is_complex(dtype)) return [=](const std::byte* at) { return real(real_part(at, dtype)); };
  const FloatFormat imaginary = fit_floats(shown, precision, true, imaginary_part);
  return [=](const std::byte* at) {
    std::string text = real(real_part(at, dtype)) + imaginary(imaginary_part(at, dtype));
    text.insert(text.find_last_not_of(' ') + 1, 1, 'j');
    return text;
  };
}

// Brackets, line breaks and dots around the elements.
class Layouter {
 public:
  Layouter(const Shown& shown, Format format, int line_width)
      : shown_(shown), format_(std::move(format)), line_width_(line_width) {}

  std::string run() {
    axis(shown_.first(), 0);
    return std::move(out_);
  }

 private:
  void axis(const std::byte* at, int axis_index) {
    const bool innermost = axis_index + 1 == shown_.view().shape.rank();
    const std::int64_t size = shown_.view().shape[axis_index];
    out_ += '[';
    line_ = indent(axis_index);
    bool first = true;
    const auto entry = [&](std::int64_t index) {
      if (!first && !innermost) new_rows(axis_index);
      if (!innermost) {
        axis(shown_.step(at, axis_index, index), axis_index + 1);
      } else {
        word(format_(shown_.step(at, axis_index, index)), axis_index, first);
      }
      first = false;
    };
    for (std::int64_t i = 0; i < shown_.leading(axis_index); ++i) entry(i);
    if (shown_.cut(axis_index)) {
      if (innermost) {
        word("...", axis_index, first);
      } else {
        if (!first) new_rows(axis_index);
        out_ += "...";
      }
      first = false;
    }
    for (std::int64_t i = size - shown_.trailing(axis_index); i < size; ++i) entry(i);
    out_ += ']';
  }

  // One word of a row, after a blank; on a new line if it does not fit together with its closing brackets.
  void word(const std::string& text, int axis_index, bool first) {
    if (!first) {
      out_ += ' ';
      ++line_;
    }
    if (line_ + text.size() > width(axis_index) && line_ > indent(axis_index)) {
      out_.erase(out_.find_last_not_of(' ') + 1);
      out_ += '\n';
      out_.append(indent(axis_index), ' ');
      line_ = indent(axis_index);
    }
    out_ += text;
    line_ += text.size();
  }

  // Between the entries of an outer axis: one empty line more for each axis further out.
  void new_rows(int axis_index) {
    out_.append(static_cast<std::size_t>(shown_.view().shape.rank() - axis_index - 1), '\n');
    out_.append(indent(axis_index), ' ');
  }

  static std::size_t indent(int axis_index) noexcept { return static_cast<std::size_t>(axis_index) + 1; }
  std::size_t width(int axis_index) const noexcept {
    return static_cast<std::size_t>(std::max(0, line_width_ - axis_index - 1));
  }

  const Shown& shown_;
  Format format_;
  int line_width_;
  std::string out_;
  std::size_t line_ = 0;  // characters in the current line
};

}  // namespace

std::string numpy_style(const TensorView& view, const ArrayOptions& options) {
  if (!view.valid() || view.size() == 0) return "[]";
  const Shown shown(view, options);
  if (view.shape.rank() > 0) return Layouter(shown, fit(shown, options.precision), options.line_width).run();

  const std::byte* at = shown.first();
  const FloatType type = float_type(view.dtype);
  if (view.dtype == DType::boolean) return base::load<std::uint8_t>(at) != 0 ? "True" : "False";
  if (is_integer(view.dtype)) return integer_text(at, view.dtype);
  if (tensor::is_complex(view.dtype)) {
    return complex_scalar_text(real_part(at, view.dtype), imaginary_part(at, view.dtype), type);
  }
  return scalar_text(real_part(at, view.dtype), type, true);
}

}  // namespace sonde::render
