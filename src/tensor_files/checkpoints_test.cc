#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <random>
#include <thread>

#include "base/clock.h"
#include "base/directory.h"
#include "base/faults_testing.h"
#include "base/file_lock.h"
#include "base/small_disk_testing.h"
#include "base/temp_dir_testing.h"
#include "formats/file_testing.h"
#include "sonde/checkpoint.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

const std::vector<float> kKernel = {1, 2, 3, 4, 5, 6};
const std::vector<NamedView> kTensors = {{"dense/kernel", view(kKernel, {2, 3})},
                                         {"dense/bias", view(kKernel.data(), Shape{3})}};

class Checkpoint : public ::testing::Test {
 protected:
  Status save(std::string_view name, std::int64_t step, const CheckpointOptions& options = {}) const {
    return save_checkpoint(run_, name, step, kTensors, options);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    const auto directory = base::read_directory(run_ + "/checkpoints");
    for (const base::DirectoryEntry& entry : directory->entries) names.push_back(entry.name);
    return names;
  }
  std::vector<std::int64_t> steps(std::string_view name) const {
    std::vector<std::int64_t> steps;
    const auto list = list_checkpoints(run_);
    for (const CheckpointInfo& info : list->checkpoints) {
      if (info.name == name) steps.push_back(info.step);
    }
    return steps;
  }

  base::TempDir dir_;
  std::string run_ = dir_ / "logs/train";
};

TEST_F(Checkpoint, LoadsAsItWasSaved) {
  const double before = base::wall_seconds();
  ASSERT_TRUE(save("model", 300, {.metric = 0.1, .metadata = {{"epoch", "3"}}}).ok());
  const auto loaded = load_checkpoint(run_, 300, "model");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  ASSERT_EQ(loaded->tensors.size(), 2U);
  EXPECT_EQ(loaded->tensors[0].name, "dense/kernel");
  testing::expect_same(loaded->tensors[0].tensor.view(), kTensors[0].tensor);
  testing::expect_same(loaded->tensors[1].tensor.view(), kTensors[1].tensor);

  const auto list = list_checkpoints(run_);
  ASSERT_TRUE(list.ok()) << list.error().message();
  ASSERT_EQ(list->checkpoints.size(), 1U);
  const CheckpointInfo& info = list->checkpoints[0];
  EXPECT_EQ(info.name, "model");
  EXPECT_EQ(info.step, 300);
  EXPECT_EQ(info.path, run_ + "/checkpoints/model-300.safetensors");
  EXPECT_EQ(info.bytes, std::filesystem::file_size(info.path));
  EXPECT_EQ(info.tensors, 2U);
  EXPECT_EQ(info.metric, 0.1);
  EXPECT_TRUE(info.lower_is_better);
  EXPECT_GE(info.wall_time, before);
  EXPECT_LE(info.wall_time, base::wall_seconds());
  EXPECT_THAT(info.metadata, ElementsAre(Pair("epoch", "3")));
  EXPECT_THAT(list->unreadable, IsEmpty());
}

TEST_F(Checkpoint, StoresItsNameStepAndMetricInTheFile) {
  ASSERT_TRUE(save("model", -7, {.metric = -INFINITY, .lower_is_better = false, .metadata = {{"epoch", "3"}}}).ok());
  const auto file = load_safetensors(run_ + "/checkpoints/model--7.safetensors");
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_THAT(file->metadata, UnorderedElementsAre(Pair("sonde.name", "model"), Pair("sonde.step", "-7"),
                                                   Pair("sonde.time", StartsWith("1")), Pair("sonde.metric", "-inf"),
                                                   Pair("sonde.best", "highest"), Pair("epoch", "3")));
  ASSERT_TRUE(save("plain", 1).ok());
  const auto plain = load_safetensors(run_ + "/checkpoints/plain-1.safetensors");
  EXPECT_THAT(plain->metadata, UnorderedElementsAre(Pair("sonde.name", "plain"), Pair("sonde.step", "1"),
                                                    Pair("sonde.time", ::testing::_)));
}

