// sonde checkpoints: lists the checkpoints of a run, and copies one of them.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/directory.h"
#include "base/input_file.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "formats/json_writer.h"
#include "formats/run_layout.h"
#include "output.h"
#include "render/console.h"
#include "sonde/checkpoint.h"
#include "subcommand.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

using Checkpoints = std::vector<CheckpointInfo>;

constexpr std::int64_t kNoStep = std::numeric_limits<std::int64_t>::min();

// Whether `one` is the best of its name, and the first if several are equal. Only finite metrics count, as in the rule
// for what is kept.
bool is_best(const CheckpointInfo& one, const Checkpoints& all) {
  if (!std::isfinite(one.metric)) return false;
  return std::ranges::none_of(all, [&](const CheckpointInfo& other) {
    if (other.name != one.name || !std::isfinite(other.metric)) return false;
    if (other.metric == one.metric) return other.step < one.step;
    return one.lower_is_better ? other.metric < one.metric : other.metric > one.metric;
  });
}

// Whether `one` is the checkpoint of its name that was saved last.
bool is_latest(const CheckpointInfo& one, const Checkpoints& all) {
  return std::ranges::none_of(all, [&](const CheckpointInfo& other) {
    return other.name == one.name && std::pair(other.wall_time, other.step) > std::pair(one.wall_time, one.step);
  });
}

Status copy_file(const std::string& from, const std::string& to) {
  const Result<base::InputFile> file = base::InputFile::open(from);
  if (!file) return file.error();
  Result<Output> output = Output::open(to, Existing::replace);
  if (!output) return output.error();
  std::vector<std::byte> piece(std::size_t{1} << 20);
  for (std::uint64_t at = 0;;) {
    const Result<std::size_t> count = file->read_at(at, piece);
    if (!count) return count.error();
    if (*count == 0) return output->finish();
    output->buffer() += base::as_text(base::Bytes(piece).first(*count));
    at += *count;
    if (Status status = output->flush_some(); !status) return status;
  }
}

// The checkpoints of one run.
struct RunCheckpoints {
  std::string run;  // its name below the given directory; "." for the directory itself
  std::string directory;
  Checkpoints checkpoints;
};

// The directory and those below it that have checkpoints, by name.
void find_runs(const std::string& root, const std::string& name, int depth, std::vector<std::string>& runs) {
  constexpr int kDeepest = 16;
  const std::string path = run_path(root, name);
  const Result<base::Directory> directory = base::read_directory(path);
  if (!directory) return;
  const auto below = [&](const base::DirectoryEntry& entry) {
    return name == "." ? entry.name : base::join_path(name, entry.name);
  };
  for (const base::DirectoryEntry& entry : directory->entries) {
    if (entry.type != base::DirectoryEntry::Type::directory) continue;
    if (entry.name == run_layout::kCheckpoints) runs.push_back(name);
  }
  for (const base::DirectoryEntry& entry : directory->entries) {
    const bool followed =
        entry.type == base::DirectoryEntry::Type::directory && !entry.link && !run_layout::is_folder(entry.name);
    if (followed && depth < kDeepest) find_runs(root, below(entry), depth + 1, runs);
  }
}

class CheckpointsCommand final : public Subcommand {
 public:
  CheckpointsCommand()
      : Subcommand({.name = "checkpoints",
                    .usage = "checkpoints RUN|LOGDIR [options]",
                    .summary = "list the checkpoints of a run or of all runs, or copy one",
                    .details = "One line for each: name, step, when it was saved, how many tensors it holds, its size "
                               "and its metric. The best and the latest checkpoint of each name are marked. For a "
                               "log directory the checkpoints of all runs are listed, run by run. A checkpoint is a "
                               "safetensors file, which 'sonde show' and other programs read.",
                    .examples = {"sonde checkpoints logs", "sonde checkpoints logs/train",
                                 "sonde checkpoints logs/train --load 3000 -o model.safetensors"}}) {}

