// How much does the backend get through, and what does it cost there?
//
// Rates are records over the time from the first call until flush returns, which is when the operating system has them
// all; everything is then read back and checked. Costs on the backend are CPU time of its thread.
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>

#include "base/file.h"
#include "formats/stats_record.h"
#include "formats/tfevents_decode.h"
#include "formats/tfrecord.h"
#include "measure.h"

namespace bench {
namespace {

using sonde::tfrecord::RecordReader;

// ---- Scalars to disk.

struct Series {
  std::int64_t count = 0;
  double sum = 0;
  std::int64_t last_step = -1;
};

// Every series in the file: its steps must be 0, 1, 2, ...
std::vector<Series> read_series(const std::string& path, std::size_t series) {
  std::vector<Series> found(series);
  const auto file = sonde::base::read_file(path);
  check(file.ok(), "the event file cannot be read");
  RecordReader reader(sonde::base::as_bytes(*file), RecordReader::Tail::complete);
  sonde::tfevents::Event event;
  RecordReader::Found next = reader.next();
  for (; next == RecordReader::Found::record; next = reader.next()) {
    check(sonde::tfevents::decode_event(reader.payload(), event).ok(), "an event cannot be decoded");
    for (const auto& value : event.values) {
      Series& one = found.at(static_cast<std::size_t>(value.tag.back() - '0'));
      check(event.step == one.last_step + 1, "steps are out of order");
      one.last_step = event.step;
      one.sum += *sonde::tfevents::as_scalar(value);
      ++one.count;
    }
  }
  check(next == RecordReader::Found::end, "the event file is damaged");
  return found;
}

void scalars(std::size_t producers) {
  constexpr std::int64_t kCalls = 12'000'000;
  const std::int64_t calls_each = kCalls / static_cast<std::int64_t>(producers);
  const LogDirectory directory;
  sonde::Recorder recorder = open(directory);
  const auto produce = [&](const sonde::Scalar& series) {
    for (std::int64_t step = 0; step < calls_each; ++step) series.record(static_cast<double>(step & 1), step);
  };
  std::vector<sonde::Scalar> series;
  series.reserve(producers);
  for (std::size_t i = 0; i < producers; ++i) series.push_back(recorder.series("train/loss_" + std::to_string(i)));

  const BackendClock backend;
  const double cpu = backend.seconds();
  const double begin = seconds();
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < producers; ++i) others.emplace_back([&, i] { produce(series[i]); });
    produce(series[0]);
  }
  const sonde::Status flushed = recorder.flush();
  const double time = seconds() - begin;
  check(flushed.ok(), flushed.message());
  const std::string name = "scalars_" + std::to_string(producers) + "_threads";
  report(name, static_cast<double>(kCalls) / time / 1e6, "M/s");
  report(name + "/backend", (backend.seconds() - cpu) / static_cast<double>(kCalls) * 1e9, "ns");

  check_complete(recorder, static_cast<std::uint64_t>(kCalls), 0);
  for (const Series& one : read_series(directory.file("events.out.tfevents").string(), producers)) {
    check(one.count == calls_each && one.sum * 2 == static_cast<double>(calls_each), "scalars are missing");
  }
}

// ---- What a tensor costs on the backend.

struct Cost {
  double cpu;      // of the backend, seconds a record
  double latency;  // from the call until it is in the file
};

template <class Call>
Cost backend_cost(sonde::Recorder& recorder, int calls, Call&& call) {
  const BackendClock backend;
  std::vector<double> cpu;
  std::vector<double> latency;
  for (int i = 0; i < calls; ++i) {
    const double cpu_before = backend.seconds();
    const double begin = seconds();
    call(i);
    const sonde::Status flushed = recorder.flush();
    latency.push_back(seconds() - begin);
    cpu.push_back(backend.seconds() - cpu_before);
    check(flushed.ok(), flushed.message());
  }
  return {median(cpu), median(latency)};
}

