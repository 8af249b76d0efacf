#include "sinks/flight_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <new>
#include <numeric>
#include <random>
#include <thread>

#include "base/file.h"
#include "base/file_lock.h"
#include "base/process.h"
#include "base/temp_dir_testing.h"
#include "formats/flight_layout.h"
#include "sinks/flight_ring_testing.h"
#include "tensor/copy.h"

// Sanitizers bring their own allocator.
#if !defined(SONDE_SANITIZED)
namespace {
thread_local std::uint64_t allocations = 0;
}  // namespace
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace sonde::sinks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FlightRing, IsAPrivateFileOfTheGivenSizeThatNamesItsOwner) {
  base::TempDir dir;
  const auto ring = FlightRing::create({.directory = dir.path(),
                                        .bytes = 100'000,
                                        .writer = "17.host.1.0",
                                        .allow_negative_infinity = {"attention/.*", "mask"}});
  ASSERT_TRUE(ring.ok());
  const std::string name = "flight-" + base::host_name() + "-" + std::to_string(base::process_id()) + "-0.ring";
  EXPECT_EQ((*ring)->path(), dir / name);
  struct stat info{};
  ASSERT_EQ(::stat((*ring)->path().c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 100'000 / 64 * 64);
  EXPECT_EQ((*ring)->bytes(), 100'000u / 64 * 64);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
  const Found found((*ring)->path());
  EXPECT_EQ(found.contents->identity.host, base::host_name());
  EXPECT_EQ(found.contents->identity.pid, base::process_id());
  EXPECT_EQ(found.contents->identity.writer, "17.host.1.0");
  EXPECT_GT(found.contents->identity.start_time, 1e9);
  EXPECT_THAT(found.contents->allow_negative_infinity, ElementsAre("attention/.*", "mask"));
  EXPECT_TRUE(found.steps().empty());
}

TEST(FlightRing, GivesBackTensorsOfAllTypesAsTheyWere) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 1 << 20);
  std::string memory(4096, '\0');
  std::iota(memory.begin(), memory.end(), '\0');
  std::vector<TensorView> views;
  for (int dtype = 0; dtype < kDTypeCount; ++dtype) {
    const auto type = static_cast<DType>(dtype);
    views.push_back(view(memory.data(), type, {3, 5}));
    views.push_back(view(memory.data(), type, {5, 3}, {1, 5}));                         // transposed
    views.push_back(view(memory.data() + 100 * size_of(type), type, {2, 3}, {-7, 0}));  // reversed, broadcast
    views.push_back(view(memory.data(), type, {0, 4}));
    views.push_back(view(nullptr, type, {0}));
    views.push_back(view(memory.data(), type, {}));
    views.push_back(view(memory.data(), type, {1, 2, 1, 2, 1, 2, 1, 2}));
  }
  const std::vector<std::string> inputs = {"a", "", "conv_1/out"};
  for (std::size_t i = 0; i < views.size(); ++i) {
    ASSERT_TRUE(ring->add({.wall_time = 12.5, .step = -3}, true,
                          {.name = "tensor " + std::to_string(i),
                           .kind = static_cast<Kind>(i % 6),
                           .occurrence = static_cast<std::uint32_t>(i),
                           .inputs = std::span(inputs).first(i % 4),
                           .view = views[i]}));
  }
  end(*ring, -3, true, {{"loss", 0.5}, {"", -1e300}});

  const Found found(ring->path());
  ASSERT_EQ(found.steps().size(), 1u);
  const flight::Step& step = found.steps()[0];
  EXPECT_EQ(step.step, -3);
  EXPECT_TRUE(step.evaluation);
  EXPECT_TRUE(step.complete);
  EXPECT_EQ(step.wall_time, 2);
  EXPECT_EQ(step.dropped, 0u);
  EXPECT_THAT(step.scalars, ElementsAre(std::pair("loss", 0.5), std::pair("", -1e300)));
  ASSERT_EQ(step.tensors.size(), views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    const flight::Tensor& tensor = step.tensors[i];
    EXPECT_EQ(tensor.name, "tensor " + std::to_string(i));
    EXPECT_EQ(tensor.kind, static_cast<Kind>(i % 6));
    EXPECT_EQ(tensor.occurrence, i);
    EXPECT_EQ(tensor.inputs, std::vector<std::string>(inputs.begin(), inputs.begin() + static_cast<int>(i % 4)));
    EXPECT_EQ(tensor.view.dtype, views[i].dtype);
    EXPECT_TRUE(tensor.view.shape == views[i].shape);
    EXPECT_EQ(dense(tensor.view), dense(views[i])) << i;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.view.data) % 64, 0u);
  }
}

