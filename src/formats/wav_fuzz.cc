#include <cstdlib>

#include "formats/wav.h"

// Decoded sound must round-trip, if the writer supports it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  const auto first = wav::decode(std::as_bytes(std::span(data, size)));
  if (!first) return 0;
  const auto encoding = first->samples.dtype == DType::i16 ? wav::Encoding::pcm16 : wav::Encoding::float32;
  const auto file = wav::encode(first->samples.view(), first->rate, encoding);
  if (!file) return 0;
  const auto second = wav::decode(base::as_bytes(*file));
  if (!second || second->rate != first->rate || !(second->samples.shape == first->samples.shape)) std::abort();
  if (first->samples.dtype == DType::i16 && second->samples.data != first->samples.data) std::abort();
  return 0;
}
