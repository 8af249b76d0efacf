#include "formats/tfevents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "formats/graph_def.h"
#include "formats/tfevents_decode.h"
#include "formats/tfrecord.h"

namespace sonde::tfevents {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string only_payload(const std::string& file) {
  tfrecord::RecordReader reader(base::as_bytes(file), tfrecord::RecordReader::Tail::complete);
  EXPECT_EQ(reader.next(), tfrecord::RecordReader::Found::record);
  std::string payload(base::as_text(reader.payload()));
  EXPECT_EQ(reader.next(), tfrecord::RecordReader::Found::end);
  return payload;
}

// A decoded event together with the bytes that it views.
struct Held {
  std::string payload;
  Event event;
};
Held only_event(const std::string& file) {
  Held held{.payload = only_payload(file), .event = {}};
  EXPECT_TRUE(decode_event(base::as_bytes(held.payload), held.event));
  return held;
}
Held event_of_summary(const std::string& summary) {
  std::string file;
  put_summary_event(file, 1.5, 7, summary);
  return only_event(file);
}

TEST(TfeventsWrite, BeginsWithTheVersion) {
  std::string file;
  put_version_event(file, 1234.5);
  const Held held = only_event(file);
  EXPECT_EQ(held.event.what, Event::What::file_version);
  EXPECT_EQ(held.event.text, "brain.Event:2");
  EXPECT_EQ(held.event.source_writer, "sonde");
  EXPECT_EQ(held.event.wall_time, 1234.5);
  EXPECT_EQ(held.event.step, 0);
}

TEST(TfeventsWrite, AScalarEventIsASummaryWithOneScalar) {
  for (const std::int64_t step : {std::int64_t{0}, std::int64_t{1}, std::int64_t{127}, std::int64_t{128},
                                  std::int64_t{-1}, INT64_MIN, INT64_MAX}) {
    for (const std::size_t tag_size : {0u, 1u, 100u, 127u, 128u, 200u, 10'000u, 16'384u}) {
      for (const Precision precision : {Precision::f32, Precision::f64}) {
        for (const bool with_metadata : {false, true}) {
          for (const double wall_time : {0.0, 1.75e9}) {
            const std::string tag(tag_size, 't');
            std::string hot = "before";
            put_scalar_event(hot, wall_time, step, tag, 0.1, precision, with_metadata);
            std::string summary;
            put_scalar(summary, tag, 0.1, precision, with_metadata);
            std::string plain = "before";
            put_summary_event(plain, wall_time, step, summary);
            ASSERT_EQ(hot, plain) << step << " " << tag_size;
          }
        }
      }
    }
  }
}

TEST(TfeventsWrite, KeepsScalarsStepsTagsAndTimes) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.0, -1.25, 1e300, infinity, -infinity, std::nan("")}) {
    std::string file;
    put_scalar_event(file, 1.75e9, -5, "a/\n ü", value, Precision::f64, true);
    const Held held = only_event(file);
    EXPECT_EQ(held.event.step, -5);
    EXPECT_EQ(held.event.wall_time, 1.75e9);
    ASSERT_EQ(held.event.values.size(), 1u);
    const Value& read = held.event.values[0];
    EXPECT_EQ(read.tag, "a/\n ü");
    EXPECT_EQ(read.plugin_name(), "scalars");
    EXPECT_EQ(read.metadata.data_class, DataClass::scalar);
    const auto scalar = as_scalar(read);
    ASSERT_TRUE(scalar);
    EXPECT_TRUE(*scalar == value || (std::isnan(*scalar) && std::isnan(value)));
  }
}

TEST(TfeventsWrite, RoundsScalarsToFloatByDefault) {
  std::string summary;
  put_scalar(summary, "a", 0.1, Precision::f32, false);
  put_scalar(summary, "b", 1e300, Precision::f32, false);
  const Held held = event_of_summary(summary);
  EXPECT_EQ(*as_scalar(held.event.values[0]), static_cast<double>(0.1f));
  EXPECT_EQ(*as_scalar(held.event.values[1]), std::numeric_limits<double>::infinity());
  EXPECT_EQ(held.event.values[0].tensor.tf_dtype, 1);
}

TEST(TfeventsWrite, WritesMetadataOnlyWhenAsked) {
  std::string summary;
  put_scalar(summary, "a", 1, Precision::f32, false);
  put_histogram(summary, "b", {}, false);
  put_images(summary, "c", 1, 1, {}, false);
  put_audio(summary, "d", {}, false);
  put_text(summary, "e", "text", false);
  put_pr_curve(summary, "f", {}, false);
  ASSERT_TRUE(put_custom_scalars(summary, {}, false));
  const float point[3] = {};
  ASSERT_TRUE(put_mesh_part(summary, "g", MeshPart::vertices, view(point, {1, 3}), {}, false));
  ASSERT_TRUE(put_tensor(summary, "h", view(point, {3}), "plugin", "content", DataClass::tensor, false));
  const Held held = event_of_summary(summary);
  ASSERT_EQ(held.event.values.size(), 9u);
  for (const Value& value : held.event.values) EXPECT_FALSE(value.has_metadata) << value.tag;
}

