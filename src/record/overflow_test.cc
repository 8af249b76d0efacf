// What happens when there is no room: the limits, the three policies, and what the log says about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

#include "record/log_testing.h"
#include "record/pool.h"
#include "record/ring.h"
#include "sonde/capture.h"
#include "sonde/recorder.h"

namespace sonde::record {
namespace {

using namespace std::chrono_literals;

// Holds the backend inside an error handler until it is let go.
class StuckBackend {
 public:
  ErrorHandler handler() {
    return [this](const Status&) {
      std::unique_lock lock(mutex_);
      stuck_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return released_; });
    };
  }
  void wait_until_stuck(Recorder& rec) {
    rec.scalar("", 0, 0);  // an error to report
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stuck_; });
  }
  void release() {
    const std::scoped_lock lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stuck_ = false;
  bool released_ = false;
};

constexpr std::size_t kFloats = 1 << 16;  // 256 KiB

std::uint64_t total(const std::vector<stats_record::Gap>& gaps) {
  std::uint64_t count = 0;
  for (const auto& gap : gaps) count += gap.count;
  return count;
}

TEST(Overflow, TensorsAreDroppedNewestFirstCountedAndWrittenIntoTheLog) {
  base::TempDir dir;
  StuckBackend backend;
  auto rec = Recorder::open(dir.path(), {.memory = 4 * kFloats * sizeof(float), .on_error = backend.handler()});
  ASSERT_TRUE(rec.ok());
  backend.wait_until_stuck(*rec);
  const std::vector<float> values(kFloats, 1.0F);
  const Probe probe = rec->probe("out");
  {
    const Step step = rec->step(7);
    for (std::int64_t n = 0; n < 6; ++n) rec->histogram("h", view(values), n);
    for (int i = 0; i < 4; ++i) probe.record(step, view(values));
  }
  EXPECT_EQ(rec->counters().dropped_tensors, 6U);
  backend.release();
  EXPECT_EQ(rec->close().code(), Code::exhausted);
  const Log log = read_log(dir.path());
  EXPECT_EQ(log.histograms.at("h").size(), 4U);
  EXPECT_EQ(total(log.gaps), 6U);
  ASSERT_EQ(log.gaps.size(), 2U);
  EXPECT_FALSE(log.gaps[0].id.has_value());
  EXPECT_EQ(log.gaps[0].first_step, 4);
  EXPECT_EQ(log.gaps[0].last_step, 5);
  EXPECT_TRUE(log.gaps[1].id.has_value());
  EXPECT_EQ(log.gaps[1].first_step, 7);
  EXPECT_EQ(log.scalars.at("sonde/dropped").back().value, 6);
}

// Of several tensors of one name in a step, the number says which one it is.
TEST(Overflow, ATensorThatIsDroppedKeepsItsNumber) {
  base::TempDir dir;
  StuckBackend backend;
  Policy policy = {.triggers = {{.when = "step == 7"}}};
  policy.flight.bytes = 4 << 20;
  auto rec = Recorder::open(dir.path(),
                            {.memory = 4 * kFloats * sizeof(float), .policy = policy, .on_error = backend.handler()});
  ASSERT_TRUE(rec.ok());
  backend.wait_until_stuck(*rec);
  const std::vector<float> large(kFloats, 1.0F);
  const std::vector<float> small(16, 2.0F);
  const Probe probe = rec->probe("out");
  {
    const Step step = rec->step(7);
    for (int i = 0; i < 3; ++i) probe.record(step, view(large));
    probe.record(step, view(small));
    probe.record(step, view(large));  // for which there is no room
    probe.record(step, view(small));
  }
  EXPECT_EQ(rec->counters().dropped_tensors, 1U);
  backend.release();
  EXPECT_EQ(rec->close().code(), Code::exhausted);
  const Log log = read_log(dir.path());
  ASSERT_EQ(log.steps.size(), 1U);
  std::vector<std::uint32_t> numbers;
  for (const Log::Tensor& tensor : log.steps[0].tensors) numbers.push_back(tensor.occurrence);
  EXPECT_THAT(numbers, testing::ElementsAre(0, 1, 2, 3, 5));
  const auto paths = list_captures(dir.path());
  ASSERT_TRUE(paths && paths->size() == 1);
  const auto capture = Capture::open(paths->front());
  ASSERT_TRUE(capture);
  ASSERT_EQ(capture->info().dropped.size(), 1U);
  const CaptureGap& gap = capture->info().dropped[0];
  EXPECT_EQ(gap.what, capture->steps()[0].tensors.back().key.substr(0, 14) + "#4");
  EXPECT_EQ(gap.first_step, 7);
  EXPECT_EQ(gap.count, 1U);
  EXPECT_THAT(gap.reason, testing::HasSubstr("no memory left"));
}