TEST_F(Checkpoint, OfTheSameNameAndStepReplacesTheOldOne) {
  ASSERT_TRUE(save("model", 1, {.metric = 5}).ok());
  ASSERT_TRUE(save("model", 1, {.metric = 6}).ok());
  EXPECT_THAT(files(), ElementsAre("model-1.safetensors"));
  EXPECT_EQ(list_checkpoints(run_)->checkpoints[0].metric, 6);
}

TEST_F(Checkpoint, AreListedByNameAndThenByNumericStep) {
  for (const std::int64_t step : {10, 9, -5, 100}) ASSERT_TRUE(save("b", step).ok());
  ASSERT_TRUE(save("a-b", 2).ok());
  ASSERT_TRUE(save("größe 1", 2).ok());
  std::vector<std::pair<std::string, std::int64_t>> found;
  const auto list = list_checkpoints(run_);
  for (const CheckpointInfo& info : list->checkpoints) found.emplace_back(info.name, info.step);
  EXPECT_THAT(found, ElementsAre(Pair("a-b", 2), Pair("b", -5), Pair("b", 9), Pair("b", 10), Pair("b", 100),
                                 Pair("größe 1", 2)));
}

TEST_F(Checkpoint, StepsReachToBothEnds) {
  for (const std::int64_t step : {INT64_MIN, INT64_MAX}) {
    ASSERT_TRUE(save("model", step).ok());
    EXPECT_TRUE(load_checkpoint(run_, step).ok());
  }
  EXPECT_THAT(steps("model"), ElementsAre(INT64_MIN, INT64_MAX));
}

TEST_F(Checkpoint, NamesThatCannotBeFilesAreRejected) {
  const auto error = [&](std::string_view name) {
    const Status status = save(name, 1);
    EXPECT_EQ(status.code(), Code::invalid_argument) << name;
    return status.message();
  };
  EXPECT_EQ(error(""), "a checkpoint needs a name, and this one is empty");
  EXPECT_THAT(error("a/b"), HasSubstr("'a/b' has a slash in it"));
  EXPECT_THAT(error("../x"), HasSubstr("slash"));
  EXPECT_THAT(error(".a"), HasSubstr("begins with a dot"));
  EXPECT_THAT(error("a-"), HasSubstr("ends with a dash"));
  EXPECT_THAT(error("a\xff"), HasSubstr("not UTF-8"));
  EXPECT_THAT(error(std::string_view("a\0b", 3)), HasSubstr("control character"));
  EXPECT_THAT(error(std::string(101, 'a')), HasSubstr("longer than 100 bytes"));
  EXPECT_TRUE(save(std::string(100, 'a'), INT64_MIN).ok());
  EXPECT_THAT(save("a", 1, {.metadata = {{"sonde.step", "4"}}}).message(), HasSubstr("'sonde.step'"));
}

TEST_F(Checkpoint, OnlyTheLastOnesAreKept) {
  for (std::int64_t step = 0; step < 6; ++step) ASSERT_TRUE(save("model", step, {.keep_last = 2}).ok());
  EXPECT_THAT(steps("model"), ElementsAre(4, 5));
}

TEST_F(Checkpoint, AllAreKeptByDefault) {
  for (std::int64_t step = 0; step < 6; ++step) ASSERT_TRUE(save("model", step, {.metric = 1}).ok());
  EXPECT_EQ(steps("model").size(), 6U);
}

TEST_F(Checkpoint, TheBestAreKeptBesidesTheLast) {
  const double losses[] = {5, 1, 3, 2, 4, 6, NAN};
  for (std::int64_t step = 0; step < 7; ++step) {
    ASSERT_TRUE(save("low", step, {.keep_last = 2, .keep_best = 2, .metric = losses[step]}).ok());
    ASSERT_TRUE(save("high", step, {.keep_last = 1, .metric = losses[step], .lower_is_better = false}).ok());
    ASSERT_TRUE(save("none", step, {.keep_last = 1, .keep_best = 0, .metric = losses[step]}).ok());
  }
  EXPECT_THAT(steps("low"), ElementsAre(1, 3, 5, 6));
  EXPECT_THAT(steps("high"), ElementsAre(5, 6));
  EXPECT_THAT(steps("none"), ElementsAre(6));
}

