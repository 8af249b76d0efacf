#include "formats/onnx_cut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "formats/wire.h"

namespace sonde::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string node(std::string_view op, const std::vector<std::string_view>& inputs, std::string_view output) {
  std::string out;
  for (const std::string_view input : inputs) wire::put_bytes(out, 1, input);
  wire::put_bytes(out, 2, output);
  wire::put_bytes(out, 3, output);
  wire::put_bytes(out, 4, op);
  return out;
}

// x -> h = MatMul(x, w) -> y = Relu(h), and s = Reshape(h, n).
std::string small_model() {
  std::string weight;
  wire::put_integer(weight, 1, 2);
  wire::put_integer(weight, 2, 1);
  wire::put_bytes(weight, 8, "w");
  wire::put_bytes(weight, 9, std::string(8, '\0'));
  std::string graph;
  wire::put_bytes(graph, 1, node("MatMul", {"x", "w"}, "h"));
  wire::put_bytes(graph, 1, node("Relu", {"h"}, "y"));
  wire::put_bytes(graph, 1, node("Shape", {"h"}, "n"));
  wire::put_bytes(graph, 1, node("Reshape", {"h", "n"}, "s"));
  wire::put_bytes(graph, 5, weight);
  std::string input;
  wire::put_bytes(input, 1, "x");
  wire::put_bytes(graph, 11, input);
  std::string output;
  wire::put_bytes(output, 1, "y");
  wire::put_bytes(graph, 12, output);
  std::string opset;
  wire::put_integer(opset, 2, 17);
  std::string model;
  wire::put_integer(model, 1, 8);
  wire::put_bytes(model, 7, graph);
  wire::put_bytes(model, 8, opset);
  return model;
}

base::Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const base::Bytes::element_type*>(text.data()), text.size()};
}

class Cut : public testing::Test {
 protected:
  void SetUp() override {
    const Result<Model> decoded = decode(bytes_of(bytes_));
    ASSERT_TRUE(decoded) << decoded.status().message();
    model_ = *decoded;
  }
  // What was recorded: x and h are floats, n is a shape.
  std::optional<TensorView> give(std::string_view name) const {
    if (name == "x" || name == "h") return view(values_, {1, 2});
    if (name == "n") return view(shape_);
    return std::nullopt;
  }

  const std::string bytes_ = small_model();
  Model model_;
  const std::vector<float> values_ = {1, 2};
  const std::vector<std::int64_t> shape_ = {2, 1};
};

TEST_F(Cut, GivesEachOperationInputsOfItsOwn) {
  Cutter cutter(model_);
  for (const char* output : {"h", "y"}) {
    ASSERT_TRUE(cutter.add(output, [&](std::string_view name) { return give(name); }));
  }
  const std::string encoded = cutter.encode();
  const Result<Model> cut = decode(bytes_of(encoded));
  ASSERT_TRUE(cut) << cut.status().message();
  ASSERT_EQ(cut->graph.nodes.size(), 2U);
  EXPECT_THAT(cut->graph.nodes[0].inputs, ElementsAre("in:x", "w"));
  EXPECT_THAT(cut->graph.nodes[1].inputs, ElementsAre("in:h"));
  EXPECT_THAT(cut->graph.nodes[1].outputs, ElementsAre("y"));
  ASSERT_EQ(cut->graph.inputs.size(), 2U);
  EXPECT_EQ(cut->graph.inputs[1].name, "in:h");
  EXPECT_THAT(*cut->graph.inputs[1].dims, ElementsAre(1, 2));
  EXPECT_EQ(cut->graph.outputs.size(), 2U);
  EXPECT_EQ(cut->opsets, model_.opsets);
  ASSERT_EQ(cutter.inputs().size(), 2U);
  EXPECT_EQ(cutter.inputs()[1].value, "h");
}

TEST_F(Cut, MakesSmallIntegersConstants) {
  Cutter cutter(model_);
  ASSERT_TRUE(cutter.add("s", [&](std::string_view name) { return give(name); }));
  const std::string encoded = cutter.encode();
  const Result<Model> cut = decode(bytes_of(encoded));
  ASSERT_TRUE(cut) << cut.status().message();
  ASSERT_EQ(cut->graph.initializers.size(), 1U);
  EXPECT_EQ(cut->graph.initializers[0].name, "in:n");
  EXPECT_EQ(cutter.inputs().size(), 1U);
}

TEST_F(Cut, SaysWhyAnOperationCannotStandAlone) {
  Cutter cutter(model_);
  EXPECT_THAT(cutter.add("nothing", [](std::string_view) { return std::nullopt; }).message(),
              HasSubstr("no operation"));
  EXPECT_THAT(cutter.add("y", [](std::string_view) { return std::nullopt; }).message(),
              HasSubstr("its input 'h' was not recorded"));
  EXPECT_EQ(cutter.size(), 0U);
}

