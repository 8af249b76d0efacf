#include "formats/run_layout.h"

#include <gtest/gtest.h>

namespace sonde::run_layout {
namespace {

constexpr std::string_view kWriter = "1700000000.host.12.0";

TEST(RunLayout, NamesOfEventAndStatisticsFilesAreRecognised) {
  const std::string events = event_file(kWriter, ".v2");
  EXPECT_EQ(events, "events.out.tfevents.1700000000.host.12.0.v2");
  EXPECT_TRUE(is_event_file(events));
  EXPECT_FALSE(is_statistics_file(events));
  const std::string statistics = statistics_file(kWriter, ".v2");
  EXPECT_EQ(statistics, "stats.1700000000.host.12.0.v2.tfrecord");
  EXPECT_TRUE(is_statistics_file(statistics));
  EXPECT_FALSE(is_event_file(statistics));
}

TEST(RunLayout, AnEventFileBelongsToItsOwnWriterOnly) {
  EXPECT_TRUE(is_event_file_of(event_file(kWriter, ""), kWriter));
  EXPECT_TRUE(is_event_file_of(event_file(kWriter, ".v2"), kWriter));
  EXPECT_FALSE(is_event_file_of(event_file("1700000000.host.12.01", ""), kWriter));
  EXPECT_FALSE(is_event_file_of("tfevents", kWriter));
  EXPECT_FALSE(is_event_file_of(event_file(kWriter, ""), ""));
}

TEST(RunLayout, BothFilesOfAWriterNameIt) {
  const std::string writer = "1700000000.h.1.0";
  EXPECT_EQ(writer_of(event_file(writer, ".rank1")), writer + ".rank1");
  EXPECT_EQ(writer_of(statistics_file(writer, ".rank1")), writer + ".rank1");
  EXPECT_EQ(writer_of("any.tfevents"), "any.tfevents");
  EXPECT_EQ(writer_of("stats.tfrecord"), "stats.tfrecord");
}

TEST(RunLayout, TheHostIsReadFromTheNameOfARing) {
  const std::string ring = ring_prefix("my-host", 12) + "3" + std::string(kRing);
  EXPECT_EQ(ring, "flight-my-host-12-3.ring");
  EXPECT_TRUE(is_ring(ring));
  EXPECT_EQ(host_of_ring(ring), "my-host");
  for (const std::string_view other :
       {"flight.ring", "flight-.ring", "flight-host-12-.ring", "flight-host.ring", "x"}) {
    EXPECT_EQ(host_of_ring(other), std::nullopt) << other;
  }
  EXPECT_TRUE(mentions_ring("/logs/flight-h-1-0.ring.new (deleted)"));
  EXPECT_FALSE(mentions_ring("/flight-logs/libm.so"));
}

TEST(RunLayout, StepsOfWholeTensorsComeBackFromTheirNames) {
  EXPECT_EQ(tensors_stem(12, false, "w"), "000000000012.w");
  EXPECT_EQ(tensors_stem(12, true, "w"), "eval-000000000012.w");
  for (const std::int64_t step : {std::int64_t{0}, std::int64_t{-5}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(step_of_tensors(tensors_stem(step, false, "w") + ".npz"), step);
    EXPECT_EQ(step_of_tensors(tensors_stem(step, true, "w") + ".npz"), step);
  }
  EXPECT_EQ(step_of_tensors("12"), std::nullopt);
  EXPECT_EQ(step_of_tensors("model.safetensors"), std::nullopt);
}

TEST(RunLayout, KnowsTheFilesOfARunFromOthers) {
  for (const std::string& name :
       {event_file(kWriter, ""), statistics_file(kWriter, ""), ring_prefix("h", 1) + "0.ring",
        external_rings_file(kWriter), std::string(kControl), std::string(kControlState), std::string(kNote)}) {
    EXPECT_TRUE(is_file_of_run(name)) << name;
  }
  for (const std::string_view name : {"train.py", "control.toml.bak", "stats.txt", "tensors"}) {
    EXPECT_FALSE(is_file_of_run(name)) << name;
  }
  EXPECT_TRUE(is_folder(kTensors) && is_folder(kTables) && is_folder(kCheckpoints) && is_folder(kCaptures));
  EXPECT_FALSE(is_folder("data"));
}

}  // namespace
}  // namespace sonde::run_layout
