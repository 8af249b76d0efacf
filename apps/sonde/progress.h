// A bar on standard error for work that takes a while: only on a terminal, only after half a second, and erased at
// the end. Used by one thread.
//
//   Progress progress("reading 'logs'");
//   while (...) progress.update(done, total);
#pragma once

#include <cstdint>
#include <string>

namespace sonde::cli {

class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // In any unit. Cheap enough for a million calls per second; draws at most ten times per second.
  void update(std::uint64_t done, std::uint64_t total);
  // Erases the bar, so that something else can be printed.
  void clear();

  // Whether the bar is shown.
  bool wanted() const noexcept { return wanted_; }

 private:
  std::string what_;
  bool wanted_ = false;
  bool unicode_ = false;
  bool drawn_ = false;
  std::uint64_t due_ = 0;  // when to draw next, monotonic nanoseconds
};

}  // namespace sonde::cli
