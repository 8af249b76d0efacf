#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "base/directory.h"
#include "base/faults_testing.h"
#include "base/small_disk_testing.h"
#include "base/temp_dir_testing.h"
#include "formats/file_testing.h"
#include "sonde/capture.h"
#include "sonde/tensor_io.h"
#include "tensor_files/capture_files.h"
#include "tensor_files/captures_testing.h"

namespace sonde {
namespace {

using tensor_files::Captures;
using tensor_files::each_of;
using tensor_files::write_capture;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST_F(Captures, HoldWhatTheRingHeld) {
  flight::Step first = tensor_files::step(3, {tensor_files::tensor("a", values_, Kind::input),
                                              tensor_files::tensor("b", bad_values_, Kind::activation, {"a"})});
  first.tensors[1].occurrence = 2;
  first.tensors[1].view.shape = {2, 3};
  first.tensors[1].view.strides = {3, 1};
  flight::Step second = tensor_files::step(4, {});
  second.evaluation = true;
  second.complete = false;
  const Capture capture = opened(written("nan", {first, second}));

  EXPECT_EQ(capture.directory(), dir_ / "captures/1-nan");
  EXPECT_EQ(capture.info().reason, "nan");
  EXPECT_EQ(capture.info().step, 7);
  ASSERT_THAT(capture.steps(), SizeIs(2));
  const CapturedStep& read = capture.steps()[0];
  EXPECT_EQ(read.step, 3);
  EXPECT_TRUE(read.complete);
  EXPECT_EQ(read.wall_time, 1700000000.5);
  EXPECT_EQ(read.file, "000000000003.safetensors");
  EXPECT_THAT(read.scalars, ElementsAre(Pair("loss", 0.5)));
  ASSERT_THAT(read.tensors, SizeIs(2));
  EXPECT_EQ(read.tensors[0].key, "input/a");
  const CapturedTensor& b = read.tensors[1];
  EXPECT_EQ(b.key, "activation/b#2");
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.occurrence, 2U);
  EXPECT_THAT(b.inputs, ElementsAre("a"));
  EXPECT_EQ(b.shape, (Shape{2, 3}));
  EXPECT_EQ(b.count, 6U);
  EXPECT_EQ(b.nan, 2U);
  EXPECT_EQ(b.positive_infinity, 1U);
  EXPECT_EQ(b.negative_infinity, 1U);
  EXPECT_TRUE(capture.steps()[1].evaluation);
  EXPECT_FALSE(capture.steps()[1].complete);
  EXPECT_EQ(capture.steps()[1].file, "");

