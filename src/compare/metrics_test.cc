#include "compare/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tensor/convert.h"

namespace sonde::compare {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Metrics measured(const TensorView& a, const TensorView& b, const Limits& limits = {}, int threads = 1) {
  base::TaskPool pool("test", threads);
  const Result<Metrics> metrics = measure(a, b, limits, pool);
  EXPECT_TRUE(metrics) << metrics.status().message();
  return metrics ? *metrics : Metrics{};
}

template <class T>
std::vector<T> normal(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> distribution;
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(distribution(random));
  return values;
}

TEST(Metrics, OfEqualTensorsAreZero) {
  const std::vector<float> a = normal<float>(5000, 1);
  const Metrics metrics = measured(view(a), view(a));
  EXPECT_TRUE(metrics.equal());
  EXPECT_EQ(metrics.count, 5000U);
  EXPECT_EQ(metrics.norm_relative(), 0);
  EXPECT_EQ(metrics.max_ulp, 0U);
  EXPECT_EQ(metrics.cosine(), 1);
  EXPECT_EQ(metrics.sqnr(), kInf);
  EXPECT_EQ(metrics.worst, -1);
}

TEST(Metrics, AreTheSumsOverAllElements) {
  const std::vector<float> a = normal<float>(100'003, 1);
  const std::vector<float> b = normal<float>(100'003, 2);
  long double squares = 0, squares_a = 0, squares_b = 0, product = 0;
  double max_abs = 0, max_rel = 0;
  std::int64_t worst = -1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i], y = b[i];
    squares += (x - y) * (x - y), squares_a += x * x, squares_b += y * y, product += x * y;
    if (std::abs(x - y) > max_abs) worst = static_cast<std::int64_t>(i);
    max_abs = std::max(max_abs, std::abs(x - y));
    max_rel = std::max(max_rel, std::abs(x - y) / std::abs(y));
  }
  const Metrics metrics = measured(view(a), view(b));
  EXPECT_NEAR(metrics.norm_relative(), static_cast<double>(std::sqrt(squares / squares_b)), 1e-12);
  EXPECT_NEAR(metrics.rmse(), static_cast<double>(std::sqrt(squares / static_cast<long double>(a.size()))), 1e-12);
  EXPECT_NEAR(metrics.cosine(), static_cast<double>(product / std::sqrt(squares_a * squares_b)), 1e-12);
  EXPECT_NEAR(metrics.sqnr(), static_cast<double>(10 * std::log10(squares_b / squares)), 1e-10);
  EXPECT_EQ(metrics.max_abs, max_abs);
  EXPECT_EQ(metrics.max_rel, max_rel);
  EXPECT_EQ(metrics.worst, worst);
}

TEST(Metrics, AreTheSameBitsForAnyNumberOfThreads) {
  const std::vector<float> a = normal<float>(1'500'000, 1);
  const std::vector<float> b = normal<float>(1'500'000, 2);
  const Metrics one = measured(view(a), view(b), {}, 1);
  const Metrics three = measured(view(a), view(b), {}, 3);
  EXPECT_EQ(one.squares, three.squares);
  EXPECT_EQ(one.product, three.product);
  EXPECT_EQ(one.worst, three.worst);
}

TEST(Metrics, CountUnitsInTheLastPlace) {
  std::vector<float> a = {1.0F, -2.0F, 0.0F, 5.0F};
  std::vector<float> b = a;
  b[1] = std::nextafterf(std::nextafterf(-2.0F, 0.0F), 0.0F);
  EXPECT_EQ(measured(view(a), view(b)).max_ulp, 2U);
  b = a;
  b[2] = -0.0F;  // the same number
  EXPECT_TRUE(measured(view(a), view(b)).equal());
  a[2] = std::numeric_limits<float>::denorm_min();
  b[2] = -std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(measured(view(a), view(b)).max_ulp, 2U);
  const std::vector<double> x = {1.0};
  const std::vector<double> y = {std::nextafter(1.0, 2.0)};
  EXPECT_EQ(measured(view(x), view(y)).max_ulp, 1U);
  const std::vector<Float16> half = {Float16{0x3c00}};
  const std::vector<Float16> next = {Float16{0x3c05}};
  EXPECT_EQ(measured(view(half), view(next)).max_ulp, 5U);
}

TEST(Metrics, TreatEqualNanAndInfinitiesAsEqual) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> a = {1, kNan, infinity, -infinity};
  EXPECT_TRUE(measured(view(a), view(a)).equal());
  EXPECT_EQ(measured(view(a), view(a)).non_finite_a, 3U);
  EXPECT_EQ(measured(view(a), view(a)).finite, 1U);
  const std::vector<float> b = {1, infinity, -infinity, 2};
  const Metrics metrics = measured(view(a), view(b), {.rtol = 1e9, .atol = 1e9});
  EXPECT_EQ(metrics.different, 3U);
  EXPECT_EQ(metrics.non_finite_differ, 3U);
  EXPECT_EQ(metrics.outside, 3U);
  EXPECT_EQ(metrics.non_finite_b, 2U);
  EXPECT_EQ(metrics.max_abs, 0);
}

