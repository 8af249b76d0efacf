#include "formats/stats_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <limits>

#include "formats/tfrecord.h"

namespace sonde::stats_record {
namespace {

using testing::HasSubstr;

std::vector<std::string> payloads_of(const std::string& file) {
  std::vector<std::string> payloads;
  tfrecord::RecordReader reader(base::as_bytes(file), tfrecord::RecordReader::Tail::complete);
  for (auto found = reader.next(); found != tfrecord::RecordReader::Found::end; found = reader.next()) {
    EXPECT_EQ(found, tfrecord::RecordReader::Found::record);
    payloads.emplace_back(base::as_text(reader.payload()));
  }
  return payloads;
}

stats::Summary some_summary() {
  stats::Summary summary;
  summary.count = 1'000'000;
  summary.nan = 3;
  summary.positive_infinity = 2;
  summary.negative_infinity = 1;
  summary.zeros = 500'000;
  summary.negatives = 250'000;
  summary.min = -0.1;
  summary.max = 1e300;
  summary.mean = 1.0 / 3;
  summary.m2 = std::numeric_limits<double>::denorm_min();
  summary.sum_abs = 12345.678;
  return summary;
}

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

void expect_same(const stats::Summary& a, const stats::Summary& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.nan, b.nan);
  EXPECT_EQ(a.positive_infinity, b.positive_infinity);
  EXPECT_EQ(a.negative_infinity, b.negative_infinity);
  EXPECT_EQ(a.zeros, b.zeros);
  EXPECT_EQ(a.negatives, b.negatives);
  EXPECT_TRUE(same_bits(a.min, b.min) && same_bits(a.max, b.max) && same_bits(a.mean, b.mean));
  EXPECT_TRUE(same_bits(a.m2, b.m2) && same_bits(a.sum_abs, b.sum_abs));
}

template <class T>
T only(const std::string& file) {
  const std::vector<std::string> payloads = payloads_of(file);
  EXPECT_EQ(payloads.size(), 1u);
  const auto record = decode_record(base::as_bytes(payloads.at(0)));
  EXPECT_TRUE(record);
  EXPECT_TRUE(std::holds_alternative<T>(*record));
  return std::get<T>(*record);
}

TEST(StatsRecord, KeepsHeaderDefinitionsAndGaps) {
  const Header header{.writer = "train", .host = "node-7", .pid = 4'000'000'000, .start_time = 1.75e9};
  const Definition definition{.id = 300,
                              .kind = Kind::gradient,
                              .form = {.dtype = DType::bf16, .shape = {-1, 128, 0}},
                              .name = "dense_1/out ü",
                              .inputs = {"conv_1/out", ""}};
  const Gap gap{.id = 300,
                .evaluation = true,
                .first_step = -3,
                .last_step = INT64_MAX,
                .count = 12,
                .reason = GapReason::budget,
                .detail = "given up"};
  const Gap all{.first_step = INT64_MIN, .last_step = 5, .count = UINT64_MAX, .reason = GapReason::write_error};
  std::string file;
  put_header(file, header);
  EXPECT_EQ(only<Header>(file), header);
  file.clear();
  put_definition(file, definition);
  EXPECT_EQ(only<Definition>(file), definition);
  file.clear();
  put_gap(file, gap);
  EXPECT_EQ(only<Gap>(file), gap);
  file.clear();
  put_gap(file, all);
  EXPECT_EQ(only<Gap>(file), all);
}

TEST(StatsRecord, KeepsStepsWithTheirTensorsInOrder) {
  const auto histogram = stats::Histogram::from_bins({{-5000, 1}, {-1, 2}, {0, 300}, {1, 70'000}, {33'000, 5}});
  ASSERT_TRUE(histogram);
  const Form changed{.dtype = DType::f16, .shape = {7, 128}};
  std::string file;
  StepWriter writer(file, -12, 1.75e9, true);
  writer.add({.id = 5}, some_summary(), nullptr);
  writer.add({.id = 2, .occurrence = 3, .form = &changed}, {}, &*histogram);
  writer.end();

  const std::string payload = payloads_of(file).at(0);
  const auto record = decode_record(base::as_bytes(payload));
  ASSERT_TRUE(record);
  const Step& step = std::get<Step>(*record);
  EXPECT_EQ(step.step, -12);
  EXPECT_EQ(step.wall_time, 1.75e9);
  EXPECT_TRUE(step.evaluation);
  ASSERT_EQ(step.entries.size(), 2u);
  EXPECT_EQ(step.entries[0].id, 5u);
  EXPECT_EQ(step.entries[0].occurrence, 0u);
  EXPECT_FALSE(step.entries[0].form);
  EXPECT_FALSE(step.entries[0].histogram);
  expect_same(step.entries[0].summary, some_summary());
  EXPECT_EQ(step.entries[1].id, 2u);
  EXPECT_EQ(step.entries[1].occurrence, 3u);
  EXPECT_EQ(step.entries[1].form, changed);
  expect_same(step.entries[1].summary, {});
  ASSERT_TRUE(step.entries[1].histogram);
  EXPECT_EQ(*decode_histogram(*step.entries[1].histogram), *histogram);
}

TEST(StatsRecord, KeepsAnEmptyStepAndAnEmptyHistogram) {
  const stats::Histogram empty;
  std::string file;
  StepWriter(file, 0, 0, false).end();
  EXPECT_TRUE(only<Step>(file).entries.empty());
  file.clear();
  StepWriter writer(file, 0, 0, false);
  writer.add({}, {}, &empty);
  writer.end();
  const std::string payload = payloads_of(file).at(0);
  const auto record = decode_record(base::as_bytes(payload));
  EXPECT_EQ(*decode_histogram(*std::get<Step>(*record).entries.at(0).histogram), empty);
}

TEST(StatsRecord, TakesAtMost100BytesATensorAndStep) {
  stats::Summary summary = some_summary();
  for (std::uint64_t* count : {&summary.count, &summary.nan, &summary.positive_infinity, &summary.negative_infinity,
                               &summary.zeros, &summary.negatives}) {
    *count = std::uint64_t{1} << 48;
  }
  std::string file;
  StepWriter writer(file, 1'000'000, 1.75e9, false);
  const std::size_t before = file.size();
  writer.add({.id = UINT32_MAX, .occurrence = UINT32_MAX}, summary, nullptr);
  EXPECT_LE(file.size() - before, 100u);
  // A step with a single tensor, framing included, as it is in practice.
  std::string usual;
  StepWriter one(usual, 1'000'000, 1.75e9, false);
  one.add({.id = 100}, some_summary(), nullptr);
  one.end();
  EXPECT_LE(usual.size(), 100u);
}

RC_GTEST_PROP(StatsRecord, BringsBackEveryDoubleBitByBit, ()) {
  stats::Summary summary;
  for (std::uint64_t* count : {&summary.count, &summary.nan, &summary.positive_infinity, &summary.negative_infinity,
                               &summary.zeros, &summary.negatives}) {
    *count = *rc::gen::arbitrary<std::uint64_t>();
  }
  for (double* value : {&summary.min, &summary.max, &summary.mean, &summary.m2, &summary.sum_abs}) {
    *value = std::bit_cast<double>(*rc::gen::arbitrary<std::uint64_t>());  // NaNs with payloads too
  }
  std::string file;
  StepWriter writer(file, 1, 2, false);
  writer.add({}, summary, nullptr);
  writer.end();
  expect_same(only<Step>(file).entries.at(0).summary, summary);
}

RC_GTEST_PROP(StatsRecord, BringsBackEveryHistogram, ()) {
  std::vector<stats::Histogram::Bin> bins;
  const auto keys = *rc::gen::container<std::vector<std::int32_t>>(rc::gen::inRange<std::int32_t>(-33'568, 33'569));
  for (const std::int32_t key : keys) bins.push_back({key, *rc::gen::inRange<std::uint64_t>(1, 1u << 31)});
  const auto histogram = stats::Histogram::from_bins(bins);
  RC_ASSERT(bool{histogram});
  std::string file;
  StepWriter writer(file, 1, 2, false);
  writer.add({}, {}, &*histogram);
  writer.end();
  const std::string payload = payloads_of(file).at(0);
  const auto record = decode_record(base::as_bytes(payload));
  RC_ASSERT(*decode_histogram(*std::get<Step>(*record).entries.at(0).histogram) == *histogram);
}

TEST(StatsRecord, NamesANewerRecordWithoutDecodingIt) {
  std::string file;
  put_header(file, {});
  std::string payload = payloads_of(file).at(0);
  for (const std::size_t byte : {0u, 1u}) {
    std::string newer = payload;
    newer[byte] = 9;
    const auto record = decode_record(base::as_bytes(newer));
    ASSERT_TRUE(record);
    const Newer& kept = std::get<Newer>(*record);
    EXPECT_EQ(byte == 0 ? kept.version : kept.grid, 9);
    EXPECT_EQ(base::as_text(kept.payload), newer);
  }
}

TEST(StatsRecord, NamesARecordOfAnUnknownTypeOrElementType) {
  const std::string type = "\x01\x01\x09 and what it says";
  const auto record = decode_record(base::as_bytes(type));
  ASSERT_TRUE(record);
  EXPECT_EQ(std::get<Newer>(*record).type, 9);
  EXPECT_EQ(base::as_text(std::get<Newer>(*record).payload), type);
  EXPECT_EQ(describe(std::get<Newer>(*record)), "a record of type 9");

  std::string file;
  put_definition(file, {.id = 1, .form = {.dtype = static_cast<DType>(99), .shape = {2}}, .name = "n"});
  const std::string definition = payloads_of(file).at(0);
  const auto element = decode_record(base::as_bytes(definition));
  ASSERT_TRUE(element);
  EXPECT_EQ(describe(std::get<Newer>(*element)), "a tensor of an unknown element type");
  EXPECT_EQ(describe(Newer{.version = 2, .grid = 1}), "statistics of version 2 and grid 1");
}

TEST(StatsRecord, KeepsAKindAndAReasonThatItDoesNotKnow) {
  std::string file;
  const Definition definition = {
      .id = 3, .kind = static_cast<Kind>(9), .form = {.shape = {2}}, .name = "n", .inputs = {"a"}};
  const Gap gap = {.id = 3, .first_step = 1, .last_step = 2, .count = 4, .reason = static_cast<GapReason>(77)};
  put_definition(file, definition);
  put_gap(file, gap);
  const auto payloads = payloads_of(file);
  const auto read_definition = decode_record(base::as_bytes(payloads.at(0)));
  const auto read_gap = decode_record(base::as_bytes(payloads.at(1)));
  ASSERT_TRUE(read_definition && read_gap);
  EXPECT_EQ(std::get<Definition>(*read_definition), definition);
  EXPECT_EQ(to_string(std::get<Definition>(*read_definition).kind), "kind 9");
  EXPECT_EQ(std::get<Gap>(*read_gap), gap);
}

TEST(StatsRecord, SaysThatACutOffOrImpossibleRecordIsCorrupt) {
  std::string file;
  put_header(file, {.writer = "w", .host = "h", .pid = 1, .start_time = 2});
  put_definition(file, {.id = 1, .form = {.shape = {1, 2}}, .name = "n", .inputs = {"a"}});
  put_gap(file, {.detail = "d"});
  for (const std::string& payload : payloads_of(file)) {
    for (std::size_t size = 0; size < payload.size(); ++size) {
      const auto record = decode_record(base::as_bytes(payload).first(size));
      ASSERT_FALSE(record) << size;
      EXPECT_EQ(record.error().code(), Code::corrupt);
      EXPECT_THAT(record.error().message(), HasSubstr("the statistics record is corrupt: "));
    }
  }
  EXPECT_FALSE(decode_histogram(base::as_bytes(std::string("\xff\xff\xff\xff\x0f\x01\x01", 7))));  // billions of bins
  EXPECT_FALSE(
      decode_histogram(base::as_bytes(std::string("\x01\xfe\xff\xff\xff\x0f\x01", 7))));  // a key outside the grid
  EXPECT_FALSE(decode_histogram(base::as_bytes(std::string("\x01\x00\x00", 3))));         // an empty bin
  EXPECT_FALSE(decode_histogram(base::as_bytes(std::string("\x01\x00\x01\x05", 4))));     // trailing bytes
}

TEST(StatsRecord, NeverCrashesOnDamage) {
  const auto histogram = stats::Histogram::from_bins({{-5, 1}, {3, 2}, {4, 300}});
  const Form form{.dtype = DType::u8, .shape = {1, 2, 3}};
  std::string file;
  put_header(file, {.writer = "w", .host = "h", .pid = 1, .start_time = 2});
  put_definition(file, {.id = 1, .form = form, .name = "n", .inputs = {"a"}});
  StepWriter writer(file, 1, 2, false);
  writer.add({.id = 1, .occurrence = 1, .form = &form}, some_summary(), &*histogram);
  writer.end();
  put_gap(file, {.detail = "d"});
  int decoded = 0;
  for (const std::string& payload : payloads_of(file)) {
    for (std::size_t at = 0; at < payload.size(); ++at) {
      for (int bits = 1; bits < 256; ++bits) {
        std::string damaged = payload;
        damaged[at] = static_cast<char>(damaged[at] ^ bits);
        const auto record = decode_record(base::as_bytes(damaged));
        if (!record) {
          ASSERT_EQ(record.error().code(), Code::corrupt);
          continue;
        }
        ++decoded;
        if (const auto* step = std::get_if<Step>(&*record)) {
          for (const Entry& entry : step->entries) {
            if (!entry.histogram) continue;
            const auto bins = decode_histogram(*entry.histogram);
            ASSERT_TRUE(bins || bins.error().code() == Code::corrupt);
          }
        }
      }
    }
  }
  EXPECT_GT(decoded, 0);
}

TEST(StepReader, GivesTheEntriesOneByOneUpToWhereTheRecordIsCorrupt) {
  std::string file;
  const Form form = {DType::f16, {3, 4}};
  stats::Histogram histogram;
  const std::vector<float> data = {1, 2, 3};
  const stats::Summary summary = *stats::summarize(view(data), histogram);
  StepWriter writer(file, -5, 1.5, true);
  for (std::uint32_t i = 0; i < 40; ++i) {
    writer.add({.id = i * 50, .occurrence = i % 3, .form = i % 5 == 0 ? &form : nullptr}, summary,
               i % 2 == 0 ? &histogram : nullptr);
  }
  writer.end();
  const std::string payload = payloads_of(file).at(0);
  const auto record = decode_record(base::as_bytes(payload));
  const auto& step = std::get<Step>(*record);
  ASSERT_EQ(step.entries.size(), 40U);
  for (std::size_t size = 0; size <= payload.size(); ++size) {
    StepReader reader(base::as_bytes(payload).first(size));
    std::size_t count = 0;
    for (Entry entry; reader.next(entry); ++count) {
      const Entry& wanted = step.entries.at(count);
      ASSERT_EQ(entry.id, wanted.id);
      ASSERT_EQ(entry.occurrence, wanted.occurrence);
      ASSERT_EQ(entry.form, wanted.form);
      ASSERT_EQ(entry.summary.sum_abs, wanted.summary.sum_abs);
      ASSERT_EQ(entry.histogram.has_value(), wanted.histogram.has_value());
      if (entry.histogram) {
        ASSERT_EQ(base::as_text(*entry.histogram), base::as_text(*wanted.histogram));
      }
    }
    ASSERT_EQ(reader.status().ok(), decode_record(base::as_bytes(payload).first(size)).ok()) << size;
    Entry entry;
    EXPECT_FALSE(reader.next(entry)) << "once it has ended";
  }
  StepReader whole(base::as_bytes(payload));
  EXPECT_EQ(whole.step(), -5);
  EXPECT_EQ(whole.wall_time(), 1.5);
  EXPECT_TRUE(whole.evaluation());
}

TEST(Definitions, NameATensorWhoseDefinitionWasLost) {
  Definitions definitions;
  definitions.add({.id = 7, .name = "old"});
  definitions.add({.id = 7, .name = "dense_1/out"});
  EXPECT_EQ(definitions.name(7), "dense_1/out");
  EXPECT_EQ(definitions.name(8), "?8");
  EXPECT_EQ(definitions.find(8), nullptr);
  ASSERT_NE(definitions.find(7), nullptr);
  EXPECT_EQ(definitions.find(7)->id, 7u);
}

}  // namespace
}  // namespace sonde::stats_record
