// What the flight ring costs over a memcpy of the same bytes into warm memory, in one run: one large tensor, and many
// small ones. The ring is warm too: it has gone round before. Each checks that the last tensor is in the file.
#include <benchmark/benchmark.h>

#include <cstring>
#include <ctime>
#include <vector>

#include "base/file.h"
#include "base/temp_dir_testing.h"
#include "sinks/flight_ring.h"

namespace sonde::sinks {
namespace {

constexpr std::uint64_t kRing = std::uint64_t{64} << 20;

// Processor time of this thread: what others do on the machine counts less.
double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bool holds(const std::string& path, std::int64_t step, const std::vector<float>& values) {
  const auto file = base::MappedFile::open(path);
  if (!file) return false;
  const auto contents = flight::read(file->bytes());
  if (!contents || contents->torn > 0 || contents->steps.empty() || contents->steps.back().step != step) return false;
  const auto& tensors = contents->steps.back().tensors;
  return !tensors.empty() && std::memcmp(tensors.back().view.data, values.data(), values.size() * sizeof(float)) == 0;
}

// Steps of this many tensors of this many elements; the counter `ratio` is their processor time over that of the
// copies.
void BM_Add(benchmark::State& state) {
  const auto tensors = static_cast<std::size_t>(state.range(0));
  const auto elements = static_cast<std::size_t>(state.range(1));
  base::TempDir dir;
  auto ring = FlightRing::create({.directory = dir.path(), .bytes = kRing});
  if (!ring) return state.SkipWithError(ring.error().message().c_str());
  const std::vector<float> values(elements, 1.5F);
  const std::size_t bytes = elements * sizeof(float);
  // The copies go round a buffer of the ring's size, as the ring does.
  std::vector<std::byte> buffer(kRing, std::byte{1});
  std::size_t at = 0;
  std::int64_t step = 0;
  const auto add_step = [&] {
    ++step;
    for (std::size_t i = 0; i < tensors; ++i) {
      (*ring)->add({.step = step}, false, {.name = "dense_1/out", .view = view(values)});
    }
    (*ring)->end_step({.step = step}, false, {});
  };
  const auto copy_step = [&] {
    for (std::size_t i = 0; i < tensors; ++i) {
      if (at + bytes > buffer.size()) at = 0;
      std::memcpy(buffer.data() + at, values.data(), bytes);
      benchmark::ClobberMemory();
      at += bytes;
    }
  };
  for (std::uint64_t done = 0; done < 2 * kRing; done += tensors * bytes) add_step();
  double ring_seconds = 0;
  double copy_seconds = 0;
  for (auto _ : state) {
    const double start = cpu_seconds();
    add_step();
    const double middle = cpu_seconds();
    copy_step();
    ring_seconds += middle - start;
    copy_seconds += cpu_seconds() - middle;
    state.SetIterationTime(middle - start);
  }
  if (!holds((*ring)->path(), step, values)) return state.SkipWithError("the last tensor is not in the ring");
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(tensors * bytes));
  state.counters["ratio"] = ring_seconds / copy_seconds;
}
BENCHMARK(BM_Add)->Args({1, 1 << 20})->Args({64, 1024})->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace sonde::sinks
