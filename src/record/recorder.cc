// The public classes: thin, since everything happens in the channel.
#include "sonde/recorder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.h"
#include "base/utf8.h"
#include "formats/graph_def.h"
#include "formats/tensor_tags.h"
#include "formats/tfevents.h"
#include "record/backend.h"
#include "record/channel.h"
#include "sinks/console.h"
#include "stats/computed.h"
#include "tensor/why_invalid.h"

namespace sonde {

using record::Channel;
using record::EncodedJob;
using record::PayloadPtr;
using tags::Plugin;

namespace record {

struct GroupData {
  std::int64_t step = 0;
  GroupJob job;
};

}  // namespace record

namespace {

Status out_of_memory() noexcept { return {Code::exhausted, "out of memory"}; }  // short enough to need no memory

// Recording never throws: running out of memory costs the record, and is counted.
template <class Body>
void guarded(const std::shared_ptr<Channel>& channel, Body&& body) noexcept {
  if (!channel) return;
  try {
    body(*channel);
  } catch (...) {
    channel->counters().count_rejected();
  }
}

// Resolves the tag, stages the tensor for a job made from the tag's id, and sends it.
template <class MakeJob>
void send_tensor(const std::shared_ptr<Channel>& channel, std::string_view name, Plugin plugin, TensorArg&& tensor,
                 std::int64_t step, MakeJob&& make_job) noexcept {
  guarded(channel, [&](Channel& to) {
    const auto tag = to.tag(name, plugin);
    if (!tag) return;
    if (PayloadPtr payload = to.stage(make_job(*tag), std::move(tensor), step)) to.send(std::move(payload), step);
  });
}

void send_encoded(Channel& to, std::string bytes, EncodedJob::Content content, std::int64_t step) {
  if (PayloadPtr payload = to.stage(EncodedJob{content, std::move(bytes), {}})) to.send(std::move(payload), step);
}

// What a value of several tags appends to a summary. A tag that cannot be used is counted, and nothing is appended.
Status encode_mesh(Channel& to, std::string_view name, const TensorView& vertices, const MeshOptions& options,
                   std::string& summary) {
  using tfevents::MeshPart;
  std::string parts;
  for (const auto& [part, data] : {std::pair(MeshPart::vertices, &vertices), std::pair(MeshPart::faces, options.faces),
                                   std::pair(MeshPart::colors, options.colors)}) {
    if (data == nullptr) continue;
    if (!to.tag(tfevents::mesh_tag(name, part), Plugin::other)) return Status::success();
    Status status = tfevents::put_mesh_part(parts, base::valid_utf8(name), part, *data, options, true);
    if (!status.ok()) return status;
  }
  summary += parts;
  return Status::success();
}

Status encode_pr_curve(Channel& to, std::string_view name, const TensorView& labels, const TensorView& predictions,
                       int thresholds, std::string& summary) {
  const auto tag = to.tag(name, Plugin::other);
  if (!tag) return Status::success();
  const auto curve = tfevents::pr_curve(labels, predictions, thresholds);
  if (!curve) return curve.error();
  tfevents::put_pr_curve(summary, to.tags().name(*tag), *curve, true);
  return Status::success();
}

// Sends what `encode` appends to a summary, or says what is wrong.
template <class Encode>
void send_summary(const std::shared_ptr<Channel>& channel, std::int64_t step, Encode&& encode) noexcept {
  guarded(channel, [&](Channel& to) {
    std::string summary;
    if (Status status = encode(to, summary); !status.ok()) return to.reject(std::move(status));
    if (!summary.empty()) send_encoded(to, std::move(summary), EncodedJob::Content::summary, step);
  });
}

}  // namespace

// ---- Handles.

void Scalar::record(double value, std::int64_t step) const noexcept {
  if (channel_) channel_->scalar(id_, value, step);
}

Step::Step(Step&& other) noexcept = default;

Step& Step::operator=(Step&& other) noexcept {
  if (this != &other) {
    end();
    channel_ = std::move(other.channel_);
    number_ = other.number_;
    since_ = other.since_;
    pass_ = other.pass_;
    evaluation_ = other.evaluation_;
  }
  return *this;
}

Step::~Step() { end(); }

void Step::end() noexcept {
  if (const auto channel = std::exchange(channel_, nullptr)) channel->end_step({pass_, evaluation_}, number_);
}

policy::Parts Probe::due(const policy::Plan& plan, const Step& step) const noexcept {
  return channel_->policy().due(plan, step.number_, step.evaluation_, step.since_);
}

bool Probe::wanted(const Step& step) const noexcept {
  if (entry_ == nullptr || step.channel_ == nullptr) return false;
  const policy::Plan& plan = *entry_->plan.load(std::memory_order_acquire);
  return !plan.idle() && channel_->wants(plan, due(plan, step));
}

Keep Probe::needs(const Step& step) const noexcept {
  if (!wanted(step)) return Keep::nothing;
  const policy::Plan& plan = *entry_->plan.load(std::memory_order_acquire);
  const policy::Parts parts = due(plan, step);
  Keep all = plan.keep(parts);
  if (plan.observed) all = all | Keep::stats | Keep::histogram;
  if (channel_->policy().level() != policy::Level::full) return all & (Keep::stats | Keep::histogram);
  bool sampled = false;
  for (std::size_t i = 0; i < plan.parts.size(); ++i) {
    sampled = sampled || (policy::has_part(parts, i) && plan.parts[i].sample.rows != 0);
  }
  return plan.flight || sampled ? all | Keep::whole : all;
}

// Whether something can be recorded in the step; otherwise it is rejected.
bool Probe::takes(record::Channel& to, const Step& step) const {
  if (!to.is_open()) {
    to.counters().count_rejected();
    return false;
  }
  if (step.channel_ == channel_) return true;
  to.reject({Code::invalid_argument,
             "the probe '" + entry_->name + "' was recorded in a step that has ended or belongs to another recorder"});
  return false;
}

void Probe::record(const Step& step, TensorArg tensor) const noexcept {
  if (entry_ == nullptr) return;
  guarded(channel_, [&](Channel& to) {
    if (!takes(to, step)) return;
    const policy::Plan& plan = *entry_->plan.load(std::memory_order_acquire);
    const policy::Parts parts = due(plan, step);
    if (!to.wants(plan, parts)) return;
    PayloadPtr payload = to.stage(record::ProbeJob{entry_, &plan, parts, step.evaluation_, false, step.pass_, nullptr},
                                  std::move(tensor), step.number_, plan.sample);
    if (payload != nullptr) to.send(std::move(payload), step.number_);
  });
}

void Probe::record(const Step& step, const Statistics& statistics) const noexcept {
  if (entry_ == nullptr) return;
  guarded(channel_, [&](Channel& to) {
    if (!takes(to, step)) return;
    const policy::Plan& plan = *entry_->plan.load(std::memory_order_acquire);
    const policy::Parts parts = due(plan, step);
    if (!to.wants(plan, parts)) return;
    auto computed = stats::take(statistics);
    if (!computed) {
      to.counters().count_rejected();
      return to.policy().refuse(*entry_, " was not recorded: " + computed.error().message());
    }
    const record::ProbeJob job = {entry_,
                                  &plan,
                                  parts,
                                  step.evaluation_,
                                  false,
                                  step.pass_,
                                  std::make_shared<const stats::Computed>(std::move(*computed))};
    PayloadPtr payload = to.stage(job);
    if (payload == nullptr) return to.losses().lose_tensor(&job, step.number_);
    payload->view = {nullptr, statistics.dtype, statistics.shape, row_major(statistics.shape)};
    to.send(std::move(payload), step.number_);
  });
}

// ---- Group.

Group::Group(std::shared_ptr<Channel> channel, std::unique_ptr<record::GroupData> data) noexcept
    : channel_(std::move(channel)), data_(std::move(data)) {}

Group::Group() noexcept = default;
Group::Group(Group&& other) noexcept = default;

Group& Group::operator=(Group&& other) noexcept {
  if (this != &other) {
    end();
    channel_ = std::move(other.channel_);
    data_ = std::move(other.data_);
  }
  return *this;
}

Group::~Group() { end(); }

void Group::end() noexcept {
  const std::unique_ptr<record::GroupData> data = std::move(data_);
  if (!data) return;
  guarded(std::exchange(channel_, nullptr), [&](Channel& to) {
    if (data->job.items.empty()) return;
    PayloadPtr payload = to.stage(std::move(data->job));
    if (payload != nullptr) to.send(std::move(payload), data->step);
  });
}

void Group::scalar(std::string_view name, double value) noexcept {
  if (!data_) return;
  guarded(channel_, [&](Channel& to) {
    if (const auto tag = to.tag(name, Plugin::scalars)) data_->job.items.emplace_back(record::GroupScalar{*tag, value});
  });
}

void Group::histogram(std::string_view name, TensorArg tensor) noexcept {
  if (!data_) return;
  guarded(channel_, [&](Channel& to) {
    const auto tag = to.tag(name, Plugin::histograms);
    if (!tag) return;
    if (PayloadPtr payload = to.stage(record::HistogramJob{*tag}, std::move(tensor), data_->step)) {
      data_->job.items.emplace_back(std::move(payload));
    }
  });
}

void Group::image(std::string_view name, TensorArg tensor, Layout layout, const ImageOptions& options) noexcept {
  if (!data_) return;
  guarded(channel_, [&](Channel& to) {
    const auto tag = to.tag(name, Plugin::images);
    if (!tag) return;
    if (PayloadPtr payload = to.stage(record::ImageJob{*tag, layout, options}, std::move(tensor), data_->step)) {
      data_->job.items.emplace_back(std::move(payload));
    }
  });
}

void Group::text(std::string_view name, std::string_view text) noexcept {
  if (!data_) return;
  guarded(channel_, [&](Channel& to) {
    const auto tag = to.tag(name, Plugin::text);
    if (!tag) return;
    if (PayloadPtr payload = to.stage(record::TextJob{*tag, base::valid_utf8(text)})) {
      data_->job.items.emplace_back(std::move(payload));
    }
  });
}

void Group::audio(std::string_view name, TensorArg tensor, const AudioOptions& options) noexcept {
  if (!data_) return;
  guarded(channel_, [&](Channel& to) {
    const auto tag = to.tag(name, Plugin::audio);
    if (!tag) return;
    if (PayloadPtr payload = to.stage(record::AudioJob{*tag, options}, std::move(tensor), data_->step)) {
      data_->job.items.emplace_back(std::move(payload));
    }
  });
}

// Values that the caller's thread encodes, being rare. `encode` appends them under the name and says what is wrong.
template <class Encode>
void Group::add_encoded(std::string_view name, Encode&& encode) noexcept {
  if (!data_) return;
  guarded(channel_, [&](Channel& to) {
    EncodedJob job;
    if (Status status = encode(to, name, job.bytes); !status.ok()) return to.reject(std::move(status));
    if (!job.bytes.empty()) data_->job.items.emplace_back(std::move(job));
  });
}

void Group::mesh(std::string_view name, const TensorView& vertices, const MeshOptions& options) noexcept {
  add_encoded(name, [&](Channel& to, std::string_view tag, std::string& bytes) {
    return encode_mesh(to, tag, vertices, options, bytes);
  });
}

void Group::pr_curve(std::string_view name, const TensorView& labels, const TensorView& predictions,
                     int thresholds) noexcept {
  add_encoded(name, [&](Channel& to, std::string_view text, std::string& bytes) {
    return encode_pr_curve(to, text, labels, predictions, thresholds, bytes);
  });
}

void Group::tensor(std::string_view name, const TensorView& tensor, std::string_view plugin,
                   std::string_view plugin_content) noexcept {
  add_encoded(name, [&](Channel& to, std::string_view text, std::string& bytes) {
    const auto tag = to.tag(text, plugin == "scalars" ? Plugin::scalars : Plugin::other);
    if (!tag) return Status::success();
    const auto data_class = plugin == "scalars" ? tfevents::DataClass::scalar : tfevents::DataClass::tensor;
    return tfevents::put_tensor(bytes, to.tags().name(*tag), tensor, plugin, plugin_content, data_class, true);
  });
}

void Group::histogram(std::string_view name, const std::vector<Bucket>& buckets) noexcept {
  add_encoded(name, [&](Channel& to, std::string_view text, std::string& bytes) {
    const auto tag = to.tag(text, Plugin::histograms);
    if (!tag) return Status::success();
    std::vector<stats::Bucket> copy;
    for (const Bucket& bucket : buckets) copy.push_back({bucket.left, bucket.right, bucket.count});
    tfevents::put_histogram(bytes, to.tags().name(*tag), copy, true);
    return Status::success();
  });
}

void Group::images(std::string_view name, const EncodedImages& images) noexcept {
  add_encoded(name, [&](Channel& to, std::string_view text, std::string& bytes) {
    const auto tag = to.tag(text, Plugin::images);
    if (!tag) return Status::success();
    const std::vector<std::string_view> files(images.files.begin(), images.files.end());
    tfevents::put_images(bytes, to.tags().name(*tag), images.width, images.height, files, true);
    return Status::success();
  });
}

// ---- Recorder.

Recorder::Recorder(std::shared_ptr<Channel> channel) noexcept : channel_(std::move(channel)) {}
Recorder::Recorder(Recorder&& other) noexcept = default;

Recorder& Recorder::operator=(Recorder&& other) noexcept {
  if (this != &other) {
    (void)close();
    channel_ = std::move(other.channel_);
  }
  return *this;
}

Recorder::~Recorder() { (void)close(); }

Result<Recorder> Recorder::open(std::string_view directory, const RecorderOptions& options) {
  try {
    auto channel = Channel::open(directory, options);
    if (!channel) return channel.error();
    return Recorder(std::move(*channel));
  } catch (...) {
    return out_of_memory();
  }
}

Recorder Recorder::open_or_disabled(std::string_view directory, const ErrorHandler& on_error,
                                    const RecorderOptions& options) {
  RecorderOptions with_handler = options;
  if (!with_handler.on_error) with_handler.on_error = on_error;
  auto opened = open(directory, with_handler);
  if (opened) return std::move(*opened);
  if (on_error) on_error(opened.error());
  return Recorder(nullptr);
}

const std::string& Recorder::directory() const noexcept {
  static const std::string none;
  return channel_ ? channel_->directory() : none;
}

Scalar Recorder::series(std::string_view name) noexcept {
  Scalar series;
  guarded(channel_, [&](Channel& to) {
    if (const auto tag = to.tag(name, Plugin::scalars)) series = Scalar(channel_, *tag);
  });
  return series;
}

Probe Recorder::probe(std::string_view name, const ProbeOptions& options) noexcept {
  Probe probe;
  guarded(channel_, [&](Channel& to) {
    if (const auto* entry = to.probe(name, options)) probe = Probe(channel_, entry);
  });
  return probe;
}

Step Recorder::begin(std::int64_t number, bool beside_others, bool evaluation) noexcept {
  Step step;
  step.number_ = number;
  step.evaluation_ = evaluation;
  if (!channel_) return step;
  step.channel_ = channel_;
  if (beside_others) step.pass_ = channel_->next_pass();
  if (evaluation) step.since_ = channel_->policy().begin_evaluation(number);
  channel_->begin_step({step.pass_, evaluation}, number);
  return step;
}

Step Recorder::step(std::int64_t number) noexcept { return begin(number, false, false); }

Step Recorder::evaluation(std::int64_t step) noexcept { return begin(step, true, true); }

Step Recorder::pass(std::int64_t number) noexcept { return begin(number, true, false); }

void Recorder::epoch(std::int64_t number) noexcept {
  if (channel_) channel_->policy().begin_epoch(number);
}

Group Recorder::group(std::int64_t step, double wall_time) noexcept {
  std::unique_ptr<record::GroupData> data;
  guarded(channel_, [&](Channel& to) {
    if (!to.is_open()) return;
    data = std::make_unique<record::GroupData>();
    data->step = step;
    if (!std::isnan(wall_time)) data->job.wall_time = wall_time;
  });
  return {channel_, std::move(data)};
}

void Recorder::scalar(std::string_view name, double value, std::int64_t step) noexcept {
  guarded(channel_, [&](Channel& to) {
    if (const auto tag = to.tag(name, Plugin::scalars)) to.scalar(*tag, value, step);
  });
}

void Recorder::histogram(std::string_view name, TensorArg tensor, std::int64_t step) noexcept {
  send_tensor(channel_, name, Plugin::histograms, std::move(tensor), step,
              [](std::uint32_t tag) { return record::HistogramJob{tag}; });
}

void Recorder::image(std::string_view name, TensorArg tensor, std::int64_t step, Layout layout,
                     const ImageOptions& options) noexcept {
  send_tensor(channel_, name, Plugin::images, std::move(tensor), step,
              [&](std::uint32_t tag) { return record::ImageJob{tag, layout, options}; });
}

void Recorder::audio(std::string_view name, TensorArg tensor, std::int64_t step, const AudioOptions& options) noexcept {
  send_tensor(channel_, name, Plugin::audio, std::move(tensor), step,
              [&](std::uint32_t tag) { return record::AudioJob{tag, options}; });
}

void Recorder::text(std::string_view name, std::string_view markdown, std::int64_t step) noexcept {
  guarded(channel_, [&](Channel& to) {
    const auto tag = to.tag(name, Plugin::text);
    if (!tag) return;
    if (PayloadPtr payload = to.stage(record::TextJob{*tag, base::valid_utf8(markdown)}))
      to.send(std::move(payload), step);
  });
}

void Recorder::pr_curve(std::string_view name, const TensorView& labels, const TensorView& predictions,
                        std::int64_t step, int thresholds) noexcept {
  send_summary(channel_, step, [&](Channel& to, std::string& summary) {
    return encode_pr_curve(to, name, labels, predictions, thresholds, summary);
  });
}

void Recorder::mesh(std::string_view name, const TensorView& vertices, std::int64_t step,
                    const MeshOptions& options) noexcept {
  send_summary(channel_, step,
               [&](Channel& to, std::string& summary) { return encode_mesh(to, name, vertices, options, summary); });
}

void Recorder::hparams(const HParams& hparams) noexcept {
  guarded(channel_, [&](Channel& to) {
    if (!to.is_open()) return to.counters().count_rejected();
    std::string summary;
    const double now = base::wall_seconds();
    tfevents::put_hparams_experiment(summary, hparams, now);
    tfevents::put_hparams_session_start(summary, hparams, now);
    send_encoded(to, std::move(summary), EncodedJob::Content::hparams, 0);
  });
}

void Recorder::graph(const Graph& graph) noexcept {
  guarded(channel_, [&](Channel& to) {
    if (!to.is_open()) return to.counters().count_rejected();
    if (Status status = graph.check(); !status.ok()) return to.reject(std::move(status));
    send_encoded(to, formats::encode_graph_def(graph), EncodedJob::Content::graph, 0);
  });
}

void Recorder::custom_scalars(const std::vector<ChartCategory>& layout) noexcept {
  guarded(channel_, [&](Channel& to) {
    if (!to.tag(tfevents::kCustomScalarsTag, Plugin::other)) return;
    std::string summary;
    if (Status status = tfevents::put_custom_scalars(summary, layout, true); !status.ok()) {
      return to.reject(std::move(status));
    }
    send_encoded(to, std::move(summary), EncodedJob::Content::summary, 0);
  });
}

void Recorder::print(std::string_view name, TensorArg tensor, std::int64_t step) noexcept {
  guarded(channel_, [&](Channel& to) {
    if (!to.is_open()) return to.counters().count_rejected();
    PayloadPtr payload = to.stage(record::PrintJob{std::string(name), false}, std::move(tensor), step);
    if (payload != nullptr) to.send(std::move(payload), step);
  });
}

void Recorder::print_full(std::string_view name, TensorArg tensor, std::int64_t step) noexcept {
  guarded(channel_, [&](Channel& to) {
    if (!to.is_open()) return to.counters().count_rejected();
    PayloadPtr payload = to.stage(record::PrintJob{std::string(name), true}, std::move(tensor), step);
    if (payload != nullptr) to.send(std::move(payload), step);
  });
}

Status Recorder::print_now(std::string_view name, const TensorView& tensor, std::int64_t step,
                           const PrintOptions& options) noexcept {
  if (!channel_ || channel_->options().console == nullptr) return Status::success();
  try {
    if (!tensor.valid()) {
      std::string message = "'";
      message.append(base::valid_utf8(name)).append("' was not printed: ").append(tensor::why_invalid(tensor));
      return {Code::invalid_argument, std::move(message)};
    }
    const bool all = options.summarize < 0;
    const sinks::Value value = sinks::PrintValue{
        name,
        tensor,
        options.summarize != 0,
        {.threshold = all ? render::ArrayOptions::kEverything : 0, .edge_items = std::max(options.summarize, 1)}};
    sinks::Console console(channel_->options().console);
    Status status = console.write({base::wall_seconds(), step}, {&value, 1});
    if (Status flushed = console.flush(); status.ok()) status = std::move(flushed);
    return status;
  } catch (...) {
    return out_of_memory();
  }
}

void Recorder::table(std::string_view name, const std::vector<TableColumn>& columns, std::int64_t step,
                     const TableOptions& options) noexcept {
  guarded(channel_, [&](Channel& to) {
    if (!to.is_open()) return to.counters().count_rejected();
    if (name.empty() || columns.empty()) {
      return to.reject({Code::invalid_argument, "a table needs a name and at least one column"});
    }
    if (options.sample.rows < 0) {
      return to.reject({Code::invalid_argument, "the table '" + base::valid_utf8(name) + "' has a sample of " +
                                                    std::to_string(options.sample.rows) +
                                                    " rows: give 1 or more, or 0 for all"});
    }
    record::TableJob job = {.name = base::valid_utf8(name), .columns = {}, .print = options.print};
    for (const TableColumn& column : columns) {
      PayloadPtr payload = to.stage(record::ColumnJob{}, TensorArg(column.tensor), step, options.sample);
      if (payload == nullptr) break;
      job.columns.emplace_back(base::valid_utf8(column.name), std::move(payload));
    }
    const bool complete = job.columns.size() == columns.size();
    PayloadPtr payload = to.stage(std::move(job));
    if (payload != nullptr && complete) to.send(std::move(payload), step);  // otherwise it is counted already
  });
}

Status Recorder::checkpoint(std::string_view name, std::int64_t step, const std::vector<NamedView>& tensors,
                            const CheckpointOptions& options) noexcept {
  if (!channel_) return {Code::closed, "the checkpoint was not saved: this recorder is disabled"};
  try {
    Status status = save_checkpoint(channel_->directory(), name, step, tensors, options);
    channel_->checkpoints().measure();  // older ones may have gone
    return status;
  } catch (...) {
    return out_of_memory();
  }
}

void Recorder::trigger(std::string_view reason, std::int64_t before, std::int64_t after) noexcept {
  guarded(channel_, [&](Channel& to) {
    if (!to.is_open()) return to.counters().count_rejected();
    if (before < 0 || after < 0) {
      return to.reject({Code::invalid_argument, "a capture of " + std::to_string(before) + " steps before and " +
                                                    std::to_string(after) + " after was not taken: give 0 or more"});
    }
    PayloadPtr payload = to.stage(record::TriggerJob{base::valid_utf8(reason), before, after});
    if (payload != nullptr) to.send(std::move(payload), 0);
  });
}

Status Recorder::set_policy(const Policy& policy) noexcept {
  if (!channel_) return Status::success();
  try {
    return channel_->policy().set_policy(policy);
  } catch (...) {
    return out_of_memory();
  }
}

std::int64_t Recorder::committed_step() const noexcept { return channel_ ? channel_->counters().committed_step() : -1; }

Counters Recorder::counters() const noexcept { return channel_ ? channel_->counters().read() : Counters{}; }

bool Recorder::run_callbacks() noexcept { return channel_ && channel_->run_callbacks(false); }

Status Recorder::flush() noexcept { return channel_ ? channel_->flush() : Status::success(); }

void Recorder::release_owners() noexcept { record::Backend::get().release_owners(); }

Status Recorder::close() noexcept { return channel_ ? channel_->close() : Status::success(); }

}  // namespace sonde
