#include "formats/openvino_ir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::openvino_ir {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kModel = R"(<?xml version="1.0"?>
<net name="g" version="11"><layers>
  <layer id="0" name="x" type="Parameter" version="opset1"><data shape="?,3" element_type="f32" />
    <output><port id="0" precision="FP32" names="x,a\,b"><dim>-1</dim><dim>3</dim></port></output></layer>
  <!-- a note -->
  <layer id="1" name="relu &lt;1&gt;" type="ReLU"><input><port id="0"><dim>-1</dim></port></input>
    <output><port id="1" precision="FP16"/></output></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>)";

TEST(OpenvinoIr, ReadsLayersPortsAndEdges) {
  const auto model = decode(kModel);
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->layers.size(), 2U);
  EXPECT_EQ(model->layers[0].type, "Parameter");
  EXPECT_THAT(model->layers[0].outputs[0].names, ElementsAre("x", "a,b"));
  EXPECT_THAT(model->layers[0].outputs[0].dims, ElementsAre(-1, 3));
  EXPECT_EQ(model->layers[1].name, "relu <1>");
  EXPECT_EQ(model->layers[1].outputs[0].precision, "FP16");
  EXPECT_EQ(model->edges[0].to_layer, "1");
}

TEST(OpenvinoIr, RejectsEveryPrefix) {
  for (std::size_t size = 0; size + 1 < kModel.size(); ++size) {
    EXPECT_EQ(decode(kModel.substr(0, size)).status().code(), Code::corrupt) << size;
  }
}

}  // namespace
}  // namespace sonde::openvino_ir