  void setup(Flags& flags) override {
    flags.argument(directory_, "RUN", "the directory of a run, or one with runs below it");
    flags.option(name_, "--name", "NAME", "only checkpoints of this name");
    flags.option(step_, "--load", "STEP", "copy the checkpoint of this step to the file given with -o");
    flags.path_option(output_, "-o,--output", "FILE", "where the copy goes; an existing file is replaced");
    flags.toggle(json_, "--json", "for programs");
  }

  int run() override {
    if (step_ != kNoStep && output_.empty()) return fail("--load needs -o FILE, the file to copy to");
    if (step_ == kNoStep && !output_.empty()) return fail("-o needs --load STEP, the checkpoint to copy");
    std::vector<Status> unreadable;
    Result<std::vector<RunCheckpoints>> found = collect(unreadable);
    if (!found) return fail(found.error());
    if (Status status = choose_name(*found); !status) return fail(status);
    if (step_ != kNoStep) return load(*found);
    if (json_) {
      print_json(*found);
    } else {
      print_text(*found);
    }
    int code = kSuccess;
    for (const Status& status : unreadable) code = fail(status);
    return code;
  }

 private:
  Result<std::vector<RunCheckpoints>> collect(std::vector<Status>& unreadable) const {
    if (const Result<base::Directory> directory = base::read_directory(directory_); !directory)
      return directory.error();
    std::vector<std::string> names;
    find_runs(directory_, ".", 0, names);
    std::vector<RunCheckpoints> all;
    for (std::string& name : names) {
      const std::string path = run_path(directory_, name);
      Result<CheckpointList> list = list_checkpoints(path);
      if (!list) return list.error();
      unreadable.insert(unreadable.end(), list->unreadable.begin(), list->unreadable.end());
      if (!list->checkpoints.empty()) all.push_back({std::move(name), path, std::move(list->checkpoints)});
    }
    return all;
  }

  Status choose_name(std::vector<RunCheckpoints>& all) const {
    if (name_.empty()) return Status::success();
    std::set<std::string> known;
    for (RunCheckpoints& one : all) {
      for (const CheckpointInfo& info : one.checkpoints) known.insert(info.name);
      std::erase_if(one.checkpoints, [&](const CheckpointInfo& info) { return info.name != name_; });
    }
    std::erase_if(all, [](const RunCheckpoints& one) { return one.checkpoints.empty(); });
    if (!all.empty()) return Status::success();
    const std::vector<std::string> names(known.begin(), known.end());
    std::string hint = base::did_you_mean(name_, names);
    if (hint.empty()) hint = there_are(names);
    return {Code::not_found,
            "there is no checkpoint '" + render::printable(name_) + "' in '" + directory_ + "'" + hint};
  }

  int load(std::vector<RunCheckpoints>& all) const {
    std::set<std::int64_t> steps;
    for (RunCheckpoints& one : all) {
      for (const CheckpointInfo& info : one.checkpoints) steps.insert(info.step);
      std::erase_if(one.checkpoints, [&](const CheckpointInfo& info) { return info.step != step_; });
    }
    std::erase_if(all, [](const RunCheckpoints& one) { return one.checkpoints.empty(); });
    const std::string what = " of step " + std::to_string(step_) + " in '" + directory_ + "'";
    if (all.empty()) {
      std::vector<std::string> texts;
      for (const std::int64_t step : steps) texts.push_back(std::to_string(step));
      return fail("there is no checkpoint" + what + there_are(texts));
    }
    std::vector<std::string> runs;
    for (const RunCheckpoints& one : all) runs.push_back(one.directory);
    if (runs.size() > 1) {
      return fail("there are several checkpoints" + what + ": name one of the runs, " + listed(runs));
    }
    Checkpoints& found = all[0].checkpoints;
    std::vector<std::string> names;
    for (const CheckpointInfo& info : found) names.push_back(info.name);
    if (names.front() != names.back()) {
      return fail("there are several checkpoints" + what + ", " + listed(names) + ": choose one with --name");
    }
    found.resize(1);
    if (Status status = copy_file(found[0].path, output_); !status) return fail(status);
    if (json_) {
      print_json(all);
    } else {
      print("wrote " + harmless(output_) + ": " + counted(found[0].tensors, "tensor") + ", " +
            size_text(found[0].bytes) + "\n");
    }
    return kSuccess;
  }

