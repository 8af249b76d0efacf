#include "sinks/tensor_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <filesystem>
#include <set>

#include "base/faults_testing.h"
#include "base/small_disk_testing.h"
#include "base/temp_dir_testing.h"
#include "formats/file_testing.h"

namespace sonde::sinks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<float> kValues = {1, 2, 3, 4, 5, 6};
const std::vector<std::complex<double>> kComplex = {{1, 2}};

// The files below a directory, and their size.
std::set<std::string> files_in(const std::string& directory, std::uint64_t* bytes = nullptr) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, error)) {
    if (!entry.is_regular_file()) continue;
    names.insert(entry.path().lexically_relative(directory));
    if (bytes != nullptr) *bytes += entry.file_size();
  }
  return names;
}

class TensorStoreTest : public ::testing::Test {
 protected:
  Status write(std::int64_t step, const std::vector<StoredTensor>& tensors, bool evaluation = false) {
    return store_.write_step({.wall_time = 1, .step = step}, evaluation, tensors);
  }
  std::set<std::string> files() const { return files_in(dir_ / "tensors"); }

  base::TempDir dir_;
  Tally tally_;
  TensorStore store_{dir_.path(), "host.1.0", tally_};
};

TEST_F(TensorStoreTest, KeepsEachTensorInTheFormatsAskedFor) {
  const std::string key = "gradient/dense_1/out#1";
  ASSERT_TRUE(write(100, {{.key = key, .view = view(kValues, {2, 3}), .whole = true, .npy = true, .npz = true},
                          {.key = "bias", .view = view(kValues), .whole = true},
                          {.key = "transposed", .view = view(kValues.data(), {3, 2}, {1, 3}), .npz = true},
                          {.key = "unwanted", .view = view(kValues)}})
                  .ok());
  EXPECT_THAT(files(), ElementsAre("000000000100.host.1.0.npz", "000000000100.host.1.0.safetensors",
                                   "000000000100.host.1.0/gradient/dense_1/out#1.npy"));
  const std::string stem = dir_ / "tensors/000000000100.host.1.0";
  const auto whole = load_safetensors(stem + ".safetensors");
  ASSERT_TRUE(whole.ok()) << whole.error().message();
  ASSERT_EQ(whole->tensors.size(), 2U);
  EXPECT_EQ(whole->tensors[0].name, key);
  testing::expect_same(whole->tensors[0].tensor.view(), view(kValues, {2, 3}));
  const auto archive = load_npz(stem + ".npz");
  ASSERT_TRUE(archive.ok()) << archive.error().message();
  ASSERT_EQ(archive->size(), 2U);
  testing::expect_same((*archive)[1].tensor.view(), view(kValues.data(), {3, 2}, {1, 3}));
  testing::expect_same(load_npy(stem + "/gradient/dense_1/out#1.npy")->view(), view(kValues, {2, 3}));
}

TEST_F(TensorStoreTest, CountsTheBytesOfItsFiles) {
  ASSERT_TRUE(write(1, {{.key = "a/b", .view = view(kValues), .whole = true, .npy = true, .npz = true}}).ok());
  ASSERT_TRUE(write(2, {{.key = "a/b", .view = view(kValues), .whole = true}}).ok());
  std::uint64_t bytes = 0;
  EXPECT_EQ(files_in(dir_.path(), &bytes).size(), 4U);
  EXPECT_EQ(tally_.bytes_written, bytes);
}

TEST_F(TensorStoreTest, NamesFilesInSortableOrder) {
  const std::vector<StoredTensor> tensors = {{.key = "a", .view = view(kValues), .whole = true}};
  for (const std::int64_t step : {0L, -1L, 9L, 10L, 1'234'567'890'123L}) ASSERT_TRUE(write(step, tensors).ok());
  ASSERT_TRUE(write(10, tensors, true).ok());
  EXPECT_THAT(files(), ElementsAre("-00000000001.host.1.0.safetensors", "000000000000.host.1.0.safetensors",
                                   "000000000009.host.1.0.safetensors", "000000000010.host.1.0.safetensors",
                                   "1234567890123.host.1.0.safetensors", "eval-000000000010.host.1.0.safetensors"));
}