TEST(Metrics, KeepNonFiniteValuesOutOfTheSums) {
  std::vector<float> a = normal<float>(10'000, 1);
  std::vector<float> b = normal<float>(10'000, 2);
  const std::vector<float> kept_a(a.begin() + 1, a.end());
  const std::vector<float> kept_b(b.begin() + 1, b.end());
  a[0] = b[0] = kNan;
  const Metrics with = measured(view(a), view(b));
  const Metrics without = measured(view(kept_a), view(kept_b));
  EXPECT_NEAR(with.norm_relative(), without.norm_relative(), 1e-12);
  EXPECT_NEAR(with.rmse(), without.rmse(), 1e-12);
  EXPECT_EQ(with.max_ulp, without.max_ulp);
  EXPECT_EQ(with.max_abs, without.max_abs);
}

TEST(Metrics, DoNotOverflowOrVanish) {
  const std::vector<double> large_a = {1e300, -1e300};
  const std::vector<double> large_b = {2e300, -1e300};
  EXPECT_NEAR(measured(view(large_a), view(large_b)).norm_relative(), 1 / std::sqrt(5.0), 1e-12);
  const std::vector<double> small_a = {1e-300, -1e-300};
  const std::vector<double> small_b = {2e-300, -1e-300};
  EXPECT_NEAR(measured(view(small_a), view(small_b)).norm_relative(), 1 / std::sqrt(5.0), 1e-12);
}

TEST(Metrics, SeeDifferencesOfLargeIntegers) {
  const std::vector<std::int64_t> a = {(std::int64_t{1} << 60) + 1, 5};
  const std::vector<std::int64_t> b = {std::int64_t{1} << 60, 5};
  const Metrics metrics = measured(view(a), view(b));
  EXPECT_EQ(metrics.different, 1U);
  EXPECT_EQ(metrics.max_abs, 1);
  EXPECT_EQ(metrics.max_ulp, std::nullopt);
  const std::vector<std::uint64_t> c = {std::numeric_limits<std::uint64_t>::max()};
  const std::vector<std::uint64_t> d = {std::numeric_limits<std::uint64_t>::max() - 1};
  EXPECT_EQ(measured(view(c), view(d)).different, 1U);
}

TEST(Metrics, OfEmptyTensorsAreEqual) {
  const std::vector<float> none;
  const Metrics metrics = measured(view(none), view(none));
  EXPECT_TRUE(metrics.equal());
  EXPECT_EQ(metrics.count, 0U);
  EXPECT_EQ(metrics.norm_relative(), 0);
}

TEST(Metrics, WithAReferenceOfZerosAreInfinite) {
  const std::vector<float> a = {0, 1e-6F};
  const std::vector<float> b = {0, 0};
  EXPECT_EQ(measured(view(a), view(b)).norm_relative(), kInf);
  EXPECT_EQ(measured(view(a), view(b)).max_rel, kInf);
  EXPECT_EQ(measured(view(b), view(b)).norm_relative(), 0);
  EXPECT_EQ(measured(view(b), view(b)).cosine(), 1);
}

TEST(Metrics, CountElementsOutsideTheLimits) {
  const std::vector<float> a = {1.0F, 1.25F, 0.0F, 8.0F};
  const std::vector<float> b = {1.0F, 1.0F, 0.5F, 4.0F};
  EXPECT_EQ(measured(view(a), view(b), {.rtol = 0.25, .atol = 0}).outside, 2U);
  EXPECT_EQ(measured(view(a), view(b), {.rtol = 0, .atol = 0.5}).outside, 1U);
  const Metrics metrics = measured(view(a), view(b), {.rtol = 0, .atol = 0.5});
  EXPECT_EQ(metrics.max_excess, 3.5 / 4);
  EXPECT_EQ(measured(view(a), view(b), {.rtol = metrics.max_excess, .atol = 0.5}).outside, 0U);
}

TEST(Metrics, CastToTheSmallerType) {
  std::vector<float> a = normal<float>(3000, 1);
  std::vector<Float16> b;
  for (const float value : a) b.push_back(tensor::to_float16(value));
  EXPECT_TRUE(measured(view(a), view(b)).equal());
  EXPECT_TRUE(measured(view(b), view(a)).equal());
  EXPECT_EQ(common_type(DType::f32, DType::f16), DType::f16);
  EXPECT_EQ(common_type(DType::bf16, DType::f16), DType::bf16);
  EXPECT_EQ(common_type(DType::i32, DType::f32), DType::f64);
  EXPECT_EQ(cast_text(DType::f32, DType::f16), "A cast from f32 to f16");
  EXPECT_EQ(cast_text(DType::f16, DType::f64), "B cast from f64 to f16");
  EXPECT_EQ(cast_text(DType::f32, DType::f32), "");
}

TEST(Metrics, ReadStridedAndUnalignedTensors) {
  const std::vector<float> a = normal<float>(60, 1);
  std::vector<float> transposed(60);
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 10; ++j) transposed[j * 6 + i] = a[i * 10 + j];
  }
  EXPECT_TRUE(measured(view(a, {6, 10}), view(transposed.data(), Shape{6, 10}, Shape{1, 6})).equal());
  std::vector<std::byte> bytes(a.size() * sizeof(float) + 1);
  std::memcpy(bytes.data() + 1, a.data(), a.size() * sizeof(float));
  EXPECT_TRUE(measured(view(a), view(bytes.data() + 1, DType::f32, {60})).equal());
}