// A step without its tensors must not look like one that had none.
TEST(Overflow, ACaptureSaysThatTensorsFoundNoRoomAmongTheMessages) {
  base::TempDir dir;
  StuckBackend backend;
  Policy policy = {.triggers = {{.when = "step == 7"}}};
  policy.flight.bytes = 1 << 20;
  auto rec = Recorder::open(dir.path(), {.policy = policy, .on_error = backend.handler()});
  ASSERT_TRUE(rec.ok());
  backend.wait_until_stuck(*rec);
  const Probe probe = rec->probe("out");
  const Scalar scalar = rec->series("loss");
  std::thread waits;
  {
    const Step step = rec->step(7);
    probe.record(step, view(std::vector<float>(16, 1.0F)));
    for (std::uint64_t i = 2; i < Ring::kCapacity; ++i) scalar.record(1, 7);
    for (int i = 0; i < 3; ++i) probe.record(step, view(std::vector<float>(16, 2.0F)));  // for which there is no room
    waits = std::thread([&] {
      std::this_thread::sleep_for(1ms);  // the end of the step waits meanwhile
      backend.release();
    });
  }
  waits.join();
  EXPECT_EQ(rec->counters().dropped_tensors, 3U);
  EXPECT_EQ(rec->close().code(), Code::exhausted);
  const auto paths = list_captures(dir.path());
  ASSERT_TRUE(paths && paths->size() == 1);
  const auto capture = Capture::open(paths->front());
  ASSERT_TRUE(capture);
  ASSERT_EQ(capture->steps().size(), 1U);
  EXPECT_EQ(capture->steps()[0].tensors.size(), 1U);
  ASSERT_EQ(capture->info().dropped.size(), 1U);
  EXPECT_EQ(capture->info().dropped[0].what, "tensors");
  EXPECT_EQ(capture->info().dropped[0].first_step, 7);
  EXPECT_EQ(capture->info().dropped[0].count, 3U);
  EXPECT_THAT(capture->info().dropped[0].reason, testing::HasSubstr("the buffer was full"));
}

TEST(Overflow, DropOldestKeepsTheNewestTensors) {
  base::TempDir dir;
  StuckBackend backend;
  auto rec = Recorder::open(
      dir.path(),
      {.memory = 4 * kFloats * sizeof(float), .tensors = Overflow::drop_oldest, .on_error = backend.handler()});
  ASSERT_TRUE(rec.ok());
  backend.wait_until_stuck(*rec);
  for (std::int64_t n = 0; n < 10; ++n) {
    const std::vector<float> values(kFloats, static_cast<float>(n));
    rec->histogram("h", view(values), n);
  }
  backend.release();
  EXPECT_EQ(rec->close().code(), Code::exhausted);
  EXPECT_EQ(rec->counters().dropped_tensors, 6U);
  const Log log = read_log(dir.path());
  ASSERT_EQ(log.histograms.at("h").size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(log.histograms.at("h")[i].at(0).left, static_cast<double>(6 + i));
  EXPECT_EQ(total(log.gaps), 6U);
}

TEST(Overflow, WaitBlocksNoLongerThanTheOptionsSay) {
  base::TempDir dir;
  StuckBackend backend;
  auto rec = Recorder::open(
      dir.path(),
      {.memory = kFloats * sizeof(float), .tensors = Overflow::wait, .max_wait = 30ms, .on_error = backend.handler()});
  ASSERT_TRUE(rec.ok());
  backend.wait_until_stuck(*rec);
  const std::vector<float> values(kFloats, 1.0F);
  rec->histogram("h", view(values), 0);
  const auto begin = std::chrono::steady_clock::now();
  rec->histogram("h", view(values), 1);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 30ms);
  EXPECT_EQ(rec->counters().dropped_tensors, 1U);
  backend.release();
  for (std::int64_t n = 2; n < 40; ++n) rec->histogram("h", view(values), n);  // waits for room each time
  EXPECT_EQ(rec->close().code(), Code::exhausted);
  EXPECT_EQ(rec->counters().dropped_tensors, 1U);
  EXPECT_EQ(read_log(dir.path()).histograms.at("h").size(), 39U);
}

