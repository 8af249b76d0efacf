// How long does it take until everything in a log can be asked for, how much memory does it need, and how fast is a
// curve drawn?
//
//   bench_reading open LOGDIR POINTS [CACHE]   once, in a fresh process; CACHE is a directory, without one none is used
//   bench_reading draw LOGDIR POINTS           one series of this many points
//   bench_reading statistics LOGDIR TENSORS STEPS   statistics of tensors: the first opening, and maps; LOGDIR is
//                                              created if it does not exist
//   bench_reading follow LOGDIR                a log that is watched: its cost while nothing happens, and the time
//                                              until a new point of another program is visible
//
// The logs are those of bench/peers/make_log.py; bench/read_logs.py runs this program and its peers in turns.
#include <cmath>
#include <limits>
#include <optional>
#include <thread>

#include "measure.h"
#include "sonde/log.h"

namespace bench {
namespace {

sonde::Log open_log(const char* directory, const char* cache) {
  sonde::LogOptions options{.cache = sonde::LogOptions::Cache::off};
  if (cache != nullptr) {
    options.cache = sonde::LogOptions::Cache::on;
    options.cache_directory = cache;
  }
  auto log = sonde::Log::open(directory, options);
  check(log.ok(), log.ok() ? "" : log.error().message());
  return *std::move(log);
}

// What a page would list: waits until everything has been read.
std::uint64_t count_points(const sonde::Log& log) {
  log.wait();
  std::uint64_t points = 0;
  for (const sonde::Run& run : log.runs()) {
    for (const sonde::Tag& tag : run.tags()) points += tag.points;
  }
  return points;
}

sonde::Tag first_series(const sonde::Run& run) {
  for (const sonde::Tag& tag : run.tags()) {
    if (tag.kind == sonde::TagKind::scalars) return tag;
  }
  fail("the run '" + run.name() + "' has no scalars");
}

// The last run holds the content of its last record, whatever its kind.
void check_last_run(const sonde::Log& log) {
  const sonde::Run run = log.runs().back();
  for (const sonde::Tag& tag : run.tags()) {
    if (tag.kind == sonde::TagKind::scalars) {
      const auto scalars = run.scalars(tag.name);
      check(scalars.ok() && scalars->size() == tag.points, "points of '" + tag.name + "' are missing");
      check(scalars->steps.back() + 1 == std::ssize(scalars->steps), "the steps of '" + tag.name + "' are wrong");
    } else {
      const auto values = run.values(tag.name, tag.kind);
      check(values.ok() && values->size() == tag.points, "values of '" + tag.name + "' are missing");
      const bool read =
          tag.kind == sonde::TagKind::images ? run.images(values->back()).ok() : run.histogram(values->back()).ok();
      check(read, "the last value of '" + tag.name + "' cannot be read");
    }
  }
  for (const sonde::Run& each : log.runs()) check(each.damage().empty(), "damage was found in a sound log");
}

void measure_open(const char* directory, std::uint64_t expected, const char* cache) {
  const double before = memory_status("RssAnon:");
  const double begin = seconds();
  const sonde::Log log = open_log(directory, cache);
  const std::uint64_t points = count_points(log);
  report("time", seconds() - begin, "s");
  const double memory = memory_status("RssAnon:") - before;
  report("memory", memory / 1e6, "MB");
  report("bytes_a_point", memory / static_cast<double>(points), "bytes");
  check(points == expected, std::to_string(points) + " points were found, not " + std::to_string(expected));
  check_last_run(log);
}

// The extremes of all points are among those drawn.
void check_drawing(const sonde::Drawing& drawing, const sonde::Scalars& all, int width) {
  check(drawing.total == all.size(), "the drawing does not stand for every point");
  check(drawing.points.size() <= 4 * static_cast<std::size_t>(width), "a pixel column has more than four points");
  const auto [low, high] = std::ranges::minmax(all.values);
  const auto [drawn_low, drawn_high] = std::ranges::minmax(drawing.points.values);
  check(low == drawn_low && high == drawn_high, "the drawing lacks the smallest or the largest value");
}

void measure_draw(const char* directory, std::uint64_t expected) {
  constexpr int kWidth = 1000;
  constexpr int kDrawings = 30;
  const sonde::Log log = open_log(directory, nullptr);
  check(count_points(log) == expected, "points are missing");
  const sonde::Run run = log.runs().front();
  const sonde::Tag tag = first_series(run);

  const auto draw = [&](const sonde::Range& range, std::vector<double>& times) {
    const double begin = seconds();
    auto drawing = run.draw(tag.name, kWidth, range);
    times.push_back((seconds() - begin) * 1e3);
    check(drawing.ok(), drawing.ok() ? "" : drawing.error().message());
    return *std::move(drawing);
  };
  std::vector<double> times;
  const sonde::Drawing first = draw({}, times);
  report("first", times.front(), "ms");
  times.clear();
  for (int i = 0; i < kDrawings; ++i) static_cast<void>(draw({}, times));
  report("all", median(times), "ms");

  // As somebody zooms: a range that no other question had.
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::int64_t> step(tag.first_step, tag.last_step);
  times.clear();
  for (int i = 0; i < kDrawings; ++i) {
    const auto [low, high] = std::minmax({step(random), step(random)});
    const sonde::Drawing part = draw({.first_step = low, .last_step = high}, times);
    check(part.total == static_cast<std::uint64_t>(high - low + 1), "a part of the series has lost points");
  }
  report("part", median(times), "ms");

  const auto all = run.scalars(tag.name);
  check(all.ok() && all->size() == expected, "the series has lost points");
  check_drawing(first, *all, kWidth);
}

double process_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Runs of the log are linked into our own directory, in which one more run then grows.
void measure_follow(const char* directory) {
  using namespace std::chrono_literals;
  constexpr int kPoints = 200;
  const LogDirectory own_directory;
  const std::filesystem::path own = own_directory.path();
  for (const auto& run : std::filesystem::directory_iterator(directory)) {
    std::filesystem::create_directory_symlink(std::filesystem::absolute(run.path()), own / run.path().filename());
  }
  auto log = sonde::Log::open(own.string(),
                              {.cache = sonde::LogOptions::Cache::off, .follow = sonde::LogOptions::Follow::live});
  check(log.ok(), log.ok() ? "" : log.error().message());
  log->wait();

  const double cpu = process_cpu_seconds();
  const double begin = seconds();
  std::this_thread::sleep_for(3s);
  report("idle", (process_cpu_seconds() - cpu) / (seconds() - begin) * 100, "% of a core");

  auto recorder = sonde::Recorder::open((own / "growing").string(), {.flush_interval = 1h});
  check(recorder.ok(), "the run cannot be written");
  std::vector<double> times;
  for (int i = 0; i < kPoints; ++i) {
    recorder->scalar("loss", i, i);
    check(recorder->flush().ok(), "a point cannot be written");
    const double written = seconds();
    for (std::uint64_t seen = log->version();; seen = log->wait_for_change(seen, 1s)) {
      const auto run = log->run("growing");
      const auto scalars = run ? run->scalars("loss") : sonde::Result<sonde::Scalars>(run.error());
      if (scalars.ok() && scalars->size() > static_cast<std::size_t>(i)) break;
      check(seconds() - written < 10, "a point has not arrived in ten seconds");
    }
    times.push_back((seconds() - written) * 1e3);
    std::this_thread::sleep_for(10ms);
  }
  report("arrival", median(times), "ms");
  report("latest_arrival", *std::ranges::max_element(times), "ms");
}

// ---- Statistics of tensors.

std::string tensor_name(int number) { return "layer_" + std::to_string(number) + "/out"; }

// Statistics of this many tensors at every step, in `directory`/train. 64 elements each: what counts is the records.
void make_statistics(const std::filesystem::path& directory, int tensors, std::int64_t steps) {
  const std::filesystem::path temporary = directory.string() + ".part";
  std::filesystem::remove_all(temporary);
  sonde::RecorderOptions options;
  options.tensors = sonde::Overflow::wait;
  options.max_wait = std::chrono::hours(1);
  sonde::WatchPolicy watch;
  watch.record = sonde::Keep::stats;
  options.policy.watches.push_back(watch);
  auto recorder = sonde::Recorder::open((temporary / "train").string(), options);
  check(recorder.ok(), "the log cannot be written");
  std::vector<sonde::Probe> probes;
  for (int i = 0; i < tensors; ++i) probes.push_back(recorder->probe(tensor_name(i)));
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(64 + static_cast<std::size_t>(tensors));
  for (float& value : values) value = normal(random);
  for (std::int64_t n = 0; n < steps; ++n) {
    const sonde::Step step = recorder->step(n);
    values[static_cast<std::size_t>(n) % values.size()] = normal(random);
    for (int i = 0; i < tensors; ++i) {
      probes[static_cast<std::size_t>(i)].record(step, sonde::view(values.data() + i, {64}));
    }
  }
  check(recorder->close().ok(), "the log cannot be written");
  std::filesystem::rename(temporary, directory);
}

void measure_statistics(const char* directory, int tensors, std::int64_t steps) {
  constexpr int kWidth = 1000;
  constexpr int kMaps = 10;
  if (!std::filesystem::exists(directory)) make_statistics(directory, tensors, steps);
  std::uint64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(directory) / "train")) {
    if (file.path().filename().string().starts_with("stats.")) bytes += file.file_size();
    std::ifstream(file.path(), std::ios::binary).ignore(std::numeric_limits<std::streamsize>::max());  // page cache
  }
  const LogDirectory cache;
  const auto values = static_cast<double>(tensors) * static_cast<double>(steps);
  const double before = memory_status("RssAnon:");
  const double begin = seconds();
  std::optional<sonde::Log> log = open_log(directory, cache.path().c_str());
  log->wait();
  const double time = seconds() - begin;
  report("open", static_cast<double>(bytes) / 1e6 / time, "MB/s");
  const double resident = memory_status("RssAnon:") - before;
  const sonde::Run run = log->runs().front();
  log.reset();  // writes the rest of the cache
  double on_disk = 0;
  for (const auto& file : std::filesystem::directory_iterator(cache.path())) {
    on_disk += static_cast<double>(file.file_size());
  }
  report("resident", resident / values, "bytes");
  report("in_all", (resident + on_disk) / values, "bytes");

