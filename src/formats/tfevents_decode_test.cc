#include "formats/tfevents_decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "formats/tf_dtype.h"
#include "formats/tfevents_value.h"
#include "formats/tfrecord.h"
#include "formats/wire.h"
#include "tensor/convert.h"

namespace sonde::tfevents {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string message(const std::function<void(std::string&)>& fill) {
  std::string bytes;
  fill(bytes);
  return bytes;
}

// An event with one value, whose fields `fill` writes.
std::string value_event(const std::function<void(std::string&)>& fill) {
  std::string event;
  wire::put_bytes(event, 5, message([&](std::string& summary) { wire::put_bytes(summary, 1, message(fill)); }));
  return event;
}
Value value_of(const std::string& event_bytes) {
  const auto event = decode_event(base::as_bytes(event_bytes));
  EXPECT_TRUE(event);
  EXPECT_EQ(event->values.size(), 1u);
  return event->values.at(0);
}
// A tensor with the given fields after dtype and shape.
std::string tensor_event(int dtype, std::initializer_list<std::int64_t> dims,
                         const std::function<void(std::string&)>& fill) {
  return value_event([&](std::string& value) {
    wire::put_bytes(value, 8, message([&](std::string& tensor) {
                      wire::put_integer(tensor, 1, dtype);
                      wire::put_bytes(tensor, 2, encode_shape({dims.begin(), dims.size()}));
                      fill(tensor);
                    }));
  });
}

TEST(TfeventsDecode, ReadsAnEmptyPayloadAsAnEmptyEvent) {
  const auto event = decode_event({});
  ASSERT_TRUE(event);
  EXPECT_EQ(event->what, Event::What::nothing);
}

TEST(TfeventsDecode, ReadsWhatTensorFlowSessionsWrite) {
  std::string log;
  wire::put_bytes(log, 6, message([](std::string& out) {
                    wire::put_integer(out, 1, 30);
                    wire::put_bytes(out, 2, "careful");
                  }));
  const auto message_event = decode_event(base::as_bytes(log));
  ASSERT_TRUE(message_event);
  EXPECT_EQ(message_event->what, Event::What::log_message);
  EXPECT_EQ(message_event->number, 30);
  EXPECT_EQ(message_event->text, "careful");

  std::string session;
  wire::put_bytes(session, 7, message([](std::string& out) {
                    wire::put_integer(out, 1, 3);
                    wire::put_bytes(out, 2, "/model.ckpt");
                    wire::put_bytes(out, 3, "saved");
                  }));
  const auto session_event = decode_event(base::as_bytes(session));
  ASSERT_TRUE(session_event);
  EXPECT_EQ(session_event->what, Event::What::session_log);
  EXPECT_EQ(session_event->number, 3);
  EXPECT_EQ(session_event->checkpoint_path, "/model.ckpt");
  EXPECT_EQ(session_event->text, "saved");

  std::string tagged;
  wire::put_bytes(tagged, 8, message([](std::string& out) {
                    wire::put_bytes(out, 1, "step1");
                    wire::put_bytes(out, 2, "run metadata");
                  }));
  const auto tagged_event = decode_event(base::as_bytes(tagged));
  ASSERT_TRUE(tagged_event);
  EXPECT_EQ(tagged_event->what, Event::What::tagged_run_metadata);
  EXPECT_EQ(tagged_event->text, "step1");
  EXPECT_EQ(base::as_text(tagged_event->bytes), "run metadata");

  std::string meta;
  wire::put_bytes(meta, 9, "meta graph");
  EXPECT_EQ(base::as_text(decode_event(base::as_bytes(meta))->bytes), "meta graph");
}

TEST(TfeventsDecode, ViewsThePayloadInsteadOfCopyingIt) {
  std::string summary;
  const std::vector<std::string_view> pngs = {"some image"};
  put_images(summary, "tag", 1, 2, pngs, true);
  std::string payload;
  wire::put_bytes(payload, 5, summary);
  const Value value = value_of(payload);
  const auto inside = [&](const void* at) { return at >= payload.data() && at < payload.data() + payload.size(); };
  EXPECT_TRUE(inside(value.tag.data()));
  EXPECT_TRUE(inside(value.metadata.plugin_name.data()));
  EXPECT_TRUE(inside(as_images(value)->encoded.at(0).data()));
}

TEST(TfeventsDecode, SkipsUnknownFieldsAndFieldsOfAnotherType) {
  const auto clutter = [](std::string& out) {
    wire::put_integer(out, 99, 5);
    wire::put_bytes(out, 77, "later");
    wire::put_double(out, 98, 1);
    wire::put_float(out, 97, 1);
  };
  std::string event;
  clutter(event);
  wire::put_bytes(event, 1, "a wall time is no text");
  wire::put_double(event, 2, 3);
  wire::put_double(event, 1, 4.5);
  wire::put_integer(event, 5, 1);
  wire::put_bytes(event, 5, message([&](std::string& summary) {
                    clutter(summary);
                    wire::put_bytes(summary, 1, message([&](std::string& value) {
                                      clutter(value);
                                      wire::put_integer(value, 1, 1);
                                      wire::put_bytes(value, 2, "no float");
                                      wire::put_bytes(value, 1, "tag");
                                      wire::put_float(value, 2, 2.5f);
                                    }));
                  }));
  const auto read = decode_event(base::as_bytes(event));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->wall_time, 4.5);
  EXPECT_EQ(read->step, 0);
  ASSERT_EQ(read->values.size(), 1u);
  EXPECT_EQ(read->values[0].tag, "tag");
  EXPECT_EQ(*as_scalar(read->values[0]), 2.5);
}

