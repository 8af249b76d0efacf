#include "index/log_index.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/directory.h"
#include "base/file.h"
#include "base/process.h"
#include "base/suggest.h"
#include "formats/run_layout.h"
#include "index/cache.h"
#include "index/run_files.h"

namespace sonde::index {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// A busy writer changes its files thousands of times per second; they are read at most this often.
constexpr milliseconds kPause{50};
// Polling takes at most a twentieth of the time.
constexpr milliseconds kShortestPoll{150};
constexpr int kPollShare = 20;
// The system does not tell that a directory above the log was moved, so the log is looked for so often.
constexpr milliseconds kLookForRoot{1'000};
constexpr std::size_t kMostProblems = 100;  // that are listed

std::string cache_directory(const LogOptions& options) {
  if (options.cache == LogOptions::Cache::off || cache_limit() == 0) return "";
  if (!options.cache_directory.empty()) return options.cache_directory;
  const Result<std::string> directory = base::user_cache_directory();
  return directory ? base::join_path(*directory, "sonde") : "";
}

// Whether a name is that of a directory, empty for the log itself, or of something in it.
bool is_within(std::string_view name, std::string_view directory) {
  return directory.empty() ||
         (name.starts_with(directory) && (name.size() == directory.size() || name[directory.size()] == '/'));
}

}  // namespace

LogIndex::LogIndex(std::string directory, std::string real_directory, const LogOptions& options)
    : directory_(std::move(directory)),
      real_directory_(std::move(real_directory)),
      cache_directory_(cache_directory(options)),
      options_(options) {}

Result<std::shared_ptr<LogIndex>> LogIndex::open(std::string directory, const LogOptions& options) {
  const Result<base::Directory> listed = base::read_directory(directory);
  if (!listed) return listed.error();
  const Result<std::string> real = base::real_path(directory);
  if (!real) return real.error();
  std::shared_ptr<LogIndex> log(new LogIndex(std::move(directory), *real, options));
  if (Status status = log->start(); !status) return status;
  return log;
}

Status LogIndex::start() {
  if (!cache_directory_.empty() && !base::make_private_directory(cache_directory_)) cache_directory_.clear();
  const bool live = options_.follow == LogOptions::Follow::live;
  if (live && options_.watch == LogOptions::Watch::automatic && base::tells_of_changes(directory_)) {
    if (auto watch = base::Watch::create()) watch_ = std::move(*watch);
  }
  watch_complete_ = watch_ != nullptr;
  const int count = options_.threads > 0 ? options_.threads : std::min(8, base::processor_count());
  for (int i = 0; i < count; ++i) {
    Result<base::Thread> thread = base::Thread::start("sonde-read", [this] { work(); });
    if (!thread) return thread.error();
    threads_.push_back(std::move(*thread));
  }
  find_runs_below("");  // the readers have begun with the first ones
  if (live) {
    Result<base::Thread> thread = base::Thread::start("sonde-follow", [this] { follow(); });
    if (!thread) return thread.error();
    threads_.push_back(std::move(*thread));
  }
  return Status::success();
}

LogIndex::~LogIndex() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
  }
  work_.notify_all();
  rest_.notify_all();
  news_.notify_all();
  if (watch_) watch_->wake();
  threads_.clear();  // joins
  bool remembered = false;
  for (const auto& [name, run] : runs_) {
    if (run->read_once()) remembered |= run->remember();
  }
  if (remembered) prune_cache(cache_directory_, cache_limit());
}

std::string LogIndex::path_of(const std::string& name) const {
  return name.empty() || name == "." ? directory_ : base::join_path(directory_, name);
}

void LogIndex::add_run(const std::string& name, std::vector<RunFile> files, const Place& place, Walk& walk) {
  const std::string shown = name.empty() ? "." : name;
  walk.met.insert(shown);
  const std::lock_guard lock(mutex_);
  const bool moved = std::exchange(places_[shown], place) != place;
  if (const auto known = runs_.find(shown); known != runs_.end()) {
    // If its directory is now another one, it is read again; also if it is being read, since the reader may have found
    // that it was deleted.
    const bool in_work = std::ranges::find(reading_, known->second.get()) != reading_.end();
    if (moved || in_work) queue_locked(known->second);
    return;
  }
  const std::string real = name.empty() ? real_directory_ : base::join_path(real_directory_, name);
  const std::string cache = cache_directory_.empty() ? "" : cache_file(cache_directory_, real);
  auto run = std::make_shared<RunIndex>(shown, path_of(name), cache, std::move(files), within());
  runs_.emplace(shown, run);
  queue_.push_back(std::move(run));
  work_.notify_one();
}