  const auto file = capture.step_file(read);
  ASSERT_TRUE(file.ok()) << file.error().message();
  const auto loaded = file->load("activation/b#2");
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(std::memcmp(loaded->data.data(), bad_values_.data(), sizeof(float) * 6), 0);
  EXPECT_THAT(file->metadata(), ElementsAre(Pair("step", "3"), Pair("wall_time", "1700000000.5"),
                                            Pair("order", R"(["input/a","activation/b#2"])")));
  EXPECT_EQ(capture.step_file(capture.steps()[1]).error().code(), Code::not_found);
}

TEST_F(Captures, HaveTheOriginInTheirJson) {
  const std::string path =
      written("nan", {tensor_files::step(3, {tensor_files::tensor("a", bad_values_, Kind::input)})});
  EXPECT_THAT(*base::read_file(base::join_path(path, "capture.json")),
              HasSubstr(R"("origin":{"found":true,"producers":[{"key":"input/a")"));
}

TEST_F(Captures, KeepStepsAndEvaluationsOfOneNumberApart) {
  flight::Step evaluation = tensor_files::step(3, {tensor_files::tensor("a", values_)});
  evaluation.evaluation = true;
  const Capture capture = opened(written("x", {tensor_files::step(3, {tensor_files::tensor("a", values_)}), evaluation,
                                               tensor_files::step(3, {tensor_files::tensor("a", values_)})}));
  EXPECT_THAT(base::names_in(capture.directory()), ElementsAre("000000000003-2.safetensors", "000000000003.safetensors",
                                                               "capture.json", "eval-000000000003.safetensors"));
  EXPECT_EQ(capture.steps()[1].tensors[0].key, "eval/activation/a");
  for (const CapturedStep& one : capture.steps()) EXPECT_TRUE(capture.step_file(one).ok());
}

TEST_F(Captures, CountEveryTypeOfNumber) {
  std::mt19937 random(1);
  std::vector<Tensor> tensors;
  for (const DType dtype : testing::all_dtypes()) tensors.push_back(testing::random_tensor(random, dtype, {3, 5}));
  flight::Step all = tensor_files::step(1, {});
  for (const Tensor& one : tensors) {
    all.tensors.emplace_back();
    all.tensors.back().name = to_string(one.dtype);
    all.tensors.back().view = one.view();
  }
  const std::vector<std::complex<float>> complex = {{1, tensor_files::kNan},
                                                    {tensor_files::kInfinity, tensor_files::kNan}};
  all.tensors.push_back({.name = "complex", .inputs = {}, .view = view(complex)});
  const Capture capture = opened(written("x", {all}));
  // All but c128.
  ASSERT_THAT(capture.steps()[0].tensors, SizeIs(tensors.size()));
  EXPECT_EQ(capture.steps()[0].tensors[0].count, 15U);
  EXPECT_EQ(capture.steps()[0].tensors.back().nan, 2U);
  EXPECT_EQ(capture.steps()[0].tensors.back().positive_infinity, 1U);
  ASSERT_THAT(capture.info().dropped, SizeIs(1));
  EXPECT_EQ(capture.info().dropped[0].what, "activation/c128");
  EXPECT_THAT(capture.info().dropped[0].reason, HasSubstr("complex"));
}

TEST_F(Captures, SayWhatTheyLack) {
  flight::Step lossy = tensor_files::step(5, {tensor_files::tensor("a", values_), tensor_files::tensor("a", values_),
                                              tensor_files::tensor("b\xff", values_)});
  lossy.dropped = 17;
  const Capture capture = opened(written("x", {lossy}));
  ASSERT_THAT(capture.info().dropped, SizeIs(2));
  EXPECT_EQ(capture.info().dropped[0].first_step, 5);
  EXPECT_EQ(capture.info().dropped[0].count, 17U);
  EXPECT_THAT(capture.info().dropped[0].reason, HasSubstr("no room"));
  EXPECT_EQ(capture.info().dropped[1].what, "activation/a");
  EXPECT_EQ(capture.steps()[0].tensors[1].key, "activation/b\xef\xbf\xbd");
  EXPECT_TRUE(capture.step_file(capture.steps()[0])->view("activation/b\xef\xbf\xbd").ok());
}

TEST_F(Captures, HaveNamesThatEveryShellTakes) {
  EXPECT_THAT(written("loss > 1.0 / Über", {}), EndsWith("/1-loss___1_0_____ber"));
  EXPECT_THAT(written("", {}), EndsWith("/2-capture"));
  EXPECT_THAT(written(std::string(500, 'x'), {}), EndsWith("/3-" + std::string(40, 'x')));
}

TEST_F(Captures, AreListedByNumber) {
  for (int i = 0; i < 11; ++i) written(i % 2 == 0 ? "nan" : "manual", {});
  ASSERT_TRUE(base::make_directories(dir_ / "captures/.part-99").ok());
  ASSERT_TRUE(base::write_file(dir_ / "captures/12-file", "").ok());
  const auto list = list_captures(dir_.path());
  ASSERT_TRUE(list.ok());
  ASSERT_THAT(*list, SizeIs(11));
  EXPECT_EQ(list->front(), dir_ / "captures/1-nan");
  EXPECT_EQ((*list)[1], dir_ / "captures/2-manual");
  EXPECT_EQ(list->back(), dir_ / "captures/11-nan");
}

TEST_F(Captures, NoCapturesIsNotAnErrorButAMissingRunIs) {
  EXPECT_THAT(*list_captures(dir_.path()), IsEmpty());
  EXPECT_EQ(list_captures(dir_ / "none").error().code(), Code::not_found);
}

TEST_F(Captures, OfSeveralThreadsNeverCollide) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int n = 0; n < 10; ++n) written("x", {tensor_files::step(n, {tensor_files::tensor("a", values_)})});
    });
  }
  threads.clear();
  const auto list = list_captures(dir_.path());
  ASSERT_THAT(*list, SizeIs(40));
  for (const std::string& path : *list) EXPECT_THAT(opened(path).steps(), SizeIs(1));
}

TEST_F(Captures, NameTheFileThatIsMissingOrDamaged) {
  const std::string path = written("x", {tensor_files::step(3, {tensor_files::tensor("a", values_)})});
  const std::string json = *base::read_file(base::join_path(path, "capture.json"));
  ASSERT_TRUE(base::write_file(base::join_path(path, "capture.json"), json.substr(0, 100)).ok());
  Status status = Capture::open(path).status();
  EXPECT_EQ(status.code(), Code::corrupt);
  EXPECT_THAT(status.message(), HasSubstr("1-x/capture.json"));
  ASSERT_TRUE(base::remove_file(base::join_path(path, "capture.json")).ok());
  status = Capture::open(path).status();
  EXPECT_EQ(status.code(), Code::not_found);
  EXPECT_THAT(status.message(), HasSubstr("1-x/capture.json"));
}