TEST(TfeventsDecode, SaysThatAMalformedEventIsCorrupt) {
  for (const std::string_view bad :
       {std::string_view("\x09\x01", 2), std::string_view("\x2a\x7f", 2),
        std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11), std::string_view("\x03", 1),
        std::string_view("\x00\x01", 2), std::string_view("\x2a\x02\x0a\x05", 4)}) {
    const auto event = decode_event(base::as_bytes(bad));
    ASSERT_FALSE(event);
    EXPECT_EQ(event.error().code(), Code::corrupt);
    EXPECT_THAT(event.error().message(), HasSubstr("not well-formed protobuf: "));
  }
}

TEST(TfeventsDecode, ReusesAnEventWithoutLeavingOldValuesInIt) {
  std::string file_version;
  wire::put_bytes(file_version, 3, "brain.Event:2");
  wire::put_integer(file_version, 2, 5);
  const std::string value = value_event([](std::string& out) { wire::put_float(out, 2, 1); });
  Event event;
  ASSERT_TRUE(decode_event(base::as_bytes(value), event));
  ASSERT_TRUE(decode_event(base::as_bytes(file_version), event));
  EXPECT_TRUE(event.values.empty());
  ASSERT_TRUE(decode_event(base::as_bytes(value), event));
  EXPECT_EQ(event.step, 0);
  EXPECT_TRUE(event.text.empty());
  ASSERT_FALSE(decode_event(base::as_bytes("\x2a"), event));
  EXPECT_TRUE(event.values.empty());
  EXPECT_EQ(event.what, Event::What::nothing);
}

TEST(TfeventsDecode, NeverCrashesOnADamagedPayload) {
  std::string summary;
  put_scalar(summary, "s", 0.5, Precision::f64, true);
  put_histogram(summary, "h", std::vector<stats::Bucket>{{0, 1, 2}}, true);
  put_images(summary, "i", 1, 1, std::vector<std::string_view>{"png"}, true);
  put_audio(summary, "a", std::vector<AudioClip>{{"wav", "label"}}, true);
  std::string payload;
  wire::put_bytes(payload, 5, summary);
  const auto use = [](std::string_view bytes) {
    const auto event = decode_event(base::as_bytes(bytes));
    if (!event) return event.error().code() == Code::corrupt;
    for (const Value& value : event->values) {
      for (const Status& status : {as_scalar(value).status(), as_histogram(value).status(), as_images(value).status(),
                                   as_audio(value).status()}) {
        if (!status && status.message().empty()) return false;
      }
    }
    return true;
  };
  for (std::size_t size = 0; size <= payload.size(); ++size) ASSERT_TRUE(use(payload.substr(0, size))) << size;
  for (std::size_t at = 0; at < payload.size(); ++at) {
    for (int bits = 1; bits < 256; ++bits) {
      std::string damaged = payload;
      damaged[at] = static_cast<char>(damaged[at] ^ bits);
      ASSERT_TRUE(use(damaged)) << at;
    }
  }
}

