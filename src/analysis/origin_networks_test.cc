// find_origin in random networks, in which it is known who produced the NaN.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "analysis/origin_testing.h"

namespace sonde {
namespace {

using namespace origin_testing;
using ::testing::IsEmpty;

// The truth: which tensors were made non-finite, and which got it from an input.

struct Network {
  CaptureInfo info;
  std::set<std::string> planted;  // non-finite although all inputs are finite
};

Network random_network(std::mt19937& random) {
  const auto chance = [&](double p) { return std::bernoulli_distribution(p)(random); };
  const int size = std::uniform_int_distribution(3, 30)(random);
  std::vector<CapturedTensor> tensors;
  Network network;
  for (int i = 0; i < size; ++i) {
    const char* kind = i < 2 ? "input" : chance(0.2) ? "weight" : chance(0.3) ? "gradient" : "activation";
    CapturedTensor made = tensor(std::string(kind) + "/t" + std::to_string(i), kFinite);
    bool bad_input = false;
    for (int k = 0; i >= 2 && k < 1 + static_cast<int>(chance(0.6)); ++k) {
      const CapturedTensor& from = tensors[std::uniform_int_distribution<std::size_t>(0, tensors.size() - 1)(random)];
      // By name if that is unambiguous, otherwise by key.
      made.inputs.push_back(chance(0.5) && made.kind != Kind::gradient ? from.name : from.key);
      bad_input = bad_input || from.nan > 0;
    }
    // Non-finite values may also end here, as in a maximum.
    if (bad_input ? chance(0.9) : chance(0.1)) made.nan = 1;
    if (made.nan > 0 && !bad_input) network.planted.insert(made.key);
    tensors.push_back(std::move(made));
  }
  network.info = after_a_healthy_step(std::move(tensors));
  return network;
}

TEST(FindOriginInRandomNetworks, FindsExactlyTheProducersIfAllWasRecorded) {
  std::mt19937 random(1);
  int found = 0;
  for (int round = 0; round < 3000; ++round) {
    const Network network = random_network(random);
    const Origin origin = find_origin(network.info);
    ASSERT_EQ(origin.found, !network.planted.empty());
    std::set<std::string> producers;
    for (const Origin::Place& place : origin.producers) {
      ASSERT_THAT(place.unseen, IsEmpty()) << place.key;
      producers.insert(place.key);
    }
    ASSERT_EQ(producers, network.planted);
    found += static_cast<int>(producers.size());
  }
  EXPECT_GT(found, 1000);
}

TEST(FindOriginInRandomNetworks, NeverMakesAWrongCertainClaimIfTensorsAreMissing) {
  std::mt19937 random(2);
  const auto chance = [&](double p) { return std::bernoulli_distribution(p)(random); };
  int certain_claims = 0;
  int unclear_claims = 0;
  for (int round = 0; round < 5000; ++round) {
    Network network = random_network(random);
    const double share = std::uniform_real_distribution(0.0, 0.7)(random);
    std::vector<CapturedStep>& steps = network.info.steps;
    if (chance(0.5)) {  // the policy left some out, in every step
      std::set<std::string> without;
      for (const CapturedTensor& one : steps[1].tensors) {
        if (chance(share)) without.insert(one.key);
      }
      for (CapturedStep& one : steps) {
        std::erase_if(one.tensors, [&](const CapturedTensor& lost) { return without.contains(lost.key); });
      }
    } else {  // the ring lost some, in this step
      const std::size_t lost = std::erase_if(steps[1].tensors, [&](const CapturedTensor&) { return chance(share); });
      if (lost > 0) network.info.dropped.push_back({"tensors", 7, 7, lost, "no room"});
    }
    if (chance(0.2)) std::erase_if(steps[1].tensors, [&](CapturedTensor& one) { return one.inputs.clear(), false; });
    const Origin origin = find_origin(network.info);
    for (const Origin::Place& place : origin.producers) {
      ASSERT_TRUE(!place.unseen.empty() || network.planted.contains(place.key)) << place.key;
      ++(place.unseen.empty() ? certain_claims : unclear_claims);
    }
    ASSERT_EQ(origin.found, !origin.producers.empty());
    // Who is said to have passed it on did have a non-finite input.
    for (const std::string& key : origin.propagators) ASSERT_FALSE(network.planted.contains(key)) << key;
  }
  EXPECT_GT(certain_claims, 1000);
  EXPECT_GT(unclear_claims, 1000);
}

}  // namespace
}  // namespace sonde
