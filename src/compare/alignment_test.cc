#include "compare/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Entry op(std::string name, std::string type, Shape shape, std::vector<std::string> inputs, std::string scope = "") {
  return {.name = std::move(name),
          .dtype = DType::f32,
          .shape = shape,
          .op = std::move(type),
          .scope = std::move(scope),
          .inputs = std::move(inputs)};
}
Entry tensor(std::string name, Shape shape) { return {.name = std::move(name), .dtype = DType::f32, .shape = shape}; }

// "a=b by name", "a", "=b" ...
std::vector<std::string> aligned(const std::vector<Entry>& a, const std::vector<Entry>& b,
                                 const std::vector<MappedPair>& mapping = {}) {
  const std::vector<std::string> inputs = {"x"};
  const Result<std::vector<Match>> matches = align({a, inputs}, {b, inputs}, mapping);
  if (!matches) return {matches.error().message()};
  std::vector<std::string> texts;
  for (const Match& match : *matches) {
    std::string text = match.a ? a[*match.a].name : "";
    if (match.b) text += "=" + b[*match.b].name;
    if (match.a && match.b) text += " by " + std::string(to_string(match.evidence));
    if (!match.unresolved.empty()) text += " unresolved";
    texts.push_back(text);
  }
  return texts;
}

TEST(Alignment, PrefersTheMappingThenNames) {
  EXPECT_THAT(aligned({tensor("a", {2}), tensor("b", {2})}, {tensor("b", {2}), tensor("c", {2})}, {{"a", "b", 1}}),
              ElementsAre("a=b by mapping", "b", "=c"));
  EXPECT_THAT(aligned({tensor("a", {2}), tensor("b", {2})}, {tensor("b", {2}), tensor("a", {2})}),
              ElementsAre("a=a by name", "b=b by name"));
}

TEST(Alignment, ReportsANameOfTheMappingThatIsNotThere) {
  EXPECT_THAT(aligned({tensor("dense_1", {2})}, {tensor("b", {2})}, {{"dense_2", "b", 7}}),
              ElementsAre("there is no tensor 'dense_2' in A, which line 7 of the map names; did you mean 'dense_1'?"));
}

TEST(Alignment, IgnoresSeparatorsAndCase) {
  EXPECT_EQ(similar_name("Dense_1/Relu:0"), similar_name("dense.1.relu"));
  EXPECT_EQ(similar_name("/conv1/Conv_output_0"), "conv1_conv_output_0");
  EXPECT_THAT(aligned({tensor("Dense_1/Relu:0", {2})}, {tensor("dense.1.relu", {2})}),
              ElementsAre("Dense_1/Relu:0=dense.1.relu by similar name"));
}

TEST(Alignment, UsesTheModulesThatAnExporterWrote) {
  EXPECT_THAT(aligned({op("t1", "Gemm", {4}, {"x"}, "fc1"), op("t2", "Gemm", {4}, {"t1"}, "fc2")},
                      {op("v7", "Gemm", {4}, {"x"}, "fc1"), op("v9", "Gemm", {4}, {"v7"}, "fc2")}),
              ElementsAre("t1=v7 by module", "t2=v9 by module"));
}

TEST(Alignment, FollowsTheGraphWhereNamesDiffer) {
  const std::vector<Entry> a = {op("a1", "Conv", {1, 8}, {"x", "w"}), op("a2", "Relu", {1, 8}, {"a1"}),
                                op("a3", "Conv", {1, 8}, {"a2", "w2"})};
  const std::vector<Entry> b = {op("b1", "Conv", {1, 8}, {"x", "k"}), op("b2", "Relu", {1, 8}, {"b1"}),
                                op("b3", "Conv", {1, 8}, {"b2", "k2"}), op("b4", "Relu", {1, 8}, {"b3"})};
  EXPECT_THAT(aligned(a, b), ElementsAre("a1=b1 by topology", "a2=b2 by topology", "a3=b3 by topology", "=b4"));
}

TEST(Alignment, UsesOrderAndShapeWhereNothingElseIsKnown) {
  EXPECT_THAT(aligned({tensor("p", {2, 3}), tensor("q", {4}), tensor("r", {2, 3})},
                      {tensor("u", {3, 2}), tensor("v", {4}), tensor("w", {2, 3})}),
              ElementsAre("p=u by order", "q=v by order", "r=w by order"));
}

TEST(Alignment, LeavesOpenWhichOfSeveralIsMissing) {
  EXPECT_THAT(aligned({tensor("p", {2}), tensor("q", {2}), tensor("s", {7})}, {tensor("u", {2}), tensor("v", {7})}),
              ElementsAre("p unresolved", "q unresolved", "=u", "s=v by order"));
}

TEST(Alignment, DoesNotPairOtherNamesIfSomeNamesCorrespond) {
  EXPECT_THAT(aligned({tensor("x", {2}), tensor("y", {2})}, {tensor("x", {2}), tensor("z", {2})}),
              ElementsAre("x=x by name", "y", "=z"));
}

TEST(Mapping, ReadsPairs) {
  const auto pairs = parse_mapping("# comment\n\n a b -> c\r\nd\te\n", "m");
  ASSERT_TRUE(pairs);
  ASSERT_EQ(pairs->size(), 2U);
  EXPECT_EQ((*pairs)[0].a, "a b");
  EXPECT_EQ((*pairs)[0].b, "c");
  EXPECT_EQ((*pairs)[1].b, "e");
  EXPECT_EQ((*pairs)[1].line, 4U);
}

TEST(Mapping, NamesTheLineThatIsWrong) {
  EXPECT_THAT(parse_mapping("a -> b\nnonsense\n", "m.txt").status().message(),
              HasSubstr("line 2 of 'm.txt' has no arrow"));
  EXPECT_THAT(parse_mapping("a -> b\na -> c\n", "m").status().message(),
              HasSubstr("line 2 of 'm' maps 'a' of A a second"));
  EXPECT_THAT(parse_mapping("a -> b\nc -> b\n", "m").status().message(), HasSubstr("maps 'b' of B a second time"));
  EXPECT_THAT(parse_mapping("a -> \n", "m").status().message(), HasSubstr("line 1"));
  EXPECT_THAT(parse_mapping("# nothing\n", "m").status().message(), HasSubstr("maps no tensor"));
}

}  // namespace
}  // namespace sonde::compare