// A file of several events; each damage costs its own record only.
TEST(TfeventsDecode, ReadsEverythingBeforeAndAfterADamagedByte) {
  std::string file;
  std::vector<std::size_t> begins;
  for (int i = 0; i < 5; ++i) {
    begins.push_back(file.size());
    put_scalar_event(file, 1.75e9, i, "loss", i, Precision::f32, i == 0);
  }
  const auto steps_of = [](std::string_view bytes) {
    std::vector<std::int64_t> steps;
    tfrecord::RecordReader reader(base::as_bytes(bytes));
    Event event;
    for (auto found = reader.next(); found <= tfrecord::RecordReader::Found::damage; found = reader.next()) {
      if (found != tfrecord::RecordReader::Found::record) continue;
      EXPECT_TRUE(decode_event(reader.payload(), event));
      EXPECT_EQ(*as_scalar(event.values.at(0)), static_cast<double>(event.step));
      steps.push_back(event.step);
    }
    return steps;
  };
  for (std::size_t at = 0; at < file.size(); ++at) {
    std::vector<std::int64_t> expected(5);
    std::iota(expected.begin(), expected.end(), 0);
    const auto hit = std::upper_bound(begins.begin(), begins.end(), at) - begins.begin() - 1;
    ASSERT_EQ(steps_of(std::string_view(file).substr(0, at)),
              std::vector<std::int64_t>(expected.begin(), expected.begin() + hit));
    expected.erase(expected.begin() + hit);
    for (int bits = 1; bits < 256; ++bits) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ bits);
      ASSERT_EQ(steps_of(damaged), expected) << "byte " << at;
    }
  }
}

// ---- Scalars of every dtype.

struct Typed {
  DType dtype;
  double value;
  std::uint32_t field;
};
const std::vector<Typed> kTyped = {{DType::boolean, 1, 11},    {DType::i8, -3, 7},      {DType::i16, -300, 7},
                                   {DType::i32, -70000, 7},    {DType::i64, -5e9, 10},  {DType::u8, 200, 7},
                                   {DType::u16, 60000, 7},     {DType::u32, 4e9, 16},   {DType::u64, 1e19, 17},
                                   {DType::f16, 1.5, 13},      {DType::bf16, -2.5, 13}, {DType::f32, 0.25, 5},
                                   {DType::f64, 0.1, 6},       {DType::c64, 0.75, 9},   {DType::c128, 0.1, 12},
                                   {DType::f8_e4m3, 1.25, 18}, {DType::f8_e5m2, -3, 18}};

// The bytes of one element.
std::string element(DType dtype, double value) {
  std::string bytes;
  switch (dtype) {
    case DType::boolean: base::put(bytes, static_cast<std::uint8_t>(value)); break;
    case DType::i8: base::put(bytes, static_cast<std::int8_t>(value)); break;
    case DType::i16: base::put(bytes, static_cast<std::int16_t>(value)); break;
    case DType::i32: base::put(bytes, static_cast<std::int32_t>(value)); break;
    case DType::i64: base::put(bytes, static_cast<std::int64_t>(value)); break;
    case DType::u8: base::put(bytes, static_cast<std::uint8_t>(value)); break;
    case DType::u16: base::put(bytes, static_cast<std::uint16_t>(value)); break;
    case DType::u32: base::put(bytes, static_cast<std::uint32_t>(value)); break;
    case DType::u64: base::put(bytes, static_cast<std::uint64_t>(value)); break;
    case DType::f8_e4m3: base::put(bytes, tensor::to_float8_e4m3(static_cast<float>(value)).bits); break;
    case DType::f8_e5m2: base::put(bytes, tensor::to_float8_e5m2(static_cast<float>(value)).bits); break;
    case DType::f16: base::put(bytes, tensor::to_float16(static_cast<float>(value)).bits); break;
    case DType::bf16: base::put(bytes, tensor::to_bfloat16(static_cast<float>(value)).bits); break;
    case DType::f32: base::put(bytes, static_cast<float>(value)); break;
    case DType::f64: base::put(bytes, value); break;
    case DType::c64:
      base::put(bytes, static_cast<float>(value));
      base::put(bytes, 9.0f);
      break;
    case DType::c128:
      base::put(bytes, value);
      base::put(bytes, 9.0);
      break;
  }
  return bytes;
}

