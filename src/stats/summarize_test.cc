// The kernels against the scalar reference, on every instruction set that this machine has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <rapidcheck/gtest.h>

#include <cfenv>
#include <cstring>
#include <thread>

#include "stats/reference.h"
#include "stats/summary.h"
#include "stats/summary_testing.h"
#include "tensor/convert.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sonde::stats {
namespace {

using ::testing::HasSubstr;

// What differs between the kernels and the reference over a valid real view, or nothing.
std::string difference_over(const TensorView& view) {
  const std::vector<double> values = *tensor::to_doubles(view);
  const Summary expected = reference_summary(values);
  const auto alone = summarize(view);
  Histogram histogram;
  const auto both = summarize(view, histogram);
  if (!alone || !both) return "no summary";
  std::string text = difference(*alone, expected) + difference(*both, expected);
  if (histogram != reference_histogram(values)) text += "the histogram differs; ";
  return text;
}

std::string target_name(std::int64_t target) { return hwy::TargetName(target); }

class SummarizeOn : public ::testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};
INSTANTIATE_TEST_SUITE_P(Targets, SummarizeOn, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& param) { return target_name(param.param); });

template <class T>
void expect_every_length_and_start(std::mt19937_64& random) {
  for (std::size_t length = 0; length <= 200; ++length) {
    const std::vector<T> values = adversarial<T>(random, length + 17);
    for (std::size_t start = 0; start < 17; ++start) {
      const auto size = static_cast<std::int64_t>(length);
      ASSERT_EQ(difference_over(view(values.data() + start, {size})), "") << "length " << length << " from " << start;
    }
  }
}

TEST_P(SummarizeOn, EveryShortLengthFromAnyStart) {
  std::mt19937_64 random(1);
  expect_every_length_and_start<float>(random);
  expect_every_length_and_start<double>(random);
}

TEST_P(SummarizeOn, LengthsAroundTheBlocks) {
  std::mt19937_64 random(2);
  for (const std::size_t length : {255U, 256U, 257U, 2047U, 2048U, 2049U, 4095U, 4096U, 4097U, 10'000U, 70'001U}) {
    for (int repeat = 0; repeat < 8; ++repeat) {  // one of each mixture of data, more or less
      ASSERT_EQ(difference_over(view(adversarial<float>(random, length))), "") << length;
      ASSERT_EQ(difference_over(view(adversarial<double>(random, length))), "") << length;
    }
  }
}

template <class T>
std::vector<T> repeated(T value, std::size_t count = 5000) {
  return std::vector<T>(count, value);
}

TEST_P(SummarizeOn, DataThatAreAllEqual) {
  using F = std::numeric_limits<float>;
  for (const float x : {0.0F, -0.0F, 1.0F, -3.25F, 1e-42F, F::denorm_min(), F::min(), F::max(), F::lowest(), 1e30F,
                        -1e-30F, F::infinity(), -F::infinity(), F::quiet_NaN()}) {
    ASSERT_EQ(difference_over(view(repeated(x))), "") << x;
  }
  using D = std::numeric_limits<double>;
  for (const double x : {0.0, -0.0, 0.1, 1e300, -1e300, 1e-300, D::denorm_min(), D::min(), D::max(), D::lowest(),
                         D::infinity(), -D::infinity(), D::quiet_NaN()}) {
    ASSERT_EQ(difference_over(view(repeated(x))), "") << x;
  }
}

TEST_P(SummarizeOn, OneOddValueAmongMany) {
  using F = std::numeric_limits<float>;
  for (const float x : {F::quiet_NaN(), F::infinity(), -F::infinity(), F::denorm_min(), 0.0F, F::max(), 1e-30F}) {
    for (const std::size_t at : {0U, 1U, 7U, 8U, 2047U, 2048U, 4999U}) {
      std::vector<float> values = repeated(1.5F);
      values[at] = x;
      ASSERT_EQ(difference_over(view(values)), "") << x << " at " << at;
    }
  }
}

