// The end of a process that has not closed its recorders.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "base/held_files_testing.h"
#include "record/child_testing.h"
#include "record/recorder_testing.h"

namespace sonde::record {
namespace {

using namespace std::chrono_literals;

// The exit code of a child that ends within half a minute, -1 of one that does not.
int wait_half_a_minute(pid_t child) {
  int status = 0;
  const bool ended = comes_true([&] { return ::waitpid(child, &status, WNOHANG) == child; });
  if (!ended) {
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Something of the program's that is there until its static objects end. It is made before main, and so ends after the
// library's exit handler, which the first recorder registers.
struct Static {
  std::atomic<bool> used{false};  // by the child of the test below
  std::atomic<bool> alive{true};
  ~Static() {
    alive = false;
    if (used) std::this_thread::sleep_for(300ms);  // time for a backend that still runs to notice
  }
};
Static g_static;

// A thread of the program makes errors until the very end, so that the backend is in the error handler all the time.
// The handler uses an object that ends after the library's exit handler. Had that not waited until the backend is
// parked, the backend would meet the object when it is gone.
TEST(Exit, LetsTheBackendTouchNothingOfTheProgramOnceItsStaticObjectsEnd) {
  const base::TempDir dir;
  const pid_t child = start_child([&] {
    g_static.used = true;
    auto* rec = new Recorder(open(dir.path(), {.on_error = [](const Status&) {
                                    std::this_thread::sleep_for(1ms);
                                    if (!g_static.alive) ::_exit(3);
                                  }}));
    std::thread([rec] {
      for (;;) rec->scalar("", 1, 0);  // a name that is refused
    }).detach();
    while (rec->counters().rejected < 100) std::this_thread::sleep_for(1ms);
    return 7;
  });
  EXPECT_EQ(wait_half_a_minute(child), 7);
}

TEST(Exit, DoesNotWaitForeverForAFileOperationThatHangsAndKeepsTheExitCode) {
  const base::TempDir dir;
  const pid_t child = start_child([&] {
    static auto& files = *new base::HeldFiles("events");  // as on a network file system that is gone
    base::use_files(&files);
    auto* rec = new Recorder(open(dir.path()));
    rec->scalar("first", 1, 0);
    if (!rec->flush().ok()) return 1;
    files.held = true;
    rec->scalar("second", 1, 0);
    while (!files.waiting) std::this_thread::sleep_for(1ms);  // the backend is in the middle of it
    return 7;
  });
  EXPECT_EQ(wait_half_a_minute(child), 7);
  const Log log = read_log(dir.path());
  EXPECT_EQ(log.scalars.at("first").size(), 1U);
  EXPECT_TRUE(log.damage.empty());
}

// It begins to hang in the middle of the drain and goes on before the time is over.
TEST(Exit, WaitsForAFileOperationThatIsSlow) {
  const base::TempDir dir;
  const pid_t child = start_child([&] {
    static auto& files = *new base::HeldFiles("events");
    base::use_files(&files);
    auto* rec = new Recorder(open(dir.path(), {.flush_interval = 1h}));
    files.held = true;
    for (std::int64_t n = 0; n < 100; ++n) rec->scalar("loss", 1, n);
    std::thread([] {
      while (!files.waiting) std::this_thread::sleep_for(1ms);
      std::this_thread::sleep_for(100ms);
      files.held = false;
    }).detach();
    return 7;
  });
  EXPECT_EQ(wait_half_a_minute(child), 7);
  EXPECT_EQ(read_log(dir.path()).scalars.at("loss").size(), 100U);
}

}  // namespace
}  // namespace sonde::record