TEST(Overflow, IsReportedToTheErrorHandlerAndReturnedByTheNextFlushWithTheCount) {
  base::TempDir dir;
  StuckBackend backend;
  std::vector<std::string> told;
  const auto handler = [&, stuck = backend.handler()](const Status& status) {
    told.push_back(status.message());
    if (told.size() == 1) stuck(status);
  };
  auto rec = Recorder::open(dir.path(), {.memory = 4 * kFloats * sizeof(float), .on_error = handler});
  ASSERT_TRUE(rec.ok());
  backend.wait_until_stuck(*rec);
  const std::vector<float> values(kFloats, 1.0F);
  for (std::int64_t n = 0; n < 1000; ++n) rec->histogram("h", view(values), n);
  backend.release();
  const Status lost = rec->flush();
  EXPECT_EQ(lost.code(), Code::exhausted);
  EXPECT_THAT(lost.message(), testing::StartsWith("996 tensors were dropped because the buffer was full"));
  ASSERT_EQ(told.size(), 2U) << "one sentence for all of them";
  EXPECT_EQ(told[1], lost.message());
  EXPECT_TRUE(rec->flush().ok()) << "since then nothing was lost";
  EXPECT_TRUE(rec->close().ok());
}

TEST(Overflow, ScalarsWaitSoThatNoneIsLost) {
  base::TempDir dir;
  auto rec = Recorder::open(dir.path());
  ASSERT_TRUE(rec.ok());
  const Scalar series = rec->series("x");
  constexpr auto kCount = static_cast<std::int64_t>(Ring::kCapacity) * 20;
  for (std::int64_t n = 0; n < kCount; ++n) series.record(1, n);
  ASSERT_TRUE(rec->close().ok());
  EXPECT_EQ(rec->counters().scalars, static_cast<std::uint64_t>(kCount));
  EXPECT_EQ(rec->counters().dropped_scalars, 0U);
  EXPECT_EQ(read_log(dir.path()).scalars.at("x").size(), static_cast<std::size_t>(kCount));
}

TEST(Overflow, ScalarsCanBeDroppedNewestOrOldestFirst) {
  for (const Overflow policy : {Overflow::drop_newest, Overflow::drop_oldest}) {
    base::TempDir dir;
    StuckBackend backend;
    auto rec = Recorder::open(dir.path(), {.scalars = policy, .on_error = backend.handler()});
    ASSERT_TRUE(rec.ok());
    backend.wait_until_stuck(*rec);
    const Scalar series = rec->series("x");
    constexpr auto kCount = static_cast<std::int64_t>(Ring::kCapacity) + 1000;
    for (std::int64_t n = 0; n < kCount; ++n) series.record(1, n);
    backend.release();
    EXPECT_EQ(rec->close().code(), Code::exhausted);
    EXPECT_EQ(rec->counters().dropped_scalars, 1000U);
    const auto points = read_log(dir.path()).scalars.at("x");
    ASSERT_EQ(points.size(), Ring::kCapacity);
    EXPECT_EQ(points.front().step, policy == Overflow::drop_oldest ? 1000 : 0);
  }
}

