// Several threads of a recorder: large tensors, and files of whole tensors and tables.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/temp_dir_testing.h"
#include "record/file_writer.h"
#include "record/recorder_testing.h"
#include "stats/parts.h"

namespace sonde::record {
namespace {

constexpr std::size_t kLarge = 3 * static_cast<std::size_t>(stats::kPartElements) + 11;

RecorderOptions with_threads(int threads) {
  RecorderOptions options;
  options.threads = threads;
  return options;
}

void record_steps(Recorder& recorder, const std::vector<float>& values, std::int64_t steps) {
  const Probe probe = recorder.probe("large", {.keep = Keep::stats | Keep::histogram});
  for (std::int64_t i = 0; i < steps; ++i) {
    Step step = recorder.step(i);
    probe.record(step, view(values));
  }
}

TEST(Threads, GiveTheSameStatisticsForAnyNumber) {
  const std::vector<float> values = ramp(kLarge);
  std::vector<Log> logs;
  for (const int threads : {1, 2, 4}) {
    const base::TempDir directory;
    Recorder recorder = open(directory.path(), with_threads(threads));
    record_steps(recorder, values, 3);
    recorder.histogram("alone", view(values), 1);
    EXPECT_TRUE(recorder.close().ok());
    logs.push_back(read_log(directory.path()));
  }
  for (const Log& log : logs) {
    ASSERT_EQ(log.steps.size(), 3U);
    const auto& expected = logs[0].steps[0].tensors.at(0);
    for (const Log::Step& step : log.steps) {
      const auto& found = step.tensors.at(0);
      EXPECT_EQ(found.summary.count, kLarge);
      EXPECT_EQ(found.summary.mean, expected.summary.mean);
      EXPECT_EQ(found.summary.m2, expected.summary.m2);
      EXPECT_EQ(found.histogram, expected.histogram);
    }
    EXPECT_EQ(log.histograms.at("alone").size(), 1U);
  }
}

TEST(Threads, AForkedChildHasItsOwn) {
  const base::TempDir directory;
  const std::vector<float> values = ramp(kLarge);
  Recorder recorder = open(directory.path(), with_threads(2));
  record_steps(recorder, values, 2);
  ASSERT_TRUE(recorder.flush().ok());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    record_steps(recorder, values, 2);
    _exit(recorder.flush().ok() && recorder.committed_step() == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(recorder.close().ok());
  EXPECT_EQ(read_log(directory.path()).steps.size(), 4U);
}

TEST(Threads, ANegativeNumberIsRejected) {
  const base::TempDir directory;
  const auto refused = Recorder::open(directory.path(), with_threads(-1));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("threads is below 0"), std::string::npos);
}

TEST(FilesOfSteps, AreThereWhenTheStepIsCommitted) {
  const base::TempDir directory;
  const std::vector<float> values = ramp(100'000);
  Recorder recorder = open(directory.path());
  const Probe kept = recorder.probe("kept", {.keep = Keep::npy});
  const Probe small = recorder.probe("small");
  for (std::int64_t i = 0; i < 20; ++i) {
    Step step = recorder.step(i);
    if (i % 2 == 0) kept.record(step, view(values));
    small.record(step, view(values.data(), {10}));
  }
  ASSERT_TRUE(comes_true([&] {
    const std::int64_t committed = recorder.committed_step();
    std::int64_t files = 0;
    const auto tensors = std::filesystem::path(directory.path()) / "tensors";
    if (std::filesystem::exists(tensors)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(tensors)) {
        files += entry.path().extension() == ".npy" ? 1 : 0;
      }
    }
    EXPECT_GE(files, (committed + 2) / 2) << "at step " << committed;
    return committed == 19;
  }));
}

TEST(FileWriter, WritesBatchesInOrderAndCountsThem) {
  const base::TempDir directory;
  sinks::Tally tally;
  FileWriter files(directory.path(), "w", tally);
  const std::vector<float> values = {1, 2, 3};
  for (std::int64_t step = 1; step <= 3; ++step) {
    auto batch = std::make_unique<FileWriter::Batch>();
    batch->stamp = {.wall_time = 1, .step = step};
    batch->tensors.push_back({.key = "dense", .view = view(values), .npy = true});
    batch->tables.push_back({.name = "rows", .columns = {{"value", view(values)}}});
    files.push(std::move(batch));
  }
  files.wait();
  for (int step = 1; step <= 3; ++step) {
    const auto done = files.take();
    ASSERT_NE(done, nullptr);
    EXPECT_EQ(done->stamp.step, step) << "they come back in order";
    EXPECT_TRUE(done->stored.status.ok());
  }
  EXPECT_EQ(files.take(), nullptr);
  const auto table = files_with(directory.path() + "/tables", "rows");
  ASSERT_EQ(table.size(), 1U);
}

TEST(FileWriter, ReportsErrorsAndWritesTheRest) {
  const base::TempDir directory;
  sinks::Tally tally;
  FileWriter files(directory.path(), "w", tally);
  const std::vector<float> values = {1, 2, 3};
  auto batch = std::make_unique<FileWriter::Batch>();
  batch->stamp = {.wall_time = 1, .step = 5};
  batch->tables.push_back({.name = "uneven", .columns = {{"a", view(values)}, {"b", view(values.data(), {2})}}});
  batch->tables.push_back({.name = "even", .columns = {{"a", view(values)}}});
  files.push(std::move(batch));
  files.wait();
  const auto done = files.take();
  ASSERT_NE(done, nullptr);
  EXPECT_EQ(done->stamp.step, 5);
  EXPECT_FALSE(done->tables[0].outcome.status.ok());
  EXPECT_EQ(done->tables[0].outcome.lost, 3U);
  EXPECT_TRUE(done->tables[1].outcome.status.ok());
  EXPECT_EQ(files_with(directory.path() + "/tables", "even").size(), 1U);
}

TEST(FileWriter, EncodesPicturesAndSaysWhichCannotBeDrawn) {
  const base::TempDir directory;
  sinks::Tally tally;
  FileWriter files(directory.path(), "w", tally);
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const ImageOptions options;
  auto batch = std::make_unique<FileWriter::Batch>();
  batch->pictures.push_back({.tag = {0, "good"}, .view = view(values, {2, 3}), .options = &options});
  batch->pictures.push_back(
      {.tag = {1, "bad"}, .view = view(values, {2, 3}), .layout = Layout::NHWC, .options = &options});
  files.push(std::move(batch));
  files.wait();
  const auto done = files.take();
  ASSERT_NE(done, nullptr);
  EXPECT_EQ(done->pictures[0].width, 3);
  EXPECT_EQ(done->pictures[0].height, 2);
  EXPECT_TRUE(done->pictures[0].png.starts_with("\x89PNG"));
  EXPECT_EQ(done->pictures[1].outcome.status.code(), Code::invalid_argument);
  EXPECT_EQ(done->pictures[1].outcome.lost, 0U);
}

// The backend goes on while a picture is encoded: what others record meanwhile is not behind it.
TEST(Images, OfATagAreInTheEventFileInTheOrderOfTheirCallsAndCommittedWithTheirStep) {
  const base::TempDir directory;
  Recorder rec = open(directory.path());
  const Probe probe = rec.probe("out", {.keep = Keep::image});
  const std::vector<float> values = ramp(200 * 300);
  for (std::int64_t n = 0; n < 20; ++n) {
    const Step step = rec.step(n);
    const std::int64_t size = n % 2 == 0 ? 200 : 2;  // slow and fast ones take turns
    probe.record(step, view(values.data(), {size, 300}));
    rec.image("by_name", view(values.data(), {size, 300}), n, Layout::HW);
  }
  ASSERT_TRUE(comes_true([&] { return rec.committed_step() == 19; }));
  ASSERT_TRUE(rec.flush().ok());
  std::map<std::string, std::vector<std::int64_t>> steps;
  for (const auto& path : files_with(directory.path(), "tfevents")) {
    const auto file = base::MappedFile::open(path);
    ASSERT_TRUE(file.ok());
    tfrecord::RecordReader reader(file->bytes());
    while (reader.next() == tfrecord::RecordReader::Found::record) {
      const auto event = tfevents::decode_event(reader.payload());
      ASSERT_TRUE(event.ok());
      for (const auto& value : event->values) steps[std::string(value.tag)].push_back(event->step);
    }
  }
  for (const char* tag : {"by_name", "activation/out/image"}) {
    ASSERT_EQ(steps[tag].size(), 20U) << tag;
    EXPECT_TRUE(std::ranges::is_sorted(steps[tag])) << tag;
  }
  EXPECT_EQ(rec.counters().tensors, 40U);
}

}  // namespace
}  // namespace sonde::record
