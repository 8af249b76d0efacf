// Another program, started by this one and ended with it, that answers on its standard output what it is asked on its
// standard input. The only place that starts processes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/status.h"

namespace sonde::base {

// For one thread at a time. While a call waits, it also takes what the program writes to its standard error, so that
// neither side ever waits for the other to read. No call raises SIGPIPE or needs a handler of SIGCHLD.
class ChildProcess {
 public:
  struct Options {
    std::vector<std::string> command;                              // the program, searched in PATH, and its arguments
    std::vector<std::pair<std::string, std::string>> environment;  // set in addition to this process's own
    // A program that for so long neither reads, writes nor uses a processor is given up.
    std::chrono::milliseconds patience = std::chrono::minutes(5);
  };
  // `not_found` if there is no such program.
  static Result<std::unique_ptr<ChildProcess>> start(const Options& options);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  // Closes its standard input, and kills it if it does not end within two seconds.
  ~ChildProcess();

  // These wait until everything is written or read. Code::closed: the program has ended, and the message says how.
  // Code::exhausted: it made no progress, and was killed. After an error every call fails with it.
  Status write(std::string_view bytes);
  Status read(std::span<std::byte> to);
  // Without its end; longer ones are an error. Valid until the next call.
  Result<std::string_view> read_line(std::size_t longest);

  // The last lines of its standard error so far, at most about 2 KB. After an error, all that came before its end.
  std::string last_words();
  std::uint64_t id() const noexcept { return static_cast<std::uint64_t>(pid_); }

 private:
  using Clock = std::chrono::steady_clock;

  ChildProcess(int pid, int input, int output, int errors, std::chrono::milliseconds patience) noexcept
      : pid_(pid), input_(input), output_(output), errors_(errors), patience_(patience), moved_(Clock::now()) {}
  // Some bytes, at least one; waits for them.
  Result<std::size_t> read_some(std::span<std::byte> to);
  Status wait(bool to_write);  // until it can be written to, or read from
  void take_errors();
  bool uses_processor();
  Status give_up(Status reason);
  Status ended();
  void stop(bool kill) noexcept;

  int pid_ = -1;     // -1: it was waited for
  int input_ = -1;   // a socket, since a write to a pipe that nobody reads raises a signal
  int output_ = -1;  // pipes
  int errors_ = -1;
  std::chrono::milliseconds patience_;
  Clock::time_point moved_;           // when it last did something
  std::uint64_t processor_time_ = 0;  // that it had used then, in ticks of the kernel
  std::string words_;
  std::string buffer_;  // read, but not yet taken
  std::size_t taken_ = 0;
  Status failed_;
};

}  // namespace sonde::base
