// The content of a flight ring that was damaged or abandoned, or whose process was killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>

#include "base/file_lock.h"
#include "base/process.h"
#include "formats/flight_layout.h"
#include "sinks/flight_ring_testing.h"

namespace sonde::sinks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// ---- Damage.

// Tensors by step and name, for a ring that has gone round some times.
std::map<std::pair<std::int64_t, std::string>, std::string> fill(FlightRing& ring) {
  std::map<std::pair<std::int64_t, std::string>, std::string> written;
  std::mt19937 random(5);
  for (int step = 0; step < 25; ++step) {
    for (int i = 0; i < 3; ++i) {
      std::vector<float> values(random() % 60);
      for (float& value : values) value = static_cast<float>(random());
      const std::string name(1, static_cast<char>('a' + i));
      if (add_floats(ring, step, name, values)) written[{step, name}] = dense(view(values));
    }
    if (step < 24) end(ring, step);  // the last one is in progress
  }
  return written;
}

TEST(FlightRing, WithAnyByteChangedLacksTensorsButShowsNoWrongOne) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  const auto written = fill(*ring);
  std::string file = *base::read_file(ring->path());
  const auto whole = flight::read(base::as_bytes(file));
  ASSERT_TRUE(whole.ok());
  std::size_t tensors = 0;
  for (const flight::Step& step : whole->steps) tensors += step.tensors.size();
  std::uint64_t noticed = 0;
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (const int flipped : {0xff, 1 << (i % 8)}) {
      file[i] = static_cast<char>(file[i] ^ flipped);
      const auto contents = flight::read(base::as_bytes(file));
      file[i] = static_cast<char>(file[i] ^ flipped);
      if (!contents.ok()) {
        ASSERT_LT(i, 4096u) << "one damaged entry must not make the rest unreadable";
        ++noticed;
        continue;
      }
      std::size_t seen = 0;
      for (const flight::Step& step : contents->steps) {
        seen += step.tensors.size();
        for (const flight::Tensor& tensor : step.tensors) {
          const auto found = written.find({step.step, tensor.name});
          ASSERT_NE(found, written.end()) << i;
          ASSERT_EQ(dense(tensor.view), found->second) << i;
        }
      }
      if (i >= 4096) {
        ASSERT_GE(seen + 1, tensors) << "at most the damaged one is missing, at byte " << i;
      }
      noticed += contents->torn > 0 ? 1U : 0U;
    }
  }
  EXPECT_GT(noticed, file.size() / 4);
}

TEST(FlightRing, TruncationIsAlwaysDetected) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  fill(*ring);
  const std::string file = *base::read_file(ring->path());
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto contents = flight::read(base::as_bytes(file).first(size));
    ASSERT_FALSE(contents.ok());
    ASSERT_EQ(contents.error().code(), Code::corrupt);
  }
}

// ---- Files and processes.

TEST(FlightRing, IsHeldWhileItLivesAndNotOnceAbandoned) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  add_step(*ring, 1);
  EXPECT_TRUE(*base::is_locked(ring->path()));
  ring->abandon();
  EXPECT_FALSE(*base::is_locked(ring->path()));
  EXPECT_THAT(Found(ring->path()).numbers(), ElementsAre(1));
  EXPECT_FALSE(add_floats(*ring, 2, "x", {1}));
  end(*ring, 2);
}

TEST(FlightRing, RemovesItsFileWhenItIsClosed) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  add_step(*ring, 1);
  ASSERT_TRUE(ring->close().ok());
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  ring->abandon();
}

TEST(FlightRing, LeavesTheFileOfAnotherRingInItsDirectoryAlone) {
  base::TempDir dir;
  const auto first = make_ring(dir, 8192);
  const auto second = make_ring(dir, 8192);
  EXPECT_NE(first->path(), second->path());
  EXPECT_TRUE(second->path().ends_with("-1.ring"));
  const pid_t child = ::fork();
  if (child == 0) {
    auto ring = FlightRing::create({.directory = dir.path(), .bytes = 8192});
    ::_exit(ring.ok() && (*ring)->path().ends_with(std::to_string(::getpid()) + "-0.ring") ? 0 : 1);
  }
  int ended = 0;
  ASSERT_EQ(::waitpid(child, &ended, 0), child);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 3);
}