TEST(TfeventsWrite, KeepsHistograms) {
  const std::vector<stats::Bucket> buckets = {{-1, 0, 3}, {0, 0.1, 5}};
  std::string summary;
  put_histogram(summary, "weights", buckets, true);
  put_histogram(summary, "empty", {}, true);
  const Held held = event_of_summary(summary);
  const auto read = as_histogram(held.event.values[0]);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[1].right, 0.1);
  EXPECT_EQ((*read)[1].count, 5);
  EXPECT_EQ(held.event.values[0].plugin_name(), "histograms");
  EXPECT_EQ(held.event.values[0].metadata.data_class, DataClass::tensor);
  EXPECT_TRUE(as_histogram(held.event.values[1])->empty());
}

TEST(TfeventsWrite, KeepsImagesWithTheirSize) {
  const std::string large(1 << 20, 'p');
  const std::vector<std::string_view> pngs = {"png0", large, ""};
  std::string summary;
  put_images(summary, "images", 640, 480, pngs, true);
  const Held held = event_of_summary(summary);
  const auto images = as_images(held.event.values[0]);
  ASSERT_TRUE(images);
  EXPECT_EQ(images->width, 640);
  EXPECT_EQ(images->height, 480);
  ASSERT_EQ(images->encoded.size(), 3u);
  EXPECT_EQ(base::as_text(images->encoded[0]), "png0");
  EXPECT_EQ(base::as_text(images->encoded[1]), large);
  EXPECT_EQ(held.event.values[0].metadata.data_class, DataClass::blob_sequence);
}

TEST(TfeventsWrite, KeepsAudioWithItsLabels) {
  const std::vector<AudioClip> clips = {{"wav0", "*label*"}, {"wav1", ""}};
  std::string summary;
  put_audio(summary, "audio", clips, true);
  const Held held = event_of_summary(summary);
  const auto read = as_audio(held.event.values[0]);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ(base::as_text((*read)[0].encoded), "wav0");
  EXPECT_EQ((*read)[0].label, "*label*");
  EXPECT_EQ(base::as_text((*read)[1].encoded), "wav1");
  EXPECT_EQ(base::as_text(held.event.values[0].metadata.plugin_content), "\x10\x0b");
}

TEST(TfeventsWrite, GivesOneTextRankZeroAndAListRankOne) {
  const std::vector<std::string_view> lines = {"a", "", "c"};
  std::string summary;
  put_text(summary, "one", "# title", true);
  put_text(summary, "list", lines, true);
  const Held held = event_of_summary(summary);
  EXPECT_EQ(held.event.values[0].tensor.shape, Shape());
  EXPECT_THAT(*as_strings(held.event.values[0].tensor), ElementsAre("# title"));
  EXPECT_EQ(held.event.values[1].tensor.shape, Shape({3}));
  EXPECT_THAT(*as_strings(held.event.values[1].tensor), ElementsAre("a", "", "c"));
}

TEST(TfeventsWrite, KeepsAnyTensorForAnyPlugin) {
  const std::vector<std::int16_t> numbers = {1, -2, 3, -4, 5, -6};
  std::string summary;
  ASSERT_TRUE(put_tensor(summary, "t", view(numbers.data(), {3, 2}, {1, 3}), "my_plugin", "my content",
                         DataClass::tensor, true));  // transposed
  const float scalar = 2.5f;
  ASSERT_TRUE(put_tensor(summary, "s", view(&scalar, {}), "my_plugin", "", DataClass::unknown, true));
  ASSERT_TRUE(put_tensor(summary, "e", view(&scalar, {0, 3}), "my_plugin", "", DataClass::tensor, true));
  const Held held = event_of_summary(summary);
  const Value& value = held.event.values[0];
  EXPECT_EQ(value.plugin_name(), "my_plugin");
  EXPECT_EQ(base::as_text(value.metadata.plugin_content), "my content");
  EXPECT_EQ(value.tensor.shape, Shape({3, 2}));
  EXPECT_THAT(*as_doubles(value.tensor), ElementsAre(1, -4, -2, 5, 3, -6));
  EXPECT_EQ(*as_scalar(held.event.values[1]), 2.5);
  EXPECT_TRUE(as_doubles(held.event.values[2].tensor)->empty());
}

