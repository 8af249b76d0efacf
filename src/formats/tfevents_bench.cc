// How fast events are written, found and decoded; each benchmark checks its answer.
#include <benchmark/benchmark.h>

#include <string>

#include "base/crc32c.h"
#include "formats/tfevents.h"
#include "formats/tfevents_decode.h"
#include "formats/tfrecord.h"

namespace sonde {
namespace {

constexpr int kEvents = 100'000;

std::string scalar_file() {
  std::string file;
  tfevents::put_version_event(file, 1.75e9);
  for (int i = 0; i < kEvents; ++i) {
    tfevents::put_scalar_event(file, 1.75e9 + i * 1e-3, i, "train/loss", 1.0 / (i + 1), Precision::f32, i == 0);
  }
  return file;
}

void BM_Crc32c(benchmark::State& state) {
  const std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  std::uint32_t crc = 0;
  for (auto _ : state) benchmark::DoNotOptimize(crc = base::crc32c(base::as_bytes(bytes)));
  if (crc != base::crc32c_by_table(base::as_bytes(bytes))) state.SkipWithError("wrong checksum");
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Crc32c)->Arg(8)->Arg(50)->Arg(128)->Arg(256)->Arg(511)->Arg(512)->Arg(4096)->Arg(1 << 20);

void BM_PutScalarEvent(benchmark::State& state) {
  const bool with_metadata = state.range(0) != 0;
  std::string file;
  std::int64_t step = 0;
  for (auto _ : state) {
    if (file.size() > (std::size_t{1} << 20)) file.clear();  // as a sink does after every flush
    tfevents::put_scalar_event(file, 1.75e9, ++step, "train/loss", 0.25, Precision::f32, with_metadata);
  }
  tfrecord::RecordReader reader(base::as_bytes(file), tfrecord::RecordReader::Tail::complete);
  if (reader.next() != tfrecord::RecordReader::Found::record) state.SkipWithError("not a record");
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_PutScalarEvent)->Arg(0)->Arg(1);

void BM_ScanRecords(benchmark::State& state) {
  const std::string file = scalar_file();
  for (auto _ : state) {
    int records = 0;
    tfrecord::RecordReader reader(base::as_bytes(file));
    while (reader.next() == tfrecord::RecordReader::Found::record) ++records;
    if (records != kEvents + 1) state.SkipWithError("records were lost");
  }
  state.SetItemsProcessed(state.iterations() * kEvents);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(file.size()));
}
BENCHMARK(BM_ScanRecords);

// Everything: checksums, protobuf, the number itself.
void BM_DecodeScalars(benchmark::State& state) {
  const std::string file = scalar_file();
  for (auto _ : state) {
    double sum = 0;
    tfevents::Event event;
    tfrecord::RecordReader reader(base::as_bytes(file));
    while (reader.next() == tfrecord::RecordReader::Found::record) {
      if (!tfevents::decode_event(reader.payload(), event)) state.SkipWithError("an event was refused");
      for (const tfevents::Value& value : event.values) sum += *tfevents::as_scalar(value);
    }
    if (sum < 12.09 || sum > 12.10) state.SkipWithError("the harmonic number is wrong");
  }
  state.SetItemsProcessed(state.iterations() * kEvents);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(file.size()));
}
BENCHMARK(BM_DecodeScalars);

}  // namespace
}  // namespace sonde
