#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "query/query_testing.h"
#include "tensor_files/captures_testing.h"

namespace sonde::query {
namespace {

using index::append;
using index::kEvents;
using index::scalar;
using index::version;
using tensor_files::step;
using tensor_files::tensor;
using testing::HasSubstr;

// A run whose capture has two steps: in the second one `b` has a NaN.
class Captured : public testing::Test {
 protected:
  Captured() {
    append(dir_ / "logs/a/" + std::string(kEvents), version() + scalar("x", 1, 1));
    CaptureInfo info = tensor_files::info("nan");
    info.when = "nonfinite('.*')";
    info.values = {{"nonfinite('.*')", 1}};
    const std::vector<flight::Step> steps = {
        step(6, {tensor("a", small_), tensor("b", large_, Kind::activation, {"a"})}),
        step(7, {tensor("a", small_), tensor("b", bad_, Kind::activation, {"a"})})};
    const auto path = tensor_files::write_capture(dir_ / "logs/a", info, tensor_files::each_of(steps));
    EXPECT_TRUE(path) << path.status().message();
    if (path) path_ = *path;
  }
  std::string logs() const { return dir_ / "logs"; }

  base::TempDir dir_;
  std::string path_;
  const std::vector<float> small_ = {1, -2};
  const std::vector<float> large_ = {30, -40};
  const std::vector<float> bad_ = {500, std::nanf("")};
};

TEST_F(Captured, AreListedWithReasonExpressionValuesAndProducer) {
  const Json list(Asked(logs()).get("captures").body);
  ASSERT_EQ(list.size("/captures"), 1U);
  EXPECT_EQ(list.text("/captures/0/run"), "a");
  EXPECT_EQ(list.text("/captures/0/name"), "1-nan");
  EXPECT_EQ(list.text("/captures/0/reason"), "nan");
  EXPECT_EQ(list.text("/captures/0/when"), "nonfinite('.*')");
  EXPECT_EQ(list.number("/captures/0/values/0/value"), 1);
  EXPECT_EQ(list.number("/captures/0/step"), 7);
  EXPECT_EQ(list.number("/captures/0/steps"), 2);
  EXPECT_EQ(list.number("/captures/0/tensors"), 4);
  EXPECT_EQ(list.text("/captures/0/producer"), "activation/b");
  EXPECT_TRUE(list.at("/captures/0/problem").is_null());
  EXPECT_EQ(list.number("/older"), 0);
}

TEST_F(Captured, OneThatCannotBeReadIsListedWithTheReason) {
  append(dir_ / "logs/a/captures/2-broken/capture.json", "{");
  const Asked asked(logs());
  const Json list(asked.get("captures").body);
  ASSERT_EQ(list.size("/captures"), 2U);
  EXPECT_EQ(list.text("/captures/1/name"), "2-broken");
  EXPECT_NE(list.text("/captures/1/problem"), "");
  EXPECT_EQ(asked.get("capture?run=a&name=2-broken").status, 404);
}

TEST_F(Captured, GrowthIsThatOfTheSavedValues) {
  const Asked asked(logs());
  const Json growth(asked.get("capture/growth?run=a&name=1-nan&key=activation/b").body);
  ASSERT_EQ(growth.size("/steps"), 2U);
  EXPECT_EQ(growth.number("/steps/0/step"), 6);
  EXPECT_EQ(growth.number("/steps/0/min"), -40);
  EXPECT_EQ(growth.number("/steps/0/max"), 30);
  EXPECT_DOUBLE_EQ(growth.number("/steps/0/rms"), std::sqrt((30.0 * 30 + 40 * 40) / 2));
  EXPECT_EQ(growth.number("/steps/1/nan"), 1);
  EXPECT_EQ(growth.number("/steps/1/max"), 500);
  EXPECT_EQ(growth.number("/steps/1/rms"), 500);
  const Answer none = asked.get("capture/growth?run=a&name=1-nan&key=activation/c");
  EXPECT_EQ(none.status, 404);
  EXPECT_THAT(none.body, HasSubstr("has no tensor 'activation/c'"));
}

TEST_F(Captured, MissingFilesAndFilesOutsideAreNamedAndTheRestIsAnswered) {
  const Json whole(Asked(logs()).get("capture?run=a&name=1-nan").body);
  EXPECT_THAT(whole.texts("/problems"), testing::ElementsAre("", ""));
  const std::string file = whole.text("/steps/1/file");
  std::filesystem::remove(base::join_path(path_, file));
  const Asked asked(logs());
  const Json capture(asked.get("capture?run=a&name=1-nan").body);
  EXPECT_THAT(capture.texts("/problems"), testing::ElementsAre("", "the file " + file + " is missing"));
  EXPECT_EQ(Json(asked.get("capture/growth?run=a&name=1-nan&key=activation/b").body).size("/steps"), 1U);
  // A name from a file must not lead out of the capture.
  std::string json = *base::read_file(base::join_path(path_, "capture.json"));
  const std::size_t at = json.find(file);
  ASSERT_NE(at, std::string::npos);
  json.replace(at, file.size(), "../../../secret.safetensors");
  ASSERT_TRUE(base::write_file(base::join_path(path_, "capture.json"), json));
  EXPECT_EQ(Asked(logs()).get("capture?run=a&name=1-nan").status, 404);
}

}  // namespace
}  // namespace sonde::query
