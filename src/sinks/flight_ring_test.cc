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
#include "tensor/copy.h"

// Sanitizers bring an allocator of their own.
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

using Scalars = std::vector<std::pair<std::string_view, double>>;

std::unique_ptr<FlightRing> make_ring(const TempDir& dir, std::uint64_t bytes, std::int64_t steps = 0) {
  auto ring = FlightRing::create({.directory = dir.path(), .bytes = bytes, .steps = steps, .writer = "w"});
  EXPECT_TRUE(ring.ok()) << ring.status().message();
  return ring ? *std::move(ring) : nullptr;
}

// A ring's file as somebody else sees it at this moment.
struct Found {
  explicit Found(const std::string& path) : file(*MappedFile::open(path)), contents(flight::read(file.bytes())) {
    EXPECT_TRUE(contents.ok()) << contents.status().message();
  }
  const std::vector<flight::Step>& steps() const { return contents->steps; }
  std::vector<std::int64_t> numbers() const {
    std::vector<std::int64_t> found;
    for (const flight::Step& step : steps()) found.push_back(step.step);
    return found;
  }

  MappedFile file;
  Result<flight::Contents> contents;
};

std::string dense(const TensorView& view) {
  std::string bytes(byte_size(view), '\0');
  copy_dense(view, bytes.data());
  return bytes;
}

bool add_floats(FlightRing& ring, std::int64_t step, std::string_view name, const std::vector<float>& values,
                bool evaluation = false) {
  return ring.add({.wall_time = 1, .step = step}, evaluation, {.name = name, .view = view(values)});
}
void end(FlightRing& ring, std::int64_t step, bool evaluation = false, const Scalars& scalars = {}) {
  ring.end_step({.wall_time = 2, .step = step}, evaluation, scalars);
}
// A step of one tensor, all of whose elements are the step's number.
void add_step(FlightRing& ring, std::int64_t step, std::size_t elements = 16) {
  ASSERT_TRUE(add_floats(ring, step, "x", std::vector<float>(elements, static_cast<float>(step))));
  end(ring, step);
}