// y = MatMul(x, w) with w in another file, and a function.
TEST(CutFiles, PutsWeightsOfOtherFilesAndFunctionsIntoTheModel) {
  std::string place;
  wire::put_bytes(place, 1, "location");
  wire::put_bytes(place, 2, "weights.data");
  std::string weight;
  wire::put_integer(weight, 1, 2);
  wire::put_integer(weight, 2, 1);
  wire::put_bytes(weight, 8, "w");
  wire::put_bytes(weight, 13, place);
  wire::put_integer(weight, 14, 1);
  std::string input;
  wire::put_bytes(input, 1, "x");
  std::string graph;
  wire::put_bytes(graph, 1, node("MatMul", {"x", "w"}, "y"));
  wire::put_bytes(graph, 5, weight);
  wire::put_bytes(graph, 11, input);
  std::string function;
  wire::put_bytes(function, 1, "Twice");
  std::string bytes;
  wire::put_integer(bytes, 1, 8);
  wire::put_bytes(bytes, 7, graph);
  wire::put_bytes(bytes, 25, function);
  const Result<Model> model = decode(bytes_of(bytes));
  ASSERT_TRUE(model) << model.status().message();
  const std::vector<float> values = {1, 2};
  const auto give = [&](std::string_view) { return std::optional(view(values, {1, 2})); };

  Cutter without(*model);
  EXPECT_THAT(without.add("y", give).message(), HasSubstr("its weight 'w': it is in another file"));

  const std::string raw(8, 'r');
  Cutter cutter(*model, [&](const External& external) -> Result<base::Bytes> {
    EXPECT_EQ(external.location, "weights.data");
    return bytes_of(raw);
  });
  ASSERT_TRUE(cutter.add("y", give));
  EXPECT_GE(cutter.bytes(), raw.size());
  const std::string encoded = cutter.encode();
  const Result<Model> cut = decode(bytes_of(encoded));
  ASSERT_TRUE(cut) << cut.status().message();
  ASSERT_EQ(cut->graph.initializers.size(), 1U);
  EXPECT_FALSE(cut->graph.initializers[0].external);
  EXPECT_TRUE(std::ranges::equal(cut->graph.initializers[0].raw, bytes_of(raw)));
  EXPECT_THAT(cut->graph.initializers[0].dims, ElementsAre(2));
  ASSERT_EQ(cut->functions.size(), 1U);
  EXPECT_EQ(cut->functions[0].name, "Twice");
}

// y = If(c) { t = Relu(h) }, where h is around it; z = Relu(y).
TEST(CutFiles, GivesAnOperationWithGraphsInsideAModelOfItsOwn) {
  std::string branch;
  wire::put_bytes(branch, 1, node("Relu", {"h"}, "t"));
  std::string inner_output;
  wire::put_bytes(inner_output, 1, "t");
  wire::put_bytes(branch, 12, inner_output);
  std::string attribute;
  wire::put_bytes(attribute, 1, "then_branch");
  wire::put_bytes(attribute, 6, branch);
  wire::put_integer(attribute, 20, 5);
  std::string choice = node("If", {"c"}, "y");
  wire::put_bytes(choice, 5, attribute);
  std::string graph;
  wire::put_bytes(graph, 1, choice);
  wire::put_bytes(graph, 1, node("Relu", {"y"}, "z"));
  for (const char* name : {"c", "h"}) {
    std::string input;
    wire::put_bytes(input, 1, name);
    wire::put_bytes(graph, 11, input);
  }
  std::string bytes;
  wire::put_integer(bytes, 1, 8);
  wire::put_bytes(bytes, 7, graph);
  const Result<Model> model = decode(bytes_of(bytes));
  ASSERT_TRUE(model) << model.status().message();
  const std::vector<float> values = {1, 2};
  const auto give = [&](std::string_view) { return std::optional(view(values, {1, 2})); };

  Cutter cutter(*model);
  EXPECT_TRUE(cutter.needs_own_model("y"));
  EXPECT_FALSE(cutter.needs_own_model("z"));
  ASSERT_TRUE(cutter.add("y", give));
  EXPECT_THAT(cutter.add("z", give).message(), HasSubstr("a model of its own"));
  const std::string encoded = cutter.encode();
  const Result<Model> cut = decode(bytes_of(encoded));
  ASSERT_TRUE(cut) << cut.status().message();
  EXPECT_THAT(cut->graph.nodes[0].outer, ElementsAre("h"));
  ASSERT_EQ(cut->graph.inputs.size(), 2U);
  EXPECT_THAT((std::vector{cut->graph.inputs[0].name, cut->graph.inputs[1].name}),
              testing::UnorderedElementsAre("c", "h"));
}

}  // namespace
}  // namespace sonde::onnx
