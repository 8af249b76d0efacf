#include "formats/tensor_tags.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace sonde::tags {
namespace {

TEST(Tags, NameEachSummaryOfATensorApart) {
  const TensorId id = {.name = "dense_1/out"};
  EXPECT_EQ(tag_of(id, Plugin::histograms), "activation/dense_1/out");
  EXPECT_EQ(tag_of(id, Plugin::images), "activation/dense_1/out/image");
  EXPECT_EQ(tag_of({.name = "w", .kind = Kind::gradient, .occurrence = 2}, Plugin::audio), "gradient/w#2/audio");
  EXPECT_EQ(tag_of({.name = "w", .kind = Kind::weight, .evaluation = true}, Plugin::histograms), "eval/weight/w");
}

TEST(Tags, MapBothWaysForEveryName) {
  const std::vector<std::string> names = {
      "x", "image",      "a/image", "audio",  "x#1",     "x#1/image", "%23", "100%", "eval/x", "a/b/c", "activation/x",
      " ", "\xc3\xbc\n", "/",       "imagex", "%69mage", "x/",        "#",   "a%2",  "image/x"};
  std::set<std::string> tags;
  std::size_t made = 0;
  for (const auto& name : names) {
    for (const Kind kind : {Kind::activation, Kind::gradient, Kind::output, Kind{6}, Kind{10}, Kind{254}}) {
      for (const std::uint32_t occurrence : {0U, 1U, 17U}) {
        for (const bool evaluation : {false, true}) {
          for (const Plugin plugin : {Plugin::histograms, Plugin::images, Plugin::audio}) {
            const TensorId id = {name, kind, occurrence, evaluation};
            const std::string tag = tag_of(id, plugin);
            const auto back = tensor_of(tag);
            ASSERT_TRUE(back.has_value()) << tag;
            EXPECT_EQ(*back, (TaggedTensor{id, plugin})) << tag;
            tags.insert(tag);
            ++made;
          }
        }
      }
    }
  }
  EXPECT_EQ(tags.size(), made) << "two tensors share a tag";
}

TEST(Tags, NameEveryKind) {
  EXPECT_EQ(to_string(Kind::output), "output");
  EXPECT_EQ(to_string(Kind{9}), "kind 9");
  EXPECT_EQ(to_string(Kind{10}), "kind 10");
  EXPECT_EQ(to_string(Kind{254}), "kind 254");
  EXPECT_EQ(to_string(Kind::unknown), "unknown");
  for (int number = 0; number < 255; ++number) {
    const auto kind = static_cast<Kind>(number);
    EXPECT_EQ(kind_of(to_string(kind)), kind);
  }
  for (const char* word : {"", "unknown", "kind", "kind ", "kind 1", "kind 09", "kind 255", "kind 999", "kind 9 "}) {
    EXPECT_FALSE(kind_of(word).has_value()) << word;
  }
}

TEST(Tags, OtherTagsBelongToNoTensor) {
  for (const char* tag : {"loss", "activation", "activation/", "loss/x", "activation/x#", "activation/x#0",
                          "activation/x#1x", "activation/x%2", "activation/%zz", ""}) {
    EXPECT_FALSE(tensor_of(tag).has_value()) << tag;
  }
}

}  // namespace
}  // namespace sonde::tags