TEST(Metrics, TreatComplexNumbersAsTwo) {
  const std::vector<std::complex<float>> a = {{1, 2}, {3, 4}};
  const std::vector<std::complex<float>> b = {{1, 2}, {3, 5}};
  const Metrics metrics = measured(view(a), view(b));
  EXPECT_EQ(metrics.count, 4U);
  EXPECT_EQ(metrics.different, 1U);
  EXPECT_EQ(metrics.worst, 3);
}

TEST(Metrics, CompareEveryRealType) {
  for (int i = 0; i < static_cast<int>(DType::c64); ++i) {
    const auto dtype = static_cast<DType>(i);
    std::vector<std::byte> a(64 * size_of(dtype));
    EXPECT_TRUE(measured(view(a.data(), dtype, {64}), view(a.data(), dtype, {64})).equal()) << to_string(dtype);
    std::vector<std::byte> b = a;
    b[37 * size_of(dtype)] = std::byte{1};
    const Metrics metrics = measured(view(a.data(), dtype, {64}), view(b.data(), dtype, {64}));
    EXPECT_EQ(metrics.different, 1U) << to_string(dtype);
    EXPECT_EQ(metrics.worst, 37) << to_string(dtype);
  }
}

TEST(Metrics, RejectDifferentShapes) {
  const std::vector<float> a(6);
  base::TaskPool pool("test", 1);
  EXPECT_EQ(measure(view(a, {2, 3}), view(a, {3, 2}), {}, pool).status().code(), Code::invalid_argument);
  EXPECT_EQ(measure(view(a, {2, 3}), view(a, {4, 2}), {}, pool).status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace sonde::compare