  std::vector<std::string> tags;
  for (int i = 0; i < tensors; ++i) tags.push_back("activation/" + tensor_name(i));
  const auto draw = [&](const sonde::Range& range, std::vector<double>& times) {
    const double from = seconds();
    auto map = run.statistics_map(tags, sonde::Statistic::rms, kWidth, range);
    times.push_back((seconds() - from) * 1e3);
    check(map.ok(), map.ok() ? "" : map.error().message());
    return *std::move(map);
  };
  std::vector<double> times;
  for (int i = 0; i < kMaps; ++i) {
    const sonde::StatisticsMap map = draw({}, times);
    check(std::accumulate(map.count.begin(), map.count.end(), std::uint64_t{0}) == static_cast<std::uint64_t>(values),
          "the map does not stand for every record");
  }
  report("map", median(times), "ms");
  times.clear();
  std::mt19937_64 random(1);
  for (int i = 0; i < kMaps; ++i) {  // as somebody zooms: a tenth of the steps
    const auto first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(steps * 9 / 10));
    const sonde::StatisticsMap map = draw({.first_step = first, .last_step = first + steps / 10 - 1}, times);
    check(std::accumulate(map.count.begin(), map.count.end(), std::uint64_t{0}) ==
              static_cast<std::uint64_t>(values / 10),
          "a part of the map has lost records");
  }
  report("part", *std::ranges::max_element(times), "ms");
  // One cell against the record itself.
  const auto exact = run.statistics(tags.back(), {.first_step = steps / 2, .last_step = steps / 2});
  const auto column =
      run.statistic(tags.back(), sonde::Statistic::mean, {.first_step = steps / 2, .last_step = steps / 2});
  check(exact.ok() && column.ok() && exact->size() == 1 && column->size() == 1 &&
            std::abs(exact->front().mean - column->values.front()) <= 1e-6 * std::abs(exact->front().mean),
        "the column is not what the record says");
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const std::string_view question = argc > 1 ? argv[1] : "";
  if (question == "open" && (argc == 4 || argc == 5)) {
    bench::measure_open(argv[2], std::stoull(argv[3]), argc == 5 ? argv[4] : nullptr);
  } else if (question == "draw" && argc == 4) {
    bench::measure_draw(argv[2], std::stoull(argv[3]));
  } else if (question == "statistics" && argc == 5) {
    bench::measure_statistics(argv[2], std::stoi(argv[3]), std::stoll(argv[4]));
  } else if (question == "follow" && argc == 3) {
    bench::measure_follow(argv[2]);
  } else {
    std::fprintf(stderr,
                 "usage: bench_reading open LOGDIR POINTS [CACHE] | draw LOGDIR POINTS | "
                 "statistics LOGDIR TENSORS STEPS | follow LOGDIR\n");
    return 2;
  }
}
