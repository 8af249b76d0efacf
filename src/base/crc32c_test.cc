#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace sonde::base {
namespace {

std::string random_bytes(std::size_t size) {
  std::mt19937_64 random(size);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// The examples of RFC 3720, appendix B.4, and the usual check value.
TEST(Crc32c, GivesThePublishedValues) {
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending.push_back(static_cast<char>(i));
  const std::string descending(ascending.rbegin(), ascending.rend());
  for (auto* crc : {&crc32c, &crc32c_by_table}) {
    EXPECT_EQ(crc(as_bytes("")), 0u);
    EXPECT_EQ(crc(as_bytes("123456789")), 0xe3069283u);
    EXPECT_EQ(crc(as_bytes(std::string(32, '\0'))), 0x8a9136aau);
    EXPECT_EQ(crc(as_bytes(std::string(32, '\xff'))), 0x62a8ab43u);
    EXPECT_EQ(crc(as_bytes(ascending)), 0x46dd794eu);
    EXPECT_EQ(crc(as_bytes(descending)), 0x113fdb5cu);
  }
}

TEST(Crc32c, IsTheSameByHardwareAndByTableAtEverySizeAndAlignment) {
  const std::string bytes = random_bytes(2100);
  for (std::size_t size = 0; size <= 2048; ++size) {
    for (std::size_t start : {0u, 1u, 3u, 7u, 16u, 33u}) {
      const Bytes part = as_bytes(bytes).subspan(start, size);
      ASSERT_EQ(crc32c(part), crc32c_by_table(part)) << size << " bytes from " << start;
    }
  }
}

TEST(Crc32c, IsTheSameOnLargeData) {
  const std::string bytes = random_bytes((std::size_t{8} << 20) + 5);
  EXPECT_EQ(crc32c(as_bytes(bytes)), crc32c_by_table(as_bytes(bytes)));
}

TEST(Crc32c, ContinuesWhereverTheDataAreSplit) {
  const std::string bytes = random_bytes(3000);
  const std::uint32_t whole = crc32c_by_table(as_bytes(bytes));
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    ASSERT_EQ(crc32c_append(crc32c(as_bytes(bytes).first(cut)), as_bytes(bytes).subspan(cut)), whole) << cut;
  }
}

TEST(Crc32c, MaskRotatesAndAddsAConstant) {
  EXPECT_EQ(mask_crc(0), 0xa282ead8u);
  EXPECT_EQ(mask_crc(0x8000u), 0xa282ead9u);
  EXPECT_EQ(mask_crc(1), 0xa284ead8u);
}

}  // namespace
}  // namespace sonde::base