// A loss of -inf is a loss that overflowed.
TEST_F(Checkpoint, OnlyFiniteMetricsAreGood) {
  const double metrics[] = {2, -INFINITY, INFINITY, 3};
  for (std::int64_t step = 0; step < 4; ++step) {
    ASSERT_TRUE(save("low", step, {.keep_last = 1, .metric = metrics[step]}).ok());
    ASSERT_TRUE(save("high", 10 - step, {.keep_last = 1, .metric = metrics[step], .lower_is_better = false}).ok());
  }
  EXPECT_THAT(steps("low"), ElementsAre(0, 3));
  EXPECT_THAT(steps("high"), ElementsAre(7));
}

TEST_F(Checkpoint, NumbersToKeepBelowZeroAreRejectedBeforeAnythingIsWritten) {
  const Status last = save("model", 1, {.keep_last = -1});
  EXPECT_EQ(last.code(), Code::invalid_argument);
  EXPECT_EQ(last.message(), "keep_last is -1, but must be 0 or more: 0 keeps all");
  EXPECT_EQ(save("model", 1, {.keep_last = 1, .keep_best = -1}).message(),
            "keep_best is -1, but must be 0 or more: 0 keeps none of them");
  EXPECT_FALSE(std::filesystem::exists(run_));
}

TEST_F(Checkpoint, OfEquallyGoodOnesTheFirstIsKept) {
  for (std::int64_t step = 0; step < 4; ++step) ASSERT_TRUE(save("model", step, {.keep_last = 1, .metric = 1}).ok());
  EXPECT_THAT(steps("model"), ElementsAre(0, 3));
}

// The last are those saved last: the first checkpoint after going back must not be removed for the old ones ahead.
TEST_F(Checkpoint, ARestartFromAnEarlierStepKeepsItsOwn) {
  for (const std::int64_t step : {100, 200, 300}) ASSERT_TRUE(save("model", step, {.keep_last = 2}).ok());
  ASSERT_TRUE(save("model", 150, {.keep_last = 2}).ok());
  EXPECT_THAT(steps("model"), ElementsAre(150, 300));
}

TEST_F(Checkpoint, NeitherOtherNamesNorFilesOfOthersAreRemoved) {
  ASSERT_TRUE(save("other", 1).ok());
  ASSERT_TRUE(save("model-2", 1).ok());
  const std::string folder = run_ + "/checkpoints/";
  ASSERT_TRUE(save_safetensors(folder + "model-1.safetensors", kTensors).ok());
  ASSERT_TRUE(base::write_file(folder + "model-2.safetensors", "damaged").ok());
  ASSERT_TRUE(base::write_file(folder + "model-notes.txt", "mine").ok());
  for (std::int64_t step = 3; step < 6; ++step) ASSERT_TRUE(save("model", step, {.keep_last = 1}).ok());
  EXPECT_THAT(files(), UnorderedElementsAre("other-1.safetensors", "model-2-1.safetensors", "model-1.safetensors",
                                            "model-2.safetensors", "model-notes.txt", "model-5.safetensors"));
}

TEST_F(Checkpoint, FilesOfOtherProgramsAreListedByTheirNames) {
  ASSERT_TRUE(save("model", 1).ok());
  const std::string folder = run_ + "/checkpoints/";
  ASSERT_TRUE(save_safetensors(folder + "weights-00042.safetensors", kTensors, {{"format", "pt"}}).ok());
  for (const char* ignored : {"weights.safetensors", "-5.safetensors", ".a-5.safetensors", "a-5.npz", "a--.safetensors",
                              "a---5.safetensors", "a-99999999999999999999.safetensors", "12.safetensors"}) {
    ASSERT_TRUE(save_safetensors(folder + ignored, kTensors).ok());
  }
  std::filesystem::create_directory(folder + "folder-1.safetensors");
  ASSERT_TRUE(base::write_file(folder + "a-1.safetensors.part-17-0", "half").ok());
  const auto list = list_checkpoints(run_);
  ASSERT_EQ(list->checkpoints.size(), 2U);
  EXPECT_EQ(list->checkpoints[1].name, "weights");
  EXPECT_EQ(list->checkpoints[1].step, 42);
  EXPECT_TRUE(std::isnan(list->checkpoints[1].metric));
  EXPECT_GT(list->checkpoints[1].wall_time, 1e9);
  EXPECT_THAT(list->checkpoints[1].metadata, ElementsAre(Pair("format", "pt")));
  EXPECT_THAT(list->unreadable, IsEmpty());
  EXPECT_TRUE(load_checkpoint(run_, 42).ok());
}

