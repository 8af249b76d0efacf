#include "formats/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace sonde::formats {
namespace {

TEST(JsonWriter, PutsCommasAndBracketsByItself) {
  JsonWriter json;
  json.object().key("a").array().integer(1).integer(-2).end().key("b").object().end();
  json.key("c").truth(true).key("d").null().key("e").texts({"x", "y"}).key("f").shape({2, 3}).end();
  EXPECT_EQ(json.take(), R"({"a":[1,-2],"b":{},"c":true,"d":null,"e":["x","y"],"f":[2,3]})");
}

TEST(JsonWriter, WritesNonFiniteNumbersAsStrings) {
  JsonWriter json;
  json.array().number(std::numeric_limits<double>::quiet_NaN()).number(0.5).end();
  EXPECT_EQ(json.take(), R"(["NaN",0.5])");
}

TEST(JsonWriter, EscapesTextsAndForeignKeys) {
  JsonWriter json;
  json.object().text_key("a\"b").text("line\nend").end();
  EXPECT_EQ(json.take(), "{\"a\\\"b\":\"line\\u000aend\"}");
}

TEST(JsonWriter, PutsValuesAndBracketsOnNewLines) {
  JsonWriter json;
  json.array();
  for (const int value : {1, 2}) json.line("  ").integer(value);
  EXPECT_EQ(json.line().end().take(), "[\n  1,\n  2\n]");
}

TEST(JsonWriter, ContinuesAGivenTextWithoutAComma) {
  JsonWriter json("{\"a\":1}\n");
  EXPECT_EQ(json.object().raw("\"b\":2,\"c\":3").key("d").integer(4).end().take(),
            "{\"a\":1}\n{\"b\":2,\"c\":3,\"d\":4}");
}

TEST(JsonWriter, WritesNumbersThatParseToTheSameDouble) {
  JsonWriter json;
  json.array().number(-0.0).number(0.1).number(1e300).number(9007199254740994).number(-42).end();
  EXPECT_EQ(json.take(), "[-0.0,0.1,1e+300,9.007199254740994e+15,-42]");
}

TEST(JsonWriter, ContinuesAfterAPartWasTaken) {
  JsonWriter json;
  json.object().key("runs").array().text("a");
  std::string all = json.take();
  json.line(" ").text("b").end().end();
  all += json.take();
  EXPECT_EQ(all, "{\"runs\":[\"a\",\n \"b\"]}");
}

}  // namespace
}  // namespace sonde::formats
