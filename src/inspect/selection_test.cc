#include "inspect/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::inspect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Description model() {
  Description made;
  made.path = "m.onnx";
  for (const auto& [name, node, op] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"conv_1", "/conv_1/Conv", "Conv"}, {"relu_1", "", "Relu"}, {"dense_1", "", "MatMul"}, {"a+b", "", "Add"}}) {
    Layer& layer = made.layers.emplace_back();
    layer.index = static_cast<std::int64_t>(made.layers.size()) - 1;
    layer.value.name = name;
    layer.node = node;
    layer.op = op;
  }
  return made;
}

TEST(Selection, OfNothingIsAllLayers) { EXPECT_THAT(*select_layers(model(), {}), ElementsAre(0, 1, 2, 3)); }

TEST(Selection, AnExactNameWinsOverAPattern) {
  EXPECT_THAT(*select_layers(model(), {.names = {"a+b"}}), ElementsAre(3));
}

TEST(Selection, APatternMatchesAllOfAName) {
  EXPECT_THAT(*select_layers(model(), {.names = {".*_1"}}), ElementsAre(0, 1, 2));
  EXPECT_FALSE(select_layers(model(), {.names = {"conv"}}).ok());
}

TEST(Selection, FindsOperationsByTheirOwnName) {
  EXPECT_THAT(*select_layers(model(), {.names = {"/conv_1/Conv"}}), ElementsAre(0));
}

TEST(Selection, CountsNegativeIndicesFromTheEnd) {
  EXPECT_THAT(*select_layers(model(), {.indices = {-1, 0, 3}}), ElementsAre(0, 3));
  EXPECT_EQ(select_layers(model(), {.indices = {4}}).status().message(),
            "there is no layer 4 in 'm.onnx', which has 4 layers, counted from 0");
}

TEST(Selection, ByOperationNamesThoseThatThereAre) {
  EXPECT_THAT(*select_layers(model(), {.ops = {"Relu", "Conv"}}), ElementsAre(0, 1));
  EXPECT_EQ(select_layers(model(), {.ops = {"Gemm"}}).status().message(),
            "'m.onnx' has no operation of type 'Gemm'; it has Add, Conv, MatMul and Relu");
}

TEST(Selection, ThatMatchesNothingNamesTheNearest) {
  EXPECT_THAT(select_layers(model(), {.names = {"dense_2"}}).status().message(), HasSubstr("'dense_1'"));
  EXPECT_THAT(select_layers(model(), {.names = {"("}}).status().message(), HasSubstr("nor a valid pattern"));
}

}  // namespace
}  // namespace sonde::inspect