// The same as protobuf stores it in a typed field: fixed-size for floats, varints for all else.
std::string packed_element(const Typed& typed) {
  const std::string raw = element(typed.dtype, typed.value);
  switch (typed.dtype) {
    case DType::f32:
    case DType::f64:
    case DType::c64:
    case DType::c128:
    case DType::f8_e4m3:
    case DType::f8_e5m2: return raw;
    default: break;
  }
  std::string packed;
  if (typed.dtype == DType::f16 || typed.dtype == DType::bf16) {
    base::put_varint(packed, base::load<std::uint16_t>(raw.data()));
  } else if (typed.dtype == DType::u64) {
    base::put_varint(packed, static_cast<std::uint64_t>(typed.value));
  } else {
    base::put_varint(packed, static_cast<std::uint64_t>(static_cast<std::int64_t>(typed.value)));
  }
  return packed;
}

TEST(TfeventsDecode, ReadsScalarsOfEveryDtypeInTensorContent) {
  for (const Typed& typed : kTyped) {
    const std::string event = tensor_event(formats::tf_dtype(typed.dtype), {}, [&](std::string& tensor) {
      wire::put_bytes(tensor, 4, element(typed.dtype, typed.value));
    });
    const auto scalar = as_scalar(value_of(event));
    ASSERT_TRUE(scalar) << to_string(typed.dtype) << ": " << scalar.error().message();
    EXPECT_EQ(*scalar, typed.value) << to_string(typed.dtype);
  }
}

TEST(TfeventsDecode, ReadsScalarsOfEveryDtypeInTypedFieldsPackedOrNot) {
  for (const Typed& typed : kTyped) {
    const std::string packed = packed_element(typed);
    const std::string packed_event = tensor_event(
        formats::tf_dtype(typed.dtype), {}, [&](std::string& tensor) { wire::put_bytes(tensor, typed.field, packed); });
    const auto scalar = as_scalar(value_of(packed_event));
    ASSERT_TRUE(scalar) << to_string(typed.dtype) << ": " << scalar.error().message();
    EXPECT_EQ(*scalar, typed.value) << to_string(typed.dtype);
    if (typed.field == 18 || typed.field == 9 || typed.field == 12) continue;  // bytes, and pairs
    const std::string plain_event = tensor_event(formats::tf_dtype(typed.dtype), {1}, [&](std::string& tensor) {
      const auto type = typed.dtype == DType::f32   ? wire::Type::fixed32
                        : typed.dtype == DType::f64 ? wire::Type::fixed64
                                                    : wire::Type::varint;
      wire::put_key(tensor, typed.field, type);
      tensor += packed;
    });
    EXPECT_EQ(*as_scalar(value_of(plain_event)), typed.value) << to_string(typed.dtype);
  }
}

TEST(TfeventsDecode, ReadsAScalarWithoutValuesAsZero) {
  EXPECT_EQ(*as_scalar(value_of(tensor_event(1, {}, [](std::string&) {}))), 0);
}

TEST(TfeventsDecode, RejectsInvalidScalars) {
  const auto code_of = [](const std::string& event) { return as_scalar(value_of(event)).error().code(); };
  EXPECT_EQ(code_of(tensor_event(7, {}, [](std::string& t) { wire::put_bytes(t, 8, "text"); })),
            Code::invalid_argument);
  EXPECT_EQ(code_of(tensor_event(1, {2}, [](std::string&) {})), Code::invalid_argument);
  EXPECT_EQ(code_of(tensor_event(12345, {}, [](std::string&) {})), Code::invalid_argument);
  EXPECT_EQ(code_of(tensor_event(-1, {}, [](std::string&) {})), Code::invalid_argument);
  EXPECT_EQ(code_of(tensor_event(1, {}, [](std::string& t) { wire::put_bytes(t, 4, "12345"); })), Code::corrupt);
  EXPECT_EQ(code_of(tensor_event(1, {}, [](std::string& t) { wire::put_bytes(t, 5, "123"); })), Code::corrupt);
  EXPECT_EQ(code_of(tensor_event(1, {}, [](std::string& t) { wire::put_bytes(t, 5, "12345678"); })), Code::corrupt);
  EXPECT_EQ(code_of(value_event([](std::string& v) { wire::put_bytes(v, 5, ""); })), Code::invalid_argument);
}

// ---- Tensors.

TEST(TfeventsDecode, RepeatsTheLastValueIfValuesAreMissing) {
  const std::string event = tensor_event(2, {2, 2}, [](std::string& tensor) {
    wire::put_double(tensor, 6, 1);
    wire::put_double(tensor, 6, 7);
  });
  EXPECT_THAT(*as_doubles(value_of(event).tensor), ElementsAre(1, 7, 7, 7));
  const std::string zeros = tensor_event(2, {3}, [](std::string&) {});
  EXPECT_THAT(*as_doubles(value_of(zeros).tensor), ElementsAre(0, 0, 0));
}

