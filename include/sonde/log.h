// Reading log directories: those of Sonde, and all others that TensorBoard can open.
//
//   auto log = sonde::Log::open("logs");                       // returns at once; runs are read in the background
//   if (!log) { std::cerr << log.error().message() << '\n'; return 1; }
//   for (const sonde::Run& run : log->runs()) {
//     for (const sonde::Tag& tag : run.tags()) std::cout << run.name() << ' ' << tag.name << '\n';
//   }
//   auto loss = log->run("train")->scalars("loss");            // columns: steps, wall_times, values
//
// Reading a log keeps everything: every scalar stays in memory, in compact columns; large values are read from their
// files on demand. A question about a run waits until that run has been read, and moves it to the front of the queue.
//
// All calls are safe from any thread. Log and Run are handles: copies share their state, and a Run may outlive
// its Log.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/export.h"
#include "sonde/status.h"
#include "sonde/summaries.h"
#include "sonde/tensor.h"

namespace sonde {

namespace store {
class Access;
class LogSource;
class RunSource;
}  // namespace store

// The kind of a tag's values. A plugin that is not listed here has the kind `tensors`; see Tag::plugin.
enum class TagKind : std::uint8_t {
  scalars,
  histograms,
  images,
  audio,
  text,
  pr_curves,
  mesh,
  hparams,
  custom_scalars,
  graphs,
  tensors,
  statistics,  // of a tensor, from Sonde's statistics files
};
SONDE_API std::string_view to_string(TagKind kind) noexcept;

// One series of a run. The same name may occur with two kinds.
struct Tag {
  std::string name;
  TagKind kind = TagKind::scalars;
  std::string plugin;          // as written: "scalars", "images", ...; empty if no value names it
  std::string plugin_content;  // bytes that belong to the plugin
  std::string display_name;
  std::string description;  // Markdown

  // Of the newest history; see History.
  std::uint64_t points = 0;
  std::int64_t first_step = 0;  // 0 if there are no points, as are the following
  std::int64_t last_step = 0;
  double first_time = 0;  // seconds since 1970
  double last_time = 0;
  // Points that are left out because a restart wrote their steps again.
  std::uint64_t written_again = 0;
  double interval = 0;  // median number of steps between two points; 0 if all are at one step
};

// A restarted job writes some steps again: a file that was begun after all earlier writers of the run had ended, or a
// SessionLog.START, replaces the existing points from its step on. The replaced points are kept, and are part of `all`.
// Files that were written at the same time belong to several writers, and none replaces another. Within a file every
// point counts, in whatever order the steps were written.
enum class History : std::uint8_t {
  newest,  // by ascending step, equal steps by time; without the replaced points
  all,     // every point: file by file, in the order written
};

// Both ends included.
struct Range {
  std::int64_t first_step = std::numeric_limits<std::int64_t>::min();
  std::int64_t last_step = std::numeric_limits<std::int64_t>::max();
  double first_time = -std::numeric_limits<double>::infinity();  // seconds since 1970
  double last_time = std::numeric_limits<double>::infinity();
};

// Columns of the same length.
struct Scalars {
  std::vector<std::int64_t> steps;
  std::vector<double> wall_times;  // seconds since 1970
  std::vector<double> values;      // as written: f32 becomes the double of the same value

  std::size_t size() const noexcept { return steps.size(); }
};

enum class Axis : std::uint8_t { step, wall_time };

// A series as `width` pixel columns show it: the first, last, smallest and largest finite point of each column, by
// ascending position. A line drawn through them has the same pixels as one through all points.
struct Drawing {
  Scalars points;

