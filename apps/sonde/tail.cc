// sonde tail: prints the scalars of a log directory as they arrive.
//
// On a terminal a table that is redrawn in place; otherwise one line per new point.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/utf8.h"
#include "formats/shortest.h"
#include "render/console.h"
#include "render/digits.h"
#include "selection.h"
#include "sonde/log.h"
#include "sparkline.h"
#include "subcommand.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(200);  // not more often

volatile std::sig_atomic_t interrupted = 0;
void interrupt(int) { interrupted = 1; }

// Restores the terminal when the command ends, also after Ctrl-C.
class Screen {
 public:
  Screen() {
    std::signal(SIGINT, interrupt);
    std::signal(SIGTERM, interrupt);
    print("\x1b[?25l\x1b[?7l");  // also truncates long lines, since the next drawing counts lines
  }
  ~Screen() {
    print("\x1b[?7h\x1b[?25h");
    std::fflush(stdout);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
};

// What the table shows about one series.
struct Line {
  std::string run, tag, step, value, history, rate, age, alarm;
  bool finite = true;
};

// Recent steps per second: over the last quarter of the drawn points, since jobs change their pace.
std::string rate_text(const Scalars& points) {
  if (points.size() < 2) return "";
  const std::size_t last = points.size() - 1;
  const std::size_t from = std::min(last - 1, last - last / 4);
  const double seconds = points.wall_times[last] - points.wall_times[from];
  const double steps = static_cast<double>(points.steps[last]) - static_cast<double>(points.steps[from]);
  if (!(seconds > 0) || !(steps > 0)) return "";
  return render::brief(steps / seconds) + "/s";
}

// "NaN at step 120", and the number of such points.
std::string alarm_text(const Drawing& drawing) {
  std::uint64_t nan = 0;
  std::uint64_t infinite = 0;
  for (const Drawing::NonFinite& one : drawing.non_finite) {
    nan += one.nan;
    infinite += one.positive_infinity + one.negative_infinity;
  }
  if (nan + infinite == 0) return "";
  std::string text = nan == 0 ? "Inf" : infinite == 0 ? "NaN" : "NaN, Inf";
  text += nan + infinite > 1 ? " x " + grouped(nan + infinite) + ", first" : "";
  return text + " at step " + std::to_string(drawing.non_finite.front().step);
}

// "NaN x 2, first at step 4" becomes "NaN x 2 at step 4", then "NaN x 2".
std::string shortened(std::string alarm, std::size_t width) {
  constexpr std::string_view kFirst = ", first";
  if (alarm.size() <= width) return alarm;
  if (const std::size_t at = alarm.find(kFirst); at != std::string::npos) alarm.erase(at, kFirst.size());
  if (alarm.size() > width) alarm.resize(std::min(alarm.find(" at step"), alarm.size()));
  if (alarm.size() > width) alarm.resize(width);
  return alarm;
}

class Tail final : public Subcommand {
 public:
  Tail()
      : Subcommand({.name = "tail",
                    .usage = "tail LOGDIR [options]",
                    .summary = "follow the scalars of a log directory, live",
                    .details = "On a terminal a table, one line for each scalar: run, tag, last step and value, its "
                               "history, steps per second, how long ago the last point was recorded, and where "
                               "values are not finite. Otherwise one line for each new point: time, run, tag, step and "
                               "value, separated by tabs, the value with all its digits; if points come faster "
                               "than five per second, some are left out. New runs are found. Ctrl-C stops it.",
                    .examples = {"sonde tail logs", "sonde tail logs --runs 'train.*' --tags '.*loss'",
                                 "sonde tail logs --once"}}) {}

  void setup(Flags& flags) override {
    flags.argument(directory_, "LOGDIR", "a directory with runs");
    flags.option(runs_.pattern(), "--runs", "RE", "the run of this name, or those that match (all)");
    flags.option(tags_.pattern(), "--tags", "RE", "the tag of this name, or those that match (all)");
    flags.toggle(once_, "--once", "print the table once and exit");
  }

  int run() override {
    Result<Log> log = open_log(directory_, {.follow = once_ ? LogOptions::Follow::once : LogOptions::Follow::live});
    if (!log) return fail(log.error());
    if (once_) return print_once(*log);
    return shows_cursor_codes(stdout) ? redraw(*log) : append(*log);
  }

 private:
  // A selected scalar; it has points.
  struct Series {
    Run run;
    Tag tag;
  };