void histogram() {
  constexpr int kCalls = 300;
  constexpr std::size_t kMillion = 1'000'000;
  const LogDirectory directory;
  sonde::Recorder recorder = open(directory);
  const std::vector<float> values = normal_values(kMillion);
  const std::vector<float> equal(kMillion, 3.25F);
  const Cost cost =
      backend_cost(recorder, kCalls, [&](int i) { recorder.histogram("normal", sonde::view(values), i); });
  report("histogram_1m/backend", cost.cpu * 1e3, "ms");
  report("histogram_1m/latency", cost.latency * 1e3, "ms");
  const Cost of_equal =
      backend_cost(recorder, kCalls, [&](int i) { recorder.histogram("equal", sonde::view(equal), i); });
  report("histogram_1m_equal/backend", of_equal.cpu * 1e3, "ms");
  check_complete(recorder, 0, 2 * kCalls);

  const auto file = sonde::base::read_file(directory.file("events.out.tfevents").string());
  check(file.ok(), "the event file cannot be read");
  RecordReader reader(sonde::base::as_bytes(*file), RecordReader::Tail::complete);
  int histograms = 0;
  while (reader.next() == RecordReader::Found::record) {
    const auto event = sonde::tfevents::decode_event(reader.payload());
    check(event.ok(), "an event cannot be decoded");
    for (const auto& value : event->values) {
      const auto buckets = sonde::tfevents::as_histogram(value);
      check(buckets.ok(), "a histogram cannot be decoded");
      double total = 0;
      for (const auto& bucket : *buckets) total += bucket.count;
      check(std::abs(total - static_cast<double>(kMillion)) < 1, "a histogram lacks values");
      ++histograms;
    }
  }
  check(histograms == 2 * kCalls, "histograms are missing");
}

// Noise, which compresses worst and is what the peers are given too, and a smooth picture.
void images() {
  constexpr int kCalls = 200;
  constexpr std::size_t kSide = 256;
  const LogDirectory directory;
  sonde::Recorder recorder = open(directory);
  std::mt19937 random(1);
  std::vector<std::uint8_t> noise(kSide * kSide * 3);
  std::vector<std::uint8_t> smooth(noise.size());
  for (std::size_t i = 0; i < noise.size(); ++i) {
    noise[i] = static_cast<std::uint8_t>(random());
    smooth[i] = static_cast<std::uint8_t>(i / 3 % kSide / 2 + i / 3 / kSide / 2);
  }
  const sonde::Shape shape = {kSide, kSide, 3};
  const auto record = [&](const char* name, const std::vector<std::uint8_t>& picture) {
    const Cost cost = backend_cost(
        recorder, kCalls, [&](int i) { recorder.image(name, sonde::view(picture, shape), i, sonde::Layout::HWC); });
    report(std::string("image_256_") + name + "/backend", cost.cpu * 1e3, "ms");
    report(std::string("image_256_") + name + "/latency", cost.latency * 1e3, "ms");
  };
  record("noise", noise);
  record("smooth", smooth);
  check_complete(recorder, 0, 2 * kCalls);
}

// ---- Large tensors on several threads.

constexpr std::size_t kLarge = std::size_t{4} << 20;  // f32: 16 MiB
constexpr int kLargeTensors = 24;