TEST(FlightRing, IsAPrivateFileOfTheGivenSizeThatNamesItsOwner) {
  TempDir dir;
  const auto ring = FlightRing::create({.directory = dir.path(),
                                        .bytes = 100'000,
                                        .writer = "17.host.1.0",
                                        .allow_negative_infinity = {"attention/.*", "mask"}});
  ASSERT_TRUE(ring.ok());
  const std::string name = "flight-" + host_name() + "-" + std::to_string(process_id()) + "-0.ring";
  EXPECT_EQ((*ring)->path(), dir / name);
  struct stat info{};
  ASSERT_EQ(::stat((*ring)->path().c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 100'000 / 64 * 64);
  EXPECT_EQ((*ring)->bytes(), 100'000u / 64 * 64);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
  const Found found((*ring)->path());
  EXPECT_EQ(found.contents->identity.host, host_name());
  EXPECT_EQ(found.contents->identity.pid, process_id());
  EXPECT_EQ(found.contents->identity.writer, "17.host.1.0");
  EXPECT_GT(found.contents->identity.start_time, 1e9);
  EXPECT_THAT(found.contents->allow_negative_infinity, ElementsAre("attention/.*", "mask"));
  EXPECT_TRUE(found.steps().empty());
}

TEST(FlightRing, GivesBackTensorsOfAllTypesAsTheyWere) {
  TempDir dir;
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
  TempDir dir;
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
  TempDir dir;
  const auto ring = make_ring(dir, 1 << 20, 3);
  for (int step = 0; step < 10; ++step) add_step(*ring, step);
  EXPECT_THAT(Found(ring->path()).numbers(), ElementsAre(7, 8, 9));
  add_floats(*ring, 10, "x", {1});
  EXPECT_THAT(Found(ring->path()).numbers(), ElementsAre(7, 8, 9, 10)) << "10 is in progress";
}

TEST(FlightRing, ShowsAStepInProgressAsIncomplete) {
  TempDir dir;
  const auto ring = make_ring(dir, 1 << 20);
  add_step(*ring, 1);
  add_floats(*ring, 2, "x", {2, 2});
  const Found found(ring->path());
  ASSERT_THAT(found.numbers(), ElementsAre(1, 2));
  EXPECT_FALSE(found.steps()[1].complete);
  EXPECT_EQ(found.steps()[1].wall_time, 1);
  EXPECT_EQ(found.steps()[1].tensors.size(), 1u);
}

TEST(FlightRing, TellsTrainingAndEvaluationInProgressApart) {
  TempDir dir;
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

// Both in progress at once in a ring that is always full: no step is ever there in part.
TEST(FlightRing, NeverShowsAPartOfAnInterleavedStepThatWasGivenUp) {
  TempDir dir;
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
      ASSERT_EQ(static_cast<int>(seen.tensors.size()), expected) << i;
    }
  }
}

TEST(FlightRing, ShowsAStepWhoseEndNeverCameAsIncompleteAndLetsItGo) {
  TempDir dir;
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
  TempDir dir;
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

TEST(FlightRing, TakesATensorAsLargeAsItselfWhereverItStands) {
  TempDir dir;
  const auto ring = make_ring(dir, 8192);
  for (int step = 0; step < 30; ++step) {
    for (int i = 0; i < step % 5; ++i) add_floats(*ring, 2 * step, "x", std::vector<float>(50));
    end(*ring, 2 * step);
    ASSERT_TRUE(add_floats(*ring, 2 * step + 1, "large", std::vector<float>(832))) << step;
    end(*ring, 2 * step + 1);
    ASSERT_EQ(Found(ring->path()).numbers().back(), 2 * step + 1);
  }
}

TEST(FlightRing, CountsWhatAStepLargerThanTheRingLeavesOut) {
  TempDir dir;
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
  TempDir dir;
  const auto ring = make_ring(dir, 8192);
  const std::string name(100, 'n');
  const Scalars many(1000, {name, 1.0});
  end(*ring, 1, false, many);
  const Found found(ring->path());
  ASSERT_THAT(found.numbers(), ElementsAre(1));
  EXPECT_GT(found.steps()[0].scalars.size(), 10u);
  EXPECT_LT(found.steps()[0].scalars.size(), 40u);
}

TEST(FlightRing, RefusesAnInvalidView) {
  TempDir dir;
  const auto ring = make_ring(dir, 8192);
  EXPECT_FALSE(ring->add({}, false, {.name = "x", .view = view(std::vector<float>(3), {4})}));
  EXPECT_EQ(ring->dropped(), 1u);
}

// What was put into a ring, by a plain rule: the newest steps that fit are there and nothing else.
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
  static constexpr std::uint64_t kReserve = 512;

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

std::uint64_t tensor_entry(std::string_view name, std::size_t elements) {
  std::string meta;
  flight::put_tensor_meta(meta, {.name = name, .shape = {static_cast<std::int64_t>(elements)}});
  return flight::entry_size(meta.size(), elements * sizeof(float));
}

TEST(FlightRing, HoldsExactlyTheNewestStepsThatFit) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    TempDir dir;
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
          ASSERT_GT(now.bytes + std::max(expected.largest, bytes) + bytes + Expected::kReserve, capacity);
        }
      }
      end(*ring, step);
      expected.steps.push_back(std::move(now));
      ASSERT_NO_FATAL_FAILURE(expected.check(Found(ring->path()), capacity));
    }
  }
}