TEST(TfeventsDecode, UnfoldsNoTensorThatClaimsToBeHuge) {
  const std::string repeated =
      tensor_event(2, {1 << 20, 1 << 20}, [](std::string& tensor) { wire::put_double(tensor, 6, 1); });
  EXPECT_EQ(as_doubles(value_of(repeated).tensor).error().code(), Code::exhausted);
  const std::string overflow = tensor_event(2, {INT64_MAX, INT64_MAX}, [](std::string&) {});
  EXPECT_EQ(as_doubles(value_of(overflow).tensor).error().code(), Code::corrupt);
  const std::string negative = tensor_event(2, {-4}, [](std::string&) {});
  EXPECT_EQ(as_doubles(value_of(negative).tensor).error().code(), Code::corrupt);
  const std::string strings = tensor_event(7, {1 << 20, 1 << 20}, [](std::string&) {});
  EXPECT_EQ(as_strings(value_of(strings).tensor).error().code(), Code::exhausted);
}

TEST(TfeventsDecode, KeepsTensorsOfUnknownRankOrTooManyAxes) {
  const std::string many =
      tensor_event(1, {1, 1, 1, 1, 1, 1, 1, 1, 1}, [](std::string& tensor) { wire::put_float(tensor, 5, 2); });
  const Value value = value_of(many);
  EXPECT_FALSE(value.tensor.shape.valid());
  EXPECT_THAT(*as_doubles(value.tensor), ElementsAre(2));
  const std::string unknown = value_event([](std::string& out) {
    wire::put_bytes(out, 8, message([](std::string& tensor) {
                      wire::put_integer(tensor, 1, 1);
                      wire::put_bytes(tensor, 2, message([](std::string& shape) { wire::put_integer(shape, 3, 1); }));
                    }));
  });
  EXPECT_FALSE(value_of(unknown).tensor.shape.valid());
}

TEST(TfeventsDecode, RejectsContentThatDoesNotFitItsShape) {
  const std::string event = tensor_event(2, {3}, [](std::string& tensor) { wire::put_bytes(tensor, 4, "12345678"); });
  EXPECT_EQ(as_doubles(value_of(event).tensor).error().code(), Code::corrupt);
}

// ---- Old forms.

TEST(TfeventsDecode, ReadsOldImagesAndAudio) {
  const std::string image_event = value_event([](std::string& value) {
    wire::put_bytes(value, 1, "picture");
    wire::put_bytes(value, 4, message([](std::string& out) {
                      wire::put_integer(out, 1, 20);
                      wire::put_integer(out, 2, 10);
                      wire::put_integer(out, 3, 3);
                      wire::put_bytes(out, 4, "png");
                    }));
  });
  const Value image = value_of(image_event);
  EXPECT_EQ(image.plugin_name(), "images");
  const auto images = as_images(image);
  ASSERT_TRUE(images);
  EXPECT_EQ(images->width, 10);
  EXPECT_EQ(images->height, 20);
  EXPECT_EQ(base::as_text(images->encoded.at(0)), "png");

  const std::string audio_event = value_event([](std::string& value) {
    wire::put_bytes(value, 6, message([](std::string& out) {
                      wire::put_float(out, 1, 44100);
                      wire::put_bytes(out, 4, "wav");
                      wire::put_bytes(out, 5, "audio/wav");
                    }));
  });
  const Value audio = value_of(audio_event);
  EXPECT_EQ(audio.plugin_name(), "audio");
  EXPECT_EQ(base::as_text(as_audio(audio)->at(0).encoded), "wav");
}

struct Old {
  double min = 0;
  double max = 0;
  std::vector<double> limits;
  std::vector<double> counts;
};
Result<std::vector<stats::Bucket>> convert(const Old& old) {
  const std::string event = value_event([&](std::string& value) {
    wire::put_bytes(value, 5, message([&](std::string& out) {
                      wire::put_double(out, 1, old.min);
                      wire::put_double(out, 2, old.max);
                      std::string limits;
                      for (const double limit : old.limits) base::put(limits, limit);
                      std::string counts;
                      for (const double count : old.counts) base::put(counts, count);
                      wire::put_bytes(out, 6, limits);
                      wire::put_bytes(out, 7, counts);
                    }));
  });
  return as_histogram(value_of(event));
}
std::vector<std::vector<double>> rows(const Result<std::vector<stats::Bucket>>& buckets) {
  std::vector<std::vector<double>> result;
  EXPECT_TRUE(buckets);
  for (const stats::Bucket& bucket : *buckets) result.push_back({bucket.left, bucket.right, bucket.count});
  return result;
}
using Rows = std::vector<std::vector<double>>;