TEST(TfeventsWrite, RejectsAnInvalidTensorAndAppendsNothing) {
  std::string summary = "before";
  const Status status =
      put_tensor(summary, "t", view(static_cast<const float*>(nullptr), {3}), "p", "", DataClass::tensor, true);
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_THAT(status.message(), HasSubstr("'t'"));
  EXPECT_EQ(summary, "before");
}

TEST(PrCurve, CountsByDefinition) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> predictions(500);
  std::vector<std::uint8_t> labels(predictions.size());
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    predictions[i] = uniform(random);
    labels[i] = uniform(random) < predictions[i];
  }
  predictions[0] = 0;
  predictions[1] = 1;
  constexpr int kThresholds = 33;  // multiples of 1/32 are exact
  const auto curve = pr_curve(view(labels), view(predictions), kThresholds);
  ASSERT_TRUE(curve);
  ASSERT_EQ(curve->values.size(), 6u * kThresholds);
  for (std::size_t t = 0; t < kThresholds; ++t) {
    double tp = 0, fp = 0, tn = 0, fn = 0;
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      const bool positive = predictions[i] >= static_cast<double>(t) / (kThresholds - 1);
      (labels[i] != 0 ? (positive ? tp : fn) : (positive ? fp : tn)) += 1;
    }
    const auto row = [&](std::size_t r) { return curve->values[r * kThresholds + t]; };
    EXPECT_EQ(row(0), tp) << t;
    EXPECT_EQ(row(1), fp) << t;
    EXPECT_EQ(row(2), tn) << t;
    EXPECT_EQ(row(3), fn) << t;
    EXPECT_FLOAT_EQ(row(4), static_cast<float>(tp / std::max(1e-7, tp + fp))) << t;
    EXPECT_FLOAT_EQ(row(5), static_cast<float>(tp / (tp + fn))) << t;
  }
}

TEST(PrCurve, CountsPredictionsOutsideTheRangeAtItsEnds) {
  const std::vector<float> predictions = {-0.5f, 1.0000001f, 7};
  const std::uint8_t labels[] = {1, 1, 0};
  const auto curve = pr_curve(view(labels), view(predictions), 2);
  ASSERT_TRUE(curve);
  EXPECT_THAT(curve->values, ElementsAre(2, 1, 1, 1, 0, 0, 0, 1, 2.0f / 3, 0.5f, 1, 0.5f));
}

TEST(PrCurve, OfNothingIsZero) {
  const auto curve = pr_curve(view(std::vector<float>()), view(std::vector<float>()), 5);
  ASSERT_TRUE(curve);
  EXPECT_THAT(curve->values, testing::Each(0.0f));
}

TEST(PrCurve, RejectsInvalidInput) {
  const std::vector<float> two = {0, 1};
  const std::vector<float> three = {0, 1, 0.5f};
  const std::vector<float> bad = {0, std::nanf("")};
  EXPECT_THAT(pr_curve(view(two), view(three), 10).error().message(), HasSubstr("2 and 3"));
  EXPECT_THAT(pr_curve(view(two), view(bad), 10).error().message(), HasSubstr("prediction 1 is NaN"));
  for (const int thresholds : {-1, 0, 1, 1'000'001}) {
    EXPECT_EQ(pr_curve(view(two), view(two), thresholds).error().code(), Code::invalid_argument) << thresholds;
  }
  EXPECT_EQ(pr_curve(view(two, {3}), view(three), 10).error().code(), Code::invalid_argument);
}

TEST(PrCurve, IsWrittenWithItsNumberOfThresholds) {
  const std::vector<float> two = {0, 1};
  std::string summary;
  put_pr_curve(summary, "pr", *pr_curve(view(two), view(two), 127), true);
  const Held held = event_of_summary(summary);
  EXPECT_EQ(held.event.values[0].tensor.shape, Shape({6, 127}));
  EXPECT_EQ(base::as_text(held.event.values[0].metadata.plugin_content), "\x10\x7f");
}

TEST(Mesh, WritesItsPartsUnderTheirTagsInTheirTypes) {
  const std::vector<double> vertices = {0, 0, 0, 1, 0, 0, 0, 1, 0.5};
  const std::vector<std::int64_t> faces = {0, 1, 2};
  const std::vector<std::uint8_t> colors = {255, 0, 0, 0, 255, 0, 0, 0, 255};
  const TensorView face_view = view(faces, {1, 1, 3});
  const TensorView color_view = view(colors, {3, 3});
  const MeshOptions options{.colors = &color_view, .faces = &face_view};
  std::string summary;
  ASSERT_TRUE(put_mesh_part(summary, "m", MeshPart::vertices, view(vertices, {3, 3}), options, true));
  ASSERT_TRUE(put_mesh_part(summary, "m", MeshPart::faces, face_view, options, true));
  ASSERT_TRUE(put_mesh_part(summary, "m", MeshPart::colors, color_view, options, true));
  const Held held = event_of_summary(summary);
  ASSERT_EQ(held.event.values.size(), 3u);
  EXPECT_EQ(held.event.values[0].tag, "m_VERTEX");
  EXPECT_EQ(held.event.values[1].tag, "m_FACE");
  EXPECT_EQ(held.event.values[2].tag, mesh_tag("m", MeshPart::colors));
  EXPECT_EQ(held.event.values[0].tensor.tf_dtype, 1);
  EXPECT_EQ(held.event.values[1].tensor.tf_dtype, 3);
  EXPECT_EQ(held.event.values[2].tensor.tf_dtype, 4);
  EXPECT_EQ(held.event.values[0].tensor.shape, Shape({1, 3, 3}));
  EXPECT_EQ(*as_doubles(held.event.values[0].tensor), vertices);
  EXPECT_THAT(*as_doubles(held.event.values[1].tensor), ElementsAre(0, 1, 2));
}