#if !defined(SONDE_SANITIZED)
TEST(FlightRing, AllocatesNothingInItsStride) {
  TempDir dir;
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

// ---- Pins.

TEST(FlightPin, HoldsItsStepsWhileTheRingGoesOn) {
  TempDir dir;
  const auto ring = make_ring(dir, 8192);
  for (int step = 0; step < 20; ++step) add_step(*ring, step);
  {
    const FlightPin pin = ring->pin(15, 17);
    std::uint64_t left_out = 0;
    for (int step = 20; step < 100; ++step) {
      left_out += add_floats(*ring, step, "x", std::vector<float>(16, 1)) ? 0U : 1U;
      end(*ring, step);
    }
    EXPECT_GT(left_out, 50u);
    EXPECT_EQ(ring->dropped(), left_out);
    const std::vector<flight::Step> steps = pin.steps();
    ASSERT_EQ(steps.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(steps[i].step, 15 + static_cast<int>(i));
      EXPECT_TRUE(steps[i].complete);
      ASSERT_EQ(steps[i].tensors.size(), 1u);
      EXPECT_EQ(dense(steps[i].tensors[0].view),
                dense(view(std::vector<float>(16, static_cast<float>(steps[i].step)))));
    }
    EXPECT_THAT(Found(ring->path()).numbers(), ::testing::IsSupersetOf({15, 16, 17, 18, 19, 20}));
  }
  for (int step = 100; step < 120; ++step) add_step(*ring, step);
  EXPECT_EQ(Found(ring->path()).numbers().front(), 109);
}

TEST(FlightPin, HoldsAgainstTheLimitOfSteps) {
  TempDir dir;
  const auto ring = make_ring(dir, 1 << 20, 2);
  for (int step = 0; step < 4; ++step) add_step(*ring, step);
  {
    const FlightPin pin = ring->pin(2, 3);
    for (int step = 4; step < 8; ++step) add_step(*ring, step);
    EXPECT_THAT(Found(ring->path()).numbers(), ElementsAre(2, 3, 4, 5, 6, 7));
    EXPECT_EQ(pin.steps().size(), 2u);
  }
  add_step(*ring, 8);
  EXPECT_THAT(Found(ring->path()).numbers(), ElementsAre(7, 8));
}

TEST(FlightPin, TakesCompleteStepsOfBothSortsOnly) {
  TempDir dir;
  const auto ring = make_ring(dir, 1 << 20);
  add_step(*ring, 1);
  add_floats(*ring, 2, "in progress", {1});
  add_floats(*ring, 2, "evaluation", {1}, true);
  end(*ring, 2, true);
  const FlightPin pin = ring->pin(1, 2);
  const std::vector<flight::Step> steps = pin.steps();
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].step, 1);
  EXPECT_TRUE(steps[1].evaluation);
  EXPECT_TRUE(ring->pin(5, 9).steps().empty());
}

TEST(FlightPin, OfSeveralTheOldestCounts) {
  TempDir dir;
  const auto ring = make_ring(dir, 8192);
  for (int step = 0; step < 6; ++step) add_step(*ring, step);
  FlightPin early = ring->pin(1, 2);
  FlightPin late = ring->pin(4, 4);
  FlightPin again = ring->pin(1, 1);
  early = ring->pin(3, 3);  // the first one is gone, its twin is not
  for (int step = 6; step < 30; ++step) end(*ring, step);
  EXPECT_EQ(Found(ring->path()).numbers().front(), 1);
  {
    const FlightPin gone = std::move(again);
  }
  for (int step = 30; step < 60; ++step) end(*ring, step);
  EXPECT_EQ(late.steps().size(), 1u);
  EXPECT_EQ(early.steps().size(), 1u);
  EXPECT_EQ(Found(ring->path()).numbers().front(), 3);
}

TEST(FlightPin, IsReadByAnotherThreadWhileTheRingGoesOn) {
  TempDir dir;
  const auto ring = make_ring(dir, 1 << 16);
  std::atomic<int> wrong = 0;
  std::int64_t step = 0;
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 20; ++i) add_step(*ring, step++, 200);
    std::atomic<bool> done = false;
    std::thread reader([&, pin = ring->pin(step - 10, step - 1)] {
      std::vector<flight::Step> steps = pin.steps();
      if (steps.size() != 10) ++wrong;
      for (const flight::Step& got : steps) {
        const std::vector<float> wanted(200, static_cast<float>(got.step));
        if (dense(got.tensors[0].view) != dense(view(wanted))) ++wrong;
      }
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

// ---- Damage.

// Tensors by step and name, for a ring that has gone round some times.
std::map<std::pair<std::int64_t, std::string>, std::string> fill(FlightRing& ring) {
  std::map<std::pair<std::int64_t, std::string>, std::string> written;
  std::mt19937 random(5);
  for (int step = 0; step < 25; ++step) {
    for (int i = 0; i < 3; ++i) {
      std::vector<float> values(random() % 60);
      for (float& value : values) value = static_cast<float>(random());
      const std::string name(1, static_cast<char>('a' + i));
      if (add_floats(ring, step, name, values)) written[{step, name}] = dense(view(values));
    }
    if (step < 24) end(ring, step);  // the last one is in progress
  }
  return written;
}

TEST(FlightRing, WithAnyByteChangedLacksTensorsButShowsNoWrongOne) {
  TempDir dir;
  const auto ring = make_ring(dir, 8192);
  const auto written = fill(*ring);
  std::string file = *read_file(ring->path());
  const auto whole = flight::read(as_bytes(file));
  ASSERT_TRUE(whole.ok());
  std::size_t tensors = 0;
  for (const flight::Step& step : whole->steps) tensors += step.tensors.size();
  std::uint64_t noticed = 0;
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (const int flipped : {0xff, 1 << (i % 8)}) {
      file[i] = static_cast<char>(file[i] ^ flipped);
      const auto contents = flight::read(as_bytes(file));
      file[i] = static_cast<char>(file[i] ^ flipped);
      if (!contents.ok()) {
        ASSERT_LT(i, 4096u) << "one damaged entry must not make the rest unreadable";
        ++noticed;
        continue;
      }
      std::size_t seen = 0;
      for (const flight::Step& step : contents->steps) {
        seen += step.tensors.size();
        for (const flight::Tensor& tensor : step.tensors) {
          const auto found = written.find({step.step, tensor.name});
          ASSERT_NE(found, written.end()) << i;
          ASSERT_EQ(dense(tensor.view), found->second) << i;
        }
      }
      if (i >= 4096) {
        ASSERT_GE(seen + 1, tensors) << "at most the damaged one is missing, at byte " << i;
      }
      noticed += contents->torn > 0 ? 1U : 0U;
    }
  }
  EXPECT_GT(noticed, file.size() / 4);
}

TEST(FlightRing, CutOffAnywhereSaysSo) {
  TempDir dir;
  const auto ring = make_ring(dir, 8192);
  fill(*ring);
  const std::string file = *read_file(ring->path());
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto contents = flight::read(as_bytes(file).first(size));
    ASSERT_FALSE(contents.ok());
    ASSERT_EQ(contents.error().code(), Code::corrupt);
  }
}