TEST(FlightRing, OverwritesTheOldestStepsWhole) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);  // 4096 for entries; a step takes 320
  for (int step = 0; step < 100; ++step) {
    add_step(*ring, step);
    const Found found(ring->path());
    ASSERT_EQ(found.contents->torn, 0u);
    ASSERT_FALSE(found.steps().empty());
    ASSERT_EQ(found.steps().back().step, step);
    ASSERT_EQ(found.steps().front().step, step + 1 - static_cast<int>(found.steps().size()));
    ASSERT_GE(found.steps().size(), std::min<std::size_t>(static_cast<std::size_t>(step) + 1, 10));
  }
}

TEST(FlightRing, KeepsNoMoreStepsThanAskedFor) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 1 << 20, 3);
  for (int step = 0; step < 10; ++step) add_step(*ring, step);
  EXPECT_THAT(Found(ring->path()).numbers(), ElementsAre(7, 8, 9));
  add_floats(*ring, 10, "x", {1});
  EXPECT_THAT(Found(ring->path()).numbers(), ElementsAre(7, 8, 9, 10)) << "10 is in progress";
}

TEST(FlightRing, ShowsAStepInProgressAsIncomplete) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 1 << 20);
  add_step(*ring, 1);
  add_floats(*ring, 2, "x", {2, 2});
  const Found found(ring->path());
  ASSERT_THAT(found.numbers(), ElementsAre(1, 2));
  EXPECT_FALSE(found.steps()[1].complete);
  EXPECT_EQ(found.steps()[1].wall_time, 1);
  EXPECT_EQ(found.steps()[1].tensors.size(), 1u);
}

TEST(FlightRing, DistinguishesTrainingAndEvaluationInProgress) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 1 << 20);
  add_floats(*ring, 7, "train a", {1});
  add_floats(*ring, 7, "eval a", {2}, true);
  add_floats(*ring, 7, "train b", {3});
  end(*ring, 7, true);
  add_floats(*ring, 8, "eval b", {4}, true);
  end(*ring, 7);
  const Found found(ring->path());
  ASSERT_EQ(found.steps().size(), 3u);
  EXPECT_EQ(found.steps()[0].tensors.size(), 2u);
  EXPECT_TRUE(found.steps()[0].complete && !found.steps()[0].evaluation);
  EXPECT_EQ(found.steps()[1].tensors.size(), 1u);
  EXPECT_TRUE(found.steps()[1].complete && found.steps()[1].evaluation);
  EXPECT_EQ(found.steps()[2].step, 8);
  EXPECT_FALSE(found.steps()[2].complete);
}

TEST(FlightRing, SaysHowManyTensorsOfAStepWereDroppedBeforeTheyReachedIt) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 1 << 20);
  ring->lose({.wall_time = 1, .step = 7}, false, 2);
  add_floats(*ring, 7, "x", {1});
  ring->lose({.wall_time = 1, .step = 7}, false, 3);
  end(*ring, 7);
  add_step(*ring, 8);
  const Found found(ring->path());
  ASSERT_THAT(found.numbers(), ElementsAre(7, 8));
  EXPECT_EQ(found.steps()[0].lost, 5u);
  EXPECT_EQ(found.steps()[0].dropped, 0u);
  EXPECT_EQ(found.steps()[0].tensors.size(), 1u);
  EXPECT_EQ(found.steps()[1].lost, 0u);
  EXPECT_EQ(ring->dropped(), 0u);
}

