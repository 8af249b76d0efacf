#include "formats/wav.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "tensor/convert.h"
#include "tensor/copy.h"

namespace sonde::wav {
namespace {

constexpr std::uint16_t kPcm = 1;
constexpr std::uint16_t kFloat = 3;
constexpr std::uint16_t kExtensible = 0xfffe;
// The bytes after the format in the identifier of an extensible one.
constexpr std::string_view kSubformat("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);

Status corrupt(std::string_view what) { return {Code::corrupt, "not a valid WAV file: " + std::string(what)}; }

// ---- Writing

std::int16_t to_pcm16(double value) noexcept {
  if (std::isnan(value)) return 0;
  return static_cast<std::int16_t>(std::lrint(std::clamp(value, -1.0, 1.0) * 32767));
}

void put_samples(std::string& out, const TensorView& sound, Encoding encoding) {
  const auto element = static_cast<std::int64_t>(size_of(sound.dtype));
  const bool integers = sound.dtype == DType::i16;
  tensor::for_each_run(sound, [&](const std::byte* at, std::int64_t count, std::int64_t stride) {
    for (std::int64_t i = 0; i < count; ++i, at += stride * element) {
      const double value = tensor::element_as_double(at, sound.dtype);
      if (encoding == Encoding::pcm16) {
        base::put(out, integers ? base::load<std::int16_t>(at) : to_pcm16(value));
      } else {
        base::put(out, static_cast<float>(integers ? value / 32768 : value));
      }
    }
  });
}

Status check(const TensorView& sound, std::uint32_t rate) {
  const int rank = sound.shape.rank();
  const bool real = sound.dtype == DType::i16 || (sound.dtype >= DType::f8_e4m3 && sound.dtype <= DType::f64);
  if (!sound.valid() || (rank != 1 && rank != 2) || !real) {
    return {Code::invalid_argument,
            "sound must be a tensor [frames] or [frames, channels] of i16 or floating-point samples"};
  }
  if (rank == 2 && (sound.shape[1] < 1 || sound.shape[1] > 1024)) {
    return {Code::invalid_argument, "sound in a WAV file has 1 to 1024 channels, not " +
                                        std::to_string(sound.shape[1]) + "; the tensor must be [frames, channels]"};
  }
  if (rate < 1 || rate > 10'000'000) {
    return {Code::invalid_argument, "the sample rate of a WAV file must be from 1 to 10,000,000 frames per second"};
  }
  return {};
}

// ---- Reading

struct Format {
  std::uint16_t format = 0;
  std::uint16_t channels = 0;
  std::uint32_t rate = 0;
  std::uint16_t frame = 0;  // bytes
  std::uint16_t bits = 0;   // of a sample
};

Result<Format> read_format(base::Bytes chunk) {
  base::ByteReader reader(chunk);
  Format format;
  format.format = reader.get<std::uint16_t>();
  format.channels = reader.get<std::uint16_t>();
  format.rate = reader.get<std::uint32_t>();
  reader.take(4);  // bytes a second
  format.frame = reader.get<std::uint16_t>();
  format.bits = reader.get<std::uint16_t>();
  if (format.format == kExtensible) {
    reader.take(8);  // length, valid bits, speakers
    format.format = reader.get<std::uint16_t>();
    if (base::as_text(reader.take(kSubformat.size())) != kSubformat) format.format = kExtensible;
  }
  if (!reader.ok()) return corrupt("its fmt chunk is too short");
  const bool known = (format.format == kPcm && format.bits == 16) || (format.format == kFloat && format.bits == 32);
  if (!known) {
    return Status(Code::unsupported, "WAV files of format " + std::to_string(format.format) + " with " +
                                         std::to_string(format.bits) +
                                         " bits cannot be read: convert to 16-bit PCM or 32-bit float");
  }
  if (format.channels == 0 || format.frame != format.channels * format.bits / 8) {
    return corrupt("its channels and the size of its frames contradict each other");
  }
  return format;
}

}  // namespace

Result<std::string> encode(const TensorView& sound, std::uint32_t rate, Encoding encoding) {
  if (Status status = check(sound, rate); !status) return status;
  const bool pcm = encoding == Encoding::pcm16;
  const std::uint32_t sample = pcm ? 2 : 4;
  const std::uint32_t header = pcm ? 44 : 58;
  const std::uint32_t channels = sound.shape.rank() == 2 ? static_cast<std::uint32_t>(sound.shape[1]) : 1;
  const auto count = static_cast<std::uint64_t>(sound.size());
  if (count > (std::numeric_limits<std::uint32_t>::max() - header) / sample) {
    return Status(Code::invalid_argument, "the sound is too long for a WAV file, which holds at most 4 GiB");
  }
  const auto bytes = static_cast<std::uint32_t>(count * sample);

  std::string out;
  out.reserve(header + bytes);
  out += "RIFF";
  base::put(out, header - 8 + bytes);
  out += "WAVEfmt ";
  base::put(out, std::uint32_t{pcm ? 16U : 18U});
  base::put(out, pcm ? kPcm : kFloat);
  base::put(out, static_cast<std::uint16_t>(channels));
  base::put(out, rate);
  base::put(out, rate * channels * sample);
  base::put(out, static_cast<std::uint16_t>(channels * sample));
  base::put(out, static_cast<std::uint16_t>(8 * sample));
  if (!pcm) {
    base::put(out, std::uint16_t{0});
    out += "fact";
    base::put(out, std::uint32_t{4});
    base::put(out, static_cast<std::uint32_t>(count / channels));
  }
  out += "data";
  base::put(out, bytes);
  put_samples(out, sound, encoding);
  return out;
}

Result<Sound> decode(base::Bytes file) {
  base::ByteReader reader(file);
  const std::string_view riff = base::as_text(reader.take(4));
  reader.take(4);  // the size of the rest: programs that write to a pipe leave it wrong
  if (riff != "RIFF" || base::as_text(reader.take(4)) != "WAVE") return corrupt("it does not begin with RIFF and WAVE");
  std::optional<Format> format;
  while (!reader.done()) {
    const std::string_view type = base::as_text(reader.take(4));
    const auto length = reader.get<std::uint32_t>();
    const base::Bytes chunk = reader.take(length);
    if (!reader.ok()) return corrupt("it ends within a chunk; it may have been cut off");
    if (length % 2 == 1 && !reader.done()) reader.take(1);
    if (type == "fmt ") {
      const Result<Format> read = read_format(chunk);
      if (!read) return read.error();
      format = *read;
    } else if (type == "data") {
      if (!format) return corrupt("its data chunk comes before the fmt chunk");
      if (chunk.size() % format->frame != 0) return corrupt("its data end within a frame");
      const auto frames = static_cast<std::int64_t>(chunk.size() / format->frame);
      return Sound{format->rate, Tensor{format->format == kPcm ? DType::i16 : DType::f32,
                                        {frames, format->channels},
                                        std::vector<std::byte>(chunk.begin(), chunk.end())}};
    }
  }
  return corrupt("it has no data chunk");
}

}  // namespace sonde::wav
