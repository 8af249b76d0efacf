// One run of a log directory: reads its files, follows them, and answers questions about it.
//
// Any thread may ask, and any may call update(): one reads at a time, and its results become visible to the others
// window by window.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_file.h"
#include "index/lines.h"
#include "index/run_data.h"
#include "index/run_files.h"
#include "sonde/log.h"
#include "store/source.h"

namespace sonde::index {

class StatSelection;

class RunIndex final : public store::RunSource {
 public:
  // Reads nothing yet. `cache_path` is empty if nothing is cached; `files` are those just found in the directory, if
  // known. Nothing is read outside of the directory `within`, if that is not empty.
  RunIndex(std::string name, std::string directory, std::string cache_path, std::vector<RunFile> files = {},
           std::string within = {});

  const std::string& name() const noexcept override { return name_; }
  const std::string& directory() const noexcept override { return directory_; }
  const std::string& within() const noexcept { return within_; }

  // Reads new data in files that have grown, were replaced or are new, and drops deleted ones. True if anything
  // changed, including the note and the captures.
  bool update();
  // Returns when the run has been read once; reads it if nobody has started to.
  void ensure_read();
  // Whether files are left: a run whose files have all been deleted no longer exists.
  bool alive() const;
  // Smaller amounts are read faster than a cache file can be written and loaded.
  static constexpr std::uint64_t kWorthRemembering = std::uint64_t{1} << 20;
  // Writes the cache, if at least this many bytes are new. True if it did.
  bool remember(std::uint64_t worth = kWorthRemembering);

  std::uint64_t bytes_found() const noexcept { return bytes_found_.load(std::memory_order_relaxed); }
  std::uint64_t bytes_read() const noexcept { return bytes_read_.load(std::memory_order_relaxed); }
  bool read_once() const noexcept override { return read_once_.load(std::memory_order_acquire); }
  // Grows with every update() that changed something.
  std::uint64_t revision() const noexcept override { return revision_.load(std::memory_order_acquire); }
  // Whether the revision has changed since the last call: the log reports it once, whichever thread has read.
  bool take_news() noexcept {
    const std::uint64_t now = revision();
    return told_.exchange(now) != now;
  }

  std::vector<Tag> tags() override;
  Result<Tag> tag(std::string_view name, TagKind kind) override;
  Result<Scalars> scalars(std::string_view tag, const Range& range, History history) override;
  Result<Drawing> draw(std::string_view tag, int width, const Range& range, Axis axis) override;
  Result<std::vector<ValueRef>> values(std::string_view tag, TagKind kind, const Range& range,
                                       History history) override;
  Result<Scalars> statistic(std::string_view tag, Statistic statistic, const Range& range, History history) override;
  Result<StatisticsMap> statistics_map(const std::vector<std::string>& tags, Statistic statistic, int width,
                                       const Range& range) override;
  Result<store::StatisticsColumns> statistics_columns(std::string_view tag, const Range& range,
                                                      std::size_t most) override;
  double start_time() override;
  // When one of its files was last changed, in seconds since 1970, as of the last read; 0: never.
  double last_modified() const;
  std::vector<Damage> damage() override;
  std::vector<RecordingGap> gaps() override;
  std::vector<LogFile> files() override;

  std::vector<ProbeInfo> probes() override;

  // Like those of the source, for callers that keep the averages themselves.
  Result<DrawnLine> line(std::string_view tag, const LineRequest& request, std::shared_ptr<const Smoothed>& smoothed);
  Result<LineSummary> summary(std::string_view tag, const Range& range, std::optional<std::int64_t> nearest,
                              const Smoothing& smoothing, std::shared_ptr<const Smoothed>& smoothed);
  Result<DrawnLine> line(std::string_view tag, const LineRequest& request,
                         std::shared_ptr<const store::Averages>& averages) override;
  Result<LineSummary> summary(std::string_view tag, const Range& range, std::optional<std::int64_t> nearest,
                              const Smoothing& smoothing, std::shared_ptr<const store::Averages>& averages) override;
  Result<std::uint64_t> accumulate(std::string_view tag, const Range& range, const Grid& grid,
                                   std::span<GridCell> cells) override;
  std::vector<NonFiniteSeries> non_finite() override;
  std::optional<Point> first_since(std::string_view tag, double time) override;

  Result<std::string> read_record(const ValueRef& value) override;
  Result<TensorStatistics> read_statistics(const ValueRef& value) override;

