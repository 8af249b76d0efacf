#include "compare/difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compare/culprit.h"
#include "compare/over_inputs.h"
#include "compare/tensor_set_testing.h"

namespace sonde::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Differences : public testing::Test {
 protected:
  Difference difference(TensorSet& a, TensorSet& b) {
    Result<Difference> found = compare(a, b, options_, pool_);
    EXPECT_TRUE(found) << found.status().message();
    return found ? *found : Difference{};
  }
  // "x same", "x=y different" ...
  static std::vector<std::string> rows(const Difference& difference) {
    std::vector<std::string> texts;
    for (const Row& row : difference.rows) {
      const bool renamed = row.match.a && row.match.b && row.name != row.name_in_b;
      texts.push_back(row.name + (renamed ? "=" + row.name_in_b : "") + " " + std::string(to_string(row.outcome)));
    }
    return texts;
  }

  Options options_;
  base::TaskPool pool_{"test", 1};
};

Entry op(std::string name, std::string type, std::vector<std::string> inputs) {
  return {.name = std::move(name), .dtype = {}, .shape = {}, .op = std::move(type), .inputs = std::move(inputs)};
}

TEST_F(Differences, GiveEachTensorItsStatus) {
  MemorySet a;
  a.add("equal", {1, 2}).add("close", {1, 2}).add("far", {1, 2}).add("long", {1, 2, 3}).add("here", {1});
  MemorySet b;
  b.add("equal", {1, 2}).add("close", {1, 2.000001F}).add("far", {1, 3}).add("long", {1, 2}).add("there", {1});
  const Difference found = difference(a, b);
  EXPECT_THAT(rows(found), ElementsAre("equal same", "close within tolerance", "far different", "long shape differs",
                                       "here only in A", "there only in B"));
  EXPECT_EQ(found.first, 2U);
  EXPECT_FALSE(found.same());
}

TEST_F(Differences, PutValuesThatDifferBeforeTensorsThatOneSideLacks) {
  MemorySet a;
  a.add("here", {1}).add("x", {1});
  MemorySet b;
  b.add("x", {2});
  EXPECT_EQ(difference(a, b).first, 1U);
}

TEST_F(Differences, OfModelsAreNotThatOneComputesInMoreSteps) {
  MemorySet a(MemorySet::Role::model);
  a.add(op("y", "Relu", {"x"}), {1}).add(op("z", "Exp", {"x"}), {1, 2});
  MemorySet b(MemorySet::Role::model);
  b.add(op("y", "Relu", {"x"}), {1});
  const Difference found = difference(a, b);
  EXPECT_THAT(rows(found), ElementsAre("y same", "z only in A"));
  EXPECT_TRUE(found.same());
}

TEST_F(Differences, AreInTheOrderOfExecutionOfTheSideThatKnowsIt) {
  MemorySet a;
  a.add("p", {1}).add("q", {1});
  MemorySet b(MemorySet::Role::ordered_files);
  b.add("q", {2}).add("p", {2});
  const Difference found = difference(a, b);
  EXPECT_THAT(rows(found), ElementsAre("q different", "p different"));
  EXPECT_TRUE(found.in_order_of_execution);
}

TEST_F(Differences, SayWhichTensorIsNearestIfNothingCorresponds) {
  MemorySet a;
  a.add("dense_1", {1, 2});
  MemorySet b;
  b.add("dense_2", {1, 2, 3});
  const Result<Difference> found = compare(a, b, options_, pool_);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message(), HasSubstr("A and B have no tensor in common: for 'dense_1' of A"));
  EXPECT_THAT(found.error().message(), HasSubstr("'dense_2'"));
}

// conv -> batch_norm -> relu, and the same with the normalisation in the weights of the convolution.
void add_with_norm(MemorySet& set) {
  set.add(op("conv", "Conv", {"x", "w"}), {1, 2}).add(op("norm", "BatchNormalization", {"conv", "s"}), {3, 4});
  set.add(op("relu", "Relu", {"norm"}), {5, 6});
}

TEST_F(Differences, ATensorThatTheOtherModelComputesWithinALargerOperationIsFolded) {
  MemorySet a(MemorySet::Role::model);
  add_with_norm(a);
  MemorySet b(MemorySet::Role::model);
  b.add(op("norm", "Conv", {"x", "w2"}), {3, 4}).add(op("relu", "Relu", {"norm"}), {5, 6});
  const Difference found = difference(a, b);
  EXPECT_THAT(rows(found), ElementsAre("conv folded", "norm same", "relu same"));
  EXPECT_THAT(found.rows[0].notes, ElementsAre("B computes it within 'norm', Conv"));
  const Difference turned = difference(b, a);
  EXPECT_EQ(turned.count(Outcome::folded), 1U);
  EXPECT_TRUE(turned.same());
}