// ---- Files and processes.

TEST(FlightRing, IsHeldWhileItLivesAndNotOnceAbandoned) {
  TempDir dir;
  const auto ring = make_ring(dir, 8192);
  add_step(*ring, 1);
  EXPECT_TRUE(*is_locked(ring->path()));
  ring->abandon();
  EXPECT_FALSE(*is_locked(ring->path()));
  EXPECT_THAT(Found(ring->path()).numbers(), ElementsAre(1));
  EXPECT_FALSE(add_floats(*ring, 2, "x", {1}));
  end(*ring, 2);
}

TEST(FlightRing, RemovesItsFileWhenItIsClosed) {
  TempDir dir;
  const auto ring = make_ring(dir, 8192);
  add_step(*ring, 1);
  ASSERT_TRUE(ring->close().ok());
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  ring->abandon();
}

TEST(FlightRing, LeavesTheFileOfAnotherRingInItsDirectoryAlone) {
  TempDir dir;
  const auto first = make_ring(dir, 8192);
  const auto second = make_ring(dir, 8192);
  EXPECT_NE(first->path(), second->path());
  EXPECT_TRUE(second->path().ends_with("-1.ring"));
  const pid_t child = ::fork();
  if (child == 0) {
    auto ring = FlightRing::create({.directory = dir.path(), .bytes = 8192});
    ::_exit(ring.ok() && (*ring)->path().ends_with(std::to_string(::getpid()) + "-0.ring") ? 0 : 1);
  }
  int ended = 0;
  ASSERT_EQ(::waitpid(child, &ended, 0), child);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 3);
}