// Both in progress at once in a ring that is always full: no step is ever there in part without saying so.
TEST(FlightRing, NeverShowsAPartOfAnInterleavedStepThatWasGivenUp) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  std::mt19937 random(3);
  std::int64_t step[2] = {0, 0};
  int tensors[2] = {0, 0};
  for (int i = 0; i < 3000; ++i) {
    const bool evaluation = random() % 2 == 0;
    const int e = evaluation ? 1 : 0;
    if (tensors[e] < 3) {
      const std::vector<float> values(random() % 40, static_cast<float>(step[e]));
      tensors[e] += add_floats(*ring, step[e], "x", values, evaluation) ? 1 : 0;
    } else {
      end(*ring, step[e]++, evaluation);
      tensors[e] = 0;
    }
    const Found found(ring->path());
    for (const flight::Step& seen : found.steps()) {
      const int expected = seen.complete ? 3 : tensors[seen.evaluation ? 1 : 0];
      const int there = static_cast<int>(seen.tensors.size());
      ASSERT_EQ(seen.damaged, 0u) << i;
      if (!seen.evaluation) {
        ASSERT_EQ(there, expected) << i;
      } else {
        ASSERT_LE(there, expected) << i;
        if (seen.complete) {
          ASSERT_GE(there + static_cast<int>(seen.dropped), expected) << i;
        }
      }
    }
  }
}

TEST(FlightRing, ShowsAStepWhoseEndNeverCameAsIncompleteAndLetsItGo) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  add_floats(*ring, 1, "x", {1});
  add_step(*ring, 2);
  const Found found(ring->path());
  ASSERT_THAT(found.numbers(), ElementsAre(1, 2));
  EXPECT_FALSE(found.steps()[0].complete);
  for (int step = 3; step < 1000; ++step) ASSERT_TRUE(add_floats(*ring, step, "x", {1}));
  EXPECT_EQ(Found(ring->path()).numbers().back(), 999);
}

TEST(FlightRing, LeavesOutATensorLargerThanItself) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  add_step(*ring, 1);
  EXPECT_FALSE(add_floats(*ring, 2, "large", std::vector<float>(5000)));
  EXPECT_TRUE(add_floats(*ring, 2, "small", {1}));
  end(*ring, 2);
  EXPECT_EQ(ring->dropped(), 1u);
  const Found found(ring->path());
  ASSERT_THAT(found.numbers(), ElementsAre(1, 2)) << "what could not be kept has cost no other step";
  EXPECT_EQ(found.steps()[1].dropped, 1u);
  EXPECT_EQ(found.steps()[1].tensors.size(), 1u);
}

TEST(FlightRing, AcceptsATensorAsLargeAsItselfAtAnyPosition) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  for (int step = 0; step < 30; ++step) {
    for (int i = 0; i < step % 5; ++i) add_floats(*ring, 2 * step, "x", std::vector<float>(50));
    end(*ring, 2 * step);
    ASSERT_TRUE(add_floats(*ring, 2 * step + 1, "large", std::vector<float>(832))) << step;
    end(*ring, 2 * step + 1);
    ASSERT_EQ(Found(ring->path()).numbers().back(), 2 * step + 1);
  }
}

TEST(FlightRing, CountsTensorsLeftOutOfAStepLargerThanTheRing) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  std::uint64_t kept = 0;
  for (int i = 0; i < 100; ++i) kept += add_floats(*ring, 1, "x", std::vector<float>(64)) ? 1U : 0U;
  end(*ring, 1, false, {{"loss", 1.0}});
  EXPECT_GE(kept, 8u);
  EXPECT_EQ(ring->dropped(), 100 - kept);
  const Found found(ring->path());
  ASSERT_THAT(found.numbers(), ElementsAre(1));
  EXPECT_TRUE(found.steps()[0].complete);
  EXPECT_EQ(found.steps()[0].tensors.size(), kept);
  EXPECT_EQ(found.steps()[0].dropped, 100 - kept);
  EXPECT_EQ(found.steps()[0].scalars.size(), 1u);
  add_step(*ring, 2);
  EXPECT_THAT(Found(ring->path()).numbers(), ElementsAre(2));
}