TEST(OldHistogram, GetsItsEndsFromTheRangeOfTheData) {
  EXPECT_EQ(rows(convert({-0.5, 2.5, {-1, 0, 1, 2, DBL_MAX}, {0, 1, 2, 3, 4}})),
            (Rows{{-0.5, 0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 2.5, 4}}));
}
TEST(OldHistogram, LosesEmptyBucketsAtTheEndsOnly) {
  EXPECT_EQ(rows(convert({1.5, 3.5, {1, 2, 3, 4, DBL_MAX}, {0, 5, 0, 6, 0}})),
            (Rows{{1.5, 2, 5}, {2, 3, 0}, {3, 3.5, 6}}));
}
TEST(OldHistogram, OfOneBucketIsTheRangeOfTheData) {
  EXPECT_EQ(rows(convert({3, 3, {-DBL_MAX, DBL_MAX}, {0, 7}})), (Rows{{3, 3, 7}}));
}
TEST(OldHistogram, WithoutCountsHasNoBuckets) {
  EXPECT_TRUE(convert({DBL_MAX, -DBL_MAX, {0, 1, DBL_MAX}, {0, 0, 0}})->empty());
  EXPECT_TRUE(convert({})->empty());
}
TEST(OldHistogram, DoesNotBelieveARangeThatContradictsTheBuckets) {
  const double nan = std::nan("");
  EXPECT_EQ(rows(convert({9, -9, {1, 2, 3}, {0, 4, 5}})), (Rows{{1, 2, 4}, {2, 3, 5}}));
  EXPECT_EQ(rows(convert({nan, nan, {1, 2, DBL_MAX}, {0, 4, 5}})), (Rows{{1, 2, 4}, {2, 2, 5}}));
  EXPECT_EQ(rows(convert({nan, 8, {DBL_MAX}, {5}})), (Rows{{8, 8, 5}}));
}
TEST(OldHistogram, IsCorruptIfItIsInconsistent) {
  EXPECT_EQ(convert({0, 1, {1, 2}, {1}}).error().code(), Code::corrupt);
  EXPECT_EQ(convert({0, 1, {2, 1}, {1, 1}}).error().code(), Code::corrupt);
  EXPECT_EQ(convert({0, 1, {1, 2}, {1, -1}}).error().code(), Code::corrupt);
  EXPECT_EQ(convert({0, 1, {1, 2}, {1, std::nan("")}}).error().code(), Code::corrupt);
  EXPECT_EQ(convert({0, 1, {1, std::nan("")}, {1, 1}}).error().code(), Code::corrupt);
}

RC_GTEST_PROP(OldHistogram, NeverHasABackwardBucketAndKeepsEveryCount, ()) {
  Old old;
  old.min = *rc::gen::arbitrary<double>();
  old.max = *rc::gen::arbitrary<double>();
  old.limits = *rc::gen::container<std::vector<double>>(
      rc::gen::element(-DBL_MAX, -3.0, -1.0, -1e-12, 0.0, 1e-12, 1.0, 2.0, 1e30, DBL_MAX));
  std::sort(old.limits.begin(), old.limits.end());
  old.counts = *rc::gen::container<std::vector<double>>(old.limits.size(), rc::gen::element(0.0, 0.0, 1.0, 2.5));
  const auto buckets = convert(old);
  RC_ASSERT(bool{buckets});
  double total = 0;
  for (std::size_t i = 0; i < buckets->size(); ++i) {
    const stats::Bucket& bucket = (*buckets)[i];
    RC_ASSERT(bucket.left <= bucket.right);
    if (i > 0) RC_ASSERT(bucket.left == (*buckets)[i - 1].right);
    total += bucket.count;
  }
  RC_ASSERT(total == std::accumulate(old.counts.begin(), old.counts.end(), 0.0));
  if (!buckets->empty()) RC_ASSERT(buckets->front().count > 0 && buckets->back().count > 0);
}

}  // namespace
}  // namespace sonde::tfevents
