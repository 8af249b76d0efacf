#include "formats/tf_flat_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "formats/file_testing.h"
#include "formats/wire.h"

namespace sonde::formats::tf {
namespace {

using sonde::testing::corpus_file;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Signature& named(const MetaGraph& graph, std::string_view name) {
  return *std::ranges::find(graph.signatures, name, &Signature::name);
}

std::vector<std::string> operations(const FlatGraph& graph) {
  std::vector<std::string> names;
  for (const FlatNode& node : graph.nodes) {
    if (node.kind == FlatNode::Kind::operation) names.push_back(node.name);
  }
  return names;
}

// Each node follows those that it reads.
void expect_order(const FlatGraph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const FlatTensor& input : graph.nodes[i].inputs) EXPECT_LT(input.node, i) << graph.nodes[i].name;
  }
}

class OfTensorFlow : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(OfTensorFlow, SignaturesBecomeOneListWithoutCalls) {
  const std::string file = corpus_file(std::string("saved_model/") + GetParam().first + ".pb");
  const auto model = decode_saved_model(base::as_bytes(file));
  ASSERT_TRUE(model) << model.error().message();
  const auto flat = flatten(model->graphs[0].graph, named(model->graphs[0], GetParam().second));
  ASSERT_TRUE(flat) << flat.error().message();
  EXPECT_THAT(operations(*flat), Not(IsEmpty()));
  expect_order(*flat);
  std::set<std::string> names;
  for (const FlatNode& node : flat->nodes) {
    EXPECT_FALSE(node.definition->op.ends_with("PartitionedCall"));
    EXPECT_TRUE(names.insert(node.name).second) << node.name;
    if (node.kind == FlatNode::Kind::variable) {
      EXPECT_THAT(std::string(node.key), Not(IsEmpty())) << node.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, OfTensorFlow,
                         ::testing::Values(std::pair("keras3_cnn", "serving_default"), std::pair("signatures", "parts"),
                                           std::pair("signatures", "lookup"), std::pair("signatures", "flow"),
                                           std::pair("subclassed", "serve"),
                                           std::pair("variables_v1", "serving_default")));

TEST(FlatGraph, KeepsTheNamesOfLayersInsideOfFunctions) {
  const std::string file = corpus_file("saved_model/keras3_cnn.pb");
  const auto model = decode_saved_model(base::as_bytes(file));
  ASSERT_TRUE(model);
  const auto flat = flatten(model->graphs[0].graph, named(model->graphs[0], "serving_default"));
  ASSERT_TRUE(flat);
  EXPECT_THAT(operations(*flat), Contains("classifier_1/dense_1_1/MatMul"));
  ASSERT_EQ(flat->outputs.size(), 1u);
  EXPECT_EQ(flat->outputs[0].name, "output_0");
  EXPECT_EQ(flat->tensor_name(flat->outputs[0].tensor), "classifier_1/dense_1_1/Softmax");
}

TEST(FlatGraph, OutputsOfAnOperationThatHasSeveralAreNumbered) {
  const std::string file = corpus_file("saved_model/signatures.pb");
  const auto model = decode_saved_model(base::as_bytes(file));
  ASSERT_TRUE(model);
  const auto flat = flatten(model->graphs[0].graph, named(model->graphs[0], "parts"));
  ASSERT_TRUE(flat);
  std::map<std::string, std::string> outputs;
  for (const FlatGraph::Port& port : flat->outputs) outputs[port.name] = flat->tensor_name(port.tensor);
  EXPECT_EQ(outputs["best"], "best");
  EXPECT_EQ(outputs["which"], "best:1");
}

// ---- Graphs made here.

NodeDef node(std::string_view name, std::string_view op, std::vector<std::string_view> inputs = {}) {
  return {name, op, std::move(inputs), {}};
}

// AttrValue { func { name } }
std::string function_value(std::string_view name) {
  std::string function;
  wire::put_bytes(function, 1, name);
  std::string value;
  wire::put_bytes(value, 10, function);
  return value;
}

NodeDef call(std::string_view name, std::string_view value, std::vector<std::string_view> inputs) {
  NodeDef made = node(name, "PartitionedCall", std::move(inputs));
  made.attributes.emplace_back("f", value);
  return made;
}

// Two calls of one function; `types` is the list of its outputs' types.
GraphDef two_calls(std::string_view value) {
  GraphDef graph;
  FunctionDef function;
  function.name = "square";
  function.inputs = {{"x", 1, false}};
  function.outputs = {{"y", 1, false}};
  function.nodes = {node("product", "Mul", {"x", "x"}), node("Identity", "Identity", {"product:z:0"})};
  function.returns = {{"y", "Identity:output:0"}};
  graph.functions.push_back(std::move(function));
  graph.nodes = {node("in", "Placeholder"), call("first", value, {"in"}), call("second", value, {"first"}),
                 node("out", "Relu", {"second"})};
  return graph;
}

TEST(FlatGraph, NamesThatSeveralCallsShareHaveTheCallInFront) {
  const std::string value = function_value("square");
  const auto flat = flatten(two_calls(value));
  ASSERT_TRUE(flat) << flat.error().message();
  EXPECT_THAT(operations(*flat), ElementsAre("first/product", "second/product", "out"));
  expect_order(*flat);
}

TEST(FlatGraph, AnOrderOfExecutionIsFoundWhateverTheOrderOfTheFile) {
  GraphDef graph;
  graph.nodes = {node("c", "Relu", {"b"}), node("a", "Relu", {"in"}), node("b", "Add", {"a", "in"}),
                 node("in", "Placeholder")};
  const auto flat = flatten(graph);
  ASSERT_TRUE(flat) << flat.error().message();
  EXPECT_THAT(operations(*flat), ElementsAre("a", "b", "c"));
  ASSERT_EQ(flat->outputs.size(), 1u);
  EXPECT_EQ(flat->outputs[0].name, "c");
}

TEST(FlatGraph, AReferenceToNothingIsRefused) {
  GraphDef graph;
  graph.nodes = {node("in", "Placeholder"), node("a", "Relu", {"nothing"})};
  const auto flat = flatten(graph);
  ASSERT_FALSE(flat);
  EXPECT_EQ(flat.error().code(), Code::corrupt);
  EXPECT_THAT(flat.error().message(), HasSubstr("'nothing'"));
}

TEST(FlatGraph, AFunctionThatCallsItselfIsRefused) {
  const std::string value = function_value("square");
  GraphDef graph = two_calls(value);
  graph.functions[0].nodes[0] = call("product", value, {"x"});
  graph.functions[0].nodes[1].inputs = {"product:output:0"};
  const auto flat = flatten(graph);
  ASSERT_FALSE(flat);
  EXPECT_THAT(flat.error().message(), HasSubstr("calls itself"));
}

TEST(FlatGraph, AVariableThatAFunctionAssignsIsMarked) {
  const std::string value = function_value("count");
  GraphDef graph;
  FunctionDef function;
  function.name = "count";
  function.inputs = {{"counter", 20, false}, {"x", 1, false}};
  function.outputs = {{"y", 1, false}};
  function.nodes = {node("add", "AssignAddVariableOp", {"counter", "x"}),
                    node("read", "ReadVariableOp", {"counter", "^add"})};
  function.returns = {{"y", "read:value:0"}};
  graph.functions.push_back(std::move(function));
  graph.nodes = {node("in", "Placeholder"), node("state", "VarHandleOp"), call("call", value, {"state", "in"}),
                 node("out", "Relu", {"call"})};
  const auto flat = flatten(graph);
  ASSERT_TRUE(flat) << flat.error().message();
  const auto variable = std::ranges::find(flat->nodes, "state", &FlatNode::name);
  ASSERT_NE(variable, flat->nodes.end());
  EXPECT_TRUE(variable->assigned);
}

TEST(FlatGraph, ALongChainTakesNoStack) {
  GraphDef graph;
  std::vector<std::string> names;
  constexpr int kCount = 200'000;
  names.reserve(kCount);
  graph.nodes.push_back(node("in", "Placeholder"));
  for (int i = 0; i < kCount; ++i) {
    names.push_back("n" + std::to_string(i));
    graph.nodes.push_back(
        node(names.back(), "Relu",
             {i == 0 ? std::string_view("in") : std::string_view(names[static_cast<std::size_t>(i) - 1])}));
  }
  const auto flat = flatten(graph);
  ASSERT_TRUE(flat);
  EXPECT_EQ(operations(*flat).size(), std::size_t{kCount});
}

}  // namespace
}  // namespace sonde::formats::tf
