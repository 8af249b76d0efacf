// A log directory: finds its runs, reads them on a few threads, and follows them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "base/watch.h"
#include "index/run_files.h"
#include "index/run_index.h"
#include "sonde/log.h"
#include "store/source.h"

namespace sonde::index {

class LogIndex final : public store::LogSource {
 public:
  static Result<std::shared_ptr<LogIndex>> open(std::string directory, const LogOptions& options);
  ~LogIndex() override;

  const std::string& directory() const noexcept override { return directory_; }
  std::vector<std::shared_ptr<store::RunSource>> runs() const override;  // by name
  Result<std::shared_ptr<store::RunSource>> run(std::string_view name) const override;
  std::vector<std::string> problems() const override;

  void refresh() override;
  void wait() const override;
  Log::Progress progress() const override;
  std::uint64_t version() const noexcept override { return version_.load(std::memory_order_acquire); }
  std::uint64_t wait_for_change(std::uint64_t seen, std::chrono::milliseconds timeout) const override;

  Status set_note(const std::string& run, std::string_view text) override;
  Status remove_run(const std::string& run) override;
  Result<std::string> control_directory(const std::string& run) const override;

 private:
  LogIndex(std::string directory, std::string real_directory, const LogOptions& options);
  Status start();

  // Finding runs. `name` is the path below the log directory, empty for itself.
  using Place = std::pair<std::uint64_t, std::uint64_t>;  // device and inode
  struct Walk {
    std::vector<Place> above;   // the directories above the current one: links to them would form circles
    std::set<Place> linked;     // directories reached through a link and already searched
    std::set<std::string> met;  // the names of the runs found
    std::map<std::string, std::string> problems;  // by the name of the directory that could not be read
  };
  Status find_runs(const std::string& name, bool through_link, Walk& walk);
  void find_runs_below(const std::string& name);
  void end_walk(const std::string& name, Walk walk);
  void add_run(const std::string& name, std::vector<RunFile> files, const Place& place, Walk& walk);
  std::string path_of(const std::string& name) const;
  // Nothing outside of this directory is read; empty: anything may be read.
  std::string within() const { return options_.links == LogOptions::Links::inside ? directory_ : ""; }

  // Reading.
  void work();
  void queue(const std::shared_ptr<RunIndex>& run);
  void queue_locked(const std::shared_ptr<RunIndex>& run);

  // Following.
  void follow();
  void follow_changes(const base::Watch::Changes& changes);
  std::shared_ptr<RunIndex> nearest_run(std::string name) const;
  bool is_there() const;
  bool is_another() const;

  const std::string directory_;
  const std::string real_directory_;  // absolute, without links: the cache is named after it
  std::string cache_directory_;       // empty: none
  const LogOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable work_;          // for the readers: something is in the queue
  mutable std::condition_variable rest_;  // the queue is empty, and nobody reads
  mutable std::condition_variable news_;  // the version has changed
  std::map<std::string, std::shared_ptr<RunIndex>, std::less<>> runs_;
  std::deque<std::shared_ptr<RunIndex>> queue_;
  std::vector<const RunIndex*> reading_;
  std::map<std::string, Place> places_;          // of the directories of the runs, when they were last read
  Place root_ = {};                              // of the log directory; zeros while it does not exist
  std::map<std::string, std::string> problems_;  // by the name of the directory that could not be read
  bool stopping_ = false;

  std::atomic<std::uint64_t> version_ = 0;
  std::unique_ptr<base::Watch> watch_;        // null: none, or the log is not followed
  std::atomic<bool> watch_complete_ = false;  // every directory is watched
  std::vector<base::Thread> threads_;         // the last member: they use all others
};

}  // namespace sonde::index