TEST(FlightRing, LeavesOutScalarsRatherThanTheEndOfAStep) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  const std::string name(100, 'n');
  const Scalars many(1000, {name, 1.0});
  end(*ring, 1, false, many);
  const Found found(ring->path());
  ASSERT_THAT(found.numbers(), ElementsAre(1));
  EXPECT_GT(found.steps()[0].scalars.size(), 10u);
  EXPECT_LT(found.steps()[0].scalars.size(), 40u);
}

// A pass of inference: its own number among those in progress.
bool add_in_pass(FlightRing& ring, std::uint32_t pass, std::int64_t step, const std::vector<float>& values) {
  return ring.add({.wall_time = 1, .step = step}, false, {.name = "x", .view = view(values)}, pass);
}
void end_pass(FlightRing& ring, std::uint32_t pass, std::int64_t step) {
  ring.end_step({.wall_time = 2, .step = step}, false, {}, pass);
}

TEST(FlightRing, DistinguishesPassesInProgress) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 64 << 10);
  constexpr std::uint32_t kPasses = 20;
  for (std::uint32_t pass = 1; pass <= kPasses; ++pass) {
    ASSERT_TRUE(add_in_pass(*ring, pass, 100 + pass, {static_cast<float>(pass)}));
  }
  for (std::uint32_t pass = 1; pass <= kPasses; ++pass) {
    ASSERT_TRUE(add_in_pass(*ring, pass, 100 + pass, {static_cast<float>(pass), 0}));
  }
  for (std::uint32_t pass = kPasses; pass >= 1; --pass) end_pass(*ring, pass, 100 + pass);
  const Found found(ring->path());
  ASSERT_EQ(found.steps().size(), kPasses);
  for (const flight::Step& step : found.steps()) {
    EXPECT_TRUE(step.complete);
    ASSERT_EQ(step.tensors.size(), 2U);
    for (const flight::Tensor& tensor : step.tensors) {
      EXPECT_EQ(static_cast<const float*>(tensor.view.data)[0], static_cast<float>(step.step - 100));
    }
  }
  EXPECT_EQ(ring->ended(), kPasses);
}

TEST(FlightRing, DistinguishesTwoPassesOfOneNumber) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 16 << 10);
  ASSERT_TRUE(add_in_pass(*ring, 1, 7, {1}));
  ASSERT_TRUE(add_in_pass(*ring, 2, 7, {2}));
  end_pass(*ring, 1, 7);
  end_pass(*ring, 2, 7);
  const Found found(ring->path());
  ASSERT_THAT(found.numbers(), ElementsAre(7, 7));
  EXPECT_EQ(found.steps()[0].tensors.size(), 1U);
  EXPECT_EQ(found.steps()[1].tensors.size(), 1U);
}

TEST(FlightRing, ALongPassLosesItsOldestTensorsToOthers) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 16 << 10);
  ASSERT_TRUE(add_in_pass(*ring, 1, 1, std::vector<float>(16)));
  for (std::uint32_t pass = 2; pass < 100; ++pass) {
    ASSERT_TRUE(add_in_pass(*ring, pass, pass, std::vector<float>(256)));
    end_pass(*ring, pass, pass);
  }
  EXPECT_EQ(ring->dropped(), 1U);
  end_pass(*ring, 1, 1);
  const Found found(ring->path());
  EXPECT_EQ(found.steps().back().step, 1);
  EXPECT_EQ(found.steps().back().dropped, 1U);
}

TEST(FlightPin, TakesThePassThatEndedLastThoughItBeganFirst) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 16 << 10);
  ASSERT_TRUE(add_in_pass(*ring, 1, 1, {1}));
  ASSERT_TRUE(add_in_pass(*ring, 2, 2, {2}));
  end_pass(*ring, 2, 2);
  end_pass(*ring, 1, 1);
  FlightPin pin = ring->pin(1, 1);
  const flight::Step* step = pin.next();
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->step, 1);
  EXPECT_EQ(pin.next(), nullptr);
  EXPECT_EQ(ring->pin(0, 1).training_steps(), 2U);
}

TEST(FlightRing, RejectsAnInvalidView) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  EXPECT_FALSE(ring->add({}, false, {.name = "x", .view = view(std::vector<float>(3), {4})}));
  EXPECT_EQ(ring->dropped(), 1u);
}

