// sonde ls: lists the content of a log directory.
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/utf8.h"
#include "formats/json_writer.h"
#include "render/console.h"
#include "selection.h"
#include "sonde/capture.h"
#include "sonde/checkpoint.h"
#include "sonde/log.h"
#include "store/probe_json.h"
#include "subcommand.h"
#include "tensor_files/kept_tensors.h"
#include "terminal.h"
#include "text.h"
#include "unread.h"

namespace sonde::cli {
namespace {

using tensor_files::KeptSeries;
using tensor_files::KeptTensors;

void note_status(const Status& status) { note(status.message()); }

// "0 .. 990", or a single step.
std::string steps_text(std::uint64_t count, std::int64_t first, std::int64_t last) {
  if (count == 0) return "";
  return first == last ? std::to_string(first) : std::to_string(first) + " .. " + std::to_string(last);
}

// A run with its selected tags, tables and kept tensors.
struct ListedRun {
  Run run;
  std::vector<Tag> tags;
  std::vector<ProbeInfo> probes;  // in the order of execution
  std::vector<KeptSeries> tensors;
  std::vector<KeptSeries> tables;
};

// "full -> statistics: recording took 3.1 % of the time, more than 1 %": what the budget turned off, and on again.
struct BudgetChange {
  std::int64_t step = 0;
  std::string change;
};

// What a run has besides its points.
struct Besides {
  std::vector<RecordingGap> gaps;  // tensors that are missing
  std::vector<BudgetChange> budget;
  std::size_t captures = 0;
  std::size_t checkpoints = 0;
};

Besides besides(const Run& run) {
  Besides found;
  for (RecordingGap& gap : run.gaps()) {
    if (gap.reason == RecordingGap::Reason::budget) {
      found.budget.push_back({gap.first_step, gap.detail.empty() ? "changed" : gap.detail});
    } else if (gap.count > 0) {
      found.gaps.push_back(std::move(gap));
    }
  }
  // Unreadable ones are reported by the commands that list them.
  if (const auto captures = list_captures(run.directory())) found.captures = captures->size();
  if (const auto checkpoints = list_checkpoints(run.directory())) found.checkpoints = checkpoints->checkpoints.size();
  return found;
}

class Ls final : public Subcommand {
 public:
  Ls()
      : Subcommand(
            {.name = "ls",
             .usage = "ls LOGDIR [options]",
             .summary = "list the runs and tags of a log directory",
             .details =
                 "One line for each tag: its kind, the number of points, the first and last step, "
                 "and the last value of a scalar. Then tensors that were kept whole, with the number of their "
                 "steps, and tables, with the number of their rows; what is missing, what a budget turned off and "
                 "when, "
                 "and how many captures and checkpoints there are. Files that TensorBoard's plugins show and Sonde "
                 "does not read (Debugger V2, the projector, profiles) are named at the end. If a job was "
                 "restarted and wrote steps again, the newest points count.",
             .examples = {"sonde ls logs", "sonde ls logs --runs 'train.*' --tags '.*loss'", "sonde ls logs --json"}}) {
  }

  void setup(Flags& flags) override {
    flags.argument(directory_, "LOGDIR", "a directory with runs");
    flags.option(runs_.pattern(), "--runs", "RE", "the run of this name, or those that match (all)");
    flags.option(tags_.pattern(), "--tags", "RE", "the tag of this name, or those that match (all)");
    flags.toggle(json_, "--json", "for programs");
  }

  int run() override {
    Result<Log> log = open_log(directory_);
    if (!log) return fail(log.error());
    const Result<std::vector<Run>> runs = select_runs(*log, runs_);
    if (!runs) return fail(runs.error());
    const Result<std::vector<ListedRun>> selected = choose(*runs);
    if (!selected) {
      report_unreadable(*log, *runs);
      return fail(selected.error());
    }
    const std::vector<UnreadFiles> unread = unread_files(directory_);
    if (json_) {
      print_json(*selected, unread);
    } else {
      print_text(*selected);
      print_unread(unread);
    }
    return report_unreadable(*log, *runs);
  }

