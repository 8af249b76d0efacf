#include "formats/wav.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "formats/file_testing.h"

namespace sonde::wav {
namespace {

using testing::corpus_file;
using ::testing::ElementsAre;
using testing::expect_same;
using ::testing::HasSubstr;
using testing::random_tensor;
using testing::values_of;

TEST(WavEncode, WritesTheBytesThatPythonWrites) {
  const std::int16_t samples[] = {0, 1, -32768, 32767};
  EXPECT_EQ(*encode(view(samples, {2, 2}), 8000), corpus_file("wav/pcm16.wav"));
}

TEST(WavEncode, RoundsAndClipsFloatsAndSilencesNaN) {
  const float samples[] = {0, 1, -1, 0.5F, 2, -INFINITY, NAN, 1e-5F};
  const auto decoded = decode(base::as_bytes(*encode(view(samples), 44100)));
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(decoded->rate, 44100u);
  EXPECT_EQ(decoded->samples.shape, (Shape{8, 1}));
  EXPECT_THAT(values_of<std::int16_t>(decoded->samples), ElementsAre(0, 32767, -32767, 16384, 32767, -32767, 0, 0));
}

TEST(WavEncode, KeepsFloat32BitForBit) {
  std::mt19937 random(29);
  std::vector<float> samples(300);
  for (float& sample : samples) sample = std::ldexp(static_cast<float>(random()), -32);
  const auto file = encode(view(samples, {100, 3}), 16000, Encoding::float32);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->size(), 58 + 1200u);
  const auto decoded = decode(base::as_bytes(*file));
  ASSERT_TRUE(decoded) << decoded.error().message();
  expect_same(decoded->samples.view(), view(samples, {100, 3}));
}

TEST(WavEncode, TakesStridedViewsOfOtherFloats) {
  const double samples[] = {0, 0.25, 0.5, 0.75};
  const auto decoded = decode(base::as_bytes(*encode(view(samples, {2, 2}, {1, 2}), 8000, Encoding::float32)));
  ASSERT_TRUE(decoded);
  EXPECT_THAT(values_of<float>(decoded->samples), ElementsAre(0, 0.5F, 0.25F, 0.75F));
  const std::int16_t half = 16384;
  const auto from_integers = decode(base::as_bytes(*encode(view(&half, {1}), 8000, Encoding::float32)));
  EXPECT_THAT(values_of<float>(from_integers->samples), ElementsAre(0.5F));
}

TEST(WavEncode, WritesSilenceOfNoLength) {
  const auto file = encode(view(static_cast<float*>(nullptr), {0, 2}), 8000);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->size(), 44u);
  const auto decoded = decode(base::as_bytes(*file));
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(decoded->samples.shape, (Shape{0, 2}));
}

TEST(WavEncode, RejectsInvalidSound) {
  const std::vector<float> samples(8);
  const std::vector<std::int32_t> integers(8);
  const float zero = 0;
  EXPECT_EQ(encode(view(samples, {2, 2, 2}), 8000).status().code(), Code::invalid_argument);
  EXPECT_EQ(encode(view(samples, {3, 3}), 8000).status().code(), Code::invalid_argument);
  EXPECT_EQ(encode(view(samples, {0, 0}), 8000).status().code(), Code::invalid_argument);
  EXPECT_EQ(encode(view(integers), 8000).status().code(), Code::invalid_argument);
  EXPECT_EQ(encode(view(samples), 0).status().code(), Code::invalid_argument);
  const auto long_sound = encode(view(&zero, {std::int64_t{1} << 32}, {0}), 8000);
  EXPECT_EQ(long_sound.status().code(), Code::invalid_argument);
  EXPECT_THAT(long_sound.error().message(), HasSubstr("4 GiB"));
}

TEST(WavDecode, SkipsUnknownChunksOfOddLength) {
  const auto decoded = decode(base::as_bytes(corpus_file("wav/float32_odd_chunk.wav")));
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(decoded->rate, 16000u);
  EXPECT_THAT(values_of<float>(decoded->samples), ElementsAre(0, 0.5F, -1));
}

TEST(WavDecode, ReadsTheExtensibleFormat) {
  const auto decoded = decode(base::as_bytes(corpus_file("wav/extensible_float32.wav")));
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_THAT(values_of<float>(decoded->samples), ElementsAre(0, 0.5F, -1));
}

TEST(WavDecode, SaysWhichFormatIsUnsupported) {
  const auto decoded = decode(base::as_bytes(corpus_file("wav/pcm8.wav")));
  EXPECT_EQ(decoded.status().code(), Code::unsupported);
  EXPECT_THAT(decoded.error().message(), HasSubstr("8 bits"));
}

TEST(WavDecode, RejectsAChunkThatClaimsMoreThanTheFileHolds) {
  std::string file = corpus_file("wav/pcm16.wav");
  file.replace(40, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(decode(base::as_bytes(file)).status().code(), Code::corrupt);
}

TEST(WavDecode, SurvivesEveryDamageOfOneByteAndEveryTruncation) {
  for (const char* name : {"wav/pcm16.wav", "wav/float32_odd_chunk.wav", "wav/extensible_float32.wav"}) {
    testing::for_each_damage(corpus_file(name), [](base::Bytes damaged) {
      const auto decoded = decode(damaged);
      if (decoded) {
        EXPECT_TRUE(decoded->samples.view().valid());
        EXPECT_LE(decoded->samples.data.size(), damaged.size());
      } else {
        EXPECT_FALSE(decoded.error().message().empty());
      }
    });
  }
}

}  // namespace
}  // namespace sonde::wav