// Seconds for statistics and histograms of large tensors, which are lent and not copied: what the backend does.
double large_tensors(int threads, const std::shared_ptr<std::vector<float>>& values, std::string& statistics) {
  const LogDirectory directory;
  sonde::RecorderOptions options;
  options.threads = threads;
  options.memory = std::size_t{1} << 30;
  sonde::Recorder recorder = open(directory, options);
  const sonde::Probe probe = recorder.probe("large/out", {.keep = sonde::Keep::stats | sonde::Keep::histogram});
  double begin = 0;
  for (int n = 0; n <= kLargeTensors; ++n) {
    if (n == 1) begin = seconds();  // the first one starts the threads
    {
      const auto step = recorder.step(n);
      probe.record(step, sonde::frozen(sonde::view(*values), values));
    }
    if (n > 0 && n < kLargeTensors) continue;
    const sonde::Status flushed = recorder.flush();
    check(flushed.ok(), flushed.message());
  }
  const double time = seconds() - begin;
  check_complete(recorder, 0, kLargeTensors + 1);
  const auto file = sonde::base::read_file(directory.file("stats.").string());
  check(file.ok(), "the statistics file cannot be read");
  RecordReader reader(sonde::base::as_bytes(*file), RecordReader::Tail::complete);
  while (reader.next() == RecordReader::Found::record) {
    const auto record = sonde::stats_record::decode_record(reader.payload());
    check(record.ok(), "a record of statistics cannot be decoded");
    const auto* step = std::get_if<sonde::stats_record::Step>(&*record);
    if (step == nullptr || step->step != kLargeTensors) continue;
    check(step->entries.at(0).summary.count == kLarge, "statistics of a tensor are wrong");
    const auto* bytes = reinterpret_cast<const char*>(&step->entries.at(0).summary);
    statistics.assign(bytes, sizeof(sonde::stats::Summary));
  }
  return time;
}

// Runs take turns, so that both have the same neighbours on the machine.
void several_threads() {
  const auto values = std::make_shared<std::vector<float>>(normal_values(kLarge));
  std::vector<double> one;
  std::vector<double> two;
  std::string of_one;
  std::string of_two;
  for (int i = 0; i < 5; ++i) {
    one.push_back(large_tensors(1, values, of_one));
    two.push_back(large_tensors(2, values, of_two));
    check(!of_one.empty() && of_one == of_two, "statistics depend on the number of threads");
  }
  const double alone = median(one);
  report("large_1_thread", kLarge * sizeof(float) * kLargeTensors / alone / 1e9, "GB/s");
  report("large_2_threads", kLarge * sizeof(float) * kLargeTensors / median(two) / 1e9, "GB/s");
}

// ---- The size of the statistics file.

void statistics(const char* name, sonde::Keep keep) {
  constexpr int kProbes = 50;
  constexpr int kSteps = 200;
  const LogDirectory directory;
  sonde::Recorder recorder = open(directory);
  std::vector<sonde::Probe> probes;
  probes.reserve(kProbes);
  for (int i = 0; i < kProbes; ++i) {
    probes.push_back(recorder.probe("layer_" + std::to_string(i) + "/out", {.keep = keep}));
  }
  const std::vector<float> values = normal_values(4096 + kProbes);
  for (int n = 0; n < kSteps; ++n) {
    {
      const auto step = recorder.step(n);
      for (std::size_t i = 0; i < kProbes; ++i) probes[i].record(step, sonde::view(values.data() + i, {32, 128}));
    }
    const sonde::Status flushed = recorder.flush();
    check(flushed.ok(), flushed.message());
  }
  check_complete(recorder, 0, kProbes * kSteps);
  const auto file = sonde::base::read_file(directory.file("stats.").string());
  check(file.ok(), "the statistics file cannot be read");
  report(name, static_cast<double>(file->size()) / (kProbes * kSteps), "bytes");

  int tensors = 0;
  RecordReader reader(sonde::base::as_bytes(*file), RecordReader::Tail::complete);
  while (reader.next() == RecordReader::Found::record) {
    const auto record = sonde::stats_record::decode_record(reader.payload());
    check(record.ok(), "a record of statistics cannot be decoded");
    if (const auto* step = std::get_if<sonde::stats_record::Step>(&*record)) {
      for (const auto& entry : step->entries) {
        check(entry.summary.count == 4096, "statistics of a tensor are wrong");
        ++tensors;
      }
    }
  }
  check(tensors == kProbes * kSteps, "statistics of tensors are missing");
}

}  // namespace
}  // namespace bench

int main() {
  bench::scalars(1);
  bench::scalars(2);
  bench::histogram();
  bench::images();
  bench::several_threads();
  bench::statistics("stats_bytes", sonde::Keep::stats);
  bench::statistics("stats_histogram_bytes", sonde::Keep::stats | sonde::Keep::histogram);
}
