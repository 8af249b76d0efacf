// Files whose first records are damaged: the kind of their content is still known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/stats_record.h"
#include "formats/tfevents.h"
#include "index/index_testing.h"

namespace sonde::index {
namespace {

using testing::ElementsAre;

// An event with one summary; `put(summary, first)` writes it, with metadata if it is the first of its tag.
template <class Put>
std::string event(std::int64_t step, bool first, Put put) {
  std::string summary;
  put(summary, first);
  std::string file;
  tfevents::put_summary_event(file, kStart + static_cast<double>(step), step, summary);
  return file;
}
std::string tensor_scalar(std::int64_t step, bool first) {
  return event(step, first, [&](std::string& summary, bool metadata) {
    tfevents::put_scalar(summary, "loss", static_cast<double>(step) / 2, Precision::f32, metadata);
  });
}
std::string histogram(std::string_view tag, std::int64_t step, bool first) {
  return event(step, first, [&](std::string& summary, bool metadata) {
    const std::vector<stats::Bucket> buckets = {{0, 1, 2}, {1, 2, 3}};
    tfevents::put_histogram(summary, tag, buckets, metadata);
  });
}
std::string image(std::string_view tag, std::int64_t step, bool first) {
  return event(step, first, [&](std::string& summary, bool metadata) {
    tfevents::put_images(summary, tag, 4, 5, std::vector<std::string_view>{"\x89PNG"}, metadata);
  });
}
std::string text(std::int64_t step, bool first) {
  return event(step, first,
               [&](std::string& summary, bool metadata) { tfevents::put_text(summary, "note", "words", metadata); });
}

std::string damaged(std::string record) {
  record[record.size() / 2] ^= 1;
  return record;
}

TagKind kind_of(const sonde::Run& run, std::string_view tag) {
  std::vector<TagKind> kinds;
  for (const Tag& one : run.tags()) {
    if (one.name == tag) kinds.push_back(one.kind);
  }
  EXPECT_EQ(kinds.size(), 1U) << tag;
  return kinds.empty() ? TagKind::tensors : kinds.front();
}

TEST(DamagedMetadata, AreRecoveredFromTheValues) {
  base::TempDir dir;
  append(dir / "r/" + std::string(kEvents),
         version() + damaged(tensor_scalar(0, true)) + damaged(histogram("h", 0, true)) + damaged(image("i", 0, true)) +
             damaged(text(0, true)) + tensor_scalar(1, false) + tensor_scalar(2, false) + histogram("h", 1, false) +
             image("i", 1, false) + text(1, false));
  Log log = open(dir.path());
  const sonde::Run run = *log.run("r");
  EXPECT_EQ(kind_of(run, "loss"), TagKind::scalars);
  EXPECT_THAT(values_of(run, "loss"), ElementsAre(0.5, 1));
  EXPECT_EQ(kind_of(run, "h"), TagKind::histograms);
  EXPECT_EQ(kind_of(run, "i"), TagKind::images);
  EXPECT_EQ(kind_of(run, "note"), TagKind::text);
  EXPECT_EQ(run.damage().size(), 1U) << "four in a row are one place";
  // The following values are of the same kind.
  append(dir / "r/" + std::string(kEvents), tensor_scalar(3, false) + histogram("h", 2, false));
  log.refresh();
  EXPECT_THAT(values_of(run, "loss"), ElementsAre(0.5, 1, 1.5));
  EXPECT_EQ(run.tag("h", TagKind::histograms)->points, 2U);
}

TEST(DamagedMetadata, AreRecoveredIfTheyAreWrittenAgain) {
  base::TempDir dir;
  append(dir / "r/" + std::string(kEvents), version() + damaged(tensor_scalar(0, true)) + tensor_scalar(1, false) +
                                                tensor_scalar(2, true) + tensor_scalar(3, false) +
                                                damaged(histogram("h", 0, true)) + histogram("h", 1, false) +
                                                histogram("h", 2, true));
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(kind_of(run, "loss"), TagKind::scalars);
  EXPECT_THAT(steps_of(run, "loss"), ElementsAre(1, 2, 3));
  EXPECT_THAT(steps_of(run, "loss", History::all), ElementsAre(1, 2, 3));
  EXPECT_EQ(kind_of(run, "h"), TagKind::histograms);
  EXPECT_EQ(run.tag("h", TagKind::histograms)->points, 2U);
}

TEST(DamagedMetadata, AreRecoveredFromTheDefinitionOfTheTensor) {
  base::TempDir dir;
  std::string statistics;
  stats_record::put_definition(statistics, {.id = 1, .name = "out"});
  append(dir / "r/stats.1700000000.host.1.0.tfrecord", statistics);
  append(dir / "r/" + std::string(kEvents),
         version() + damaged(histogram("activation/out", 0, true)) + histogram("activation/out", 1, false) +
             damaged(image("activation/out/image", 0, true)) + image("activation/out/image", 1, false));
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(kind_of(run, "activation/out"), TagKind::histograms);
  EXPECT_EQ(kind_of(run, "activation/out/image"), TagKind::images);
}

TEST(DamagedMetadata, NothingIsGuessedWithoutDamage) {
  base::TempDir dir;  // a writer that says nothing about its values
  append(dir / "r/" + std::string(kEvents), version() + tensor_scalar(1, false) + histogram("h", 1, false));
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(kind_of(run, "loss"), TagKind::tensors);
  EXPECT_EQ(kind_of(run, "h"), TagKind::tensors);
}

}  // namespace
}  // namespace sonde::index