  // A column in which something was not finite.
  struct NonFinite {
    std::int64_t step = 0;  // of the first such point in the column
    double wall_time = 0;
    std::uint64_t nan = 0;
    std::uint64_t positive_infinity = 0;
    std::uint64_t negative_infinity = 0;
  };
  std::vector<NonFinite> non_finite;
  std::uint64_t total = 0;  // points in the range, finite or not
};

// One value that is not a scalar, by its place in its file. Valid for the run that returned it.
struct ValueRef {
  std::int64_t step = 0;
  double wall_time = 0;
  std::uint64_t offset = 0;  // of its record
  std::uint32_t file = 0;    // of the run
  std::uint32_t part = 0;    // of the record
};

struct AudioClip {
  std::string file;   // usually WAV
  std::string label;  // Markdown
};

// What the statistics file holds about one tensor at one step.
struct TensorStatistics {
  std::int64_t step = 0;
  double wall_time = 0;
  DType dtype = DType::f32;
  Shape shape;
  // As in the file; min, max, mean and std are over finite values, and NaN if there are none.
  std::uint64_t count = 0;
  std::uint64_t nan = 0;
  std::uint64_t positive_infinity = 0;
  std::uint64_t negative_infinity = 0;
  std::uint64_t zeros = 0;
  std::uint64_t negatives = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
  double std = 0;  // population standard deviation
  double sum_abs = 0;
  std::vector<Bucket> histogram;  // the bins of the file, by ascending value; empty if none was recorded
};

// A tensor that the program probes, as it defined it.
struct ProbeInfo {
  std::string name;
  Kind kind = Kind::activation;
  std::string tag;  // of its statistics: "activation/dense_1/out"
  DType dtype = DType::f32;
  Shape shape;                      // of the first one that was recorded
  std::vector<std::string> inputs;  // names of the probes that it is computed from, as far as the program declared them
  std::uint32_t order = 0;          // in the order of execution within a step, from 0
};

// The statistics of a tensor that can be read over many steps. Counts are over all elements; min, max, mean, std,
// mean_abs and the values derived from them are over the finite ones, and NaN if there are none.
enum class Statistic : std::uint8_t {
  count,
  nan,
  positive_infinity,
  negative_infinity,
  zeros,
  negatives,
  min,
  max,
  mean,
  std,
  sum_abs,
  mean_abs,
  rms,                // root of the mean square
  l2,                 // root of the sum of squares
  abs_max,            // the largest magnitude
  peak_factor,        // abs_max / rms
  shape_factor,       // mean_abs / rms; 0.798 for a centred Gaussian
  non_finite,         // NaN and infinities together
  zero_fraction,      // of all elements
  negative_fraction,  // of all elements
  f16_range,          // abs_max as a share of the largest finite float16, 65,504; above 1 it overflows
  f8_e4m3_range,      // the same for 448
  f8_e5m2_range,      // the same for 57,344
  update_ratio,       // of a weight or its update: rms of the update / rms of the weight, at the same step
  depth_gain,         // rms / rms of the tensor of the same kind that is computed before it
  drift,              // distance from its first recorded step, in standard deviations of that step: the Wasserstein
                      // distance of normal distributions with these means and deviations
};
SONDE_API std::string_view to_string(Statistic statistic) noexcept;  // "peak_factor"
// Fails, with the list of names, if there is no such statistic.
SONDE_API Result<Statistic> statistic_of(std::string_view name);

// One statistic of many tensors over steps, as `width` pixel columns show it. A cell has the index `row * width +
// column`; a row is a tag, in the order of the request. Values are kept as float32, within 6e-8 of the recorded ones.
struct StatisticsMap {
  std::size_t width = 0;
  std::int64_t first_step = 0;  // of the first column; columns divide the steps up to last_step evenly
  std::int64_t last_step = 0;
  std::vector<bool> found;  // by row: whether there is such a tag
  // Of the finite values of the statistic in the cell; NaN if there are none.
  std::vector<double> min;
  std::vector<double> mean;
  std::vector<double> max;
  std::vector<std::uint32_t> count;     // recorded steps in the cell
  std::vector<std::uint32_t> nan;       // steps at which the tensor had NaN elements
  std::vector<std::uint32_t> infinite;  // steps at which it had infinite elements
};

// Bytes of a file that belong to no valid record, or an invalid record.
struct Damage {
  std::string file;  // its path
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string reason;  // half a sentence: "the checksum of the length is wrong"
};

// Tensors that the recorder had to leave out, from the statistics file.
struct RecordingGap {
  enum class Reason : std::uint8_t {
    buffer_full,  // the recorder's memory was full
    write_error,  // a file could not be written
    budget,       // dropped by a budget of the policy
    rejected,     // the tensor was unusable: a bad shape, a type without order
    unknown,      // a newer writer uses a reason that this version does not know
  };
  std::string tensor;  // empty: all
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::uint64_t count = 0;
  Reason reason = Reason::unknown;
  std::string detail;  // one sentence, or empty
};
// "the buffer was full"
SONDE_API std::string_view to_string(RecordingGap::Reason reason) noexcept;

// A file of a run.
struct LogFile {
  std::string path;
  std::uint64_t size = 0;  // when it was read last
  std::uint64_t read = 0;  // up to here; the rest is an incomplete record
  bool gone = false;       // deleted since; its content was dropped
  std::string error;       // why it could not be read; empty if there was no error
};

class Run {
 public:
  const std::string& name() const noexcept { return name_; }  // its path below the log directory; "." for the root
  SONDE_API std::string directory() const;

  SONDE_API std::vector<Tag> tags() const;  // by name
  // Fails, with the nearest names, if there is none.
  SONDE_API Result<Tag> tag(std::string_view name, TagKind kind) const;

  // In the order of execution, from all statistics files; if two define the same probe, the last one counts.
  SONDE_API std::vector<ProbeInfo> probes() const;

  SONDE_API Result<Scalars> scalars(std::string_view tag, const Range& range = {},
                                    History history = History::newest) const;
  // `width` pixels, 1 to 65,536, for the range, or for all points if the range is open.
  SONDE_API Result<Drawing> draw(std::string_view tag, int width, const Range& range = {},
                                 Axis axis = Axis::step) const;
  // Times count from the first point of the run; 0 if there is none.
  SONDE_API double start_time() const;