// Searches a directory and all below it. Links are followed, but not to a directory above; a directory with many links
// is listed under each of them, but searched once, or links across a tree would multiply.
Status LogIndex::find_runs(const std::string& name, bool through_link, Walk& walk) {
  const std::string path = path_of(name);
  if (through_link) {
    const Result<base::FileState> state = base::file_state(path);
    if (!state) return state.error();
    const Place there = {state->device, state->inode};
    if (std::ranges::find(walk.above, there) != walk.above.end()) return Status::success();
  }
  // Watched before it is listed, so that changes in between are reported. A directory that appears only after the watch
  // has missed it is not listed: nothing would report what comes into it. The next walk finds it.
  if (watch_) {
    const Status watched = watch_->add(path);
    if (watched.code() == Code::not_found) return watched;
    if (watched.code() == Code::exhausted) watch_complete_ = false;
  }
  const Result<base::Directory> listed = base::read_directory(path, within());
  if (!listed) return listed.error();
  const Place here = {listed->state.device, listed->state.inode};
  if (name.empty()) {
    const std::lock_guard lock(mutex_);
    root_ = here;
  }
  if (std::vector<RunFile> files = run_files(*listed); !files.empty()) add_run(name, std::move(files), here, walk);
  if (through_link && !walk.linked.insert(here).second) return Status::success();
  for (const base::DirectoryEntry& entry : listed->outside) {
    if (entry.type != base::DirectoryEntry::Type::directory && !is_read(entry.name)) continue;
    const std::string below = name.empty() ? entry.name : base::join_path(name, entry.name);
    std::string& problem = walk.problems[below];
    problem.append("'")
        .append(path_of(below))
        .append("' is a link that leads out of the log directory: it is not read");
  }
  walk.above.push_back(here);
  for (const base::DirectoryEntry& entry : listed->entries) {
    if (entry.type != base::DirectoryEntry::Type::directory || entry.name == run_layout::kTrash) continue;
    const std::string below = name.empty() ? entry.name : base::join_path(name, entry.name);
    const Status status = find_runs(below, through_link || entry.link, walk);
    // A directory that disappeared since it was listed was deleted or moved, which is not a problem.
    if (!status && status.code() != Code::not_found) walk.problems.emplace(below, status.message());
  }
  walk.above.pop_back();
  return Status::success();
}

// The same for the log, or for a directory in it in which the system reports new or removed entries.
void LogIndex::find_runs_below(const std::string& name) {
  Walk walk;
  Status status;
  for (std::size_t slash = 0; status && !name.empty() && slash != std::string::npos;
       slash = name.find('/', slash + 1)) {
    const Result<base::FileState> state = base::file_state(path_of(name.substr(0, slash)));
    status = state.status();
    if (state) walk.above.emplace_back(state->device, state->inode);
  }
  if (status) status = find_runs(name, false, walk);
  const bool gone = status.code() == Code::not_found;
  if (!status && name.empty()) {
    const std::lock_guard lock(mutex_);
    root_ = {};
    walk.problems.emplace(name,
                          gone ? "the log directory '" + directory_ + "' is gone: its runs appear again when it is back"
                               : status.message());
  } else if (!status && !gone) {
    walk.problems.emplace(name, status.message());
  }
  end_walk(name, std::move(walk));
}

// What a walk has not met any more is read again, which finds out that it has gone.
void LogIndex::end_walk(const std::string& name, Walk walk) {
  const std::lock_guard lock(mutex_);
  for (const auto& [known, run] : runs_) {
    if (is_within(known, name) && !walk.met.contains(known)) queue_locked(run);
  }
  std::map<std::string, std::string> problems = std::move(walk.problems);
  for (const auto& [known, problem] : problems_) {
    if (!is_within(known, name)) problems.emplace(known, problem);
  }
  if (problems == problems_) return;
  problems_ = std::move(problems);
  version_.fetch_add(1, std::memory_order_release);
  news_.notify_all();
}

void LogIndex::queue(const std::shared_ptr<RunIndex>& run) {
  const std::lock_guard lock(mutex_);
  queue_locked(run);
}

void LogIndex::queue_locked(const std::shared_ptr<RunIndex>& run) {
  if (std::ranges::find(queue_, run) == queue_.end()) queue_.push_back(run);
  work_.notify_one();
}

void LogIndex::work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (queue_.empty()) {
      work_.wait(lock);
      continue;
    }
    const std::shared_ptr<RunIndex> run = std::move(queue_.front());
    queue_.pop_front();
    reading_.push_back(run.get());
    lock.unlock();
    run->update();
    const bool news = run->take_news();
    const bool alive = run->alive();
    lock.lock();
    std::erase(reading_, run.get());
    // Its files may have gone and come back while it waited here, so it is put in as well as taken out.
    if (alive) {
      runs_.try_emplace(run->name(), run);
    } else if (const auto at = runs_.find(run->name()); at != runs_.end() && at->second == run) {
      runs_.erase(at);
      places_.erase(run->name());
    }
    if (news || !alive) {
      version_.fetch_add(1, std::memory_order_release);
      news_.notify_all();
    }
    if (queue_.empty() && reading_.empty()) rest_.notify_all();
  }
}

