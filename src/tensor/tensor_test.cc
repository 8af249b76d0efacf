#include "sonde/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tensor/convert.h"
#include "tensor/copy.h"

namespace sonde::tensor {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(Shape, HoldsUpToEightAxesAndIsInvalidBeyond) {
  EXPECT_EQ(Shape({2, 3}).rank(), 2);
  EXPECT_TRUE(Shape({1, 2, 3, 4, 5, 6, 7, 8}).valid());
  EXPECT_FALSE(Shape({1, 2, 3, 4, 5, 6, 7, 8, 9}).valid());
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({0, 1'000'000'000'000}), 0);
  EXPECT_EQ(element_count({-1}), -1);
  EXPECT_EQ(element_count({std::int64_t{1} << 40, std::int64_t{1} << 40}), -1);
  EXPECT_EQ(element_count(Shape({1, 2, 3, 4, 5, 6, 7, 8, 9})), -1);
}

TEST(View, ChecksShapeAgainstDataIfItCan) {
  const std::vector<float> values(6);
  EXPECT_TRUE(view(values, {2, 3}).valid());
  EXPECT_FALSE(view(values, {2, 4}).valid());
  EXPECT_TRUE(view(values.data(), {2, 4}).valid()) << "only the caller knows the extent of a pointer";
  EXPECT_FALSE(view(static_cast<const float*>(nullptr), {1}).valid());
  EXPECT_TRUE(view(static_cast<const float*>(nullptr), {0}).valid());
  EXPECT_FALSE(view(values.data(), {2, 3}, {1}).valid());
  EXPECT_TRUE(view(std::span(values)).contiguous());
  EXPECT_FALSE(view(values.data(), {3, 2}, {1, 3}).contiguous());
}

TEST(View, KnowsTheTypesOfItsElements) {
  EXPECT_EQ(dtype_of<float>, DType::f32);
  EXPECT_EQ(dtype_of<const double>, DType::f64);
  EXPECT_EQ(dtype_of<char>, std::is_signed_v<char> ? DType::i8 : DType::u8);
  EXPECT_EQ(dtype_of<long long>, DType::i64);
  EXPECT_EQ(dtype_of<bool>, DType::boolean);
  EXPECT_EQ(dtype_of<BFloat16>, DType::bf16);
  EXPECT_EQ(to_string(DType::f8_e5m2), "f8_e5m2");
  EXPECT_EQ(size_of(DType::c128), 16U);
}

std::vector<int> dense(const TensorView& of) {
  std::vector<int> out(static_cast<std::size_t>(of.size()), -1);
  copy_dense(of, out.data());
  return out;
}

TEST(CopyDense, FollowsTheStrides) {
  std::vector<int> v(12);
  std::iota(v.begin(), v.end(), 0);
  EXPECT_THAT(dense(view(v.data(), {3, 2}, {1, 3})), ElementsAre(0, 3, 1, 4, 2, 5));  // transposed
  EXPECT_THAT(dense(view(v.data() + 5, {3}, {-2})), ElementsAre(5, 3, 1));            // backwards
  EXPECT_THAT(dense(view(v.data(), {2, 3}, {0, 1})), ElementsAre(0, 1, 2, 0, 1, 2));  // broadcast
  EXPECT_THAT(dense(view(v.data(), {2, 2, 2}, {6, 3, 1})), ElementsAre(0, 1, 3, 4, 6, 7, 9, 10));
  EXPECT_THAT(dense(view(v.data(), {})), ElementsAre(0));
  EXPECT_TRUE(dense(view(v.data(), {3, 0})).empty());
}

TEST(CopyDense, MovesEveryElementSize) {
  std::vector<std::byte> raw(256);
  for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<std::byte>(i);
  for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64, DType::c128}) {
    const std::size_t size = size_of(dtype);
    std::vector<std::byte> out(4 * size);
    copy_dense(view(raw.data(), dtype, {4}, {3}), out.data());
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], raw[(i / size) * 3 * size + i % size]);
  }
}

