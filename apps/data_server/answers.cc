#include "answers.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "blob_key.h"
#include "downsample.h"
#include "series.h"
#include "store/raw_value.h"
#include "values.h"

namespace sonde::data_server {
namespace {

// A directory that does not exist is looked for this often.
constexpr std::chrono::seconds kBetweenAttempts{1};
// The length of the longest sequence is determined from this many values of a series: each has to be read.
constexpr std::size_t kValuesToMeasure = 64;

using RawPointer = std::unique_ptr<store::RawValue>;

// Names are compared as they are shown: invalid UTF-8 cannot be sent.
template <class Filter>
bool passes(bool given, const Filter& filter, const std::string& shown) {
  return !given || std::ranges::find(filter.names(), shown) != filter.names().end();
}

// Code::invalid_argument if the request names no plugin.
Status check_plugin(const rpc::PluginFilter& filter) {
  if (!filter.plugin_name().empty()) return {};
  return {Code::invalid_argument, "the request names no plugin: plugin_filter.plugin_name is empty"};
}

// Calls `visit(run, tag, entry)` for every series that the request asks for, with `entry` new in the response and its
// name filled in. Runs without any are left out.
template <class Request, class Response, class Visit>
void for_each_series(const std::vector<Run>& runs, rpc::DataClass wanted, const Request& request, Response& response,
                     const Visit& visit) {
  const rpc::RunTagFilter& filter = request.run_tag_filter();
  for (const Run& run : runs) {
    const std::string run_name = base::valid_utf8(run.name());
    if (!passes(filter.has_runs(), filter.runs(), run_name)) continue;
    typename Response::RunEntry* run_entry = nullptr;
    for (const Tag& tag : run.tags()) {
      if (plugin_of(tag) != request.plugin_filter().plugin_name()) continue;
      const std::string tag_name = base::valid_utf8(tag.name);
      if (!passes(filter.has_tags(), filter.tags(), tag_name) || data_class_of(run, tag) != wanted) continue;
      if (run_entry == nullptr) {
        run_entry = response.add_runs();
        run_entry->set_run_name(run_name);
      }
      auto* entry = run_entry->add_tags();
      entry->set_tag_name(tag_name);
      visit(run, tag, *entry);
    }
  }
}

template <class Metadata>
void fill_series(const Tag& tag, rpc::DataClass data_class, Metadata& metadata) {
  metadata.set_max_step(tag.last_step);
  metadata.set_max_wall_time(tag.last_time);
  fill_metadata(tag, data_class, *metadata.mutable_summary_metadata());
}

// Calls `visit(ref, raw)` for at most `limit` values. One that cannot be read, since its file has just been replaced,
// is left out.
template <class Visit>
void for_some_values(const Run& run, const Tag& tag, std::uint64_t limit, const Visit& visit) {
  const auto values = run.values(tag.name, tag.kind);
  if (!values) return;
  for (const std::size_t i : evenly(values->size(), limit)) {
    const ValueRef& ref = (*values)[i];
    if (const Result<RawPointer> raw = store::read_raw(run, ref)) visit(ref, **raw);
  }
}

template <class Data>
void add_point(Data& data, std::int64_t step, double wall_time) {
  data.add_step(step);
  data.add_wall_time(wall_time);
}

void fill_scalars(const Run& run, const Tag& tag, std::uint64_t limit, rpc::ScalarData& data) {
  if (tag.kind != TagKind::scalars) {  // numbers of a plugin that is not known here
    for_some_values(run, tag, limit, [&](const ValueRef& ref, const store::RawValue& raw) {
      const auto value = tfevents::as_scalar(raw.value());
      if (!value) return;
      add_point(data, ref.step, ref.wall_time);
      data.add_value(static_cast<float>(*value));
    });
    return;
  }
  const auto points = sample(run, tag, limit);
  if (!points) return;
  data.mutable_step()->Add(points->steps.begin(), points->steps.end());
  data.mutable_wall_time()->Add(points->wall_times.begin(), points->wall_times.end());
  data.mutable_value()->Reserve(static_cast<int>(points->size()));
  for (const double value : points->values) data.add_value(static_cast<float>(value));
}

void fill_tensors(const Run& run, const Tag& tag, std::uint64_t limit, rpc::TensorData& data) {
  for_some_values(run, tag, limit, [&](const ValueRef& ref, const store::RawValue& raw) {
    auto tensor = tensor_proto(raw);
    if (!tensor) return;
    add_point(data, ref.step, ref.wall_time);
    data.add_value(*std::move(tensor));
  });
}

void fill_blob_sequences(const Run& run, const Tag& tag, std::uint64_t limit, rpc::BlobSequenceData& data) {
  for_some_values(run, tag, limit, [&](const ValueRef& ref, const store::RawValue& raw) {
    const Blobs blobs(raw, tag.plugin);
    if (!blobs.status()) return;
    add_point(data, ref.step, ref.wall_time);
    rpc::BlobReferenceSequence* sequence = data.add_values();
    for (std::size_t i = 0; i < blobs.items().size(); ++i) {
      const BlobKey key{run.name(), tag.name, tag.kind, ref, i};
      sequence->add_blob_refs()->set_blob_key(key.encode());
    }
  });
}

std::int64_t longest_sequence(const Run& run, const Tag& tag) {
  std::size_t longest = 0;
  for_some_values(run, tag, kValuesToMeasure, [&](const ValueRef&, const store::RawValue& raw) {
    longest = std::max(longest, Blobs(raw, tag.plugin).items().size());
  });
  return static_cast<std::int64_t>(longest);
}

// The value that a key names, if the series still has it: keys come from outside.
Result<ValueRef> find_value(const Run& run, const BlobKey& key) {
  const Range range{.first_step = key.value.step, .last_step = key.value.step};
  const auto values = run.values(key.tag, key.kind, range, History::all);
  if (!values) return values.error();
  for (const ValueRef& ref : *values) {
    if (ref.file == key.value.file && ref.offset == key.value.offset && ref.part == key.value.part) return ref;
  }
  return Status(Code::not_found, "the blob is no longer in the log");
}

}  // namespace

Status Answers::open() {
  const std::scoped_lock lock(mutex_);
  if (log_) return {};
  const auto now = std::chrono::steady_clock::now();
  if (!last_error_.ok() && now - last_attempt_ < kBetweenAttempts) return last_error_;
  last_attempt_ = now;
  auto opened = Log::open(source_.directory, source_.options);
  last_error_ = opened.status();
  if (opened) log_ = *std::move(opened);
  return last_error_;
}

std::vector<Run> Answers::runs() {
  if (!open()) return {};
  const Log log = [this] {
    const std::scoped_lock lock(mutex_);
    return *log_;
  }();
  return log.runs();
}

Result<std::uint64_t> Answers::limit(bool given, const rpc::Downsample& downsample, const std::string& plugin) const {
  if (!given) return Status(Code::invalid_argument, "the request does not say how many points: downsample is missing");
  if (downsample.num_points() < 0) {
    return Status(Code::invalid_argument,
                  "downsample.num_points is " + std::to_string(downsample.num_points()) + ", but cannot be negative");
  }
  if (downsample.num_points() == 0 && source_.unlimited.contains(plugin)) {
    return std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  }
  return static_cast<std::uint64_t>(downsample.num_points());
}

Status Answers::get_experiment(const rpc::GetExperimentRequest&, rpc::GetExperimentResponse& response) {
  response.set_data_location(base::valid_utf8(source_.directory));
  return {};
}

Status Answers::list_plugins(const rpc::ListPluginsRequest&, rpc::ListPluginsResponse& response) {
  std::set<std::string> names;
  for (const Run& run : runs()) {
    for (const Tag& tag : run.tags()) names.insert(plugin_of(tag));
  }
  names.erase("");
  for (const std::string& name : names) response.add_plugins()->set_name(name);
  return {};
}

Status Answers::list_runs(const rpc::ListRunsRequest&, rpc::ListRunsResponse& response) {
  for (const Run& run : runs()) {
    rpc::Run* entry = response.add_runs();
    entry->set_name(base::valid_utf8(run.name()));
    entry->set_start_time(run.start_time());
  }
  return {};
}

Status Answers::list_scalars(const rpc::ListScalarsRequest& request, rpc::ListScalarsResponse& response) {
  if (Status status = check_plugin(request.plugin_filter()); !status) return status;
  for_each_series(runs(), rpc::DATA_CLASS_SCALAR, request, response, [](const Run&, const Tag& tag, auto& entry) {
    fill_series(tag, rpc::DATA_CLASS_SCALAR, *entry.mutable_metadata());
  });
  return {};
}

Status Answers::list_tensors(const rpc::ListTensorsRequest& request, rpc::ListTensorsResponse& response) {
  if (Status status = check_plugin(request.plugin_filter()); !status) return status;
  for_each_series(runs(), rpc::DATA_CLASS_TENSOR, request, response, [](const Run&, const Tag& tag, auto& entry) {
    fill_series(tag, rpc::DATA_CLASS_TENSOR, *entry.mutable_metadata());
  });
  return {};
}

Status Answers::list_blob_sequences(const rpc::ListBlobSequencesRequest& request,
                                    rpc::ListBlobSequencesResponse& response) {
  if (Status status = check_plugin(request.plugin_filter()); !status) return status;
  for_each_series(runs(), rpc::DATA_CLASS_BLOB_SEQUENCE, request, response,
                  [](const Run& run, const Tag& tag, auto& entry) {
                    fill_series(tag, rpc::DATA_CLASS_BLOB_SEQUENCE, *entry.mutable_metadata());
                    entry.mutable_metadata()->set_max_length(longest_sequence(run, tag));
                  });
  return {};
}

Status Answers::read_scalars(const rpc::ReadScalarsRequest& request, rpc::ReadScalarsResponse& response) {
  if (Status status = check_plugin(request.plugin_filter()); !status) return status;
  const auto points = limit(request.has_downsample(), request.downsample(), request.plugin_filter().plugin_name());
  if (!points) return points.error();
  for_each_series(runs(), rpc::DATA_CLASS_SCALAR, request, response, [&](const Run& run, const Tag& tag, auto& entry) {
    fill_scalars(run, tag, *points, *entry.mutable_data());
  });
  return {};
}

Status Answers::read_tensors(const rpc::ReadTensorsRequest& request, rpc::ReadTensorsResponse& response) {
  if (Status status = check_plugin(request.plugin_filter()); !status) return status;
  const auto points = limit(request.has_downsample(), request.downsample(), request.plugin_filter().plugin_name());
  if (!points) return points.error();
  for_each_series(runs(), rpc::DATA_CLASS_TENSOR, request, response, [&](const Run& run, const Tag& tag, auto& entry) {
    fill_tensors(run, tag, *points, *entry.mutable_data());
  });
  return {};
}

Status Answers::read_blob_sequences(const rpc::ReadBlobSequencesRequest& request,
                                    rpc::ReadBlobSequencesResponse& response) {
  if (Status status = check_plugin(request.plugin_filter()); !status) return status;
  const auto points = limit(request.has_downsample(), request.downsample(), request.plugin_filter().plugin_name());
  if (!points) return points.error();
  for_each_series(runs(), rpc::DATA_CLASS_BLOB_SEQUENCE, request, response,
                  [&](const Run& run, const Tag& tag, auto& entry) {
                    fill_blob_sequences(run, tag, *points, *entry.mutable_data());
                  });
  return {};
}

Result<std::string> Answers::read_blob(const rpc::ReadBlobRequest& request) {
  const Result<BlobKey> key = BlobKey::decode(request.blob_key());
  if (!key) return key.error();
  for (const Run& run : runs()) {
    if (run.name() != key->run) continue;
    const auto tag = run.tag(key->tag, key->kind);
    if (!tag) return tag.error();
    const auto ref = find_value(run, *key);
    if (!ref) return ref.error();
    const auto raw = store::read_raw(run, *ref);
    if (!raw) return raw.error();
    // A MetaGraphDef has more in it than the graph that is asked for.
    if ((*raw)->event.what == tfevents::Event::What::meta_graph_def) return run.graph(*ref);
    const Blobs blobs(**raw, tag->plugin);
    if (!blobs.status()) return blobs.status();
    if (key->index < blobs.items().size()) return std::string(blobs.items()[key->index]);
    return Status(Code::not_found, "the sequence has no blob " + std::to_string(key->index));
  }
  return Status(Code::not_found, "the run '" + key->run + "' is no longer in the log");
}

}  // namespace sonde::data_server
