// Models that the package `onnx` wrote are in tests/corpus/onnx; tests/cli/test_inspect*.py compares with that package.
#include "formats/onnx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "formats/onnx_edit.h"
#include "tests/test_data.h"

namespace sonde::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string file(const std::string& name) {
  std::ifstream stream(std::string(SONDE_TEST_DATA "/../corpus/onnx/") + name, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

struct Opened {
  explicit Opened(std::string content) : bytes(std::move(content)), model(decode(base::as_bytes(bytes))) {}
  std::string bytes;
  Result<Model> model;
};

TEST(Onnx, ReadsNodesValuesAndInitializers) {
  const Opened chain(file("chain"));
  ASSERT_TRUE(chain.model.ok()) << chain.model.status().message();
  const Graph& graph = chain.model->graph;
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[0].op, "MatMul");
  EXPECT_EQ(graph.nodes[0].name, "mm");
  EXPECT_THAT(graph.nodes[0].inputs, ElementsAre("x", "w"));
  EXPECT_THAT(graph.nodes[0].outputs, ElementsAre("h"));
  ASSERT_EQ(graph.initializers.size(), 1U);
  EXPECT_EQ(graph.initializers[0].elements(), 4);
  EXPECT_EQ(graph.initializers[0].raw.size(), 16U);
  ASSERT_EQ(graph.values.size(), 1U);
  EXPECT_THAT(*graph.values[0].dims, ElementsAre(-1, 2));
  EXPECT_EQ(chain.model->opsets[0], (std::pair<std::string_view, std::int64_t>("", 17)));
}

TEST(Onnx, FindsTheValuesAroundASubgraphThatItReads) {
  const Opened opened(file("subgraphs"));
  ASSERT_TRUE(opened.model.ok()) << opened.model.status().message();
  EXPECT_THAT(opened.model->graph.nodes[0].outer, ElementsAre("x"));
  EXPECT_THAT(opened.model->graph.nodes[0].attributes[0].subgraphs, ::testing::SizeIs(1));
}

TEST(Onnx, FindsTensorsInOtherFiles) {
  const Opened opened(file("external"));
  ASSERT_TRUE(opened.model.ok());
  const auto& external = opened.model->graph.initializers[0].external;
  ASSERT_TRUE(external.has_value());
  EXPECT_EQ(external->location, "w.bin");
  EXPECT_EQ(external->length, 16U);
}

TEST(Onnx, KnowsTheModuleThatTorchExportedANodeFrom) {
  const Opened opened(file("scopes"));
  ASSERT_TRUE(opened.model.ok());
  EXPECT_EQ(module_path(opened.model->graph.nodes[0]), "encoder");
  EXPECT_EQ(module_path(opened.model->graph.nodes[1]), "");
}

TEST(Onnx, RejectsATruncatedModel) {
  const Opened opened(file("truncated"));
  EXPECT_EQ(opened.model.status().code(), Code::corrupt);
}

TEST(Onnx, RejectsEveryPrefixOfAModelOrReadsAModel) {
  const std::string whole = file("chain");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Opened opened(whole.substr(0, size));
    if (!opened.model) EXPECT_EQ(opened.model.status().code(), Code::corrupt);
  }
}

TEST(Onnx, RejectsANodeThatReadsWhatNothingGives) {
  std::string bytes = file("chain");
  bytes.replace(bytes.find("\n\1x\n\1w"), 3, "\n\1q");  // the first input of the MatMul
  const Opened opened(bytes);
  ASSERT_FALSE(opened.model.ok());
  EXPECT_THAT(opened.model.status().message(), HasSubstr("MatMul 'mm' reads 'q'"));
}

TEST(OnnxEdit, MakesOtherValuesTheOutputs) {
  const Opened chain(file("chain"));
  const std::vector<std::string> outputs = {"h", "y"};
  const auto tapped = with_outputs(base::as_bytes(chain.bytes), *chain.model, outputs, {});
  ASSERT_TRUE(tapped.ok()) << tapped.status().message();
  const Opened again(*tapped);
  ASSERT_TRUE(again.model.ok());
  ASSERT_EQ(again.model->graph.outputs.size(), 2U);
  EXPECT_EQ(again.model->graph.outputs[0].name, "h");
  EXPECT_THAT(*again.model->graph.outputs[0].dims, ElementsAre(-1, 2));
  EXPECT_EQ(again.model->graph.outputs[1].name, "y");
  EXPECT_TRUE(again.model->graph.values.empty());
  EXPECT_EQ(again.model->graph.nodes.size(), 2U);
}

