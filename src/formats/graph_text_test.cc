// What protobuf's own parser makes of the text is in tests/cli/test_export_graphs.py.
#include "formats/graph_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/graph_def.h"
#include "formats/wire.h"

namespace sonde::formats {
namespace {

using testing::HasSubstr;

std::string field(std::uint32_t number, std::string_view content) {
  std::string out;
  wire::put_bytes(out, number, content);
  return out;
}

std::string text_of(std::string_view bytes) {
  const Result<GraphText> text = graph_def_text(base::as_bytes(bytes));
  return text ? text->text : text.error().message();
}

TEST(GraphText, WritesEachFieldOnALineAndEachMessageInBraces) {
  Graph graph;
  graph.add({.name = "x", .op = "Placeholder", .attributes = {{"bias", false}}, .shapes = {{-1, 2}}});
  EXPECT_EQ(text_of(encode_graph_def(graph)), R"(node {
  name: "x"
  op: "Placeholder"
  attr {
    key: "_output_shapes"
    value {
      list {
        shape {
          dim {
            size: -1
          }
          dim {
            size: 2
          }
        }
      }
    }
  }
  attr {
    key: "bias"
    value {
      b: false
    }
  }
  attr {
    key: "dtype"
    value {
      type: DT_FLOAT
    }
  }
}
versions {
  producer: 22
}
)");
}

TEST(GraphText, EscapesAllButPrintableCharacters) {
  EXPECT_EQ(text_of(field(1, field(1, std::string_view("a\"\\\n\0\x7f\xc3\xa9", 8)))),
            "node {\n  name: \"a\\\"\\\\\\n\\000\\177\\303\\251\"\n}\n");
}

TEST(GraphText, MergesAMessageThatStandsSeveralTimes) {
  std::string producer;
  wire::put_integer(producer, 1, 22);
  std::string consumer;
  wire::put_integer(consumer, 2, 5);
  EXPECT_EQ(text_of(field(4, producer) + field(4, consumer) + field(4, producer)),
            "versions {\n  producer: 22\n  min_consumer: 5\n}\n");
}

TEST(GraphText, CountsAndMarksFieldsThatItDoesNotKnow) {
  const std::string bytes = field(99, "content") + field(1, field(1, "n") + field(88, ""));
  const Result<GraphText> text = graph_def_text(base::as_bytes(bytes));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->unknown_fields, 2u);
  EXPECT_EQ(text->text,
            "# left out: field 99, whose name is not known\n"
            "node {\n  name: \"n\"\n  # left out: field 88, whose name is not known\n}\n");
}

TEST(GraphText, RefusesWhatIsDamagedOrTooDeep) {
  EXPECT_THAT(text_of(field(1, "name").substr(0, 4)), HasSubstr("not well-formed"));
  std::string type;
  for (int i = 0; i < 2000; ++i) type = field(2, type);
  EXPECT_THAT(text_of(field(1, field(7, type))), HasSubstr("more than 100 messages"));
}

}  // namespace
}  // namespace sonde::formats