TEST(CopyDense, PastTheCacheCopiesTheSameAndNotAByteMore) {
  std::vector<unsigned char> from(100'000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 7 + i / 251);
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{8192}, std::size_t{8193},
                                 std::size_t{65'536}, std::size_t{99'990}}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{3}}) {
      std::vector<unsigned char> out(size + 64, 0xEE);  // from operator new: aligned to 16 bytes
      copy_dense_past_cache(view(from.data() + offset, {static_cast<std::int64_t>(size)}), out.data());
      EXPECT_TRUE(std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size),
                             from.begin() + static_cast<std::ptrdiff_t>(offset)))
          << size;
      EXPECT_THAT(std::vector(out.begin() + static_cast<std::ptrdiff_t>(size), out.end()), Each(0xEE)) << size;
    }
  }
  std::vector<unsigned char> every_third(30'000);
  copy_dense_past_cache(view(from.data(), {30'000}, {3}), every_third.data());
  EXPECT_EQ(every_third[10'000], from[30'000]);
}

TEST(ForEachRun, JoinsAdjacentElements) {
  const std::vector<int> v(24);
  int runs = 0;
  const auto count = [&](const std::byte*, std::int64_t, std::int64_t) { ++runs; };
  for_each_run(view(v, {2, 3, 4}), count);
  EXPECT_EQ(runs, 1);
  runs = 0;
  for_each_run(view(v.data(), {2, 3, 2}, {12, 4, 1}), count);
  EXPECT_EQ(runs, 6);
}

// Every bit pattern of a small float goes to f32 and back.
template <class Small, class ToSmall>
void round_trip(unsigned patterns, ToSmall to_small) {
  for (unsigned bits = 0; bits < patterns; ++bits) {
    Small small{};
    small.bits = static_cast<decltype(small.bits)>(bits);
    const float value = to_float(small);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(to_float(to_small(value))));
    } else {
      ASSERT_EQ(to_small(value).bits, small.bits) << bits;
    }
  }
}

TEST(Convert, SmallFloatsComeBackBitByBit) {
  round_trip<Float16>(1 << 16, to_float16);
  round_trip<BFloat16>(1 << 16, to_bfloat16);
  round_trip<Float8E4M3>(1 << 8, to_float8_e4m3);
  round_trip<Float8E5M2>(1 << 8, to_float8_e5m2);
}

// Rounding is to the nearest of all representable values, ties to the even one.
template <class Small, class ToSmall>
void rounds_to_nearest(unsigned positive_finite, ToSmall to_small) {
  for (unsigned bits = 0; bits + 1 < positive_finite; ++bits) {
    Small low{};
    Small high{};
    low.bits = static_cast<decltype(low.bits)>(bits);
    high.bits = static_cast<decltype(low.bits)>(bits + 1);
    const auto middle = static_cast<float>((double{to_float(low)} + double{to_float(high)}) / 2);
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(to_small(middle).bits, even) << bits;
    ASSERT_EQ(to_small(std::nextafter(middle, 0.0F)).bits, bits);
    ASSERT_EQ(to_small(std::nextafter(middle, std::numeric_limits<float>::infinity())).bits, bits + 1);
    ASSERT_EQ(to_float(to_small(-middle)), -to_float(to_small(middle)));
  }
}

TEST(Convert, RoundsToNearestEven) {
  rounds_to_nearest<Float16>(0x7c00, to_float16);
  rounds_to_nearest<BFloat16>(0x7f80, to_bfloat16);
  rounds_to_nearest<Float8E4M3>(0x7f, to_float8_e4m3);
  rounds_to_nearest<Float8E5M2>(0x7c, to_float8_e5m2);
}

TEST(Convert, OverflowsToInfinityIfThereIsOne) {
  EXPECT_TRUE(std::isinf(to_float(to_float16(1e6F))));
  EXPECT_TRUE(std::isinf(to_float(to_float8_e5m2(1e6F))));
  EXPECT_TRUE(std::isnan(to_float(to_float8_e4m3(1e6F))));
  EXPECT_TRUE(std::isinf(to_float(to_bfloat16(std::numeric_limits<float>::max()))));
  EXPECT_EQ(to_float(to_float16(65504.0F)), 65504.0F);
  EXPECT_EQ(to_float(to_float8_e4m3(448.0F)), 448.0F);
  EXPECT_EQ(to_float16(-0.0F).bits, 0x8000);
}

TEST(Convert, ReadsEveryRealTypeAsADouble) {
  const std::int64_t big = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(element_as_double(&big, DType::i64), -0x1p63);
  const std::uint8_t truth = 2;
  EXPECT_EQ(element_as_double(&truth, DType::boolean), 1);
  const std::vector<std::int16_t> values = {-1, 2, -3, 4};
  EXPECT_THAT(*to_doubles(view(values.data(), {2}, {2})), ElementsAre(-1, -3));
  EXPECT_FALSE(to_doubles(view(values, {5})).ok());
}

}  // namespace
}  // namespace sonde::tensor