TEST(OnnxEdit, KeepsTheModelByteForByteIfNothingChanges) {
  const Opened chain(file("chain"));
  const std::vector<std::string> outputs = {"y"};
  const auto same = with_outputs(base::as_bytes(chain.bytes), *chain.model, outputs, {});
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->size(), chain.bytes.size());  // only the order of fields may differ
}

TEST(OnnxEdit, RefusesAValueOfUnknownType) {
  const Opened opened(file("several"));
  const std::vector<std::string> outputs = {"a"};
  const auto tapped = with_outputs(base::as_bytes(opened.bytes), *opened.model, outputs, {});
  EXPECT_EQ(tapped.status().message(), "the type of 'a' is not known");
  const std::vector<TypedValue> types = {{"a", type_number(DType::f32), Shape{1}}};
  EXPECT_TRUE(with_outputs(base::as_bytes(opened.bytes), *opened.model, outputs, types).ok());
}

TEST(OnnxEdit, TakesANodeOutOfAModel) {
  const Opened chain(file("chain"));
  const std::vector<std::size_t> nodes = {0};
  const std::vector<TypedValue> inputs = {{"x", type_number(DType::f32), Shape{3, 2}}};
  const auto made = nodes_model(*chain.model, nodes, inputs, "/again", {});
  ASSERT_TRUE(made.ok()) << made.status().message();
  const Opened single(*made);
  ASSERT_TRUE(single.model.ok()) << single.model.status().message();
  EXPECT_THAT(*single.model->graph.inputs[0].dims, ElementsAre(3, 2));
  EXPECT_EQ(single.model->graph.outputs[0].name, "h/again");
  EXPECT_EQ(single.model->graph.initializers[0].name, "w");
}

TEST(OnnxEdit, LeavesNodesOut) {
  const Opened chain(file("chain"));
  const std::vector<std::size_t> nodes = {1};
  const std::vector<std::string_view> outputs = {"h"};
  const std::string made = without_nodes(base::as_bytes(chain.bytes), *chain.model, nodes, outputs);
  const Opened left(made);
  ASSERT_TRUE(left.model.ok()) << left.model.status().message();
  ASSERT_EQ(left.model->graph.nodes.size(), 1U);
  EXPECT_EQ(left.model->graph.nodes[0].outputs[0], "h");
  ASSERT_EQ(left.model->graph.outputs.size(), 1U);
  EXPECT_EQ(left.model->graph.outputs[0].name, "h");
  EXPECT_THAT(*left.model->graph.outputs[0].dims, ElementsAre(-1, 2));
  EXPECT_EQ(left.model->graph.initializers.size(), chain.model->graph.initializers.size());
}

TEST(OnnxEdit, MakesInputsOfLargeTensorsAndOfThoseInOtherFiles) {
  for (const char* name : {"chain", "external"}) {
    const Opened whole(file(name));
    const std::string made = without_weights(base::as_bytes(whole.bytes), *whole.model, name[0] == 'c' ? 8 : 100000);
    const Opened light(made);
    ASSERT_TRUE(light.model.ok()) << light.model.status().message();
    EXPECT_TRUE(light.model->graph.initializers.empty());
    EXPECT_EQ(light.model->graph.nodes.size(), whole.model->graph.nodes.size());
    ASSERT_EQ(light.model->graph.inputs.size(), 1 + whole.model->graph.initializers.size());
    const Initializer& tensor = whole.model->graph.initializers[0];
    EXPECT_EQ(std::ranges::count(light.model->graph.inputs, tensor.name, &ValueInfo::name), 1);
    const std::string same = without_weights(base::as_bytes(whole.bytes), *whole.model, 100000);
    EXPECT_EQ(same == whole.bytes, name[0] == 'c');
  }
}

TEST(OnnxEdit, PutsTensorsOfOtherFilesIntoAnExtractedNode) {
  const Opened opened(file("external"));
  const std::vector<std::size_t> nodes = {0};
  const std::vector<TypedValue> inputs = {{"x", type_number(DType::f32), Shape{4}}};
  const std::string elements(16, '\1');
  const auto made = nodes_model(*opened.model, nodes, inputs, "",
                                [&](const External&) -> Result<base::Bytes> { return base::as_bytes(elements); });
  ASSERT_TRUE(made.ok()) << made.status().message();
  const Opened single(*made);
  ASSERT_TRUE(single.model.ok());
  EXPECT_FALSE(single.model->graph.initializers[0].external.has_value());
  EXPECT_EQ(base::as_text(single.model->graph.initializers[0].raw), elements);
}

}  // namespace
}  // namespace sonde::onnx
