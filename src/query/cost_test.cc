#include <gtest/gtest.h>

#include <string>

#include "query/api.h"

namespace sonde::query {
namespace {

Question asks(std::string_view path, std::string_view body = "") {
  Question question;
  question.path = path.substr(0, path.find('?'));
  if (question.path.size() < path.size()) question.query = path.substr(question.path.size() + 1);
  question.body = body;
  return question;
}

// So many series, or a group of this many runs, as a page asks for them.
std::string body_of(std::string_view path, int series, const std::string& rest) {
  const bool group = path == "bands";
  std::string body = group ? R"({"groups": [{"tag": "losses/total", "runs": [)" : R"({"series": [)";
  for (int i = 0; i < series; ++i) {
    body += group ? R"("experiment/train", )" : R"({"run": "experiment/train", "tag": "losses/total"}, )";
  }
  body.resize(body.size() - 2);
  return body + (group ? "]}]" : "]") + rest + "}";
}

TEST(CostOf, StructureIsQuick) {
  for (const char* path :
       {"status", "runs", "tags", "alerts", "captures", "layouts", "arm", "disarm", "note", "delete"}) {
    EXPECT_EQ(cost_of(asks(path)), Cost::quick) << path;
  }
}

TEST(CostOf, WhatAPageShowsAtOnceIsNotExpensive) {
  for (const char* path : {"image", "audio", "media", "steps", "histograms", "statistics", "nothing", "",
                           "histograms?run=a&tag=b&most=100", "statistics?most=1000"}) {
    EXPECT_EQ(cost_of(asks(path)), Cost::values) << path;
  }
  for (const char* path : {"series", "bands"}) {
    EXPECT_EQ(cost_of(asks(path, body_of(path, 10, R"(, "width": 2000)"))), Cost::values) << path;
  }
  EXPECT_EQ(cost_of(asks("table", body_of("table", 10, ""))), Cost::values);
}

TEST(CostOf, ManyChartsWideChartsAndEveryPointAreExpensive) {
  EXPECT_EQ(cost_of(asks("scalars")), Cost::expensive);
  for (const char* path : {"series", "bands", "table"}) {
    EXPECT_EQ(cost_of(asks(path, body_of(path, 1000, ""))), Cost::expensive) << path;
  }
  EXPECT_EQ(cost_of(asks("series", body_of("series", 100, R"(, "width" : 16384)"))), Cost::expensive);
  EXPECT_EQ(cost_of(asks("bands", body_of("bands", 100, R"(, "width":16384)"))), Cost::expensive);
  EXPECT_EQ(cost_of(asks("series", std::string(70'000, ' '))), Cost::expensive) << "which takes long to read";
}

TEST(CostOf, HundredsOfHistogramsAreExpensive) {
  for (const char* path : {"histograms?run=a&tag=b&most=500", "histograms?m%6fst=101", "statistics?most=10000"}) {
    EXPECT_EQ(cost_of(asks(path)), Cost::expensive) << path;
  }
}

TEST(CostOf, TheWidthIsTakenFromTheJson) {
  const std::string body = body_of("series", 100, R"(, "\u0077idth": 16384)");
  EXPECT_EQ(cost_of(asks("series", body)), Cost::expensive);
  EXPECT_EQ(cost_of(asks("series", R"({"series": [{"run": "\"width\":16384", "tag": "\"width\":16384"}]})")),
            Cost::values);
}

TEST(CostOf, QuestionsThatMakeNoSenseHaveOne) {
  for (const char* body : {"", "{", "\"width\"", R"({"series": [], "width": -1})", R"({"series": 3})", "[]"}) {
    EXPECT_EQ(cost_of(asks("series", body)), Cost::values) << body;
  }
  for (const char* path : {"histograms?most=x", "histograms?most=500&most=500", "histograms?%", "histograms?new=1"}) {
    EXPECT_EQ(cost_of(asks(path)), Cost::values) << path;
  }
}

}  // namespace
}  // namespace sonde::query