TEST_P(SummarizeOn, DoublesWhoseSquaresOrSumsOverflow) {
  std::vector<double> values = repeated(1e300);
  EXPECT_DOUBLE_EQ(summarize(view(values))->mean, 1e300);
  for (std::size_t i = 0; i < values.size(); i += 2) values[i] = -1.7e308;
  EXPECT_EQ(difference_over(view(values)), "");
  const Summary summary = *summarize(view(values));
  EXPECT_TRUE(std::isfinite(summary.mean));
  EXPECT_EQ(summary.m2, std::numeric_limits<double>::infinity());
  values.push_back(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(difference_over(view(values)), "");
  // m2 itself fits, the sum of squares around the first value does not.
  std::vector<double> outlier = repeated(0.0, 2000);
  outlier[0] = 1e154;
  EXPECT_EQ(difference_over(view(outlier)), "");
  EXPECT_TRUE(std::isfinite(summarize(view(outlier))->m2));
}

TEST_P(SummarizeOn, DoublesInAndOutOfTheRangeOfFloats) {
  std::vector<double> values;
  for (int exponent = -1074; exponent < 1024; ++exponent) {
    values.push_back(std::ldexp(1.0, exponent));
    values.push_back(-std::ldexp(1.9, exponent));
  }
  EXPECT_EQ(difference_over(view(values)), "");
  // And the other way round, so that no table remembers anything.
  EXPECT_EQ(difference_over(view(repeated(1.0, 10))), "");
}

// Every bit pattern, all at once and each alone.
template <class T, class Bits>
void expect_every_pattern() {
  std::vector<T> values;
  for (std::uint32_t bits = 0; bits <= std::numeric_limits<Bits>::max(); ++bits) {
    values.push_back(std::bit_cast<T>(static_cast<Bits>(bits)));
  }
  EXPECT_EQ(difference_over(view(values)), "") << to_string(dtype_of<T>);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = tensor::element_as_double(&values[i], dtype_of<T>);
    ASSERT_EQ(difference(*summarize(view(&values[i], {1})), reference_summary({&value, 1})), "")
        << to_string(dtype_of<T>) << " bits " << i;
  }
}

TEST_P(SummarizeOn, EveryValueOfThe8BitTypes) {
  expect_every_pattern<Float8E4M3, std::uint8_t>();
  expect_every_pattern<Float8E5M2, std::uint8_t>();
  expect_every_pattern<std::int8_t, std::uint8_t>();
  expect_every_pattern<std::uint8_t, std::uint8_t>();
}

TEST_P(SummarizeOn, EveryValueOfThe16BitTypes) {
  expect_every_pattern<Float16, std::uint16_t>();
  expect_every_pattern<BFloat16, std::uint16_t>();
  expect_every_pattern<std::int16_t, std::uint16_t>();
  expect_every_pattern<std::uint16_t, std::uint16_t>();
}

