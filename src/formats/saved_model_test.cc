#include "formats/saved_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/file_testing.h"
#include "formats/tf_dtype.h"
#include "formats/tf_op_outputs.h"
#include "formats/tf_variables.h"
#include "formats/wire.h"

namespace sonde::formats::tf {
namespace {

using sonde::testing::corpus_file;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

// The files of tests/corpus/saved_model were written by TensorFlow (tests/corpus/make_models.py).
TEST(SavedModel, HasTagsAndSignaturesWithTheirTensors) {
  const std::string file = corpus_file("saved_model/signatures.pb");
  const auto model = decode_saved_model(base::as_bytes(file));
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_EQ(model->graphs.size(), 1u);
  const MetaGraph& graph = model->graphs[0];
  EXPECT_THAT(graph.tags, ElementsAre("serve"));
  ASSERT_EQ(graph.signatures.size(), 4u);
  EXPECT_EQ(graph.signatures[0].name, "__saved_model_init_op");
  const Signature& parts = graph.signatures[3];
  EXPECT_EQ(parts.name, "parts");
  ASSERT_EQ(parts.inputs.size(), 2u);
  EXPECT_EQ(parts.inputs[0].key, "x");
  EXPECT_EQ(parts.inputs[0].tensor, "parts_x:0");
  EXPECT_EQ(parts.inputs[0].type, kTfFloat);
  EXPECT_THAT(parts.inputs[0].shape, Optional(ElementsAre(-1, 6)));
  EXPECT_EQ(parts.outputs.size(), 4u);
}

TEST(SavedModel, KeysOfVariablesComeFromTheFunctionThatRestoresThem) {
  const std::string file = corpus_file("saved_model/signatures.pb");
  const auto model = decode_saved_model(base::as_bytes(file));
  ASSERT_TRUE(model);
  const auto keys = variable_keys(model->graphs[0].graph);
  EXPECT_EQ(keys.at("weight"), "weight/.ATTRIBUTES/VARIABLE_VALUE");
  EXPECT_EQ(keys.at("table"), "table/.ATTRIBUTES/VARIABLE_VALUE");
}

TEST(SavedModel, KeysOfVariablesComeFromTheSaverOfTensorFlow1) {
  const std::string file = corpus_file("saved_model/variables_v1.pb");
  const auto model = decode_saved_model(base::as_bytes(file));
  ASSERT_TRUE(model);
  const auto keys = variable_keys(model->graphs[0].graph);
  EXPECT_EQ(keys.at("dense/kernel"), "dense/kernel");
  EXPECT_EQ(keys.at("dense/bias"), "dense/bias");
}

TEST(SavedModel, RefusesWhatHasNoGraph) {
  for (const std::string& bytes : {std::string(), std::string("\x08\x01", 2), std::string("a text")}) {
    const auto model = decode_saved_model(base::as_bytes(bytes));
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code(), Code::corrupt);
  }
}

TEST(SavedModel, EveryTruncationIsRefusedOrRead) {
  const std::string file = corpus_file("saved_model/variables_v1.pb");
  for (std::size_t length = 0; length < file.size(); ++length) {
    const std::vector<char> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
    const auto model = decode_saved_model(base::Bytes(std::as_bytes(std::span(cut))));
    if (!model) {
      EXPECT_EQ(model.error().code(), Code::corrupt);
    }
  }
}

// ---- References and attributes.

TEST(TensorReference, NamesANodeAndAnOutput) {
  EXPECT_FALSE(parse_reference("^a"));
  EXPECT_EQ(parse_reference("a/b")->node, "a/b");
  EXPECT_EQ(parse_reference("a:2")->index, 2);
  const auto in_function = parse_reference("a:values:1");
  EXPECT_EQ(in_function->node, "a");
  EXPECT_EQ(in_function->output, "values");
  EXPECT_EQ(in_function->index, 1);
}

// A node with one attribute.
struct Made {
  std::string value;
  NodeDef node;
  Made(std::string_view op, std::string_view key, const std::function<void(std::string&)>& put) {
    put(value);
    node.op = op;
    node.attributes.emplace_back(key, value);
  }
};

TEST(Outputs, OfAnOperationAreFoundByName) {
  const NodeDef top{"t", "TopKV2", {}, {}};
  EXPECT_EQ(output_index(top, "values", 0), 0);
  EXPECT_EQ(output_index(top, "indices", 0), 1);
  EXPECT_EQ(output_index(top, "other", 0), std::nullopt);
  EXPECT_THAT(output_types(top), ElementsAre(0, 3));  // no T; index_type is i32 unless it says otherwise
  const NodeDef relu{"r", "Relu", {}, {}};
  EXPECT_EQ(output_index(relu, "activations", 0), 0);
}

TEST(Outputs, AreAsManyAsAnAttributeSays) {
  const Made split("Split", "num_split", [](std::string& value) { wire::put_integer(value, 3, 3); });
  EXPECT_THAT(output_types(split.node), ElementsAre(0, 0, 0));
  EXPECT_EQ(output_index(split.node, "output", 2), 2);
  EXPECT_EQ(output_index(split.node, "output", 3), std::nullopt);
}

TEST(Outputs, ATableOfOperationsIsSorted) { EXPECT_TRUE(std::ranges::is_sorted(op_outputs(), {}, &OpOutputs::op)); }

// ---- Constants.

TensorDef tensor_of(std::string& message, int type, const std::vector<std::int64_t>& shape) {
  wire::put_integer(message, 1, type);
  return {type, shape, {}, message};
}

TEST(Constants, TheLastValueStandsForAllThatAreMissing) {
  std::string message;
  wire::put_float(message, 5, 1.5F);
  wire::put_float(message, 5, 2.5F);
  const TensorDef tensor{kTfFloat, {4}, {}, message};
  std::string storage;
  const auto bytes = tensor_bytes(tensor, storage);
  ASSERT_TRUE(bytes) << bytes.error().message();
  ASSERT_EQ(bytes->size(), 16u);
  EXPECT_EQ(base::load<float>(bytes->data()), 1.5F);
  EXPECT_EQ(base::load<float>(bytes->data() + 12), 2.5F);
}

TEST(Constants, SmallIntegersAreStoredAsLargerOnes) {
  std::string message;
  wire::put_integer(message, 7, -3);
  const TensorDef tensor{tf_dtype(DType::i8), {2}, {}, message};
  std::string storage;
  const auto bytes = tensor_bytes(tensor, storage);
  ASSERT_TRUE(bytes);
  ASSERT_EQ(bytes->size(), 2u);
  EXPECT_EQ(base::load<std::int8_t>(bytes->data() + 1), -3);
}

TEST(Constants, WithoutValuesAreZero) {
  std::string message;
  const TensorDef tensor = tensor_of(message, tf_dtype(DType::i64), {3});
  std::string storage;
  const auto bytes = tensor_bytes(tensor, storage);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(storage, std::string(24, '\0'));
}

TEST(Constants, ThatDoNotFitTheirShapeAreRefused) {
  std::string storage;
  EXPECT_EQ(tensor_bytes({kTfFloat, {2}, "12345", {}}, storage).error().code(), Code::corrupt);
  EXPECT_EQ(tensor_bytes({kTfFloat, {-1}, {}, {}}, storage).error().code(), Code::corrupt);
  EXPECT_EQ(tensor_bytes({kTfFloat, {1 << 20, 1 << 20}, {}, {}}, storage).error().code(), Code::corrupt);
  EXPECT_EQ(tensor_bytes({kTfFloat, {1 << 15, 1 << 15}, {}, {}}, storage).error().code(), Code::unsupported);
  EXPECT_EQ(tensor_bytes({kTfString, {1}, {}, {}}, storage).error().code(), Code::unsupported);
}

}  // namespace
}  // namespace sonde::formats::tf
