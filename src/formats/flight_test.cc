#include "formats/flight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/crc32c.h"
#include "formats/file_testing.h"
#include "formats/flight_layout.h"

namespace sonde::flight {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A ring's file, written entry by entry; sinks/flight_ring.h has the writer that goes round.
class RingImage {
 public:
  explicit RingImage(std::uint64_t capacity = 2048, std::vector<std::string> allowed = {})
      : file_(encode_header({.host = "box", .pid = 42, .writer = "w.1", .start_time = 1.5}, capacity, allowed)),
        capacity_(capacity) {
    file_.resize(kHeaderBytes + capacity);
  }

  // The positions of the step's first entry, and of this one.
  std::uint64_t tensor(std::int64_t step, std::uint64_t first, std::string_view name, std::span<const float> values,
                       Kind kind = Kind::activation) {
    std::string meta;
    put_tensor_meta(meta, {.step = step,
                           .wall_time = 10,
                           .kind = kind,
                           .name = name,
                           .dtype = DType::f32,
                           .shape = {static_cast<std::int64_t>(values.size())}});
    return entry(EntryType::tensor, first, meta, std::as_bytes(values));
  }
  std::uint64_t step_end(std::int64_t step, std::uint64_t first, std::uint64_t tensors) {
    std::string meta;
    const std::pair<std::string_view, double> loss = {"loss", 0.25};
    put_step_end_meta(meta, {.step = step, .wall_time = 20, .tensors = tensors, .dropped = 1, .scalars = {&loss, 1}});
    const std::uint64_t position = entry(EntryType::step_end, first, meta, {});
    set_end(position_);
    return position;
  }
  // A step of one tensor.
  std::uint64_t step(std::int64_t number) {
    const float values[] = {static_cast<float>(number), 1, 2};
    const std::uint64_t first = tensor(number, position_, "x", values);
    step_end(number, first, 1);
    return first;
  }

  std::uint64_t entry(EntryType type, std::uint64_t first, std::string_view meta, base::Bytes data) {
    return entry({.type = type,
                  .position = position_,
                  .step = first,
                  .size = entry_size(meta.size(), data.size()),
                  .data_bytes = data.size(),
                  .meta_bytes = static_cast<std::uint32_t>(meta.size()),
                  .body_checksum = base::crc32c_append(base::crc32c(base::as_bytes(meta)), data)},
                 meta, data);
  }
  std::uint64_t entry(EntryHeader header, std::string_view meta, base::Bytes data) {
    header.sequence = ++sequence_;
    std::byte* at = bytes() + kHeaderBytes + position_ % capacity_;
    if (!meta.empty()) std::memcpy(at + kUnit, meta.data(), meta.size());
    if (!data.empty()) std::memcpy(at + kUnit + round_up(meta.size()), data.data(), data.size());
    store_entry_header(at, header);
    position_ += header.size;
    return header.position;
  }
  void filler() {
    const std::uint64_t size = capacity_ - position_ % capacity_;
    entry({.type = EntryType::filler, .position = position_, .step = position_, .size = size}, {}, {});
  }

  void set_begin(std::uint64_t position) { std::memcpy(bytes() + kBeginOffset, &position, sizeof position); }
  void set_end(std::uint64_t position) { std::memcpy(bytes() + kEndOffset, &position, sizeof position); }
  void damage(std::uint64_t position) { file_[kHeaderBytes + position % capacity_] ^= 1; }

  std::byte* bytes() { return reinterpret_cast<std::byte*>(file_.data()); }
  std::string& file() { return file_; }
  std::uint64_t position() const { return position_; }
  Result<Contents> read() const { return flight::read(base::as_bytes(file_)); }

