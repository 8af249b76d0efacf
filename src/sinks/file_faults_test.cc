// The files of sinks, with every operation on them failed in every way: records in them stay complete, losses are
// counted, and writing continues when the fault is over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/faults_testing.h"
#include "base/file.h"
#include "base/temp_dir_testing.h"
#include "formats/stats_record.h"
#include "formats/tfevents_decode.h"
#include "formats/tfrecord.h"
#include "sinks/event_file.h"
#include "sinks/stats_file.h"
#include "sinks/table_file.h"

namespace sonde::sinks {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The payloads of all records; nothing if there is no file.
std::vector<std::string> records_in(const std::string& path) {
  std::vector<std::string> found;
  const auto file = base::MappedFile::open(path);
  if (!file) return found;
  tfrecord::RecordReader reader(file->bytes(), tfrecord::RecordReader::Tail::complete);
  for (auto next = reader.next(); next != tfrecord::RecordReader::Found::end; next = reader.next()) {
    EXPECT_EQ(next, tfrecord::RecordReader::Found::record) << reader.reason();
    if (next != tfrecord::RecordReader::Found::record) break;
    found.emplace_back(base::as_text(reader.payload()));
  }
  return found;
}

// An error that names the file, if there may be one.
void expect_named(const Status& status, const base::Fault& fault, const std::string& path) {
  if (status.ok()) return;
  EXPECT_FALSE(fault.harmless()) << status.message();
  EXPECT_THAT(status.message(), HasSubstr(path));
}

// `write(sink, n)` writes the n-th record. Returns how many of them the file should have.
template <class Sink, class Write>
void walk(const std::string& path, base::Faults& faults, const base::Fault& fault, Tally& tally, Sink& sink,
          Write write) {
  std::uint64_t errors = 0;
  const auto note = [&](const Status& status) {
    expect_named(status, fault, path);
    errors += status.ok() ? 0U : 1U;
  };
  faults.add(fault);
  for (int n = 0; n < 6; ++n) {
    note(write(sink, n));
    if (n % 2 == 1) note(sink.flush());
  }
  EXPECT_EQ(tally.write_errors, errors);
  faults.clear();
  EXPECT_TRUE(write(sink, 6).ok());
  EXPECT_TRUE(sink.close().ok());
  EXPECT_EQ(tally.lost_records, 0U) << "what was refused is tried again";
}

TEST(EveryFault, IsOvercomeByAnEventFile) {
  const auto met = base::for_each_fault([](base::Faults& faults, base::Fault fault) {
    const base::TempDir dir;
    fault.path = dir / "events";
    Tally tally;
    EventFile sink(fault.path, 1, Precision::f32, tally);
    walk(fault.path, faults, fault, tally, sink, [](EventFile& file, int n) {
      const Value value = ScalarValue{{0, "loss"}, static_cast<double>(n)};
      return file.write({1, n}, {&value, 1});
    });
    const std::vector<std::string> found = records_in(fault.path);
    ASSERT_EQ(found.size(), 8U);
    for (std::size_t i = 1; i < found.size(); ++i) {
      EXPECT_EQ(tfevents::decode_event(base::as_bytes(found[i]))->step, static_cast<std::int64_t>(i - 1));
    }
  });
  EXPECT_GT(met, 20U);
}

TEST(EveryFault, IsOvercomeByAStatisticsFile) {
  const auto met = base::for_each_fault([](base::Faults& faults, base::Fault fault) {
    const base::TempDir dir;
    fault.path = dir / "stats";
    Tally tally;
    StatsFile sink(fault.path, {.writer = "w"}, tally);
    walk(fault.path, faults, fault, tally, sink, [](StatsFile& file, int n) {
      StepTensor tensor;
      tensor.probe = {4, "out", Kind::gradient, {}};
      return file.end_step({{1, n}, false, {&tensor, 1}});
    });
    std::int64_t next = 0;
    for (const std::string& record : records_in(fault.path)) {
      const auto decoded = *stats_record::decode_record(base::as_bytes(record));
      const auto* step = std::get_if<stats_record::Step>(&decoded);
      if (step == nullptr) continue;
      EXPECT_EQ(step->step, next);
      ++next;
    }
    EXPECT_EQ(next, 7);
  });
  EXPECT_GT(met, 20U);
}

// The disk stays as it is: all that could not be written is counted, and no empty file is left.
TEST(EveryFault, ThatLastsIsCountedByAnEventFileThatIsClosed) {
  const auto met = base::for_each_fault([](base::Faults& faults, base::Fault fault) {
    const base::TempDir dir;
    fault.path = dir / "events";
    Tally tally;
    EventFile sink(fault.path, 1, Precision::f32, tally);
    faults.add(fault);
    for (int n = 0; n < 6; ++n) {
      const Value value = ScalarValue{{0, "loss"}, static_cast<double>(n)};
      expect_named(sink.write({1, n}, {&value, 1}), fault, fault.path);
      if (n % 2 == 1) expect_named(sink.flush(), fault, fault.path);
    }
    expect_named(sink.close(), fault, fault.path);
    faults.clear();
    const std::size_t found = records_in(fault.path).size();
    EXPECT_EQ((found == 0 ? 0 : found - 1) + tally.lost_records, 6U);
    if (found == 0 && fault.operation != base::FileOperation::remove) {
      EXPECT_THAT(base::names_in(dir.path()), IsEmpty());
    }
  });
  EXPECT_GT(met, 20U);
}

// ---- Records that are lost for good, since the disk rejects them for too long.

const base::Fault kFullDisk = {.operation = base::FileOperation::write, .error = ENOSPC, .persistent = true};

Status write_scalar(EventFile& file, std::uint32_t tag, std::int64_t step) {
  const std::string name = "tag" + std::to_string(tag);
  const Value value = ScalarValue{{tag, name}, 1};
  return file.write({1, step}, {&value, 1});
}

Status write_step(StatsFile& file, std::int64_t step, std::uint32_t tensors = 1) {
  std::vector<std::string> names;
  for (std::uint32_t id = 0; id < tensors; ++id) names.push_back("probe" + std::to_string(id));
  std::vector<StepTensor> all(tensors);
  for (std::uint32_t id = 0; id < tensors; ++id) {
    all[id].probe = {id, names[id], Kind::gradient, {}};
    all[id].dtype = DType::bf16;
    all[id].shape = {2, 3};
  }
  return file.end_step({{1, step}, false, all});
}

// Fills the buffer of the file until it drops records; returns the step after the last one.
template <class Write>
std::int64_t lose_records(Tally& tally, std::int64_t step, Write write) {
  for (const std::uint64_t before = tally.lost_records; tally.lost_records == before; ++step) (void)write(step);
  return step;
}

// What a statistics file has, in its order.
struct StatsContent {
  std::vector<stats_record::Gap> gaps;
  std::vector<std::int64_t> steps;
  std::vector<std::string> names;  // of the first tensor of each step, as far as it is defined before
  std::size_t headers = 0;
  std::size_t definitions = 0;
};
StatsContent content_of(const std::string& path) {
  StatsContent content;
  stats_record::Definitions definitions;
  for (const std::string& record : records_in(path)) {
    const auto decoded = *stats_record::decode_record(base::as_bytes(record));
    if (std::holds_alternative<stats_record::Header>(decoded)) ++content.headers;
    if (const auto* gap = std::get_if<stats_record::Gap>(&decoded)) content.gaps.push_back(*gap);
    if (const auto* definition = std::get_if<stats_record::Definition>(&decoded)) {
      ++content.definitions;
      definitions.add(*definition);
    }
    if (const auto* step = std::get_if<stats_record::Step>(&decoded)) {
      content.steps.push_back(step->step);
      content.names.push_back(definitions.name(step->entries.at(0).id));
    }
  }
  return content;
}

// How many values of a tag have metadata, of how many.
std::pair<std::size_t, std::size_t> metadata_of(const std::vector<std::string>& records, std::string_view tag) {
  std::pair<std::size_t, std::size_t> found;
  for (const std::string& record : records) {
    const auto event = tfevents::decode_event(base::as_bytes(record));
    for (const tfevents::Value& value : event->values) {
      if (value.tag != tag) continue;
      found.first += value.has_metadata ? 1 : 0;
      ++found.second;
    }
  }
  return found;
}

TEST(LostRecords, OfAnEventFileAreFollowedByTheMetadataThatTheyHeld) {
  const base::TempDir dir;
  Tally tally;
  EventFile sink(dir / "events", 1, Precision::f32, tally);
  base::Faults faults;
  faults.add(kFullDisk);
  // The version event is lost, too: nothing was written before.
  const std::int64_t next = lose_records(tally, 0, [&](std::int64_t step) { return write_scalar(sink, 0, step); });
  faults.clear();
  ASSERT_TRUE(write_scalar(sink, 0, next).ok());
  ASSERT_TRUE(write_scalar(sink, 0, next + 1).ok());
  ASSERT_TRUE(sink.close().ok());
  EXPECT_EQ(tally.lost_records, static_cast<std::uint64_t>(next));
  const std::vector<std::string> found = records_in(dir / "events");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(tfevents::decode_event(base::as_bytes(found[0]))->text, "brain.Event:2");
  const auto first = tfevents::decode_event(base::as_bytes(found[1]));
  EXPECT_EQ(first->step, next);
  EXPECT_TRUE(first->values.at(0).has_metadata);
  EXPECT_EQ(first->values[0].metadata.plugin_name, "scalars");
  EXPECT_FALSE(tfevents::decode_event(base::as_bytes(found[2]))->values.at(0).has_metadata);
}

TEST(LostRecords, OfAStatisticsFileAreFollowedByTheDefinitionsThatTheyHeldAndAGap) {
  const base::TempDir dir;
  Tally tally;
  StatsFile sink(dir / "stats", {.writer = "w"}, tally);
  base::Faults faults;
  faults.add(kFullDisk);
  const std::int64_t next = lose_records(tally, 5, [&](std::int64_t step) { return write_step(sink, step, 1000); });
  faults.clear();
  ASSERT_TRUE(write_step(sink, next, 1000).ok());
  ASSERT_TRUE(sink.close().ok());
  const StatsContent content = content_of(dir / "stats");
  EXPECT_EQ(content.headers, 1U);
  EXPECT_EQ(content.definitions, 1000U);
  EXPECT_THAT(content.steps, ElementsAre(next));
  EXPECT_THAT(content.names, ElementsAre("probe0"));
  ASSERT_EQ(content.gaps.size(), 1U);
  EXPECT_EQ(content.gaps[0].reason, stats_record::GapReason::write_error);
  EXPECT_EQ(content.gaps[0].first_step, 5);
  EXPECT_EQ(content.gaps[0].last_step, next - 1);
  EXPECT_EQ(content.gaps[0].count, tally.lost_records);
  EXPECT_THAT(content.gaps[0].detail, HasSubstr("records for '" + (dir / "stats") + "' were lost"));
}

TEST(LostRecords, OfAnEventFileLeaveAGapInTheStatisticsFile) {
  const base::TempDir dir;
  Tally tally;
  EventFile events(dir / "events", 1, Precision::f32, tally);
  StatsFile stats(dir / "stats", {.writer = "w"}, tally);
  base::Faults faults;
  faults.add(kFullDisk);
  const std::int64_t next = lose_records(tally, 7, [&](std::int64_t step) { return write_scalar(events, 0, step); });
  (void)stats.flush();
  EXPECT_THAT(records_in(dir / "stats"), IsEmpty());
  faults.clear();
  ASSERT_TRUE(stats.flush().ok());
  const StatsContent content = content_of(dir / "stats");
  ASSERT_EQ(content.gaps.size(), 1U);
  EXPECT_EQ(content.gaps[0].first_step, 7);
  EXPECT_EQ(content.gaps[0].last_step, next - 1);
  EXPECT_EQ(content.gaps[0].count, tally.lost_records);
  // Once.
  ASSERT_TRUE(stats.flush().ok());
  ASSERT_TRUE(events.close().ok() && stats.close().ok());
  EXPECT_EQ(content_of(dir / "stats").gaps.size(), 1U);
}

TEST(LostRecords, OfAFileThatIsClosedOnAFullDiskLeaveAGapIfThatCanBeWritten) {
  const base::TempDir dir;
  Tally tally;
  EventFile events(dir / "events", 1, Precision::f32, tally);
  StatsFile stats(dir / "stats", {.writer = "w"}, tally);
  base::Faults faults;
  base::Fault only_events = kFullDisk;
  only_events.path = dir / "events";
  faults.add(only_events);
  for (std::int64_t step = 3; step < 6; ++step) ASSERT_TRUE(write_scalar(events, 0, step).ok());
  EXPECT_EQ(events.close().code(), Code::no_space);
  ASSERT_TRUE(stats.close().ok());
  const StatsContent content = content_of(dir / "stats");
  ASSERT_EQ(content.gaps.size(), 1U);
  EXPECT_EQ(content.gaps[0].first_step, 3);
  EXPECT_EQ(content.gaps[0].last_step, 5);
  EXPECT_EQ(content.gaps[0].count, 3U);
  EXPECT_THAT(content.gaps[0].detail, HasSubstr("No space left on device"));
}

TEST(LostRecords, DoNotLoseGaps) {
  const base::TempDir dir;
  Tally tally;
  StatsFile sink(dir / "stats", {.writer = "w"}, tally);
  base::Faults faults;
  faults.add(kFullDisk);
  const ProbeName probe = {3, "out", Kind::activation, {}};
  ASSERT_TRUE(sink.lose({.probe = probe, .first_step = 1, .last_step = 1, .count = 2}).ok());
  EXPECT_FALSE(sink.flush().ok());
  (void)lose_records(tally, 2, [&](std::int64_t step) { return write_step(sink, step, 1000); });
  (void)lose_records(tally, 500, [&](std::int64_t step) { return write_step(sink, step, 1000); });
  faults.clear();
  ASSERT_TRUE(sink.close().ok());
  std::uint64_t written = 0;
  std::uint64_t dropped = 0;
  for (const stats_record::Gap& gap : content_of(dir / "stats").gaps) {
    (gap.reason == stats_record::GapReason::write_error ? written : dropped) += gap.count;
  }
  EXPECT_EQ(dropped, 2U);
  EXPECT_EQ(written, tally.lost_records);
}

TEST(StatsFileGaps, BecomeFewerIfTheSameFailureRepeats) {
  const base::TempDir dir;
  Tally tally;
  StatsFile sink(dir / "stats", {.writer = "w"}, tally);
  for (std::int64_t step = 0; step < 1000; ++step) {
    ASSERT_TRUE(sink.lose({.probe = {},
                           .first_step = step,
                           .last_step = step,
                           .count = 1,
                           .reason = stats_record::GapReason::rejected,
                           .detail = "at step " + std::to_string(step)})
                    .ok());
    ASSERT_TRUE(sink.flush().ok());
  }
  EXPECT_GE(content_of(dir / "stats").gaps.size(), 5U);
  ASSERT_TRUE(sink.close().ok());
  std::uint64_t count = 0;
  std::int64_t next = 0;
  const StatsContent content = content_of(dir / "stats");
  for (const stats_record::Gap& gap : content.gaps) {
    EXPECT_EQ(gap.first_step, next);
    next = gap.last_step + 1;
    count += gap.count;
  }
  EXPECT_EQ(count, 1000U);
  EXPECT_LE(content.gaps.size(), 15U);
}

TEST(StatsFileGaps, OfOneReasonBecomeOneUntilTheyAreWritten) {
  const base::TempDir dir;
  Tally tally;
  StatsFile sink(dir / "stats", {.writer = "w"}, tally);
  const ProbeName probe = {3, "out", Kind::activation, {}};
  const auto reject = [&](std::int64_t step) {
    return sink.lose({.probe = probe,
                      .first_step = step,
                      .last_step = step,
                      .count = 1,
                      .reason = stats_record::GapReason::rejected,
                      .detail = "why"});
  };
  for (const std::int64_t step : {4, 5, 6}) ASSERT_TRUE(reject(step).ok());
  ASSERT_TRUE(sink.lose({.probe = {}, .first_step = 5, .last_step = 5, .count = 1}).ok());
  ASSERT_TRUE(sink.flush().ok());
  ASSERT_TRUE(reject(7).ok());
  ASSERT_TRUE(sink.close().ok());
  const StatsContent content = content_of(dir / "stats");
  ASSERT_EQ(content.gaps.size(), 3U);
  EXPECT_EQ(content.gaps[0].first_step, 4);
  EXPECT_EQ(content.gaps[0].last_step, 6);
  EXPECT_EQ(content.gaps[0].count, 3U);
  EXPECT_EQ(content.gaps[0].id, 3U);
  EXPECT_EQ(content.gaps[1].reason, stats_record::GapReason::no_room);
  EXPECT_EQ(content.gaps[2].first_step, 7);
}

// ---- What others rely on is said again from time to time.

TEST(EventFileMetadata, AreWrittenAgainFromTimeToTimeAndSeldom) {
  const base::TempDir dir;
  Tally tally;
  EventFile sink(dir / "events", 1, Precision::f32, tally);
  std::int64_t step = 0;
  const auto write_up_to = [&](std::uint64_t bytes) {
    for (; tally.bytes_written < bytes; ++step) ASSERT_TRUE(write_scalar(sink, step % 2 == 0 ? 0 : 1, step).ok());
  };
  write_up_to(256 << 10);
  const auto early = metadata_of(records_in(dir / "events"), "tag1");
  EXPECT_GE(early.first, 2U);
  EXPECT_LE(early.first, 4U);
  write_up_to(16 << 20);
  ASSERT_TRUE(sink.close().ok());
  const auto late = metadata_of(records_in(dir / "events"), "tag1");
  EXPECT_GT(late.first, early.first);
  EXPECT_LE(late.first, 16U);
  EXPECT_EQ(late.second, static_cast<std::size_t>(step / 2));
}

TEST(StatsFileDefinitions, AreWrittenAgainFromTimeToTime) {
  const base::TempDir dir;
  Tally tally;
  StatsFile sink(dir / "stats", {.writer = "w"}, tally);
  for (std::int64_t step = 0; tally.bytes_written < 300 << 10; ++step) ASSERT_TRUE(write_step(sink, step, 10).ok());
  ASSERT_TRUE(sink.close().ok());
  const StatsContent content = content_of(dir / "stats");
  EXPECT_EQ(content.headers, 1U);
  EXPECT_GE(content.definitions, 20U);
  EXPECT_LE(content.definitions, 40U);
  EXPECT_THAT(content.names, Each("probe0"));
}

TEST(EveryFault, LosesOnlyCountedRowsOfATable) {
  const auto met = base::for_each_fault([](base::Faults& faults, base::Fault fault) {
    const base::TempDir dir;
    const std::vector<float> values = {1, 2};
    const std::vector<TableFile::Column> columns = {{"x", view(values)}};
    Tally tally;
    TableFile table(dir / "tables/x.csv", tally);
    fault.path = dir / "tables";
    faults.add(fault);
    std::uint64_t refused = 0;
    std::string expected = "step,wall_time,row,x\n";
    for (std::int64_t step = 0; step < 4; ++step) {
      const Status status = table.append({.step = step}, columns);
      expect_named(status, fault, fault.path);
      refused += status.ok() ? 0U : 1U;
      const bool there = status.ok() || fault.operation == base::FileOperation::close;  // it was written before
      const std::string number = std::to_string(step);
      if (there) expected.append(number).append(",0,0,1\n").append(number).append(",0,1,2\n");
    }
    EXPECT_EQ(tally.write_errors, refused);
    EXPECT_EQ(tally.lost_records, 2 * refused);
    faults.clear();
    ASSERT_TRUE(table.append({.step = 9}, columns).ok());
    EXPECT_EQ(*base::read_file(dir / "tables/x.csv"), expected + "9,0,0,1\n9,0,1,2\n");
    EXPECT_EQ(base::names_in(dir / "tables").size(), 1U);
  });
  EXPECT_GT(met, 20U);
}

}  // namespace
}  // namespace sonde::sinks