  // name, step, saved, tensors, size, metric, and the marks
  using Row = std::array<std::string, 7>;

  void print_text(const std::vector<RunCheckpoints>& runs) const {
    if (runs.empty()) print("There are no checkpoints in '" + harmless(directory_) + "'.\n");
    for (const RunCheckpoints& one : runs) {
      if (&one != runs.data()) print("\n");
      print_run(one.directory, one.checkpoints);
    }
  }

  void print_run(const std::string& directory, const Checkpoints& all) const {
    const bool metrics = std::ranges::any_of(all, [](const CheckpointInfo& one) { return !std::isnan(one.metric); });
    std::vector<Row> rows = {{"name", "step", "saved", "tensors", "size", metrics ? "metric" : "", ""}};
    std::uint64_t bytes = 0;
    for (const CheckpointInfo& one : all) {
      const bool best = is_best(one, all);
      const bool latest = is_latest(one, all);
      bytes += one.bytes;
      rows.push_back({render::printable(one.name), std::to_string(one.step), time_text(one.wall_time),
                      grouped(one.tensors), size_text(one.bytes), std::isnan(one.metric) ? "" : number_text(one.metric),
                      best && latest ? "best, latest"
                      : best         ? "best"
                      : latest       ? "latest"
                                     : ""});
    }
    std::array<std::size_t, 7> widths{};
    for (const Row& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], base::count_characters(row[i]));
    }
    print(styled(harmless(directory), Style::bold, color_) + "  " + counted(all.size(), "checkpoint") + ", " +
          size_text(bytes) + "\n");
    for (const Row& row : rows) print_row(row, widths, &row == rows.data());
  }

  void print_row(const Row& row, const std::array<std::size_t, 7>& widths, bool heading) const {
    std::string line = "  " + padded(row[0], widths[0]) + "  " + padded_left(row[1], widths[1]) + "  " +
                       padded(row[2], widths[2]) + "  " + padded_left(row[3], widths[3]) + "  " +
                       padded_left(row[4], widths[4]);
    if (widths[5] > 0) line += "  " + padded_left(row[5], widths[5]);
    if (!row[6].empty()) {
      line += "  " + styled(row[6], row[6].starts_with("best") ? Style::green : Style::cyan, color_);
    } else {
      line.erase(line.find_last_not_of(' ') + 1);  // no blanks after the last column
    }
    print((heading ? styled(line, Style::dim, color_) : line) + "\n");
  }

  static void print_json(const std::vector<RunCheckpoints>& runs) {
    formats::JsonWriter json;
    json.object().key("checkpoints").array();
    for (const RunCheckpoints& run : runs) {
      for (const CheckpointInfo& one : run.checkpoints) {
        json.object().key("run").text(run.run).key("name").text(one.name).key("step").integer(one.step);
        json.key("path").text(one.path).key("bytes").integer(one.bytes).key("tensors").integer(one.tensors);
        json.key("wall_time").number(one.wall_time).key("metric");
        if (std::isnan(one.metric)) {
          json.null();
        } else {
          json.number(one.metric);
        }
        json.end();
      }
    }
    print(json.end().end().take() + "\n");
  }

  std::string directory_;
  std::string name_;
  std::int64_t step_ = kNoStep;
  std::string output_;
  bool json_ = false;
  bool color_ = colored(stdout);
};

}  // namespace

std::unique_ptr<Subcommand> make_checkpoints_command() { return std::make_unique<CheckpointsCommand>(); }

}  // namespace sonde::cli
