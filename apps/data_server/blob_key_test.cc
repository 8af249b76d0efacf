#include "blob_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace sonde::data_server {
namespace {

BlobKey some_key() {
  return {.run = "nested/run",
          .tag = "a tag with \"quotes\", / and \xc3\xbc",
          .kind = TagKind::images,
          .value = {.step = -7, .offset = std::uint64_t{1} << 40, .file = 3, .part = 2},
          .index = 5};
}

TEST(BlobKey, RoundTrips) {
  const BlobKey key = some_key();
  const auto back = BlobKey::decode(key.encode());
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->run, key.run);
  EXPECT_EQ(back->tag, key.tag);
  EXPECT_EQ(back->kind, key.kind);
  EXPECT_EQ(back->value.step, key.value.step);
  EXPECT_EQ(back->value.offset, key.value.offset);
  EXPECT_EQ(back->value.file, key.value.file);
  EXPECT_EQ(back->value.part, key.value.part);
  EXPECT_EQ(back->index, key.index);
}

TEST(BlobKey, NeedsNoEscapingInAUrl) {
  BlobKey key = some_key();
  for (std::size_t size = 0; size < 300; ++size) {
    key.tag = std::string(size, static_cast<char>(size));
    const std::string text = key.encode();
    EXPECT_THAT(text, testing::MatchesRegex("[A-Za-z0-9_-]+"));
    const auto back = BlobKey::decode(text);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->tag, key.tag);
  }
}

TEST(BlobKey, IsRejectedIfThisServerDidNotIssueIt) {
  const std::string good = some_key().encode();
  for (const std::string& bad :
       {std::string(), std::string("A"), std::string("?"), good + "A", good + "=", " " + good}) {
    EXPECT_EQ(BlobKey::decode(bad).status().code(), Code::invalid_argument) << bad;
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(BlobKey::decode(good.substr(0, size)).status().code(), Code::invalid_argument) << size;
  }
}

TEST(BlobKey, WithAnyDigitChangedIsRejectedOrNamesSomethingElse) {
  const std::string good = some_key().encode();
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string other = good;
    other[at] = other[at] == 'B' ? 'C' : 'B';
    const auto decoded = BlobKey::decode(other);
    EXPECT_TRUE(!decoded || decoded->encode() == other) << other;
  }
}

}  // namespace
}  // namespace sonde::data_server
