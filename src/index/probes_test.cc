#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/stats_record.h"
#include "index/index_testing.h"
#include "stats/summary.h"

namespace sonde::index {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kFirst = "r/stats.1700000000.h.1.0.tfrecord";
constexpr std::string_view kSecond = "r/stats.1700000100.h.2.0.tfrecord";

std::string definition(std::uint32_t id, const std::string& name, Kind kind = Kind::activation,
                       stats_record::Form form = {}, std::vector<std::string> inputs = {}) {
  std::string file;
  stats_record::put_definition(
      file, {.id = id, .kind = kind, .form = std::move(form), .name = name, .inputs = std::move(inputs)});
  return file;
}

std::string step(std::int64_t number, std::initializer_list<std::uint32_t> ids) {
  const std::vector<float> data = {1, 2};
  std::string file;
  stats_record::StepWriter writer(file, number, kStart + static_cast<double>(number), false);
  for (const std::uint32_t id : ids) writer.add({.id = id}, *stats::summarize(view(data)), nullptr);
  writer.end();
  return file;
}

std::vector<std::string> names(const Run& run) {
  std::vector<std::string> found;
  for (const ProbeInfo& probe : run.probes()) {
    EXPECT_EQ(probe.order, found.size());
    found.push_back(probe.name);
  }
  return found;
}

TEST(Probes, AreAsTheProgramDefinedThem) {
  base::TempDir dir;
  append(dir / kFirst, definition(4, "out", Kind::gradient, {DType::bf16, {32, 128}}, {"in", "kernel"}) + step(0, {4}));
  const std::vector<ProbeInfo> probes = open(dir.path()).run("r")->probes();
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_EQ(probes[0].name, "out");
  EXPECT_EQ(probes[0].kind, Kind::gradient);
  EXPECT_EQ(probes[0].tag, "gradient/out");
  EXPECT_EQ(probes[0].dtype, DType::bf16);
  EXPECT_EQ(probes[0].shape, (Shape{32, 128}));
  EXPECT_THAT(probes[0].inputs, ElementsAre("in", "kernel"));
}

TEST(Probes, AreInTheOrderOfExecutionEvenIfAStepHasOnlySomeOfThem) {
  base::TempDir dir;
  append(dir / kFirst, definition(1, "a") + definition(2, "z") + definition(3, "m") + definition(4, "never") +
                           step(0, {2, 1}) + step(1, {2, 3, 1}));
  EXPECT_THAT(names(*open(dir.path()).run("r")), ElementsAre("z", "m", "a", "never"));
}

TEST(Probes, OfARestartedJobAreListedOnceWithTheLastDefinition) {
  base::TempDir dir;
  append(dir / kFirst, definition(1, "a", Kind::activation, {DType::f32, {2}}) + step(0, {1}));
  append(dir / kSecond, definition(9, "a", Kind::activation, {DType::f16, {3}}) + definition(1, "b") + step(1, {9, 1}));
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_THAT(names(run), ElementsAre("a", "b"));
  EXPECT_EQ(run.probes()[0].dtype, DType::f16);
}

TEST(Probes, ComeBackFromTheCacheInTheirOrder) {
  base::TempDir dir;
  base::TempDir cache;
  std::string file = definition(1, "a") + definition(2, "b");
  for (int i = 0; i < 10'000; ++i) file += step(i, {2, 1});  // so much that it is worth a cache
  append(dir / kFirst, file);
  const LogOptions options = {.cache_directory = cache.path()};
  open(dir.path(), options).wait();
  EXPECT_FALSE(std::filesystem::is_empty(cache.path()));
  append(dir / kFirst, step(10'000, {1}));
  EXPECT_THAT(names(*open(dir.path(), options).run("r")), ElementsAre("b", "a"));
}

}  // namespace
}  // namespace sonde::index
