#include "formats/graph_def.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/wire.h"

namespace sonde::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

Graph small_network() {
  Graph graph;
  graph.add({.name = "input", .op = "Placeholder", .shapes = {{-1, 28, 28, 1}}})
      .add({.name = "conv/out",
            .op = "Conv2D",
            .inputs = {"input"},
            .attributes = {{"strides", std::vector<std::int64_t>{1, 2, 2, -1}},
                           {"padding", std::string("SAME")},
                           {"groups", std::int64_t{-3}},
                           {"bias", false},
                           {"alpha", 0.25},
                           {"kernel", Shape({3, 3})},
                           {"accumulate", DType::bf16}},
            .shapes = {{-1, 14, 14, 8}, {}},
            .dtype = DType::f16,
            .device = "/device:CPU:0"})
      .add({.name = "relu", .op = "Relu", .inputs = {"conv/out:1", "^input"}});
  return graph;
}

TEST(GraphDef, KeepsNodesWithTheirInputsDevicesAndAttributes) {
  const std::string bytes = encode_graph_def(small_network());
  const auto nodes = decode_graph_def(base::as_bytes(bytes));
  ASSERT_TRUE(nodes);
  ASSERT_EQ(nodes->size(), 3u);
  const NodeInfo& input = (*nodes)[0];
  EXPECT_EQ(input.name, "input");
  EXPECT_EQ(input.op, "Placeholder");
  EXPECT_THAT(input.attributes, ElementsAre(Pair("_output_shapes", "[[-1, 28, 28, 1]]"), Pair("dtype", "f32")));
  const NodeInfo& conv = (*nodes)[1];
  EXPECT_THAT(conv.inputs, ElementsAre("input"));
  EXPECT_EQ(conv.device, "/device:CPU:0");
  EXPECT_THAT(conv.attributes,
              ElementsAre(Pair("T", "f16"), Pair("_output_shapes", "[[-1, 14, 14, 8], []]"), Pair("accumulate", "bf16"),
                          Pair("alpha", "0.25"), Pair("bias", "false"), Pair("groups", "-3"), Pair("kernel", "[3, 3]"),
                          Pair("padding", "SAME"), Pair("strides", "[1, 2, 2, -1]")));
  EXPECT_THAT((*nodes)[2].inputs, ElementsAre("conv/out:1", "^input"));
}

TEST(GraphDef, LetsAttributesOfTheNodeWin) {
  Graph graph;
  graph.add({.name = "a", .op = "Const", .attributes = {{"dtype", std::string("mine")}, {"x", true}, {"x", false}}});
  const std::string bytes = encode_graph_def(graph);
  EXPECT_THAT(decode_graph_def(base::as_bytes(bytes))->at(0).attributes,
              ElementsAre(Pair("dtype", "mine"), Pair("x", "false")));
}

// What TensorFlow writes and we do not: lists of every kind, constants, functions, placeholders.
TEST(GraphDef, ReadsAttributesOfEveryKind) {
  const auto attribute = [](std::string& node, std::string_view key, const std::string& value) {
    std::string entry;
    wire::put_bytes(entry, 1, key);
    wire::put_bytes(entry, 2, value);
    wire::put_bytes(node, 5, entry);
  };
  const auto field = [](std::uint32_t number, std::string_view bytes) {
    std::string out;
    wire::put_bytes(out, number, bytes);
    return out;
  };
  std::string tensor;
  wire::put_integer(tensor, 1, 7);
  wire::put_bytes(tensor, 2, field(2, std::string("\x08\x05")));
  wire::put_bytes(tensor, 8, "a string");
  std::string floats;
  base::put(floats, 0.5f);
  base::put(floats, 2.0f);
  std::string unpacked;
  wire::put_integer(unpacked, 3, 4);
  wire::put_integer(unpacked, 3, -5);
  std::string node;
  attribute(node, "value", field(8, tensor));
  attribute(node, "strings", field(1, field(2, "a") + field(2, "b")));
  attribute(node, "floats", field(1, field(4, floats)));
  attribute(node, "bools", field(1, field(5, std::string("\x01\x00", 2))));
  attribute(node, "types", field(1, field(6, std::string("\x01\x15"))));
  attribute(node, "integers", field(1, unpacked));
  attribute(node, "functions", field(1, field(9, field(1, "f")) + field(9, field(1, "g"))));
  attribute(node, "function", field(10, field(1, "then_branch")));
  attribute(node, "placeholder", field(9, "N"));
  attribute(node, "unknown_rank", field(7, std::string("\x18\x01")));
  attribute(node, "empty", field(1, ""));
  std::string graph;
  wire::put_bytes(graph, 1, node);
  wire::put_bytes(graph, 2, "a library");
  const auto nodes = decode_graph_def(base::as_bytes(graph));
  ASSERT_TRUE(nodes) << nodes.error().message();
  EXPECT_THAT(
      nodes->at(0).attributes,
      UnorderedElementsAre(Pair("value", "tensor string[5]"), Pair("strings", "[a, b]"), Pair("floats", "[0.5, 2]"),
                           Pair("bools", "[true, false]"), Pair("types", "[f32, dtype 21]"),
                           Pair("integers", "[4, -5]"), Pair("functions", "[f, g]"), Pair("function", "then_branch"),
                           Pair("placeholder", "N"), Pair("unknown_rank", "[?]"), Pair("empty", "[]")));
}

TEST(GraphDef, NeverCrashesOnDamage) {
  const std::string bytes = encode_graph_def(small_network());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bits = 1; bits < 256; ++bits) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ bits);
      const auto nodes = decode_graph_def(base::as_bytes(damaged));
      if (!nodes) {
        ASSERT_EQ(nodes.error().code(), Code::corrupt);
      }
    }
    const auto cut = decode_graph_def(base::as_bytes(bytes).first(at));
    if (!cut) {
      ASSERT_EQ(cut.error().code(), Code::corrupt);
    }
  }
}

TEST(GraphCheck, PassesAGraphWhoseInputsAllExist) {
  EXPECT_TRUE(small_network().check());
  EXPECT_TRUE(Graph().check());
  Graph with_colon;
  with_colon.add({.name = "a:b", .op = "X"}).add({.name = "c", .op = "X", .inputs = {"a:b", "a:b:0"}});
  EXPECT_TRUE(with_colon.check());
}

TEST(GraphCheck, NamesWhatIsWrong) {
  Graph nameless;
  nameless.add({.name = "a", .op = "X"}).add({.name = "", .op = "X"});
  EXPECT_THAT(nameless.check().message(), HasSubstr("node 1 of the graph has no name"));
  Graph twice;
  twice.add({.name = "a", .op = "X"}).add({.name = "a", .op = "Y"});
  EXPECT_THAT(twice.check().message(), HasSubstr("two nodes named 'a'"));
  Graph dangling;
  dangling.add({.name = "a", .op = "X", .inputs = {"b:1"}});
  EXPECT_THAT(dangling.check().message(), HasSubstr("input 'b:1' of node 'a' names no node"));
  EXPECT_EQ(dangling.check().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace sonde::formats