// The expected content of a ring, by a plain rule: exactly the newest steps that fit.
struct Expected {
  struct Item {
    std::string name;
    std::vector<float> values = {};
  };
  struct Step {
    std::int64_t step = 0;
    std::vector<Item> tensors = {};
    std::uint64_t dropped = 0;
    std::uint64_t bytes = 0;  // of its entries
  };
  std::vector<Step> steps;
  std::uint64_t largest = 0;  // entry: at most so much is left unused at the end of the file

  std::uint64_t bytes_from(std::size_t first) const {
    std::uint64_t sum = largest + kReserve;
    for (std::size_t i = first; i < steps.size(); ++i) sum += steps[i].bytes;
    return sum;
  }
  void check(const Found& found, std::uint64_t capacity) const {
    ASSERT_EQ(found.contents->torn, 0u);
    ASSERT_LE(found.steps().size(), steps.size());
    const std::size_t gone = steps.size() - found.steps().size();
    if (gone > 0) {
      ASSERT_GT(bytes_from(gone - 1), capacity) << "one more had fitted";
    }
    for (std::size_t i = 0; i < found.steps().size(); ++i) {
      const flight::Step& got = found.steps()[i];
      const Step& wanted = steps[gone + i];
      ASSERT_EQ(got.step, wanted.step);
      ASSERT_TRUE(got.complete);
      ASSERT_EQ(got.dropped, wanted.dropped);
      ASSERT_EQ(got.tensors.size(), wanted.tensors.size());
      for (std::size_t t = 0; t < got.tensors.size(); ++t) {
        ASSERT_EQ(got.tensors[t].name, wanted.tensors[t].name);
        ASSERT_EQ(dense(got.tensors[t].view), dense(view(wanted.tensors[t].values)));
      }
    }
  }
};

TEST(FlightRing, HoldsExactlyTheNewestStepsThatFit) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    base::TempDir dir;
    std::mt19937 random(seed);
    const std::uint64_t capacity = 4096 + random() % 300 * 64;
    const auto ring = make_ring(dir, 4096 + capacity);
    const std::size_t most = 1 + random() % (capacity / (seed % 2 == 0 ? 16 : 3));
    Expected expected;
    for (int step = 0; step < 60; ++step) {
      Expected::Step now = {.step = step, .bytes = flight::entry_size(64, 0)};
      for (std::size_t i = random() % 6; i > 0; --i) {
        Expected::Item item = {.name = std::string(random() % 70, 'n')};
        item.values.resize(random() % most);
        for (float& value : item.values) value = static_cast<float>(random());
        const std::uint64_t bytes = tensor_entry(item.name, item.values.size());
        if (add_floats(*ring, step, item.name, item.values)) {
          now.bytes += bytes;
          now.tensors.push_back(std::move(item));
          expected.largest = std::max(expected.largest, bytes);
        } else {
          ++now.dropped;
          ASSERT_GT(now.bytes + std::max(expected.largest, bytes) + bytes + kReserve, capacity);
        }
      }
      end(*ring, step);
      expected.steps.push_back(std::move(now));
      ASSERT_NO_FATAL_FAILURE(expected.check(Found(ring->path()), capacity));
    }
  }
}

#if !defined(SONDE_SANITIZED)
TEST(FlightRing, AllocatesNothingInSteadyState) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 1 << 20);
  const std::vector<float> values(1000);
  const std::vector<std::string> inputs = {"a/rather/long/name/of/an/input"};
  const TensorView strided = view(values.data(), {10, 10}, {1, 10});
  const Scalars scalars = {{"loss", 1.0}, {"accuracy", 0.5}};
  const auto run = [&](std::int64_t step) {
    ring->add({.step = step}, false, {.name = "dense", .inputs = inputs, .view = view(values)});
    ring->add({.step = step}, false, {.name = "strided", .inputs = inputs, .view = strided});
    ring->end_step({.step = step}, false, scalars);
  };
  std::int64_t step = 0;
  while (step < 2000) run(step++);  // several times round
  const std::uint64_t before = allocations;
  while (step < 12000) run(step++);
  EXPECT_EQ(allocations - before, 0u);
}
#endif

