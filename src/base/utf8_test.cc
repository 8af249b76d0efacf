#include "base/utf8.h"

#include <gtest/gtest.h>

namespace sonde::base {
namespace {

TEST(ValidUtf8, ReplacesInvalidBytes) {
  EXPECT_EQ(valid_utf8("a\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80"), "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80");
  const std::string mark = "\xef\xbf\xbd";
  EXPECT_EQ(valid_utf8("a\xff"), "a" + mark);
  EXPECT_EQ(valid_utf8("\xc3"), mark);
  EXPECT_EQ(valid_utf8("\xc0\x80"), mark + mark);                        // overlong
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), mark + mark + mark);             // a surrogate
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80"), mark + mark + mark + mark);  // beyond Unicode
}

}  // namespace
}  // namespace sonde::base