TEST_F(TensorStoreTest, ARepeatedStepOverwritesNothing) {
  const float first = 1;
  const float second = 2;
  ASSERT_TRUE(write(5, {{.key = "a", .view = view(&first, {1}), .npy = true}}).ok());
  ASSERT_TRUE(write(5, {{.key = "a", .view = view(&second, {1}), .whole = true, .npy = true, .npz = true}}).ok());
  ASSERT_TRUE(write(5, {{.key = "a", .view = view(&second, {1}), .npz = true}}).ok());
  EXPECT_THAT(files(), ElementsAre("000000000005.host.1.0.1.npz", "000000000005.host.1.0.1.safetensors",
                                   "000000000005.host.1.0.1/a.npy", "000000000005.host.1.0.2.npz",
                                   "000000000005.host.1.0/a.npy"));
  testing::expect_same(load_npy(dir_ / "tensors/000000000005.host.1.0/a.npy")->view(), view(&first, {1}));
  testing::expect_same(load_npy(dir_ / "tensors/000000000005.host.1.0.1/a.npy")->view(), view(&second, {1}));
}

TEST_F(TensorStoreTest, CreatesNothingIfNothingIsKept) {
  EXPECT_TRUE(write(1, {}).ok());
  EXPECT_TRUE(write(2, {{.key = "a", .view = view(kValues)}}).ok());
  EXPECT_FALSE(std::filesystem::exists(dir_ / "tensors"));
}

TEST_F(TensorStoreTest, ATypeThatAFormatLacksCostsThatTensorOnly) {
  const Status status = write(1, {{.key = "c", .view = view(kComplex), .whole = true, .npy = true, .npz = true},
                                  {.key = "a", .view = view(kValues), .whole = true}});
  EXPECT_EQ(status.code(), Code::unsupported);
  EXPECT_THAT(status.message(), HasSubstr("the tensor 'c' is not in '"));
  EXPECT_THAT(status.message(), HasSubstr("000000000001.host.1.0.safetensors': safetensors has no complex numbers"));
  const std::string stem = dir_ / "tensors/000000000001.host.1.0";
  ASSERT_EQ(load_safetensors(stem + ".safetensors")->tensors.size(), 1U);
  testing::expect_same((*load_npz(stem + ".npz"))[0].tensor.view(), view(kComplex));
  testing::expect_same(load_npy(stem + "/c.npy")->view(), view(kComplex));
  EXPECT_EQ(tally_.lost_records, 1U);
}

TEST_F(TensorStoreTest, AnUnusableTensorAffectsNoOther) {
  const StoredTensor good = {.key = "a", .view = view(kValues), .whole = true, .npy = true, .npz = true};
  StoredTensor twice = good;
  StoredTensor mismatched = good;
  mismatched.key = "mismatched";
  mismatched.view = view(kValues, {7});
  StoredTensor unreadable = good;
  unreadable.key = "\xff";
  const Status status = write(1, {good, twice, mismatched, unreadable});
  EXPECT_THAT(status.message(), HasSubstr("the tensor 'a' is not in '"));
  EXPECT_THAT(status.message(), HasSubstr("; and 7 more of step 1 could not be kept"));
  const std::string stem = dir_ / "tensors/000000000001.host.1.0";
  EXPECT_EQ(load_safetensors(stem + ".safetensors")->tensors.size(), 1U);
  EXPECT_EQ(load_npz(stem + ".npz")->size(), 1U);
  EXPECT_TRUE(load_npy(stem + "/a.npy").ok() && load_npy(stem + "/%FF.npy").ok());
}

