#include "embed/kernels.h"

#include <algorithm>
#include <cmath>

// This file is compiled once for each target: foreach_target.h includes it again and again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "embed/kernels.cc"  // NOLINT
#include <hwy/foreach_target.h>                // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sonde::embed::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

// Four rows by two vectors: enough independent sums to keep the multipliers busy.
HWY_INLINE void multiply_tile(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::size_t depth,
                              std::size_t width, float* HWY_RESTRICT c, std::size_t stride, bool add) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  auto c00 = hn::Zero(d), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00, c30 = c00, c31 = c00;
  for (std::size_t k = 0; k < depth; ++k) {
    const auto b0 = hn::LoadU(d, b);
    const auto b1 = hn::LoadU(d, b + lanes);
    const auto a0 = hn::Set(d, a[0]);
    const auto a1 = hn::Set(d, a[1]);
    const auto a2 = hn::Set(d, a[2]);
    const auto a3 = hn::Set(d, a[3]);
    c00 = hn::MulAdd(a0, b0, c00);
    c01 = hn::MulAdd(a0, b1, c01);
    c10 = hn::MulAdd(a1, b0, c10);
    c11 = hn::MulAdd(a1, b1, c11);
    c20 = hn::MulAdd(a2, b0, c20);
    c21 = hn::MulAdd(a2, b1, c21);
    c30 = hn::MulAdd(a3, b0, c30);
    c31 = hn::MulAdd(a3, b1, c31);
    a += width;
    b += width;
  }
  const auto store = [&](float* HWY_RESTRICT to, Vector low, Vector high) HWY_ATTR {
    if (add) {
      low = hn::Add(low, hn::LoadU(d, to));
      high = hn::Add(high, hn::LoadU(d, to + lanes));
    }
    hn::StoreU(low, d, to);
    hn::StoreU(high, d, to + lanes);
  };
  store(c, c00, c01);
  store(c + stride, c10, c11);
  store(c + 2 * stride, c20, c21);
  store(c + 3 * stride, c30, c31);
}

// q = 1 / (1 + squared distance), to the precision of a float.
HWY_INLINE Vector reciprocal(Floats d, Vector value) {
  const auto guess = hn::ApproximateReciprocal(value);
  return hn::Mul(guess, hn::NegMulAdd(value, guess, hn::Set(d, 2.0F)));
}

template <std::size_t kDims>
void attract_in(const float* const* y, std::size_t point, const std::uint32_t* HWY_RESTRICT to,
                const float* HWY_RESTRICT weight, std::size_t edges, float* HWY_RESTRICT force) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, 1.0F);
  const auto x0 = hn::Set(d, y[0][point]);
  const auto x1 = hn::Set(d, y[1][point]);
  const auto x2 = hn::Set(d, kDims > 2 ? y[kDims - 1][point] : 0.0F);
  auto f0 = hn::Zero(d), f1 = f0, f2 = f0;
  for (std::size_t e = 0; e < edges; e += lanes) {
    const auto at = hn::LoadU(di, reinterpret_cast<const std::int32_t*>(to + e));
    const auto d0 = hn::Sub(x0, hn::GatherIndex(d, y[0], at));
    const auto d1 = hn::Sub(x1, hn::GatherIndex(d, y[1], at));
    auto squares = hn::MulAdd(d0, d0, hn::MulAdd(d1, d1, one));
    auto d2 = hn::Zero(d);
    if constexpr (kDims > 2) {
      d2 = hn::Sub(x2, hn::GatherIndex(d, y[2], at));
      squares = hn::MulAdd(d2, d2, squares);
    }
    const auto pull = hn::Mul(hn::LoadU(d, weight + e), reciprocal(d, squares));
    f0 = hn::MulAdd(pull, d0, f0);
    f1 = hn::MulAdd(pull, d1, f1);
    if constexpr (kDims > 2) f2 = hn::MulAdd(pull, d2, f2);
  }
  force[0] = hn::GetLane(hn::SumOfLanes(d, f0));
  force[1] = hn::GetLane(hn::SumOfLanes(d, f1));
  if constexpr (kDims > 2) force[2] = hn::GetLane(hn::SumOfLanes(d, f2));
}

