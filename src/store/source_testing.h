// For tests: a source of runs made of plain values, without files.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/access.h"
#include "store/source.h"

namespace sonde::store {

// Set its content before asking questions.
class FakeRun final : public RunSource {
 public:
  explicit FakeRun(std::string name) : name_(std::move(name)), directory_("fake:" + name_) {}

  std::map<std::string, Scalars> series;  // by tag
  std::vector<Tag> tags_of_tensors;
  std::vector<ProbeInfo> known_probes;
  std::vector<RecordingGap> known_gaps;
  std::vector<Damage> known_damage;
  std::vector<NonFiniteSeries> known_non_finite;
  std::string known_note;
  JobSigns signs;
  mutable std::atomic<int> unread = 0;  // so many times it says that it has not been read

  const std::string& name() const noexcept override { return name_; }
  const std::string& directory() const noexcept override { return directory_; }
  bool read_once() const noexcept override { return unread.load() == 0 || unread.fetch_sub(1) <= 0; }
  std::uint64_t revision() const noexcept override { return 1; }

  std::vector<Tag> tags() override {
    std::vector<Tag> tags;
    for (const auto& [name, scalars] : series) tags.push_back(tag_of(name, scalars));
    tags.insert(tags.end(), tags_of_tensors.begin(), tags_of_tensors.end());
    std::ranges::sort(tags, {}, &Tag::name);
    return tags;
  }
  Result<Tag> tag(std::string_view name, TagKind kind) override {
    const auto found = series.find(std::string(name));
    if (found == series.end() || kind != TagKind::scalars) return missing(name);
    return tag_of(found->first, found->second);
  }
  std::vector<ProbeInfo> probes() override { return known_probes; }
  double start_time() override {
    return series.empty() || series.begin()->second.size() == 0 ? 0 : series.begin()->second.wall_times.front();
  }
  Result<Scalars> scalars(std::string_view tag, const Range& /*range*/, History /*history*/) override {
    const auto found = series.find(std::string(tag));
    if (found == series.end()) return missing(tag);
    return found->second;
  }
  Result<Drawing> draw(std::string_view tag, int /*width*/, const Range& range, Axis /*axis*/) override {
    const Result<Scalars> all = scalars(tag, range, History::newest);
    if (!all) return all.error();
    return Drawing{.points = *all, .non_finite = {}, .total = all->size()};
  }
  Result<std::vector<ValueRef>> values(std::string_view tag, TagKind /*kind*/, const Range& /*range*/,
                                       History /*history*/) override {
    return missing(tag);
  }
  std::vector<Damage> damage() override { return known_damage; }
  std::vector<RecordingGap> gaps() override { return known_gaps; }
  std::vector<LogFile> files() override { return {}; }

  Result<DrawnLine> line(std::string_view tag, const LineRequest& request,
                         std::shared_ptr<const Averages>& /*averages*/) override {
    Result<Drawing> raw = draw(tag, request.width, request.range, request.axis);
    if (!raw) return raw.error();
    return DrawnLine{.raw = *std::move(raw), .smoothed = {}};
  }
  Result<LineSummary> summary(std::string_view tag, const Range& range, std::optional<std::int64_t> /*nearest*/,
                              const Smoothing& /*smoothing*/, std::shared_ptr<const Averages>& /*averages*/) override {
    const Result<Scalars> all = scalars(tag, range, History::newest);
    if (!all) return all.error();
    LineSummary found;
    found.count = all->size();
    if (found.count == 0) return found;
    found.first = {all->steps.front(), all->wall_times.front(), all->values.front()};
    found.last = {all->steps.back(), all->wall_times.back(), all->values.back()};
    return found;
  }
  Result<std::uint64_t> accumulate(std::string_view tag, const Range& /*range*/, const Grid& /*grid*/,
                                   std::span<GridCell> /*cells*/) override {
    return missing(tag);
  }
  std::vector<NonFiniteSeries> non_finite() override { return known_non_finite; }
  std::optional<Point> first_since(std::string_view /*tag*/, double /*time*/) override { return std::nullopt; }
  Result<std::string> read_record(const ValueRef& /*value*/) override { return missing("a record"); }
  Result<Scalars> statistic(std::string_view /*tag*/, Statistic /*statistic*/, const Range& /*range*/,
                            History /*history*/) override {
    return missing("statistics");
  }
  Result<StatisticsMap> statistics_map(const std::vector<std::string>& /*tags*/, Statistic /*statistic*/, int /*width*/,
                                       const Range& /*range*/) override {
    return missing("statistics");
  }
  Result<StatisticsColumns> statistics_columns(std::string_view /*tag*/, const Range& /*range*/,
                                               std::size_t /*most*/) override {
    return missing("statistics");
  }
  Result<TensorStatistics> read_statistics(const ValueRef& /*value*/) override { return missing("statistics"); }

