#include "formats/tflite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/file_testing.h"

namespace sonde::formats::tflite {
namespace {

using sonde::testing::corpus_file;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<std::string> ops(const Subgraph& graph) {
  std::vector<std::string> names;
  for (const Operator& each : graph.operators) names.push_back(each.op);
  return names;
}

// The files of tests/corpus/tflite were written by TensorFlow (tests/corpus/make_models.py).
TEST(TFLite, HasOperationsInOrderOfExecution) {
  const std::string file = corpus_file("tflite/lite_float.tflite");
  const auto model = decode_tflite(base::as_bytes(file));
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_THAT(model->subgraphs, SizeIs(1));
  const Subgraph& graph = model->subgraphs[0];
  EXPECT_THAT(ops(graph), ElementsAre("CONV_2D", "MUL", "ADD", "MAX_POOL_2D", "DEPTHWISE_CONV_2D", "MEAN",
                                      "FULLY_CONNECTED", "SOFTMAX"));
  const Tensor& input = graph.tensors[static_cast<std::size_t>(graph.inputs.at(0))];
  EXPECT_EQ(input.name, "serving_default_image:0");
  EXPECT_THAT(input.shape, ElementsAre(-1, 8, 8, 3));
  EXPECT_EQ(dtype_of(input.type), DType::f32);
  EXPECT_TRUE(input.data.empty());
  const Tensor& kernel = graph.tensors[static_cast<std::size_t>(graph.operators[0].inputs[1])];
  EXPECT_THAT(kernel.shape, ElementsAre(4, 3, 3, 3));
  EXPECT_EQ(kernel.data.size(), 4u * 27 * 4);
  ASSERT_THAT(model->signatures, SizeIs(1));
  EXPECT_EQ(model->signatures[0].name, "serving_default");
  EXPECT_EQ(model->signatures[0].inputs.at(0).first, "image");
}

TEST(TFLite, QuantisedTensorsHaveScaleAndZeroPoint) {
  const std::string file = corpus_file("tflite/lite_int8.tflite");
  const auto model = decode_tflite(base::as_bytes(file));
  ASSERT_TRUE(model) << model.error().message();
  const Subgraph& graph = model->subgraphs[0];
  const Tensor& output = graph.tensors[static_cast<std::size_t>(graph.outputs.at(0))];
  EXPECT_EQ(type_text(output.type), "i8");
  ASSERT_TRUE(output.quantization);
  EXPECT_THAT(output.quantization->scales, ElementsAre(1.0F / 256));  // of softmax, always
  EXPECT_THAT(output.quantization->zero_points, ElementsAre(-128));
  const Tensor& kernel = graph.tensors[static_cast<std::size_t>(graph.operators[0].inputs[1])];
  ASSERT_TRUE(kernel.quantization);
  EXPECT_THAT(kernel.quantization->scales, SizeIs(4));  // one a channel
  EXPECT_THAT(kernel.quantization->zero_points, Each(0));
  EXPECT_EQ(kernel.quantization->axis, 0);
}

TEST(TFLite, SignaturesNameTheirGraph) {
  const std::string file = corpus_file("tflite/lite_signatures.tflite");
  const auto model = decode_tflite(base::as_bytes(file));
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_THAT(model->signatures, SizeIs(2));
  EXPECT_NE(model->signatures[0].subgraph, model->signatures[1].subgraph);
}

TEST(TFLite, RefusesWhatIsNone) {
  EXPECT_THAT(decode_tflite(base::as_bytes("a text, not a model")).error().message(), HasSubstr("does not begin"));
  const std::string lost = std::string("\xff\xff\xff\x7fTFL3", 8) + std::string(64, '\0');
  EXPECT_THAT(decode_tflite(base::as_bytes(lost)).error().message(), HasSubstr("out of the file"));
}

TEST(TFLite, ATruncatedFileIsRefusedOrRead) {
  const std::string file = corpus_file("tflite/lite_signatures.tflite");
  int refused = 0;
  for (std::size_t length = 0; length < file.size(); ++length) {
    const std::vector<char> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
    refused += decode_tflite(base::Bytes(std::as_bytes(std::span(cut)))).ok() ? 0 : 1;
  }
  EXPECT_GT(refused, static_cast<int>(file.size()) - 256);
}

TEST(TFLite, AChangedByteLeadsNowhereElse) {
  std::string file = corpus_file("tflite/lite_float.tflite");
  for (char& byte : file) {
    const char original = byte;
    for (const int other : {1, 0x7f, 0x80, 0xff}) {
      byte = static_cast<char>(original ^ other);
      const auto model = decode_tflite(base::as_bytes(file));
      if (!model) {
        EXPECT_EQ(model.error().code(), Code::corrupt);
      }
    }
    byte = original;
  }
}

}  // namespace
}  // namespace sonde::formats::tflite
