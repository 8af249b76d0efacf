// The public classes of sonde/log.h.
#include "sonde/log.h"

#include <protozero/pbf_reader.hpp>
#include <utility>

#include "formats/tfevents_decode.h"
#include "index/log_index.h"
#include "index/raw_value.h"
#include "index/run_access.h"
#include "index/run_index.h"

namespace sonde {

using index::RawValue;

namespace index {

Result<std::unique_ptr<RawValue>> read_raw(const Run& run, const ValueRef& value) {
  Result<std::string> payload = RunAccess::index(run).read_record(value);
  if (!payload) return payload.error();
  auto raw = std::make_unique<RawValue>();
  raw->payload = std::move(*payload);
  raw->part = value.part;
  if (Status status = decode_event(as_bytes(raw->payload), raw->event); !status) return status;
  if (raw->event.what == tfevents::Event::What::summary && value.part >= raw->event.values.size()) {
    return Status(Code::invalid_argument, "the value is not of this run");
  }
  return raw;
}

}  // namespace index

namespace {

// The value that a summary holds there; graphs are no summaries.
Result<std::unique_ptr<RawValue>> read_value(const Run& run, const ValueRef& value) {
  Result<std::unique_ptr<RawValue>> raw = index::read_raw(run, value);
  if (raw && (*raw)->event.what != tfevents::Event::What::summary) {
    return Status(Code::invalid_argument, "the value is a graph; read it with graph()");
  }
  return raw;
}

// MetaGraphDef { graph_def=2 }
Result<std::string> graph_of_meta_graph(Bytes meta_graph) {
  try {
    protozero::pbf_reader reader(reinterpret_cast<const char*>(meta_graph.data()), meta_graph.size());
    if (reader.next(2, protozero::pbf_wire_type::length_delimited)) return reader.get_bytes();
    return std::string();
  } catch (const protozero::exception& error) {
    return Status(Code::corrupt, std::string("the graph is not well-formed protobuf: ") + error.what());
  }
}

}  // namespace

Run::Run(std::string name, std::shared_ptr<index::RunIndex> index) noexcept
    : name_(std::move(name)), index_(std::move(index)) {}

std::string Run::directory() const { return index_->directory(); }
std::vector<Tag> Run::tags() const { return index_->tags(); }
Result<Tag> Run::tag(std::string_view name, TagKind kind) const { return index_->tag(name, kind); }
Result<Scalars> Run::scalars(std::string_view tag, const Range& range, History history) const {
  return index_->scalars(tag, range, history);
}
Result<Drawing> Run::draw(std::string_view tag, int width, const Range& range, Axis axis) const {
  return index_->draw(tag, width, range, axis);
}
double Run::start_time() const { return index_->start_time(); }
Result<std::vector<ValueRef>> Run::values(std::string_view tag, TagKind kind, const Range& range,
                                          History history) const {
  return index_->values(tag, kind, range, history);
}
std::vector<Damage> Run::damage() const { return index_->damage(); }
std::vector<RecordingGap> Run::gaps() const { return index_->gaps(); }
std::vector<LogFile> Run::files() const { return index_->files(); }

Result<std::vector<Bucket>> Run::histogram(const ValueRef& value) const {
  const auto raw = read_value(*this, value);
  if (!raw) return raw.error();
  const auto buckets = as_histogram((*raw)->value());
  if (!buckets) return buckets.error();
  std::vector<Bucket> histogram;
  histogram.reserve(buckets->size());
  for (const stats::Bucket& bucket : *buckets) histogram.push_back({bucket.left, bucket.right, bucket.count});
  return histogram;
}

Result<EncodedImages> Run::images(const ValueRef& value) const {
  const auto raw = read_value(*this, value);
  if (!raw) return raw.error();
  const auto found = as_images((*raw)->value());
  if (!found) return found.error();
  EncodedImages images{.width = found->width, .height = found->height, .files = {}};
  for (const Bytes file : found->encoded) images.files.emplace_back(as_text(file));
  return images;
}

Result<std::vector<AudioClip>> Run::audio(const ValueRef& value) const {
  const auto raw = read_value(*this, value);
  if (!raw) return raw.error();
  const auto found = as_audio((*raw)->value());
  if (!found) return found.error();
  std::vector<AudioClip> clips;
  for (const tfevents::Clip& clip : *found)
    clips.push_back({std::string(as_text(clip.encoded)), std::string(clip.label)});
  return clips;
}

Result<std::vector<std::string>> Run::text(const ValueRef& value) const {
  const auto raw = read_value(*this, value);
  if (!raw) return raw.error();
  if ((*raw)->value().form != tfevents::Value::Form::tensor) {
    return Status(Code::invalid_argument, "the value is not text");
  }
  const auto found = as_strings((*raw)->value().tensor);
  if (!found) return found.error();
  return std::vector<std::string>(found->begin(), found->end());
}

Result<Tensor> Run::tensor(const ValueRef& value) const {
  const auto raw = read_value(*this, value);
  if (!raw) return raw.error();
  if ((*raw)->value().form != tfevents::Value::Form::tensor) {
    return Status(Code::invalid_argument, "the value is of an old form and not a tensor");
  }
  return as_tensor((*raw)->value().tensor);
}

Result<std::string> Run::graph(const ValueRef& value) const {
  const auto raw = index::read_raw(*this, value);
  if (!raw) return raw.error();
  const tfevents::Event& event = (*raw)->event;
  if (event.what == tfevents::Event::What::meta_graph_def) return graph_of_meta_graph(event.bytes);
  if (event.what == tfevents::Event::What::graph_def) return std::string(as_text(event.bytes));
  return Status(Code::invalid_argument, "the value is not a graph");
}

Result<TensorStatistics> Run::statistics(const ValueRef& value) const { return index_->read_statistics(value); }

Result<std::vector<TensorStatistics>> Run::statistics(std::string_view tag, const Range& range, History history) const {
  const auto refs = values(tag, TagKind::statistics, range, history);
  if (!refs) return refs.error();
  std::vector<TensorStatistics> statistics;
  statistics.reserve(refs->size());
  for (const ValueRef& ref : *refs) {
    Result<TensorStatistics> one = index_->read_statistics(ref);
    if (!one) return one.error();
    statistics.push_back(std::move(*one));
  }
  return statistics;
}

Log::Log(std::shared_ptr<index::LogIndex> index) noexcept : index_(std::move(index)) {}

Result<Log> Log::open(std::string_view directory, const LogOptions& options) {
  auto index = index::LogIndex::open(std::string(directory), options);
  if (!index) return index.error();
  return Log(std::move(*index));
}

const std::string& Log::directory() const noexcept { return index_->directory(); }

std::vector<Run> Log::runs() const {
  std::vector<Run> runs;
  for (auto& run : index_->runs()) runs.push_back(Run(run->name(), run));
  return runs;
}

Result<Run> Log::run(std::string_view name) const {
  auto run = index_->run(name);
  if (!run) return run.error();
  return Run((*run)->name(), *run);
}

void Log::refresh() { index_->refresh(); }
void Log::wait() const { index_->wait(); }
Log::Progress Log::progress() const { return index_->progress(); }
std::uint64_t Log::version() const noexcept { return index_->version(); }
std::uint64_t Log::wait_for_change(std::uint64_t seen, std::chrono::milliseconds timeout) const {
  return index_->wait_for_change(seen, timeout);
}
std::vector<std::string> Log::problems() const { return index_->problems(); }

}  // namespace sonde