TEST(FlightRing, ALongEvaluationPassLosesItsOldestTensorsToTrainingSteps) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  add_floats(*ring, 7, "early", {1}, true);
  for (int step = 0; step < 50; ++step) {
    add_step(*ring, step);
    ASSERT_EQ(Found(ring->path()).numbers().back(), step);
  }
  EXPECT_EQ(ring->dropped(), 1u) << "of the pass";
  add_floats(*ring, 7, "late", {2}, true);
  end(*ring, 7, true);
  const Found found(ring->path());
  const flight::Step& pass = found.steps().back();
  EXPECT_TRUE(pass.evaluation && pass.complete);
  EXPECT_EQ(pass.dropped, 1u);
  EXPECT_EQ(pass.damaged, 0u);
  ASSERT_EQ(pass.tensors.size(), 1u);
  EXPECT_EQ(pass.tensors[0].name, "late");
}

TEST(FlightRing, ATrainingStepLosesNoTensors) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  add_floats(*ring, 1, "early", {1});
  bool room = true;
  for (int i = 0; i < 50; ++i) room = add_floats(*ring, 7, "x", {1}, true);
  EXPECT_FALSE(room);
  end(*ring, 1);
  EXPECT_EQ(Found(ring->path()).steps().front().tensors.size(), 1u);
}

// ---- Pins.

// Whole steps of one tensor of this many elements, each the number of its step.
void expect_whole(const flight::Step* step, std::int64_t number, std::size_t elements) {
  ASSERT_NE(step, nullptr);
  ASSERT_EQ(step->step, number);
  EXPECT_TRUE(step->complete);
  ASSERT_EQ(step->tensors.size(), 1u);
  EXPECT_EQ(dense(step->tensors[0].view), dense(view(std::vector<float>(elements, static_cast<float>(number)))));
}

TEST(FlightPin, HoldsItsStepsWhileTheRingContinues) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  for (int step = 0; step < 20; ++step) add_step(*ring, step);
  FlightPin pin = ring->pin(15, 17);
  for (int step = 20; step < 100; ++step) {
    add_step(*ring, step);
    ASSERT_EQ(Found(ring->path()).numbers().back(), step);
  }
  EXPECT_EQ(ring->dropped(), 0u);
  EXPECT_EQ(Found(ring->path()).numbers().front(), 89) << "as if nothing were pinned";
  for (int step = 15; step < 18; ++step) ASSERT_NO_FATAL_FAILURE(expect_whole(pin.next(), step, 16));
  EXPECT_EQ(pin.next(), nullptr);
  EXPECT_EQ(pin.next(), nullptr);
}

TEST(FlightPin, HoldsStepsAcrossTheEndOfTheFile) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  for (int step = 0; step < 100; ++step) {
    add_step(*ring, step, 100);
    FlightPin in_ring = ring->pin(ring->ended() - 1, ring->ended() - 1);
    ASSERT_NO_FATAL_FAILURE(expect_whole(in_ring.next(), step, 100));
    FlightPin copied = ring->pin(ring->ended() - 1, ring->ended() - 1);
    for (int i = 0; i < 20; ++i) add_step(*ring, step, 100);
    ASSERT_NO_FATAL_FAILURE(expect_whole(copied.next(), step, 100));
  }
}

TEST(FlightPin, CountsStepsThatCouldNotBeCopiedToMemory) {
  base::TempDir dir;
  FlightRing::Options options = {.directory = dir.path(), .bytes = 8192, .copy_bytes = 1000};
  const auto ring = *FlightRing::create(options);
  for (int step = 0; step < 10; ++step) add_step(*ring, step, 100);
  const auto read = [&](FlightPin pin) {
    std::size_t whole = 0;
    while (const flight::Step* step = pin.next()) {
      whole += step->tensors.size();
      EXPECT_EQ(step->tensors.size() + step->dropped, 1u) << step->step;
      EXPECT_EQ(step->overwritten, step->tensors.empty());
    }
    return whole;
  };
  FlightPin pin = ring->pin(6, 9);
  FlightPin others = ring->pin(6, 9);
  for (int step = 10; step < 30; ++step) add_step(*ring, step, 100);
  EXPECT_EQ(Found(ring->path()).numbers().back(), 29) << "the ring comes first";
  EXPECT_EQ(pin.training_steps(), 4u);
  EXPECT_EQ(read(std::move(pin)), 1u) << "there was room for one";
  EXPECT_EQ(read(std::move(others)), 1u) << "which both share";
  FlightPin later = ring->pin(29, 29);
  for (int step = 30; step < 40; ++step) add_step(*ring, step, 100);
  EXPECT_EQ(read(std::move(later)), 1u) << "the room was given back";
}