TEST_F(Checkpoint, UnreadableFilesAreNamed) {
  ASSERT_TRUE(save("model", 1).ok());
  const std::string folder = run_ + "/checkpoints/";
  ASSERT_TRUE(base::write_file(folder + "model-2.safetensors", "").ok());
  ASSERT_TRUE(base::write_file(folder + "model-3.safetensors", "no tensors").ok());
  ASSERT_TRUE(save_npy(folder + "model-4.safetensors", view(kKernel)).ok());
  ASSERT_EQ(::mkfifo((folder + "model-5.safetensors").c_str(), 0600), 0);
  const auto list = list_checkpoints(run_);
  EXPECT_EQ(list->checkpoints.size(), 1U);
  ASSERT_EQ(list->unreadable.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_THAT(list->unreadable[i].message(), HasSubstr("model-" + std::to_string(i + 2) + ".safetensors'"));
  }
  EXPECT_FALSE(load_checkpoint(run_, 3).ok());
}

TEST_F(Checkpoint, WithoutANameIsTheOnlyOneOfThatStep) {
  EXPECT_THAT(load_checkpoint(run_, 1).error().message(), HasSubstr("has no checkpoints"));
  ASSERT_TRUE(save("a", 1).ok() && save("a", 2).ok() && save("b", 2).ok());
  EXPECT_TRUE(load_checkpoint(run_, 1).ok());
  EXPECT_TRUE(load_checkpoint(run_, 2, "b").ok());
  EXPECT_THAT(load_checkpoint(run_, 2).error().message(), HasSubstr("so a name must be given: 'a' or 'b'"));
  EXPECT_THAT(load_checkpoint(run_, 3).error().message(), HasSubstr("has no checkpoint of step 3"));
  EXPECT_THAT(load_checkpoint(run_, 1, "b").error().message(), HasSubstr("has no checkpoint of 'b' of step 1"));
  EXPECT_THAT(load_checkpoint(run_, 1, "c").error().message(), HasSubstr("has no checkpoints of 'c'"));
  EXPECT_EQ(load_checkpoint(run_, 1, "c").error().code(), Code::not_found);
}

TEST_F(Checkpoint, ARunWithoutCheckpointsHasNoneAndAMissingRunIsAnError) {
  EXPECT_EQ(list_checkpoints(run_).status().code(), Code::not_found);
  ASSERT_TRUE(base::make_directories(run_).ok());
  EXPECT_THAT(list_checkpoints(run_)->checkpoints, IsEmpty());
  ASSERT_TRUE(base::write_file(run_ + "/checkpoints", "a file in the way").ok());
  EXPECT_FALSE(list_checkpoints(run_).ok());
  EXPECT_THAT(save("model", 1).message(), HasSubstr(run_ + "/checkpoints'"));
}

TEST_F(Checkpoint, ATensorThatCannotBeSavedCostsNothing) {
  ASSERT_TRUE(save("model", 1).ok());
  const std::vector<std::complex<double>> complex(2);
  EXPECT_EQ(save_checkpoint(run_, "model", 2, {{"c", view(complex)}}, {.keep_last = 1}).code(), Code::unsupported);
  EXPECT_THAT(files(), ElementsAre("model-1.safetensors"));
}

// ---- What survives

