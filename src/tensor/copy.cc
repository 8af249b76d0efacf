#include "tensor/copy.h"

#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/bytes.h"

namespace sonde::tensor {
namespace {

// The same elements in the same order with as few axes as possible: axes of size 1 are removed, and neighbouring axes
// that are contiguous in memory are joined.
void join_axes(TensorView& view) noexcept {
  Shape shape;
  Shape strides;
  for (int axis = 0; axis < view.shape.rank(); ++axis) {
    const std::int64_t size = view.shape[axis];
    const std::int64_t stride = view.strides[axis];
    if (size == 1) continue;
    const int last = shape.rank() - 1;
    if (last >= 0 && strides[last] == stride * size) {
      shape[last] *= size;
      strides[last] = stride;
    } else {
      shape.push_back(size);
      strides.push_back(stride);
    }
  }
  if (shape.rank() == 0) {
    shape.push_back(1);
    strides.push_back(1);
  }
  view.shape = shape;
  view.strides = strides;
}

template <std::size_t Size>
void gather(const std::byte* from, std::int64_t count, std::int64_t stride, std::byte* to) noexcept {
  struct Raw {
    std::byte bytes[Size];
  };
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * static_cast<std::int64_t>(Size), from + i * stride * static_cast<std::int64_t>(Size),
                sizeof(Raw));
  }
}

// From here on it is worth waiting at the end for the stores to arrive.
constexpr std::size_t kPastCache = std::size_t{8} << 10;

void copy_past_cache(const std::byte* from, std::byte* to, std::size_t bytes) noexcept {
#ifdef __SSE2__
  constexpr std::size_t kLine = 64;
  for (; bytes >= kLine; from += kLine, to += kLine, bytes -= kLine) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* line = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(line, a);
    _mm_stream_si128(line + 1, b);
    _mm_stream_si128(line + 2, c);
    _mm_stream_si128(line + 3, d);
  }
  _mm_sfence();
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace

void for_each_run(const TensorView& view, const RunBody& run) {
  if (view.size() <= 0) return;
  TensorView joined = view;
  join_axes(joined);
  const auto size = static_cast<std::int64_t>(size_of(joined.dtype));
  const int inner = joined.shape.rank() - 1;
  std::array<std::int64_t, kMaxRank> index{};
  const auto* at = static_cast<const std::byte*>(joined.data);
  for (;;) {
    run(at, joined.shape[inner], joined.strides[inner]);
    int axis = inner - 1;
    for (; axis >= 0; --axis) {
      auto& i = index[static_cast<std::size_t>(axis)];
      at += joined.strides[axis] * size;
      if (++i < joined.shape[axis]) break;
      at -= joined.strides[axis] * size * joined.shape[axis];
      i = 0;
    }
    if (axis < 0) return;
  }
}

void copy_dense(const TensorView& view, void* out) noexcept {
  if (view.contiguous()) {
    if (view.size() > 0) std::memcpy(out, view.data, byte_size(view));
    return;
  }
  auto* to = static_cast<std::byte*>(out);
  const std::size_t size = size_of(view.dtype);
  for_each_run(view, [&](const std::byte* from, std::int64_t count, std::int64_t stride) {
    const std::size_t bytes = static_cast<std::size_t>(count) * size;
    if (stride == 1) {
      std::memcpy(to, from, bytes);
    } else {
      switch (size) {
        case 1: gather<1>(from, count, stride, to); break;
        case 2: gather<2>(from, count, stride, to); break;
        case 4: gather<4>(from, count, stride, to); break;
        case 8: gather<8>(from, count, stride, to); break;
        default: gather<16>(from, count, stride, to); break;
      }
    }
    to += bytes;
  });
}

void copy_dense_past_cache(const TensorView& view, void* out) noexcept {
  const std::size_t bytes = byte_size(view);
  if (bytes < kPastCache || !view.contiguous()) return copy_dense(view, out);
  copy_past_cache(static_cast<const std::byte*>(view.data), static_cast<std::byte*>(out), bytes);
}

}  // namespace sonde::tensor
