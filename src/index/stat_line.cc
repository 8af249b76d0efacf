// A statistic of a tensor as a scalar series, so that charts draw it like any other line.
#include <optional>
#include <utility>

#include "index/run_index.h"

namespace sonde::index {
namespace {

constexpr std::string_view kPrefix = "stat:";
constexpr std::size_t kMostKept = 64;

struct StatLine {
  Statistic statistic = Statistic::rms;
  std::string_view tag;  // of the tensor
};

// "stat:rms:activation/dense_1/out"
std::optional<StatLine> parse(std::string_view tag) {
  if (!tag.starts_with(kPrefix)) return std::nullopt;
  tag.remove_prefix(kPrefix.size());
  const std::size_t colon = tag.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const Result<Statistic> statistic = statistic_of(tag.substr(0, colon));
  if (!statistic) return std::nullopt;
  return StatLine{*statistic, tag.substr(colon + 1)};
}

}  // namespace

std::shared_ptr<const Series> RunIndex::find_line(std::string_view tag) const {
  if (const Series* series = data_.find(tag, TagKind::scalars)) return {std::shared_ptr<void>(), series};
  const std::optional<StatLine> line = parse(tag);
  if (!line) return nullptr;
  const Series* const tensor = data_.find(line->tag, TagKind::statistics);
  if (tensor == nullptr) return nullptr;
  const std::uint64_t revision = revision_.load();
  {
    const std::lock_guard lock(lines_mutex_);
    const auto kept = lines_.find(tag);
    if (kept != lines_.end() && kept->second.revision == revision) return kept->second.series;
  }
  auto series = std::make_shared<Series>();
  series->tag = tag;
  // Those that count, as one column: which points a restart replaces is decided for all tensors of a file together.
  const Scalars points = statistic_points(*tensor, line->statistic, {}, History::newest);
  Column& column = series->columns.of(0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    column.append(points.steps[i], points.wall_times[i], points.values[i]);
  }
  column.pack();
  const std::lock_guard lock(lines_mutex_);
  if (lines_.size() >= kMostKept) lines_.clear();
  lines_.insert_or_assign(std::string(tag), KeptLine{revision, series});
  return series;
}

}  // namespace sonde::index
