#include "base/bytes.h"

#include <gtest/gtest.h>

#include <limits>

namespace sonde::base {
namespace {

TEST(Bytes, VarintsAndZigzagsComeBack) {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{127}, std::int64_t{128}, std::int64_t{-300},
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    std::string text;
    put_zigzag(text, value);
    put_varint(text, static_cast<std::uint64_t>(value));
    ByteReader reader(as_bytes(text));
    EXPECT_EQ(reader.zigzag(), value);
    EXPECT_EQ(reader.varint(), static_cast<std::uint64_t>(value));
    EXPECT_TRUE(reader.ok() && reader.done());
  }
}

TEST(Bytes, AReaderNeverReadsPastItsEnd) {
  std::string text;
  put(text, std::uint32_t{7});
  ByteReader reader(as_bytes(text));
  EXPECT_EQ(reader.get<std::uint32_t>(), 7U);
  EXPECT_EQ(reader.get<std::uint8_t>(), 0);
  EXPECT_FALSE(reader.ok());
  EXPECT_TRUE(reader.take(0).empty());
  EXPECT_EQ(reader.remaining(), 0U);
  ByteReader huge(as_bytes(text));
  EXPECT_TRUE(huge.take(std::numeric_limits<std::uint64_t>::max()).empty());
  EXPECT_FALSE(huge.ok());
}

TEST(Bytes, AVarintThatNeverEndsIsAnError) {
  const std::string text(20, '\xff');
  ByteReader reader(as_bytes(text));
  EXPECT_EQ(reader.varint(), 0U);
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace sonde::base
