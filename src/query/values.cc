// Recorded values at exact steps.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "formats/json_writer.h"
#include "query/answers.h"
#include "query/markdown.h"
#include "store/access.h"
#include "tensor/convert.h"

namespace sonde::query {
namespace {

constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

struct Found {
  Run run;
  std::string tag;
  TagKind kind = TagKind::scalars;
};

// The tag that `run`, `tag` and `kind` name; of the kinds in question, the first that the tag has.
Result<Found> find_tag(const Context& context, const Params& params, std::initializer_list<TagKind> kinds) {
  const auto run_name = params.text("run");
  if (!run_name) return run_name.error();
  const auto tag = params.text("tag");
  if (!tag) return tag.error();
  const auto wanted = params.kind();
  if (!wanted) return wanted.error();
  const auto item = context.catalogue->run(*run_name);
  if (!item) return item.error();
  const Run& run = item->entry->run;
  if (*wanted && std::ranges::find(kinds, **wanted) == kinds.end()) {
    return Status(Code::invalid_argument,
                  "this request does not support tags of kind " + std::string(to_string(**wanted)));
  }
  // The error for a known tag whose values were all deleted.
  Status missing(Code::not_found, in_quotes(*tag) + " no longer has values");
  bool first = true;
  for (const TagKind kind : kinds) {
    if (*wanted && **wanted != kind) continue;
    const Result<Tag> found = run.tag(*tag, kind);
    if (found && found->points > 0) return Found{run, *tag, kind};
    if (first && !found) missing = found.error();
    first = false;
  }
  return missing;
}

constexpr std::initializer_list<TagKind> kAnyKind = {TagKind::scalars,        TagKind::images, TagKind::histograms,
                                                     TagKind::statistics,     TagKind::audio,  TagKind::text,
                                                     TagKind::pr_curves,      TagKind::mesh,   TagKind::hparams,
                                                     TagKind::custom_scalars, TagKind::graphs, TagKind::tensors};

// The value at exactly that step; the last if there are several.
Result<ValueRef> value_at(const Found& found, std::int64_t step) {
  const auto values = found.run.values(found.tag, found.kind, {.first_step = step, .last_step = step});
  if (!values) return values.error();
  if (!values->empty()) return values->back();
  const auto all = found.run.values(found.tag, found.kind);
  std::string text = in_quotes(found.tag) + " has no value at step " + std::to_string(step);
  if (all && !all->empty()) {
    const auto behind = std::ranges::lower_bound(*all, step, {}, &ValueRef::step);
    const ValueRef& nearest = behind == all->end() ? all->back() : *behind;
    text += "; the nearest step is " + std::to_string(nearest.step);
  }
  return Status(Code::not_found, text);
}

Result<ValueRef> asked_value(const Found& found, const Params& params) {
  if (params.find("step") == nullptr) return Status(Code::invalid_argument, "the parameter 'step' is missing");
  const auto step = params.integer("step", 0, kFirst, kLast);
  if (!step) return step.error();
  return value_at(found, *step);
}

struct Selection {
  std::vector<ValueRef> values;
  std::size_t total = 0;  // that the range has
};

// So many of the values, evenly spread, the first and the last among them; of one, the last.
std::vector<ValueRef> spread(const std::vector<ValueRef>& values, std::size_t count) {
  if (values.size() <= count) return values;
  std::vector<ValueRef> chosen;
  chosen.reserve(count);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(values[store::spread(i, count, values.size())]);
  return chosen;
}

struct AskedRange {
  Range range;
  std::size_t most = 0;
};

Result<AskedRange> asked_range(const Params& params, std::int64_t usual, std::int64_t limit) {
  const auto most = params.integer("most", usual, 1, limit);
  if (!most) return most.error();
  const auto first = params.integer("first", kFirst, kFirst, kLast);
  if (!first) return first.error();
  const auto last = params.integer("last", kLast, kFirst, kLast);
  if (!last) return last.error();
  return AskedRange{{.first_step = *first, .last_step = *last}, static_cast<std::size_t>(*most)};
}

// At most `most` values of the range, evenly spread.
Result<Selection> select_values(const Found& found, const Params& params, std::int64_t usual, std::int64_t limit) {
  const auto asked = asked_range(params, usual, limit);
  if (!asked) return asked.error();
  const auto values = found.run.values(found.tag, found.kind, asked->range);
  if (!values) return values.error();
  return Selection{spread(*values, asked->most), values->size()};
}

void put_times(formats::JsonWriter& json, const std::vector<ValueRef>& values) {
  json.list("steps", values, [&](const ValueRef& value) { json.integer(value.step); });
  json.list("times", values, [&](const ValueRef& value) { json.number(value.wall_time); });
}

// A value that is not in the answer: one bad record hides no other.
struct LeftOut {
  std::int64_t step = 0;
  Status why;
};

void put_left_out(formats::JsonWriter& json, const std::vector<LeftOut>& left_out) {
  json.list("left_out", left_out, [&](const LeftOut& one) {
    json.object().key("step").integer(one.step).key("text").text(one.why.message()).end();
  });
}

struct ReadHistograms {
  std::vector<ValueRef> values;              // those that are not left out
  std::vector<TensorStatistics> histograms;  // of each of them
  std::vector<LeftOut> left_out;
  std::size_t fitting = 0;  // of the values that were asked for, counted from the first
};

// Bins take some 55 bytes each as JSON.
constexpr std::size_t kMostBins = 500'000;

Result<TensorStatistics> read_histogram(const Found& found, const ValueRef& value) {
  if (found.kind == TagKind::statistics) return found.run.statistics(value);
  auto buckets = found.run.histogram(value);
  if (!buckets) return buckets.error();
  if (buckets->size() > kMostBins) {
    return Status(Code::exhausted, "the histogram of " + in_quotes(found.tag) + " at step " +
                                       std::to_string(value.step) +
                                       " has more than 500,000 bins, too many for an answer");
  }
  TensorStatistics histogram;
  histogram.histogram = *std::move(buckets);
  return histogram;
}

// Stops if there are too many bins.
ReadHistograms read_histograms(const Found& found, const std::vector<ValueRef>& values) {
  ReadHistograms all;
  std::size_t bins = 0;
  for (const ValueRef& value : values) {
    auto read = read_histogram(found, value);
    if (!read) {
      all.left_out.push_back({value.step, read.error()});
    } else {
      bins += read->histogram.size();
      if (bins > kMostBins) return all;
      all.values.push_back(value);
      all.histograms.push_back(*std::move(read));
    }
    ++all.fitting;
  }
  return all;
}

// As many of the values, evenly spread, as have no more than kMostBins bins.
ReadHistograms read_what_fits(const Found& found, const std::vector<ValueRef>& values) {
  std::size_t count = values.size();
  ReadHistograms all = read_histograms(found, values);
  while (all.fitting < count) {
    // By a quarter at least, so that histograms of very different sizes are not read over and over.
    count = std::max<std::size_t>(1, std::min(all.fitting, count * 3 / 4));
    all = read_histograms(found, spread(values, count));
  }
  return all;
}

void put_histogram(formats::JsonWriter& json, const TensorStatistics& histogram) {
  const std::vector<Bucket>& buckets = histogram.histogram;
  json.object();
  json.list("left", buckets, [&](const Bucket& bucket) { json.number(bucket.left); });
  json.list("right", buckets, [&](const Bucket& bucket) { json.number(bucket.right); });
  json.list("count", buckets, [&](const Bucket& bucket) { json.number(bucket.count); });
  json.key("nan").integer(histogram.nan).key("positive_infinity").integer(histogram.positive_infinity);
  json.key("negative_infinity").integer(histogram.negative_infinity).end();
}

Answer histograms_answer(const Found& found, std::size_t total, const ReadHistograms& read) {
  formats::JsonWriter json;
  json.object().key("kind").text(to_string(found.kind)).key("total").integer(total);
  put_times(json, read.values);
  json.list("histograms", read.histograms, [&](const TensorStatistics& histogram) { put_histogram(json, histogram); });
  put_left_out(json, read.left_out);
  return json_answer(json.end().take());
}

// The content type for the browser; empty if the bytes are none of these.
std::string_view image_type(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
  if (bytes.starts_with("\xff\xd8\xff")) return "image/jpeg";
  if (bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")) return "image/gif";
  return "";
}
std::string_view audio_type(std::string_view bytes) {
  return bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WAVE") ? "audio/wav" : "";
}

Result<std::size_t> asked_index(const Params& params, std::size_t count) {
  const auto index = params.integer("index", 0, 0, kLast);
  if (!index) return index.error();
  if (static_cast<std::uint64_t>(*index) < count) return static_cast<std::size_t>(*index);
  return Status(Code::not_found, "there is no number " + std::to_string(*index) + " at this step, which has " +
                                     std::to_string(count) + " of them, the first being 0");
}

// Text is sent twice, as written and as HTML.
Status check_text(const Found& found, std::size_t bytes) {
  constexpr std::size_t kMost = std::size_t{4} << 20;
  if (bytes <= kMost) return Status::success();
  return {Code::exhausted, "the text of " + in_quotes(found.tag) +
                               " has more than 4 MiB at this step, too much for a " +
                               "page; 'sonde export' writes it to a file"};
}

Result<Answer> bytes_answer(std::string bytes, std::string_view type) {
  if (type.empty()) {
    return Status(Code::not_found, "the recorded data is neither PNG, JPEG, GIF nor WAV, and no other type is sent");
  }
  Answer answer;
  answer.content_type = type;
  answer.body = std::move(bytes);
  return answer;
}

}  // namespace

Result<Answer> answer_steps(const Context& context, const Params& params) {
  constexpr std::size_t kMost = 2'000'000;
  const auto found = find_tag(context, params, kAnyKind);
  if (!found) return found.error();
  if (const auto tag = found->run.tag(found->tag, found->kind); tag && tag->points > kMost) {
    return Status(Code::exhausted, "the tag has more than 2,000,000 steps, too many for a list");
  }
  formats::JsonWriter json;
  json.object().key("kind").text(to_string(found->kind));
  if (found->kind == TagKind::scalars) {
    const auto scalars = found->run.scalars(found->tag);
    if (!scalars) return scalars.error();
    json.list("steps", scalars->steps, [&](std::int64_t step) { json.integer(step); });
    json.list("times", scalars->wall_times, [&](double time) { json.number(time); });
  } else {
    const auto values = found->run.values(found->tag, found->kind);
    if (!values) return values.error();
    put_times(json, *values);
  }
  return json_answer(json.end().take());
}

Result<Answer> answer_histograms(const Context& context, const Params& params) {
  const auto found = find_tag(context, params, {TagKind::histograms, TagKind::statistics});
  if (!found) return found.error();
  if (params.find("step") != nullptr) {
    const auto value = asked_value(*found, params);
    if (!value) return value.error();
    const ReadHistograms read = read_histograms(*found, {*value});
    if (!read.left_out.empty()) return read.left_out.front().why;  // nothing else was asked for
    return histograms_answer(*found, 1, read);
  }
  constexpr std::int64_t kMost = 500;
  const auto selection = select_values(*found, params, 50, kMost);
  if (!selection) return selection.error();
  return histograms_answer(*found, selection->total, read_what_fits(*found, selection->values));
}

Result<Answer> answer_statistics(const Context& context, const Params& params) {
  const auto found = find_tag(context, params, {TagKind::statistics});
  if (!found) return found.error();
  constexpr std::int64_t kMost = 10'000;
  const auto asked = asked_range(params, 1'000, kMost);
  if (!asked) return asked.error();
  const auto columns = store::Access::source(found->run).statistics_columns(found->tag, asked->range, asked->most);
  if (!columns) return columns.error();
  formats::JsonWriter json;
  json.object().key("total").integer(columns->total);
  json.key("dtype").text(to_string(columns->dtype)).key("shape").shape(columns->shape);
  json.list("steps", columns->steps, [&](std::int64_t step) { json.integer(step); });
  json.list("times", columns->wall_times, [&](double time) { json.number(time); });
  constexpr std::array kCounts = {"count", "nan", "positive_infinity", "negative_infinity", "zeros", "negatives"};
  for (std::size_t i = 0; i < kCounts.size(); ++i) {
    json.list(kCounts[i], columns->counts[i], [&](std::uint64_t count) { json.integer(count); });
  }
  constexpr std::array kNumbers = {"min", "max", "mean", "std", "sum_abs"};
  for (std::size_t i = 0; i < kNumbers.size(); ++i) {
    json.list(kNumbers[i], columns->numbers[i], [&](double number) { json.number(number); });
  }
  return json_answer(json.end().take());
}

Result<Answer> answer_media(const Context& context, const Params& params) {
  const auto found = find_tag(context, params, {TagKind::images, TagKind::audio, TagKind::text});
  if (!found) return found.error();
  const auto value = asked_value(*found, params);
  if (!value) return value.error();
  formats::JsonWriter json;
  json.object().key("kind").text(to_string(found->kind)).key("step").integer(value->step);
  json.key("time").number(value->wall_time);
  if (found->kind == TagKind::images) {
    const auto images = found->run.images(*value);
    if (!images) return images.error();
    json.key("width").integer(images->width).key("height").integer(images->height);
    json.key("count").integer(images->files.size());
  } else if (found->kind == TagKind::audio) {
    const auto clips = found->run.audio(*value);
    if (!clips) return clips.error();
    std::size_t bytes = 0;
    for (const AudioClip& clip : *clips) bytes += clip.label.size();
    if (Status status = check_text(*found, bytes); !status) return status;
    json.key("count").integer(clips->size());
    json.list("labels", *clips, [&](const AudioClip& clip) { json.text(html_of_markdown(clip.label)); });
  } else {
    const auto texts = found->run.text(*value);
    if (!texts) return texts.error();
    std::size_t bytes = 0;
    for (const std::string& text : *texts) bytes += text.size();
    if (Status status = check_text(*found, bytes); !status) return status;
    json.key("count").integer(texts->size());
    json.list("texts", *texts, [&](const std::string& text) { json.text(text); });
    json.list("html", *texts, [&](const std::string& text) { json.text(html_of_markdown(text)); });
  }
  return json_answer(json.end().take());
}

Result<Answer> answer_image(const Context& context, const Params& params) {
  const auto found = find_tag(context, params, {TagKind::images});
  if (!found) return found.error();
  const auto value = asked_value(*found, params);
  if (!value) return value.error();
  auto images = found->run.images(*value);
  if (!images) return images.error();
  const auto index = asked_index(params, images->files.size());
  if (!index) return index.error();
  const std::string_view type = image_type(images->files[*index]);
  return bytes_answer(std::move(images->files[*index]), type);
}

Result<Answer> answer_audio(const Context& context, const Params& params) {
  const auto found = find_tag(context, params, {TagKind::audio});
  if (!found) return found.error();
  const auto value = asked_value(*found, params);
  if (!value) return value.error();
  auto clips = found->run.audio(*value);
  if (!clips) return clips.error();
  const auto index = asked_index(params, clips->size());
  if (!index) return index.error();
  const std::string_view type = audio_type((*clips)[*index].file);
  return bytes_answer(std::move((*clips)[*index].file), type);
}

Result<Answer> answer_pr_curve(const Context& context, const Params& params) {
  constexpr std::size_t kMostThresholds = 100'000;
  constexpr std::string_view kRows[] = {"true_positives",  "false_positives", "true_negatives",
                                        "false_negatives", "precision",       "recall"};
  const auto found = find_tag(context, params, {TagKind::pr_curves});
  if (!found) return found.error();
  const auto value = asked_value(*found, params);
  if (!value) return value.error();
  const auto tensor = found->run.tensor(*value);
  if (!tensor) return tensor.error();
  const Shape& shape = tensor->shape;
  if (shape.rank() != 2 || shape[0] != static_cast<std::int64_t>(std::size(kRows)) || shape[1] < 1) {
    return Status(Code::corrupt, in_quotes(found->tag) + " is not a valid curve at step " +
                                     std::to_string(value->step) + ": six rows of numbers are expected");
  }
  const auto count = static_cast<std::size_t>(shape[1]);
  if (count > kMostThresholds) return Status(Code::exhausted, "the curve has more than 100,000 thresholds");
  const auto numbers = tensor::to_doubles(tensor->view());
  if (!numbers) return numbers.error();
  formats::JsonWriter json;
  json.object().key("step").integer(value->step).key("time").number(value->wall_time).key("thresholds").array();
  // TensorBoard's rule: evenly spread from 0 to 1.
  for (std::size_t i = 0; i < count; ++i) {
    json.number(count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0);
  }
  json.end();
  const std::span<const double> all(*numbers);
  for (std::size_t row = 0; row < std::size(kRows); ++row) {
    json.list(kRows[row], all.subspan(row * count, count), [&](double number) { json.number(number); });
  }
  return json_answer(json.end().take());
}

}  // namespace sonde::query
