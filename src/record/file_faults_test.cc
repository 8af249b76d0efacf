// A whole recorder, with each of its file operations failed in turn: the job continues, losses are counted and
// reported, the files stay readable, and everything is recorded again when the fault is over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/faults_testing.h"
#include "record/log_testing.h"
#include "record/recorder_testing.h"
#include "sonde/recorder.h"
#include "sonde/tensor_io.h"

namespace sonde::record {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Files below a directory whose names end so, as paths.
std::vector<std::string> files_below(const std::string& directory, std::string_view ending) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file() && entry.path().string().ends_with(ending)) found.push_back(entry.path().string());
  }
  return found;
}

void record_steps(Recorder& rec, const Probe& out, std::int64_t first, std::int64_t last) {
  const std::vector<float> values = ramp(100);
  for (std::int64_t n = first; n < last; ++n) {
    const Step step = rec.step(n);
    out.record(step, view(values, {10, 10}));
    rec.scalar("loss", 1, n);
  }
}

TEST(EveryFault, OfARecorderIsCountedReportedAndRecovered) {
  const auto met = base::for_each_fault([](base::Faults& faults, base::Fault fault) {
    if (fault.persistent) return;  // as the tests of the sinks do, which take less time
    const base::TempDir dir;
    Errors errors;
    fault.path = dir.path();
    faults.add(fault);
    auto rec = Recorder::open(dir.path(), {.flush_interval = std::chrono::hours(1), .on_error = errors.handler()});
    if (!rec.ok()) {
      EXPECT_FALSE(fault.harmless()) << rec.error().message();
      EXPECT_THAT(rec.error().message(), HasSubstr(dir.path()));
      return;
    }
    const Probe out = rec->probe("out", {.keep = Keep::stats | Keep::whole | Keep::csv});
    record_steps(*rec, out, 0, 3);
    (void)rec->flush();
    faults.clear();
    record_steps(*rec, out, 3, 4);
    EXPECT_TRUE(rec->flush().ok());
    EXPECT_TRUE(rec->close().ok());

    const Log log = read_log(dir.path());
    EXPECT_THAT(log.damage, IsEmpty());
    EXPECT_EQ(log.partial_tails, 0U);
    EXPECT_EQ(log.steps.size(), 4U);
    for (const Log::Step& step : log.steps) EXPECT_EQ(step.tensors.at(0).name, "out");
    EXPECT_EQ(log.scalars.at("loss").size(), 4U);
    const std::vector<std::string> whole = files_below(dir.path(), ".safetensors");
    for (const std::string& path : whole) EXPECT_TRUE(TensorFile::open(path).ok()) << path;
    if (fault.operation != base::FileOperation::remove) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(dir.path())) {
        EXPECT_EQ(entry.path().string().find(".part-"), std::string::npos) << entry.path();
      }
    }
    const Counters counters = rec->counters();
    if (whole.size() < 4) {
      EXPECT_GT(counters.lost_records, 0U);
    }
    std::uint64_t missing = 0;
    for (const stats_record::Gap& gap : log.gaps) missing += gap.count;
    EXPECT_EQ(missing, counters.lost_records);
    if (counters.write_errors + counters.lost_records > 0) {
      EXPECT_FALSE(errors.messages.empty());
      EXPECT_FALSE(fault.harmless()) << errors.messages.front();
    }
    for (const std::string& message : errors.messages) EXPECT_THAT(message, HasSubstr(dir.path()));
  });
  EXPECT_GT(met, 100U);
}

}  // namespace
}  // namespace sonde::record