 private:
  // By name: a pattern applies to tags, kept tensors and tables.
  Result<std::vector<ListedRun>> choose(const std::vector<Run>& runs) const {
    std::vector<ListedRun> listed;
    if (runs.empty()) {
      if (Status status = tags_.compile(); !status) return status;
      return listed;
    }
    std::set<std::string> unique;
    for (const Run& run : runs) {
      listed.push_back({run, run.tags(), run.probes(), KeptTensors(run.directory(), {}, note_status).list(),
                        tensor_files::tables_of(run.directory(), {}, note_status)});
      for (const Tag& tag : listed.back().tags) unique.insert(tag.name);
      for (const KeptSeries& tensor : listed.back().tensors) unique.insert(tensor.name);
      for (const KeptSeries& table : listed.back().tables) unique.insert(table.name);
    }
    const std::vector<std::string> names(unique.begin(), unique.end());
    const auto chosen = tags_.choose(names, Selector::Missing::error);
    if (!chosen) return chosen.error();
    if (chosen->size() == names.size()) return listed;
    const auto left_out = [&](const auto& one) { return !chosen->contains(one.name); };
    std::erase_if(listed, [&](ListedRun& one) {
      std::erase_if(one.tags, left_out);
      std::erase_if(one.probes, [&](const ProbeInfo& probe) { return !chosen->contains(probe.tag); });
      std::erase_if(one.tensors, left_out);
      std::erase_if(one.tables, left_out);
      return one.tags.empty() && one.tensors.empty() && one.tables.empty();
    });
    return listed;
  }

  struct Row {
    std::string tag, kind, points, steps, last = {};
    bool alarming = false;  // the last value is not finite
  };

  void print_text(const std::vector<ListedRun>& selected) {
    if (selected.empty()) {
      print("There are no runs in '" + harmless(directory_) + "'.\n");
      return;
    }
    std::uint64_t tags = 0;
    std::uint64_t points = 0;
    std::uint64_t tensors = 0;
    std::uint64_t tables = 0;
    std::vector<std::vector<Row>> rows;
    for (const ListedRun& one : selected) {
      rows.push_back(rows_of(one));
      tags += one.tags.size();
      tensors += one.tensors.size();
      tables += one.tables.size();
      for (const Tag& tag : one.tags) points += tag.points;
    }
    measure(rows);
    print(styled(harmless(directory_), Style::bold, color_) + "  " + counted(selected.size(), "run") + ", " +
          counted(tags, "tag") + ", " + counted(points, "point") +
          (tensors > 0 ? ", " + counted(tensors, "whole tensor") : "") +
          (tables > 0 ? ", " + counted(tables, "table") : "") + "\n");
    if (tags + tensors + tables > 0) print_row({"tag", "kind", "points", "steps", "last"}, Style::dim);
    for (std::size_t i = 0; i < selected.size(); ++i) {
      print_heading(selected[i]);
      for (const Row& one : rows[i]) print_row(one, Style::cyan);
      if (rows[i].empty()) print(styled("  nothing yet\n", Style::dim, color_));
      print_written_again(selected[i].tags);
      print_besides(selected[i].run);
    }
  }

  void print_unread(const std::vector<UnreadFiles>& unread) const {
    for (const UnreadFiles& one : unread) {
      const std::string path = harmless(run_path(directory_, one.directory));
      if (&one == unread.data()) print("\n");
      print(styled("! not read: " + describe(one) + " in " + path, Style::yellow, color_) + "\n");
    }
  }

  // One line per tag. A tensor's statistics and histogram share a line where they agree. Then the tensors that were
  // kept whole, with the number of their steps, and the tables, with the number of their rows.
  static std::vector<Row> rows_of(const ListedRun& selected) {
    std::vector<Row> rows;
    for (const Tag& tag : selected.tags) {
      Row next = row(selected.run, tag);
      if (!rows.empty() && next.last.empty() && rows.back().last.empty() && rows.back().tag == next.tag &&
          rows.back().points == next.points && rows.back().steps == next.steps) {
        rows.back().kind += ", " + next.kind;
      } else {
        rows.push_back(std::move(next));
      }
    }
    const auto add = [&](const KeptSeries& one, std::string_view kind) {
      rows.push_back(
          {one.name, std::string(kind), grouped(one.count), steps_text(one.count, one.first_step, one.last_step)});
    };
    for (const KeptSeries& tensor : selected.tensors) add(tensor, "whole");
    for (const KeptSeries& table : selected.tables) add(table, "table");
    return rows;
  }

