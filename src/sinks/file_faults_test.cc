// The files of sinks, with every operation on them failed in every way: records in them stay whole, what is lost is
// counted, and writing goes on when the fault is over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
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

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The payloads of all records; nothing where there is no file.
std::vector<std::string> records_in(const std::string& path) {
  std::vector<std::string> found;
  const auto file = MappedFile::open(path);
  if (!file) return found;
  tfrecord::RecordReader reader(file->bytes(), tfrecord::RecordReader::Tail::complete);
  for (auto next = reader.next(); next != tfrecord::RecordReader::Found::end; next = reader.next()) {
    EXPECT_EQ(next, tfrecord::RecordReader::Found::record) << reader.reason();
    if (next != tfrecord::RecordReader::Found::record) break;
    found.emplace_back(as_text(reader.payload()));
  }
  return found;
}

// An error that names the file, where there may be one.
void expect_named(const Status& status, const Fault& fault, const std::string& path) {
  if (status.ok()) return;
  EXPECT_FALSE(fault.harmless()) << status.message();
  EXPECT_THAT(status.message(), HasSubstr(path));
}

// `write(sink, n)` writes the n-th record. Returns how many of them the file should have.
template <class Sink, class Write>
void walk(const std::string& path, Faults& faults, const Fault& fault, Tally& tally, Sink& sink, Write write) {
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
  const auto met = for_each_fault([](Faults& faults, Fault fault) {
    const TempDir dir;
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
      EXPECT_EQ(tfevents::decode_event(as_bytes(found[i]))->step, static_cast<std::int64_t>(i - 1));
    }
  });
  EXPECT_GT(met, 20U);
}

TEST(EveryFault, IsOvercomeByAStatisticsFile) {
  const auto met = for_each_fault([](Faults& faults, Fault fault) {
    const TempDir dir;
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
      const auto decoded = *stats_record::decode_record(as_bytes(record));
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
  const auto met = for_each_fault([](Faults& faults, Fault fault) {
    const TempDir dir;
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
    if (found == 0 && fault.operation != FileOperation::remove) {
      EXPECT_THAT(names_in(dir.path()), IsEmpty());
    }
  });
  EXPECT_GT(met, 20U);
}

TEST(EveryFault, CostsRowsOfATableThatAreCountedAndNothingElse) {
  const auto met = for_each_fault([](Faults& faults, Fault fault) {
    const TempDir dir;
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
      const bool there = status.ok() || fault.operation == FileOperation::close;  // it was written before
      const std::string number = std::to_string(step);
      if (there) expected.append(number).append(",0,0,1\n").append(number).append(",0,1,2\n");
    }
    EXPECT_EQ(tally.write_errors, refused);
    EXPECT_EQ(tally.lost_records, 2 * refused);
    faults.clear();
    ASSERT_TRUE(table.append({.step = 9}, columns).ok());
    EXPECT_EQ(*read_file(dir / "tables/x.csv"), expected + "9,0,0,1\n9,0,1,2\n");
    EXPECT_EQ(names_in(dir / "tables").size(), 1U);
  });
  EXPECT_GT(met, 20U);
}

}  // namespace
}  // namespace sonde::sinks