TEST(FlightRing, AbandonInAForkedChildLeavesTheParentsRingAlone) {
  base::TempDir dir;
  const auto ring = make_ring(dir, 8192);
  add_step(*ring, 1);
  const pid_t child = ::fork();
  if (child == 0) {
    ring->abandon();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(*base::is_locked(ring->path()));
  add_step(*ring, 2);
  EXPECT_THAT(Found(ring->path()).numbers(), ElementsAre(1, 2));
}

TEST(FlightRing, LargerThanTheDiskSaysWhatToDo) {
  base::TempDir dir;
  const auto ring = FlightRing::create({.directory = dir.path(), .bytes = std::uint64_t{1} << 60});
  ASSERT_FALSE(ring.ok());
  EXPECT_EQ(ring.error().code(), Code::no_space);
  EXPECT_THAT(ring.error().message(), HasSubstr("1152921504606846976 bytes are needed and"));
  EXPECT_THAT(ring.error().message(), HasSubstr("[flight] size"));
  EXPECT_THAT(ring.error().message(), HasSubstr("[flight] dir"));
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(FlightRing, IfTooSmallSaysHowLargeItMustBe) {
  base::TempDir dir;
  const auto ring = FlightRing::create({.directory = dir.path(), .bytes = 5000});
  ASSERT_FALSE(ring.ok());
  EXPECT_EQ(ring.error().code(), Code::invalid_argument);
  EXPECT_THAT(ring.error().message(), HasSubstr("at least 8192"));
}

TEST(FlightRing, IsNotLargerByDefaultThanTheKernelLikes) {
  EXPECT_GE(FlightRing::default_bytes(), std::uint64_t{16} << 20);
  EXPECT_LE(FlightRing::default_bytes(), std::uint64_t{256} << 20);
}

// ---- Killed at any moment.

constexpr std::uint64_t kKilledBytes = 256 << 10;

// The tensors of a step follow from its number.
std::vector<std::vector<float>> tensors_of(std::int64_t step) {
  std::mt19937 random(static_cast<unsigned>(step));
  std::vector<std::vector<float>> tensors(1 + random() % 4);
  for (auto& tensor : tensors) tensor.assign(random() % 3000, static_cast<float>(random()));
  return tensors;
}

[[noreturn]] void write_until_killed(const std::string& directory, std::atomic<std::int64_t>& completed) {
  auto ring = FlightRing::create({.directory = directory, .bytes = kKilledBytes});
  if (!ring) ::_exit(1);
  for (std::int64_t step = 1;; ++step) {
    for (const auto& tensor : tensors_of(step)) {
      (*ring)->add({.step = step}, false, {.name = "t", .view = view(tensor)});
    }
    (*ring)->end_step({.step = step}, false, {});
    completed.store(step, std::memory_order_release);
  }
}

std::uint64_t bytes_of(std::int64_t step) {
  std::uint64_t sum = flight::entry_size(64, 0);
  for (const auto& tensor : tensors_of(step)) sum += tensor_entry("t", tensor.size());
  return sum;
}

void check_survivors(const Found& found, std::int64_t completed) {
  ASSERT_EQ(found.contents->torn, 0u);
  std::int64_t newest = 0;
  std::int64_t oldest = std::numeric_limits<std::int64_t>::max();
  for (const flight::Step& step : found.steps()) {
    const auto wanted = tensors_of(step.step);
    ASSERT_LE(step.tensors.size(), wanted.size());
    for (std::size_t i = 0; i < step.tensors.size(); ++i) {
      ASSERT_EQ(dense(step.tensors[i].view), dense(view(wanted[i]))) << step.step;
    }
    if (!step.complete) {
      ASSERT_EQ(&step, &found.steps().back());
      continue;
    }
    ASSERT_EQ(step.tensors.size(), wanted.size());
    if (newest != 0) {
      ASSERT_EQ(step.step, newest + 1);
    }
    newest = step.step;
    oldest = std::min(oldest, step.step);
  }
  ASSERT_GE(newest, completed);
  ASSERT_LE(newest, completed + 1);
  // All that fit beside the step that was being written, at most one entry's size unused at the end of the file.
  std::uint64_t bytes = bytes_of(newest + 1) + tensor_entry("t", 3000) + kReserve;
  for (std::int64_t step = newest; step > 0; --step) {
    bytes += bytes_of(step);
    if (bytes > kKilledBytes - flight::kHeaderBytes) break;
    ASSERT_LE(oldest, step);
  }
}

TEST(FlightRing, KeepsEveryCompletedStepOfAKilledProcess) {
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& completed = *new (memory) std::atomic<std::int64_t>(0);
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 50; ++round) {
    base::TempDir dir;
    completed = 0;
    const pid_t child = ::fork();
    if (child == 0) write_until_killed(dir.path(), completed);
    while (completed.load(std::memory_order_acquire) == 0 && ::waitpid(child, nullptr, WNOHANG) == 0) ::usleep(100);
    ::usleep(static_cast<useconds_t>(random() % 8000));
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    std::string path = std::filesystem::directory_iterator(dir.path())->path().string();
    EXPECT_FALSE(*base::is_locked(path));
    const Found found(path);
    ASSERT_NO_FATAL_FAILURE(check_survivors(found, completed.load())) << "round " << round;
  }
  ::munmap(memory, 4096);
}

}  // namespace
}  // namespace sonde::sinks