TEST_F(Differences, AConvolutionThatAbsorbedItsNormalisationIsPairedWithTheNormalisation) {
  MemorySet a(MemorySet::Role::model);
  add_with_norm(a);
  MemorySet b(MemorySet::Role::model);
  b.add(op("conv", "Conv", {"x", "w2"}), {3, 4}).add(op("relu", "Relu", {"conv"}), {5, 6});
  EXPECT_THAT(rows(difference(a, b)), ElementsAre("conv folded", "norm=conv same", "relu same"));
  EXPECT_EQ(difference(b, a).count(Outcome::folded), 1U);
  // Where the normalisation is missing, the convolutions correspond.
  MemorySet without(MemorySet::Role::model);
  without.add(op("conv", "Conv", {"x", "w"}), {1, 2}).add(op("relu", "Relu", {"conv"}), {1, 2});
  EXPECT_THAT(rows(difference(a, without)), ElementsAre("conv same", "norm folded", "relu different"));
}

TEST_F(Differences, WhatIsComputedFromConstantsMayBeAConstantInTheOtherModel) {
  MemorySet a(MemorySet::Role::model);
  a.add(op("scale", "Mul", {"c", "d"}), {2}).add(op("y", "Mul", {"x", "scale"}), {1, 2});
  MemorySet b(MemorySet::Role::model);
  b.add(op("y", "Mul", {"x", "k"}), {1, 2});
  const Difference found = difference(a, b);
  EXPECT_THAT(rows(found), ElementsAre("scale folded", "y same"));
  EXPECT_THAT(found.rows[0].notes, ElementsAre("B has it as a constant, for 'y'"));
}

TEST_F(Differences, ATensorThatTheRuntimeRemovedIsFolded) {
  MemorySet a(MemorySet::Role::model);
  Entry removed = op("t", "Identity", {"x"});
  removed.missing = "the runtime removed it";
  a.add(removed, {0}).add(op("y", "Relu", {"t"}), {1});
  MemorySet b(MemorySet::Role::model);
  b.add(op("t", "Identity", {"x"}), {7}).add(op("y", "Relu", {"t"}), {1});
  const Difference found = difference(a, b);
  EXPECT_THAT(rows(found), ElementsAre("t folded", "y same"));
  EXPECT_THAT(found.rows[0].notes, ElementsAre("not given by A: the runtime removed it"));
}

TEST_F(Differences, TheCulpritOfTensorsThatNameTheirInputsHasEqualInputs) {
  const auto fill = [](MemorySet& set, float h, float y) {
    set.add(op("x", "", {}), {1}).add(op("h", "", {"x"}), {h}).add(op("y", "", {"h"}), {y});
  };
  MemorySet a(MemorySet::Role::ordered_files);
  MemorySet b(MemorySet::Role::ordered_files);
  fill(a, 1, 1);
  fill(b, 2, 9);
  Difference found = difference(a, b);
  find_culprit(a, found);
  ASSERT_TRUE(found.culprit);
  EXPECT_EQ(found.rows[found.culprit->row].name, "h");
  EXPECT_THAT(found.culprit->how, HasSubstr("its inputs agree to the bit"));

  MemorySet plain_a;
  plain_a.add("h", {1});
  MemorySet plain_b;
  plain_b.add("h", {2});
  found = difference(plain_a, plain_b);
  find_culprit(plain_a, found);
  EXPECT_FALSE(found.culprit);
  EXPECT_THAT(found.no_culprit, HasSubstr("do not say what computed them"));
}

TEST_F(Differences, OverSeveralInputsTheWorstOfEachTensorCounts) {
  OverInputs all;
  const std::vector<std::pair<float, float>> off = {{0, 0}, {0.5F, 0}, {0.25F, 2}};
  for (std::size_t i = 0; i < off.size(); ++i) {
    MemorySet a;
    a.add("p", {1 + off[i].first}).add("q", {1 + off[i].second});
    MemorySet b;
    b.add("p", {1}).add("q", {1});
    all.add("input_" + std::to_string(i), difference(a, b));
    if (i == 0) {
      EXPECT_THAT(all.merged().rows[0].input, IsEmpty());
      EXPECT_FALSE(all.input_of_first());
      options_.matches = all.matches();
    }
  }
  const Difference& merged = all.merged();
  EXPECT_THAT(merged.inputs, ElementsAre("input_0", "input_1", "input_2"));
  EXPECT_EQ(merged.first, 0U);
  EXPECT_EQ(merged.rows[0].input, "input_1");
  EXPECT_EQ(merged.rows[0].metrics->max_abs, 0.5);
  EXPECT_EQ(merged.rows[0].inputs_differ, 2U);
  EXPECT_EQ(merged.rows[1].input, "input_2");
  EXPECT_EQ(merged.rows[1].inputs_differ, 1U);
  EXPECT_EQ(all.input_of_first(), 1U);
}

TEST_F(Differences, OverSeveralInputsAValueThatIsNotFiniteIsTheWorst) {
  OverInputs all;
  for (const float value : {100.0F, std::nanf(""), 50.0F}) {
    MemorySet a;
    a.add("p", {value, 1});
    MemorySet b;
    b.add("p", {1, 1});
    all.add(std::isnan(value) ? "nan" : "number", difference(a, b));
  }
  EXPECT_EQ(all.merged().rows[0].input, "nan");
  EXPECT_EQ(all.merged().rows[0].inputs_differ, 3U);
}

}  // namespace
}  // namespace sonde::compare
