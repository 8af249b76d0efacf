#include "stats/gather.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "stats/kernels.h"
#include "tensor/convert.h"

namespace sonde::stats {
namespace {

template <class Element, class Value>
void cast(const std::byte* at, std::int64_t count, std::int64_t stride, Value* out) noexcept {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(Element));
  if (stride == 1) {  // apart, so that the compiler can vectorise it
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<Value>(base::load<Element>(at + i * kSize));
  } else {
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<Value>(base::load<Element>(at + i * stride * kSize));
  }
}

using Widen = void (*)(const std::uint16_t* bits, std::size_t count, float* out) noexcept;

// Widening needs dense and aligned input; other input goes through a small buffer.
void widen(const std::byte* at, std::int64_t count, std::int64_t stride, Widen widen_dense, float* out) noexcept {
  if (stride == 1 && reinterpret_cast<std::uintptr_t>(at) % alignof(std::uint16_t) == 0) {
    return widen_dense(reinterpret_cast<const std::uint16_t*>(at), static_cast<std::size_t>(count), out);
  }
  std::array<std::uint16_t, 256> bits;
  while (count > 0) {
    const std::int64_t piece = std::min<std::int64_t>(count, bits.size());
    cast<std::uint16_t>(at, piece, stride, bits.data());
    widen_dense(bits.data(), static_cast<std::size_t>(piece), out);
    at += piece * stride * static_cast<std::int64_t>(sizeof(std::uint16_t));
    out += piece;
    count -= piece;
  }
}

using Table = std::array<float, 256>;

template <class Float8>
Table make_table() noexcept {
  Table table;
  for (std::size_t bits = 0; bits < table.size(); ++bits)
    table[bits] = tensor::to_float(Float8{static_cast<std::uint8_t>(bits)});
  return table;
}

void look_up(const std::byte* at, std::int64_t count, std::int64_t stride, const Table& table, float* out) noexcept {
  for (std::int64_t i = 0; i < count; ++i) out[i] = table[base::load<std::uint8_t>(at + i * stride)];
}

}  // namespace

bool is_float_exact(DType dtype) noexcept {
  switch (dtype) {
    case DType::boolean:
    case DType::i8:
    case DType::i16:
    case DType::u8:
    case DType::u16:
    case DType::f8_e4m3:
    case DType::f8_e5m2:
    case DType::f16:
    case DType::bf16:
    case DType::f32: return true;
    default: return false;
  }
}

void gather(DType dtype, const std::byte* at, std::int64_t count, std::int64_t stride, float* out) noexcept {
  static const Table e4m3 = make_table<Float8E4M3>();
  static const Table e5m2 = make_table<Float8E5M2>();
  switch (dtype) {
    case DType::boolean:
      for (std::int64_t i = 0; i < count; ++i) out[i] = base::load<std::uint8_t>(at + i * stride) != 0 ? 1.0F : 0.0F;
      break;
    case DType::i8: cast<std::int8_t>(at, count, stride, out); break;
    case DType::i16: cast<std::int16_t>(at, count, stride, out); break;
    case DType::u8: cast<std::uint8_t>(at, count, stride, out); break;
    case DType::u16: cast<std::uint16_t>(at, count, stride, out); break;
    case DType::f8_e4m3: look_up(at, count, stride, e4m3, out); break;
    case DType::f8_e5m2: look_up(at, count, stride, e5m2, out); break;
    case DType::f16: widen(at, count, stride, widen_f16, out); break;
    case DType::bf16: widen(at, count, stride, widen_bf16, out); break;
    default: cast<float>(at, count, stride, out); break;
  }
}

void gather(DType dtype, const std::byte* at, std::int64_t count, std::int64_t stride, double* out) noexcept {
  switch (dtype) {
    case DType::i32: cast<std::int32_t>(at, count, stride, out); break;
    case DType::i64: cast<std::int64_t>(at, count, stride, out); break;
    case DType::u32: cast<std::uint32_t>(at, count, stride, out); break;
    case DType::u64: cast<std::uint64_t>(at, count, stride, out); break;
    default: cast<double>(at, count, stride, out); break;
  }
}

}  // namespace sonde::stats