TEST_P(SummarizeOn, BoolsOfAnyByte) {
  std::vector<std::uint8_t> bytes(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  const TensorView bools = view(bytes.data(), DType::boolean, {256});
  EXPECT_EQ(difference_over(bools), "");
  EXPECT_EQ(summarize(bools)->zeros, 1U);
  EXPECT_EQ(summarize(bools)->max, 1);
}

template <class T>
void expect_integers(std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {Limits::min(), Limits::max(), T{0}, T{1}, static_cast<T>(Limits::max() - 1)};
  for (int i = 0; i < 5000; ++i) values.push_back(static_cast<T>(random() >> (random() % 64)));
  EXPECT_EQ(difference_over(view(values)), "") << to_string(dtype_of<T>);
}

TEST_P(SummarizeOn, WideIntegersUpToTheirLimits) {
  std::mt19937_64 random(3);
  expect_integers<std::int32_t>(random);
  expect_integers<std::uint32_t>(random);
  expect_integers<std::int64_t>(random);
  expect_integers<std::uint64_t>(random);
}

constexpr DType kReal[] = {DType::boolean, DType::i8,  DType::i16,  DType::i32, DType::i64,
                           DType::u8,      DType::u16, DType::u32,  DType::u64, DType::f8_e4m3,
                           DType::f8_e5m2, DType::f16, DType::bf16, DType::f32, DType::f64};

// A view into `memory` with sizes and strides by chance: negative, zero, overlapping, transposed.
TensorView random_view(std::mt19937_64& random, const std::vector<std::byte>& memory, DType dtype) {
  const auto elements = static_cast<std::int64_t>(memory.size() / size_of(dtype));
  Shape shape;
  Shape strides;
  std::int64_t first = 0;
  std::int64_t last = 0;
  const auto rank = random() % 5;
  for (std::uint64_t axis = 0; axis < rank; ++axis) {
    const auto size = static_cast<std::int64_t>(random() % 10);
    std::int64_t stride = static_cast<std::int64_t>(random() % 41) - 20;
    if (random() % 3 == 0) stride = 1;
    if (random() % 8 == 0) stride = 0;
    const std::int64_t reach = (size > 0 ? size - 1 : 0) * stride;
    if (first + std::min<std::int64_t>(reach, 0) < -elements / 2) break;
    if (last + std::max<std::int64_t>(reach, 0) >= elements / 2) break;
    first += std::min<std::int64_t>(reach, 0);
    last += std::max<std::int64_t>(reach, 0);
    shape.push_back(size);
    strides.push_back(stride);
  }
  const auto* data = memory.data() + elements / 2 * static_cast<std::int64_t>(size_of(dtype));
  return view(static_cast<const void*>(data), dtype, shape, strides);
}

TEST_P(SummarizeOn, AnyStridesOfEveryType) {
  std::mt19937_64 random(4);
  std::vector<std::byte> memory(16384);
  for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
  for (const DType dtype : kReal) {
    for (int i = 0; i < 200; ++i) {
      ASSERT_EQ(difference_over(random_view(random, memory, dtype)), "") << to_string(dtype) << " view " << i;
    }
  }
}

TEST_P(SummarizeOn, LongStridedRuns) {
  std::mt19937_64 random(5);
  const std::vector<float> values = adversarial<float>(random, 40'000);
  EXPECT_EQ(difference_over(view(values.data(), {10'000}, {4})), "");
  EXPECT_EQ(difference_over(view(values.data() + 39'999, {40'000}, {-1})), "");
  EXPECT_EQ(difference_over(view(values.data(), {200, 200}, {1, 200})), "") << "transposed";
  EXPECT_EQ(difference_over(view(values.data(), {30, 1000}, {1100, 1})), "") << "rows with gaps";
  EXPECT_EQ(difference_over(view(values.data(), {30, 1000}, {0, 1})), "") << "broadcast rows";
  EXPECT_EQ(difference_over(view(values.data() + 3, {9000}, {0})), "") << "one value, broadcast";
}

TEST_P(SummarizeOn, MemoryThatIsNotAligned) {
  std::mt19937_64 random(6);
  std::vector<std::byte> memory(70'000);
  for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
  for (const DType dtype : kReal) {
    const auto count = static_cast<std::int64_t>((memory.size() - 8) / size_of(dtype));
    for (int offset = 1; offset < 8; ++offset) {
      ASSERT_EQ(difference_over(view(memory.data() + offset, dtype, {count})), "") << to_string(dtype);
    }
  }
}

TEST(Summarize, AnEmptyViewIsNoError) {
  Histogram histogram;
  for (const TensorView& empty : {view(nullptr, DType::f32, {0}), view(nullptr, DType::f16, {3, 0, 2})}) {
    const auto summary = summarize(empty, histogram);
    ASSERT_TRUE(summary.ok());
    EXPECT_EQ(difference(*summary, Summary{}), "");
    EXPECT_TRUE(histogram.bins().empty());
  }
}

TEST(Summarize, RejectsWhatItCannotRead) {
  const std::vector<float> values(6);
  Histogram histogram;
  for (const TensorView& bad : {view(values, {2, 2}), view(nullptr, DType::f32, {2}), view(values.data(), {-1})}) {
    EXPECT_EQ(summarize(bad).status().code(), Code::invalid_argument);
    EXPECT_EQ(summarize(bad, histogram).status().code(), Code::invalid_argument);
  }
  const auto complex = summarize(view(values.data(), DType::c64, {3}));
  EXPECT_EQ(complex.status().code(), Code::unsupported);
  EXPECT_THAT(complex.status().message(), HasSubstr("c64"));
}

TEST(Summarize, AddsToTheHistogramItIsGiven) {
  const std::vector<float> a = {1, 2, 0, -4};
  const std::vector<double> b = {1e-320, 2, 1e200, 0};
  Histogram histogram;
  ASSERT_TRUE(summarize(view(a), histogram).ok());
  ASSERT_TRUE(summarize(view(b), histogram).ok());
  EXPECT_EQ(histogram, reference_histogram(std::vector<double>{1, 2, 0, -4, 1e-320, 2, 1e200, 0}));
}

TEST(Summarize, TheSameValuesOfAnotherTypeGiveTheSameHistogram) {
  std::vector<Float16> halves;
  for (std::uint32_t bits = 0; bits < 65'536; ++bits) halves.push_back({static_cast<std::uint16_t>(bits)});
  std::vector<float> floats;
  std::vector<double> doubles;
  for (const Float16 x : halves) {
    floats.push_back(tensor::to_float(x));
    doubles.push_back(static_cast<double>(tensor::to_float(x)));
  }
  Histogram of_halves;
  Histogram of_floats;
  Histogram of_doubles;
  ASSERT_TRUE(summarize(view(halves), of_halves).ok());
  ASSERT_TRUE(summarize(view(floats), of_floats).ok());
  ASSERT_TRUE(summarize(view(doubles), of_doubles).ok());
  EXPECT_EQ(of_halves, of_floats);
  EXPECT_EQ(of_halves, of_doubles);
}

TEST(Summarize, CountsMoreValuesThanTheTablesHoldAtOnce) {
  const std::vector<float> values = {-1.5F, 0.0F, 1e-44F};
  constexpr std::int64_t kCopies = 12'000'000;
  Histogram histogram;
  const Summary summary = *summarize(view(values.data(), {3, kCopies}, {1, 0}), histogram);
  EXPECT_EQ(summary.count, 3U * kCopies);
  const Histogram expected = *Histogram::from_bins(
      {{Histogram::key_of(-1.5), kCopies}, {0, kCopies}, {Histogram::key_of(static_cast<double>(1e-44F)), kCopies}});
  EXPECT_EQ(histogram, expected);
}

// The case for which sums of squares fail: a mean of a hundred thousand deviations.
TEST(Summarize, IsRightTo1e6OnNormal1000WithDeviation001) {
  std::mt19937_64 random(9);
  std::normal_distribution<float> normal(1000.0F, 0.01F);
  std::vector<float> values((1 << 20) + 7);
  for (float& value : values) value = normal(random);
  const auto size = static_cast<std::int64_t>(values.size());
  constexpr std::int64_t kRepeats = 16;  // 16M values
  const Summary got = *summarize(view(values.data(), {kRepeats, size}, {0, 1}));
  const Summary once = reference_summary(*tensor::to_doubles(view(values)));
  EXPECT_EQ(got.count, static_cast<std::uint64_t>(kRepeats * size));
  EXPECT_NEAR(got.mean, once.mean, 1e-6);
  EXPECT_NEAR(got.stddev() / once.stddev(), 1, 1e-6);
  EXPECT_NEAR(got.m2 / (kRepeats * once.m2), 1, 1e-6);
  EXPECT_NEAR(got.sum_abs / (kRepeats * once.sum_abs), 1, 1e-6);
  EXPECT_NEAR(got.stddev(), 0.01, 1e-4);
}

TEST(Summarize, IsRightOnDoublesWithAnEvenLargerMean) {
  std::mt19937_64 random(10);
  std::normal_distribution<double> normal(1e9, 0.01);
  std::vector<double> values(100'000);
  for (double& value : values) value = normal(random);
  EXPECT_EQ(difference_over(view(values)), "");
}

// The parts of a tensor, summarised apart in any sizes and merged in any order.
RC_GTEST_PROP(Summarize, PartsMergeToTheWhole, ()) {
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  const std::vector<float> values = adversarial<float>(random, *rc::gen::inRange<std::size_t>(0, 9000));
  std::vector<TensorView> parts;
  for (std::size_t first = 0; first < values.size();) {
    const auto size = *rc::gen::inRange<std::size_t>(1, values.size() - first + 1);
    parts.push_back(view(values.data() + first, {static_cast<std::int64_t>(size)}));
    first += size;
  }
  std::shuffle(parts.begin(), parts.end(), random);
  Summary merged;
  Histogram histogram;
  for (const TensorView& part : parts) {
    Histogram of_part;
    merged.merge(*summarize(part, of_part));
    histogram.merge(of_part);
  }
  Histogram whole;
  const Summary summary = *summarize(view(values), whole);
  RC_ASSERT(difference(merged, summary) == "");
  RC_ASSERT(histogram == whole);
}

TEST(Summarize, ManyThreadsDoNotDisturbEachOther) {
  std::mt19937_64 random(11);
  const std::vector<float> values = adversarial<float>(random, 20'000);
  const std::vector<double> doubles = adversarial<double>(random, 20'000);
  std::vector<std::string> results(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 5; ++repeat) {
        results[i] += i % 2 == 0 ? difference_over(view(values)) : difference_over(view(doubles));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_EQ(result, "");
}

#if defined(__x86_64__)
// A job that flushes subnormals, rounds elsewhere and traps on NaN, as jobs do that hunt for one.
TEST(Summarize, NeitherObeysNorChangesTheCallersFloatingPointMode) {
  std::vector<float> values = {
      1e-42F, -1e-45F, 1.0F, 0.0F, std::bit_cast<float>(0x7f800001U), std::numeric_limits<float>::infinity()};
  values.resize(3000, 3e38F);
  const std::vector<double> doubles = {5e-324, 1e308, -1e308, std::bit_cast<double>(0x7ff0000000000001ULL)};
  const std::string expected_floats = difference_over(view(values));
  const unsigned before = _mm_getcsr();
  constexpr unsigned kFlushAndZero = 0x8040;
  constexpr unsigned kRoundUp = 0x4000;
  constexpr unsigned kTrapInvalidDivideOverflow = 0x0680;  // mask bits, cleared below
  const unsigned hostile = ((before | kFlushAndZero | kRoundUp) & ~kTrapInvalidDivideOverflow) & ~0x3fU;

  Histogram of_floats;
  Histogram of_doubles;
  _mm_setcsr(hostile);
  const auto floats_summary = summarize(view(values), of_floats);
  const unsigned after_floats = _mm_getcsr();
  const auto doubles_summary = summarize(view(doubles), of_doubles);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);

  EXPECT_EQ(after_floats, hostile);
  EXPECT_EQ(after, hostile);
  EXPECT_EQ(expected_floats, "");
  EXPECT_EQ(difference(*floats_summary, reference_summary(*tensor::to_doubles(view(values)))), "");
  EXPECT_EQ(difference(*doubles_summary, reference_summary(doubles)), "");
  EXPECT_EQ(of_floats, reference_histogram(*tensor::to_doubles(view(values))));
  EXPECT_EQ(of_doubles, reference_histogram(doubles));
}
#endif

}  // namespace
}  // namespace sonde::stats