template <std::size_t kDims>
double repel_in(const float* const* y, std::size_t count, std::size_t point, float* HWY_RESTRICT force) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, 1.0F);
  const auto x0 = hn::Set(d, y[0][point]);
  const auto x1 = hn::Set(d, y[1][point]);
  const auto x2 = hn::Set(d, kDims > 2 ? y[kDims - 1][point] : 0.0F);
  auto f0 = hn::Zero(d), f1 = f0, f2 = f0, sum = f0;
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    const auto d0 = hn::Sub(x0, hn::LoadU(d, y[0] + j));
    const auto d1 = hn::Sub(x1, hn::LoadU(d, y[1] + j));
    auto squares = hn::MulAdd(d0, d0, hn::MulAdd(d1, d1, one));
    auto d2 = hn::Zero(d);
    if constexpr (kDims > 2) {
      d2 = hn::Sub(x2, hn::LoadU(d, y[2] + j));
      squares = hn::MulAdd(d2, d2, squares);
    }
    const auto q = reciprocal(d, squares);
    sum = hn::Add(sum, q);
    const auto push = hn::Mul(q, q);
    f0 = hn::MulAdd(push, d0, f0);
    f1 = hn::MulAdd(push, d1, f1);
    if constexpr (kDims > 2) f2 = hn::MulAdd(push, d2, f2);
  }
  force[0] = hn::GetLane(hn::SumOfLanes(d, f0));
  force[1] = hn::GetLane(hn::SumOfLanes(d, f1));
  if constexpr (kDims > 2) force[2] = hn::GetLane(hn::SumOfLanes(d, f2));
  auto total = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
  for (; j < count; ++j) {
    float difference[kDims];
    float squares = 1;
    for (std::size_t axis = 0; axis < kDims; ++axis) {
      difference[axis] = y[axis][point] - y[axis][j];
      squares += difference[axis] * difference[axis];
    }
    const float q = 1 / squares;
    total += static_cast<double>(q);
    for (std::size_t axis = 0; axis < kDims; ++axis) force[axis] += q * q * difference[axis];
  }
  return total - 1;  // without the point itself
}

// A vector of complex numbers.
struct Complex {
  Vector re;
  Vector im;
};
HWY_INLINE Complex plus(Complex a, Complex b) { return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)}; }
HWY_INLINE Complex minus(Complex a, Complex b) { return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)}; }
// Times (w[0], w[1]).
HWY_INLINE Complex turned(Floats d, Complex a, const float* w) {
  const auto re = hn::Set(d, w[0]);
  const auto im = hn::Set(d, w[1]);
  return {hn::NegMulAdd(a.im, im, hn::Mul(a.re, re)), hn::MulAdd(a.im, re, hn::Mul(a.re, im))};
}
HWY_INLINE Complex load(Floats d, const float* re, const float* im, std::size_t at) {
  return {hn::LoadU(d, re + at), hn::LoadU(d, im + at)};
}
HWY_INLINE void store(Floats d, Complex value, float* re, float* im, std::size_t at) {
  hn::StoreU(value.re, d, re + at);
  hn::StoreU(value.im, d, im + at);
}

template <std::size_t kRadix>
HWY_INLINE void butterfly(Floats d, const float* const* from, const std::size_t* in, const float* w, float* const* to,
                          const std::size_t* out) {
  const Complex a = load(d, from[0], from[1], in[0]);
  const Complex b = load(d, from[0], from[1], in[1]);
  if constexpr (kRadix == 2) {
    store(d, plus(a, b), to[0], to[1], out[0]);
    store(d, turned(d, minus(a, b), w), to[0], to[1], out[1]);
  } else if constexpr (kRadix == 3) {
    const Complex c = load(d, from[0], from[1], in[2]);
    const Complex sum = plus(b, c);
    const auto half = hn::Set(d, -0.5F);
    const Complex u = {hn::MulAdd(sum.re, half, a.re), hn::MulAdd(sum.im, half, a.im)};
    const Complex difference = minus(b, c);
    const auto sine = hn::Set(d, 0.866025403784F);
    const Complex v = {hn::Mul(difference.im, sine), hn::Neg(hn::Mul(difference.re, sine))};  // -i sin(60) (b - c)
    store(d, plus(a, sum), to[0], to[1], out[0]);
    store(d, turned(d, plus(u, v), w), to[0], to[1], out[1]);
    store(d, turned(d, minus(u, v), w + 2), to[0], to[1], out[2]);
  } else {
    const Complex c = load(d, from[0], from[1], in[2]);
    const Complex e = load(d, from[0], from[1], in[3]);
    const Complex even = plus(a, c);
    const Complex odd = minus(a, c);
    const Complex sum = plus(b, e);
    const Complex difference = minus(b, e);
    const Complex rotated = {difference.im, hn::Neg(difference.re)};  // -i (b - e)
    store(d, plus(even, sum), to[0], to[1], out[0]);
    store(d, turned(d, plus(odd, rotated), w), to[0], to[1], out[1]);
    store(d, turned(d, minus(even, sum), w + 2), to[0], to[1], out[2]);
    store(d, turned(d, minus(odd, rotated), w + 4), to[0], to[1], out[3]);
  }
}