void LogIndex::wait() const {
  std::unique_lock lock(mutex_);
  rest_.wait(lock, [&] { return stopping_ || (queue_.empty() && reading_.empty()); });
}

void LogIndex::refresh() {
  find_runs_below("");
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, run] : runs_) queue_locked(run);
  }
  wait();
}

std::vector<std::shared_ptr<store::RunSource>> LogIndex::runs() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<store::RunSource>> runs;
  runs.reserve(runs_.size());
  for (const auto& [name, run] : runs_) runs.push_back(run);
  return runs;
}

Result<std::shared_ptr<store::RunSource>> LogIndex::run(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = runs_.find(name); found != runs_.end()) {
    return std::shared_ptr<store::RunSource>(found->second);
  }
  std::vector<std::string> names;
  names.reserve(runs_.size());
  for (const auto& [known, run] : runs_) names.push_back(known);
  return Status(Code::not_found,
                "'" + directory_ + "' has no run '" + std::string(name) + "'" + base::did_you_mean(name, names));
}

std::vector<std::string> LogIndex::problems() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> problems;
  for (const auto& [name, problem] : problems_) {
    if (problems.size() == kMostProblems) {
      problems.push_back("and " + std::to_string(problems_.size() - kMostProblems) + " more");
      break;
    }
    problems.push_back(problem);
  }
  return problems;
}

Log::Progress LogIndex::progress() const {
  Log::Progress progress;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, run] : runs_) {
    progress.bytes_found += run->bytes_found();
    progress.bytes_read += run->bytes_read();
    ++progress.runs_found;
    if (run->read_once()) ++progress.runs_read;
  }
  return progress;
}

std::uint64_t LogIndex::wait_for_change(std::uint64_t seen, milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, timeout, [&] { return stopping_ || version() != seen; });
  return version();
}

// The run of a directory, or else of the nearest one above it: captures are in separate directories.
std::shared_ptr<RunIndex> LogIndex::nearest_run(std::string name) const {
  const std::lock_guard lock(mutex_);
  while (!name.empty()) {
    if (const auto known = runs_.find(name); known != runs_.end()) return known->second;
    const std::size_t slash = name.rfind('/');
    name.resize(slash == std::string::npos ? 0 : slash);
  }
  const auto root = runs_.find(".");
  return root != runs_.end() ? root->second : nullptr;
}

// Directories in which something changed: their run is read again, and where something came or went, runs may have,
// too.
void LogIndex::follow_changes(const base::Watch::Changes& changes) {
  for (const auto& [path, entries] : changes.directories) {
    const std::string name = path.size() > directory_.size() ? path.substr(path_of("x").size() - 1) : "";
    if (const auto known = nearest_run(name)) queue(known);
    if (entries) find_runs_below(name);
  }
}

bool LogIndex::is_there() const {
  const std::lock_guard lock(mutex_);
  return root_ != Place{};
}

// Whether the log directory is not the one that was last read: it was removed, has come back, or was replaced.
bool LogIndex::is_another() const {
  const Result<base::FileState> state = base::file_state(directory_);
  const Place now = state ? Place{state->device, state->inode} : Place{};
  const std::lock_guard lock(mutex_);
  return now != root_;
}

void LogIndex::follow() {
  auto next_poll = Clock::now() + kShortestPoll;
  const auto stopping = [this] {
    const std::lock_guard lock(mutex_);
    return stopping_;
  };
  while (!stopping()) {
    if (watch_) {
      const milliseconds look = is_there() ? kLookForRoot : kShortestPoll;
      const auto until_poll = std::chrono::duration_cast<milliseconds>(next_poll - Clock::now());
      const base::Watch::Changes changes =
          watch_->wait(watch_complete_ ? look : std::clamp(until_poll, milliseconds(1), look));
      follow_changes(changes);
      if (changes.lost) refresh();
      if (is_another()) find_runs_below("");
    }
    if (!watch_complete_ && Clock::now() >= next_poll) {
      const auto begin = Clock::now();
      refresh();
      const auto took = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
      next_poll = Clock::now() + std::max(kShortestPoll, took * kPollShare);
    }
    std::unique_lock lock(mutex_);
    const milliseconds pause =
        watch_ ? kPause : std::max(kPause, std::chrono::duration_cast<milliseconds>(next_poll - Clock::now()));
    news_.wait_for(lock, pause, [this] { return stopping_; });
  }
}

}  // namespace sonde::index