// Several threads record as fast as they can into little memory; each call is counted once.
TEST(Overflow, EveryCallIsCountedExactlyOnce) {
  constexpr int kThreads = 3;
  constexpr std::int64_t kCalls = 2000;
  for (const Overflow policy : {Overflow::wait, Overflow::drop_newest, Overflow::drop_oldest}) {
    base::TempDir dir;
    auto rec = Recorder::open(dir.path(), {.memory = 64 << 10,
                                           .scalars = policy,
                                           .tensors = policy,
                                           .max_wait = 1ms,
                                           .console = nullptr,
                                           .on_error = [](const Status&) { std::this_thread::sleep_for(2ms); }});
    ASSERT_TRUE(rec.ok());
    const auto record = [&](int thread) {
      const std::vector<float> values(512, 1.0F);
      const std::vector<std::complex<float>> unusable(16);
      const Probe probe = rec->probe("probe/" + std::to_string(thread));
      const std::string histogram = "histogram/" + std::to_string(thread);
      const Scalar series = rec->series("scalar/" + std::to_string(thread));
      for (std::int64_t n = 0; n < kCalls; ++n) {
        series.record(1, n);
        if (n % 500 == 0) rec->scalar("", 1, n);  // no name
        rec->histogram(histogram, n % 700 == 0 ? view(unusable) : view(values), n);
        {
          const Step step = rec->step(n);  // often ended by a step of another thread
          probe.record(step, view(values));
        }
        auto group = rec->group(n);
        group.scalar("group/scalar", 1);
        group.histogram("group/histogram", view(values));
      }
    };
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < kThreads; ++t) threads.emplace_back(record, t);
    }
    (void)rec->close();
    const Counters counters = rec->counters();
    const std::uint64_t named = kThreads * kCalls / 500;
    EXPECT_EQ(
        counters.scalars + counters.dropped_scalars + counters.tensors + counters.dropped_tensors + counters.rejected,
        kThreads * kCalls * 5 + named);
    EXPECT_LE(counters.scalars + counters.dropped_scalars, static_cast<std::uint64_t>(kThreads * kCalls * 2));
    EXPECT_GT(counters.dropped_tensors, 0U);
  }
}

// Marks wait for max_wait under any policy; here the backend does not return in time.
TEST(Overflow, AStepWhoseBeginWasLostIsRecordedAndItsMarksAreCounted) {
  base::TempDir dir;
  StuckBackend backend;
  auto rec = Recorder::open(dir.path(), {.scalars = Overflow::drop_newest,
                                         .max_wait = 0ms,
                                         .on_error = [&, stuck = backend.handler(), first = true](auto& error) mutable {
                                           if (std::exchange(first, false)) stuck(error);
                                         }});
  ASSERT_TRUE(rec.ok());
  const Probe probe = rec->probe("out");
  const Scalar series = rec->series("x");
  backend.wait_until_stuck(*rec);
  while (rec->counters().dropped_scalars == 0) series.record(1, 0);  // fills this thread's ring
  Step step = rec->step(7);
  EXPECT_EQ(rec->counters().dropped_step_marks, 1U);
  backend.release();
  EXPECT_EQ(rec->flush().code(), Code::exhausted);
  const std::vector<float> values(16, 2.0F);
  probe.record(step, view(values));
  probe.record(step, view(values));
  step.end();
  EXPECT_TRUE(rec->close().ok());
  EXPECT_EQ(rec->counters().rejected, 1U) << "the error that held the backend";
  const Log log = read_log(dir.path());
  ASSERT_EQ(log.steps.size(), 1U);
  EXPECT_EQ(log.steps[0].step, 7);
  EXPECT_EQ(log.steps[0].tensors.size(), 2U);
  EXPECT_EQ(rec->committed_step(), 7);
}

std::size_t resident_bytes(const char* field) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with(field)) return std::stoul(line.substr(line.find(':') + 1)) * 1024;
  }
  return 0;
}

