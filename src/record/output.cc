#include "record/output.h"

#include <cmath>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "formats/tfevents.h"
#include "stats/buckets.h"
#include "stats/parts.h"

namespace sonde::record {

void Output::scalar(const sinks::Stamp& stamp, std::uint32_t id, double value) {
  auto& scalar = *std::get_if<sinks::ScalarValue>(&scalar_);
  scalar.tag.id = id;
  scalar.tag.name = sinks_.name(id);
  scalar.value = value;
  sinks_.write(stamp, {&scalar_, 1});
  counters_.count_scalar();
  check_range(id, value);
  steps_.scalar(stamp.step, id, scalar.tag.name, value);
}

// A finite number that the event file shows as an infinity looks like a network that has blown up.
void Output::check_range(std::uint32_t id, double value) {
  if (std::fabs(value) <= largest_ || !std::isfinite(value)) [[likely]] {
    return;
  }
  if (std::isfinite(static_cast<float>(value))) return;  // rounded to the largest
  counters_.count_overflowed_scalar();
  if (!overflowed_.insert(id).second) return;
  char text[32];
  const int size = std::snprintf(text, sizeof text, "%g", value);
  steps_.warn_once("range " + std::to_string(id),
                   {Code::unsupported, "the scalar '" + std::string(sinks_.name(id)) + "' was " +
                                           std::string(text, static_cast<std::size_t>(size)) +
                                           ", which is infinite in the log, since scalars are written as f32: set "
                                           "RecorderOptions::precision to f64, or record it in another unit"});
}

void Output::payload(const sinks::Stamp& stamp, PayloadPtr payload) {
  const auto* probe_job = std::get_if<ProbeJob>(&payload->job);
  if (!payload->pool->take(*payload)) {
    if (probe_job != nullptr) steps_.lose(stamp, *probe_job);
    return losses_.lose(std::move(payload), stamp.step);
  }
  if (probe_job != nullptr) {
    if (probe_job->lost) return steps_.lose(stamp, *probe_job);
    return steps_.probe(stamp, std::move(payload), *probe_job);
  }
  if (const auto* encoded = std::get_if<EncodedJob>(&payload->job)) {
    has_hparams_ |= encoded->content == EncodedJob::Content::hparams;
    if (encoded->content == EncodedJob::Content::graph) {
      sinks_.write(stamp, sinks::GraphValue{encoded->bytes});
    } else {
      sinks_.write(stamp, sinks::EncodedValue{encoded->bytes});
    }
  } else if (const auto* group_job = std::get_if<GroupJob>(&payload->job)) {
    group(stamp, *group_job);
  } else if (std::holds_alternative<TableJob>(payload->job)) {
    return steps_.table(stamp, std::move(payload));
  } else if (const auto* trigger = std::get_if<TriggerJob>(&payload->job)) {
    steps_.trigger(stamp, *trigger);
  } else {
    GroupJob alone;
    alone.items.emplace_back(std::move(payload));
    group(stamp, alone);
  }
}

// The values of a group are one event. A single payload is a group of one.
void Output::group(const sinks::Stamp& sent, const GroupJob& job) {
  const sinks::Stamp stamp = {job.wall_time.value_or(sent.wall_time), sent.step};
  std::vector<sinks::Value> values;
  std::deque<std::vector<stats::Bucket>> computed;  // keeps what values point to
  std::uint64_t scalars = 0;
  std::uint64_t tensors = 0;
  for (const auto& item : job.items) {
    if (const auto* number = std::get_if<GroupScalar>(&item)) {
      ++scalars;
      values.emplace_back(sinks::ScalarValue{sinks_.tag(number->tag), number->value});
      check_range(number->tag, number->value);
      steps_.scalar(stamp.step, number->tag, sinks_.name(number->tag), number->value);
      continue;
    }
    if (const auto* encoded = std::get_if<EncodedJob>(&item)) {
      values.emplace_back(sinks::EncodedValue{encoded->bytes});
      continue;
    }
    const Payload& payload = *std::get<PayloadPtr>(item);
    if (const auto* histogram = std::get_if<HistogramJob>(&payload.job)) {
      stats::Histogram fine;
      const auto summary = stats::summarize(payload.view, &fine, pool_);
      if (!summary) {
        sinks_.reject(stamp, {summary.error().code(), "the histogram '" + std::string(sinks_.name(histogram->tag)) +
                                                          "' was not recorded: " + summary.error().message()});
        continue;
      }
      computed.push_back(stats::tensorboard_buckets(payload.view, *summary, fine, histogram_buckets_, pool_));
      ++tensors;
      values.emplace_back(sinks::HistogramValue{sinks_.tag(histogram->tag), computed.back()});
    } else if (const auto* image = std::get_if<ImageJob>(&payload.job)) {
      ++tensors;
      values.emplace_back(sinks::ImageValue{sinks_.tag(image->tag), payload.view, image->layout, &image->options});
    } else if (const auto* audio = std::get_if<AudioJob>(&payload.job)) {
      ++tensors;
      values.emplace_back(sinks::AudioValue{sinks_.tag(audio->tag), payload.view, &audio->options});
    } else if (const auto* text = std::get_if<TextJob>(&payload.job)) {
      values.emplace_back(sinks::TextValue{sinks_.tag(text->tag), text->text});
    } else if (const auto* print = std::get_if<PrintJob>(&payload.job)) {
      ++tensors;
      values.emplace_back(sinks::PrintValue{print->name, payload.view, print->full});
    }
  }
  if (values.empty()) return;
  const bool usable = sinks_.write(stamp, values);
  if (!usable && tensors > 0) --tensors;  // counted as rejected
  for (; scalars > 0; --scalars) counters_.count_scalar();
  for (; tensors > 0; --tensors) counters_.count_tensor();
}

Status Output::close(double wall_time) {
  steps_.close(wall_time);
  if (has_hparams_) {
    std::string summary;
    tfevents::put_hparams_session_end(summary, tfevents::SessionStatus::success, wall_time);
    sinks_.write({wall_time, 0}, sinks::EncodedValue{summary});
  }
  return sinks_.close();
}

}  // namespace sonde::record
