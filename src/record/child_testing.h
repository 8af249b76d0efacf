// For tests of this module that fork: a piece of code in a child process, and how the child ended.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>

namespace sonde::record {

// A forked child has lost the stacks of its parent's threads, and with them what only those threads pointed to; that is
// no leak. LeakSanitizer asks __lsan_is_turned_off (survival_test.cc) before it looks.
inline bool is_child = false;

// Runs `body` in a child process; what it returns is the child's exit code, by std::exit or, if asked, _exit.
inline pid_t start_child(const std::function<int()>& body, bool at_once = false) {
  const pid_t child = ::fork();
  if (child == 0) {
    is_child = true;
    const int code = body();
    if (at_once) ::_exit(code);
    std::exit(code);  // NOLINT(concurrency-mt-unsafe): the child has one thread of its own
  }
  return child;
}

// The exit code, or 128 and the signal that ended it.
inline int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

inline int run_child(const std::function<int()>& body, bool at_once = false) {
  return wait_for(start_child(body, at_once));
}

}  // namespace sonde::record
