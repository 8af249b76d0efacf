// WAV: sound. All numbers are little-endian.
//
//   "RIFF", size of the rest u32, "WAVE", then chunks. A chunk: type (4 letters), length of its data u32, data, and a
//   zero byte if the length is odd.
//
//   fmt    format u16 (1 PCM, 3 IEEE float, 0xfffe extensible), channels u16, frames a second u32, bytes a second u32,
//          bytes of a frame u16, bits of a sample u16; then for formats other than PCM the length of what follows u16;
//          for extensible ones 22 bytes: valid bits u16, speakers u32, format u16 and 14 fixed bytes
//   fact   frames u32; only for formats other than PCM
//   data   the frames, each with one sample per channel
//
// PCM is written with a header of 44 bytes, float with one of 58: the fmt chunk of 18 bytes and the fact chunk that the
// format requires for everything except PCM. Browsers, libsndfile and SciPy read both; Python's wave module reads only
// PCM.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "sonde/status.h"
#include "tensor/tensor_data.h"

namespace sonde::wav {

enum class Encoding : std::uint8_t { pcm16, float32 };

// Sound [frames] or [frames, channels], as i16 or any real floating-point type, where full scale is from -1 to 1. For
// pcm16, floats are multiplied by 32767, rounded and clipped, and NaN becomes silence; i16 is written as it is.
// For float32, i16 is divided by 32768. At most 4 GiB.
Result<std::string> encode(const TensorView& sound, std::uint32_t rate, Encoding encoding = Encoding::pcm16);

struct Sound {
  std::uint32_t rate = 0;  // frames per second
  Tensor samples;          // i16 (PCM, 16 bits) or f32 (float, 32 bits) [frames, channels]
};

// Other formats (8, 24 or 32 bits PCM, compressed ones) are `unsupported`; chunks other than the above are skipped.
Result<Sound> decode(base::Bytes file);

}  // namespace sonde::wav