TEST_F(Captures, NameAMissingOrDamagedFileAndShowTheRest) {
  const std::string path = written("x", {tensor_files::step(3, {tensor_files::tensor("a", values_)}),
                                         tensor_files::step(4, {tensor_files::tensor("a", values_)})});
  const std::string file = base::join_path(path, "000000000003.safetensors");
  const std::string good = *base::read_file(file);
  const auto error = [&] {
    const Capture capture = opened(path);
    EXPECT_TRUE(capture.step_file(capture.steps()[1]).ok());
    const Status status = capture.step_file(capture.steps()[0]).status();
    EXPECT_THAT(status.message(), HasSubstr(file));
    return status.code();
  };
  ASSERT_TRUE(base::remove_file(file).ok());
  EXPECT_EQ(error(), Code::not_found);
  ASSERT_TRUE(base::make_directories(file).ok());
  EXPECT_NE(error(), Code::ok);
  std::filesystem::remove(file);
  // Cut off, empty, and with a header that claims all the memory there is.
  std::string claims = good;
  claims.replace(0, 8, "\xff\xff\xff\xff\xff\xff\xff\x7f", 8);
  for (const std::string& bytes : {good.substr(0, good.size() - 4), std::string(), good.substr(0, 5), claims}) {
    ASSERT_TRUE(base::write_file(file, bytes).ok());
    EXPECT_NE(error(), Code::ok);
  }
  // A whole file, but of other tensors.
  ASSERT_TRUE(save_safetensors(file, {{"b", view(values_)}}).ok());
  const Capture capture = opened(path);
  EXPECT_EQ(capture.step_file(capture.steps()[0])->load("activation/a").status().code(), Code::not_found);
}

TEST_F(Captures, WithAnyByteOfTheirJsonChangedAreReadOrRejected) {
  const std::string path = written(
      "x", {tensor_files::step(
               3, {tensor_files::tensor("a", bad_values_), tensor_files::tensor("b", values_, Kind::weight, {"a"})})});
  const std::string json_path = base::join_path(path, "capture.json");
  const std::string json = *base::read_file(json_path);
  std::mt19937 random(5);
  int refused = 0;
  for (int round = 0; round < 500; ++round) {
    std::string damaged = json;
    for (unsigned i = 0; i <= random() % 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    ASSERT_TRUE(base::write_file(json_path, damaged).ok());
    const auto capture = Capture::open(path);
    if (capture) {
      EXPECT_FALSE(find_origin(capture->info()).text().empty());
      for (const CapturedStep& one : capture->steps()) (void)capture->step_file(one);
      continue;
    }
    ++refused;
    ASSERT_THAT(capture.status().message(), HasSubstr(json_path));
  }
  EXPECT_GT(refused, 100);
}

TEST_F(Captures, HoldAStepThatRepeats) {
  const std::vector<flight::Step> steps(300, tensor_files::step(0, {tensor_files::tensor("a", values_)}));
  const Capture capture = opened(written("x", steps));
  EXPECT_EQ(capture.steps()[1].file, "000000000000-2.safetensors");
  EXPECT_EQ(capture.steps()[299].file, "000000000000-300.safetensors");
  EXPECT_TRUE(capture.step_file(capture.steps()[299]).ok());
}

TEST(CapturesOnAFullDisk, LeaveNothingBehind) {
  const std::vector<float> large(1 << 19, 1.0F);  // 2 MiB a tensor
  base::test_on_small_disk(3 << 20, [&](base::SmallDisk& disk) -> int {
    const std::vector<flight::Step> steps = {tensor_files::step(1, {tensor_files::tensor("a", large)}),
                                             tensor_files::step(2, {tensor_files::tensor("a", large)})};
    const auto path = write_capture(disk.path(), tensor_files::info("nan"), each_of(steps));
    if (path.ok() || path.error().code() != Code::no_space) return 1;
    const std::string& message = path.error().message();
    if (message.find("captures/1-nan") == std::string::npos) return 2;
    if (message.find("No space left on device") == std::string::npos) return 3;
    if (!base::names_in(disk / "captures").empty()) return 4;
    // There is space again for a smaller one.
    return write_capture(disk.path(), tensor_files::info("nan"), each_of(std::span(steps).first(1))).ok() ? 0 : 5;
  });
}

TEST_F(Captures, AreCompleteOrAbsentAfterAnyFault) {
  const std::vector<flight::Step> steps = {tensor_files::step(1, {tensor_files::tensor("a", values_)}),
                                           tensor_files::step(2, {tensor_files::tensor("a", values_)})};
  const auto met = base::for_each_fault([&](base::Faults& faults, base::Fault fault) {
    const base::TempDir dir;
    fault.path = dir.path();
    faults.add(fault);
    const auto path = write_capture(dir.path(), tensor_files::info("nan"), each_of(steps));
    faults.clear();
    if (path.ok()) {
      const auto capture = Capture::open(*path);
      ASSERT_TRUE(capture.ok()) << capture.error().message();
      for (const CapturedStep& one : capture->steps()) EXPECT_TRUE(capture->step_file(one).ok());
      EXPECT_THAT(capture->steps(), SizeIs(2));
    } else {
      EXPECT_FALSE(fault.harmless()) << path.error().message();
      EXPECT_THAT(path.error().message(), HasSubstr(dir / "captures"));
      if (fault.operation != base::FileOperation::remove) {
        EXPECT_THAT(base::names_in(dir / "captures"), IsEmpty());
      }
    }
    EXPECT_TRUE(write_capture(dir.path(), tensor_files::info("later"), each_of(steps)).ok());
    for (const std::string& name : base::names_in(dir / "captures")) EXPECT_THAT(name, Not(HasSubstr(".part-")));
  });
  EXPECT_GT(met, 60U);
}

}  // namespace
}  // namespace sonde
