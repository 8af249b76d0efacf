// sonde captures: what triggers saved, why, and which tensor produced the NaN.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/directory.h"
#include "base/file.h"
#include "capture_text.h"
#include "formats/capture_json.h"
#include "formats/json_writer.h"
#include "formats/run_layout.h"
#include "sonde/capture.h"
#include "subcommand.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

struct Found {
  std::string run;  // below the given directory; "." is the directory itself
  std::string path;
};

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// "." if there is no slash.
std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}
std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The captures of a run, or of all runs below a directory, or a single one. Links are followed, but not in circles.
class Finder {
 public:
  Status find(const std::string& named) {
    const std::string path = without_slashes(named);
    const Result<base::Directory> directory = base::read_directory(path);
    if (!directory) return directory.error();
    if (has(*directory, run_layout::kCaptureFile, base::DirectoryEntry::Type::file)) {
      found.push_back({".", path});
      return Status::success();
    }
    if (last_part(path) == run_layout::kCaptures && list(parent_of(path), ".")) return Status::success();
    add(path, ".", *directory);
    return Status::success();
  }

  std::vector<Found> found;
  std::vector<std::string> problems;  // one sentence each

 private:
  static bool has(const base::Directory& directory, std::string_view name, base::DirectoryEntry::Type type) {
    return std::ranges::any_of(
        directory.entries, [&](const base::DirectoryEntry& entry) { return entry.name == name && entry.type == type; });
  }

  // Returns whether there were any.
  bool list(const std::string& path, const std::string& run) {
    const Result<std::vector<std::string>> captures = list_captures(path);
    if (!captures) problems.push_back(captures.error().message());
    if (!captures) return false;
    for (const std::string& capture : *captures) found.push_back({run, capture});
    return !captures->empty();
  }

  void add(const std::string& path, const std::string& run, const base::Directory& directory) {
    if (std::ranges::any_of(above_, [&](const base::FileState& state) { return state.same_file(directory.state); }))
      return;
    above_.push_back(directory.state);
    const bool has_captures =
        has(directory, run_layout::kCaptures, base::DirectoryEntry::Type::directory) && list(path, run);
    for (const base::DirectoryEntry& entry : directory.entries) {
      if (entry.type != base::DirectoryEntry::Type::directory || (has_captures && entry.name == run_layout::kCaptures))
        continue;
      const std::string below = base::join_path(path, entry.name);
      const Result<base::Directory> next = base::read_directory(below);
      if (next) {
        add(below, run == "." ? entry.name : base::join_path(run, entry.name), *next);
      } else {
        problems.push_back(next.error().message());
      }
    }
    above_.pop_back();
  }

  std::vector<base::FileState> above_;
};

class Captures final : public Subcommand {
 public:
  Captures()
      : Subcommand({.name = "captures",
                    .usage = "captures LOGDIR [options]",
                    .summary = "show what triggers saved, and which tensor produced the NaN",
                    .details = "For each capture: what made it, which steps it holds, what it lacks, and the "
                               "first tensor that was non-finite although its inputs were finite. The tensors "
                               "are in its directory, one safetensors file per step: 'sonde show' prints them.",
                    .examples = {"sonde captures logs", "sonde captures logs/train/captures/1-nan",
                                 "sonde captures logs --json"}}) {}

  void setup(Flags& flags) override {
    flags.argument(directory_, "LOGDIR", "a directory with runs, a run, or one capture");
    flags.toggle(json_, "--json", "for programs");
  }

  int run() override {
    Finder finder;
    if (Status status = finder.find(directory_); !status) return fail(status);
    problems_ = std::move(finder.problems);
    if (json_) {
      print_json(finder.found);
    } else {
      print_text(finder.found);
    }
    int code = kSuccess;
    for (const std::string& problem : problems_) code = fail(problem);
    return code;
  }

 private:
  Result<Capture> open(const Found& found, CaptureFiles& files) {
    Result<Capture> capture = Capture::open(found.path);
    if (!capture) {
      problems_.push_back(capture.error().message());
      return capture;
    }
    files = files_of(*capture);
    if (!files.problem.empty()) problems_.push_back(files.problem);
    return capture;
  }

  void print_text(const std::vector<Found>& found) {
    if (found.empty()) {
      print("There are no captures in '" + harmless(directory_) + "'.\n");
      return;
    }
    std::set<std::string> runs;
    for (const Found& one : found) runs.insert(one.run);
    print(styled(harmless(directory_), Style::bold, color_) + "  " + counted(found.size(), "capture") +
          (runs.size() > 1 ? " in " + counted(runs.size(), "run") : "") + "\n");
    const std::string* run = nullptr;
    for (const Found& one : found) {
      CaptureFiles files;
      const Result<Capture> capture = open(one, files);
      if (!capture) continue;
      print("\n");
      if (one.run != "." && (run == nullptr || *run != one.run)) {
        print(styled(harmless(one.run), Style::bold, color_) + "\n");
      }
      run = &one.run;
      print(capture_text(*capture, files, color_));
    }
  }

  void print_json(const std::vector<Found>& found) {
    formats::JsonWriter json;
    json.object().key("captures").array();
    for (const Found& one : found) {
      CaptureFiles files;
      const Result<Capture> capture = open(one, files);
      if (!capture) continue;
      json.line().object().key("run").text(one.run).key("path").text(one.path).key("bytes").integer(files.bytes);
      capture_json::put_members(json, capture->info(), find_origin(capture->info()));
      json.end();
      print(json.take());
    }
    json.end().end();
    print(json.take() + "\n");
  }

  std::string directory_;
  bool json_ = false;
  bool color_ = colored(stdout);
  std::vector<std::string> problems_;
};

}  // namespace

std::unique_ptr<Subcommand> make_captures_command() { return std::make_unique<Captures>(); }

}  // namespace sonde::cli