template <std::size_t kRadix>
void run_stage(const FftStage& stage, const float* re, const float* im, float* out_re, float* out_im) {
  const Floats d;
  const std::size_t lanes = std::min(hn::Lanes(d), kFftBatch);
  const std::size_t m = stage.length / kRadix;
  const float* const from[2] = {re, im};
  float* const to[2] = {out_re, out_im};
  for (std::size_t p = 0; p < m; ++p) {
    const float* w = stage.twiddles + p * 2 * (kRadix - 1);
    for (std::size_t q = 0; q < stage.stride; ++q) {
      for (std::size_t l = 0; l < kFftBatch; l += lanes) {
        std::size_t in[kRadix];
        std::size_t out[kRadix];
        for (std::size_t r = 0; r < kRadix; ++r) {
          in[r] = (q + stage.stride * (p + r * m)) * kFftBatch + l;
          out[r] = (q + stage.stride * (kRadix * p + r)) * kFftBatch + l;
        }
        butterfly<kRadix>(d, from, in, w, to, out);
      }
    }
  }
}

template <class T>
T dot_of(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), s0);
    s1 = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), s1);
    s2 = hn::MulAdd(hn::LoadU(d, a + i + 2 * lanes), hn::LoadU(d, b + i + 2 * lanes), s2);
    s3 = hn::MulAdd(hn::LoadU(d, a + i + 3 * lanes), hn::LoadU(d, b + i + 3 * lanes), s3);
  }
  T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

std::size_t width_of_panels() { return std::max<std::size_t>(4, 2 * hn::Lanes(Floats())); }

void multiply_panels(const float* a, const float* b, const ProductRange& range, float* c, std::size_t stride,
                     bool add) {
  const std::size_t lanes = hn::Lanes(Floats());
  const std::size_t width = width_of_panels();
  for (std::size_t panel = range.first_panel; panel < range.last_panel; ++panel) {
    for (std::size_t i = range.first; i < range.last; i += 4) {
      const float* rows = a + i / width * range.depth * width + i % width;
      float* to = c + (i - range.first) * stride + (panel - range.first_panel) * width;
      // A panel is two vectors wide, except on targets without vectors.
      for (std::size_t part = 0; part < width; part += 2 * lanes) {
        multiply_tile(rows, b + panel * range.depth * width + part, range.depth, width, to + part, stride, add);
      }
    }
  }
}

float dot_floats(const float* a, const float* b, std::size_t count) { return dot_of(a, b, count); }
double dot_doubles(const double* a, const double* b, std::size_t count) { return dot_of(a, b, count); }

float squares_of_difference(const float* a, const float* b, std::size_t count) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = s0;
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto x = hn::Sub(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
    const auto y = hn::Sub(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes));
    s0 = hn::MulAdd(x, x, s0);
    s1 = hn::MulAdd(y, y, s1);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
  for (; i < count; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

// Plain loops: the compiler makes vectors of them, for the instruction set that this is compiled for.
void add_scaled_floats(float* HWY_RESTRICT to, const float* HWY_RESTRICT from, float factor, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] += factor * from[i];
}
void add_scaled_doubles(double* HWY_RESTRICT to, const double* HWY_RESTRICT from, double factor, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

std::size_t take_scores_below(const float* HWY_RESTRICT products, const float* HWY_RESTRICT squares, std::size_t count,
                              float limit, std::uint32_t base, std::uint32_t* HWY_RESTRICT found,
                              float* HWY_RESTRICT values) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const auto bound = hn::Set(d, limit);
  const auto minus_two = hn::Set(d, -2.0F);
  std::size_t taken = 0;
  std::size_t j = 0;
  const auto take = [&](std::size_t at) {
    const float score = squares[at] - 2 * products[at];
    if (!(score < limit)) return;
    found[taken] = base + static_cast<std::uint32_t>(at);
    values[taken++] = score;
  };
  for (; j + lanes <= count; j += lanes) {
    const auto score = hn::MulAdd(minus_two, hn::LoadU(d, products + j), hn::LoadU(d, squares + j));
    if (hn::AllFalse(d, hn::Lt(score, bound))) continue;
    for (std::size_t l = 0; l < lanes; ++l) take(j + l);
  }
  for (; j < count; ++j) take(j);
  return taken;
}