TEST(FlightPin, HoldsAgainstTheLimitOfSteps) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 1 << 20, 2);
  for (int step = 0; step < 4; ++step) add_step(*ring, step);
  {
    const FlightPin pin = ring->pin(2, 3);
    for (int step = 4; step < 8; ++step) add_step(*ring, step);
    EXPECT_THAT(Found(ring->path()).numbers(), ElementsAre(2, 3, 4, 5, 6, 7));
    EXPECT_EQ(pin.training_steps(), 2u);
  }
  add_step(*ring, 8);
  EXPECT_THAT(Found(ring->path()).numbers(), ElementsAre(7, 8));
}

TEST(FlightPin, TakesCompleteStepsOfBothSortsOnly) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 1 << 20);
  add_step(*ring, 1);
  add_floats(*ring, 2, "in progress", {1});
  add_floats(*ring, 2, "evaluation", {1}, true);
  end(*ring, 2, true);
  FlightPin pin = ring->pin(0, 1);
  EXPECT_EQ(pin.next()->step, 1);
  EXPECT_TRUE(pin.next()->evaluation);
  EXPECT_EQ(pin.next(), nullptr);
  EXPECT_EQ(ring->pin(5, 9).next(), nullptr);
}

// The numbers of the steps, evaluation passes with a minus.
std::vector<std::int64_t> numbers(FlightPin pin) {
  std::vector<std::int64_t> found;
  while (const flight::Step* step = pin.next()) found.push_back(step->evaluation ? -step->step : step->step);
  return found;
}

TEST(FlightPin, SelectsStepsByCountNotByNumber) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 1 << 20);
  EXPECT_EQ(ring->ended(), 0u);
  for (const int step : {5, 6, 7, 5, 6, 6, 100}) add_step(*ring, step);  // the job went back, twice
  EXPECT_EQ(ring->ended(), 7u);
  EXPECT_THAT(numbers(ring->pin(0, 2)), ElementsAre(5, 6, 7));
  EXPECT_THAT(numbers(ring->pin(2, 4)), ElementsAre(7, 5, 6));
  EXPECT_THAT(numbers(ring->pin(4, 6)), ElementsAre(6, 6, 100));
  FlightPin back = ring->pin(3, 3);
  EXPECT_EQ(back.training_steps(), 1u);
  EXPECT_EQ(back.next()->position, Found(ring->path()).steps()[3].position) << "the second step 5";
}

TEST(FlightPin, TakesTheEvaluationPassesThatBeganAfterTheStepBefore) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 1 << 20);
  for (int step = 1; step <= 3; ++step) {
    add_step(*ring, step);
    add_floats(*ring, 10 * step, "e", {1}, true);
    end(*ring, 10 * step, true);
  }
  EXPECT_EQ(ring->ended(), 3u) << "they do not count";
  EXPECT_THAT(numbers(ring->pin(0, 0)), ElementsAre(1));
  EXPECT_THAT(numbers(ring->pin(1, 1)), ElementsAre(-10, 2));
  EXPECT_THAT(numbers(ring->pin(0, 2)), ElementsAre(1, -10, 2, -20, 3));
  EXPECT_EQ(ring->pin(0, 2).training_steps(), 3u);
  EXPECT_THAT(numbers(ring->pin(3, 3)), ElementsAre(-30));
  EXPECT_EQ(ring->pin(3, 3).training_steps(), 0u);
}

