// A policy that wants another flight ring while a job runs: the ring is made beside recording.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/faults_testing.h"
#include "base/held_files_testing.h"
#include "record/capture_testing.h"

namespace sonde::record {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Policy with_ring(std::uint64_t bytes) {
  Policy policy = flying();
  policy.flight.bytes = bytes;
  return policy;
}

// Holds the making of flight rings up for as long as it lives.
class HeldRings {
 public:
  HeldRings() : files_(never_destroyed()) {
    files_.held = true;
    base::use_files(&files_);
  }
  ~HeldRings() {
    files_.held = false;
    base::use_files(nullptr);
  }
  HeldRings(const HeldRings&) = delete;
  HeldRings& operator=(const HeldRings&) = delete;
  bool is_making() const {
    return comes_true([&] { return files_.waiting.load(); });
  }

 private:
  // A thread of the library may still be in one of its calls.
  static base::HeldFiles& never_destroyed() {
    static auto& all = *new std::vector<std::unique_ptr<base::HeldFiles>>;
    return *all.emplace_back(std::make_unique<base::HeldFiles>(".ring"));
  }

  base::HeldFiles& files_;
};

TEST(RingChange, DoesNotHoldUpOtherRecordersNorItsOwn) {
  const base::TempDir dir;
  const base::TempDir other_dir;
  Recorder rec = open(dir.path());
  Recorder other = open(other_dir.path());
  {
    const HeldRings held;
    ASSERT_TRUE(rec.set_policy(with_ring(256 << 10)).ok());
    ASSERT_TRUE(held.is_making());
    train(other, 0, 5, 100);
    EXPECT_TRUE(other.flush().ok());
    EXPECT_EQ(other.committed_step(), 5);
    EXPECT_THAT(read_log(other_dir.path()).steps, SizeIs(6));
    train(rec, 0, 5, 100);
    EXPECT_TRUE(comes_true([&] { return rec.committed_step() == 5; })) << "its own steps are recorded too";
  }
  EXPECT_TRUE(rec.flush().ok());
  EXPECT_THAT(files_with(dir.path(), ".ring"), SizeIs(1)) << "flush waits for the ring";
}

TEST(RingChange, KeepsStepsInTheOldRingUntilTheNewOneIsThere) {
  const base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = with_ring(256 << 10)});
  {
    const HeldRings held;
    ASSERT_TRUE(rec.set_policy(with_ring(512 << 10)).ok());
    ASSERT_TRUE(held.is_making());
    train(rec, 0, 3, 100);
    rec.trigger("meanwhile", 3);
    EXPECT_TRUE(comes_true([&] { return rec.committed_step() == 3; }));
  }
  EXPECT_TRUE(rec.flush().ok());
  train(rec, 4, 6, 100);
  rec.trigger("after", 6);
  ASSERT_TRUE(rec.close().ok());
  const std::vector<Capture> captures = captures_of(dir.path());
  ASSERT_THAT(captures, SizeIs(2));
  EXPECT_THAT(steps_of(captures[0]), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(steps_of(captures[1]), ElementsAre(4, 5, 6));
  ASSERT_THAT(captures[1].info().dropped, SizeIs(1));
  EXPECT_EQ(captures[1].info().dropped[0].reason, "the flight ring was created after these steps");
  EXPECT_THAT(files_with(dir.path(), ".ring"), IsEmpty());
}

TEST(RingChange, OfAJobWithoutRingLeavesCapturesThatSayThatItWasNotMadeYet) {
  const base::TempDir dir;
  Recorder rec = open(dir.path());
  {
    const HeldRings held;
    ASSERT_TRUE(rec.set_policy(with_ring(256 << 10)).ok());
    ASSERT_TRUE(held.is_making());
    train(rec, 0, 0, 100);
    rec.trigger("early", 5);
    train(rec, 1, 1, 100);
    EXPECT_TRUE(comes_true([&] { return rec.committed_step() == 1; })) << "and so the trigger has been seen";
  }
  ASSERT_TRUE(rec.close().ok());
  const std::vector<Capture> captures = captures_of(dir.path());
  ASSERT_THAT(captures, SizeIs(1));
  ASSERT_THAT(captures[0].info().dropped, SizeIs(1));
  EXPECT_EQ(captures[0].info().dropped[0].reason, "the flight ring was not created yet");
}

TEST(RingChange, ThatFailsCostsNothingThatWasThereAndIsTold) {
  const base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.policy = with_ring(256 << 10), .on_error = errors.handler()});
  train(rec, 0, 3, 100);
  {
    base::Faults faults;
    faults.add({.operation = base::FileOperation::allocate, .error = ENOSPC, .path = ".ring"});
    ASSERT_TRUE(rec.set_policy(with_ring(512 << 10)).ok());
    EXPECT_TRUE(rec.flush().ok());
  }
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("the flight ring stays as it was")));
  train(rec, 4, 5, 100);
  rec.trigger("after", 5);
  ASSERT_TRUE(rec.close().ok());
  const std::vector<Capture> captures = captures_of(dir.path());
  ASSERT_THAT(captures, SizeIs(1));
  EXPECT_THAT(steps_of(captures[0]), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(read_log(dir.path()).texts.at("sonde/flight"), SizeIs(1));
}

TEST(RingChange, ThatIsTakenBackMeanwhileLeavesNoFile) {
  const base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = with_ring(256 << 10)});
  {
    const HeldRings held;
    ASSERT_TRUE(rec.set_policy(with_ring(512 << 10)).ok());
    ASSERT_TRUE(held.is_making());
    ASSERT_TRUE(rec.set_policy(with_ring(256 << 10)).ok());
    EXPECT_TRUE(rec.flush().ok()) << "the ring that is wanted is there";
  }
  train(rec, 0, 3, 100);
  EXPECT_TRUE(comes_true([&] { return files_with(dir.path(), ".ring").size() == 1; }));
  ASSERT_TRUE(rec.set_policy({}).ok());
  EXPECT_TRUE(comes_true([&] { return files_with(dir.path(), ".ring").empty(); }));
  ASSERT_TRUE(rec.close().ok());
}

}  // namespace
}  // namespace sonde::record