void attract_point(const float* const* y, std::size_t dims, std::size_t point, const std::uint32_t* to,
                   const float* weight, std::size_t edges, float* force) {
  return dims == 3 ? attract_in<3>(y, point, to, weight, edges, force)
                   : attract_in<2>(y, point, to, weight, edges, force);
}

double repel_point(const float* const* y, std::size_t dims, std::size_t count, std::size_t point, float* force) {
  return dims == 3 ? repel_in<3>(y, count, point, force) : repel_in<2>(y, count, point, force);
}

void do_fft_stage(const FftStage& stage, const float* re, const float* im, float* out_re, float* out_im) {
  if (stage.radix == 4) return run_stage<4>(stage, re, im, out_re, out_im);
  if (stage.radix == 3) return run_stage<3>(stage, re, im, out_re, out_im);
  run_stage<2>(stage, re, im, out_re, out_im);
}

}  // namespace sonde::embed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sonde::embed {

HWY_EXPORT(width_of_panels);
HWY_EXPORT(multiply_panels);
HWY_EXPORT(dot_floats);
HWY_EXPORT(dot_doubles);
HWY_EXPORT(squares_of_difference);
HWY_EXPORT(add_scaled_floats);
HWY_EXPORT(add_scaled_doubles);
HWY_EXPORT(take_scores_below);
HWY_EXPORT(attract_point);
HWY_EXPORT(repel_point);
HWY_EXPORT(do_fft_stage);

std::size_t panel_width() noexcept { return HWY_DYNAMIC_DISPATCH(width_of_panels)(); }

void multiply(const float* a, const float* b, const ProductRange& range, float* c, std::size_t stride,
              bool add) noexcept {
  HWY_DYNAMIC_DISPATCH(multiply_panels)(a, b, range, c, stride, add);
}

float dot(const float* a, const float* b, std::size_t count) noexcept {
  return HWY_DYNAMIC_DISPATCH(dot_floats)(a, b, count);
}
double dot(const double* a, const double* b, std::size_t count) noexcept {
  return HWY_DYNAMIC_DISPATCH(dot_doubles)(a, b, count);
}
float squared_distance(const float* a, const float* b, std::size_t count) noexcept {
  return HWY_DYNAMIC_DISPATCH(squares_of_difference)(a, b, count);
}
void add_scaled(float* to, const float* from, float factor, std::size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(add_scaled_floats)(to, from, factor, count);
}
void add_scaled(double* to, const double* from, double factor, std::size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(add_scaled_doubles)(to, from, factor, count);
}

std::size_t take_below(const float* products, const float* squares, std::size_t count, float limit, std::uint32_t base,
                       std::uint32_t* found, float* values) noexcept {
  return HWY_DYNAMIC_DISPATCH(take_scores_below)(products, squares, count, limit, base, found, values);
}

void attract(const float* const* y, std::size_t dims, std::size_t point, const std::uint32_t* to, const float* weight,
             std::size_t edges, float* force) noexcept {
  HWY_DYNAMIC_DISPATCH(attract_point)(y, dims, point, to, weight, edges, force);
}
double repel(const float* const* y, std::size_t dims, std::size_t count, std::size_t point, float* force) noexcept {
  return HWY_DYNAMIC_DISPATCH(repel_point)(y, dims, count, point, force);
}

void fft_stage(const FftStage& stage, const float* re, const float* im, float* out_re, float* out_im) noexcept {
  HWY_DYNAMIC_DISPATCH(do_fft_stage)(stage, re, im, out_re, out_im);
}

}  // namespace sonde::embed
#endif  // HWY_ONCE