  // A selected run or tag may appear later, unless the table is printed only once.
  Selector::Missing missing() const noexcept { return once_ ? Selector::Missing::error : Selector::Missing::fine; }

  Result<std::vector<Series>> all_series(const std::vector<Run>& runs) const {
    Result<std::vector<SelectedRun>> selected = select(runs, tags_, TagKind::scalars, missing());
    if (!selected) return selected.error();
    std::vector<Series> all;
    for (SelectedRun& one : *selected) {
      for (Tag& tag : one.tags) {
        if (tag.points > 0) all.push_back({one.run, std::move(tag)});
      }
    }
    return all;
  }

  int print_once(const Log& log) {
    const Result<std::vector<Run>> runs = select_runs(log, runs_, missing());
    if (!runs) return fail(runs.error());
    const Result<std::vector<Series>> all = all_series(*runs);
    const bool readable = unreadable(log, *runs).empty();
    if (all && !all->empty()) print(table(*all, wide()));
    if (all && all->empty() && readable) print("There are no scalars in '" + harmless(directory_) + "'.\n");
    if (const std::string damage = damage_text(log, *runs); !damage.empty()) note(damage);
    const int code = report_unreadable(log, *runs);
    return all ? code : fail(all.error());
  }

  // A pipe has no width: nothing is truncated there.
  static std::size_t wide() { return is_terminal(stdout) ? static_cast<std::size_t>(terminal_width()) : 200; }

  int redraw(const Log& log) {
    const Screen terminal;
    std::uint64_t version = log.version();
    int lines = 0;  // lines on the screen that the next drawing replaces
    while (interrupted == 0) {
      const std::uint64_t begin = base::monotonic_nanoseconds();
      const Result<std::vector<Run>> runs = select_runs(log, runs_, missing());
      if (!runs) return fail(runs.error());
      Result<std::vector<Series>> all = all_series(*runs);
      if (!all) return fail(all.error());
      const std::string text = screen(problems(log, *runs), *std::move(all));
      // Clears each line before it is written, and the rest of the previous drawing below.
      std::string out = lines > 0 ? "\x1b[" + std::to_string(lines) + "A\r" : "\r";
      for (char c : text) out += c == '\n' ? std::string("\x1b[K\n") : std::string(1, c);
      print(out + "\x1b[J");
      if (std::fflush(stdout) != 0) return kSuccess;
      lines = static_cast<int>(std::ranges::count(text, '\n'));
      version = rest(log, version, begin);
    }
    return kSuccess;
  }

  // Waits for something new, but at most a second, since ages change by themselves; and long enough that drawing many
  // runs does not keep a processor busy.
  static std::uint64_t rest(const Log& log, std::uint64_t version, std::uint64_t begin) {
    constexpr std::uint64_t kMillisecond = 1'000'000;
    const std::uint64_t drawing = base::monotonic_nanoseconds() - begin;
    const auto pause = std::max(kRedraw, std::chrono::milliseconds(4 * drawing / kMillisecond));
    const timespec time{pause.count() / 1000, pause.count() % 1000 * 1'000'000};
    nanosleep(&time, nullptr);  // ends early at a signal
    std::uint64_t now = version;
    for (int i = 0; i < 8 && interrupted == 0 && now == version; ++i) {
      now = log.wait_for_change(version, std::chrono::milliseconds(100));
    }
    return now;
  }

  // The problems, one sentence each.
  static std::vector<std::string> problems(const Log& log, const std::vector<Run>& runs) {
    std::vector<std::string> all = unreadable(log, runs);
    if (std::string damage = damage_text(log, runs); !damage.empty()) all.push_back(std::move(damage));
    return all;
  }

  // One line for each of the first problems.
  std::string problem_lines(const std::vector<std::string>& problems) const {
    const auto width = static_cast<std::size_t>(terminal_width());
    std::string text;
    for (std::size_t i = 0; i < std::min(problems.size(), kProblems); ++i) {
      const bool more = i + 1 == kProblems && problems.size() > kProblems;
      const std::string what = more ? counted(problems.size() - i, "more problem") + ": see 'sonde ls'" : problems[i];
      text += styled(fitted(what, width - 1), Style::yellow, color_) + "\n";
    }
    return text;
  }
  static constexpr std::size_t kProblems = 3;  // lines

