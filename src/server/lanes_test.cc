#include "server/lanes.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde::server {
namespace {

query::Question asks(std::string_view path, std::string_view body = "") {
  query::Question question;
  question.path = path;
  question.body = body;
  return question;
}

// So many series, as a page asks for them.
std::string body_of(int series, const std::string& rest) {
  std::string body = R"({"series": [)";
  for (int i = 0; i < series; ++i) body += R"({"run": "experiment/train", "tag": "losses/total"}, )";
  body.resize(body.size() - 2);
  return body + "]" + rest + "}";
}

TEST(LaneOf, WhatThereIsNeedsNoValues) {
  for (const char* path : {"status", "runs", "tags", "alerts", "layouts", "arm", "note", "delete"}) {
    EXPECT_EQ(lane_of(asks(path)), Lane::quick) << path;
  }
}

TEST(LaneOf, WhatAPageShowsAtOnceIsNotDear) {
  for (const char* path : {"image", "audio", "media", "steps", "histograms", "statistics", "nothing", ""}) {
    EXPECT_EQ(lane_of(asks(path)), Lane::values) << path;
  }
  for (const char* path : {"series", "bands", "table"}) {
    EXPECT_EQ(lane_of(asks(path, body_of(10, R"(, "width": 2000)"))), Lane::values) << path;
    EXPECT_EQ(lane_of(asks(path, body_of(10, ""))), Lane::values) << path;
  }
}

TEST(LaneOf, ManyChartsWideChartsAndEveryPointAreDear) {
  EXPECT_EQ(lane_of(asks("scalars")), Lane::dear);
  EXPECT_EQ(lane_of(asks("series", body_of(1000, ""))), Lane::dear);
  EXPECT_EQ(lane_of(asks("series", body_of(100, R"(, "width" : 16384)"))), Lane::dear);
  EXPECT_EQ(lane_of(asks("bands", body_of(100, R"(, "width":16384)"))), Lane::dear);
}

TEST(LaneOf, BodiesThatMakeNoSenseHaveOne) {
  for (const char* body : {"\"width\"", "\"width\":", "\"width\": -1", "\"width\": 99999999999999", "\"width\": x"}) {
    EXPECT_EQ(lane_of(asks("series", body)), Lane::values) << body;
  }
}

}  // namespace
}  // namespace sonde::server