TEST(FlightRing, AbandonInAForkedChildLeavesTheParentsRingAlone) {
  TempDir dir;
  const auto ring = make_ring(dir, 8192);
  add_step(*ring, 1);
  const pid_t child = ::fork();
  if (child == 0) {
    ring->abandon();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(*is_locked(ring->path()));
  add_step(*ring, 2);
  EXPECT_THAT(Found(ring->path()).numbers(), ElementsAre(1, 2));
}

TEST(FlightRing, LargerThanTheDiskSaysWhatToDo) {
  TempDir dir;
  const auto ring = FlightRing::create({.directory = dir.path(), .bytes = std::uint64_t{1} << 60});
  ASSERT_FALSE(ring.ok());
  EXPECT_EQ(ring.error().code(), Code::no_space);
  EXPECT_THAT(ring.error().message(), HasSubstr("1152921504606846976 bytes are wanted and"));
  EXPECT_THAT(ring.error().message(), HasSubstr("[flight] size"));
  EXPECT_THAT(ring.error().message(), HasSubstr("[flight] dir"));
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(FlightRing, TooSmallOneSaysHowLargeItMustBe) {
  TempDir dir;
  const auto ring = FlightRing::create({.directory = dir.path(), .bytes = 5000});
  ASSERT_FALSE(ring.ok());
  EXPECT_EQ(ring.error().code(), Code::invalid_argument);
  EXPECT_THAT(ring.error().message(), HasSubstr("at least 8192"));
}

TEST(FlightRing, IsNotLargerByDefaultThanTheKernelLikes) {
  EXPECT_GE(FlightRing::default_bytes(), std::uint64_t{16} << 20);
  EXPECT_LE(FlightRing::default_bytes(), std::uint64_t{256} << 20);
}

// ---- Killed at any moment.

constexpr std::uint64_t kKilledBytes = 256 << 10;

// The tensors of a step follow from its number.
std::vector<std::vector<float>> tensors_of(std::int64_t step) {
  std::mt19937 random(static_cast<unsigned>(step));
  std::vector<std::vector<float>> tensors(1 + random() % 4);
  for (auto& tensor : tensors) tensor.assign(random() % 3000, static_cast<float>(random()));
  return tensors;
}

[[noreturn]] void write_until_killed(const std::string& directory, std::atomic<std::int64_t>& completed) {
  auto ring = FlightRing::create({.directory = directory, .bytes = kKilledBytes});
  if (!ring) ::_exit(1);
  for (std::int64_t step = 1;; ++step) {
    for (const auto& tensor : tensors_of(step)) {
      (*ring)->add({.step = step}, false, {.name = "t", .view = view(tensor)});
    }
    (*ring)->end_step({.step = step}, false, {});
    completed.store(step, std::memory_order_release);
  }
}

std::uint64_t bytes_of(std::int64_t step) {
  std::uint64_t sum = flight::entry_size(64, 0);
  for (const auto& tensor : tensors_of(step)) sum += tensor_entry("t", tensor.size());
  return sum;
}

void check_survivors(const Found& found, std::int64_t completed) {
  ASSERT_EQ(found.contents->torn, 0u);
  std::int64_t newest = 0;
  std::int64_t oldest = std::numeric_limits<std::int64_t>::max();
  for (const flight::Step& step : found.steps()) {
    const auto wanted = tensors_of(step.step);
    ASSERT_LE(step.tensors.size(), wanted.size());
    for (std::size_t i = 0; i < step.tensors.size(); ++i) {
      ASSERT_EQ(dense(step.tensors[i].view), dense(view(wanted[i]))) << step.step;
    }
    if (!step.complete) {
      ASSERT_EQ(&step, &found.steps().back());
      continue;
    }
    ASSERT_EQ(step.tensors.size(), wanted.size());
    if (newest != 0) {
      ASSERT_EQ(step.step, newest + 1);
    }
    newest = step.step;
    oldest = std::min(oldest, step.step);
  }
  ASSERT_GE(newest, completed);
  ASSERT_LE(newest, completed + 1);
  // All that fit beside the step that was being written, at most one entry's size unused at the end of the file.
  std::uint64_t bytes = bytes_of(newest + 1) + tensor_entry("t", 3000) + Expected::kReserve;
  for (std::int64_t step = newest; step > 0; --step) {
    bytes += bytes_of(step);
    if (bytes > kKilledBytes - flight::kHeaderBytes) break;
    ASSERT_LE(oldest, step);
  }
}

TEST(FlightRing, KeepsEveryCompletedStepOfAKilledProcess) {
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& completed = *new (memory) std::atomic<std::int64_t>(0);
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 50; ++round) {
    TempDir dir;
    completed = 0;
    const pid_t child = ::fork();
    if (child == 0) write_until_killed(dir.path(), completed);
    while (completed.load(std::memory_order_acquire) == 0 && ::waitpid(child, nullptr, WNOHANG) == 0) ::usleep(100);
    ::usleep(static_cast<useconds_t>(random() % 8000));
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    std::string path = std::filesystem::directory_iterator(dir.path())->path().string();
    EXPECT_FALSE(*is_locked(path));
    const Found found(path);
    ASSERT_NO_FATAL_FAILURE(check_survivors(found, completed.load())) << "round " << round;
  }
  ::munmap(memory, 4096);
}

}  // namespace
}  // namespace sonde::sinks
