#include "formats/tensor_bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/file_testing.h"
#include "formats/tf_dtype.h"

namespace sonde::formats::tf {
namespace {

using sonde::testing::corpus_file;
using sonde::testing::for_each_damage;
using ::testing::ElementsAre;

// The files of tests/corpus/tensor_bundle were written by TensorFlow (tests/corpus/make_models.py).
TEST(TensorBundle, NamesTypesAndPlacesOfVariables) {
  const std::string file = corpus_file("tensor_bundle/signatures.index");
  const auto bundle = decode_tensor_bundle(base::as_bytes(file));
  ASSERT_TRUE(bundle) << bundle.error().message();
  EXPECT_EQ(bundle->shards, 1);
  const BundleEntry* weight = bundle->find("weight/.ATTRIBUTES/VARIABLE_VALUE");
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->type, kTfFloat);
  EXPECT_THAT(weight->shape, ElementsAre(6, 6));
  EXPECT_EQ(weight->size, 144u);
  EXPECT_FALSE(weight->sliced);
  EXPECT_EQ(bundle->find("other"), nullptr);
}

std::vector<std::pair<std::string, std::uint64_t>> places(const TensorBundle& bundle) {
  std::vector<std::pair<std::string, std::uint64_t>> found;
  for (const BundleEntry& entry : bundle.entries) found.emplace_back(entry.key, entry.offset);
  return found;
}

TEST(TensorBundle, ADamagedIndexIsRefusedUnlessTheDamageIsInUnusedBytes) {
  const std::string file = corpus_file("tensor_bundle/variables_v1.index");
  const auto bundle = decode_tensor_bundle(base::as_bytes(file));
  ASSERT_TRUE(bundle);
  int refused = 0;
  for_each_damage(file, [&](base::Bytes damaged) {
    const auto read = decode_tensor_bundle(damaged);
    refused += read ? 0 : 1;
    if (read) {
      EXPECT_EQ(places(*read), places(*bundle));
    }
  });
  EXPECT_GT(refused, 0);
}

TEST(TensorBundle, NamesTheFileOfAShard) {
  EXPECT_EQ(shard_name("a/variables", 3, 12), "a/variables.data-00003-of-00012");
}

}  // namespace
}  // namespace sonde::formats::tf