// Ten gibibytes through a budget of 64 MiB, in tensors of changing size.
TEST(Memory, StaysWithinTheBudget) {
#if defined(SONDE_SANITIZED)
  constexpr bool kMeasured = false;  // sanitizers use additional memory: only their checks count
#else
  constexpr bool kMeasured = true;
#endif
  constexpr std::size_t kTotal = kMeasured ? std::size_t{10} << 30 : std::size_t{256} << 20;
  constexpr std::size_t kBudget = std::size_t{64} << 20;
  base::TempDir dir;
  auto rec = Recorder::open(dir.path(), {.memory = kBudget, .tensors = Overflow::drop_newest});
  ASSERT_TRUE(rec.ok());
  const std::vector<float> values(std::size_t{4} << 20, 1.0F);
  rec->scalar("begin", 0, 0);
  ASSERT_TRUE(rec->flush().ok());
  const std::size_t before = resident_bytes("VmRSS");
  std::size_t produced = 0;
  for (std::int64_t n = 0; produced < kTotal; ++n) {
    const auto count = static_cast<std::int64_t>(values.size() >> (n % 4));
    rec->histogram("h", view(values.data(), {count}), n);
    produced += static_cast<std::size_t>(count) * sizeof(float);
  }
  const Status closed = rec->close();
  EXPECT_EQ(closed.ok(), rec->counters().dropped_tensors == 0) << closed.message();
  if (kMeasured) {  // the rest is for rings, buffers and the program itself
    EXPECT_LE(resident_bytes("VmHWM"), before + kBudget + (std::size_t{8} << 20));
  }
  EXPECT_GT(rec->counters().tensors, 0U);
  EXPECT_EQ(read_log(dir.path()).histograms.at("h").size(), rec->counters().tensors);
}

