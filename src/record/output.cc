#include "record/output.h"

#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>

#include "base/clock.h"
#include "base/file.h"
#include "base/input_file.h"
#include "base/process.h"
#include "formats/run_layout.h"
#include "formats/tfevents.h"
#include "sinks/console.h"
#include "sinks/event_file.h"
#include "sinks/stats_file.h"
#include "stats/buckets.h"
#include "stats/summary.h"

namespace sonde {

double StepValues::scalar(std::string_view name) const noexcept {
  for (const auto& [known, value] : data_.scalars) {
    if (known == name) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::int64_t StepValues::step() const noexcept { return data_.step; }

namespace record {
namespace {

constexpr std::string_view kDroppedTag = "sonde/dropped";

// Not the disk's fault.
bool is_unusable(const Status& status) noexcept {
  return status.code() == Code::invalid_argument || status.code() == Code::unsupported;
}

// "<seconds>.<host>.<pid>.<n>", as TensorBoard's writers name their files.
std::string writer_name() {
  static std::atomic<std::uint64_t> count{0};
  std::string seconds = std::to_string(static_cast<std::int64_t>(wall_seconds()));
  seconds.insert(0, seconds.size() < 10 ? 10 - seconds.size() : 0, '0');
  return seconds + "." + host_name() + "." + std::to_string(process_id()) + "." + std::to_string(count++);
}

}  // namespace

Result<std::unique_ptr<Output>> Output::create(Channel& channel, bool may_fly) {
  std::unique_ptr<Output> output(new Output(channel));
  const RecorderOptions& options = channel.options();
  const double now = wall_seconds();
  std::string writer;
  std::string path;
  do {  // in another container a process may have the same number in the same second
    writer = writer_name();
    path = join_path(channel.directory(), run_layout::event_file(writer, options.file_suffix));
  } while (file_state(path).ok());
  auto events = std::make_unique<sinks::EventFile>(path, now, options.precision, channel.tally());
  if (Status status = events->flush(); !status.ok()) return status;
  output->sinks_.push_back(std::move(events));
  output->sinks_.push_back(std::make_unique<sinks::StatsFile>(
      join_path(channel.directory(), run_layout::statistics_file(writer, options.file_suffix)),
      stats_record::Header{.writer = writer, .host = host_name(), .pid = process_id(), .start_time = now},
      channel.tally()));
  if (options.console != nullptr) output->sinks_.push_back(std::make_unique<sinks::Console>(options.console));
  output->steps_ = std::make_unique<Steps>(channel, *output, writer, may_fly);
  return output;
}

Output::~Output() = default;

std::string_view Output::name(std::uint32_t tag) {
  if (tag >= names_.size()) names_.resize(tag + 1);
  if (names_[tag].empty()) names_[tag] = channel_.tags().name(tag);
  return names_[tag];
}

// A sink failed: what the disk refused is told when it begins, what was unusable each time.
void Output::note(const Status& status) {
  if (status.ok()) return;
  if (is_unusable(status)) {
    channel_.count_rejected();
  } else if (status.code() == Code::exhausted) {  // records are lost: no later flush can write them
    channel_.loss_report().lost_records(0, status);
    return;
  } else if (std::exchange(failing_, true)) {
    return;
  }
  channel_.report(status);
}

void Output::reject(const sinks::Stamp& stamp, const Status& status, bool evaluation, const ProbeEntry* probe) {
  note(status);
  leave_rejected(stamp, status, evaluation, probe);
}

// The gap of it.
void Output::leave_rejected(const sinks::Stamp& stamp, const Status& status, bool evaluation, const ProbeEntry* probe) {
  sinks::Loss loss;
  if (probe != nullptr) loss.probe = {probe->id, probe->name, probe->options.kind, probe->options.inputs};
  loss.evaluation = evaluation;
  loss.first_step = loss.last_step = stamp.step;
  loss.count = 1;
  loss.reason = stats_record::GapReason::rejected;
  loss.detail = status.message();
  lose(stamp.wall_time, loss);
}

bool Output::write(const sinks::Stamp& stamp, std::span<const sinks::Value> values) {
  dirty_ = true;
  bool usable = true;
  for (const auto& sink : sinks_) {
    const Status status = sink->write(stamp, values);
    if (!is_unusable(status)) {
      note(status);
    } else if (std::exchange(usable, false)) {
      reject(stamp, status);
    } else {
      channel_.report(status);
    }
  }
  return usable;
}

void Output::write(const sinks::Stamp& stamp, const ProbeEntry& probe, const sinks::Value& value) {
  dirty_ = true;
  for (const auto& sink : sinks_) {
    const Status status = sink->write(stamp, {&value, 1});
    if (is_unusable(status) && !refused_.emplace(probe.id, value.index()).second) {
      channel_.count_rejected();
    } else {
      note(status);
    }
    if (is_unusable(status)) leave_rejected(stamp, status, false, &probe);
  }
}

void Output::scalar(const sinks::Stamp& stamp, std::uint32_t id, double value) {
  auto& scalar = *std::get_if<sinks::ScalarValue>(&scalar_);
  scalar.tag.id = id;
  scalar.tag.name = name(id);
  scalar.value = value;
  write(stamp, {&scalar_, 1});
  channel_.count_scalar();
  steps_->scalar(id, scalar.tag.name, value);
}

void Output::payload(const sinks::Stamp& stamp, Payload* payload) {
  const auto* probe_job = std::get_if<ProbeJob>(&payload->job);
  if (!payload->pool->take(payload)) {
    if (probe_job != nullptr) steps_->lose(stamp, *probe_job);
    return channel_.lose(payload, stamp.step);
  }
  if (probe_job != nullptr) {
    if (probe_job->lost) {
      steps_->lose(stamp, *probe_job);
      return Pool::release(payload);
    }
    return steps_->probe(stamp, payload, *probe_job);
  }
  if (const auto* encoded = std::get_if<EncodedJob>(&payload->job)) {
    has_hparams_ |= encoded->content == EncodedJob::Content::hparams;
    if (encoded->content == EncodedJob::Content::graph) {
      write(stamp, sinks::GraphValue{encoded->bytes});
    } else {
      write(stamp, sinks::EncodedValue{encoded->bytes});
    }
  } else if (const auto* group_job = std::get_if<GroupJob>(&payload->job)) {
    group(stamp, *group_job);
  } else if (const auto* table = std::get_if<TableJob>(&payload->job)) {
    if (steps_->table(stamp, *table)) channel_.count_tensor();
  } else if (const auto* trigger = std::get_if<TriggerJob>(&payload->job)) {
    steps_->trigger(stamp, *trigger);
  } else {
    const GroupJob alone = {{payload}};
    group(stamp, alone);
  }
  Pool::release(payload);
}

std::vector<stats::Bucket> Output::buckets(const TensorView& view, const stats::Summary& summary,
                                           const stats::Histogram& histogram) const {
  return stats::tensorboard_buckets(view, summary, histogram, channel_.options().histogram_buckets);
}

// The values of a group are one event. A payload that stands alone is a group of one.
void Output::group(const sinks::Stamp& stamp, const GroupJob& job) {
  std::vector<sinks::Value> values;
  std::deque<std::vector<stats::Bucket>> computed;  // keeps what values point to
  std::uint64_t scalars = 0;
  std::uint64_t tensors = 0;
  for (const auto& item : job.items) {
    if (const auto* number = std::get_if<GroupScalar>(&item)) {
      ++scalars;
      values.emplace_back(sinks::ScalarValue{tag(number->tag), number->value});
      steps_->scalar(number->tag, name(number->tag), number->value);
      continue;
    }
    const Payload& payload = *std::get<Payload*>(item);
    if (const auto* histogram = std::get_if<HistogramJob>(&payload.job)) {
      stats::Histogram fine;
      const auto summary = stats::summarize(payload.view, fine);
      if (!summary) {
        reject(stamp, {summary.error().code(), "the histogram '" + std::string(name(histogram->tag)) +
                                                   "' was not recorded: " + summary.error().message()});
        continue;
      }
      computed.push_back(buckets(payload.view, *summary, fine));
      ++tensors;
      values.emplace_back(sinks::HistogramValue{tag(histogram->tag), computed.back()});
    } else if (const auto* image = std::get_if<ImageJob>(&payload.job)) {
      ++tensors;
      values.emplace_back(sinks::ImageValue{tag(image->tag), payload.view, image->layout, &image->options});
    } else if (const auto* audio = std::get_if<AudioJob>(&payload.job)) {
      ++tensors;
      values.emplace_back(sinks::AudioValue{tag(audio->tag), payload.view, &audio->options});
    } else if (const auto* text = std::get_if<TextJob>(&payload.job)) {
      values.emplace_back(sinks::TextValue{tag(text->tag), text->text});
    } else if (const auto* print = std::get_if<PrintJob>(&payload.job)) {
      ++tensors;
      values.emplace_back(sinks::PrintValue{print->name, payload.view, print->full});
    }
  }
  if (values.empty()) return;
  const bool usable = write(stamp, values);
  if (!usable && tensors > 0) --tensors;  // counted as rejected
  for (; scalars > 0; --scalars) channel_.count_scalar();
  for (; tensors > 0; --tensors) channel_.count_tensor();
}

void Output::end_step(const sinks::StepEnd& step) {
  dirty_ = true;
  for (const auto& sink : sinks_) note(sink->end_step(step));
}

void Output::say(std::string_view tag_name, const sinks::Stamp& stamp, std::string_view text) {
  // Where the user records something else under that name, it is the user's.
  if (auto id = channel_.tags().resolve(tag_name, tags::Plugin::text)) write(stamp, sinks::TextValue{tag(*id), text});
}

void Output::give_up(const sinks::Stamp& stamp, const std::string& detail) {
  sinks::Loss loss;
  loss.first_step = loss.last_step = stamp.step;
  loss.reason = stats_record::GapReason::budget;
  loss.detail = detail;
  lose(stamp.wall_time, loss);
  say("sonde/budget", stamp, detail);
}

// ---- The rest.

void Output::lose(double wall_time, const sinks::Loss& loss) {
  dirty_ = true;
  for (const auto& sink : sinks_) note(sink->lose(loss));
  auto dropped = channel_.tags().resolve(kDroppedTag, tags::Plugin::scalars);
  if (!dropped) return;  // the user records something else under that name
  if (loss.reason != stats_record::GapReason::no_room) return;
  const Counters counters = channel_.counters();
  const sinks::Value value =
      sinks::ScalarValue{tag(*dropped), static_cast<double>(counters.dropped_scalars + counters.dropped_tensors)};
  write({wall_time, loss.last_step}, {&value, 1});
}

Status Output::flush() {
  dirty_ = false;
  Status first;
  for (const auto& sink : sinks_) {
    Status status = sink->flush();
    note(status);
    if (!status.ok()) dirty_ = true;  // what the disk refused is tried again
    if (first.ok()) first = std::move(status);
  }
  if (first.ok()) failing_ = false;
  return first;
}

Status Output::close(double wall_time) {
  steps_->close(wall_time);
  if (has_hparams_) {
    std::string summary;
    tfevents::put_hparams_session_end(summary, tfevents::SessionStatus::success, wall_time);
    const sinks::Value value = sinks::EncodedValue{summary};
    write({wall_time, 0}, {&value, 1});
  }
  Status first;
  for (const auto& sink : sinks_) {
    Status status = sink->close();
    note(status);
    if (first.ok()) first = std::move(status);
  }
  return first;
}

}  // namespace record
}  // namespace sonde