  std::vector<std::string> captures() const override { return {}; }
  Result<CaptureInfo> capture(const std::string& name) const override { return missing(name); }
  std::vector<std::string> capture_problems(const std::string& /*name*/,
                                            const CaptureInfo& /*capture*/) const override {
    return {};
  }
  std::vector<CapturedSummary> captured_summaries(const std::string& /*name*/, const CaptureInfo& /*capture*/,
                                                  std::string_view /*key*/) const override {
    return {};
  }
  std::vector<tensor_files::KeptSeries> whole_tensors() const override { return {}; }
  std::vector<tensor_files::KeptSeries> tables() const override { return {}; }
  std::vector<CheckpointInfo> checkpoints() const override { return {}; }
  std::string note() const override { return known_note; }
  JobSigns job() const override { return signs; }

 private:
  static Status missing(std::string_view what) { return {Code::not_found, "there is no " + std::string(what)}; }
  static Tag tag_of(const std::string& name, const Scalars& scalars) {
    Tag tag;
    tag.name = name;
    tag.points = scalars.size();
    if (tag.points == 0) return tag;
    tag.first_step = scalars.steps.front();
    tag.last_step = scalars.steps.back();
    tag.first_time = scalars.wall_times.front();
    tag.last_time = scalars.wall_times.back();
    return tag;
  }

  std::string name_;
  std::string directory_;
};

class FakeLog final : public LogSource {
 public:
  explicit FakeLog(std::vector<std::shared_ptr<FakeRun>> runs) : runs_(std::move(runs)) {}

  const std::string& directory() const noexcept override { return directory_; }
  std::vector<std::shared_ptr<RunSource>> runs() const override { return {runs_.begin(), runs_.end()}; }
  Result<std::shared_ptr<RunSource>> run(std::string_view name) const override {
    for (const auto& run : runs_) {
      if (run->name() == name) return std::shared_ptr<RunSource>(run);
    }
    return Status(Code::not_found, "there is no run " + std::string(name));
  }
  std::vector<std::string> problems() const override { return {}; }
  void refresh() override {}
  void wait() const override {}
  Log::Progress progress() const override { return {.runs_read = runs_.size(), .runs_found = runs_.size()}; }
  std::uint64_t version() const noexcept override { return version_.load(); }
  std::uint64_t wait_for_change(std::uint64_t /*seen*/, std::chrono::milliseconds /*timeout*/) const override {
    return version();
  }

  Status set_note(const std::string& run, std::string_view text) override {
    for (const auto& one : runs_) {
      if (one->name() == run) one->known_note = text;
    }
    return Status::success();
  }
  Status remove_run(const std::string& run) override {
    std::erase_if(runs_, [&](const auto& one) { return one->name() == run; });
    version_.fetch_add(1);
    return Status::success();
  }
  Result<std::string> control_directory(const std::string& /*run*/) const override {
    return Status(Code::unsupported, "this log has no jobs to control");
  }

 private:
  std::string directory_ = "fake:";
  std::vector<std::shared_ptr<FakeRun>> runs_;
  std::atomic<std::uint64_t> version_ = 1;
};

}  // namespace sonde::store