TEST(Pool, KeepsBlocksForTheNextOfTheirSize) {
  Pool pool(1 << 20, Overflow::drop_newest, 0ms);
  PayloadPtr first = pool.acquire(100'000);
  const std::byte* data = first->holding->block.data;
  first.reset();
  PayloadPtr second = pool.acquire(100'000);
  EXPECT_EQ(second->holding->block.data, data);
  second.reset();
}

TEST(Pool, AsksForTheBackendWhereMoreThanHalfOfTheMemoryIsTaken) {
  Pool pool(1 << 20, Overflow::drop_newest, 0ms);
  PayloadPtr first = pool.acquire(400'000);
  EXPECT_FALSE(pool.take_pressure());
  PayloadPtr second = pool.acquire(400'000);
  EXPECT_TRUE(pool.take_pressure());
  EXPECT_FALSE(pool.take_pressure());
  second.reset();
  second = pool.acquire(400'000);  // the same block again
  EXPECT_FALSE(pool.take_pressure());
  PayloadPtr shared = pool.acquire(100'000, true);
  EXPECT_TRUE(pool.take_pressure());
}

TEST(Pool, UsesALargerBlockIfThereIsNoRoomForANewOne) {
  Pool pool(1 << 20, Overflow::drop_newest, 0ms);
  PayloadPtr large = pool.acquire(900'000);
  const std::byte* data = large->holding->block.data;
  large.reset();
  PayloadPtr fits_beside = pool.acquire(50'000);
  EXPECT_NE(fits_beside->holding->block.data, data);
  PayloadPtr medium = pool.acquire(600'000);
  EXPECT_EQ(medium->holding->block.data, data);
  medium.reset();
  PayloadPtr small = pool.acquire(200'000);  // would waste most of it
  EXPECT_LT(small->holding->block.size, std::size_t{300'000});
  EXPECT_LE(pool.allocated(), std::size_t{1} << 20);
  small.reset();
  fits_beside.reset();
}

TEST(Pool, FreesUnusedBlocksOfOtherSizesBeforeItFails) {
  Pool pool(1 << 20, Overflow::drop_newest, 0ms);
  std::vector<PayloadPtr> small;
  for (int i = 0; i < 8; ++i) small.push_back(pool.acquire(120'000));
  EXPECT_TRUE(std::ranges::all_of(small, [](const PayloadPtr& p) { return p != nullptr; }));
  EXPECT_EQ(pool.acquire(900'000), nullptr);
  small.clear();
  PayloadPtr large = pool.acquire(900'000);
  ASSERT_NE(large, nullptr);
  EXPECT_LE(pool.allocated(), std::size_t{1} << 20);
  large.reset();
  EXPECT_EQ(pool.acquire(2 << 20), nullptr);
}

TEST(Pool, APayloadDroppedInFlightLosesNothingLater) {
  Pool pool(1 << 20, Overflow::drop_oldest, 0ms);
  PayloadPtr given_up = pool.acquire(600'000);
  const Payload* const address = given_up.get();
  pool.enqueue(*given_up);
  given_up.reset();  // without having been taken out of the queue
  PayloadPtr next = pool.acquire(600'000);
  EXPECT_EQ(next.get(), address) << "the same one, used again";
  EXPECT_EQ(pool.acquire(600'000), nullptr) << "nothing waits in the queue, so nothing can be dropped";
  EXPECT_TRUE(pool.take(*next));
  EXPECT_NE(next->holding->block.data, nullptr);
  next.reset();
}

TEST(Pool, BlocksAreFreeWhileAnOwnerTakesItsTimeToEnd) {
  Pool pool(1 << 20, Overflow::drop_newest, 0ms);
  PayloadPtr nested;
  const auto record = [&](const void*) { nested = pool.acquire(900'000); };  // as an owner's end may
  PayloadPtr lent = pool.acquire(0);
  lent->holding->owner = std::shared_ptr<const void>(&pool, record);
  PayloadPtr copied = pool.acquire(900'000);
  lent.reset();
  copied.reset();
  pool.reclaim();
  EXPECT_NE(nested, nullptr);
  nested.reset();
}

TEST(Pool, AWaitingThreadGetsAReturnedBlock) {
  Pool pool(1 << 20, Overflow::wait, 1min);
  PayloadPtr first = pool.acquire(900'000);
  std::thread giver([&] { first.reset(); });
  PayloadPtr second = pool.acquire(900'000);
  giver.join();
  ASSERT_NE(second, nullptr);
  second.reset();
}

TEST(Pool, WaitTimesOutDespiteUnrelatedReleases) {
  Pool pool(1 << 20, Overflow::wait, 20ms);
  PayloadPtr all = pool.acquire(900'000);
  std::atomic<bool> done = false;
  std::thread others([&] {
    while (!done) pool.acquire(0).reset();
  });
  EXPECT_EQ(pool.acquire(900'000), nullptr);
  done = true;
  others.join();
  all.reset();
}

TEST(Ring, GrowsWithWaitingMessagesAndKeepsTheOrder) {
  Ring ring;
  Message message;
  std::vector<Message> drained;
  std::uint64_t pushed = 0;
  for (std::uint64_t amount = 1; amount < Ring::kCapacity; amount *= 3) {  // from different places in the ring
    for (std::uint64_t n = 0; n < amount; ++n) {
      message.ticks = ++pushed;
      ASSERT_TRUE(ring.push(message));
    }
    ring.drain(pushed - amount / 2, drained);
    ring.drain(pushed, drained);
    ASSERT_TRUE(ring.empty());
  }
  ASSERT_EQ(drained.size(), pushed);
  for (std::uint64_t n = 0; n < pushed; ++n) ASSERT_EQ(drained[n].ticks, n + 1);
}

TEST(Ring, TakesItsCapacityAndNoMore) {
  Ring ring;
  Message message;
  for (std::uint64_t n = 0; n < Ring::kCapacity; ++n) {
    message.ticks = n;
    ASSERT_TRUE(ring.push(message));
  }
  EXPECT_FALSE(ring.push(message));
  std::vector<Message> dropped;
  ring.drop_oldest([&](const Message& oldest) { dropped.push_back(oldest); });
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(dropped.front().ticks, 0U);
  ring.drop_oldest([&](const Message& oldest) { dropped.push_back(oldest); });
  EXPECT_EQ(dropped.size(), 1U) << "only a full ring gives up messages";
  std::vector<Message> drained;
  ring.drain(99, drained);
  ASSERT_EQ(drained.size(), 99U);
  EXPECT_EQ(drained.front().ticks, 1U);
  EXPECT_EQ(drained.back().ticks, 99U);
  ring.drain(~std::uint64_t{0}, drained);
  EXPECT_EQ(drained.size(), Ring::kCapacity - 1);
  EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace sonde::record
