#include "tensor/convert.h"

#include <array>
#include <bit>
#include <limits>

#include "base/bytes.h"
#include "tensor/copy.h"
#include "tensor/why_invalid.h"

namespace sonde::tensor {
namespace {

// A small float of `Exponent` and `Mantissa` bits below a sign bit, IEEE-like except e4m3fn, which has no infinities.
template <int Exponent, int Mantissa, bool Infinities>
float decode(std::uint32_t bits) noexcept {
  constexpr std::uint32_t kMaxExponent = (1U << Exponent) - 1;
  constexpr int kBias = (1 << (Exponent - 1)) - 1;
  const std::uint32_t sign = (bits >> (Exponent + Mantissa)) & 1;
  const std::uint32_t exponent = (bits >> Mantissa) & kMaxExponent;
  const std::uint32_t mantissa = bits & ((1U << Mantissa) - 1);
  float magnitude = 0;
  if (Infinities && exponent == kMaxExponent) {
    magnitude = mantissa == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  } else if (!Infinities && exponent == kMaxExponent && mantissa == (1U << Mantissa) - 1) {
    magnitude = std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    constexpr auto kSmallest = std::bit_cast<float>(static_cast<std::uint32_t>(128 - kBias - Mantissa) << 23);
    magnitude = static_cast<float>(mantissa) * kSmallest;
  } else {
    magnitude = std::bit_cast<float>(((exponent + (127 - kBias)) << 23) | (mantissa << (23 - Mantissa)));
  }
  return sign != 0 ? -magnitude : magnitude;
}

// Round to nearest even, in integers: `value` as f32 bits to a float of the given widths.
template <int Exponent, int Mantissa, bool Infinities>
std::uint32_t encode(float value) noexcept {
  constexpr int kBias = (1 << (Exponent - 1)) - 1;
  constexpr std::uint32_t kMaxExponent = (1U << Exponent) - 1;
  constexpr std::uint32_t kInfinity = kMaxExponent << Mantissa;
  constexpr std::uint32_t kNan = Infinities ? kInfinity | (1U << (Mantissa - 1)) : kInfinity | ((1U << Mantissa) - 1);
  constexpr std::uint32_t kOverflow = Infinities ? kInfinity : kNan;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 31) << (Exponent + Mantissa);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return sign | kNan;
  if (magnitude == 0x7f800000U) return sign | kOverflow;
  if (magnitude == 0) return sign;

  // The value is significand * 2^(exponent - 23), with bit 23 set unless it is an f32 subnormal.
  int exponent = static_cast<int>(magnitude >> 23) - 127;
  std::uint64_t significand = magnitude & 0x7fffffU;
  if (exponent == -127) {
    exponent = -126;
  } else {
    significand |= 0x800000U;
  }
  int shift = 23 - Mantissa;
  if (exponent < 1 - kBias) shift += 1 - kBias - exponent;
  if (shift > 40) return sign;
  const std::uint64_t kept = significand >> shift;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = shift > 0 ? std::uint64_t{1} << (shift - 1) : 0;
  const std::uint64_t up = shift > 0 && (rest > half || (rest == half && (kept & 1) != 0)) ? 1 : 0;
  // For normal numbers the hidden bit carries into the exponent field by itself.
  const std::uint64_t biased = exponent < 1 - kBias ? 0 : static_cast<std::uint64_t>(exponent + kBias - 1) << Mantissa;
  const std::uint64_t result = biased + kept + up;
  if (Infinities ? result >= kInfinity : result >= kNan) return sign | kOverflow;
  return sign | static_cast<std::uint32_t>(result);
}

}  // namespace

float to_float(Float16 value) noexcept { return decode<5, 10, true>(value.bits); }
float to_float(BFloat16 value) noexcept { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }
float to_float(Float8E4M3 value) noexcept { return decode<4, 3, false>(value.bits); }
float to_float(Float8E5M2 value) noexcept { return decode<5, 2, true>(value.bits); }

Float16 to_float16(float value) noexcept { return {static_cast<std::uint16_t>(encode<5, 10, true>(value))}; }
BFloat16 to_bfloat16(float value) noexcept { return {static_cast<std::uint16_t>(encode<8, 7, true>(value))}; }
Float8E4M3 to_float8_e4m3(float value) noexcept { return {static_cast<std::uint8_t>(encode<4, 3, false>(value))}; }
Float8E5M2 to_float8_e5m2(float value) noexcept { return {static_cast<std::uint8_t>(encode<5, 2, true>(value))}; }

double element_as_double(const void* data, DType dtype) noexcept {
  switch (dtype) {
    case DType::boolean: return base::load<std::uint8_t>(data) != 0 ? 1 : 0;
    case DType::i8: return base::load<std::int8_t>(data);
    case DType::i16: return base::load<std::int16_t>(data);
    case DType::i32: return base::load<std::int32_t>(data);
    case DType::i64: return static_cast<double>(base::load<std::int64_t>(data));
    case DType::u8: return base::load<std::uint8_t>(data);
    case DType::u16: return base::load<std::uint16_t>(data);
    case DType::u32: return base::load<std::uint32_t>(data);
    case DType::u64: return static_cast<double>(base::load<std::uint64_t>(data));
    case DType::f8_e4m3: return static_cast<double>(to_float(base::load<Float8E4M3>(data)));
    case DType::f8_e5m2: return static_cast<double>(to_float(base::load<Float8E5M2>(data)));
    case DType::f16: return static_cast<double>(to_float(base::load<Float16>(data)));
    case DType::bf16: return static_cast<double>(to_float(base::load<BFloat16>(data)));
    case DType::f32:
    case DType::c64: return static_cast<double>(base::load<float>(data));
    case DType::f64:
    case DType::c128: return base::load<double>(data);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

Result<std::vector<double>> to_doubles(const TensorView& view) {
  if (!view.valid())
    return Status(Code::invalid_argument, "the tensor cannot be read: " + std::string(why_invalid(view)));
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(view.size()));
  const auto size = static_cast<std::ptrdiff_t>(size_of(view.dtype));
  for_each_run(view, [&](const std::byte* at, std::int64_t count, std::int64_t stride) {
    for (std::int64_t i = 0; i < count; ++i) values.push_back(element_as_double(at + i * stride * size, view.dtype));
  });
  return values;
}

}  // namespace sonde::tensor
