// Any bytes as a statistics record; decoded records must round-trip.
#include <cstdlib>
#include <string>

#include "formats/stats_record.h"
#include "formats/tfrecord.h"

namespace {

using namespace sonde;
using namespace sonde::stats_record;

Record read_back(const std::string& file) {
  tfrecord::RecordReader reader(base::as_bytes(file), tfrecord::RecordReader::Tail::complete);
  if (reader.next() != tfrecord::RecordReader::Found::record) std::abort();
  auto record = decode_record(reader.payload());
  if (!record) std::abort();
  return *std::move(record);
}

void check_step(const Step& step) {
  std::string file;
  StepWriter writer(file, step.step, step.wall_time, step.evaluation);
  for (const Entry& entry : step.entries) {
    const auto histogram = entry.histogram ? decode_histogram(*entry.histogram) : Result<stats::Histogram>(Status());
    writer.add({.id = entry.id, .occurrence = entry.occurrence, .form = entry.form ? &*entry.form : nullptr},
               entry.summary, histogram ? &*histogram : nullptr);
  }
  writer.end();
  const Record again = read_back(file);
  const Step& other = std::get<Step>(again);
  if (other.step != step.step || other.entries.size() != step.entries.size()) std::abort();
  for (std::size_t i = 0; i < step.entries.size(); ++i) {
    const Entry& a = step.entries[i];
    const Entry& b = other.entries[i];
    if (a.id != b.id || a.occurrence != b.occurrence || a.form != b.form) std::abort();
    if (a.summary.count != b.summary.count || a.summary.negatives != b.summary.negatives) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto record = decode_record({reinterpret_cast<const std::byte*>(data), size});
  if (!record) return 0;
  std::string file;
  if (const auto* definition = std::get_if<Definition>(&*record)) {
    put_definition(file, *definition);
    if (std::get<Definition>(read_back(file)) != *definition) std::abort();
  } else if (const auto* gap = std::get_if<Gap>(&*record)) {
    put_gap(file, *gap);
    if (std::get<Gap>(read_back(file)) != *gap) std::abort();
  } else if (const auto* header = std::get_if<Header>(&*record)) {
    put_header(file, *header);
    if (std::get<Header>(read_back(file)).writer != header->writer) std::abort();
  } else if (const auto* step = std::get_if<Step>(&*record)) {
    check_step(*step);
  }
  return 0;
}
