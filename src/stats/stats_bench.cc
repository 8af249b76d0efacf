// How fast the statistics are, beside a memcpy of the same bytes in the same program. Each benchmark also checks its
// answer. Rates are bytes of the tensor over wall time.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "stats/derived.h"
#include "stats/reference.h"
#include "stats/summary.h"
#include "tensor/convert.h"

namespace sonde::stats {
namespace {

constexpr std::int64_t kDram = 16 << 20;  // values, 64 MiB of f32: no cache holds them
constexpr std::int64_t kCache = 64 << 10;
constexpr std::int64_t kMillion = 1 << 20;

enum class Data : std::uint8_t { normal, equal, few_nan };

std::vector<float> make_values(std::int64_t count, Data data) {
  std::vector<float> values(static_cast<std::size_t>(count), 3.25F);
  if (data == Data::equal) return values;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  // A period that no cache or branch predictor learns, made faster than 16M numbers.
  const std::size_t period = std::min<std::size_t>(values.size(), 1'000'003);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i < period ? normal(random) : values[i - period];
  if (data == Data::few_nan) {
    for (std::size_t i = 77; i < values.size(); i += 1000) values[i] = std::numeric_limits<float>::quiet_NaN();
  }
  return values;
}

void set_rate(benchmark::State& state, const TensorView& view) {
  state.SetBytesProcessed(state.iterations() * view.size() * static_cast<std::int64_t>(size_of(view.dtype)));
}

bool close(double a, double b) { return a == b || std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b)); }

// Whether an answer is that of the scalar reference.
bool check(const TensorView& view, const Summary& summary) {
  const auto values = tensor::to_doubles(view);
  if (!values) return false;
  const Summary expected = reference_summary(*values);
  return summary.count == expected.count && summary.nan == expected.nan && summary.zeros == expected.zeros &&
         summary.negatives == expected.negatives && summary.min == expected.min && summary.max == expected.max &&
         close(summary.mean, expected.mean) && close(summary.m2, expected.m2) &&
         close(summary.sum_abs, expected.sum_abs);
}

void run_stats(benchmark::State& state, const TensorView& view) {
  Summary summary;
  for (auto _ : state) {
    summary = *summarize(view);
    benchmark::DoNotOptimize(summary);
  }
  set_rate(state, view);
  if (!check(view, summary)) state.SkipWithError("wrong answer");
}

void run_histogram(benchmark::State& state, const TensorView& view) {
  Summary summary;
  Histogram histogram;
  for (auto _ : state) {
    histogram = {};
    summary = *summarize(view, histogram);
    benchmark::DoNotOptimize(summary);
  }
  set_rate(state, view);
  if (!check(view, summary) || histogram != reference_histogram(*tensor::to_doubles(view))) {
    state.SkipWithError("wrong answer");
  }
}

void BM_memcpy(benchmark::State& state) {
  const std::vector<float> from = make_values(state.range(0), Data::normal);
  std::vector<float> to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
    benchmark::ClobberMemory();
  }
  set_rate(state, view(from));
  if (to != from) state.SkipWithError("wrong answer");
}
BENCHMARK(BM_memcpy)->Arg(kMillion)->Arg(kDram);

void BM_stats(benchmark::State& state, Data data) {
  const std::vector<float> values = make_values(state.range(0), data);
  run_stats(state, view(values));
}
BENCHMARK_CAPTURE(BM_stats, normal, Data::normal)->Arg(128)->Arg(kCache)->Arg(kMillion)->Arg(kDram);
BENCHMARK_CAPTURE(BM_stats, few_nan, Data::few_nan)->Arg(kCache);

void BM_histogram(benchmark::State& state, Data data) {
  const std::vector<float> values = make_values(state.range(0), data);
  run_histogram(state, view(values));
}
BENCHMARK_CAPTURE(BM_histogram, normal, Data::normal)->Arg(128)->Arg(kCache)->Arg(kMillion)->Arg(kDram);
BENCHMARK_CAPTURE(BM_histogram, equal, Data::equal)->Arg(128)->Arg(kCache)->Arg(kMillion)->Arg(kDram);

template <class Half, Half (*kConvert)(float) noexcept>
void BM_half(benchmark::State& state) {
  std::vector<Half> values;
  for (const float x : make_values(state.range(0), Data::normal)) values.push_back(kConvert(x));
  run_stats(state, view(values));
}
BENCHMARK_TEMPLATE(BM_half, Float16, tensor::to_float16)->Name("BM_stats/f16")->Arg(kCache)->Arg(kDram);
BENCHMARK_TEMPLATE(BM_half, BFloat16, tensor::to_bfloat16)->Name("BM_stats/bf16")->Arg(kCache)->Arg(kDram);

void BM_stats_f64(benchmark::State& state) {
  const std::vector<float> floats = make_values(state.range(0), Data::normal);
  const std::vector<double> values(floats.begin(), floats.end());
  run_stats(state, view(values));
}
BENCHMARK(BM_stats_f64)->Name("BM_stats/f64")->Arg(kCache);

// A column view: one element in 64.
void BM_stats_strided(benchmark::State& state) {
  const std::vector<float> values = make_values(state.range(0), Data::normal);
  run_stats(state, view(values.data(), {state.range(0) / 64}, {64}));
}
BENCHMARK(BM_stats_strided)->Name("BM_stats/strided")->Arg(kMillion);

void BM_buckets(benchmark::State& state) {
  const std::vector<float> values = make_values(kMillion, Data::normal);
  Histogram histogram;
  const Summary summary = *summarize(view(values), histogram);
  double total = 0;
  for (auto _ : state) {
    const std::vector<Bucket> buckets = tensorboard_buckets(summary, histogram, 30);
    total = 0;
    for (const Bucket& bucket : buckets) total += bucket.count;
  }
  if (!close(total, static_cast<double>(kMillion))) state.SkipWithError("wrong answer");
}
BENCHMARK(BM_buckets);

}  // namespace
}  // namespace sonde::stats
