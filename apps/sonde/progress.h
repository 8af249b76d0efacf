// A bar on standard error for work that takes a while: only on a terminal, only after half a second, and wiped away at
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

  // Of any unit. Cheap enough to be called a million times a second; draws ten times a second at most.
  void update(std::uint64_t done, std::uint64_t total);
  // Wipes the bar away, so that something else can be printed.
  void clear();

  // Whether there is anybody to see it.
  bool wanted() const noexcept { return wanted_; }

 private:
  std::string what_;
  bool wanted_ = false;
  bool unicode_ = false;
  bool drawn_ = false;
  std::uint64_t due_ = 0;  // when to draw next, monotonic nanoseconds
};

}  // namespace sonde::cli