 private:
  std::string file_;
  std::uint64_t capacity_;
  std::uint64_t position_ = 0;
  std::uint64_t sequence_ = 0;
};

std::vector<std::int64_t> numbers(const Result<Contents>& contents) {
  std::vector<std::int64_t> found;
  EXPECT_TRUE(contents.ok()) << contents.status().message();
  if (!contents.ok()) return found;
  for (const Step& step : contents->steps) found.push_back(step.step);
  return found;
}

TEST(FlightFormat, SaysWhoseRingItIs) {
  const auto contents = RingImage(2048, {"mask", "attention/.*"}).read();
  ASSERT_TRUE(contents.ok());
  EXPECT_EQ(contents->identity.host, "box");
  EXPECT_EQ(contents->identity.pid, 42u);
  EXPECT_EQ(contents->identity.writer, "w.1");
  EXPECT_EQ(contents->identity.start_time, 1.5);
  EXPECT_THAT(contents->allow_negative_infinity, ElementsAre("mask", "attention/.*"));
  EXPECT_TRUE(contents->steps.empty());
  EXPECT_EQ(contents->torn, 0u);
}

TEST(FlightFormat, KeepsAsManySelectorsAsTheHeaderHolds) {
  const std::vector<std::string> many(100, std::string(100, 's'));
  const std::string page = encode_header({.host = std::string(5000, 'h'), .writer = std::string(5000, 'w')}, 64, many);
  ASSERT_EQ(page.size(), kHeaderBytes);
  const auto contents = read(base::as_bytes(page + std::string(64, '\0')));
  ASSERT_TRUE(contents.ok());
  EXPECT_GT(contents->allow_negative_infinity.size(), 10u);
  EXPECT_LT(contents->allow_negative_infinity.size(), 100u);
  EXPECT_EQ(contents->allow_negative_infinity.back(), many[0]);
}

TEST(FlightFormat, MayBeGivenOtherSelectorsWhileItIsInUse) {
  const Identity identity = {.host = "box", .pid = 42, .writer = "w.1", .start_time = 1.5};
  std::string file = encode_header(identity, 64, std::vector<std::string>{"mask"}) + std::string(64, '\0');
  for (const std::string selector : {"a", "b", "c"}) {
    replace_selectors(std::as_writable_bytes(std::span(file)), identity, std::vector{selector, selector});
    const auto contents = read(base::as_bytes(file));
    ASSERT_TRUE(contents.ok());
    EXPECT_THAT(contents->allow_negative_infinity, ElementsAre(selector, selector));
    EXPECT_EQ(contents->identity.writer, "w.1");
  }
}

TEST(FlightFormat, GivesStepsWithTheirTensorsAndScalars) {
  RingImage ring;
  ring.step(5);
  const float more[] = {7, 8};
  const std::uint64_t first = ring.tensor(6, ring.position(), "a", more);
  ring.tensor(6, first, "b", {});
  const auto contents = ring.read();
  ASSERT_THAT(numbers(contents), ElementsAre(5, 6));
  const Step& five = contents->steps[0];
  EXPECT_TRUE(five.complete);
  EXPECT_EQ(five.wall_time, 20);
  EXPECT_EQ(five.dropped, 1u);
  EXPECT_THAT(five.scalars, ElementsAre(std::pair("loss", 0.25)));
  ASSERT_EQ(five.tensors.size(), 1u);
  EXPECT_EQ(static_cast<const float*>(five.tensors[0].view.data)[0], 5);
  const Step& six = contents->steps[1];
  EXPECT_FALSE(six.complete);
  EXPECT_EQ(six.wall_time, 10);
  ASSERT_EQ(six.tensors.size(), 2u);
  EXPECT_EQ(six.tensors[0].name, "a");
  EXPECT_EQ(six.tensors[1].name, "b");
  EXPECT_EQ(contents->torn, 0u);
}

TEST(FlightFormat, KeepsATensorOfAKindThatItDoesNotKnow) {
  RingImage ring;
  const float values[] = {7, 8};
  const std::uint64_t first = ring.tensor(6, ring.position(), "a", values, Kind{9});
  ring.step_end(6, first, 1);
  const auto contents = ring.read();
  ASSERT_THAT(numbers(contents), ElementsAre(6));
  ASSERT_EQ(contents->steps[0].tensors.size(), 1u);
  EXPECT_EQ(to_string(contents->steps[0].tensors[0].kind), "kind 9");
  EXPECT_EQ(contents->torn, 0u);
}

TEST(FlightFormat, FollowsAFillerRoundTheEndOfTheFile) {
  RingImage ring(1024);  // a step takes 320: the fourth does not fit in front of the end
  std::vector<std::uint64_t> first;
  for (int step = 0; step < 3; ++step) first.push_back(ring.step(step));
  ring.filler();
  ring.set_begin(first[1]);
  ring.step(3);
  const auto contents = ring.read();
  EXPECT_THAT(numbers(contents), ElementsAre(1, 2, 3));
  EXPECT_EQ(contents->torn, 0u);
}

TEST(FlightFormat, LeavesOutTheRestOfAStepThatWasGivenUp) {
  RingImage ring;
  const float value[] = {1};
  const std::uint64_t first = ring.tensor(1, 0, "a", value);
  const std::uint64_t second = ring.step(2);  // while step 1 continues
  ring.tensor(1, first, "b", value);
  ring.step_end(1, first, 2);
  ring.set_begin(second);
  EXPECT_THAT(numbers(ring.read()), ElementsAre(2));
}

TEST(FlightFormat, ContinuesAfterADamagedHeader) {
  RingImage ring;
  const std::uint64_t first = ring.step(1);
  const std::uint64_t second = ring.step(2);
  ring.step(3);
  ring.damage(second);
  const auto contents = ring.read();
  ASSERT_THAT(numbers(contents), ElementsAre(1, 2, 3));
  EXPECT_EQ(contents->torn, 1u);
  EXPECT_TRUE(contents->steps[1].tensors.empty());
  EXPECT_EQ(contents->steps[1].dropped, 1u);
  EXPECT_EQ(contents->steps[1].damaged, 1u) << "that it is damaged does not mean that there was no room";
  ring.damage(first);
  EXPECT_EQ(ring.read()->torn, 2u);
}

TEST(FlightFormat, LeavesOutATensorWhoseElementsAreDamaged) {
  RingImage ring;
  const std::uint64_t first = ring.step(1);
  ring.step(2);
  ring.damage(first + 2 * kUnit);
  const auto contents = ring.read();
  ASSERT_THAT(numbers(contents), ElementsAre(1, 2));
  EXPECT_EQ(contents->torn, 1u);
  EXPECT_TRUE(contents->steps[0].tensors.empty());
}

TEST(FlightFormat, IgnoresLeftoversOfAnEarlierRound) {
  RingImage ring(640);
  for (int step = 0; step < 4; ++step) ring.step(step);  // two fit
  ring.set_begin(ring.position() - 640);
  EXPECT_THAT(numbers(ring.read()), ElementsAre(2, 3));
  ring.set_begin(ring.position() - 320);
  const auto contents = ring.read();
  EXPECT_THAT(numbers(contents), ElementsAre(3));
  EXPECT_EQ(contents->torn, 0u);
}

TEST(FlightFormat, RejectsOtherFiles) {
  std::mt19937 random(1);
  std::string noise(10'000, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  for (const std::string& file : {std::string(), std::string("SONDERNG"), std::string(8192, '\0'), noise}) {
    const auto contents = read(base::as_bytes(file));
    ASSERT_FALSE(contents.ok());
    EXPECT_EQ(contents.error().code(), Code::corrupt);
    EXPECT_THAT(contents.error().message(), HasSubstr("flight ring"));
  }
}

TEST(FlightFormat, NamesTheVersionItCannotRead) {
  RingImage ring;
  ring.file()[8] = 2;
  const auto contents = ring.read();
  ASSERT_FALSE(contents.ok());
  EXPECT_EQ(contents.error().code(), Code::unsupported);
  EXPECT_THAT(contents.error().message(), HasSubstr("has version 2"));
}

TEST(FlightFormat, KnowsTheOtherByteOrder) {
  RingImage ring;
  std::reverse(ring.file().begin() + 8, ring.file().begin() + 12);
  std::reverse(ring.file().begin() + 12, ring.file().begin() + 16);
  const auto contents = ring.read();
  ASSERT_FALSE(contents.ok());
  EXPECT_EQ(contents.error().code(), Code::unsupported);
  EXPECT_THAT(contents.error().message(), HasSubstr("byte order"));
}

TEST(FlightFormat, DetectsATruncatedFile) {
  RingImage ring;
  ring.file().pop_back();
  const auto contents = ring.read();
  ASSERT_FALSE(contents.ok());
  EXPECT_EQ(contents.error().code(), Code::corrupt);
  EXPECT_THAT(contents.error().message(), HasSubstr("it was cut off"));
}

TEST(FlightFormat, RejectsInvalidPositions) {
  for (const std::uint64_t position : {std::uint64_t{1}, std::uint64_t{1} << 63, ~std::uint64_t{63}}) {
    RingImage ring;
    ring.set_begin(position);
    EXPECT_EQ(ring.read().status().code(), Code::corrupt);
  }
  RingImage ring;
  ring.set_end(4096);
  EXPECT_EQ(ring.read().status().code(), Code::corrupt) << "more than its capacity behind its begin";
}

// Files of tests/corpus/make_flight.py, which knows only the description on top of flight_layout.h.
TEST(FlightFormat, ReadsWhatTheDescriptionSays) {
  const std::string file = sonde::testing::corpus_file("flight/interleaved.ring");
  const auto contents = read(base::as_bytes(file));
  ASSERT_THAT(numbers(contents), ElementsAre(-7, 2));
  EXPECT_EQ(contents->identity.host, "box");
  EXPECT_EQ(contents->identity.writer, "w.1");
  EXPECT_THAT(contents->allow_negative_infinity, ElementsAre("mask", "attention/.*"));
  EXPECT_EQ(contents->torn, 0u);
  const Step& step = contents->steps[0];
  EXPECT_TRUE(step.complete && !step.evaluation);
  EXPECT_EQ(step.wall_time, 20);
  EXPECT_EQ(step.dropped, 3u);
  EXPECT_THAT(step.scalars, ElementsAre(std::pair("loss", 0.5), std::pair("accuracy", 1.0)));
  ASSERT_EQ(step.tensors.size(), 2u);
  const Tensor& tensor = step.tensors[0];
  EXPECT_EQ(tensor.name, "dense_1/out");
  EXPECT_EQ(tensor.kind, Kind::gradient);
  EXPECT_EQ(tensor.occurrence, 300u);
  EXPECT_THAT(tensor.inputs, ElementsAre("conv_1/out", "bias"));
  EXPECT_EQ(tensor.view.dtype, DType::f32);
  EXPECT_TRUE((tensor.view.shape == Shape{2, 3}));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(static_cast<const float*>(tensor.view.data)[i], static_cast<float>(i));
  EXPECT_TRUE((step.tensors[1].view.shape == Shape{0, 4}));
  const Step& evaluation = contents->steps[1];
  EXPECT_TRUE(evaluation.evaluation && !evaluation.complete);
  ASSERT_EQ(evaluation.tensors.size(), 1u);
  EXPECT_EQ(evaluation.tensors[0].view.dtype, DType::i8);
  EXPECT_EQ(*static_cast<const char*>(evaluation.tensors[0].view.data), 5);

  EXPECT_THAT(numbers(read(base::as_bytes(sonde::testing::corpus_file("flight/round.ring")))), ElementsAre(1, 2, 3));
  EXPECT_EQ(read(base::as_bytes(sonde::testing::corpus_file("flight/damaged.ring")))->torn, 2u);
  EXPECT_EQ(read(base::as_bytes(sonde::testing::corpus_file("flight/version_2.ring"))).status().code(),
            Code::unsupported);
  EXPECT_EQ(read(base::as_bytes(sonde::testing::corpus_file("flight/cut.ring"))).status().code(), Code::corrupt);
}

// The checksums are correct, but the data is not: it was made by hand.
TEST(FlightFormat, ReadsInterleavedPassesAndAnUnknownKind) {
  const std::string file = sonde::testing::corpus_file("flight/passes.ring");
  const auto contents = read(base::as_bytes(file));
  ASSERT_THAT(numbers(contents), ElementsAre(7, 7));
  for (const Step& step : contents->steps) {
    EXPECT_TRUE(step.complete);
    ASSERT_EQ(step.tensors.size(), 1u);
    EXPECT_EQ(to_string(step.tensors[0].kind), "kind 9");
  }
  EXPECT_EQ(*static_cast<const float*>(contents->steps[0].tensors[0].view.data), 1);
  EXPECT_EQ(*static_cast<const float*>(contents->steps[1].tensors[0].view.data), 2);
}

TEST(FlightFormat, BelievesNoSizeThatDoesNotFit) {
  const EntryHeader good = {.type = EntryType::tensor, .size = 128, .data_bytes = 0, .meta_bytes = 10};
  std::vector<EntryHeader> bad(6, good);
  bad[0].size = 64;
  bad[1].size = ~std::uint64_t{63};
  bad[2].meta_bytes = 0xffffffff;
  bad[3].data_bytes = ~std::uint64_t{0};
  bad[4].type = EntryType{9};
  bad[5].step = 64;
  for (const EntryHeader& header : bad) {
    RingImage ring;
    ring.entry(header, {}, {});
    ring.set_end(128);
    const auto contents = ring.read();
    ASSERT_TRUE(contents.ok());
    EXPECT_TRUE(contents->steps.empty());
    EXPECT_EQ(contents->torn, 1u);
  }
  for (const std::string_view meta : {"", "\x02", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"}) {
    for (const EntryType type : {EntryType::tensor, EntryType::step_end}) {
      RingImage ring;
      ring.entry(type, 0, meta, {});
      EXPECT_TRUE(ring.read()->steps.empty());
      EXPECT_EQ(ring.read()->torn, 1u);
    }
  }
}

}  // namespace
}  // namespace sonde::flight
