// Any bytes as an event: every value is asked for every meaning it could have.
#include <cstdlib>

#include "formats/tfevents_decode.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde::tfevents;
  const auto event = decode_event({reinterpret_cast<const std::byte*>(data), size});
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
    const auto numbers = as_doubles(value.tensor);
    if (numbers && numbers->size() > size && numbers->size() > (std::size_t{1} << 20)) std::abort();
  }
  return 0;
}