TEST(CheckpointOnAFullDisk, FailsAndKeepsExistingCheckpoints) {
  enum Outcome { kRight, kNotSaved, kNotRefused, kLost, kLeftBehind, kNoRecovery };
  base::test_on_small_disk(4 << 20, [](base::SmallDisk& disk) -> int {
    const std::vector<float> values(300'000);  // 1.2 MB each: three fit
    const std::vector<NamedView> tensors = {{"values", view(values)}};
    const CheckpointOptions options = {.keep_last = 1, .keep_best = 3, .metric = 1};
    for (std::int64_t step = 1; step <= 3; ++step) {
      if (!save_checkpoint(disk.path(), "model", step, tensors, options).ok()) return kNotSaved;
    }
    const Status refused = save_checkpoint(disk.path(), "model", 4, tensors, {.keep_last = 1});
    if (refused.code() != Code::no_space) return kNotRefused;
    for (std::int64_t step = 1; step <= 3; ++step) {
      const auto loaded = load_checkpoint(disk.path(), step);
      if (!loaded || loaded->tensors[0].tensor.data.size() != 1'200'000) return kLost;
    }
    if (base::names_in(disk / "checkpoints").size() != 3) return kLeftBehind;
    if (!base::remove_file(disk / "checkpoints/model-2.safetensors").ok()) return kNoRecovery;
    return save_checkpoint(disk.path(), "model", 4, tensors).ok() ? kRight : kNoRecovery;
  });
}

// A save that fails costs none of those before it; one that succeeds keeps those that it is asked to keep.
TEST(EveryFault, LeavesCheckpointsWhole) {
  const auto met = base::for_each_fault([](base::Faults& faults, base::Fault fault) {
    const base::TempDir dir;
    const CheckpointOptions options = {.keep_last = 2};
    for (const std::int64_t step : {1, 2}) ASSERT_TRUE(save_checkpoint(dir.path(), "m", step, kTensors, options).ok());
    fault.path = dir.path();
    faults.add(fault);
    const Status status = save_checkpoint(dir.path(), "m", 3, kTensors, options);
    faults.clear();
    const auto list = list_checkpoints(dir.path());
    ASSERT_TRUE(list.ok());
    EXPECT_THAT(list->unreadable, IsEmpty());
    EXPECT_GE(list->checkpoints.size(), 2U);
    for (const CheckpointInfo& info : list->checkpoints) EXPECT_TRUE(load_safetensors(info.path).ok()) << info.path;
    const bool saved = base::file_state(dir / "checkpoints/m-3.safetensors").ok();
    if (status.ok()) {
      EXPECT_TRUE(saved);
    } else {
      EXPECT_FALSE(fault.harmless()) << status.message();
      EXPECT_THAT(status.message(), HasSubstr(dir / "checkpoints"));
    }
    for (const char* step : {"m-1", "m-2"}) {
      const bool there = base::file_state((dir / "checkpoints/") + step + ".safetensors").ok();
      EXPECT_TRUE(there || (saved && step == std::string("m-1"))) << step;
    }
    ASSERT_TRUE(save_checkpoint(dir.path(), "m", 4, kTensors, options).ok());
    if (fault.operation != base::FileOperation::remove) {
      for (const std::string& name : base::names_in(dir / "checkpoints")) EXPECT_THAT(name, EndsWith(".safetensors"));
    }
  });
  EXPECT_GT(met, 40U);
}

// Each checkpoint holds its step in every element, so that a mixture of two would be seen.
TEST(CheckpointOfAKilledProcess, IsWholeOrNotThere) {
  std::mt19937 random(23);
  for (int round = 0; round < 30; ++round) {
    base::TempDir dir;
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      std::vector<std::int64_t> values(100'000);
      for (std::int64_t step = 0;; ++step) {
        std::ranges::fill(values, step);
        const CheckpointOptions options = {.keep_last = 2, .metric = static_cast<double>(step)};
        if (!save_checkpoint(dir.path(), "model", step, {{"values", view(values)}}, options).ok()) ::_exit(1);
        if (!save_checkpoint(dir.path(), "newest", 0, {{"values", view(values)}}, options).ok()) ::_exit(1);
        if (::write(pipe_ends[1], &step, sizeof step) != sizeof step) ::_exit(1);
      }
    }
    ::close(pipe_ends[1]);
    std::int64_t saved = -1;
    ASSERT_EQ(::read(pipe_ends[0], &saved, sizeof saved), static_cast<ssize_t>(sizeof saved));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));  // the random moment
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed";
    while (::read(pipe_ends[0], &saved, sizeof saved) == static_cast<ssize_t>(sizeof saved)) {
    }
    ::close(pipe_ends[0]);

    const auto list = list_checkpoints(dir.path());
    ASSERT_TRUE(list.ok()) << list.error().message();
    EXPECT_THAT(list->unreadable, IsEmpty());
    bool first = false;
    bool last = false;
    for (const CheckpointInfo& info : list->checkpoints) {
      const auto loaded = load_safetensors(info.path);
      ASSERT_TRUE(loaded.ok()) << loaded.error().message();
      const auto* values = reinterpret_cast<const std::int64_t*>(loaded->tensors[0].tensor.data.data());
      ASSERT_EQ(loaded->tensors[0].tensor.shape, Shape{100'000});
      EXPECT_TRUE(std::all_of(values, values + 100'000, [&](std::int64_t value) { return value == values[0]; }));
      if (info.name == "newest") {
        EXPECT_GE(values[0], saved);
        continue;
      }
      EXPECT_EQ(values[0], info.step);
      first |= info.step == 0;  // the best
      last |= info.step >= saved;
    }
    EXPECT_TRUE(first && last) << "round " << round;

    ASSERT_TRUE(save_checkpoint(dir.path(), "other", 1, kTensors).ok());
    for (const std::string& name : base::names_in(dir / "checkpoints")) EXPECT_THAT(name, EndsWith(".safetensors"));
  }
}

TEST_F(Checkpoint, OnlyTemporaryFilesOfAKilledProcessAreRemoved) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::string dead = std::to_string(child);
  const std::string folder = run_ + "/checkpoints/";
  ASSERT_TRUE(base::make_directories(folder + "model-6.safetensors.part-" + dead + "-3").ok());
  const std::string held = "model-5.safetensors.part-" + dead + "-1";  // of another machine, or in another container
  std::vector<std::string> stay = {held,
                                   "model-5.safetensors.part-" + std::to_string(::getppid()) + "-0",
                                   "model-5.safetensors.part-" + dead,
                                   "model-5.safetensors.part-" + dead + "-",
                                   "model-5.safetensors.part-" + dead + "-0.bak",
                                   "model-5.safetensors.part--1-0",
                                   "model.safetensors.part-" + dead + "-0",
                                   "notes.part-" + dead + "-0"};
  for (const std::string& name : stay) ASSERT_TRUE(base::write_file(folder + name, "x").ok());
  std::filesystem::create_symlink(folder + stay[7], folder + "model-5.safetensors.part-" + dead + "-9");
  ASSERT_TRUE(base::write_file(folder + "model-5.safetensors.part-" + dead + "-0", "x").ok());
  ASSERT_TRUE(base::write_file(folder + "other--7.safetensors.part-" + dead + "-12", "x").ok());
  const auto lock = base::FileLock::acquire(folder + held);
  ASSERT_TRUE(save("model", 1).ok());
  stay.insert(stay.end(), {"model-1.safetensors", "model-6.safetensors.part-" + dead + "-3",
                           "model-5.safetensors.part-" + dead + "-9"});
  EXPECT_THAT(files(), ::testing::UnorderedElementsAreArray(stay));
}

TEST_F(Checkpoint, TheTemporaryFileIsLocked) {
  ASSERT_TRUE(save("model", 1).ok());
  std::atomic<bool> seen = false;
  std::jthread writer([&] {
    while (!seen) ASSERT_TRUE(save("model", 2).ok());
  });
  while (!seen) {
    for (const std::string& name : files()) {
      if (name == "model-1.safetensors") continue;
      const auto locked = base::is_locked(run_ + "/checkpoints/" + name);
      if (locked && *locked) seen = true;
    }
  }
}

}  // namespace
}  // namespace sonde
