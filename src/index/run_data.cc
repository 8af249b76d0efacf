#include "index/run_data.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "formats/run_layout.h"

namespace sonde::index {

TagKind kind_of_plugin(std::string_view plugin) noexcept {
  for (const TagKind kind : {TagKind::scalars, TagKind::histograms, TagKind::images, TagKind::audio, TagKind::text,
                             TagKind::pr_curves, TagKind::mesh, TagKind::hparams, TagKind::custom_scalars}) {
    if (plugin == to_string(kind)) return kind;
  }
  return plugin.starts_with("graph") ? TagKind::graphs : TagKind::tensors;
}

Series* RunData::find(std::string_view tag, TagKind kind) const noexcept {
  Series* found = find(tag);
  while (found != nullptr && found->kind != kind) found = found->same_tag;
  return found;
}

Series& RunData::add(std::string_view tag, TagKind kind, std::string_view plugin) {
  Series& made = series_.emplace_back();
  made.tag = tag;
  made.kind = kind;
  made.plugin = plugin;
  const auto [at, is_new] = by_tag_.try_emplace(made.tag, &made);
  if (!is_new) {
    Series* last = at->second;
    while (last->same_tag != nullptr) last = last->same_tag;
    last->same_tag = &made;
  }
  return made;
}

void RunStatistics::drop(std::uint32_t file) {
  for (const bool evaluation : {false, true}) {
    streams_.erase({file, evaluation});
    steps(evaluation).columns.drop(file);
  }
}

void RunStatistics::pack() {
  for (auto& [key, stream] : streams_) stream.pack();
}

void RunData::add_damage(FoundDamage found) {
  constexpr std::size_t kLimit = 100'000;
  if (!damage.empty()) {
    FoundDamage& last = damage.back();
    if (last.file == found.file && last.offset + last.size == found.offset && last.reason == found.reason) {
      last.size += found.size;
      return;
    }
  }
  if (damage.size() < kLimit) damage.push_back(std::move(found));
}

void RunData::drop_file(std::uint32_t file) {
  generation = next_generation();
  for (Series& one : series_) {
    one.columns.drop(file);
    one.tracks.drop(file);
    one.statistics.erase(file);
    std::erase_if(one.restarts, [&](const Restart& restart) { return restart.file == file; });
  }
  statistics.drop(file);
  std::erase_if(damage, [&](const FoundDamage& found) { return found.file == file; });
  std::erase_if(gaps, [&](const FoundGap& found) { return found.file == file; });
  SourceFile& source = files[file];
  source.read = 0;
  source.guard = {};
  source.definitions = {};
  source.undefined = {};
  source.first_time = SourceFile().first_time;
  source.last_time = SourceFile().last_time;
  source.probe_order = {};
}

std::vector<std::uint32_t> RunData::file_order() const {
  std::vector<std::uint32_t> order(files.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t file) -> const std::string& { return files[file].name; });
  return order;
}

Timeline RunData::timeline() const {
  Timeline timeline;
  timeline.order = file_order();
  timeline.spans.resize(files.size());
  std::map<std::string_view, Span> by_writer;
  const auto span_of = [&](const SourceFile& file) -> Span& {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return by_writer.try_emplace(run_layout::writer_of(file.name), Span{kInfinity, -kInfinity}).first->second;
  };
  for (const SourceFile& file : files) {
    Span& span = span_of(file);
    span.first = std::min(span.first, file.first_time);
    span.last = std::max(span.last, file.last_time);
  }
  // Writers that overlap, also through others, are of one session of the job.
  std::vector<Span*> spans;
  for (auto& [writer, span] : by_writer) {
    if (span.first <= span.last) spans.push_back(&span);
  }
  std::ranges::sort(spans, {}, &Span::first);
  for (std::size_t begin = 0; begin < spans.size();) {
    Span session = *spans[begin];
    std::size_t end = begin + 1;
    for (; end < spans.size() && spans[end]->first < session.last; ++end) {
      session.last = std::max(session.last, spans[end]->last);
    }
    for (; begin < end; ++begin) *spans[begin] = session;
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Span span = span_of(files[i]);
    if (span.first <= span.last) timeline.spans[i] = span;
  }
  return timeline;
}

}  // namespace sonde::index
