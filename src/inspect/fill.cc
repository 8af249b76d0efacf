#include "inspect/fill.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <vector>

#include "base/bytes.h"
#include "tensor/convert.h"

namespace sonde::inspect {
namespace {

// SplitMix64.
std::uint64_t next_bits(std::uint64_t& state) noexcept {
  std::uint64_t mixed = (state += 0x9e3779b97f4a7c15U);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
  return mixed ^ (mixed >> 31);
}
// In (0, 1).
double next_uniform(std::uint64_t& state) noexcept {
  return (static_cast<double>(next_bits(state) >> 11) + 0.5) * 0x1p-53;
}
// Box and Muller's method, of which one value of two is used.
double next_normal(std::uint64_t& state) noexcept {
  const double radius = std::sqrt(-2 * std::log(next_uniform(state)));
  return radius * std::cos(2 * std::numbers::pi * next_uniform(state));
}

template <class T>
void put_as(std::byte* at, T value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

template <class Integer>
bool put_integer(std::byte* at, double value) noexcept {
  if (value != std::floor(value) || value < static_cast<double>(std::numeric_limits<Integer>::lowest()) ||
      value > static_cast<double>(std::numeric_limits<Integer>::max())) {
    return false;
  }
  put_as(at, static_cast<Integer>(value));
  return true;
}

// False if the type cannot hold the value.
bool put_number(std::byte* at, DType dtype, double value) noexcept {
  const auto single = static_cast<float>(value);
  switch (dtype) {
    case DType::boolean: put_as(at, static_cast<std::uint8_t>(value != 0)); return true;
    case DType::i8: return put_integer<std::int8_t>(at, value);
    case DType::i16: return put_integer<std::int16_t>(at, value);
    case DType::i32: return put_integer<std::int32_t>(at, value);
    case DType::i64: return put_integer<std::int64_t>(at, value);
    case DType::u8: return put_integer<std::uint8_t>(at, value);
    case DType::u16: return put_integer<std::uint16_t>(at, value);
    case DType::u32: return put_integer<std::uint32_t>(at, value);
    case DType::u64: return put_integer<std::uint64_t>(at, value);
    case DType::f8_e4m3: put_as(at, tensor::to_float8_e4m3(single)); return true;
    case DType::f8_e5m2: put_as(at, tensor::to_float8_e5m2(single)); return true;
    case DType::f16: put_as(at, tensor::to_float16(single)); return true;
    case DType::bf16: put_as(at, tensor::to_bfloat16(single)); return true;
    case DType::f32: put_as(at, single); return true;
    case DType::f64: put_as(at, value); return true;
    default: return false;
  }
}

bool is_integer(DType dtype) noexcept { return dtype >= DType::i8 && dtype <= DType::u64; }

Tensor empty_tensor(DType dtype, const Shape& shape) {
  Tensor made{dtype, shape, {}};
  made.data.resize(static_cast<std::size_t>(std::max<std::int64_t>(element_count(shape), 0)) * size_of(dtype));
  return made;
}

Status no_type(const Value& input) {
  return {Code::unsupported, "values of input '" + input.name + "' cannot be made: its type is " +
                                 (input.type.empty() ? "not known" : input.type)};
}

}  // namespace

Result<Tensor> random_for(const Value& input, const std::optional<std::pair<std::int64_t, std::int64_t>>& range,
                          std::uint64_t& state) {
  if (!input.dtype || *input.dtype == DType::c64 || *input.dtype == DType::c128) return no_type(input);
  const DType dtype = *input.dtype;
  if (!input.shape) {
    return Status(Code::unsupported,
                  "random values of input '" + input.name + "' cannot be made: the model does not say its rank");
  }
  if (is_integer(dtype) && !range) {
    return Status(Code::invalid_argument, "input '" + input.name + "' holds integers: say which with --range LOW,HIGH");
  }
  Shape shape = *input.shape;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] < 0) shape[axis] = 1;
  }
  if (element_count(shape) < 0 || element_count(shape) > (std::int64_t{1} << 34)) {
    return Status(Code::exhausted, "random values of input '" + input.name + "' would take too much memory");
  }
  Tensor made = empty_tensor(dtype, shape);
  for (std::size_t at = 0; at < made.data.size(); at += size_of(dtype)) {
    double value = 0;
    if (dtype == DType::boolean) {
      value = static_cast<double>(next_bits(state) >> 63);
    } else if (is_integer(dtype)) {
      const auto span = static_cast<std::uint64_t>(range->second - range->first) + 1;
      value = static_cast<double>(range->first + static_cast<std::int64_t>(span == 0 ? 0 : next_bits(state) % span));
    } else {
      value = next_normal(state);
    }
    if (!put_number(made.data.data() + at, dtype, value)) {
      return Status(Code::invalid_argument, "--range does not fit input '" + input.name + "', which is " + input.type);
    }
  }
  return made;
}

