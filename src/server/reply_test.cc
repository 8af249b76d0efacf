#include "server/reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::server {
namespace {

using testing::HasSubstr;
using testing::Not;

// Ten bytes of sound.
Reply sound() {
  Reply reply;
  reply.fields = "ETag: \"s\"\r\n";
  reply.content_fields = "Content-Type: audio/wav\r\n";
  reply.etag = "\"s\"";
  reply.in_parts = true;
  reply.text = "0123456789";
  return reply;
}

std::string text_of(const Part& part) { return {reinterpret_cast<const char*>(part.body.data()), part.body.size()}; }

TEST(PartOf, IsEverythingByDefault) {
  const Reply reply = sound();
  const Part part = part_of(reply, {});
  EXPECT_EQ(part.status, 200);
  EXPECT_EQ(text_of(part), "0123456789");
  EXPECT_EQ(part.length, 10U);
  EXPECT_EQ(part.fields, "Accept-Ranges: bytes\r\nContent-Type: audio/wav\r\n");
}

TEST(PartOf, IsTheHeaderAlone) {
  const Reply reply = sound();
  const Part part = part_of(reply, {.head = true, .range = "bytes=0-1"});
  EXPECT_EQ(part.status, 200);
  EXPECT_EQ(text_of(part), "");
  EXPECT_EQ(part.length, 10U);
  EXPECT_TRUE(part.has_length());
}

TEST(PartOf, IsEmptyForClientsThatHaveIt) {
  Reply reply = sound();
  for (const char* known : {"\"s\"", "W/\"s\"", "\"x\", \"s\"", "*"}) {
    const Part part = part_of(reply, {.if_none_match = known, .range = "bytes=0-1"});
    EXPECT_EQ(part.status, 304) << known;
    EXPECT_EQ(text_of(part), "");
    EXPECT_EQ(part.fields, "");
    EXPECT_FALSE(part.has_length());
  }
  EXPECT_EQ(part_of(reply, {.if_none_match = "\"other\""}).status, 200);
  reply.status = 404;
  EXPECT_EQ(part_of(reply, {.if_none_match = "\"s\""}).status, 404);
  reply.status = 200;
  reply.etag = "";
  EXPECT_EQ(part_of(reply, {.if_none_match = "*"}).status, 200);
}

TEST(PartOf, IsTheRangeThatWasAskedFor) {
  struct Case {
    const char* range;
    const char* text;
    const char* place;
  };
  const Reply reply = sound();
  for (const Case& one :
       {Case{"bytes=0-", "0123456789", "0-9"}, Case{"bytes=0-0", "0", "0-0"}, Case{"bytes=3-5", "345", "3-5"},
        Case{"bytes=9-", "9", "9-9"}, Case{"bytes=-3", "789", "7-9"}, Case{"bytes=-99", "0123456789", "0-9"},
        Case{"bytes=8-99", "89", "8-9"}, Case{"bytes=8-99999999999999999999999", "89", "8-9"}}) {
    const Part part = part_of(reply, {.range = one.range});
    EXPECT_EQ(part.status, 206) << one.range;
    EXPECT_EQ(text_of(part), one.text) << one.range;
    EXPECT_EQ(part.length, part.body.size());
    EXPECT_THAT(part.fields, HasSubstr("Content-Range: bytes " + std::string(one.place) + "/10\r\n"));
    EXPECT_THAT(part.fields, HasSubstr("Content-Type: audio/wav\r\n"));
  }
}

TEST(PartOf, RejectsARangeBeyondTheEnd) {
  const Reply reply = sound();
  for (const char* range : {"bytes=10-", "bytes=10-20", "bytes=99999999999999999999999-", "bytes=-0"}) {
    const Part part = part_of(reply, {.range = range});
    EXPECT_EQ(part.status, 416) << range;
    EXPECT_THAT(part.fields, HasSubstr("Content-Range: bytes */10\r\n"));
    EXPECT_THAT(text_of(part), HasSubstr("{\"error\": "));
  }
}

TEST(PartOf, IgnoresAnInvalidRange) {
  const Reply reply = sound();
  for (const char* range : {"bytes", "bytes=", "bytes=-", "bytes=5-3", "bytes=x-", "bytes=1-x", "bytes=+1-2", "bytes=1",
                            "bytes=0-1,3-4", "lines=0-1", "bytes= 0-1", "bytes=--1"}) {
    const Part part = part_of(reply, {.range = range});
    EXPECT_EQ(part.status, 200) << range;
    EXPECT_EQ(text_of(part), "0123456789") << range;
  }
}

TEST(PartOf, IsEverythingIfTheClientHasAPartOfAnotherVersion) {
  Reply reply = sound();
  EXPECT_EQ(part_of(reply, {.range = "bytes=1-2", .if_range = "\"s\""}).status, 206);
  for (const char* other : {"\"t\"", "W/\"s\"", "Sun, 06 Nov 1994 08:49:37 GMT"}) {
    EXPECT_EQ(part_of(reply, {.range = "bytes=1-2", .if_range = other}).status, 200) << other;
  }
  reply.in_parts = false;  // such as one that is compressed
  const Part whole = part_of(reply, {.range = "bytes=1-2"});
  EXPECT_EQ(whole.status, 200);
  EXPECT_THAT(whole.fields, Not(HasSubstr("Accept-Ranges")));
}

TEST(Reason, ExistsForEveryStatus) {
  for (const int status : {200, 204, 206, 303, 304, 308, 400, 401, 403, 404, 405, 409, 413, 416, 429, 431, 503}) {
    EXPECT_NE(reason(status), "Error") << status;
  }
}

}  // namespace
}  // namespace sonde::server
