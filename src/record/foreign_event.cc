// Recorder::event: events that another library encoded.
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/clock.h"
#include "formats/tfevents.h"
#include "formats/tfevents_decode.h"
#include "record/channel.h"
#include "sonde/recorder.h"

namespace sonde {
namespace {

using record::Channel;
using record::EncodedJob;
using tags::Plugin;
using tfevents::Event;

Plugin plugin_of(std::string_view name) {
  if (name == "scalars") return Plugin::scalars;
  if (name == "histograms") return Plugin::histograms;
  if (name == "images") return Plugin::images;
  if (name == "audio") return Plugin::audio;
  if (name == "text") return Plugin::text;
  return Plugin::other;
}

// Resolves the tags of a summary, and notes its scalars, which conditions see.
Status take_values(Channel& to, const Event& event, EncodedJob& job) {
  for (const tfevents::Value& value : event.values) {
    const bool silent = !value.has_metadata && value.form == tfevents::Value::Form::tensor;  // an earlier one said it
    const std::optional<Plugin> known = silent ? to.tags().plugin(value.tag) : std::nullopt;
    const Plugin plugin = known ? *known : plugin_of(value.plugin_name());
    const auto tag = to.tags().resolve(value.tag, plugin);
    if (!tag) return tag.error();
    if (plugin != Plugin::scalars) continue;
    const auto number = tfevents::as_scalar(value);
    if (!number) return number.error();
    job.scalars.push_back({*tag, *number});
  }
  return Status::success();
}

Status send_event(Channel& to, std::string_view bytes) {
  auto event = tfevents::decode_event(base::as_bytes(bytes));
  if (!event) return {Code::invalid_argument, "an event was not recorded: " + event.error().message()};
  if (event->what == Event::What::file_version) return Status::success();  // every file begins with its own
  EncodedJob job = {.content = EncodedJob::Content::event, .bytes = std::string(bytes)};
  if (Status status = take_values(to, *event, job); !status.ok()) {
    return {status.code(), "an event was not recorded: " + status.message()};
  }
  if (event->wall_time == 0) tfevents::put_wall_time(job.bytes, base::wall_seconds());
  if (record::PayloadPtr payload = to.stage(std::move(job))) to.send(std::move(payload), event->step);
  return Status::success();
}

}  // namespace

void Recorder::event(std::string_view event) noexcept {
  if (!channel_) return;
  try {
    if (!channel_->is_open()) return channel_->counters().count_rejected();
    if (Status status = send_event(*channel_, event); !status.ok()) channel_->reject(std::move(status));
  } catch (...) {
    channel_->counters().count_rejected();
  }
}

}  // namespace sonde