  std::string screen(const std::vector<std::string>& problems, std::vector<Series> all) const {
    if (all.empty()) return problem_lines(problems) + "waiting for scalars in '" + harmless(directory_) + "' ...\n";
    const std::size_t total = all.size();
    const auto others = static_cast<int>(4 + std::min(problems.size(), kProblems));
    const auto room = static_cast<std::size_t>(std::max(terminal_height() - others, 1));
    if (total > room) {
      // The newest ones, still in the order of their names.
      std::vector<double> times;
      times.reserve(total);
      for (const Series& one : all) times.push_back(one.tag.last_time);
      std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(room - 1), std::greater());
      const double oldest = times[room - 1];
      std::erase_if(all, [&](const Series& one) { return one.tag.last_time < oldest; });
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(std::min(room, all.size())), all.end());
    }
    const auto width = static_cast<std::size_t>(terminal_width());
    const std::string more =
        total > all.size() ? grouped(total - all.size()) + " more: choose with --runs and --tags. " : "";
    return table(all, width) + problem_lines(problems) +
           styled(fitted(more + "Ctrl-C stops it.", width - 1), Style::dim, color_) + "\n";
  }

  static Line line(const Series& series, double now) {
    const Tag& tag = series.tag;
    Line line;
    line.run = series.run.name();
    line.tag = tag.name;
    line.step = std::to_string(tag.last_step);
    const double age = now - tag.last_time;
    line.age = age < 1 ? "now" : duration_text(age);
    const bool person = is_terminal(stdout);  // a program wants all digits, which depend on the whole series
    const Range last_step = {.first_step = tag.last_step, .last_step = tag.last_step};
    const Result<Scalars> last = series.run.scalars(tag.name, person ? last_step : Range{});
    if (last && !last->values.empty()) {
      const double value = last->values.back();
      line.value = person ? number_text(value) : exact_text(value, formats::all_single(last->values));
      line.finite = std::isfinite(value);
    }
    if (const Result<Drawing> drawing = series.run.draw(tag.name, kHistory); drawing) {
      line.rate = rate_text(drawing->points);
      line.alarm = alarm_text(*drawing);
    }
    return line;
  }

  void draw(const Series& series, std::size_t width, Line& line) const {
    const Result<Drawing> drawing = series.run.draw(series.tag.name, static_cast<int>(width));
    if (drawing) line.history = sparkline(*drawing, static_cast<int>(width), glyphs_);
  }

  // Columns as wide as their widest entry, and wide enough not to jump between drawings. If the terminal is too narrow,
  // the history and the alarms shrink first, then the names.
  struct Widths {
    std::size_t run = 3, tag = 3, step = 6, value = 8, history = kHistory, rate = 6, age = 6, alarm = 0;
  };
  static constexpr std::size_t kHistory = 24;

  static Widths measure(const std::vector<Line>& lines, std::size_t width) {
    constexpr std::size_t kShortestHistory = 8;
    constexpr std::size_t kShortestNames = 16;
    constexpr std::size_t kShortestAlarm = 8;  // "NaN, Inf"
    Widths widths;
    for (const Line& one : lines) {
      widths.run = std::max(widths.run, base::count_characters(render::printable(one.run)));
      widths.tag = std::max(widths.tag, base::count_characters(render::printable(one.tag)));
      widths.step = std::max(widths.step, one.step.size());
      widths.value = std::max(widths.value, one.value.size());
      widths.rate = std::max(widths.rate, one.rate.size());
      widths.age = std::max(widths.age, one.age.size());
      widths.alarm = std::max(widths.alarm, one.alarm.size());
    }
    const std::size_t others = widths.step + widths.value + widths.rate + widths.age + 6 * 2;
    const std::size_t names = widths.run + widths.tag;
    std::size_t room = width > others ? width - others : 0;
    if (widths.alarm > 0) {
      const std::size_t used = names + kShortestHistory + 2;
      const std::size_t shortest = std::min(widths.alarm, kShortestAlarm);
      widths.alarm = std::clamp(room > used ? room - used : 0, shortest, widths.alarm);
      room -= std::min(room, widths.alarm + 2);
    }
    if (names + kHistory > room) {
      widths.history = std::clamp(room > names ? room - names : 0, kShortestHistory, kHistory);
    }
    const std::size_t left = std::max(room > widths.history ? room - widths.history : 0, kShortestNames);
    if (names > left) {
      widths.run = std::min(widths.run, std::max(left / 2, left - std::min(widths.tag, left)));
      widths.tag = std::min(widths.tag, left - widths.run);
    }
    return widths;
  }

  std::string table(const std::vector<Series>& all, std::size_t width) const {
    const double now = base::wall_seconds();
    std::vector<Line> lines = {{.run = "run",
                                .tag = "tag",
                                .step = "step",
                                .value = "value",
                                .history = "history",
                                .rate = "steps",
                                .age = "ago",
                                .alarm = ""}};
    for (const Series& one : all) lines.push_back(line(one, now));
    const Widths widths = measure(lines, width);
    for (std::size_t i = 1; i < lines.size(); ++i) draw(all[i - 1], widths.history, lines[i]);
    std::string out;
    for (const Line& one : lines) out += line_text(one, widths, &one == lines.data());
    return out;
  }

  std::string line_text(const Line& line, const Widths& widths, bool heading) const {
    const auto in = [&](const std::string& text, Style style) { return styled(text, style, color_ && !heading); };
    std::string text = padded(fitted(line.run, widths.run), widths.run) + "  " +
                       padded(fitted(line.tag, widths.tag), widths.tag) + "  " + padded_left(line.step, widths.step) +
                       "  " + in(padded_left(line.value, widths.value), line.finite ? Style::bold : Style::red) + "  " +
                       in(padded(line.history, widths.history), Style::cyan) + "  " +
                       padded_left(line.rate, widths.rate) + "  " + padded_left(line.age, widths.age);
    if (!line.alarm.empty()) text += "  " + in(shortened(line.alarm, widths.alarm), Style::red);
    return (heading ? styled(text, Style::dim, color_) : text) + "\n";
  }

  // Where printing of a series stopped. Points are counted in the order written: steps and times are not enough, since
  // a restart goes back, and many points may have the same time.
  struct Place {
    std::uint64_t points = 0;  // of the newest history, like the following: these show whether there is something new
    std::int64_t last_step = 0;
    double last_time = 0;
    std::size_t printed = 0;  // of all points
  };
  using Seen = std::map<std::pair<std::string, std::string>, Place>;  // by run and tag

  int append(const Log& log) const {
    std::signal(SIGINT, interrupt);
    std::signal(SIGTERM, interrupt);
    Seen seen;
    std::set<std::string> said;  // problems, each reported once
    std::uint64_t version = log.version();
    while (interrupted == 0) {
      const std::uint64_t begin = base::monotonic_nanoseconds();
      const Result<std::vector<Run>> runs = select_runs(log, runs_, missing());
      if (!runs) return fail(runs.error());
      const Result<std::vector<Series>> all = all_series(*runs);
      if (!all) return fail(all.error());
      for (const std::string& problem : problems(log, *runs)) {
        if (said.insert(problem).second) note(problem);
      }
      for (const Series& one : *all) append_new(one, seen);
      if (std::fflush(stdout) != 0) return kSuccess;
      version = rest(log, version, begin);
    }
    return kSuccess;
  }

  // Prints the last point of a new series; then every new one, or the last one if there are many.
  static void append_new(const Series& series, Seen& seen) {
    constexpr std::size_t kMany = 5;
    const Tag& tag = series.tag;
    const auto [entry, first] = seen.try_emplace({series.run.name(), tag.name});
    Place& known = entry->second;
    if (!first && known.points == tag.points && known.last_step == tag.last_step && known.last_time == tag.last_time) {
      return;
    }
    const Result<Scalars> points = series.run.scalars(tag.name, {}, History::all);
    if (!points || points->size() == 0) return;
    const std::size_t count = points->size();
    const std::size_t begin = std::min(known.printed, count);  // fewer than before if a file was deleted
    known = {tag.points, tag.last_step, tag.last_time, count};
    const bool single = formats::all_single(points->values);
    for (std::size_t i = first || count - begin > kMany ? count - 1 : begin; i < count; ++i) {
      print(time_text(points->wall_times[i]) + "\t" + render::printable(series.run.name()) + "\t" +
            render::printable(tag.name) + "\t" + std::to_string(points->steps[i]) + "\t" +
            exact_text(points->values[i], single) + "\n");
    }
  }

  std::string directory_;
  Selector runs_{"--runs", "run"};
  Selector tags_{"--tags", "tag"};
  bool once_ = false;
  bool color_ = colored(stdout);
  render::Glyphs glyphs_ = shows_unicode(stdout) ? render::Glyphs::blocks : render::Glyphs::ascii;
};

}  // namespace

std::unique_ptr<Subcommand> make_tail_command() { return std::make_unique<Tail>(); }

}  // namespace sonde::cli
