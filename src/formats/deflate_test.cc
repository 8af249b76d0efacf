#include "formats/deflate.h"

#include <gtest/gtest.h>

#include <random>

#include "formats/file_testing.h"

namespace sonde::deflate {
namespace {

std::string compressed(std::string_view text, Wrapper wrapper) {
  std::string out;
  EXPECT_TRUE(compress(base::as_bytes(text), wrapper, out));
  return out;
}

Result<std::vector<std::byte>> expanded(std::string_view packed, Wrapper wrapper, std::uint64_t size) {
  const base::Bytes piece = base::as_bytes(packed);
  return expand({&piece, 1}, wrapper, size);
}

std::string noise(std::size_t size) {
  std::mt19937 random(3);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

TEST(Deflate, RoundTrips) {
  std::string mixed = noise(300'000) + std::string(1'000'000, 'x') + noise(70'000);
  for (const std::string& text : {std::string(), std::string("a"), std::string(5000, 'b'), noise(100'000), mixed}) {
    for (Wrapper wrapper : {Wrapper::none, Wrapper::zlib, Wrapper::gzip}) {
      const auto result = expanded(compressed(text, wrapper), wrapper, text.size());
      ASSERT_TRUE(result) << result.error().message();
      EXPECT_EQ(base::as_text(*result), text);
    }
  }
}

TEST(Deflate, GzipMembersEndWithChecksumAndSize) {
  std::string packed = compressed("123456789", Wrapper::gzip);
  EXPECT_EQ(packed.substr(0, 3), "\x1f\x8b\x08");
  // The check value of CRC-32, and nine.
  EXPECT_EQ(packed.substr(packed.size() - 8), std::string("\x26\x39\xf4\xcb\x09\0\0\0", 8));
  packed[packed.size() - 8] ^= 1;
  EXPECT_FALSE(expanded(packed, Wrapper::gzip, 9));
}

TEST(Deflate, AppendsToExistingContent) {
  std::string out = "before";
  ASSERT_TRUE(compress(base::as_bytes("text"), Wrapper::zlib, out));
  EXPECT_EQ(out.substr(0, 6), "before");
  EXPECT_TRUE(expanded(out.substr(6), Wrapper::zlib, 4));
}

TEST(Deflate, ReadsAStreamInPiecesOfAnySize) {
  const std::string text = noise(5000) + std::string(5000, 'x');
  const std::string packed = compressed(text, Wrapper::zlib);
  for (std::size_t length : {1U, 2U, 7U, 1000U}) {
    std::vector<base::Bytes> pieces;
    for (std::size_t at = 0; at < packed.size(); at += length) {
      pieces.push_back(base::as_bytes(std::string_view(packed).substr(at, length)));
      pieces.emplace_back();
    }
    const auto result = expand(pieces, Wrapper::zlib, text.size());
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(base::as_text(*result), text);
  }
}

TEST(Deflate, RejectsAnotherSizeThanStated) {
  const std::string packed = compressed(std::string(100'000, 'x'), Wrapper::none);
  EXPECT_TRUE(expanded(packed, Wrapper::none, 100'000));
  for (std::uint64_t size : {std::uint64_t{0}, std::uint64_t{99'999}, std::uint64_t{100'001}, std::uint64_t{1} << 62}) {
    EXPECT_EQ(expanded(packed, Wrapper::none, size).status().code(), Code::corrupt) << size;
  }
}

TEST(Deflate, NoticesAWrongZlibChecksum) {
  std::string packed = compressed("some text", Wrapper::zlib);
  packed.back() = static_cast<char>(packed.back() ^ 1);
  EXPECT_EQ(expanded(packed, Wrapper::zlib, 9).status().code(), Code::corrupt);
}

TEST(Deflate, SurvivesEveryDamageOfOneByteAndEveryTruncation) {
  const std::string text = "abcabcabcabc" + noise(40) + "abcabcabcabc";
  for (Wrapper wrapper : {Wrapper::none, Wrapper::zlib, Wrapper::gzip}) {
    testing::for_each_damage(compressed(text, wrapper), [&](base::Bytes damaged) {
      const auto result = expand({&damaged, 1}, wrapper, text.size());
      if (result && wrapper == Wrapper::zlib) {
        EXPECT_EQ(base::as_text(*result), text);
      }
    });
  }
}

}  // namespace
}  // namespace sonde::deflate
