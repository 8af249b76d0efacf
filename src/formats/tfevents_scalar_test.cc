#include "formats/tfevents_scalar.h"

#include <gtest/gtest.h>

#include <string>

#include "formats/tfevents.h"
#include "formats/tfevents_decode.h"
#include "formats/tfrecord.h"
#include "formats/wire.h"

namespace sonde::tfevents {
namespace {

// The payload of the one record that exists.
std::string payload_of(const std::string& file) {
  return file.substr(tfrecord::kHeaderSize, file.size() - tfrecord::kHeaderSize - tfrecord::kFooterSize);
}

std::string old_scalar(double time, std::int64_t step, std::string_view tag, float value) {
  std::string inner;
  wire::put_bytes(inner, 1, tag);
  inner += '\x15';
  base::put(inner, value);
  std::string summary;
  wire::put_bytes(summary, 1, inner);
  std::string file;
  put_summary_event(file, time, step, summary);
  return payload_of(file);
}

TEST(PlainScalar, IsReadInTheOldFormAndTheNew) {
  for (const std::int64_t step : {0L, 1L, 127L, 128L, 1'000'000'000'000L}) {
    PlainScalar scalar;
    const std::string old = old_scalar(1.7e9, step, "loss", 0.25F);
    ASSERT_TRUE(decode_plain_scalar(base::as_bytes(old), scalar)) << step;
    EXPECT_EQ(scalar.step, step);
    EXPECT_EQ(scalar.wall_time, 1.7e9);
    EXPECT_EQ(scalar.tag, "loss");
    EXPECT_EQ(scalar.value, 0.25F);
    EXPECT_TRUE(scalar.old_form);

    std::string file;
    put_scalar_event(file, 1.7e9, step, "train/loss", 0.5, Precision::f32, false);
    const std::string payload = payload_of(file);
    ASSERT_TRUE(decode_plain_scalar(base::as_bytes(payload), scalar)) << step;
    EXPECT_EQ(scalar.step, step);
    EXPECT_EQ(scalar.tag, "train/loss");
    EXPECT_EQ(scalar.value, 0.5F);
    EXPECT_FALSE(scalar.old_form);
  }
}

TEST(PlainScalar, EverythingElseIsLeftToTheDecoder) {
  PlainScalar scalar;
  const auto plain = [&](const std::string& file) {
    return decode_plain_scalar(base::as_bytes(payload_of(file)), scalar);
  };
  std::string file;
  put_scalar_event(file, 1.7e9, 1, "loss", 0.5, Precision::f32, true);
  EXPECT_FALSE(plain(file)) << "metadata";
  file.clear();
  put_scalar_event(file, 1.7e9, 1, "loss", 0.5, Precision::f64, false);
  EXPECT_FALSE(plain(file)) << "a double";
  file.clear();
  put_scalar_event(file, 1.7e9, -1, "loss", 0.5, Precision::f32, false);
  EXPECT_FALSE(plain(file)) << "a negative step takes ten bytes";
  file.clear();
  put_scalar_event(file, 1.7e9, 1, std::string(120, 't'), 0.5, Precision::f32, false);
  EXPECT_FALSE(plain(file)) << "lengths of two bytes";
  file.clear();
  put_version_event(file, 1.7e9);
  EXPECT_FALSE(plain(file));
}

TEST(PlainScalar, AgreesWithTheDecoderOnEveryChangeOfAByte) {
  const std::string whole = old_scalar(1.7e9, 300, "loss", 0.25F);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = whole;
      changed[at] = static_cast<char>(byte);
      PlainScalar scalar;
      if (!decode_plain_scalar(base::as_bytes(changed), scalar)) continue;
      const auto event = decode_event(base::as_bytes(changed));
      ASSERT_TRUE(event) << at << ' ' << byte;
      ASSERT_EQ(event->values.size(), 1U);
      EXPECT_EQ(event->step, scalar.step);
      EXPECT_EQ(event->values[0].tag, scalar.tag);
    }
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    PlainScalar scalar;
    EXPECT_FALSE(decode_plain_scalar(base::as_bytes(std::string_view(whole).substr(0, size)), scalar)) << size;
  }
}

}  // namespace
}  // namespace sonde::tfevents
