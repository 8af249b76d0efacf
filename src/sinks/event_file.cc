#include "sinks/event_file.h"

#include <string>
#include <string_view>
#include <utility>

#include "formats/tfevents.h"
#include "formats/tfrecord.h"
#include "formats/wav.h"

namespace sonde::sinks {
namespace {

Status refused(const Tag& tag, const Status& why) {
  std::string message = "the audio '";
  message.append(tag.name).append("' was not recorded: ").append(why.message());
  return {why.code(), std::move(message)};
}

}  // namespace

EventFile::EventFile(std::string path, double wall_time, Precision precision, Tally& tally,
                     std::optional<std::int64_t> purge_step)
    : file_(std::move(path), tally), start_time_(wall_time), precision_(precision), purge_step_(purge_step) {
  begin();
}

void EventFile::begin() {
  tfevents::put_version_event(file_.buffer(), start_time_);
  if (purge_step_) tfevents::put_session_start_event(file_.buffer(), start_time_, *purge_step_);
}

bool EventFile::needs_metadata(const Tag& tag) {
  if (tag.id >= said_.size()) said_.resize(tag.id + 1);
  if (said_[tag.id]) return false;
  return said_[tag.id] = true;
}

void EventFile::repeat_if_needed() {
  if (!file_.must_repeat()) return;
  said_.assign(said_.size(), false);
  if (file_.end() == 0) begin();  // the first one was lost
}

Status EventFile::write(const Stamp& stamp, std::span<const Value> values) {
  return file_.whole([&] { return append(stamp, values); });
}

Status EventFile::append(const Stamp& stamp, std::span<const Value> values) {
  repeat_if_needed();
  if (values.size() == 1) {
    if (const auto* scalar = std::get_if<ScalarValue>(values.data())) {
      tfevents::put_scalar_event(file_.buffer(), stamp.wall_time, stamp.step, scalar->tag.name, scalar->value,
                                 precision_, needs_metadata(scalar->tag));
      return file_.appended(stamp.step);
    }
    if (const auto* graph = std::get_if<GraphValue>(values.data())) {
      tfevents::put_graph_event(file_.buffer(), stamp.wall_time, graph->graph_def);
      return file_.appended(stamp.step);
    }
    if (const auto* event = std::get_if<EventValue>(values.data())) {
      tfrecord::put_record(file_.buffer(), event->event);
      return file_.appended(stamp.step);
    }
  }
  summary_.clear();
  Status first;
  for (const Value& value : values) {
    Status status = add(value);
    if (first.ok()) first = std::move(status);
  }
  if (summary_.empty()) return first;
  tfevents::put_summary_event(file_.buffer(), stamp.wall_time, stamp.step, summary_);
  Status written = file_.appended(stamp.step);
  return first.ok() ? written : first;
}

Status EventFile::add(const Value& value) {
  if (const auto* scalar = std::get_if<ScalarValue>(&value)) {
    tfevents::put_scalar(summary_, scalar->tag.name, scalar->value, precision_, needs_metadata(scalar->tag));
  } else if (const auto* histogram = std::get_if<HistogramValue>(&value)) {
    tfevents::put_histogram(summary_, histogram->tag.name, histogram->buckets, needs_metadata(histogram->tag));
  } else if (const auto* image = std::get_if<ImageValue>(&value)) {
    const std::string_view pngs[] = {image->png};
    tfevents::put_images(summary_, image->tag.name, image->width, image->height, pngs, needs_metadata(image->tag));
  } else if (const auto* audio = std::get_if<AudioValue>(&value)) {
    return add_audio(*audio);
  } else if (const auto* text = std::get_if<TextValue>(&value)) {
    tfevents::put_text(summary_, text->tag.name, text->text, needs_metadata(text->tag));
  } else if (const auto* encoded = std::get_if<EncodedValue>(&value)) {
    summary_.append(encoded->summary);
  }
  return Status::success();
}

Status EventFile::add_audio(const AudioValue& audio) {
  const AudioOptions& options = *audio.options;
  if (options.sample_rate <= 0) {
    return refused(audio.tag, {Code::invalid_argument, "it needs a sample rate above 0"});
  }
  const auto wav =
      wav::encode(audio.view, static_cast<std::uint32_t>(options.sample_rate),
                  options.encoding == AudioOptions::Encoding::float32 ? wav::Encoding::float32 : wav::Encoding::pcm16);
  if (!wav) return refused(audio.tag, wav.error());
  const tfevents::AudioClip clips[] = {{*wav, options.label}};
  tfevents::put_audio(summary_, audio.tag.name, clips, needs_metadata(audio.tag));
  return Status::success();
}

}  // namespace sonde::sinks
