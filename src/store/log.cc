// The public classes of sonde/log.h, over any source. The index implements Log::open.
#include "sonde/log.h"

#include <protozero/pbf_reader.hpp>
#include <utility>

#include "formats/tfevents_decode.h"
#include "store/access.h"
#include "store/raw_value.h"
#include "store/source.h"

namespace sonde {

using store::RawValue;

namespace store {

Result<std::unique_ptr<RawValue>> read_raw(const Run& run, const ValueRef& value) {
  Result<std::string> payload = Access::source(run).read_record(value);
  if (!payload) return payload.error();
  auto raw = std::make_unique<RawValue>();
  raw->payload = std::move(*payload);
  raw->part = value.part;
  if (Status status = decode_event(base::as_bytes(raw->payload), raw->event); !status) return status;
  if (raw->event.what == tfevents::Event::What::summary && value.part >= raw->event.values.size()) {
    return Status(Code::invalid_argument, "the value is not of this run");
  }
  return raw;
}

}  // namespace store

namespace {

// The value that a summary holds there; graphs are no summaries.
Result<std::unique_ptr<RawValue>> read_value(const Run& run, const ValueRef& value) {
  Result<std::unique_ptr<RawValue>> raw = store::read_raw(run, value);
  if (raw && (*raw)->event.what != tfevents::Event::What::summary) {
    return Status(Code::invalid_argument, "the value is a graph; read it with graph()");
  }
  return raw;
}

// MetaGraphDef { graph_def=2 }
Result<std::string> graph_of_meta_graph(base::Bytes meta_graph) {
  try {
    protozero::pbf_reader reader(reinterpret_cast<const char*>(meta_graph.data()), meta_graph.size());
    if (reader.next(2, protozero::pbf_wire_type::length_delimited)) return reader.get_bytes();
    return std::string();
  } catch (const protozero::exception& error) {
    return Status(Code::corrupt, std::string("the graph is not well-formed protobuf: ") + error.what());
  }
}

}  // namespace

std::string_view to_string(TagKind kind) noexcept {
  switch (kind) {
    case TagKind::scalars: return "scalars";
    case TagKind::histograms: return "histograms";
    case TagKind::images: return "images";
    case TagKind::audio: return "audio";
    case TagKind::text: return "text";
    case TagKind::pr_curves: return "pr_curves";
    case TagKind::mesh: return "mesh";
    case TagKind::hparams: return "hparams";
    case TagKind::custom_scalars: return "custom_scalars";
    case TagKind::graphs: return "graphs";
    case TagKind::tensors: return "tensors";
    case TagKind::statistics: return "statistics";
  }
  return "tensors";
}

std::string_view to_string(RecordingGap::Reason reason) noexcept {
  switch (reason) {
    case RecordingGap::Reason::buffer_full: return "the buffer was full";
    case RecordingGap::Reason::write_error: return "write error";
    case RecordingGap::Reason::budget: return "budget";
    case RecordingGap::Reason::rejected: return "unusable tensor";
    case RecordingGap::Reason::unknown: return "unknown";
  }
  return "unknown";
}

Run::Run(std::string name, std::shared_ptr<store::RunSource> source) noexcept
    : name_(std::move(name)), source_(std::move(source)) {}

std::string Run::directory() const { return source_->directory(); }
std::vector<Tag> Run::tags() const { return source_->tags(); }
Result<Tag> Run::tag(std::string_view name, TagKind kind) const { return source_->tag(name, kind); }
Result<Scalars> Run::scalars(std::string_view tag, const Range& range, History history) const {
  return source_->scalars(tag, range, history);
}
Result<Drawing> Run::draw(std::string_view tag, int width, const Range& range, Axis axis) const {
  return source_->draw(tag, width, range, axis);
}
double Run::start_time() const { return source_->start_time(); }
Result<std::vector<ValueRef>> Run::values(std::string_view tag, TagKind kind, const Range& range,
                                          History history) const {
  return source_->values(tag, kind, range, history);
}
std::vector<ProbeInfo> Run::probes() const { return source_->probes(); }
std::vector<Damage> Run::damage() const { return source_->damage(); }
std::vector<RecordingGap> Run::gaps() const { return source_->gaps(); }
std::vector<LogFile> Run::files() const { return source_->files(); }

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
  for (const base::Bytes file : found->encoded) images.files.emplace_back(base::as_text(file));
  return images;
}

Result<std::vector<AudioClip>> Run::audio(const ValueRef& value) const {
  const auto raw = read_value(*this, value);
  if (!raw) return raw.error();
  const auto found = as_audio((*raw)->value());
  if (!found) return found.error();
  std::vector<AudioClip> clips;
  for (const tfevents::Clip& clip : *found)
    clips.push_back({std::string(base::as_text(clip.encoded)), std::string(clip.label)});
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
  const auto raw = store::read_raw(*this, value);
  if (!raw) return raw.error();
  const tfevents::Event& event = (*raw)->event;
  if (event.what == tfevents::Event::What::meta_graph_def) return graph_of_meta_graph(event.bytes);
  if (event.what == tfevents::Event::What::graph_def) return std::string(base::as_text(event.bytes));
  return Status(Code::invalid_argument, "the value is not a graph");
}

Result<Scalars> Run::statistic(std::string_view tag, Statistic statistic, const Range& range, History history) const {
  return source_->statistic(tag, statistic, range, history);
}
Result<StatisticsMap> Run::statistics_map(const std::vector<std::string>& tags, Statistic statistic, int width,
                                          const Range& range) const {
  return source_->statistics_map(tags, statistic, width, range);
}
Result<TensorStatistics> Run::statistics(const ValueRef& value) const { return source_->read_statistics(value); }

Result<std::vector<TensorStatistics>> Run::statistics(std::string_view tag, const Range& range, History history) const {
  const auto refs = values(tag, TagKind::statistics, range, history);
  if (!refs) return refs.error();
  std::vector<TensorStatistics> statistics;
  statistics.reserve(refs->size());
  for (const ValueRef& ref : *refs) {
    Result<TensorStatistics> one = source_->read_statistics(ref);
    if (!one) return one.error();
    statistics.push_back(std::move(*one));
  }
  return statistics;
}

Log::Log(std::shared_ptr<store::LogSource> source) noexcept : source_(std::move(source)) {}

const std::string& Log::directory() const noexcept { return source_->directory(); }

std::vector<Run> Log::runs() const {
  std::vector<Run> runs;
  for (auto& run : source_->runs()) runs.push_back(Run(run->name(), run));
  return runs;
}

Result<Run> Log::run(std::string_view name) const {
  auto run = source_->run(name);
  if (!run) return run.error();
  return Run((*run)->name(), *run);
}

void Log::refresh() { source_->refresh(); }
void Log::wait() const { source_->wait(); }
Log::Progress Log::progress() const { return source_->progress(); }
std::uint64_t Log::version() const noexcept { return source_->version(); }
std::uint64_t Log::wait_for_change(std::uint64_t seen, std::chrono::milliseconds timeout) const {
  return source_->wait_for_change(seen, timeout);
}
std::vector<std::string> Log::problems() const { return source_->problems(); }

}  // namespace sonde