  static Row row(const Run& run, const Tag& tag) {
    Row row{.tag = tag.name,
            .kind = std::string(to_string(tag.kind)),
            .points = grouped(tag.points),
            .steps = steps_text(tag.points, tag.first_step, tag.last_step),
            .last = {}};
    if (tag.kind == TagKind::tensors && !tag.plugin.empty()) row.kind = render::printable(tag.plugin);
    if (tag.kind != TagKind::scalars || tag.points == 0) return row;
    const Result<Scalars> last = run.scalars(tag.name, {.first_step = tag.last_step, .last_step = tag.last_step});
    if (!last || last->values.empty()) return row;
    row.last = number_text(last->values.back());
    row.alarming = !std::isfinite(last->values.back());
    return row;
  }

  // Columns as wide as their widest entry; the tags get the rest of the terminal's width.
  void measure(const std::vector<std::vector<Row>>& rows) {
    std::size_t tag = 3;  // as the headings
    for (const auto& of_run : rows) {
      for (const Row& one : of_run) {
        tag = std::max(tag, base::count_characters(render::printable(one.tag)));
        kind_width_ = std::max(kind_width_, base::count_characters(one.kind));
        points_width_ = std::max(points_width_, base::count_characters(one.points));
        steps_width_ = std::max(steps_width_, base::count_characters(one.steps));
        last_width_ = std::max(last_width_, base::count_characters(one.last));
      }
    }
    const std::size_t others = 2 + 2 + kind_width_ + 2 + points_width_ + 2 + steps_width_ + 2 + last_width_;
    const auto width = static_cast<std::size_t>(terminal_width());
    // A pipe has no width: nothing is truncated there.
    const std::size_t room = !is_terminal(stdout) ? tag : width > others + 16 ? width - others : 16;
    tag_width_ = std::min(tag, room);
  }

  void print_heading(const ListedRun& selected) const {
    std::uint64_t bytes = 0;
    for (const LogFile& file : selected.run.files()) bytes += file.size;
    double last = 0;
    for (const Tag& tag : selected.tags) last = std::max(last, tag.last_time);
    std::string facts = size_text(bytes);
    if (last > 0) facts += ", last point " + duration_text(base::wall_seconds() - last) + " ago";
    std::string line = "\n";
    line.append(styled(render::printable(selected.run.name()), Style::bold, color_)).append("  ");
    print(line.append(styled(facts, Style::dim, color_)).append("\n"));
  }

  void print_row(const Row& one, Style style) const {
    const Style others = style == Style::dim ? style : Style::plain;
    std::string points = padded_left(one.points, points_width_) + "  ";
    // No blanks after the last column.
    points += one.last.empty() ? one.steps : padded(one.steps, steps_width_) + "  ";
    print("  " + styled(padded(fitted(one.tag, tag_width_), tag_width_), others, color_) + "  " +
          styled(padded(one.kind, kind_width_), style, color_) + "  " + styled(points, others, color_) +
          styled(one.last, one.alarming ? Style::red : others, color_) + "\n");
  }

  void warn(const std::string& text) const { print("  " + styled("! " + text, Style::yellow, color_) + "\n"); }

  void print_written_again(const std::vector<Tag>& tags) const {
    std::uint64_t points = 0;
    std::uint64_t written_again = 0;
    for (const Tag& tag : tags) {
      points += tag.points + tag.written_again;
      written_again += tag.written_again;
    }
    if (written_again == 0) return;
    warn(grouped(written_again) + " of " + counted(points, "point") +
         " were written again after a restart: the newest count, 'sonde export --history all' exports all");
  }

