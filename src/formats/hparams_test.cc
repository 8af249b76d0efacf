#include "formats/hparams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::hparams {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// A length-delimited field.
std::string field(char number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(bytes.size()) + bytes;
}

TEST(HParams, ReadsTheParametersOfASessionStart) {
  std::string number(1, '\x11');
  const double rate = 0.25;
  number.append(reinterpret_cast<const char*>(&rate), sizeof rate);
  const std::string session = field(1, field(1, "rate") + field(2, number)) +
                              field(1, field(1, "name") + field(2, field(3, "adam"))) +
                              field(1, field(1, "fast") + field(2, "\x20\x01")) + field(4, "sweep");
  const auto content = decode(field(3, session));
  ASSERT_TRUE(content) << content.error().message();
  ASSERT_TRUE(content->start && !content->experiment && !content->end);
  EXPECT_EQ(content->start->group, "sweep");
  EXPECT_THAT(content->start->hparams, ElementsAre(Pair("fast", Value(true)), Pair("name", Value(std::string("adam"))),
                                                   Pair("rate", Value(0.25))));
}

TEST(HParams, ReadsTheExperimentAndTheEndOfASession) {
  const auto experiment = decode(field(
      2, field(1, "about") + field(4, field(1, "rate")) + field(5, field(1, field(1, "eval") + field(2, "loss")))));
  ASSERT_TRUE(experiment);
  EXPECT_EQ(experiment->experiment->description, "about");
  EXPECT_THAT(experiment->experiment->hparams, ElementsAre("rate"));
  EXPECT_THAT(experiment->experiment->metrics, ElementsAre("loss"));
  const auto end = decode(field(4, "\x08\x01"));
  ASSERT_TRUE(end);
  EXPECT_EQ(status_text(end->end->status), "success");
}

TEST(HParams, OfBytesThatAreNoMessageAreCorrupt) {
  EXPECT_EQ(decode("\x1a\x7f").error().code(), Code::corrupt);
  EXPECT_TRUE(decode(""));
}

}  // namespace
}  // namespace sonde::hparams
