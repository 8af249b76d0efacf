// Precision and recall over thresholds, compared with the golden logs.
#include <gmock/gmock.h>

#include <string>

#include "query/query_testing.h"
#include "tensor/convert.h"

namespace sonde::query {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Written {
  std::string_view writer;
  std::string_view tag;
};
constexpr Written kCurves[] = {{"torch", "curve"}, {"tensorboardx", "curve"}, {"tensorflow", "curve/pr_curves"}};

// The place of the curve, and its recorded values.
struct Curve {
  std::string address;
  std::vector<double> numbers;
  std::size_t thresholds = 0;
};

std::vector<Curve> curves_of(Asked& asked, std::string_view tag) {
  std::vector<Curve> all;
  for (const Run& run : asked.log().runs()) {
    const auto values = run.values(tag, TagKind::pr_curves);
    if (!values) continue;
    for (const ValueRef& value : *values) {
      const Tensor tensor = *run.tensor(value);
      all.push_back({"pr_curve?run=" + run.name() + "&tag=" + std::string(tag) + "&step=" + std::to_string(value.step),
                     *tensor::to_doubles(tensor.view()), static_cast<std::size_t>(tensor.shape[1])});
    }
  }
  return all;
}

TEST(PrCurve, IsAsRecorded) {
  for (const auto& [writer, tag] : kCurves) {
    SCOPED_TRACE(writer);
    Asked asked(kGolden + "/" + std::string(writer));
    const std::vector<Curve> curves = curves_of(asked, tag);
    ASSERT_EQ(curves.size(), 3U);
    for (const Curve& curve : curves) {
      const Json answer(asked.get(curve.address).body);
      std::vector<double> numbers;
      for (const std::string_view row :
           {"/true_positives", "/false_positives", "/true_negatives", "/false_negatives", "/precision", "/recall"}) {
        const std::vector<double> column = answer.numbers(row);
        EXPECT_EQ(column.size(), curve.thresholds);
        numbers.insert(numbers.end(), column.begin(), column.end());
      }
      EXPECT_EQ(numbers, curve.numbers);
    }
  }
}

TEST(PrCurve, HasThresholdsFromZeroToOne) {
  Asked asked(kGolden + "/torch");
  const Curve curve = curves_of(asked, "curve").front();
  const std::vector<double> thresholds = Json(asked.get(curve.address).body).numbers("/thresholds");
  ASSERT_EQ(thresholds.size(), curve.thresholds);
  EXPECT_EQ(thresholds.front(), 0);
  EXPECT_EQ(thresholds.back(), 1);
  EXPECT_DOUBLE_EQ(thresholds[1], 1.0 / static_cast<double>(curve.thresholds - 1));
}

TEST(PrCurve, IsAskedOfCurvesAtStepsThatTheyHave) {
  Asked asked(kGolden + "/torch");
  EXPECT_EQ(asked.get("pr_curve?run=train&tag=curve").status, 400);
  EXPECT_EQ(asked.get("pr_curve?run=train&tag=curve&step=1&most=3").status, 400);
  EXPECT_EQ(asked.get("pr_curve?run=train&tag=weights&step=1").status, 404);
  const Answer none = asked.get("pr_curve?run=train&tag=curve&step=77");
  EXPECT_EQ(none.status, 404);
  EXPECT_THAT(none.body, HasSubstr("the nearest step is 2"));
}

// A value of the plugin with a tensor of any shape.
std::string curve_of(const std::vector<std::int64_t>& dims, std::size_t count) {
  std::string shape;
  for (const std::int64_t dim : dims) {
    std::string one;
    wire::put_integer_unless_zero(one, 1, dim);
    wire::put_bytes(shape, 2, one);
  }
  const std::vector<float> numbers(count, 0.5F);
  std::string tensor;
  wire::put_integer_unless_zero(tensor, 1, 1);
  wire::put_bytes(tensor, 2, shape);
  wire::put_bytes(tensor, 4, {reinterpret_cast<const char*>(numbers.data()), count * sizeof(float)});
  std::string plugin;
  wire::put_bytes(plugin, 1, "pr_curves");
  std::string metadata;
  wire::put_bytes(metadata, 1, plugin);
  std::string value;
  wire::put_bytes(value, 1, "curve");
  wire::put_bytes(value, 8, tensor);
  wire::put_bytes(value, 9, metadata);
  std::string summary;
  wire::put_bytes(summary, 1, value);
  std::string file;
  tfevents::put_summary_event(file, index::kStart, 1, summary);
  return file;
}

Answer answer_of(const std::string& events) {
  base::TempDir dir;
  index::append(dir / std::string("r/") + std::string(index::kEvents), index::version() + events);
  return Asked(dir.path()).get("pr_curve?run=r&tag=curve&step=1");
}

TEST(PrCurve, OfOneThresholdIsOne) {
  const Answer answer = answer_of(curve_of({6, 1}, 6));
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(Json(answer.body).numbers("/thresholds"), ElementsAre(0));
  EXPECT_THAT(Json(answer.body).numbers("/recall"), ElementsAre(0.5));
}

TEST(PrCurve, OfAnotherShapeIsNamedAndNotGuessed) {
  for (const Answer& answer : {answer_of(curve_of({5, 3}, 15)), answer_of(curve_of({6}, 6)),
                               answer_of(curve_of({6, 0}, 0)), answer_of(curve_of({1, 6, 2}, 12))}) {
    EXPECT_EQ(answer.status, 404) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("six rows"));
  }
}

TEST(PrCurve, HasNoEndlessAnswer) { EXPECT_EQ(answer_of(curve_of({6, 100'001}, 600'006)).status, 413); }

}  // namespace
}  // namespace sonde::query