  // Values that are not scalars: first their places, then their content. Reading fails if the value is of another kind,
  // or the file was changed.
  SONDE_API Result<std::vector<ValueRef>> values(std::string_view tag, TagKind kind, const Range& range = {},
                                                 History history = History::newest) const;
  SONDE_API Result<std::vector<Bucket>> histogram(const ValueRef& value) const;
  SONDE_API Result<EncodedImages> images(const ValueRef& value) const;
  SONDE_API Result<std::vector<AudioClip>> audio(const ValueRef& value) const;
  SONDE_API Result<std::vector<std::string>> text(const ValueRef& value) const;  // of any string tensor
  SONDE_API Result<Tensor> tensor(const ValueRef& value) const;                  // of any numeric tensor
  SONDE_API Result<std::string> graph(const ValueRef& value) const;              // a serialised GraphDef

  SONDE_API Result<TensorStatistics> statistics(const ValueRef& value) const;
  // All values of a tag of kind `statistics`, by ascending step. Fails if one of them cannot be read.
  SONDE_API Result<std::vector<TensorStatistics>> statistics(std::string_view tag, const Range& range = {},
                                                             History history = History::newest) const;

  // One statistic of a tag at every step; and of many tags as a picture `width` pixels wide, 1 to 16,384, for the range
  // of steps, or for all steps if the range is open.
  SONDE_API Result<Scalars> statistic(std::string_view tag, Statistic statistic, const Range& range = {},
                                      History history = History::newest) const;
  SONDE_API Result<StatisticsMap> statistics_map(const std::vector<std::string>& tags, Statistic statistic, int width,
                                                 const Range& range = {}) const;

  SONDE_API std::vector<Damage> damage() const;
  SONDE_API std::vector<RecordingGap> gaps() const;
  SONDE_API std::vector<LogFile> files() const;

 private:
  friend class Log;
  friend class store::Access;
  Run(std::string name, std::shared_ptr<store::RunSource> source) noexcept;
  std::string name_;
  std::shared_ptr<store::RunSource> source_;
};

struct LogOptions {
  // Threads that read; 0: one for each processor, at most 8.
  int threads = 0;

  // Whether to cache what was read in the user's cache directory, so that the next time only new data is read. The
  // files take at most 2 GiB together, or the value of the environment variable SONDE_CACHE_SIZE ("500MB"; "0B": none);
  // beyond that, the least recently used ones are removed.
  enum class Cache : std::uint8_t { on, off } cache = Cache::on;
  // Empty: $XDG_CACHE_HOME/sonde, or ~/.cache/sonde.
  std::string cache_directory = {};

  // `live`: a thread watches the directory, and new points and runs appear by themselves, within 200 ms if the system
  // reports changes (inotify). `once`: the content at the time when the log is opened, and after each refresh().
  enum class Follow : std::uint8_t { once, live } follow = Follow::once;
  // How a live log detects changes. `automatic`: the system reports them, except on network file systems, where it
  // cannot: there the files are checked every 150 ms or, in large logs, as often as 5 % of one processor allows.
  enum class Watch : std::uint8_t { automatic, poll } watch = Watch::automatic;

  // Symbolic links in the directory. `follow`: wherever they lead. `inside`: links out of the directory are not read,
  // and problems() names them; for programs that show a log to others. The directory itself may be a link.
  enum class Links : std::uint8_t { follow, inside } links = Links::follow;
};

class Log {
 public:
  // Fails if the directory does not exist or cannot be read. A directory without runs is not an error.
  SONDE_API static Result<Log> open(std::string_view directory, const LogOptions& options = {});

  SONDE_API const std::string& directory() const noexcept;
  SONDE_API std::vector<Run> runs() const;  // by name
  // Fails, with the nearest names, if there is none.
  SONDE_API Result<Run> run(std::string_view name) const;

  // Looks for new runs and new data, and returns when everything has been read.
  SONDE_API void refresh();
  // Returns when everything found so far has been read.
  SONDE_API void wait() const;
  struct Progress {
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_found = 0;
    std::uint64_t runs_read = 0;
    std::uint64_t runs_found = 0;
    bool done() const noexcept { return runs_read == runs_found; }
  };
  SONDE_API Progress progress() const;
  // Changes whenever something new has been read. wait_for_change returns the version when it differs from `seen`, or
  // after the timeout.
  SONDE_API std::uint64_t version() const noexcept;
  SONDE_API std::uint64_t wait_for_change(std::uint64_t seen, std::chrono::milliseconds timeout) const;

  // Directories that could not be read and links that are not followed, one sentence each.
  SONDE_API std::vector<std::string> problems() const;

 private:
  friend class store::Access;
  explicit Log(std::shared_ptr<store::LogSource> source) noexcept;
  std::shared_ptr<store::LogSource> source_;
};

}  // namespace sonde