TEST_F(TensorStoreTest, ANameThatNpzCannotHoldIsWrittenAsThatOfAFileAndCostsNoOther) {
  const std::string nul("activation/a\0b", 14);
  const std::string endless = "activation/" + std::string(65'000, 'x');
  const std::vector<StoredTensor> tensors = {
      {.key = "activation/fine", .view = view(kValues), .whole = true, .npy = true, .npz = true},
      {.key = nul, .view = view(kValues, {2, 3}), .whole = true, .npy = true, .npz = true},
      {.key = endless, .view = view(kValues, {3, 2}), .npz = true}};
  const Status status = write(1, tensors);
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_THAT(status.message(), HasSubstr("the tensor 'activation/a%00b' has this name in '"));
  const std::string stem = dir_ / "tensors/000000000001.host.1.0";
  const auto archive = load_npz(stem + ".npz");
  ASSERT_TRUE(archive.ok()) << archive.error().message();
  ASSERT_EQ(archive->size(), 3U);
  EXPECT_EQ((*archive)[1].name, "activation/a%00b");
  testing::expect_same((*archive)[1].tensor.view(), view(kValues, {2, 3}));
  EXPECT_TRUE(load_npy(stem + "/activation/a%00b.npy").ok());
  EXPECT_EQ(load_safetensors(stem + ".safetensors")->tensors.size(), 2U);
  EXPECT_EQ(tally_.lost_records, 0U);
  EXPECT_THAT(write(2, tensors).message(), HasSubstr("the tensor 'activation/xxx"));
  EXPECT_TRUE(write(3, tensors).ok()) << "each is told once";
}

TEST_F(TensorStoreTest, UnsupportedTensorsAreReportedOnceAndCountedEachTime) {
  const std::vector<StoredTensor> tensors = {{.key = "c", .view = view(kComplex), .whole = true}};
  EXPECT_EQ(write(1, tensors).code(), Code::unsupported);
  EXPECT_TRUE(write(2, tensors).ok());
  EXPECT_EQ(tally_.lost_records, 2U);
}

TEST_F(TensorStoreTest, KeysStayBelowTheStep) {
  ASSERT_TRUE(write(1, {{.key = "../../escape", .view = view(kValues), .npy = true},
                        {.key = "/etc/passwd", .view = view(kValues), .npy = true}})
                  .ok());
  EXPECT_EQ(files_in(dir_.path()).size(), 2U);
  EXPECT_EQ(files_in(dir_ / "tensors/000000000001.host.1.0").size(), 2U);
}

TEST(TensorStoreOnAFullDisk, LosesTheStepAndNoOther) {
  enum Outcome { kRight, kNotSaved, kNotRefused, kNotCounted, kLost, kLeftBehind, kNoRecovery };
  base::test_on_small_disk(4 << 20, [](base::SmallDisk& disk) -> int {
    Tally tally;
    TensorStore store(disk.path(), "host.1.0", tally);
    const std::vector<float> values(700'000);  // 2.8 MB: one fits
    const std::vector<StoredTensor> tensors = {{.key = "x", .view = view(values), .whole = true}};
    const auto write = [&](std::int64_t step) { return store.write_step({.step = step}, false, tensors); };
    if (!write(1).ok()) return kNotSaved;
    const Status refused = write(2);
    if (refused.code() != Code::no_space || refused.message().find("000000000002.") == std::string::npos) {
      return kNotRefused;
    }
    if (tally.write_errors != 1 || tally.lost_records != 1) return kNotCounted;
    const std::string first = disk / "tensors/000000000001.host.1.0.safetensors";
    if (!load_safetensors(first).ok()) return kLost;
    if (files_in(disk / "tensors").size() != 1) return kLeftBehind;
    if (!base::remove_file(first).ok()) return kNoRecovery;
    return write(3).ok() && files_in(disk / "tensors").size() == 1 ? kRight : kNoRecovery;
  });
}

// Existing files of a step are complete; missing ones are counted, named, and leave nothing behind.
TEST(EveryFault, LosesOnlyACountedWholeTensor) {
  const auto met = base::for_each_fault([](base::Faults& faults, base::Fault fault) {
    const base::TempDir dir;
    Tally tally;
    TensorStore store(dir.path(), "w", tally);
    const std::vector<StoredTensor> tensors = {
        {.key = "a/b", .view = view(kValues), .whole = true, .npy = true, .npz = true},
        {.key = "a/c", .view = view(kValues), .npy = true}};
    fault.path = dir.path();
    faults.add(fault);
    const Status status = store.write_step({.step = 1}, false, tensors);
    faults.clear();
    const std::string stem = dir / "tensors/000000000001.w";
    std::uint64_t missing = 0;
    for (const char* name : {".safetensors", ".npz", "/a/b.npy", "/a/c.npy"}) {
      if (!base::file_state(stem + name).ok()) {
        ++missing;
        continue;
      }
      EXPECT_TRUE(TensorFile::open(stem + name).ok()) << name;
    }
    EXPECT_EQ(tally.lost_records, missing);
    EXPECT_EQ(tally.write_errors, missing);
    EXPECT_EQ(status.ok(), missing == 0) << status.message();
    if (fault.harmless()) {
      EXPECT_EQ(missing, 0U) << status.message();
    }
    if (!status.ok()) {
      EXPECT_THAT(status.message(), HasSubstr(dir / "tensors"));
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir.path())) {
      if (fault.operation == base::FileOperation::remove) break;
      EXPECT_EQ(entry.path().string().find(".part-"), std::string::npos) << entry.path();
      const bool stays = entry.path() == dir / "tensors";  // where other processes may be about to write
      EXPECT_FALSE(!stays && entry.is_directory() && std::filesystem::is_empty(entry.path())) << entry.path();
    }
    EXPECT_TRUE(store.write_step({.step = 2}, false, tensors).ok());
  });
  EXPECT_GT(met, 100U);
}

}  // namespace
}  // namespace sonde::sinks