  void print_besides(const Run& run) const {
    const std::string path = harmless(run_path(directory_, run.name()));
    if (const std::size_t places = run.damage().size(); places > 0) {
      warn(counted(places, "damaged place") + ": 'sonde check " + path + "' shows where");
    }
    const Besides found = besides(run);
    for (const RecordingGap& gap : by_reason(found.gaps)) {
      const std::string steps = gap.first_step == gap.last_step ? "step " + std::to_string(gap.first_step)
                                                                : "steps " + std::to_string(gap.first_step) + " .. " +
                                                                      std::to_string(gap.last_step);
      warn(counted(gap.count, "tensor") + " not recorded, " + steps + ": " + std::string(to_string(gap.reason)) +
           (gap.detail.empty() ? "" : ": " + render::printable(gap.detail)));
    }
    for (const BudgetChange& one : found.budget) {
      warn("budget at step " + std::to_string(one.step) + ": " + harmless(one.change));
    }
    if (found.captures > 0) print("  " + counted(found.captures, "capture") + ": 'sonde captures " + path + "'\n");
    if (found.checkpoints > 0) {
      print("  " + counted(found.checkpoints, "checkpoint") + ": 'sonde checkpoints " + path + "'\n");
    }
  }

  // Merges the gaps with the same reason.
  static std::vector<RecordingGap> by_reason(const std::vector<RecordingGap>& gaps) {
    std::vector<RecordingGap> joined;
    for (const RecordingGap& gap : gaps) {
      const auto same = std::ranges::find_if(
          joined, [&](const RecordingGap& one) { return one.reason == gap.reason && one.detail == gap.detail; });
      if (same == joined.end()) {
        joined.push_back(gap);
        continue;
      }
      same->count += gap.count;
      same->first_step = std::min(same->first_step, gap.first_step);
      same->last_step = std::max(same->last_step, gap.last_step);
    }
    return joined;
  }

  static void put_besides(formats::JsonWriter& json, const Run& run) {
    const Besides found = besides(run);
    json.key("damage").integer(run.damage().size()).key("gaps").integer(found.gaps.size());
    json.list("budget", found.budget, [&](const BudgetChange& one) {
      json.object().key("step").integer(one.step).key("change").text(one.change).end();
    });
    json.key("captures").integer(found.captures).key("checkpoints").integer(found.checkpoints);
  }

  static void put_tag(formats::JsonWriter& json, const Tag& tag) {
    json.object().key("tag").text(tag.name).key("kind").text(to_string(tag.kind));
    json.key("points").integer(tag.points).key("first_step").integer(tag.first_step);
    json.key("last_step").integer(tag.last_step).key("written_again").integer(tag.written_again);
    json.key("plugin").text(tag.plugin).end();
  }

  static void put_kept(formats::JsonWriter& json, const KeptSeries& one, std::string_view name,
                       std::string_view count) {
    json.object().key(name).text(one.name).key(count).integer(one.count);
    json.key("first_step").integer(one.first_step).key("last_step").integer(one.last_step).end();
  }

  static void print_json(const std::vector<ListedRun>& selected, const std::vector<UnreadFiles>& unread) {
    formats::JsonWriter json;
    json.object().key("runs").array();
    for (const ListedRun& one : selected) {
      json.object().key("run").text(one.run.name());
      json.list("tags", one.tags, [&](const Tag& tag) { put_tag(json, tag); });
      json.list("probes", one.probes, [&](const ProbeInfo& probe) { store::put_probe(json, probe); });
      json.list("tensors", one.tensors, [&](const KeptSeries& kept) { put_kept(json, kept, "tensor", "steps"); });
      json.list("tables", one.tables, [&](const KeptSeries& kept) { put_kept(json, kept, "file", "rows"); });
      put_besides(json, one.run);
      json.end();
      print(json.take());
    }
    json.end();
    json.list("not_read", unread, [&](const UnreadFiles& one) {
      json.object().key("what").text(one.what).key("directory").text(one.directory);
      json.key("files").integer(one.files).end();
    });
    json.end();
    print(json.take() + "\n");
  }

  std::string directory_;
  Selector runs_{"--runs", "run"};
  Selector tags_{"--tags", "tag"};
  bool json_ = false;
  bool color_ = colored(stdout);
  std::size_t tag_width_ = 0;
  std::size_t kind_width_ = 4;
  std::size_t points_width_ = 6;
  std::size_t steps_width_ = 5;
  std::size_t last_width_ = 4;
};

}  // namespace

std::unique_ptr<Subcommand> make_ls_command() { return std::make_unique<Ls>(); }

}  // namespace sonde::cli
