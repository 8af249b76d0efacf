#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "formats/stats_record.h"
#include "formats/tfevents_decode.h"
#include "formats/tfrecord.h"
#include "sinks/console.h"
#include "sinks/event_file.h"
#include "sinks/record_file.h"
#include "sinks/stats_file.h"

namespace sonde::sinks {
namespace {

class SinksTest : public ::testing::Test {
 protected:
  SinksTest() {
    std::string name = (std::filesystem::temp_directory_path() / "sonde-sinks-XXXXXX").string();
    dir_ = ::mkdtemp(name.data());
  }
  ~SinksTest() override { std::filesystem::remove_all(dir_); }

  std::string path() const { return base::join_path(dir_, "file"); }
  // The payloads of all records in the file.
  std::vector<std::string> records() const {
    const auto file = base::MappedFile::open(path());
    std::vector<std::string> found;
    if (!file) return found;
    tfrecord::RecordReader reader(file->bytes(), tfrecord::RecordReader::Tail::complete);
    for (auto next = reader.next(); next != tfrecord::RecordReader::Found::end; next = reader.next()) {
      EXPECT_EQ(next, tfrecord::RecordReader::Found::record);
      found.emplace_back(base::as_text(reader.payload()));
    }
    return found;
  }

  std::string dir_;
  Tally tally_;
};

TEST_F(SinksTest, RecordFileIsCreatedWithTheFirstFlush) {
  RecordFile file(path(), tally_);
  ASSERT_TRUE(file.flush().ok());
  EXPECT_FALSE(std::filesystem::exists(path()));
  tfrecord::put_record(file.buffer(), "one");
  ASSERT_TRUE(file.appended(0).ok());
  EXPECT_FALSE(std::filesystem::exists(path()));
  ASSERT_TRUE(file.flush().ok());
  EXPECT_THAT(records(), ::testing::ElementsAre("one"));
  EXPECT_EQ(tally_.bytes_written.load(), 19U);
}

TEST_F(SinksTest, RecordFileWritesByItselfWhenItsBufferIsFull) {
  RecordFile file(path(), tally_);
  const std::string large(100'000, 'x');
  for (int i = 0; i < 3; ++i) {
    tfrecord::put_record(file.buffer(), large);
    ASSERT_TRUE(file.appended(0).ok());
  }
  EXPECT_EQ(records().size(), 3U);
}

TEST_F(SinksTest, RecordFileKeepsAndRetriesFailedRecords) {
  const std::string missing = base::join_path(dir_, "missing");
  RecordFile file(base::join_path(missing, "file"), tally_);
  tfrecord::put_record(file.buffer(), "one");
  ASSERT_TRUE(file.appended(0).ok());
  EXPECT_EQ(file.flush().code(), Code::not_found);
  EXPECT_EQ(tally_.write_errors.load(), 1U);
  ASSERT_TRUE(base::make_directories(missing).ok());
  EXPECT_TRUE(file.flush().ok());
  EXPECT_EQ(tally_.lost_records.load(), 0U);
  EXPECT_EQ(std::filesystem::file_size(base::join_path(missing, "file")), 19U);
}

TEST_F(SinksTest, RecordFileGivesUpBeyondItsLimitAndCounts) {
  RecordFile file(base::join_path(dir_, "missing/file"), tally_);
  const std::string large(1 << 20, 'x');
  int failures = 0;
  for (int i = 0; i < 20; ++i) {
    tfrecord::put_record(file.buffer(), large);
    failures += file.appended(0).ok() ? 0 : 1;
  }
  EXPECT_EQ(failures, 3) << "the first write, and each time the limit was reached";
  EXPECT_EQ(tally_.lost_records.load(), 16U);
  EXPECT_FALSE(file.close().ok());
  EXPECT_EQ(tally_.lost_records.load(), 20U);
}

TEST_F(SinksTest, RecordFileReportsItsDeletionOnce) {
  RecordFile file(path(), tally_);
  const auto write = [&] {
    tfrecord::put_record(file.buffer(), "record");
    EXPECT_TRUE(file.appended(0).ok());
    return file.flush();
  };
  ASSERT_TRUE(write().ok());
  std::filesystem::remove(path());
  EXPECT_THAT(write().message(), ::testing::HasSubstr("was deleted while it was being written"));
  EXPECT_TRUE(write().ok());
}

TEST_F(SinksTest, EventFileWritesMetadataWithTheFirstValueOfATagOnly) {
  EventFile sink(path(), 1.5, Precision::f32, tally_);
  const Value value = ScalarValue{{3, "loss"}, 0.25};
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(sink.write({2.5, i}, {&value, 1}).ok());
  ASSERT_TRUE(sink.close().ok());
  const auto found = records();
  ASSERT_EQ(found.size(), 4U);
  const auto version = tfevents::decode_event(base::as_bytes(found[0]));
  EXPECT_EQ(version->text, "brain.Event:2");
  EXPECT_EQ(version->wall_time, 1.5);
  for (std::size_t i = 1; i < 4; ++i) {
    const auto event = tfevents::decode_event(base::as_bytes(found[i]));
    ASSERT_TRUE(event.ok());
    EXPECT_EQ(event->step, static_cast<std::int64_t>(i - 1));
    EXPECT_EQ(event->wall_time, 2.5);
    EXPECT_EQ(event->values.at(0).has_metadata, i == 1);
    EXPECT_EQ(*tfevents::as_scalar(event->values[0]), 0.25);
  }
}

TEST_F(SinksTest, EventFileWritesTheGoodValuesOfAnEventThatHasABadOne) {
  EventFile sink(path(), 0, Precision::f32, tally_);
  const std::vector<float> samples(4);
  const AudioOptions options = {.sample_rate = 0};
  const Value values[] = {ScalarValue{{0, "loss"}, 1}, AudioValue{{1, "sound"}, view(samples), &options},
                          TextValue{{2, "note"}, "text"}};
  EXPECT_EQ(sink.write({0, 0}, values).code(), Code::invalid_argument);
  ASSERT_TRUE(sink.close().ok());
  const auto found = records();
  ASSERT_EQ(found.size(), 2U);
  const auto event = tfevents::decode_event(base::as_bytes(found[1]));
  ASSERT_EQ(event->values.size(), 2U);
  EXPECT_EQ(event->values[1].tag, "note");
}

TEST_F(SinksTest, StatsFileDefinesEachProbeOnceAndNotesChangesOfForm) {
  StatsFile sink(path(), {.writer = "w", .host = "h", .pid = 7, .start_time = 1}, tally_);
  const std::vector<std::string> inputs = {"conv"};
  StepTensor tensor;
  tensor.probe = {4, "out", Kind::gradient, inputs};
  tensor.dtype = DType::bf16;
  tensor.shape = {2, 3};
  tensor.summary.count = 6;
  ASSERT_TRUE(sink.end_step({{1, 10}, false, {&tensor, 1}}).ok());
  tensor.shape = {1, 3};
  ASSERT_TRUE(sink.end_step({{2, 11}, false, {&tensor, 1}}).ok());
  ASSERT_TRUE(sink.lose({.probe = tensor.probe, .first_step = 12, .last_step = 14, .count = 3}).ok());
  ASSERT_TRUE(sink.close().ok());

  const auto found = records();
  ASSERT_EQ(found.size(), 5U);
  const auto decode = [&](std::size_t i) { return *stats_record::decode_record(base::as_bytes(found[i])); };
  EXPECT_EQ(std::get<stats_record::Header>(decode(0)).pid, 7U);
  const auto definition = std::get<stats_record::Definition>(decode(1));
  EXPECT_EQ(definition.name, "out");
  EXPECT_EQ(definition.kind, Kind::gradient);
  EXPECT_EQ(definition.inputs, inputs);
  EXPECT_EQ(definition.form.dtype, DType::bf16);
  EXPECT_FALSE(std::get<stats_record::Step>(decode(2)).entries.at(0).form.has_value());
  EXPECT_EQ(std::get<stats_record::Step>(decode(3)).entries.at(0).form->shape, Shape({1, 3}));
  EXPECT_EQ(std::get<stats_record::Gap>(decode(4)).last_step, 14);
}

TEST_F(SinksTest, ConsolePrintsAndPassesTheRestOver) {
  std::FILE* out = std::tmpfile();
  Console sink(out);
  const std::vector<float> values = {1, 2, 3, 4};
  const Value printed[] = {ScalarValue{{0, "loss"}, 1}, PrintValue{"out", view(values), false}};
  ASSERT_TRUE(sink.write({0, 5}, printed).ok());
  ASSERT_TRUE(sink.close().ok());
  EXPECT_GT(std::ftell(out), 10);
  std::fclose(out);
}

}  // namespace
}  // namespace sonde::sinks
