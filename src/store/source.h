// The interface of a source of runs: exactly what `Log` and `Run` of sonde/log.h and the module `query` need.
//
// The embedded index (module `index`) is one source. Questions and answers are plain values, and an answer holds whole
// columns: nothing is asked point by point, so a source may be remote. All calls are safe from any thread, and may wait
// until the run has been read.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/capture.h"
#include "sonde/checkpoint.h"
#include "sonde/log.h"
#include "stats/summary.h"
#include "store/lines.h"
#include "tensor_files/kept_tensors.h"

namespace sonde::store {

inline constexpr std::size_t kLongestNote = std::size_t{64} << 10;  // bytes

// Evidence of whether the job of a run is still running.
struct JobSigns {
  double last_modified = 0;     // of its files, in seconds since 1970; 0: never
  bool has_ring = false;        // a flight ring, which a clean end removes
  bool ring_is_held = false;    // by a living process
  bool ended_in_crash = false;  // the newest item in the run is a crash capture
};

// The statistics of one tensor at some steps, by ascending step.
struct StatisticsColumns {
  std::size_t total = 0;  // steps in the range
  std::vector<std::int64_t> steps;
  std::vector<double> wall_times;
  // count, nan, positive_infinity, negative_infinity, zeros, negatives
  std::array<std::vector<std::uint64_t>, 6> counts;
  // min, max, mean, std, sum_abs, within 6e-8 of what was recorded
  std::array<std::vector<double>, 5> numbers;
  DType dtype = DType::f32;  // at the last of these steps
  Shape shape;
};

// The index of value `n` if `count` of `total` values are chosen, evenly spread, the first and the last among them; if
// one is chosen, the last.
constexpr std::size_t spread(std::size_t n, std::size_t count, std::size_t total) noexcept {
  return count == 1 ? total - 1 : n * (total - 1) / (count - 1);
}

// The values of a tensor at one step of a capture.
struct CapturedSummary {
  std::int64_t step = 0;
  bool evaluation = false;
  stats::Summary summary;
};

class RunSource {
 public:
  RunSource() = default;
  virtual ~RunSource() = default;
  RunSource(const RunSource&) = delete;
  RunSource& operator=(const RunSource&) = delete;

  virtual const std::string& name() const noexcept = 0;
  virtual const std::string& directory() const noexcept = 0;  // as shown to users
  // Whether it has been read, so that a question need not wait.
  virtual bool read_once() const noexcept = 0;
  // Grows whenever something new was read.
  virtual std::uint64_t revision() const noexcept = 0;

  // Series and their content: see Run of sonde/log.h.
  virtual std::vector<Tag> tags() = 0;
  virtual Result<Tag> tag(std::string_view name, TagKind kind) = 0;
  virtual std::vector<ProbeInfo> probes() = 0;
  virtual double start_time() = 0;
  virtual Result<Scalars> scalars(std::string_view tag, const Range& range, History history) = 0;
  virtual Result<Drawing> draw(std::string_view tag, int width, const Range& range, Axis axis) = 0;
  virtual Result<std::vector<ValueRef>> values(std::string_view tag, TagKind kind, const Range& range,
                                               History history) = 0;
  virtual Result<Scalars> statistic(std::string_view tag, Statistic statistic, const Range& range, History history) = 0;
  virtual Result<StatisticsMap> statistics_map(const std::vector<std::string>& tags, Statistic statistic, int width,
                                               const Range& range) = 0;
  // Of a tag of kind `statistics`: at most so many steps of the range, evenly spread.
  virtual Result<StatisticsColumns> statistics_columns(std::string_view tag, const Range& range, std::size_t most) = 0;
  virtual std::vector<Damage> damage() = 0;
  virtual std::vector<RecordingGap> gaps() = 0;
  virtual std::vector<LogFile> files() = 0;

  // Lines. `averages` is the result of an earlier call for the same tag and smoothing, or null; it is updated.
  virtual Result<DrawnLine> line(std::string_view tag, const LineRequest& request,
                                 std::shared_ptr<const Averages>& averages) = 0;
  // Over the steps of the range; or, if `nearest` is given, of the one point at or next before this step, or the first
  // one if there is none before.
  virtual Result<LineSummary> summary(std::string_view tag, const Range& range, std::optional<std::int64_t> nearest,
                                      const Smoothing& smoothing, std::shared_ptr<const Averages>& averages) = 0;
  // Adds the finite points of the range to the cells, one per column of the grid. Returns the number of points in the
  // range, finite or not.
  virtual Result<std::uint64_t> accumulate(std::string_view tag, const Range& range, const Grid& grid,
                                           std::span<GridCell> cells) = 0;
  // By ascending first step.
  virtual std::vector<NonFiniteSeries> non_finite() = 0;
  // The first point of a scalar series that is not older than `time`, assuming ascending times.
  virtual std::optional<Point> first_since(std::string_view tag, double time) = 0;

  // The event (formats/tfevents.h) that holds the value, verified.
  virtual Result<std::string> read_record(const ValueRef& value) = 0;
  virtual Result<TensorStatistics> read_statistics(const ValueRef& value) = 0;

  // Artifacts. Unreadable ones are left out of a list.
  virtual std::vector<std::string> captures() const = 0;  // by number; names for capture()
  virtual Result<CaptureInfo> capture(const std::string& name) const = 0;
  // For each step of a capture what is wrong with its file, one sentence: it is missing, or is no file of tensors.
  // Empty texts: nothing.
  virtual std::vector<std::string> capture_problems(const std::string& name, const CaptureInfo& capture) const = 0;
  // A tensor at each step of a capture that has it and whose file can be read.
  virtual std::vector<CapturedSummary> captured_summaries(const std::string& name, const CaptureInfo& capture,
                                                          std::string_view key) const = 0;
  virtual std::vector<tensor_files::KeptSeries> whole_tensors() const = 0;
  virtual std::vector<tensor_files::KeptSeries> tables() const = 0;
  virtual std::vector<CheckpointInfo> checkpoints() const = 0;
  virtual std::string note() const = 0;  // the user's note about the run; empty: none

  virtual JobSigns job() const = 0;
};

class LogSource {
 public:
  LogSource() = default;
  virtual ~LogSource() = default;
  LogSource(const LogSource&) = delete;
  LogSource& operator=(const LogSource&) = delete;

  virtual const std::string& directory() const noexcept = 0;
  virtual std::vector<std::shared_ptr<RunSource>> runs() const = 0;  // by name
  virtual Result<std::shared_ptr<RunSource>> run(std::string_view name) const = 0;
  virtual std::vector<std::string> problems() const = 0;

  virtual void refresh() = 0;
  virtual void wait() const = 0;
  virtual Log::Progress progress() const = 0;
  virtual std::uint64_t version() const noexcept = 0;
  virtual std::uint64_t wait_for_change(std::uint64_t seen, std::chrono::milliseconds timeout) const = 0;

  // Edits. Rejected if the run is not in the log's own directory.

  // An empty text removes the note.
  virtual Status set_note(const std::string& run, std::string_view text) = 0;
  // Moves the run to a place from which a person can restore it. Rejected while a process records it.
  virtual Status remove_run(const std::string& run) = 0;
  // The directory in which the run's job looks for a changed policy.
  virtual Result<std::string> control_directory(const std::string& run) const = 0;
};

}  // namespace sonde::store
