#include "inspect/worker_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sonde::inspect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = WorkerAnswer::Kind;

TEST(WorkerAnswer, ReadsTheGreeting) {
  const auto answer = parse_worker_answer(R"({"hello": 1, "sonde": "0.5.0", "interpreter": "/usr/bin/python3"})");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, Kind::hello);
  EXPECT_EQ(answer->protocol, 1);
  EXPECT_EQ(answer->package, "0.5.0");
  EXPECT_EQ(answer->interpreter, "/usr/bin/python3");
}

TEST(WorkerAnswer, ReadsADescriptionWithQuantizationAndUnknownSizes) {
  const auto answer = parse_worker_answer(
      R"({"done": {"model": 3, "info": {"name": "tensorflow", "version": "2.21.0", "precision": "f32", "settings": "no delegates"},
          "description": {"format": "tflite", "inputs": [{"name": "x", "type": "f32", "shape": [-1, 8]}],
          "outputs": [{"name": "y", "type": "string", "shape": null}],
          "layers": [{"name": "conv", "type": "i8", "shape": [], "node": "", "op": "CONV_2D", "parameters": 112, "inputs": ["x"],
                      "scope": "block", "quantization": {"scales": [0.5, 0.25], "zero_points": [0, -3], "axis": 3}}]}}})");
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->kind, Kind::done);
  EXPECT_EQ(answer->model, 3);
  EXPECT_EQ(answer->info.name, "tensorflow");
  EXPECT_EQ(answer->info.settings, "no delegates");
  ASSERT_TRUE(answer->description);
  const Description& description = *answer->description;
  EXPECT_EQ(description.inputs.at(0).shape, (Shape{-1, 8}));
  EXPECT_EQ(description.inputs.at(0).dtype, DType::f32);
  EXPECT_FALSE(description.outputs.at(0).dtype);
  EXPECT_FALSE(description.outputs.at(0).shape);
  const Layer& layer = description.layers.at(0);
  EXPECT_EQ(layer.op, "CONV_2D");
  EXPECT_EQ(layer.parameters, 112);
  EXPECT_EQ(layer.value.shape, Shape{});
  EXPECT_THAT(layer.inputs, ElementsAre("x"));
  ASSERT_TRUE(layer.quantization);
  EXPECT_THAT(layer.quantization->scales, ElementsAre(0.5, 0.25));
  EXPECT_THAT(layer.quantization->zero_points, ElementsAre(0, -3));
  EXPECT_EQ(layer.quantization->axis, 3);
}

TEST(WorkerAnswer, ReadsLayersResultsTimesAndErrors) {
  const auto layer = parse_worker_answer(R"({"layer": 2, "missing": "it is a sequence"})");
  ASSERT_TRUE(layer);
  EXPECT_EQ(layer->kind, Kind::layer);
  EXPECT_EQ(layer->place, 2);
  EXPECT_EQ(layer->missing, "it is a sequence");
  const auto result = parse_worker_answer(R"({"result": "y", "bytes": 90})");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->kind, Kind::result);
  EXPECT_EQ(result->bytes, 90U);
  const auto times =
      parse_worker_answer(R"({"done": {"times": [{"layer": "", "node": "a", "name": "a+b", "nanoseconds": 7}]}})");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->times.at(0).node, "a");
  EXPECT_EQ(times->times.at(0).nanoseconds, 7);
  const auto error = parse_worker_answer(R"({"error": {"code": "not_found", "message": "no such file"}})");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error.code(), Code::not_found);
  EXPECT_EQ(error->error.message(), "no such file");
}

TEST(WorkerAnswer, RejectsWhatIsNoAnswer) {
  for (const std::string line :
       {"", "hello", "[]", "{", R"({"layer": "x"})", R"({"done": {"info": 3, "description": {"format": 1}}})",
        R"({"done": {"description": {"format": "keras", "layers": [7]}}})", R"({"result": 1})"}) {
    const auto answer = parse_worker_answer(line);
    ASSERT_FALSE(answer) << line;
    EXPECT_EQ(answer.error().code(), Code::corrupt) << line;
  }
  EXPECT_THAT(parse_worker_answer("Loading weights...").error().message(), HasSubstr("Loading weights"));
}

}  // namespace
}  // namespace sonde::inspect
