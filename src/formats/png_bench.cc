// How long the encoding of a picture takes, for pictures as they are recorded: smooth (colour-mapped activations) and
// noise, the worst case. Each checks that the picture comes back.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>

#include "formats/png.h"

namespace sonde {
namespace {

std::vector<std::uint8_t> smooth(std::int64_t side) {
  std::vector<std::uint8_t> pixels;
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < side; ++x) {
      const double wave = std::sin(static_cast<double>(x) / 11) * std::cos(static_cast<double>(y) / 17);
      for (int channel = 0; channel < 3; ++channel) {
        pixels.push_back(static_cast<std::uint8_t>(127 + 100 * wave + 10 * channel));
      }
    }
  }
  return pixels;
}

std::vector<std::uint8_t> noise(std::int64_t side) {
  std::mt19937 random(1);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(side * side * 3));
  for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>(random());
  return pixels;
}

void encode_rgb(benchmark::State& state, const std::vector<std::uint8_t>& pixels) {
  const std::int64_t side = state.range(0);
  const TensorView picture = view(pixels, {side, side, 3});
  std::size_t bytes = 0;
  for (auto _ : state) {
    const auto file = png::encode(picture);
    if (!file) return state.SkipWithError(file.error().message().c_str());
    bytes = file->size();
    benchmark::DoNotOptimize(file->data());
  }
  const auto decoded = png::decode(base::as_bytes(*png::encode(picture)));
  if (!decoded || std::memcmp(decoded->data.data(), pixels.data(), pixels.size()) != 0) {
    return state.SkipWithError("the picture did not come back");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(pixels.size()));
  state.counters["file_bytes"] = static_cast<double>(bytes);
}

void BM_PngEncodeSmooth(benchmark::State& state) { encode_rgb(state, smooth(state.range(0))); }
void BM_PngEncodeNoise(benchmark::State& state) { encode_rgb(state, noise(state.range(0))); }
BENCHMARK(BM_PngEncodeSmooth)->Arg(256)->Arg(1024)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_PngEncodeNoise)->Arg(256)->Arg(1024)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace sonde