  std::vector<std::string> captures() const override;  // paths of their directories
  Result<CaptureInfo> capture(const std::string& name) const override;
  std::vector<std::string> capture_problems(const std::string& name, const CaptureInfo& capture) const override;
  std::vector<store::CapturedSummary> captured_summaries(const std::string& name, const CaptureInfo& capture,
                                                         std::string_view key) const override;
  std::vector<tensor_files::KeptSeries> whole_tensors() const override;
  std::vector<tensor_files::KeptSeries> tables() const override;
  std::vector<CheckpointInfo> checkpoints() const override;
  std::string note() const override;
  store::JobSigns job() const override;

 private:
  bool ended_in_crash(double last_modified) const;
  Result<TensorFile> step_file(const std::string& capture, const CapturedStep& step) const;
  bool find_files();
  bool look_beside();
  // `seen`: its state a moment ago.
  bool read_file(std::uint32_t file, const Result<base::FileState>& seen);
  bool unchanged(const SourceFile& source, const base::InputFile& input, const base::FileState& state) const;
  void note_error(std::uint32_t file, const Status& status);
  template <class Reader>
  Status read_records(std::uint32_t file, const base::InputFile& input, std::uint64_t size);
  void pack();
  bool recover_kinds();
  bool lost_its_beginning(const Series& series) const;
  std::string recovered_plugin(const Series& series);
  void make_columns(Series& series);
  std::string path_of(const SourceFile& source) const;
  void restore();

  std::vector<ColumnStretch> newest_stretches(const Series& series) const;
  struct Stretches {
    std::vector<ColumnStretch> whole;
    std::vector<ColumnStretch> part;  // their part in the range
  };
  Stretches stretches_for(const Series& series, Axis axis, const Range& range) const;
  std::shared_ptr<const Smoothed> smooth(const Series& series, std::span<const ColumnStretch> stretches,
                                         const Smoothing& smoothing, std::shared_ptr<const Smoothed>& kept) const;
  Status no_such_tag(std::string_view tag, TagKind kind) const;
  Tag describe(const Series& series, const Timeline& timeline, StatSelection& statistics) const;
  void count_statistics(const Series& series, StatSelection& selection, Tag& tag) const;
  std::vector<ValueRef> statistics_values(const Series& series, const Range& range, History history) const;
  stats_record::Form form_of(std::uint32_t file, const stats_record::Entry& entry) const;
  Result<stats_record::Form> read_form(const ValueRef& value);
  NonFiniteSeries non_finite_statistics(const Series& series, StatSelection& selection) const;
  Scalars statistic_points(const Series& tensor, Statistic statistic, const Range& range, History history) const;
  // The scalar series of a tag; or a statistic of a tensor as one, for a tag such as "stat:rms:activation/dense_1/out".
  // Null if there is none.
  std::shared_ptr<const Series> find_line(std::string_view tag) const;
  std::vector<ProbeInfo> probes_in_order() const;
  std::vector<ProbeInfo> probes_for(Statistic statistic) const;
  void find_steps(const bool (&is_used)[2], const Timeline& timeline, const Range& range, StatisticsMap& map) const;

  const std::string name_;
  const std::string directory_;
  const std::string cache_path_;
  const std::string within_;

  std::mutex updating_;  // taken before data_mutex_
  mutable std::shared_mutex data_mutex_;
  RunData data_;
  struct Beside {
    base::FileState note;  // zeros if there is none
    std::string captures;  // their names
    friend bool operator==(const Beside&, const Beside&) = default;
  };
  Beside beside_;
  struct KeptLine {
    std::uint64_t revision = 0;
    std::shared_ptr<const Series> series;
  };
  mutable std::mutex lines_mutex_;                                   // taken after data_mutex_
  mutable std::map<std::string, KeptLine, std::less<>> lines_ = {};  // statistics as lines; guarded by the mutex
  std::vector<RunFile> just_found_;                                  // until the first update
  bool restored_ = false;                                            // the cache was checked
  std::uint64_t not_remembered_ = 0;                                 // bytes read since the cache was written

  std::atomic<bool> read_once_ = false;
  std::atomic<std::uint64_t> revision_ = 0;
  std::atomic<std::uint64_t> told_ = 0;
  std::atomic<std::uint64_t> bytes_found_ = 0;
  std::atomic<std::uint64_t> bytes_read_ = 0;
};

}  // namespace sonde::index
