// How long the page waits for a chart, a band or a table of one series of 10,000,000 points.
#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/temp_dir_testing.h"
#include "formats/tfevents.h"
#include "query/api.h"

namespace sonde::query {
namespace {

constexpr int kPoints = 10'000'000;

// A directory with the log, and the server's half that reads it. About half a gigabyte.
const Api& api() {
  static const base::TempDir dir;
  static const std::unique_ptr<Api> made = [] {
    std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same numbers every time
    std::uniform_real_distribution<double> noise(0, 1);
    auto file = base::AppendFile::create(dir / "events.out.tfevents.1700000000.host.1.0");
    std::string bytes;
    double time = 1.7e9;
    for (int i = 0; i < kPoints; ++i) {
      time += 1e-3 * (1 + noise(random));
      tfevents::put_scalar_event(bytes, time, i, "loss", 1.0 / (1 + i * 1e-5) + noise(random), Precision::f32, i == 0);
      if (bytes.size() < (std::size_t{1} << 20) && i + 1 < kPoints) continue;
      if (!file || !file->append(bytes)) break;
      bytes.clear();
    }
    auto log = Log::open(dir.path(), {.cache = LogOptions::Cache::off});
    std::vector<Served> logs;
    if (log) logs.push_back({.label = "", .directory = dir.path(), .log = *std::move(log)});
    for (const Served& served : logs) served.log.wait();
    return std::make_unique<Api>(std::move(logs), nullptr);
  }();
  return *made;
}

void ask(benchmark::State& state, const std::string& path, const std::string& body) {
  const Answer answer = api().answer({.method = Question::Method::post, .path = path, .query = "", .body = body});
  if (answer.status != 200 || answer.body.size() < 200) state.SkipWithError("no answer");
}
const std::string kSeries = R"({"series":[{"run":".","tag":"loss"}],"width":)";

void BM_Series(benchmark::State& state) {
  const std::string body = kSeries + std::to_string(state.range(0)) + "}";
  for (auto _ : state) ask(state, "series", body);
}
BENCHMARK(BM_Series)->Arg(800)->Arg(2'000)->Arg(16'384)->Unit(benchmark::kMillisecond);

void BM_SeriesZoomed(benchmark::State& state) {
  const std::string body = kSeries + "2000,\"smooth\":0.6,\"range\":[1000000," + std::to_string(state.range(0)) + "]}";
  for (auto _ : state) ask(state, "series", body);
}
BENCHMARK(BM_SeriesZoomed)->Arg(1'002'000)->Arg(1'100'000)->Arg(4'000'000)->Unit(benchmark::kMillisecond);

void BM_SeriesSmoothed(benchmark::State& state) {
  const std::string body = kSeries + std::to_string(state.range(0)) + ",\"smooth\":0.6}";
  for (auto _ : state) ask(state, "series", body);
}
BENCHMARK(BM_SeriesSmoothed)->Arg(800)->Arg(2'000)->Arg(16'384)->Unit(benchmark::kMillisecond);

// A weight that was not requested before.
void BM_SeriesSmoothedFirst(benchmark::State& state) {
  static int asked = 0;
  for (auto _ : state) ask(state, "series", kSeries + "2000,\"smooth\":" + std::to_string(0.9 + ++asked * 1e-6) + "}");
}
BENCHMARK(BM_SeriesSmoothedFirst)->Unit(benchmark::kMillisecond);

void BM_SeriesByTime(benchmark::State& state) {
  for (auto _ : state) ask(state, "series", kSeries + "2000,\"smooth\":0.6,\"axis\":\"relative\"}");
}
BENCHMARK(BM_SeriesByTime)->Unit(benchmark::kMillisecond);

void BM_Bands(benchmark::State& state) {
  const std::string axis = state.range(1) == 0 ? "step" : "relative";
  const std::string body = R"({"groups":[{"tag":"loss","runs":["."]}],"axis":")" + axis +
                           "\",\"width\":" + std::to_string(state.range(0)) + "}";
  for (auto _ : state) ask(state, "bands", body);
}
BENCHMARK(BM_Bands)->Args({800, 0})->Args({2'000, 0})->Args({2'000, 1})->Unit(benchmark::kMillisecond);

void BM_Table(benchmark::State& state) {
  const std::string body =
      R"({"series":[{"run":".","tag":"loss"}],"smooth":0.6,"range":[10,)" + std::to_string(kPoints - 10) + "]}";
  for (auto _ : state) ask(state, "table", body);
}
BENCHMARK(BM_Table)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sonde::query