Result<Tensor> picture_for(const Value& input, const Tensor& picture) {
  if (!input.dtype) return no_type(input);
  const std::int64_t height = picture.shape[0];
  const std::int64_t width = picture.shape[1];
  const std::int64_t channels = picture.shape[2];
  const int rank = input.shape ? input.shape->rank() : 4;
  if (rank < 2 || rank > 4) return Status(Code::invalid_argument, "a picture does not fit input '" + input.name + "'");
  if (rank == 2 && channels != 1) {
    return Status(Code::invalid_argument, "input '" + input.name + "' takes a grey picture, but this one has " +
                                              std::to_string(channels) + " channels");
  }
  // Channels come last if the model's last axis says so, and first if it does not contradict that.
  const bool last =
      rank >= 3 && input.shape && (*input.shape)[rank - 1] == channels && (*input.shape)[rank - 3] != channels;
  Shape shape;
  if (rank == 4) shape.push_back(1);
  if (rank >= 3 && !last) shape.push_back(channels);
  shape.push_back(height);
  shape.push_back(width);
  if (rank >= 3 && last) shape.push_back(channels);

  Tensor made = empty_tensor(*input.dtype, shape);
  const double full = picture.dtype == DType::u16 ? 65535 : 255;
  const std::size_t size = size_of(*input.dtype);
  std::size_t to = 0;
  const std::int64_t outer = last ? 1 : channels;
  const std::int64_t inner = last ? channels : 1;
  for (std::int64_t c = 0; c < outer; ++c) {
    for (std::int64_t pixel = 0; pixel < height * width; ++pixel) {
      for (std::int64_t i = 0; i < inner; ++i, to += size) {
        const auto from = static_cast<std::size_t>(pixel * channels + c + i) * size_of(picture.dtype);
        double value = tensor::element_as_double(picture.data.data() + from, picture.dtype);
        if (!is_integer(*input.dtype)) value /= full;
        if (!put_number(made.data.data() + to, *input.dtype, value)) {
          return Status(Code::invalid_argument,
                        "its values do not fit input '" + input.name + "', which is " + input.type);
        }
      }
    }
  }
  return made;
}

Result<Tensor> table_for(const Value& input, const Tensor& table) {
  if (!input.dtype) return no_type(input);
  const std::int64_t rows = table.shape[0];
  const std::int64_t columns = table.shape[1];
  Shape shape = table.shape;
  if (input.shape) {
    std::int64_t behind = 1;
    for (int axis = 1; axis < input.shape->rank(); ++axis) behind *= (*input.shape)[axis];
    const bool known = std::ranges::all_of(input.shape->begin() + std::min(1, input.shape->rank()), input.shape->end(),
                                           [](std::int64_t dim) { return dim >= 0; });
    if (input.shape->rank() >= 1 && known && behind == columns) {
      shape = *input.shape;
      shape[0] = rows;
    } else if (input.shape->rank() == 1 && (rows == 1 || columns == 1)) {
      shape = {rows * columns};
    } else if (input.shape->rank() == 0 && rows * columns == 1) {
      shape = {};
    }
  }
  Tensor made = empty_tensor(*input.dtype, shape);
  const std::size_t size = size_of(*input.dtype);
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const double value = base::load<double>(table.data.data() + static_cast<std::size_t>(i) * sizeof(double));
    if (!put_number(made.data.data() + static_cast<std::size_t>(i) * size, *input.dtype, value)) {
      return Status(Code::invalid_argument, "row " + std::to_string(i / columns + 1) + ", column " +
                                                std::to_string(i % columns + 1) + " does not fit input '" + input.name +
                                                "', which is " + input.type);
    }
  }
  return made;
}

}  // namespace sonde::inspect
