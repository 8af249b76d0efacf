// What drawing costs, before any encoding. The floor for bytes that stay as they are is a copy of them.
#include <benchmark/benchmark.h>

#include <vector>

#include "render/image.h"
#include "tensor/convert.h"

namespace sonde::render {
namespace {

constexpr std::int64_t kSide = 256;
constexpr std::size_t kValues = kSide * kSide * 3;

void run(benchmark::State& state, const TensorView& view, Layout layout, const ImageOptions& options = {}) {
  for (auto _ : state) {
    Result<Picture> picture = draw(view, layout, options);
    if (!picture || picture->pixels.size() < kValues) state.SkipWithError("nothing was drawn");
    benchmark::DoNotOptimize(picture);
  }
}

void copy_256_rgb(benchmark::State& state) {
  const std::vector<std::uint8_t> values(kValues, 7);
  for (auto _ : state) {
    std::vector<std::uint8_t> copy = values;
    benchmark::DoNotOptimize(copy.data());
  }
}
BENCHMARK(copy_256_rgb);

template <class T>
void draw_256_rgb_hwc(benchmark::State& state) {
  const std::vector<T> values(kValues);
  run(state, view(values, {kSide, kSide, 3}), Layout::HWC);
}
BENCHMARK(draw_256_rgb_hwc<std::uint8_t>);
BENCHMARK(draw_256_rgb_hwc<float>);
BENCHMARK(draw_256_rgb_hwc<double>);
BENCHMARK(draw_256_rgb_hwc<Float16>);
BENCHMARK(draw_256_rgb_hwc<BFloat16>);

template <class T>
void draw_256_rgb_chw(benchmark::State& state) {
  const std::vector<T> values(kValues);
  run(state, view(values, {3, kSide, kSide}), Layout::CHW);
}
BENCHMARK(draw_256_rgb_chw<std::uint8_t>);
BENCHMARK(draw_256_rgb_chw<float>);

void draw_64_channels_of_64x64(benchmark::State& state) {
  const std::vector<float> values(64 * 64 * 64, 0.5F);
  run(state, view(values, {64, 64, 64}), Layout::HWC);
}
BENCHMARK(draw_64_channels_of_64x64);

}  // namespace
}  // namespace sonde::render
