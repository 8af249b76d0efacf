// What the page may change: a trigger, a note, and a run that is put into the trash.
#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/file_lock.h"
#include "base/input_file.h"
#include "formats/run_layout.h"
#include "index/run_access.h"
#include "query/answers.h"

namespace sonde::query {
namespace {

using run_layout::kNote;

Answer done() {
  Answer answer;
  answer.body = R"({"ok":true})";
  return answer;
}

// The directory of a run without links, which must lie in its log directory.
Result<std::string> directory_inside(const Context& context, const RunEntry& entry) {
  const Result<std::string> log = real_path(context.runs.logs()[entry.log].log.directory());
  if (!log) return log.error();
  Result<std::string> run = real_path(entry.run.directory());
  if (!run) return run.error();
  if (!is_inside(*run, *log)) {
    return Status(Code::permission_denied,
                  "the run " + in_quotes(entry.name) +
                      " is a link to a place outside of the log directory, where nothing is changed");
  }
  return run;
}

// Whether it is a file or folder that a recorder makes in the directory of a run, or the note.
bool is_of_run(const DirectoryEntry& entry) {
  if (entry.type == DirectoryEntry::Type::directory) return !entry.link && run_layout::is_folder(entry.name);
  return run_layout::is_file_of_run(entry.name);
}

// "20261116-093000", in UTC.
std::string time_text() {
  const auto now = static_cast<std::time_t>(wall_seconds());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text;
  return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts)};
}

// A new folder in the trash of the log.
Result<std::string> make_trash(const std::string& log_directory, std::string name) {
  constexpr std::size_t kLongest = 100;
  const std::string trash = join_path(log_directory, run_layout::kTrash);
  if (Status status = make_directories(trash); !status) return status;
  const Result<std::string> real = real_path(trash);
  if (!real) return real.error();
  if (*real != trash) return Status(Code::permission_denied, "the trash " + in_quotes(trash) + " is a link");
  std::ranges::replace(name, '/', '-');
  name.insert(0, time_text() + "-");
  name.resize(std::min(name.size(), kLongest));
  for (int i = 1;; ++i) {
    std::string path = join_path(trash, i == 1 ? name : name + "-" + std::to_string(i));
    const Status status = make_new_directory(path);
    if (status) return path;
    if (status.code() != Code::exhausted) return status;
  }
}

// Moves entries back from the trash. Returns what is to be said of it.
std::string put_back(const std::vector<std::string>& names, const std::string& trash,
                     const std::string& run_directory) {
  std::string stuck;
  for (const std::string& name : names) {
    if (move_entry(join_path(trash, name), join_path(run_directory, name))) continue;
    stuck.append(stuck.empty() ? "" : ", ").append(name);
  }
  (void)remove_empty_directory(trash);
  if (stuck.empty()) return "; the run is where it was";
  return "; of the run's files these are in " + in_quotes(trash) + " now and could not be moved back: " + stuck;
}

// `has_runs` says whether a folder of the run has runs in it, which stay.
template <class HasRuns>
Status move_to_trash(const std::string& run_directory, const std::string& log_directory, const std::string& name,
                     HasRuns has_runs) {
  const Result<Directory> listed = read_directory(run_directory);
  if (!listed) return listed.error();
  std::vector<const DirectoryEntry*> own;
  for (const DirectoryEntry& entry : listed->entries) {
    if (!is_of_run(entry) || has_runs(entry.name)) continue;
    const bool ring = run_layout::is_ring(entry.name);
    const Result<bool> locked = ring ? is_locked(join_path(run_directory, entry.name)) : Result<bool>(false);
    if (locked && *locked) {
      return {Code::io, "the run " + in_quotes(name) + " is still being recorded; end its process first"};
    }
    own.push_back(&entry);
  }
  const Result<std::string> trash = make_trash(log_directory, name == "." ? "root" : name);
  if (!trash) return trash.error();
  std::vector<std::string> moved;
  for (const DirectoryEntry* entry : own) {
    const Status status = move_entry(join_path(run_directory, entry->name), join_path(*trash, entry->name));
    if (!status) return {Code::io, status.message() + put_back(moved, *trash, run_directory)};
    moved.push_back(entry->name);
  }
  if (run_directory != log_directory) (void)remove_empty_directory(run_directory);  // other things in it stay
  return Status::success();
}

}  // namespace

std::string read_note(const Run& run) {
  const std::string& within = index::RunAccess::index(run).within();
  const Result<Directory> listed = read_directory(run.directory(), within);
  if (!listed) return "";
  const auto entry = std::ranges::find(listed->entries, kNote, &DirectoryEntry::name);
  if (entry == listed->entries.end() || entry->link || entry->type != DirectoryEntry::Type::file) return "";
  const Result<InputFile> file = InputFile::open(join_path(run.directory(), kNote), within);
  if (!file) return "";
  const Result<std::string> text = file->read_up_to(kLongestNote);
  return text ? *text : "";
}

Result<Answer> answer_note(const Context& context, const Body& body) {
  if (body.note.size() > kLongestNote) return Status(Code::exhausted, "a note has at most 64 KiB");
  const auto item = context.catalogue->run(body.run);
  if (!item) return item.error();
  const auto directory = directory_inside(context, *item->entry);
  if (!directory) return directory.error();
  const std::string path = join_path(*directory, kNote);
  if (Status status = body.note.empty() ? remove_file(path) : write_file(path, body.note); !status) return status;
  item->entry->edited();
  context.runs.look_again();
  return done();
}

Result<Answer> answer_delete(const Context& context, const Body& body) {
  const auto item = context.catalogue->run(body.run);
  if (!item) return item.error();
  const auto directory = directory_inside(context, *item->entry);
  if (!directory) return directory.error();
  Log log = context.runs.logs()[item->entry->log].log;
  const Result<std::string> log_directory = real_path(log.directory());
  if (!log_directory) return log_directory.error();
  const RunEntry& entry = *item->entry;
  const auto has_runs = [&](const std::string& folder) {
    const std::string below = join_path(entry.run.directory(), folder) + "/";
    return std::ranges::any_of(context.catalogue->runs, [&](const Catalogue::Item& other) {
      return (other.entry->run.directory() + "/").starts_with(below);
    });
  };
  if (Status status = move_to_trash(*directory, *log_directory, entry.run.name(), has_runs); !status) return status;
  log.refresh();
  return done();
}

Result<Answer> answer_arm(const Context& context, const Body& body) {
  if (context.actions == nullptr) return Status(Code::unsupported, "nothing can be armed here");
  const auto item = context.catalogue->run(body.run);
  if (!item) return item.error();
  const auto directory = directory_inside(context, *item->entry);
  if (!directory) return directory.error();
  if (item->entry->pulse(wall_seconds()).state != RunState::live) {
    return Status(Code::io, "no process is recording the run " + in_quotes(item->entry->name) +
                                ": nothing of it has changed for 30 s; for one that starts later there is 'sonde arm'");
  }
  if (Status status = context.actions->arm(*directory, body.when, body.before, body.after); !status) return status;
  return done();
}

}  // namespace sonde::query