TEST(FlightPin, TakesNoStepTwiceIfAnEvaluationPassSpansSeveral) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 1 << 20);
  add_step(*ring, 1);
  add_floats(*ring, 9, "e", {1}, true);
  add_step(*ring, 2);
  add_step(*ring, 3);
  add_floats(*ring, 9, "f", {1}, true);
  end(*ring, 9, true);
  FlightPin pin = ring->pin(1, 1);
  EXPECT_EQ(pin.training_steps(), 1u);
  EXPECT_EQ(pin.next()->tensors.size(), 2u);
  EXPECT_THAT(numbers(std::move(pin)), ElementsAre(2)) << "step 3 lies in front of the end of the pass";
  EXPECT_THAT(numbers(ring->pin(2, 2)), ElementsAre(3));
}

TEST(FlightPin, GrowsByStepsAndByPassesThatEndLaterThanTheyBegan) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 1 << 20);
  add_step(*ring, 1);
  FlightPin pin = ring->pin(0, 0);
  add_floats(*ring, 9, "e", {1}, true);
  add_step(*ring, 2);
  ring->pin_more(pin, 1, 1);
  add_step(*ring, 3);
  ring->pin_more(pin, 2, 2);
  end(*ring, 9, true);
  ring->pin_more(pin, 1, 2);
  EXPECT_EQ(pin.training_steps(), 3u);
  EXPECT_THAT(numbers(std::move(pin)), ElementsAre(1, -9, 2, 3));
}

TEST(FlightPin, AStepWhoseEndNeverCameIsNotCounted) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 1 << 20);
  add_step(*ring, 1);
  add_floats(*ring, 2, "x", {1});
  add_step(*ring, 3);
  EXPECT_EQ(ring->ended(), 2u);
  EXPECT_EQ(ring->pin(0, 1).training_steps(), 2u);
  EXPECT_THAT(numbers(ring->pin(0, 1)), ElementsAre(1, 3));
}

TEST(FlightPin, HoldsAllStepsThatAreStillInTheRing) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 1 << 20, 3);
  for (int step = 0; step < 10; ++step) add_step(*ring, step);
  EXPECT_EQ(ring->pin(0, 8).training_steps(), 2u);
  EXPECT_THAT(numbers(ring->pin(0, 8)), ElementsAre(7, 8));
  EXPECT_EQ(ring->pin(0, 6).training_steps(), 0u);
  EXPECT_THAT(numbers(ring->pin(0, 6)), ElementsAre());
}

TEST(FlightPin, HoldsNothingOfLaterSteps) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  FlightPin early = ring->pin(0, kLast);
  for (int step = 0; step < 3; ++step) add_step(*ring, step);
  EXPECT_THAT(numbers(std::move(early)), ElementsAre());
  FlightPin later = ring->pin(3, kLast);
  FlightPin backwards = ring->pin(2, 1);
  FlightPin both = ring->pin(2, kLast);
  for (int step = 3; step < 6; ++step) add_step(*ring, step);
  EXPECT_THAT(numbers(std::move(later)), ElementsAre());
  EXPECT_THAT(numbers(std::move(backwards)), ElementsAre());
  EXPECT_EQ(both.training_steps(), 1u);
  EXPECT_THAT(numbers(std::move(both)), ElementsAre(2)) << "what it was when it was pinned";
}

TEST(FlightPin, IsReadByAnotherThreadWhileTheRingContinues) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 1 << 16);
  std::atomic<int> wrong = 0;
  std::int64_t step = 0;
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 20; ++i) add_step(*ring, step++, 200);
    std::atomic<bool> done = false;
    std::thread reader([&, pin = ring->pin(ring->ended() - 10, ring->ended() - 1)]() mutable {
      int steps = 0;
      while (const flight::Step* got = pin.next()) {
        ++steps;
        const std::vector<float> wanted(200, static_cast<float>(got->step));
        if (got->tensors.size() != 1 || dense(got->tensors[0].view) != dense(view(wanted))) ++wrong;
      }
      if (steps != 10) ++wrong;
      done = true;
    });
    while (!done) {
      add_floats(*ring, step, "x", std::vector<float>(200, static_cast<float>(step)));
      end(*ring, step++);
    }
    for (int i = 0; i < 100; ++i) {  // the pin may go at any moment now
      add_floats(*ring, step, "x", std::vector<float>(200, static_cast<float>(step)));
      end(*ring, step++);
    }
    reader.join();
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace sonde::sinks
