#include "base/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

namespace sonde::base {
namespace {

using testing::HasSubstr;

std::unique_ptr<ChildProcess> shell(const std::string& script,
                                    std::chrono::milliseconds patience = std::chrono::minutes(5)) {
  auto child = ChildProcess::start({.command = {"sh", "-c", script}, .environment = {}, .patience = patience});
  EXPECT_TRUE(child) << child.error().message();
  return child ? std::move(*child) : nullptr;
}

std::string line(ChildProcess& child) {
  const auto read = child.read_line(1000);
  return read ? std::string(*read) : "error: " + read.error().message();
}

TEST(ChildProcess, AnswersLinesAndBytes) {
  const auto child = shell("read name; echo hello $name; read name; printf '%s' \"$name\"; echo end");
  ASSERT_TRUE(child->write("Ada\n"));
  EXPECT_EQ(line(*child), "hello Ada");
  ASSERT_TRUE(child->write("12345\n"));
  std::vector<std::byte> bytes(5);
  ASSERT_TRUE(child->read(bytes));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "12345");
  EXPECT_EQ(line(*child), "end");
}

TEST(ChildProcess, GetsVariablesInAdditionToOurs) {
  auto child = ChildProcess::start({.command = {"sh", "-c", "echo $SONDE_FIRST $HOME"},
                                    .environment = {{"SONDE_FIRST", "one"}, {"HOME", "/elsewhere"}}});
  ASSERT_TRUE(child);
  EXPECT_EQ(line(**child), "one /elsewhere");
}

TEST(ChildProcess, NeitherSideWaitsForTheOtherWhenBothWriteALot) {
  const auto child = shell("head -c 3000000 /dev/zero >&2; head -c 3000000 | wc -c");
  ASSERT_TRUE(child->write(std::string(3'000'000, 'a')));
  EXPECT_EQ(line(*child), "3000000");
}

TEST(ChildProcess, ReadsMoreThanAPipeHolds) {
  const auto child = shell("head -c 5000000 /dev/zero | tr '\\0' x; echo; echo done");
  std::vector<std::byte> bytes(5'000'000);
  ASSERT_TRUE(child->read(bytes));
  EXPECT_EQ(bytes.front(), std::byte{'x'});
  EXPECT_EQ(bytes.back(), std::byte{'x'});
  EXPECT_EQ(line(*child), "");
  EXPECT_EQ(line(*child), "done");
}

TEST(ChildProcess, ReportsAMissingProgram) {
  const auto child = ChildProcess::start({.command = {"/no/such/program"}, .environment = {}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code(), Code::not_found);
  EXPECT_THAT(child.error().message(), HasSubstr("cannot start '/no/such/program'"));
}

TEST(ChildProcess, ReportsTheExitCodeAndTheLastWords) {
  const auto child = shell("echo first >&2; echo 'no such module' >&2; exit 3");
  EXPECT_EQ(line(*child), "error: it ended with exit code 3");
  EXPECT_EQ(child->last_words(), "first\nno such module");
  const Status later = child->write("more");
  EXPECT_EQ(later.code(), Code::closed);
}

TEST(ChildProcess, ReportsTheSignalThatKilledIt) {
  const auto child = shell("kill -SEGV $$; sleep 60");
  EXPECT_EQ(line(*child), "error: it was killed by the signal SIGSEGV");
}

TEST(ChildProcess, WritingToOneThatEndedIsAnErrorAndNoSignal) {
  const auto child = shell("exec 0<&-; echo closed; exit 4");
  EXPECT_EQ(line(*child), "closed");
  Status written;
  while ((written = child->write("a\n"))) {
  }
  EXPECT_EQ(written.code(), Code::closed);
}

TEST(ChildProcess, KeepsOnlyTheEndOfALongErrorOutput) {
  const auto child = shell("i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done; echo done");
  EXPECT_EQ(line(*child), "done");
  EXPECT_LE(child->last_words().size(), 2048U);
  EXPECT_THAT(child->last_words(), testing::EndsWith("line 1999"));
}

TEST(ChildProcess, EndsOneThatMakesNoProgress) {
  const auto child = shell("echo thinking >&2; echo ready; sleep 600", std::chrono::milliseconds(700));
  ASSERT_EQ(line(*child), "ready");
  const auto read = child->read_line(100);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::exhausted);
  EXPECT_EQ(child->last_words(), "thinking");
}

TEST(ChildProcess, WaitsForOneThatWorksWithoutAWord) {
  // It computes for about three times the patience.
  const auto child = shell(
      "end=$(($(date +%s%N) + 3000000000)); while [ $(date +%s%N) -lt $end ]; do i=0; while [ $i -lt 20000 ]; do "
      "i=$((i+1)); done; done; echo done",
      std::chrono::milliseconds(1500));
  EXPECT_EQ(line(*child), "done");
}

TEST(ChildProcess, RejectsALineThatNeverEnds) {
  const auto child = shell("while :; do printf xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done");
  EXPECT_THAT(line(*child), HasSubstr("a line of more than 1000 bytes"));
}

TEST(ChildProcess, IsEndedWithItsHandle) {
  pid_t pid = 0;
  {
    const auto child = shell("trap '' TERM; echo ready; while :; do sleep 1; done");
    EXPECT_EQ(line(*child), "ready");
    pid = static_cast<pid_t>(child->id());
  }
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(ChildProcess, WorksInAProgramThatIgnoresTheEndOfChildren) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  {
    const auto child = shell("echo one; exit 5");
    EXPECT_EQ(line(*child), "one");
    EXPECT_EQ(line(*child), "error: it ended");  // nobody can tell how
  }
  ::signal(SIGCHLD, before);
}

}  // namespace
}  // namespace sonde::base
