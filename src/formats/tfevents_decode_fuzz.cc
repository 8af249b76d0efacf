// Any bytes as an event: every value is decoded in every possible meaning, and a payload accepted as a plain scalar
// must be one.
#include <cstdlib>

#include "formats/tfevents_decode.h"
#include "formats/tfevents_scalar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde::tfevents;
  const sonde::base::Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
  const auto event = decode_event(bytes);
  PlainScalar plain;
  if (decode_plain_scalar(bytes, plain)) {
    if (!event || event->values.size() != 1 || event->step != plain.step || event->values[0].tag != plain.tag) {
      std::abort();
    }
    const auto number = as_scalar(event->values[0]);
    const auto value = static_cast<double>(plain.value);
    if (!number || (*number != value && value == value)) std::abort();
  }
  if (!event) return 0;
  for (const Value& value : event->values) {
    (void)value.plugin_name();
    (void)as_scalar(value).ok();
    (void)as_images(value).ok();
    (void)as_audio(value).ok();
    (void)as_strings(value.tensor).ok();
    const auto buckets = as_histogram(value);
    if (buckets && value.form == Value::Form::histo) {
      for (const auto& bucket : *buckets) {
        if (!(bucket.left <= bucket.right)) std::abort();
      }
    }
    (void)as_tensor(value.tensor).ok();
    const auto numbers = as_doubles(value.tensor);
    if (numbers && numbers->size() > size && numbers->size() > (std::size_t{1} << 20)) std::abort();
  }
  return 0;
}
