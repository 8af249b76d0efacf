#include "base/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/thread.h"

namespace sonde::base {
namespace {

TEST(Ticks, NeverDecrease) {
  choose_clock();
  std::uint64_t last = ticks();
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t now = ticks();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(TickClock, MatchesTheWallClock) {
  TickClock clock;
  for (int i = 0; i < 20; ++i) {
    const double before = wall_seconds();
    const std::uint64_t stamp = ticks();
    const double after = wall_seconds();
    EXPECT_GE(clock.wall(stamp), before - 1e-3);
    EXPECT_LE(clock.wall(stamp), after + 1e-3);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (i % 5 == 0) clock.anchor();
  }
}

TEST(Thread, BlocksSignalsExceptItsOwnFaults) {
  sigset_t blocked;
  auto thread = Thread::start("signals", [&] { pthread_sigmask(SIG_BLOCK, nullptr, &blocked); });
  ASSERT_TRUE(thread.ok());
  thread->join();
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGALRM}) EXPECT_EQ(sigismember(&blocked, signal), 1);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) EXPECT_EQ(sigismember(&blocked, fault), 0) << fault;
}

TEST(Thread, RunsNamedAndIsJoined) {
  std::string name(16, '\0');
  auto thread = Thread::start("a-name-that-is-long", [&] { pthread_getname_np(pthread_self(), name.data(), 16); });
  ASSERT_TRUE(thread.ok());
  thread->join();
  EXPECT_FALSE(name.empty());
}

}  // namespace
}  // namespace sonde::base
