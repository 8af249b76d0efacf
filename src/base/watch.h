// Notification about changes in directories: by the system (inotify) if it can, otherwise never.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "sonde/status.h"

namespace sonde::base {

// Whether the system reports changes that other machines make there: not on network file systems.
bool tells_of_changes(const std::string& path) noexcept;

// One thread waits; any may add and wake.
class Watch {
 public:
  static Result<std::unique_ptr<Watch>> create();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  // Fails with Code::exhausted if the user's limit is reached: then changes there are not reported. A directory may be
  // added under several paths, through links; changes are reported for each.
  Status add(const std::string& directory);

  struct Change {
    std::string directory;  // as given to add
    bool entries = false;   // an entry was created, removed or renamed; otherwise files in it were only written to
    friend bool operator==(const Change&, const Change&) = default;
  };
  struct Changes {
    std::vector<Change> directories;  // each once
    bool lost = false;                // some were not reported: anything may have changed
  };
  // Waits until something changed, wake() was called, or the timeout expires.
  Changes wait(std::chrono::milliseconds timeout);
  void wake() const noexcept;

 private:
  Watch(int notify, int wake) noexcept : notify_(notify), wake_(wake) {}
  void take_events(Changes& changes);
  int notify_ = -1;
  int wake_ = -1;
  std::mutex mutex_;                                               // guards the following members
  std::unordered_map<int, std::vector<std::string>> directories_;  // by the number that the system gives
};

}  // namespace sonde::base