TEST(Mesh, RejectsInvalidMeshes) {
  const std::vector<float> numbers(12);
  const std::vector<std::int64_t> huge = {0, 1, std::int64_t{1} << 40};
  const std::vector<float> half = {0.5f, 0, 0};
  std::string summary;
  for (const Shape& shape : {Shape({12}), Shape({3, 4}), Shape({2, 2, 1, 3})}) {
    EXPECT_EQ(put_mesh_part(summary, "m", MeshPart::vertices, view(numbers, shape), {}, true).code(),
              Code::invalid_argument);
  }
  EXPECT_THAT(put_mesh_part(summary, "m", MeshPart::faces, view(huge, {1, 3}), {}, true).message(),
              HasSubstr("integers that fit i32"));
  EXPECT_THAT(put_mesh_part(summary, "m", MeshPart::colors, view(half, {1, 3}), {}, true).message(),
              HasSubstr("integers that fit u8"));
  EXPECT_TRUE(summary.empty());
}

TEST(CustomScalars, RejectAMarginChartWithoutItsThreeTags) {
  const std::vector<ChartCategory> layout = {
      {.title = "c", .charts = {{.title = "bad", .tags = {"a", "b"}, .margin = true}}}};
  std::string summary;
  const Status status = put_custom_scalars(summary, layout, true);
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_THAT(status.message(), HasSubstr("'bad' has 2 tags"));
  EXPECT_TRUE(summary.empty());
}

TEST(HParams, CarryTheirDataInTheMetadata) {
  const HParams hparams{.values = {{"lr", 0.1}, {"layers", std::int64_t{3}}, {"bias", false}, {"optimizer", "adam"}},
                        .metrics = {"loss"},
                        .group = "g"};
  std::string summary;
  put_hparams_experiment(summary, hparams, 10.5);
  put_hparams_session_start(summary, hparams, 11.5);
  put_hparams_session_end(summary, SessionStatus::success, 12.5);
  const Held held = event_of_summary(summary);
  ASSERT_EQ(held.event.values.size(), 3u);
  EXPECT_EQ(held.event.values[0].tag, kHParamsExperimentTag);
  EXPECT_EQ(held.event.values[1].tag, kHParamsSessionStartTag);
  EXPECT_EQ(held.event.values[2].tag, kHParamsSessionEndTag);
  for (const Value& value : held.event.values) {
    EXPECT_EQ(value.plugin_name(), "hparams");
    EXPECT_EQ(value.tensor.shape, Shape({0}));
    EXPECT_FALSE(value.metadata.plugin_content.empty());
  }
  EXPECT_THAT(base::as_text(held.event.values[1].metadata.plugin_content), HasSubstr("optimizer"));
}

TEST(TfeventsWrite, KeepsTheDomainsOfHParams) {
  const HParams hparams = {.values = {{"lr", 0.5}, {"name", std::string("x")}},
                           .domains = {{"name", {std::string("choice")}}}};
  std::string summary;
  put_hparams_experiment(summary, hparams, 10.5);
  const Held held = event_of_summary(summary);
  EXPECT_THAT(base::as_text(held.event.values.at(0).metadata.plugin_content), HasSubstr("choice"));
}

TEST(TfeventsWrite, SaysWhereASessionBeginsAgain) {
  std::string file;
  put_session_start_event(file, 3.5, 40);
  const Held held = only_event(file);
  EXPECT_EQ(held.event.what, Event::What::session_log);
  EXPECT_EQ(held.event.step, 40);
}

TEST(TfeventsWrite, KeepsGraphs) {
  std::string file;
  put_graph_event(file, 3.5, "graph bytes");
  const Held held = only_event(file);
  EXPECT_EQ(held.event.what, Event::What::graph_def);
  EXPECT_EQ(base::as_text(held.event.bytes), "graph bytes");
}

}  // namespace
}  // namespace sonde::tfevents
