#include "record/output.h"

#include <cmath>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "formats/tfevents.h"
#include "record/attempt.h"
#include "stats/buckets.h"
#include "stats/parts.h"

namespace sonde::record {

void Output::scalar(const sinks::Stamp& stamp, std::uint32_t id, double value) noexcept {
  auto& scalar = *std::get_if<sinks::ScalarValue>(&scalar_);
  scalar.tag.id = id;
  if (!attempt(counters_, [&] { scalar.tag.name = sinks_.name(id); })) {
    return refuse(1);
  }
  scalar.value = value;
  sinks_.write(stamp, {&scalar_, 1});
  counters_.count_scalar();
  attempt(counters_, [&] { check_range(id, value); });
  attempt(counters_, [&] { steps_.scalar(stamp.step, id, scalar.tag.name, value); });
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

void Output::payload(const sinks::Stamp& stamp, PayloadPtr payload) noexcept {
  const RecordCount count = count_of(payload->job);
  if (attempt(counters_, [&] { write(stamp, payload); })) return;
  refuse(count.scalars + count.tensors);  // what throws has written nothing
}

void Output::refuse(std::uint64_t records) noexcept {
  counters_.count_rejected(records);
  sinks_.note({Code::exhausted, "out of memory"});  // short enough to need none
}

void Output::write(const sinks::Stamp& stamp, PayloadPtr& payload) {
  const auto* probe_job = std::get_if<ProbeJob>(&payload->job);
  if (!payload->pool->take(*payload)) {
    if (probe_job != nullptr) attempt(counters_, [&] { steps_.lose(stamp, *probe_job); });
    return losses_.lose(std::move(payload), stamp.step);
  }
  if (probe_job != nullptr) {
    if (probe_job->lost) return (void)attempt(counters_, [&] { steps_.lose(stamp, *probe_job); });
    return steps_.probe(stamp, std::move(payload), *probe_job);
  }
  if (const auto* encoded = std::get_if<EncodedJob>(&payload->job)) {
    has_hparams_ |= encoded->content == EncodedJob::Content::hparams;
    if (encoded->content == EncodedJob::Content::graph) {
      sinks_.write(stamp, sinks::GraphValue{encoded->bytes});
    } else if (encoded->content == EncodedJob::Content::event) {
      event(stamp, *encoded);
    } else {
      sinks_.write(stamp, sinks::EncodedValue{encoded->bytes});
    }
  } else if (auto* group_job = std::get_if<GroupJob>(&payload->job)) {
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

void Output::event(const sinks::Stamp& stamp, const EncodedJob& encoded) {
  sinks_.write(stamp, sinks::EventValue{encoded.bytes});
  for (const GroupScalar& number : encoded.scalars) {
    counters_.count_scalar();
    attempt(counters_, [&] { steps_.scalar(stamp.step, number.tag, sinks_.name(number.tag), number.value); });
  }
}

// The values of a group are one event; its pictures follow when they are encoded. A payload that stands alone is a
// group of one.
void Output::group(const sinks::Stamp& sent, GroupJob& job) {
  const sinks::Stamp stamp = {job.wall_time.value_or(sent.wall_time), sent.step};
  std::vector<sinks::Value> values;
  ArtifactWriter::Pictures pictures;
  std::deque<std::vector<stats::Bucket>> computed;  // keeps what values point to
  std::uint64_t scalars = 0;
  std::uint64_t tensors = 0;
  for (auto& item : job.items) {
    if (const auto* number = std::get_if<GroupScalar>(&item)) {
      ++scalars;
      values.emplace_back(sinks::ScalarValue{sinks_.tag(number->tag), number->value});
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
      pictures.emplace_back(
          FileWriter::Picture{
              .tag = sinks_.tag(image->tag), .view = payload.view, .layout = image->layout, .options = &image->options},
          std::move(std::get<PayloadPtr>(item)));
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
  if (!values.empty()) {
    const bool usable = sinks_.write(stamp, values);
    if (!usable && tensors > 0) --tensors;  // counted as rejected
    for (; scalars > 0; --scalars) counters_.count_scalar();
    for (; tensors > 0; --tensors) counters_.count_tensor();
  }
  for (const auto& item : job.items) {
    const auto* number = std::get_if<GroupScalar>(&item);
    if (number == nullptr) continue;
    attempt(counters_, [&] { check_range(number->tag, number->value); });
    attempt(counters_, [&] { steps_.scalar(stamp.step, number->tag, sinks_.name(number->tag), number->value); });
  }
  if (pictures.empty()) return;
  const std::uint64_t count = pictures.size();
  if (!attempt(counters_, [&] { steps_.pictures(stamp, std::move(pictures)); })) refuse(count);
}

Status Output::close(double wall_time) noexcept {
  steps_.close(wall_time);
  attempt(counters_, [&] {
    if (!has_hparams_) return;
    std::string summary;
    tfevents::put_hparams_session_end(summary, tfevents::SessionStatus::success, wall_time);
    sinks_.write({wall_time, 0}, sinks::EncodedValue{summary});
  });
  return sinks_.close();
}

}  // namespace sonde::record
