// What somebody may change in a log directory: a note, and a run that is put into the trash.
#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/file_lock.h"
#include "formats/run_layout.h"
#include "index/log_index.h"

namespace sonde::index {
namespace {

std::string quoted(std::string_view text) {
  std::string out(1, '\'');
  return out.append(text).append("'");
}

// Whether it is a file or folder that a recorder makes in the directory of a run, or the note.
bool is_of_run(const base::DirectoryEntry& entry) {
  if (entry.type == base::DirectoryEntry::Type::directory) return !entry.link && run_layout::is_folder(entry.name);
  return run_layout::is_file_of_run(entry.name);
}

// "20261116-093000", in UTC.
std::string time_text() {
  const auto now = static_cast<std::time_t>(base::wall_seconds());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text;
  return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts)};
}

// A new folder in the trash of the log.
Result<std::string> make_trash(const std::string& log_directory, std::string name) {
  constexpr std::size_t kLongest = 100;
  const std::string trash = base::join_path(log_directory, run_layout::kTrash);
  if (Status status = base::make_directories(trash); !status) return status;
  const Result<std::string> real = base::real_path(trash);
  if (!real) return real.error();
  if (*real != trash) return Status(Code::permission_denied, "the trash " + quoted(trash) + " is a link");
  std::ranges::replace(name, '/', '-');
  name.insert(0, time_text() + "-");
  name.resize(std::min(name.size(), kLongest));
  for (int i = 1;; ++i) {
    std::string path = base::join_path(trash, i == 1 ? name : name + "-" + std::to_string(i));
    const Status status = base::make_new_directory(path);
    if (status) return path;
    if (status.code() != Code::exhausted) return status;
  }
}

// Moves entries back from the trash. Returns a message about it.
std::string put_back(const std::vector<std::string>& names, const std::string& trash,
                     const std::string& run_directory) {
  std::string stuck;
  for (const std::string& name : names) {
    if (base::move_entry(base::join_path(trash, name), base::join_path(run_directory, name))) continue;
    stuck.append(stuck.empty() ? "" : ", ").append(name);
  }
  (void)base::remove_empty_directory(trash);
  if (stuck.empty()) return "; the run is unchanged";
  return "; of the run's files these are in " + quoted(trash) + " now and could not be moved back: " + stuck;
}

// `has_runs` says whether a folder of the run has runs in it, which stay.
template <class HasRuns>
Status move_to_trash(const std::string& run_directory, const std::string& log_directory, const std::string& name,
                     HasRuns has_runs) {
  const Result<base::Directory> listed = base::read_directory(run_directory);
  if (!listed) return listed.error();
  std::vector<const base::DirectoryEntry*> own;
  for (const base::DirectoryEntry& entry : listed->entries) {
    if (!is_of_run(entry) || has_runs(entry.name)) continue;
    const bool ring = run_layout::is_ring(entry.name);
    const Result<bool> locked =
        ring ? base::is_locked(base::join_path(run_directory, entry.name)) : Result<bool>(false);
    if (locked && *locked) {
      return {Code::io, "the run " + quoted(name) + " is still being recorded; end its process first"};
    }
    own.push_back(&entry);
  }
  const Result<std::string> trash = make_trash(log_directory, name == "." ? "root" : name);
  if (!trash) return trash.error();
  std::vector<std::string> moved;
  for (const base::DirectoryEntry* entry : own) {
    const Status status =
        base::move_entry(base::join_path(run_directory, entry->name), base::join_path(*trash, entry->name));
    if (!status) return {Code::io, status.message() + put_back(moved, *trash, run_directory)};
    moved.push_back(entry->name);
  }
  if (run_directory != log_directory) (void)base::remove_empty_directory(run_directory);  // other things in it stay
  return Status::success();
}

}  // namespace

// The directory of a run without links, which must be in the log directory.
Result<std::string> LogIndex::control_directory(const std::string& run) const {
  const Result<std::shared_ptr<store::RunSource>> found = this->run(run);
  if (!found) return found.error();
  const Result<std::string> log = base::real_path(directory_);
  if (!log) return log.error();
  Result<std::string> path = base::real_path((*found)->directory());
  if (!path) return path.error();
  if (!base::is_inside(*path, *log)) {
    return Status(
        Code::permission_denied,
        "the run " + quoted(run) + " is a link to a place outside of the log directory, where nothing is changed");
  }
  return path;
}

Status LogIndex::set_note(const std::string& run, std::string_view text) {
  if (text.size() > store::kLongestNote) return {Code::exhausted, "a note has at most 64 KiB"};
  const Result<std::string> directory = control_directory(run);
  if (!directory) return directory.error();
  const std::string path = base::join_path(*directory, run_layout::kNote);
  return text.empty() ? base::remove_file(path) : base::write_file(path, text);
}

Status LogIndex::remove_run(const std::string& run) {
  const Result<std::string> directory = control_directory(run);
  if (!directory) return directory.error();
  const Result<std::string> log = base::real_path(directory_);
  if (!log) return log.error();
  const Result<std::shared_ptr<store::RunSource>> found = this->run(run);
  if (!found) return found.error();
  const std::vector<std::shared_ptr<store::RunSource>> all = runs();
  const auto has_runs = [&](const std::string& folder) {
    const std::string below = base::join_path((*found)->directory(), folder) + "/";
    return std::ranges::any_of(all, [&](const auto& other) { return (other->directory() + "/").starts_with(below); });
  };
  if (Status status = move_to_trash(*directory, *log, run, has_runs); !status) return status;
  refresh();
  return Status::success();
}

}  // namespace sonde::index
